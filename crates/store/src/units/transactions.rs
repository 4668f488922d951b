//! Transactions of any method, as they are found, listed and added up.

use std::collections::BTreeMap;

use tollgate_domain::{
    Currency, Minor, PaymentMethod, ServiceReference,
    fee::FeeSnapshot,
    hold::Hold,
    id::{EnvironmentId, TransactionId},
    transaction::{Status, Transaction},
};
use tollgate_engine::ports::{TransactionFilter, TransactionTotal};

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

/// What a list of the transactions with something particular about them reads: an index that has only those.
fn particular(filter: &TransactionFilter) -> Option<(&'static str, String)> {
    const PARTLY_REFUNDED: &str = " AND t.status = 'succeeded' AND t.refunded_minor > 0";
    let (index, mut holds) = match (filter.is_disputed, filter.is_partly_refunded) {
        (true, false) => ("transactions_disputed", " AND t.dispute_id IS NOT NULL".to_owned()),
        (true, true) => ("transactions_disputed", format!(" AND t.dispute_id IS NOT NULL{PARTLY_REFUNDED}")),
        (false, true) => ("transactions_partly_refunded", PARTLY_REFUNDED.to_owned()),
        (false, false) => return None,
    };
    if let Some(status) = filter.status {
        holds.extend([" AND t.status = '", status.as_str(), "'"]);
    }
    if let Some(method) = filter.method {
        holds.extend([" AND t.method = '", method.as_str(), "'"]);
    }
    Some((index, holds))
}

/// The parameters are the environment, both [`Bounds::ids`], both [`Bounds::created`], the limit, and the provider where the
/// filter has one. SQLite merges the lists of several kinds as it reads them, but would rather read every transaction in
/// order than those of a provider. PostgreSQL would read all lists whole, so each of them ends at the limit by itself.
pub(crate) fn list_sql(dialect: Dialect, filter: &TransactionFilter) -> String {
    select_sql(dialect, filter, concat!(transaction_columns!(), card_transaction_columns!()))
}

fn select_sql(dialect: Dialect, filter: &TransactionFilter, columns: &str) -> String {
    let one = |by: &str, more: &str| {
        format!(
            "SELECT {columns} FROM transactions t{by} WHERE t.environment_id = $1 AND t.id BETWEEN $2 AND $3
                 AND t.created_at BETWEEN $4 AND $5{more}"
        )
    };
    if let Some((index, holds)) = particular(filter) {
        let by = match dialect {
            Dialect::Sqlite => format!(" INDEXED BY {index}"),
            Dialect::Postgres => String::new(),
        };
        let provider = if filter.provider.is_some() { " AND t.provider = $7" } else { "" };
        return format!("{} ORDER BY t.id DESC LIMIT $6", one(&by, &format!("{holds}{provider}")));
    }
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

/// The columns of an [`Amounts`]; lists are in the order of the first.
const AMOUNTS: &str = "t.id, t.method, t.currency, t.status, t.principal_minor, t.total_debit_minor, t.refunded_minor, t.hold, t.charged";

/// What a transaction adds to the totals.
struct Amounts {
    method: PaymentMethod,
    currency: Currency,
    status: Status,
    principal: Minor,
    total_debit: Minor,
    refunded: Minor,
}

impl Amounts {
    fn take(cells: &mut Cells<'_>) -> Result<Self, Fault> {
        let _id: [u8; 16] = cells.get()?;
        let (method, currency, status) = (cells.get()?, cells.get()?, cells.get()?);
        let (principal, total_debit, refunded) = (cells.get()?, cells.get()?, cells.get()?);
        let (hold, charged): (Option<Hold>, Option<Box<FeeSnapshot>>) = (cells.get()?, cells.get()?);
        let amounts = Self { method, currency, status, principal, total_debit, refunded };
        Ok(match hold.and_then(|hold| hold.captured).or(charged.map(|charged| *charged)) {
            Some(fee) => Self { principal: fee.principal.into(), total_debit: fee.total_debit, ..amounts },
            None => amounts,
        })
    }
}

pub(crate) fn totals_sql(dialect: Dialect, filter: &TransactionFilter) -> String {
    select_sql(dialect, filter, AMOUNTS)
}

pub(crate) async fn totals<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    filter: &TransactionFilter,
    most: u32,
) -> Result<Option<Vec<TransactionTotal>>, Fault> {
    let Some(bounds) = Bounds::new(filter, None) else { return Ok(Some(Vec::new())) };
    let ((lowest, highest), (earliest, latest)) = (bounds.ids, bounds.created);
    // One more tells that there are more.
    let mut values = row![environment, lowest, highest, earliest, latest, most.saturating_add(1)];
    values.extend(filter.provider.as_deref().map(Value::from));
    let all = s.query_planned(&totals_sql(S::DIALECT, filter), &values, Amounts::take).await?;
    if all.len() > usize::try_from(most).unwrap_or(usize::MAX) {
        return Ok(None);
    }
    let mut totals: BTreeMap<(&str, String, Status), TransactionTotal> = BTreeMap::new();
    for one in all {
        let Amounts { method, currency, status, principal, total_debit, refunded } = one;
        let total =
            totals.entry((method.as_str(), currency.to_string(), status)).or_insert(TransactionTotal {
                method,
                currency,
                status,
                count: 0,
                principal_minor: 0,
                total_debit_minor: 0,
                refunded_minor: 0,
            });
        total.count = total.count.saturating_add(1);
        for (sum, amount) in [
            (&mut total.principal_minor, principal),
            (&mut total.total_debit_minor, total_debit),
            (&mut total.refunded_minor, refunded),
        ] {
            *sum = sum.saturating_add(amount.get().into());
        }
    }
    Ok(Some(totals.into_values().collect()))
}
