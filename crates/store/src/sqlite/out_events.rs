//! Events that callers are notified: written with what they tell of, found and listed.

use rusqlite::{Connection, OptionalExtension as _, params};
use tollgate_domain::{
    ServiceReference, Timestamp,
    id::{EnvironmentId, EventId},
    transaction::TransactionState,
};
use tollgate_engine::ports::{Event, EventQuery, EventsFrom, NewEvent};

use super::{cells::RowCells, fault::Fault};
use crate::convert::out_event::{Slice, in_filter, out_event_columns, read, state_told};

/// What a unit of work tells of, beside the events themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) environment: EnvironmentId,
    pub(super) reference: ServiceReference,
    pub(super) at: Timestamp,
    /// The transaction as the unit leaves it.
    pub(super) state: Option<&'a TransactionState>,
}

/// With the next number of its environment: the one writer makes the order of numbers that of commits.
pub(super) const NUMBERED: &str =
    "INSERT INTO out_events (environment_id, id, kind, method, reference, at, state, sequence)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
         (SELECT coalesce(max(sequence), 0) + 1 FROM out_events WHERE environment_id = ?1))";

/// To whom an event goes.
pub(super) const DELIVER: &str = "INSERT INTO event_deliveries
         (environment_id, endpoint_id, event_id, state, since, due_at, tries)
     SELECT p.environment_id, p.id, ?2, 'waiting', ?3, ?3, 0 FROM event_endpoints p
     WHERE p.environment_id = ?1 AND p.disabled IS NULL AND (p.filter = '*' OR instr(p.filter, ?4) > 0)";

/// Writes a unit's events, each with a delivery to every endpoint that wants it.
pub(super) fn append_events(
    connection: &Connection,
    new_events: &[NewEvent],
    about: About<'_>,
) -> Result<(), Fault> {
    let (scope, at) = (about.environment.to_bytes(), about.at.unix_millis());
    for event in new_events {
        let state = state_told(event, about.state).map_err(Fault::Misuse)?;
        connection.prepare_cached(NUMBERED)?.execute(params![
            scope,
            event.id.to_bytes(),
            event.kind.as_str(),
            about.reference.method().as_str(),
            about.reference.to_bytes(),
            at,
            state
        ])?;
        connection
            .prepare_cached("INSERT INTO undigested_events (event_id, environment_id) VALUES (?1, ?2)")?
            .execute(params![event.id.to_bytes(), scope])?;
        connection.prepare_cached(DELIVER)?.execute(params![
            scope,
            event.id.to_bytes(),
            at,
            in_filter(event.kind)
        ])?;
    }
    Ok(())
}

pub(super) fn find(
    connection: &Connection,
    environment: EnvironmentId,
    id: EventId,
) -> Result<Option<Event>, Fault> {
    connection
        .prepare_cached(concat!(
            "SELECT ",
            out_event_columns!(),
            " FROM out_events e WHERE e.environment_id = ?1 AND e.id = ?2"
        ))?
        .query_and_then(params![environment.to_bytes(), id.to_bytes()], |row| {
            read(&mut RowCells::new(row, 0))
        })?
        .next()
        .transpose()
}

/// A text for each, so that what is given is looked up in its index: SQLite would rather not look elsewhere for the rest.
pub(super) fn list_sql(query: EventQuery, slice: Slice) -> String {
    let index = match query {
        EventQuery { reference: Some(_), .. } => " INDEXED BY out_events_by_reference",
        EventQuery { kind: Some(_), .. } => " INDEXED BY out_events_by_kind_sequence",
        EventQuery { kind: None, reference: None } => " INDEXED BY out_events_by_sequence",
    };
    let kind = if query.kind.is_some() { " AND e.kind = ?5" } else { "" };
    let reference = if query.reference.is_some() { " AND e.method = ?6 AND e.reference = ?7" } else { "" };
    format!(
        concat!(
            "SELECT ",
            out_event_columns!(),
            " FROM out_events e{} WHERE e.environment_id = ?1 AND e.sequence BETWEEN ?2 AND ?3{}{}
             ORDER BY e.sequence {} LIMIT ?4"
        ),
        index,
        kind,
        reference,
        slice.direction()
    )
}

pub(super) fn list(
    connection: &Connection,
    environment: EnvironmentId,
    query: EventQuery,
    from: EventsFrom,
    limit: u32,
) -> Result<Option<Vec<Event>>, Fault> {
    let cursor = match from.cursor() {
        Some(id) => connection
            .prepare_cached("SELECT sequence FROM out_events WHERE environment_id = ?1 AND id = ?2")?
            .query_row(params![environment.to_bytes(), id.to_bytes()], |row| row.get(0))
            .optional()?,
        None => None,
    };
    let Some(slice) = Slice::new(from, cursor) else { return Ok(None) };
    let mut statement = connection.prepare_cached(&list_sql(query, slice))?;
    let scope = environment.to_bytes();
    let (kind, method) = (
        query.kind.map(tollgate_domain::event::EventKind::as_str),
        query.reference.map(|reference| reference.method().as_str()),
    );
    let reference = query.reference.map(ServiceReference::to_bytes);
    let mut values: Vec<(usize, &dyn rusqlite::ToSql)> =
        vec![(1, &scope), (2, &slice.first), (3, &slice.last), (4, &limit)];
    if kind.is_some() {
        values.push((5, &kind));
    }
    if reference.is_some() {
        values.extend::<[(usize, &dyn rusqlite::ToSql); 2]>([(6, &method), (7, &reference)]);
    }
    for (place, value) in values {
        statement.raw_bind_parameter(place, value)?;
    }
    let mut rows = statement.raw_query();
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(read(&mut RowCells::new(row, 0))?);
    }
    Ok(Some(events))
}
