//! Bank transfers as they are found, listed and claimed.

use deadpool_postgres::ClientWrapper;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, TransactionId, TransferId},
};
use tollgate_engine::ports::Transfer;
use uuid::Uuid;

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::{
    self,
    transfer::{read, transfer_columns},
};

pub(super) async fn find(
    client: &ClientWrapper,
    environment: EnvironmentId,
    id: TransferId,
) -> Result<Option<Transfer>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            transfer_columns!(),
            " FROM transactions t
             JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
             WHERE t.environment_id = $1 AND t.method = 'ach' AND t.reference = $2"
        ))
        .await?;
    let row = client.query_opt(&statement, &[&uuid(environment.to_bytes()), &uuid(id.to_bytes())]).await?;
    row.map(|row| read(&mut RowCells::new(&row, 0))).transpose()
}

/// The first of those that the provider gave this name. Without an order in the statement, for which the server might read
/// through all of an environment's transactions.
pub(super) async fn of_object(
    client: &ClientWrapper,
    environment: EnvironmentId,
    provider: &str,
    object: &str,
) -> Result<Option<TransferId>, Fault> {
    if convert::is_unstorable(provider) || convert::is_unstorable(object) {
        return Ok(None);
    }
    let statement = client
        .prepare_cached(
            "SELECT id, reference FROM transactions
             WHERE environment_id = $1 AND provider_reference COLLATE \"C\" = $3 AND provider = $2 AND method = 'ach'",
        )
        .await?;
    let rows = client.query(&statement, &[&uuid(environment.to_bytes()), &provider, &object]).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        found.push((row.try_get::<_, Uuid>(0)?, row.try_get::<_, Uuid>(1)?));
    }
    Ok(found.into_iter().min().map(|(_, reference)| TransferId::from_bytes(reference.into_bytes())))
}

pub(super) async fn waiting(
    client: &ClientWrapper,
    environment: EnvironmentId,
    before: Option<TransactionId>,
    limit: u32,
) -> Result<Vec<Transfer>, Fault> {
    let Some(last) = convert::up_to_before(before.map(TransactionId::to_bytes)) else {
        return Ok(Vec::new());
    };
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            transfer_columns!(),
            " FROM transfers f
             JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id
             WHERE f.environment_id = $1 AND f.transaction_id <= $2 AND f.waiting IS NOT NULL
             ORDER BY f.transaction_id DESC LIMIT $3"
        ))
        .await?;
    let rows =
        client.query(&statement, &[&uuid(environment.to_bytes()), &uuid(last), &i64::from(limit)]).await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect()
}

/// What another node is taking, or changing, in this very moment is passed over rather than waited for.
pub(super) async fn claim(
    client: &ClientWrapper,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<(EnvironmentId, TransferId)>, Fault> {
    let statement = client
        .prepare_cached(
            "WITH due AS (
                 SELECT environment_id, transaction_id, due_at FROM transfers WHERE due_at <= $1
                 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED),
             taken AS (
                 UPDATE transfers f SET due_at = $2, tries = f.tries + 1 FROM due
                 WHERE f.environment_id = due.environment_id AND f.transaction_id = due.transaction_id
                 RETURNING f.environment_id, f.transaction_id, due.due_at AS was_due_at)
             SELECT t.environment_id, t.reference FROM taken
             JOIN transactions t ON t.environment_id = taken.environment_id AND t.id = taken.transaction_id
             ORDER BY taken.was_due_at, t.id",
        )
        .await?;
    let rows =
        client.query(&statement, &[&now.unix_millis(), &until.unix_millis(), &i64::from(limit)]).await?;
    rows.iter()
        .map(|row| {
            let environment = row.try_get::<_, Uuid>(0)?.into_bytes();
            let id = row.try_get::<_, Uuid>(1)?.into_bytes();
            Ok((EnvironmentId::from_bytes(environment), TransferId::from_bytes(id)))
        })
        .collect()
}
