//! The wallets' books.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use tollgate_domain::{
    Currency, Timestamp,
    id::{EnvironmentId, PostingId},
    ledger::{Balances, Movement, MovementError, entries},
};
use tollgate_engine::ports::{AppliedMovement, LedgerLine, Moved};

use super::{directory, fault::Fault, writer::Effect};
use crate::convert::{self, Wallet};

pub(super) fn move_funds(
    connection: &Connection,
    environment: EnvironmentId,
    movement: &Movement,
) -> Result<Effect<Moved>, Fault> {
    if directory::stamp(connection, environment)?.is_none() {
        return Ok(Effect::Nothing(Moved::EnvironmentMissing));
    }
    let mut wallet = wallet(connection, environment, movement.currency)?;
    if let Some((posting, amount)) = posted(connection, environment, movement)? {
        let amount = convert::amount(amount)?;
        if amount != movement.amount {
            return Ok(Effect::Nothing(Moved::ReferenceReused { amount }));
        }
        let applied = AppliedMovement { posting, replayed: true, balances: wallet.balances() };
        return Ok(Effect::Nothing(Moved::Done(applied)));
    }
    let entries = match entries(movement, wallet.balances().available, wallet.funded()) {
        Ok(entries) => entries,
        Err(MovementError::Insufficient { available }) => {
            return Ok(Effect::Nothing(Moved::Insufficient { available }));
        }
        Err(MovementError::TooMuch) => return Ok(Effect::Nothing(Moved::TooMuch)),
    };
    insert_posting(connection, environment, movement)?;
    for entry in entries {
        connection
            .prepare_cached(
                "INSERT INTO ledger_accounts (environment_id, currency, account, balance_minor)
                 VALUES (?1, ?2, ?3, 0) ON CONFLICT DO NOTHING",
            )?
            .execute(params![environment.to_bytes(), movement.currency.code(), entry.account.as_str()])?;
        connection
            .prepare_cached(
                "UPDATE ledger_accounts SET balance_minor = balance_minor + ?4
                 WHERE environment_id = ?1 AND currency = ?2 AND account = ?3",
            )?
            .execute(params![
                environment.to_bytes(),
                movement.currency.code(),
                entry.account.as_str(),
                entry.amount_minor
            ])?;
        connection
            .prepare_cached(
                "INSERT INTO ledger_entries (environment_id, currency, posting_id, account, amount_minor)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                environment.to_bytes(),
                movement.currency.code(),
                movement.posting.to_bytes(),
                entry.account.as_str(),
                entry.amount_minor
            ])?;
        wallet.add(entry.account, entry.amount_minor)?;
    }
    let applied = AppliedMovement { posting: movement.posting, replayed: false, balances: wallet.balances() };
    Ok(Effect::Written(Moved::Done(applied)))
}

pub(super) fn balances(
    connection: &Connection,
    environment: EnvironmentId,
    currency: Currency,
) -> Result<Option<Balances>, Fault> {
    if directory::stamp(connection, environment)?.is_none() {
        return Ok(None);
    }
    Ok(Some(wallet(connection, environment, currency)?.balances()))
}

pub(super) fn currencies(
    connection: &Connection,
    environment: EnvironmentId,
) -> Result<Vec<Currency>, Fault> {
    connection
        .prepare_cached(
            "SELECT DISTINCT currency FROM ledger_accounts WHERE environment_id = ?1 ORDER BY currency",
        )?
        .query_and_then(params![environment.to_bytes()], |row| {
            Ok(convert::currency(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?)
        })?
        .collect()
}

pub(super) fn ledger(
    connection: &Connection,
    environment: EnvironmentId,
    currency: Currency,
    before: Option<PostingId>,
    limit: u32,
) -> Result<Vec<LedgerLine>, Fault> {
    let Some(last) = convert::up_to_before(before.map(PostingId::to_bytes)) else { return Ok(Vec::new()) };
    let mut lines = connection
        .prepare_cached(
            "SELECT p.id, p.cause, p.reference, p.actor, p.at, e.account, e.amount_minor
             FROM (SELECT * FROM ledger_postings WHERE environment_id = ?1 AND currency = ?2 AND id <= ?3
                   ORDER BY id DESC LIMIT ?4) p
             JOIN ledger_entries e
                 ON e.environment_id = ?1 AND e.currency = ?2 AND e.posting_id = p.id",
        )?
        .query_and_then(params![environment.to_bytes(), currency.code(), last, limit], line)?
        .collect::<Result<Vec<_>, Fault>>()?;
    convert::newest_first(&mut lines);
    Ok(lines)
}

/// One entry with its posting, in the order of the columns above.
pub(super) fn line(row: &Row<'_>) -> Result<LedgerLine, Fault> {
    Ok(LedgerLine {
        posting: PostingId::from_bytes(row.get(0)?),
        cause: convert::cause(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?,
        reference: row.get(2)?,
        actor: row.get(3)?,
        at: Timestamp::from_unix_millis(row.get(4)?),
        account: convert::account(row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?)?,
        amount_minor: row.get(6)?,
    })
}

fn wallet(connection: &Connection, environment: EnvironmentId, currency: Currency) -> Result<Wallet, Fault> {
    let mut wallet = Wallet::default();
    let mut statement = connection.prepare_cached(
        "SELECT account, balance_minor FROM ledger_accounts WHERE environment_id = ?1 AND currency = ?2",
    )?;
    let mut rows = statement.query(params![environment.to_bytes(), currency.code()])?;
    while let Some(row) = rows.next()? {
        let account = convert::account(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?;
        wallet.hold(account, row.get(1)?)?;
    }
    Ok(wallet)
}

/// The posting and amount that this cause and reference were used for before.
fn posted(
    connection: &Connection,
    environment: EnvironmentId,
    movement: &Movement,
) -> Result<Option<(PostingId, i64)>, Fault> {
    Ok(connection
        .prepare_cached(
            "SELECT id, amount_minor FROM ledger_postings
             WHERE environment_id = ?1 AND currency = ?2 AND cause = ?3 AND reference = ?4",
        )?
        .query_row(
            params![
                environment.to_bytes(),
                movement.currency.code(),
                movement.cause.as_str(),
                movement.reference
            ],
            |row| Ok((PostingId::from_bytes(row.get(0)?), row.get(1)?)),
        )
        .optional()?)
}

fn insert_posting(
    connection: &Connection,
    environment: EnvironmentId,
    movement: &Movement,
) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO ledger_postings (environment_id, currency, id, cause, reference, amount_minor, actor, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            environment.to_bytes(),
            movement.currency.code(),
            movement.posting.to_bytes(),
            movement.cause.as_str(),
            movement.reference,
            movement.amount.signed(),
            movement.actor,
            movement.at.unix_millis()
        ])?;
    Ok(())
}
