//! Transactions of any method, as they are found and listed.

use rusqlite::{Connection, ToSql, params};
use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, TransactionId},
    transaction::Transaction,
};
use tollgate_engine::ports::TransactionFilter;

use super::{cells::RowCells, fault::Fault};
use crate::convert::transaction::{Bounds, kinds, read, transaction_columns};

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

/// The parameters are the environment, both [`Bounds::ids`], both [`Bounds::created`], the limit, and the provider where the
/// filter has one. Lists are merged as they are read. Left to itself, SQLite would rather read every transaction in order
/// than those of a provider.
pub(super) fn list_sql(filter: &TransactionFilter) -> String {
    let one = |by: &str, more: &str| {
        let columns = transaction_columns!();
        format!(
            "SELECT {columns} FROM transactions t{by} WHERE t.environment_id = ?1 AND t.id BETWEEN ?2 AND ?3
                 AND t.created_at BETWEEN ?4 AND ?5{more}"
        )
    };
    let lists = match kinds(filter) {
        None => one("", ""),
        Some(kinds) => {
            let (by, provider) = match filter.provider {
                None => (" INDEXED BY transactions_by_kind", ""),
                Some(_) => (" INDEXED BY transactions_by_provider", " AND t.provider = ?7"),
            };
            let of_kind = |(method, status): &(&str, &str)| {
                one(by, &format!(" AND t.method = '{method}' AND t.status = '{status}'{provider}"))
            };
            kinds.iter().map(of_kind).collect::<Vec<_>>().join(" UNION ALL ")
        }
    };
    format!("{lists} ORDER BY id DESC LIMIT ?6")
}

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
        .prepare_cached(&list_sql(filter))?
        .query_and_then(parameters.as_slice(), |row| read(&mut RowCells::new(row, 0)))?
        .collect()
}
