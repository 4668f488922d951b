//! Transactions of any method, as they are found and listed.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::{ToSql, Type};
use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, TransactionId},
    transaction::Transaction,
};
use tollgate_engine::ports::TransactionFilter;

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::transaction::{Bounds, kinds, read, transaction_columns};

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

/// The parameters are the environment, both [`Bounds::ids`], both [`Bounds::created`], the limit, and the provider where the
/// filter has one. Each list ends at the limit by itself: merged, they would all be read whole.
fn list_sql(filter: &TransactionFilter) -> String {
    let one = |more: &str| {
        let columns = transaction_columns!();
        format!(
            "SELECT {columns} FROM transactions t WHERE t.environment_id = $1 AND t.id BETWEEN $2 AND $3
                 AND t.created_at BETWEEN $4 AND $5{more} ORDER BY t.id DESC LIMIT $6"
        )
    };
    let Some(kinds) = kinds(filter) else { return one("") };
    let provider = filter.provider.as_ref().map_or("", |_| " AND t.provider = $7");
    let of_kind = |(method, status): &(&str, &str)| {
        one(&format!(" AND t.method = '{method}' AND t.status = '{status}'{provider}"))
    };
    let lists = kinds.iter().map(of_kind).collect::<Vec<_>>().join(") UNION ALL (");
    format!("SELECT * FROM (({lists})) t ORDER BY t.id DESC LIMIT $6")
}

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
    let mut parameters: Vec<(&(dyn ToSql + Sync), Type)> = vec![
        (&scope, Type::UUID),
        (&lowest, Type::UUID),
        (&highest, Type::UUID),
        (&earliest, Type::INT8),
        (&latest, Type::INT8),
        (&limit, Type::INT8),
    ];
    parameters.extend(filter.provider.iter().map(|provider| (provider as &(dyn ToSql + Sync), Type::TEXT)));
    // Planned again each time, for these very values: of a provider that hardly any transaction has, a plan for any provider
    // would read all the others.
    let rows = client.query_typed(&list_sql(filter), &parameters).await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect()
}
