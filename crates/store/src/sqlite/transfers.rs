//! Bank transfers as they are reserved, found, listed and claimed.

use rusqlite::{Connection, OptionalExtension as _, params};
use tollgate_domain::{
    Minor, Timestamp,
    id::{EnvironmentId, TransactionId, TransferId},
    ledger::{Account, PostingCause, TransferStep},
};
use tollgate_engine::ports::{NewTransfer, Reserved, Transfer};

use super::{cells::RowCells, directory, fault::Fault, postings::Posting, writer::Effect};
use crate::convert::{
    self,
    transfer::{read, transfer_columns},
};

/// Decides before it writes: first whether the reference is free, and then by taking the funds, which writes nothing
/// where they do not suffice.
pub(super) fn reserve(
    connection: &Connection,
    environment: EnvironmentId,
    new: &NewTransfer,
) -> Result<Effect<Reserved>, Fault> {
    let order = &new.order;
    if order.environment != environment {
        return Err(Fault::Misuse("a transfer was to be stored in another environment than its own"));
    }
    if is_known(connection, environment, order.id)? {
        let Some(known) = find(connection, environment, order.id)? else {
            return Err(Fault::Misuse("a transaction of a transfer has no transfer"));
        };
        return Ok(Effect::Nothing(Reserved::Existing(Box::new(known))));
    }
    let entries = TransferStep::Reserve.entries(&order.fee);
    let posting = Posting {
        environment,
        currency: order.currency,
        id: new.posting,
        cause: PostingCause::Reserve,
        transfer: order.id,
        at: order.created_at,
        entries: &entries,
    };
    if !posting.add_up(connection)? {
        return Ok(Effect::Nothing(why_not(connection, environment, new)?));
    }
    record_transaction(connection, new)?;
    record_transfer(connection, new)?;
    posting.write(connection)?;
    Ok(Effect::Written(Reserved::Created))
}

/// Why the funds were not there to take.
fn why_not(
    connection: &Connection,
    environment: EnvironmentId,
    new: &NewTransfer,
) -> Result<Reserved, Fault> {
    let available: Option<i64> = connection
        .prepare_cached(
            "SELECT balance_minor FROM ledger_accounts
             WHERE environment_id = ?1 AND currency = ?2 AND account = ?3",
        )?
        .query_row(
            params![environment.to_bytes(), new.order.currency.code(), Account::Available.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    if available.is_none() && directory::stamp(connection, environment)?.is_none() {
        return Ok(Reserved::EnvironmentMissing);
    }
    Ok(Reserved::Insufficient { available: convert::amount(available.unwrap_or(0))? })
}

fn is_known(connection: &Connection, environment: EnvironmentId, id: TransferId) -> Result<bool, Fault> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (
                 SELECT 1 FROM transactions WHERE environment_id = ?1 AND method = 'ach' AND reference = ?2)",
        )?
        .query_row(params![environment.to_bytes(), id.to_bytes()], |row| row.get(0))?)
}

fn record_transaction(connection: &Connection, new: &NewTransfer) -> Result<(), Fault> {
    let order = &new.order;
    connection
        .prepare_cached(
            "INSERT INTO transactions (environment_id, id, method, reference, provider, channel, currency,
                 principal_minor, platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor,
                 fee_layers, description, metadata, created_at, updated_at, status, refunded_minor)
             VALUES (?1, ?2, 'ach', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15, 'pending', 0)",
        )?
        .execute(params![
            order.environment.to_bytes(),
            new.transaction.to_bytes(),
            order.id.to_bytes(),
            order.provider,
            order.channel.as_str(),
            order.currency.code(),
            Minor::from(order.fee.principal).signed(),
            order.fee.platform.fee.signed(),
            order.fee.organization.fee.signed(),
            order.fee.fee.signed(),
            order.fee.total_debit.signed(),
            convert::fee::layers(&order.fee),
            order.description,
            order.metadata,
            order.created_at.unix_millis(),
        ])?;
    Ok(())
}

fn record_transfer(connection: &Connection, new: &NewTransfer) -> Result<(), Fault> {
    let (order, progress) = (&new.order, &new.progress);
    connection
        .prepare_cached(
            "INSERT INTO transfers (environment_id, transaction_id, reference, adapter, matched, config_version,
                 external_customer_id, customer_name, customer_email, bank_name, account_name, account_type,
                 last_four, remittance, request, fingerprints, sealed_account, expected_on, corrections, due_at,
                 tries, waiting, account, revision)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                 ?22, ?23, 0)",
        )?
        .execute(params![
            order.environment.to_bytes(),
            new.transaction.to_bytes(),
            order.id.to_string(),
            order.adapter,
            order.matched.as_ref().map(convert::payment::matched),
            convert::version(order.config_version),
            order.external_customer_id,
            order.customer_name,
            order.customer_email,
            order.bank_name,
            order.account_name,
            order.account_type.as_str(),
            order.last_four,
            order.remittance,
            order.request,
            new.fingerprints,
            progress.sealed_account,
            progress.expected_on,
            progress.corrections,
            progress.due.map(Timestamp::unix_millis),
            progress.tries,
            progress.waiting,
            order.account.as_ref().map(convert::account::write),
        ])?;
    Ok(())
}

pub(super) const FIND: &str = concat!(
    "SELECT ",
    transfer_columns!(),
    " FROM transactions t
     JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
     WHERE t.environment_id = ?1 AND t.method = 'ach' AND t.reference = ?2"
);

pub(super) fn find(
    connection: &Connection,
    environment: EnvironmentId,
    id: TransferId,
) -> Result<Option<Transfer>, Fault> {
    connection
        .prepare_cached(FIND)?
        .query_and_then(params![environment.to_bytes(), id.to_bytes()], |row| {
            read(&mut RowCells::new(row, 0))
        })?
        .next()
        .transpose()
}

/// Without an order, for which SQLite would read through all of an environment's transactions.
pub(super) const OF_OBJECT: &str = "SELECT id, reference FROM transactions INDEXED BY transactions_by_object
     WHERE environment_id = ?1 AND provider_reference = ?3 AND provider = ?2 AND method = 'ach'";

/// The first of those that the provider gave this name.
pub(super) fn of_object(
    connection: &Connection,
    environment: EnvironmentId,
    provider: &str,
    object: &str,
) -> Result<Option<TransferId>, Fault> {
    let found = connection
        .prepare_cached(OF_OBJECT)?
        .query_and_then(params![environment.to_bytes(), provider, object], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<Result<Vec<([u8; 16], [u8; 16])>, Fault>>()?;
    Ok(found.into_iter().min().map(|(_, reference)| TransferId::from_bytes(reference)))
}

pub(super) const WAITING: &str = concat!(
    "SELECT ",
    transfer_columns!(),
    " FROM transfers f CROSS JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id
     WHERE f.environment_id = ?1 AND f.transaction_id <= ?2 AND f.waiting IS NOT NULL
     ORDER BY f.transaction_id DESC LIMIT ?3"
);

pub(super) fn waiting(
    connection: &Connection,
    environment: EnvironmentId,
    before: Option<TransactionId>,
    limit: u32,
) -> Result<Vec<Transfer>, Fault> {
    let Some(last) = convert::up_to_before(before.map(TransactionId::to_bytes)) else {
        return Ok(Vec::new());
    };
    connection
        .prepare_cached(WAITING)?
        .query_and_then(params![environment.to_bytes(), last, limit], |row| read(&mut RowCells::new(row, 0)))?
        .collect()
}

pub(super) const ANY_DUE: &str = "SELECT EXISTS (SELECT 1 FROM transfers WHERE due_at <= ?1)";

/// Asked before claiming, so that looking for work writes nothing while there is none.
pub(super) fn is_any_due(connection: &Connection, now: Timestamp) -> Result<bool, Fault> {
    Ok(connection.prepare_cached(ANY_DUE)?.query_row(params![now.unix_millis()], |row| row.get(0))?)
}

pub(super) const DUE: &str = "SELECT f.environment_id, f.transaction_id, t.reference
     FROM transfers f CROSS JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id
     WHERE f.due_at <= ?1 ORDER BY f.due_at LIMIT ?2";

pub(super) fn claim(
    connection: &Connection,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Effect<Vec<(EnvironmentId, TransferId)>>, Fault> {
    let due: Vec<([u8; 16], [u8; 16], TransferId)> = connection
        .prepare_cached(DUE)?
        .query_and_then(params![now.unix_millis(), limit], |row| {
            Ok((row.get(0)?, row.get(1)?, TransferId::from_bytes(row.get(2)?)))
        })?
        .collect::<Result<_, Fault>>()?;
    if due.is_empty() {
        return Ok(Effect::Nothing(Vec::new()));
    }
    let mut lease = connection.prepare_cached(
        "UPDATE transfers SET due_at = ?3, tries = tries + 1 WHERE environment_id = ?1 AND transaction_id = ?2",
    )?;
    for (environment, transaction, _) in &due {
        lease.execute(params![environment, transaction, until.unix_millis()])?;
    }
    let taken = due.into_iter().map(|(environment, _, id)| (EnvironmentId::from_bytes(environment), id));
    Ok(Effect::Written(taken.collect()))
}
