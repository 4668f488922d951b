//! What waits in a database, and the postings of one payment.

use tollgate_domain::{
    Currency, ServiceReference, Timestamp,
    id::{EnvironmentId, EventId},
};
use tollgate_engine::ports::{Backlog, LedgerLine};

use super::{postings::with_entries, wallet::line_columns};
use crate::prelude::*;

const WORK: [&str; 4] = ["card payments", "transfers", "provider events", "events to index"];

/// Ids of events begin with their moment.
pub(crate) const BACKLOG: &str = "SELECT 'card payments', count(*), min(due_at) FROM (
         SELECT due_at FROM card_payments WHERE due_at <= $1 ORDER BY due_at LIMIT $2) due
     UNION ALL SELECT 'transfers', count(*), min(due_at) FROM (
         SELECT due_at FROM transfers WHERE due_at <= $1 ORDER BY due_at LIMIT $2) due
     UNION ALL SELECT 'provider events', count(*), min(due_at) FROM (
         SELECT due_at FROM provider_events WHERE due_at <= $1 ORDER BY due_at LIMIT $2) due
     UNION ALL SELECT 'events to index', count(*), (
         SELECT e.at FROM out_events e WHERE (e.environment_id, e.id) = (
             SELECT environment_id, event_id FROM undigested_events
             WHERE event_id <= $3 ORDER BY event_id, environment_id LIMIT 1))
         FROM (
             SELECT 1 FROM undigested_events WHERE event_id <= $3 ORDER BY event_id, environment_id LIMIT $2) due";

pub(crate) async fn backlog<S: Session>(s: &mut S, now: Timestamp) -> Result<Vec<Backlog>, Fault> {
    let last = EventId::new(now, [0xff; 10]);
    let kind = |text: &str| WORK.into_iter().find(|kind| *kind == text);
    let read = |cells: &mut Cells<'_>| {
        let what = cells.word("kind of work", kind)?;
        Ok(Backlog { what, due: cells.field("count")?, oldest: cells.get()? })
    };
    let mut backlog = s.query(BACKLOG, values![now, Backlog::MOST, last], read).await?;
    backlog.sort_by_key(|backlog| WORK.iter().position(|kind| *kind == backlog.what));
    Ok(backlog)
}

pub(crate) async fn schema_version<S: Session>(s: &mut S) -> Result<u64, Fault> {
    let sql = "SELECT coalesce(max(version), 0)
         FROM (SELECT version FROM schema_migrations UNION ALL SELECT version FROM schema_changes) applied";
    s.query_one(sql, values![], read).await
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
         JOIN posting_entries e ON e.environment_id = $1 AND e.currency = $2 AND e.posting_id = p.id
         WHERE p.environment_id = $1 AND p.currency = $2
             AND p.cause IN ('reserve', 'settle', 'release', 'reverse') AND p.reference = $3"
    );
    let values = values![environment, currency.code(), reference.to_string()];
    let mut lines: Vec<LedgerLine> = s.query(&with_entries(S::DIALECT, sql), values, read).await?;
    rows::newest_first(&mut lines);
    Ok(lines)
}
