//! Transactions of any method, as they are found and listed.

use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, TransactionId},
    transaction::Transaction,
};
use tollgate_engine::ports::TransactionFilter;

use crate::{
    prelude::*,
    rows::transaction::{Bounds, card_transaction_columns, kinds, transaction_columns},
};

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Option<Transaction>, Fault> {
    let sql = concat!(
        "SELECT ",
        transaction_columns!(),
        card_transaction_columns!(),
        " FROM transactions t WHERE t.environment_id = $1 AND t.method = $2 AND t.reference = $3"
    );
    s.query_opt(sql, values![environment, reference.method().as_str(), reference], read).await
}

/// The parameters are the environment, both [`Bounds::ids`], both [`Bounds::created`], the limit, and the provider where the
/// filter has one. SQLite merges the lists of several kinds as it reads them, but would rather read every transaction in
/// order than those of a provider. PostgreSQL would read all lists whole, so each of them ends at the limit by itself.
pub(crate) fn list_sql(dialect: Dialect, filter: &TransactionFilter) -> String {
    let columns = concat!(transaction_columns!(), card_transaction_columns!());
    let one = |by: &str, more: &str| {
        format!(
            "SELECT {columns} FROM transactions t{by} WHERE t.environment_id = $1 AND t.id BETWEEN $2 AND $3
                 AND t.created_at BETWEEN $4 AND $5{more}"
        )
    };
    let Some(kinds) = kinds(filter) else { return format!("{} ORDER BY t.id DESC LIMIT $6", one("", "")) };
    let (index, provider) = match filter.provider {
        None => (" INDEXED BY transactions_by_kind", ""),
        Some(_) => (" INDEXED BY transactions_by_provider", " AND t.provider = $7"),
    };
    let of_kind = |(method, status): &(&str, &str)| {
        let more = format!(" AND t.method = '{method}' AND t.status = '{status}'{provider}");
        match dialect {
            Dialect::Sqlite => one(index, &more),
            Dialect::Postgres => format!("({} ORDER BY t.id DESC LIMIT $6)", one("", &more)),
        }
    };
    let lists = kinds.iter().map(of_kind).collect::<Vec<_>>().join(" UNION ALL ");
    match dialect {
        Dialect::Sqlite => format!("{lists} ORDER BY id DESC LIMIT $6"),
        Dialect::Postgres => format!("SELECT * FROM ({lists}) t ORDER BY t.id DESC LIMIT $6"),
    }
}

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    filter: &TransactionFilter,
    before: Option<TransactionId>,
    limit: u32,
) -> Result<Vec<Transaction>, Fault> {
    let Some(bounds) = Bounds::new(filter, before) else { return Ok(Vec::new()) };
    let ((lowest, highest), (earliest, latest)) = (bounds.ids, bounds.created);
    let mut values = row![environment, lowest, highest, earliest, latest, limit];
    values.extend(filter.provider.as_deref().map(Value::from));
    s.query_planned(&list_sql(S::DIALECT, filter), &values, read).await
}
