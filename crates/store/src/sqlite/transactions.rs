//! Transactions of any method, as they are found and listed.

use rusqlite::{Connection, params};
use tollgate_domain::{
    PaymentMethod, ServiceReference,
    id::{EnvironmentId, TransactionId},
    transaction::{Status, Transaction},
};
use tollgate_engine::ports::TransactionFilter;

use super::{cells::RowCells, fault::Fault};
use crate::convert::transaction::{Bounds, read, transaction_columns};

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

macro_rules! list {
    ($status:literal) => {
        concat!(
            "SELECT ",
            transaction_columns!(),
            " FROM transactions t WHERE t.environment_id = ?1 AND t.id BETWEEN ?2 AND ?3
                 AND t.created_at BETWEEN ?4 AND ?5 AND (?6 IS NULL OR t.method = ?6)
                 AND (?7 IS NULL OR t.provider = ?7)",
            $status,
            " ORDER BY t.id DESC LIMIT ?9"
        )
    };
}

/// A text for each, so that a status is looked up in its index.
pub(super) const LIST: &str = list!(" AND ?8 IS NULL");
pub(super) const LIST_BY_STATUS: &str = list!(" AND t.status = ?8");

pub(super) fn list(
    connection: &Connection,
    environment: EnvironmentId,
    filter: &TransactionFilter,
    before: Option<TransactionId>,
    limit: u32,
) -> Result<Vec<Transaction>, Fault> {
    let Some(bounds) = Bounds::new(filter, before) else { return Ok(Vec::new()) };
    let sql = if filter.status.is_some() { LIST_BY_STATUS } else { LIST };
    connection
        .prepare_cached(sql)?
        .query_and_then(
            params![
                environment.to_bytes(),
                bounds.ids.0,
                bounds.ids.1,
                bounds.created.0,
                bounds.created.1,
                filter.method.map(PaymentMethod::as_str),
                filter.provider,
                filter.status.map(Status::as_str),
                limit
            ],
            |row| read(&mut RowCells::new(row, 0)),
        )?
        .collect()
}
