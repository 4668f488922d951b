//! Events that callers are told: written with what they tell of, found and listed.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::ToSql;
use tollgate_domain::{
    ServiceReference,
    event::EventKind,
    id::{EnvironmentId, EventId},
    transaction::TransactionState,
};
use tollgate_engine::ports::{EventQuery, EventsFrom, NewEvent, OutEvent};
use uuid::Uuid;

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::out_event::{Slice, out_event_columns, read, state_told};

/// The parts of a statement that write its events, each with a delivery to every endpoint that wants it. They begin with a
/// part named `tells` (environment_id, id, kind, method, reference, at, state), which has no rows where the statement
/// does nothing.
macro_rules! tell {
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

pub(super) use tell;

/// Events to write, a column each, as a statement takes them.
#[derive(Debug, Default)]
pub(super) struct Tells {
    pub(super) ids: Vec<Uuid>,
    pub(super) kinds: Vec<&'static str>,
    pub(super) states: Vec<Option<String>>,
}

impl Tells {
    /// The events of a unit that leaves the transaction in this state.
    pub(super) fn new(tells: &[NewEvent], state: Option<&TransactionState>) -> Result<Self, Fault> {
        let mut all = Self::default();
        for event in tells {
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
) -> Result<Option<OutEvent>, Fault> {
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

/// A text for each, so that what is given is looked up in its index.
fn list_sql(query: EventQuery, slice: Slice) -> String {
    let conditions = match query {
        EventQuery { kind: None, reference: None } => "",
        EventQuery { kind: Some(_), reference: None } => " AND e.kind = $5",
        EventQuery { kind: None, reference: Some(_) } => " AND e.method = $5 AND e.reference = $6",
        EventQuery { kind: Some(_), reference: Some(_) } => {
            " AND e.method = $5 AND e.reference = $6 AND e.kind = $7"
        }
    };
    format!(
        concat!(
            "SELECT ",
            out_event_columns!(),
            " FROM out_events e WHERE e.environment_id = $1 AND e.id BETWEEN $2 AND $3{} ORDER BY e.id {} LIMIT $4"
        ),
        conditions,
        slice.direction()
    )
}

pub(super) async fn list(
    client: &ClientWrapper,
    environment: EnvironmentId,
    query: EventQuery,
    from: EventsFrom,
    limit: u32,
) -> Result<Vec<OutEvent>, Fault> {
    let Some(slice) = Slice::new(from) else { return Ok(Vec::new()) };
    let statement = client.prepare_cached(&list_sql(query, slice)).await?;
    let (scope, first, last) = (uuid(environment.to_bytes()), uuid(slice.first), uuid(slice.last));
    let limit = i64::from(limit);
    let kind = query.kind.map(EventKind::as_str);
    let method = query.reference.map(|reference| reference.method().as_str());
    let reference = query.reference.map(|reference| uuid(ServiceReference::to_bytes(reference)));
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&scope, &first, &last, &limit];
    if let (Some(method), Some(reference)) = (&method, &reference) {
        values.extend::<[&(dyn ToSql + Sync); 2]>([method, reference]);
    }
    if let Some(kind) = &kind {
        values.push(kind);
    }
    let rows = client.query(&statement, &values).await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect()
}
