//! How statements take many rows at once: as arrays, one for each column.

use crate::{
    prelude::*,
    rows::out_event::state_told,
    table::{Kind, columns},
};
use tollgate_domain::transaction::TransactionState;
use tollgate_engine::ports::NewEvent;

/// The names and kinds of some columns.
pub(super) type Columns = [(&'static str, Kind)];

/// The columns of some rows, as arrays.
pub(super) fn arrays<'a>(
    columns: &Columns,
    rows: impl IntoIterator<Item = Vec<Value<'a>>>,
) -> Vec<Value<'a>> {
    let mut arrays: Vec<Vec<Value<'a>>> = columns.iter().map(|_| Vec::new()).collect();
    for row in rows {
        for (array, value) in arrays.iter_mut().zip(row) {
            array.push(value);
        }
    }
    arrays.into_iter().map(Value::List).collect()
}

/// What is left of a row behind its first values.
pub(super) fn behind(count: usize, row: Vec<Value<'_>>) -> Vec<Value<'_>> {
    row.into_iter().skip(count).collect()
}

/// A row that says which of several units it belongs to.
pub(super) fn placed<'a>(place: i64, row: impl IntoIterator<Item = Value<'a>>) -> Vec<Value<'a>> {
    std::iter::once(Value::from(place)).chain(row).collect()
}

/// Events to write.
pub(super) const EVENTS: &Columns = columns!(id: Id, kind: Text, state: Text);

/// An event of a unit that leaves the transaction in this state.
pub(super) fn event_row(
    event: &NewEvent,
    state: Option<&TransactionState>,
) -> Result<Vec<Value<'static>>, Fault> {
    let state = state_told(event, state).map_err(Fault::Misuse)?;
    Ok(vec![event.id.into(), event.kind.as_str().into(), state.into()])
}

/// The parts of a statement that write its events, each with a delivery to every endpoint that wants it. They begin with a
/// part named `events` (environment_id, id, kind, method, reference, at, state), which has no rows where the statement
/// does nothing.
macro_rules! append_events {
    () => {
        "appended AS (
             INSERT INTO out_events (environment_id, id, kind, method, reference, at, state)
             SELECT environment_id, id, kind, method, reference, at, state FROM events),
         digestible AS (
             INSERT INTO undigested_events (event_id, environment_id) SELECT id, environment_id FROM events),
         sent AS (
             INSERT INTO event_deliveries (environment_id, endpoint_id, event_id, state, since, due_at, tries)
             SELECT p.environment_id, p.id, events.id, 'waiting', events.at, events.at, 0
             FROM events JOIN event_endpoints p ON p.environment_id = events.environment_id
             WHERE p.disabled IS NULL AND (p.filter = '*' OR strpos(p.filter, ' ' || events.kind || ' ') > 0))"
    };
}

pub(super) use append_events;
