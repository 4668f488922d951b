//! The wallets' books.

use deadpool_postgres::{ClientWrapper, Transaction};
use tokio_postgres::Row;
use tollgate_domain::{
    Currency, Timestamp,
    id::{EnvironmentId, PostingId},
    ledger::{Balances, Entry, Movement, MovementError, entries},
};
use tollgate_engine::ports::{AppliedMovement, LedgerLine, Moved};
use uuid::Uuid;

use super::{fault::Fault, uuid};
use crate::convert::{self, Wallet};

/// A transaction, because the domain decides in the middle of it. It locks the wallet's rows first, in the order of
/// the accounts' names, so that movements of one wallet follow one another and never wait in a circle.
pub(super) async fn move_funds(
    client: &mut ClientWrapper,
    environment: EnvironmentId,
    movement: &Movement,
) -> Result<Moved, Fault> {
    let transaction = client.transaction().await.map_err(Fault::Uncommitted)?;
    let moved = decide_and_write(&transaction, environment, movement).await.map_err(|fault| match fault {
        Fault::Statement(error) => Fault::Uncommitted(error),
        other => other,
    })?;
    if matches!(&moved, Moved::Done(applied) if !applied.replayed) {
        transaction.commit().await?;
    } else {
        // Also takes back the empty accounts of a wallet that was never funded.
        transaction.rollback().await.map_err(Fault::Uncommitted)?;
    }
    Ok(moved)
}

async fn decide_and_write(
    transaction: &Transaction<'_>,
    environment: EnvironmentId,
    movement: &Movement,
) -> Result<Moved, Fault> {
    let Some(mut wallet) = lock(transaction, environment, movement.currency).await? else {
        return Ok(Moved::EnvironmentMissing);
    };
    let statement = transaction
        .prepare_cached(
            "SELECT id, amount_minor FROM ledger_postings
             WHERE environment_id = $1 AND currency = $2 AND cause = $3 AND reference = $4",
        )
        .await?;
    let scope = uuid(environment.to_bytes());
    let posted = transaction
        .query_opt(
            &statement,
            &[&scope, &movement.currency.code(), &movement.cause.as_str(), &movement.reference],
        )
        .await?;
    if let Some(row) = posted {
        let amount = convert::amount(row.try_get(1)?)?;
        if amount != movement.amount {
            return Ok(Moved::ReferenceReused { amount });
        }
        let posting = PostingId::from_bytes(row.try_get::<_, Uuid>(0)?.into_bytes());
        return Ok(Moved::Done(AppliedMovement { posting, replayed: true, balances: wallet.balances() }));
    }
    let entries = match entries(movement, wallet.balances().available, wallet.funded()) {
        Ok(entries) => entries,
        Err(MovementError::Insufficient { available }) => return Ok(Moved::Insufficient { available }),
        Err(MovementError::TooMuch) => return Ok(Moved::TooMuch),
    };
    write(transaction, environment, movement, &entries).await?;
    for entry in entries {
        wallet.add(entry.account, entry.amount_minor)?;
    }
    let balances = wallet.balances();
    Ok(Moved::Done(AppliedMovement { posting: movement.posting, replayed: false, balances }))
}

/// Locks the wallet, whose first accounts are made where they are missing; `None` if there is no environment.
async fn lock(
    transaction: &Transaction<'_>,
    environment: EnvironmentId,
    currency: Currency,
) -> Result<Option<Wallet>, Fault> {
    let make = transaction
        .prepare_cached(
            "INSERT INTO ledger_accounts (environment_id, currency, account, balance_minor)
             SELECT e.id, $2, account, 0
             FROM environments e CROSS JOIN unnest(ARRAY['available', 'funding']) account
             WHERE e.id = $1 ORDER BY account
             ON CONFLICT DO NOTHING",
        )
        .await?;
    let lock = transaction
        .prepare_cached(
            "SELECT account, balance_minor FROM ledger_accounts
             WHERE environment_id = $1 AND currency = $2 ORDER BY account FOR UPDATE",
        )
        .await?;
    let scope = uuid(environment.to_bytes());
    let mut rows = transaction.query(&lock, &[&scope, &currency.code()]).await?;
    if rows.is_empty() {
        transaction.execute(&make, &[&scope, &currency.code()]).await?;
        rows = transaction.query(&lock, &[&scope, &currency.code()]).await?;
    }
    let mut wallet = Wallet::default();
    for row in &rows {
        wallet.hold(convert::account(row.try_get(0)?)?, row.try_get(1)?)?;
    }
    Ok((!rows.is_empty()).then_some(wallet))
}

/// Posting, entries and balances in one statement.
async fn write(
    transaction: &Transaction<'_>,
    environment: EnvironmentId,
    movement: &Movement,
    entries: &[Entry],
) -> Result<(), Fault> {
    let statement = transaction
        .prepare_cached(
            "WITH posting AS (
                 INSERT INTO ledger_postings
                     (environment_id, currency, id, cause, reference, amount_minor, actor, at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)),
             change AS (SELECT account, amount FROM unnest($9::text[], $10::bigint[]) AS c (account, amount)),
             kept AS (
                 INSERT INTO ledger_entries (environment_id, currency, posting_id, account, amount_minor)
                 SELECT $1, $2, $3, change.account, change.amount FROM change)
             UPDATE ledger_accounts a SET balance_minor = a.balance_minor + change.amount FROM change
             WHERE a.environment_id = $1 AND a.currency = $2 AND a.account = change.account",
        )
        .await?;
    let accounts: Vec<&str> = entries.iter().map(|entry| entry.account.as_str()).collect();
    let amounts: Vec<i64> = entries.iter().map(|entry| entry.amount_minor).collect();
    let changed = transaction
        .execute(
            &statement,
            &[
                &uuid(environment.to_bytes()),
                &movement.currency.code(),
                &uuid(movement.posting.to_bytes()),
                &movement.cause.as_str(),
                &movement.reference,
                &movement.amount.signed(),
                &movement.actor,
                &movement.at.unix_millis(),
                &accounts,
                &amounts,
            ],
        )
        .await?;
    if usize::try_from(changed).ok() != Some(entries.len()) {
        return Err(Fault::Misuse("a movement names an account that the wallet does not have"));
    }
    Ok(())
}

pub(super) async fn balances(
    client: &ClientWrapper,
    environment: EnvironmentId,
    currency: Currency,
) -> Result<Option<Balances>, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT a.account, a.balance_minor FROM environments e
             LEFT JOIN ledger_accounts a ON a.environment_id = e.id AND a.currency = $2
             WHERE e.id = $1",
        )
        .await?;
    let rows = client.query(&statement, &[&uuid(environment.to_bytes()), &currency.code()]).await?;
    if rows.is_empty() {
        return Ok(None);
    }
    let mut wallet = Wallet::default();
    for row in rows {
        if let Some(account) = row.try_get::<_, Option<&str>>(0)? {
            wallet.hold(convert::account(account)?, row.try_get(1)?)?;
        }
    }
    Ok(Some(wallet.balances()))
}

pub(super) async fn currencies(
    client: &ClientWrapper,
    environment: EnvironmentId,
) -> Result<Vec<Currency>, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT DISTINCT currency FROM ledger_accounts WHERE environment_id = $1 ORDER BY currency",
        )
        .await?;
    let rows = client.query(&statement, &[&uuid(environment.to_bytes())]).await?;
    rows.iter().map(|row| Ok(convert::currency(row.try_get(0)?)?)).collect()
}

pub(super) async fn ledger(
    client: &ClientWrapper,
    environment: EnvironmentId,
    currency: Currency,
    before: Option<PostingId>,
    limit: u32,
) -> Result<Vec<LedgerLine>, Fault> {
    let Some(last) = convert::up_to_before(before.map(PostingId::to_bytes)) else { return Ok(Vec::new()) };
    let statement = client
        .prepare_cached(
            "SELECT p.id, p.cause, p.reference, p.actor, p.at, e.account, e.amount_minor
             FROM (SELECT * FROM ledger_postings WHERE environment_id = $1 AND currency = $2 AND id <= $3
                   ORDER BY id DESC LIMIT $4) p
             JOIN ledger_entries e
                 ON e.environment_id = $1 AND e.currency = $2 AND e.posting_id = p.id",
        )
        .await?;
    let rows = client
        .query(&statement, &[&uuid(environment.to_bytes()), &currency.code(), &uuid(last), &i64::from(limit)])
        .await?;
    let mut lines = rows.iter().map(line).collect::<Result<Vec<_>, Fault>>()?;
    convert::newest_first(&mut lines);
    Ok(lines)
}

/// One entry with its posting, in the order of the columns above.
pub(super) fn line(row: &Row) -> Result<LedgerLine, Fault> {
    Ok(LedgerLine {
        posting: PostingId::from_bytes(row.try_get::<_, Uuid>(0)?.into_bytes()),
        cause: convert::cause(row.try_get(1)?)?,
        reference: row.try_get(2)?,
        actor: row.try_get(3)?,
        at: Timestamp::from_unix_millis(row.try_get(4)?),
        account: convert::account(row.try_get(5)?)?,
        amount_minor: row.try_get(6)?,
    })
}
