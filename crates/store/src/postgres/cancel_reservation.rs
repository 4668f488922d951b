//! Taking a reservation back whose transfer was never sent: the transfer goes, its funds are available again.

use deadpool_postgres::{ClientWrapper, Transaction};
use tollgate_domain::id::{EnvironmentId, TransferId};
use tollgate_engine::ports::{Changed, ReservationCancel};

use super::{fault::Fault, timeline::Lines, uuid};
use crate::convert::transfer::{ACTOR, amount_moved, not_sent};

/// Locks the wallet first, as everything does that touches one.
const LOCK: &str = "SELECT 1 FROM ledger_accounts
     WHERE environment_id = $1 AND currency = $2 AND account = 'available' FOR UPDATE";

/// All parts begin with what the first one removes.
const CANCEL: &str = "WITH gone AS (
         DELETE FROM transfers WHERE environment_id = $1 AND transaction_id = $2 AND revision = 0
         RETURNING reference),
     unrecorded AS (
         DELETE FROM transactions t USING gone WHERE t.environment_id = $1 AND t.id = $2),
     renamed AS (
         UPDATE ledger_postings p SET reference = $5 FROM gone
         WHERE p.environment_id = $1 AND p.currency = $4 AND p.cause = 'reserve' AND p.reference = gone.reference),
     posted AS (
         INSERT INTO ledger_postings (environment_id, currency, id, cause, reference, amount_minor, actor, at)
         SELECT $1, $4, $6, $7, $5, $8, $9, $10 FROM gone),
     sides AS MATERIALIZED (
         SELECT s.account, s.amount FROM gone CROSS JOIN unnest($11::text[], $12::bigint[]) AS s (account, amount)),
     kept AS (
         INSERT INTO ledger_entries (environment_id, currency, posting_id, account, amount_minor)
         SELECT $1, $4, $6, account, amount FROM sides),
     added AS (
         UPDATE ledger_accounts a SET balance_minor = a.balance_minor + sides.amount FROM sides
         WHERE a.environment_id = $1 AND a.currency = $4 AND a.account = sides.account),
     lines AS (
         INSERT INTO timeline (environment_id, method, reference, id, at, kind, request, detail)
         SELECT $1, 'ach', $3, l.id, l.at, l.kind, l.request, l.detail
         FROM gone CROSS JOIN unnest($13::uuid[], $14::bigint[], $15::text[], $16::text[], $17::text[])
             AS l (id, at, kind, request, detail)
         ON CONFLICT DO NOTHING)
     SELECT count(*) FROM gone";

pub(super) async fn cancel_reservation(
    client: &mut ClientWrapper,
    environment: EnvironmentId,
    id: TransferId,
    cancel: &ReservationCancel,
) -> Result<Changed, Fault> {
    let transaction = client.transaction().await.map_err(Fault::Uncommitted)?;
    let changed = remove(&transaction, environment, id, cancel).await.map_err(|fault| match fault {
        Fault::Statement(error) => Fault::Uncommitted(error),
        other => other,
    })?;
    transaction.commit().await?;
    Ok(changed)
}

async fn remove(
    transaction: &Transaction<'_>,
    environment: EnvironmentId,
    id: TransferId,
    cancel: &ReservationCancel,
) -> Result<Changed, Fault> {
    let posting = &cancel.posting;
    let Some(amount) = amount_moved(&posting.entries) else {
        return Err(Fault::Misuse("the entries of a transfer's posting do not balance"));
    };
    let (scope, recorded) = (uuid(environment.to_bytes()), uuid(cancel.transaction.to_bytes()));
    let currency = cancel.currency.code();
    let lock = transaction.prepare_cached(LOCK).await?;
    transaction.query(&lock, &[&scope, &currency]).await?;
    let accounts: Vec<&str> = posting.entries.iter().map(|entry| entry.account.as_str()).collect();
    let amounts: Vec<i64> = posting.entries.iter().map(|entry| entry.amount_minor).collect();
    let lines = Lines::new(&cancel.entries);
    let statement = transaction.prepare_cached(CANCEL).await?;
    let row = transaction
        .query_one(
            &statement,
            &[
                &scope,
                &recorded,
                &uuid(id.to_bytes()),
                &currency,
                &not_sent(id, posting.id),
                &uuid(posting.id.to_bytes()),
                &posting.cause.as_str(),
                &amount,
                &ACTOR,
                &cancel.at.unix_millis(),
                &accounts,
                &amounts,
                &lines.ids,
                &lines.moments,
                &lines.kinds,
                &lines.requests,
                &lines.details,
            ],
        )
        .await?;
    if row.try_get::<_, i64>(0)? == 1 {
        return Ok(Changed::Done);
    }
    let sql = "SELECT 1 FROM transfers WHERE environment_id = $1 AND transaction_id = $2";
    let statement = transaction.prepare_cached(sql).await?;
    let is_there = transaction.query_opt(&statement, &[&scope, &recorded]).await?.is_some();
    Ok(if is_there { Changed::Stale } else { Changed::Done })
}
