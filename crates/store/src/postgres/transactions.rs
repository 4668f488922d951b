//! Transactions of any method, as they are found and listed.

use deadpool_postgres::ClientWrapper;
use tollgate_domain::{
    PaymentMethod, ServiceReference,
    id::{EnvironmentId, TransactionId},
    transaction::{Status, Transaction},
};
use tollgate_engine::ports::TransactionFilter;

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::transaction::{Bounds, read, transaction_columns};

pub(super) async fn find(
    client: &ClientWrapper,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Option<Transaction>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            transaction_columns!(),
            " FROM transactions t WHERE t.environment_id = $1 AND t.method = $2 AND t.reference = $3"
        ))
        .await?;
    let row = client
        .query_opt(
            &statement,
            &[&uuid(environment.to_bytes()), &reference.method().as_str(), &uuid(reference.to_bytes())],
        )
        .await?;
    row.map(|row| read(&mut RowCells::new(&row, 0))).transpose()
}

macro_rules! list {
    ($status:literal) => {
        concat!(
            "SELECT ",
            transaction_columns!(),
            " FROM transactions t WHERE t.environment_id = $1 AND t.id BETWEEN $2 AND $3
                 AND t.created_at BETWEEN $4 AND $5 AND ($6::text IS NULL OR t.method = $6)
                 AND ($7::text IS NULL OR t.provider = $7)",
            $status,
            " ORDER BY t.id DESC LIMIT $9"
        )
    };
}

/// A text for each, so that a status is looked up in its index.
const LIST: &str = list!(" AND $8::text IS NULL");
const LIST_BY_STATUS: &str = list!(" AND t.status = $8");

pub(super) async fn list(
    client: &ClientWrapper,
    environment: EnvironmentId,
    filter: &TransactionFilter,
    before: Option<TransactionId>,
    limit: u32,
) -> Result<Vec<Transaction>, Fault> {
    let Some(bounds) = Bounds::new(filter, before) else { return Ok(Vec::new()) };
    let sql = if filter.status.is_some() { LIST_BY_STATUS } else { LIST };
    let statement = client.prepare_cached(sql).await?;
    let rows = client
        .query(
            &statement,
            &[
                &uuid(environment.to_bytes()),
                &uuid(bounds.ids.0),
                &uuid(bounds.ids.1),
                &bounds.created.0,
                &bounds.created.1,
                &filter.method.map(PaymentMethod::as_str),
                &filter.provider,
                &filter.status.map(Status::as_str),
                &i64::from(limit),
            ],
        )
        .await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect()
}
