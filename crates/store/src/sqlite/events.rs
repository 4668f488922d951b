//! Providers' events, from their arrival until they are done with.

use rusqlite::{Connection, params};
use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{
    ProviderEvent, ProviderEventCursor, ProviderEventState, Received, SettledProviderEvent,
    StoredProviderEvent,
};

use super::{cells::RowCells, directory, fault::Fault, writer::Effect};
use crate::convert::{
    self,
    event::{event_columns, read},
};

pub(super) fn receive(
    connection: &Connection,
    environment: EnvironmentId,
    event: &ProviderEvent,
    due: Timestamp,
) -> Result<Effect<Received>, Fault> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO provider_events (environment_id, provider, id, kind, notice, request, received_at, state,
                 due_at, tries, note)
             SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, 'waiting', ?8, 0, '' FROM environments WHERE id = ?1
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            environment.to_bytes(),
            event.provider,
            event.id,
            event.kind,
            event.notice,
            event.request,
            event.received_at.unix_millis(),
            due.unix_millis()
        ])?;
    if inserted == 1 {
        return Ok(Effect::Written(Received::New));
    }
    if directory::stamp(connection, environment)?.is_none() {
        return Err(Fault::Misuse("an event was to be stored in an environment that does not exist"));
    }
    Ok(Effect::Nothing(Received::Known))
}

pub(super) const ANY_DUE: &str = "SELECT EXISTS (SELECT 1 FROM provider_events WHERE due_at <= ?1)";

/// Asked before claiming, so that looking for work writes nothing while there is none.
pub(super) fn is_any_due(connection: &Connection, now: Timestamp) -> Result<bool, Fault> {
    Ok(connection.prepare_cached(ANY_DUE)?.query_row(params![now.unix_millis()], |row| row.get(0))?)
}

pub(super) const DUE: &str = concat!(
    "SELECT ",
    event_columns!(),
    " FROM provider_events e WHERE e.due_at <= ?1 ORDER BY e.due_at LIMIT ?2"
);

pub(super) fn claim(
    connection: &Connection,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Effect<Vec<StoredProviderEvent>>, Fault> {
    let mut due = connection
        .prepare_cached(DUE)?
        .query_and_then(params![now.unix_millis(), limit], |row| read(&mut RowCells::new(row, 0)))?
        .collect::<Result<Vec<_>, Fault>>()?;
    if due.is_empty() {
        return Ok(Effect::Nothing(due));
    }
    let mut lease = connection.prepare_cached(
        "UPDATE provider_events SET due_at = ?4, tries = ?5 WHERE environment_id = ?1 AND provider = ?2 AND id = ?3",
    )?;
    for stored in &mut due {
        stored.due = Some(until);
        stored.tries = stored.tries.saturating_add(1);
        lease.execute(params![
            stored.environment.to_bytes(),
            stored.event.provider,
            stored.event.id,
            until.unix_millis(),
            stored.tries
        ])?;
    }
    Ok(Effect::Written(due))
}

/// Whether there was an event that still waited.
pub(super) fn settle(
    connection: &Connection,
    environment: EnvironmentId,
    settled: &SettledProviderEvent,
) -> Result<bool, Fault> {
    let changed = connection
        .prepare_cached(
            "UPDATE provider_events SET state = ?4, due_at = ?5, note = ?6
             WHERE environment_id = ?1 AND provider = ?2 AND id = ?3 AND state = 'waiting'",
        )?
        .execute(params![
            environment.to_bytes(),
            settled.provider,
            settled.id,
            settled.state.as_str(),
            convert::event::due(settled),
            settled.note
        ])?;
    Ok(changed == 1)
}

pub(super) fn retry(
    connection: &Connection,
    environment: EnvironmentId,
    provider: &str,
    id: &str,
    now: Timestamp,
) -> Result<Effect<bool>, Fault> {
    let changed = connection
        .prepare_cached(
            "UPDATE provider_events SET state = 'waiting', due_at = ?4, tries = 0
             WHERE environment_id = ?1 AND provider = ?2 AND id = ?3 AND state = 'parked'",
        )?
        .execute(params![environment.to_bytes(), provider, id, now.unix_millis()])?;
    Ok(if changed == 1 { Effect::Written(true) } else { Effect::Nothing(false) })
}

pub(super) const LIST: &str = concat!(
    "SELECT ",
    event_columns!(),
    " FROM provider_events e WHERE e.environment_id = ?1 AND e.state = ?2 AND e.received_at <= ?3
         AND (e.received_at < ?3 OR (e.provider, e.id) > (?4, ?5))
     ORDER BY e.received_at DESC, e.provider, e.id LIMIT ?6"
);

pub(super) fn list(
    connection: &Connection,
    environment: EnvironmentId,
    state: Option<ProviderEventState>,
    before: Option<&ProviderEventCursor>,
    limit: u32,
) -> Result<Vec<StoredProviderEvent>, Fault> {
    let Some((last, provider, id)) = convert::event::behind(before) else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(LIST)?;
    let mut events = Vec::new();
    for state in convert::event::states(state) {
        let rows = statement.query_and_then(
            params![environment.to_bytes(), state.as_str(), last, provider, id, limit],
            |row| read(&mut RowCells::new(row, 0)),
        )?;
        for event in rows {
            events.push(event?);
        }
    }
    convert::event::newest_first(&mut events, limit);
    Ok(events)
}
