//! Events that callers are notified: written with what they tell of, found and listed.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::ToSql;
use tollgate_domain::{
    ServiceReference,
    event::EventKind,
    id::{EnvironmentId, EventId},
    transaction::TransactionState,
};
use tollgate_engine::ports::{Event, EventQuery, EventsFrom, NewEvent};
use uuid::Uuid;

use super::{cells::RowCells, fault::Fault, sequence, uuid};
use crate::convert::out_event::{Slice, out_event_columns, read, state_told};

/// The parts of a statement that write its events, each with a delivery to every endpoint that wants it. They begin with a
/// part named `new_events` (environment_id, id, kind, method, reference, at, state), which has no rows where the statement
/// does nothing.
macro_rules! append_events {
    () => {
        "told AS (
             INSERT INTO out_events (environment_id, id, kind, method, reference, at, state)
             SELECT environment_id, id, kind, method, reference, at, state FROM tells),
         digestible AS (
             INSERT INTO undigested_events (event_id, environment_id) SELECT id, environment_id FROM tells),
         sent AS (
             INSERT INTO event_deliveries (environment_id, endpoint_id, event_id, state, since, due_at, tries)
             SELECT p.environment_id, p.id, tells.id, 'waiting', tells.at, tells.at, 0
             FROM tells JOIN event_endpoints p ON p.environment_id = tells.environment_id
             WHERE p.disabled IS NULL AND (p.filter = '*' OR strpos(p.filter, ' ' || tells.kind || ' ') > 0))"
    };
}

pub(super) use append_events;

/// Events to write, a column each, as a statement takes them.
#[derive(Debug, Default)]
pub(super) struct EventBatch {
    pub(super) ids: Vec<Uuid>,
    pub(super) kinds: Vec<&'static str>,
    pub(super) states: Vec<Option<String>>,
}

impl EventBatch {
    /// The events of a unit that leaves the transaction in this state.
    pub(super) fn new(new_events: &[NewEvent], state: Option<&TransactionState>) -> Result<Self, Fault> {
        let mut all = Self::default();
        for event in new_events {
            all.add(event, state)?;
        }
        Ok(all)
    }

    pub(super) fn add(&mut self, event: &NewEvent, state: Option<&TransactionState>) -> Result<(), Fault> {
        self.ids.push(uuid(event.id.to_bytes()));
        self.kinds.push(event.kind.as_str());
        self.states.push(state_told(event, state).map_err(Fault::Misuse)?);
        Ok(())
    }
}

pub(super) async fn find(
    client: &ClientWrapper,
    environment: EnvironmentId,
    id: EventId,
) -> Result<Option<Event>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            out_event_columns!(),
            " FROM out_events e WHERE e.environment_id = $1 AND e.id = $2"
        ))
        .await?;
    let row = client.query_opt(&statement, &[&uuid(environment.to_bytes()), &uuid(id.to_bytes())]).await?;
    row.map(|row| read(&mut RowCells::new(&row, 0))).transpose()
}

/// A text for each, so that what is given is looked up in its index. Those of one payment are few, and sorted.
fn list_sql(query: EventQuery, slice: Slice) -> String {
    let of_sequence = "event_sequence s CROSS JOIN LATERAL (
             SELECT * FROM out_events e WHERE e.environment_id = s.environment_id AND e.id = s.event_id LIMIT 1) e
         WHERE s.environment_id = $1";
    let of_payment = "out_events e CROSS JOIN LATERAL (
             SELECT s.sequence FROM event_sequence s
             WHERE s.environment_id = e.environment_id AND s.event_id = e.id LIMIT 1) s
         WHERE e.environment_id = $1 AND e.method = $5 AND e.reference = $6";
    let (source, kind) = match query {
        EventQuery { kind: None, reference: None } => (of_sequence, ""),
        EventQuery { kind: Some(_), reference: None } => (of_sequence, " AND s.kind = $5"),
        EventQuery { kind: None, reference: Some(_) } => (of_payment, ""),
        EventQuery { kind: Some(_), reference: Some(_) } => (of_payment, " AND e.kind = $7"),
    };
    format!(
        concat!(
            "SELECT ",
            out_event_columns!(),
            " FROM {}{} AND s.sequence BETWEEN $2 AND $3 ORDER BY s.sequence {} LIMIT $4"
        ),
        source,
        kind,
        slice.direction()
    )
}

pub(super) async fn list(
    client: &ClientWrapper,
    environment: EnvironmentId,
    query: EventQuery,
    from: EventsFrom,
    limit: u32,
) -> Result<Option<Vec<Event>>, Fault> {
    sequence::number_events(client, Some(environment)).await?;
    let scope = uuid(environment.to_bytes());
    let cursor = match from.cursor() {
        Some(id) => {
            let sql = "SELECT sequence FROM event_sequence WHERE environment_id = $1 AND event_id = $2";
            let statement = client.prepare_cached(sql).await?;
            let row = client.query_opt(&statement, &[&scope, &uuid(id.to_bytes())]).await?;
            row.map(|row| row.try_get(0)).transpose()?
        }
        None => None,
    };
    let Some(slice) = Slice::new(from, cursor) else { return Ok(None) };
    let statement = client.prepare_cached(&list_sql(query, slice)).await?;
    let limit = i64::from(limit);
    let kind = query.kind.map(EventKind::as_str);
    let method = query.reference.map(|reference| reference.method().as_str());
    let reference = query.reference.map(|reference| uuid(ServiceReference::to_bytes(reference)));
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&scope, &slice.first, &slice.last, &limit];
    if let (Some(method), Some(reference)) = (&method, &reference) {
        values.extend::<[&(dyn ToSql + Sync); 2]>([method, reference]);
    }
    if let Some(kind) = &kind {
        values.push(kind);
    }
    let rows = client.query(&statement, &values).await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect::<Result<_, _>>().map(Some)
}
