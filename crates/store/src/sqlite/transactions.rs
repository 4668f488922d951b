//! Transactions of any method, as they are found and listed.

use rusqlite::{Connection, ToSql, params};
use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, TransactionId},
    transaction::Transaction,
};
use tollgate_engine::ports::TransactionFilter;

use super::{cells::RowCells, fault::Fault};
use crate::convert::transaction::{Bounds, Dialect, list_sql, read, transaction_columns};

pub(super) fn find(
    connection: &Connection,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Option<Transaction>, Fault> {
    connection
        .prepare_cached(concat!(
            "SELECT ",
            transaction_columns!(),
            " FROM transactions t WHERE t.environment_id = ?1 AND t.method = ?2 AND t.reference = ?3"
        ))?
        .query_and_then(
            params![environment.to_bytes(), reference.method().as_str(), reference.to_bytes()],
            |row| read(&mut RowCells::new(row, 0)),
        )?
        .next()
        .transpose()
}

/// Left to itself, it would rather read every transaction in order than those of a provider.
pub(super) const DIALECT: Dialect = Dialect { mark: '?', by: Some("INDEXED BY"), merges: true };

pub(super) fn list(
    connection: &Connection,
    environment: EnvironmentId,
    filter: &TransactionFilter,
    before: Option<TransactionId>,
    limit: u32,
) -> Result<Vec<Transaction>, Fault> {
    let Some(bounds) = Bounds::new(filter, before) else { return Ok(Vec::new()) };
    let (scope, (lowest, highest), (earliest, latest)) = (environment.to_bytes(), bounds.ids, bounds.created);
    let mut parameters: Vec<&dyn ToSql> = vec![&scope, &lowest, &highest, &earliest, &latest, &limit];
    parameters.extend(filter.provider.iter().map(|provider| provider as &dyn ToSql));
    connection
        .prepare_cached(&list_sql(filter, DIALECT))?
        .query_and_then(parameters.as_slice(), |row| read(&mut RowCells::new(row, 0)))?
        .collect()
}
