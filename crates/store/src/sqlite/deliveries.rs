//! Deliveries as they are listed, claimed and settled.

use rusqlite::{Connection, OptionalExtension as _, params};
use tollgate_domain::{
    Timestamp,
    id::{EndpointId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{
    Attempted, ClaimedDelivery, DeliveryQuery, DeliveryState, Endpoint, EndpointEffect, EventDelivery,
};

use super::{cells::RowCells, endpoints, fault::Fault, writer::Effect};
use crate::convert::{
    self,
    delivery::{Bounds, delivery_columns, newest_first, read, state_condition},
    endpoint::endpoint_columns,
};

/// Those of one endpoint. SQLite would rather read all of them than look for the rest of a few elsewhere.
pub(super) fn list_sql(query: DeliveryQuery) -> String {
    let index = match query.state {
        Some(DeliveryState::Waiting | DeliveryState::Parked) => " INDEXED BY event_deliveries_by_state",
        Some(DeliveryState::Delivered) | None => "",
    };
    let event = if query.event.is_some() { "=" } else { "<=" };
    format!(
        concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM event_deliveries d{}
             CROSS JOIN out_events e ON e.environment_id = d.environment_id AND e.id = d.event_id
             WHERE d.environment_id = ?1 AND d.endpoint_id = ?2 AND d.event_id {} ?3
                 AND (d.event_id < ?4 OR d.endpoint_id > ?5){}
             ORDER BY d.event_id DESC LIMIT ?6"
        ),
        index,
        event,
        state_condition(query)
    )
}

pub(super) fn list(
    connection: &Connection,
    environment: EnvironmentId,
    query: DeliveryQuery,
    before: Option<(EventId, EndpointId)>,
    limit: u32,
) -> Result<Vec<EventDelivery>, Fault> {
    let Bounds { events, behind } = Bounds::new(query.event, before);
    if events.0 > events.1 {
        return Ok(Vec::new());
    }
    let asked = match query.endpoint {
        Some(endpoint) => vec![endpoint.to_bytes()],
        None => connection
            .prepare_cached("SELECT id FROM event_endpoints WHERE environment_id = ?1")?
            .query_and_then(params![environment.to_bytes()], |row| Ok(row.get(0)?))?
            .collect::<Result<Vec<[u8; 16]>, Fault>>()?,
    };
    let mut statement = connection.prepare_cached(&list_sql(query))?;
    let mut deliveries = Vec::new();
    for endpoint in asked {
        let rows = statement.query_and_then(
            params![environment.to_bytes(), endpoint, events.1, behind.0, behind.1, limit],
            |row| read(&mut RowCells::new(row, 0)),
        )?;
        for delivery in rows {
            deliveries.push(delivery?);
        }
    }
    newest_first(&mut deliveries, limit);
    Ok(deliveries)
}

/// The endpoint behind another for which something waits, and what has waited longest for it.
pub(super) const NEXT_WAITED_FOR: &str =
    "SELECT d.environment_id, d.endpoint_id, d.due_at FROM event_deliveries d
     WHERE d.due_at IS NOT NULL AND (d.environment_id, d.endpoint_id) > (?1, ?2)
     ORDER BY d.environment_id, d.endpoint_id, d.due_at LIMIT 1";

const READY: &str = concat!(
    "SELECT ",
    endpoint_columns!(),
    " FROM event_endpoints p WHERE p.environment_id = ?1 AND p.id = ?2 AND p.disabled IS NULL
         AND (p.rests_until IS NULL OR p.rests_until <= ?3)"
);

/// An endpoint for which something is due, and since when.
struct Ready {
    due_at: i64,
    environment: [u8; 16],
    endpoint: Endpoint,
}

/// The endpoints for which something is due and that may be told. Looks at one delivery of each endpoint, however many
/// wait for it.
fn ready(connection: &Connection, now: Timestamp, most: usize) -> Result<Vec<Ready>, Fault> {
    let mut next = connection.prepare_cached(NEXT_WAITED_FOR)?;
    let mut endpoint = connection.prepare_cached(READY)?;
    let mut ready = Vec::new();
    let mut seen: (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
    while ready.len() < most {
        let waited_for: Option<([u8; 16], [u8; 16], i64)> = next
            .query_row(params![seen.0, seen.1], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((environment, id, due_at)) = waited_for else { break };
        if due_at <= now.unix_millis() {
            let found = endpoint
                .query_and_then(params![environment, id, now.unix_millis()], |row| {
                    convert::endpoint::read(&mut RowCells::new(row, 0))
                })?
                .next()
                .transpose()?;
            ready.extend(found.map(|endpoint| Ready { due_at, environment, endpoint }));
        }
        seen = (environment.to_vec(), id.to_vec());
    }
    Ok(ready)
}

/// Asked before claiming, so that looking for work writes nothing while there is none.
pub(super) fn is_any_due(connection: &Connection, now: Timestamp) -> Result<bool, Fault> {
    Ok(!ready(connection, now, 1)?.is_empty())
}

pub(super) const DUE: &str = concat!(
    "SELECT ",
    delivery_columns!(),
    " FROM event_deliveries d
     CROSS JOIN out_events e ON e.environment_id = d.environment_id AND e.id = d.event_id
     WHERE d.environment_id = ?1 AND d.endpoint_id = ?2 AND d.due_at <= ?3
     ORDER BY d.due_at, d.event_id LIMIT ?4"
);

pub(super) fn claim(
    connection: &Connection,
    now: Timestamp,
    until: Timestamp,
    each: u32,
    limit: u32,
) -> Result<Effect<Vec<ClaimedDelivery>>, Fault> {
    let mut ready = ready(connection, now, usize::MAX)?;
    ready.sort_by_key(|ready| (ready.due_at, ready.environment, ready.endpoint.id));
    let mut due = connection.prepare_cached(DUE)?;
    let mut lease = connection.prepare_cached(
        "UPDATE event_deliveries SET due_at = ?4, tries = ?5
         WHERE environment_id = ?1 AND endpoint_id = ?2 AND event_id = ?3",
    )?;
    let mut claimed = Vec::new();
    for Ready { environment, endpoint, .. } in ready {
        let taken = u32::try_from(claimed.len()).unwrap_or(u32::MAX);
        let wanted = each.min(limit.saturating_sub(taken));
        if wanted == 0 {
            break;
        }
        let deliveries = due
            .query_and_then(params![environment, endpoint.id.to_bytes(), now.unix_millis(), wanted], |row| {
                read(&mut RowCells::new(row, 0))
            })?
            .collect::<Result<Vec<EventDelivery>, Fault>>()?;
        for mut delivery in deliveries {
            delivery.due = Some(until);
            delivery.tries = delivery.tries.saturating_add(1);
            lease.execute(params![
                environment,
                endpoint.id.to_bytes(),
                delivery.event.id.to_bytes(),
                until.unix_millis(),
                delivery.tries
            ])?;
            let environment = EnvironmentId::from_bytes(environment);
            claimed.push(ClaimedDelivery { environment, delivery, endpoint: endpoint.clone() });
        }
    }
    Ok(if claimed.is_empty() { Effect::Nothing(claimed) } else { Effect::Written(claimed) })
}

pub(super) fn settle(
    connection: &Connection,
    environment: EnvironmentId,
    endpoint: EndpointId,
    event: EventId,
    attempted: &Attempted,
) -> Result<Effect<bool>, Fault> {
    let last = &attempted.last;
    let settled = connection
        .prepare_cached(
            "UPDATE event_deliveries SET state = ?4, due_at = ?5, last_at = ?6, last_status = ?7, last_took = ?8,
                 last_note = ?9
             WHERE environment_id = ?1 AND endpoint_id = ?2 AND event_id = ?3 AND state = 'waiting'",
        )?
        .execute(params![
            environment.to_bytes(),
            endpoint.to_bytes(),
            event.to_bytes(),
            attempted.state.as_str(),
            convert::delivery::due(attempted),
            last.at.unix_millis(),
            last.status,
            last.took_millis,
            last.note
        ])?;
    if settled == 0 {
        return Ok(Effect::Nothing(false));
    }
    take_effect(connection, environment, endpoint, &attempted.endpoint)?;
    Ok(Effect::Written(true))
}

fn take_effect(
    connection: &Connection,
    environment: EnvironmentId,
    endpoint: EndpointId,
    effect: &EndpointEffect,
) -> Result<(), Fault> {
    let (scope, id) = (environment.to_bytes(), endpoint.to_bytes());
    match effect {
        EndpointEffect::Answers => {
            connection
                .prepare_cached(
                    "UPDATE event_endpoints SET failures = 0, rests_until = NULL
                     WHERE environment_id = ?1 AND id = ?2 AND (failures > 0 OR rests_until IS NOT NULL)",
                )?
                .execute(params![scope, id])?;
        }
        EndpointEffect::Rests(until) => {
            connection
                .prepare_cached(
                    "UPDATE event_endpoints SET failures = min(failures + 1, 4294967295), rests_until = ?3
                     WHERE environment_id = ?1 AND id = ?2",
                )?
                .execute(params![scope, id, until.unix_millis()])?;
        }
        EndpointEffect::Disabled(reason) => {
            connection
                .prepare_cached(
                    "UPDATE event_endpoints
                     SET failures = min(failures + 1, 4294967295), disabled = coalesce(disabled, ?3)
                     WHERE environment_id = ?1 AND id = ?2",
                )?
                .execute(params![scope, id, reason])?;
            endpoints::park_waiting(connection, environment, endpoint)?;
        }
    }
    Ok(())
}
