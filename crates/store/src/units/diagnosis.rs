//! What waits in a database, and the postings of one payment.

use tollgate_domain::{Currency, ServiceReference, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Backlog, LedgerLine};

use super::wallet::{line, line_columns};
use crate::prelude::*;

const DUE: [(&str, &str); 3] =
    [("card payments", "card_payments"), ("transfers", "transfers"), ("provider events", "provider_events")];

pub(crate) async fn backlog<S: Session>(s: &mut S, now: Timestamp) -> Result<Vec<Backlog>, Fault> {
    let mut backlog = Vec::with_capacity(DUE.len());
    for (what, table) in DUE {
        let sql = format!(
            "SELECT count(*), min(due_at) FROM (
                 SELECT due_at FROM {table} WHERE due_at <= $1 ORDER BY due_at LIMIT $2) due"
        );
        let counted = s
            .query_one(&sql, values![now, Backlog::MOST], |cells| {
                Ok(Backlog { what, due: cells.count("count")?, oldest: cells.moment_or_none()? })
            })
            .await?;
        backlog.push(counted);
    }
    Ok(backlog)
}

pub(crate) async fn schema_version<S: Session>(s: &mut S) -> Result<u64, Fault> {
    let sql = "SELECT coalesce(max(version), 0) FROM schema_migrations";
    s.query_one(sql, values![], |cells| cells.count("version of the schema")).await
}

pub(crate) async fn postings_of<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    currency: Currency,
    reference: ServiceReference,
) -> Result<Vec<LedgerLine>, Fault> {
    let sql = concat!(
        "SELECT ",
        line_columns!(),
        " FROM ledger_postings p
         JOIN ledger_entries e ON e.environment_id = $1 AND e.currency = $2 AND e.posting_id = p.id
         WHERE p.environment_id = $1 AND p.currency = $2
             AND p.cause IN ('reserve', 'settle', 'release', 'reverse') AND p.reference = $3"
    );
    let values = values![environment, currency.code(), reference.to_string()];
    let mut lines = s.query(sql, values, line).await?;
    rows::newest_first(&mut lines);
    Ok(lines)
}
