//! Transactions of any method, as they are found and listed.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::ToSql;
use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, TransactionId},
    transaction::Transaction,
};
use tollgate_engine::ports::TransactionFilter;

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::transaction::{Bounds, Dialect, list_sql, read, transaction_columns};

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

const DIALECT: Dialect = Dialect { mark: '$', by: None, merges: false };

pub(super) async fn list(
    client: &ClientWrapper,
    environment: EnvironmentId,
    filter: &TransactionFilter,
    before: Option<TransactionId>,
    limit: u32,
) -> Result<Vec<Transaction>, Fault> {
    let Some(bounds) = Bounds::new(filter, before) else { return Ok(Vec::new()) };
    let (scope, limit) = (uuid(environment.to_bytes()), i64::from(limit));
    let (lowest, highest) = (uuid(bounds.ids.0), uuid(bounds.ids.1));
    let (earliest, latest) = bounds.created;
    let mut parameters: Vec<&(dyn ToSql + Sync)> =
        vec![&scope, &lowest, &highest, &earliest, &latest, &limit];
    parameters.extend(filter.provider.iter().map(|provider| provider as &(dyn ToSql + Sync)));
    let statement = client.prepare_cached(&list_sql(filter, DIALECT)).await?;
    let rows = client.query(&statement, &parameters).await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect()
}
