//! Events that are sent once more.

use rusqlite::{Connection, params};
use tollgate_domain::{
    Timestamp,
    event::EventKind,
    id::{EnvironmentId, EventId},
};
use tollgate_engine::ports::{Resend, ResendWhich, Resent};

use super::{cells::RowCells, endpoints, fault::Fault, out_events, writer::Effect};
use crate::convert::{
    delivery::{Again, Span, in_order, to_all_that_want},
    endpoint::{Target, kind, kinds_wanted, read_target},
};

pub(super) fn resend(
    connection: &Connection,
    environment: EnvironmentId,
    resend: Resend,
    now: Timestamp,
    limit: u32,
) -> Result<Effect<Resent>, Fault> {
    let targets = match resend.endpoint {
        None => enabled(connection, environment)?,
        Some(id) => match endpoints::find(connection, environment, id)? {
            None => return Ok(Effect::Nothing(Resent::Missing)),
            Some(endpoint) if endpoint.disabled.is_some() => return Ok(Effect::Nothing(Resent::Disabled)),
            Some(_) => vec![Target { id: id.to_bytes(), filter: None }],
        },
    };
    let mut again = match resend.which {
        ResendWhich::Event(id) => match out_events::find(connection, environment, id)? {
            None => return Ok(Effect::Nothing(Resent::Missing)),
            Some(event) => to_all_that_want(&[(id.to_bytes(), event.kind)], &targets),
        },
        ResendWhich::Between { from, until, parked_only, after } => match Span::new(from, until, after) {
            None => Vec::new(),
            Some(span) if parked_only => parked(connection, environment, span, &targets, limit)?,
            Some(span) => {
                to_all_that_want(&events(connection, environment, span, &targets, limit)?, &targets)
            }
        },
    };
    let resent = in_order(&mut again, limit);
    if again.is_empty() {
        return Ok(Effect::Nothing(resent));
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO event_deliveries (environment_id, endpoint_id, event_id, state, since, due_at, tries)
         VALUES (?1, ?2, ?3, 'waiting', ?4, ?4, 0)
         ON CONFLICT DO UPDATE SET state = excluded.state, since = excluded.since, due_at = excluded.due_at,
             tries = excluded.tries",
    )?;
    for (event, endpoint) in &again {
        statement.execute(params![environment.to_bytes(), endpoint, event, now.unix_millis()])?;
    }
    Ok(Effect::Written(resent))
}

/// Every endpoint that is told.
fn enabled(connection: &Connection, environment: EnvironmentId) -> Result<Vec<Target>, Fault> {
    connection
        .prepare_cached(
            "SELECT id, filter FROM event_endpoints WHERE environment_id = ?1 AND disabled IS NULL ORDER BY id",
        )?
        .query_and_then(params![environment.to_bytes()], |row| read_target(&mut RowCells::new(row, 0)))?
        .collect()
}

pub(super) const OF_KIND: &str = "SELECT e.id FROM out_events e INDEXED BY out_events_by_kind
     WHERE e.environment_id = ?1 AND e.kind = ?2 AND e.id BETWEEN ?3 AND ?4 AND e.at BETWEEN ?5 AND ?6
     ORDER BY e.id LIMIT ?7";

/// The first events of a span that somebody wants. Kind by kind, so that what nobody wants is not read.
fn events(
    connection: &Connection,
    environment: EnvironmentId,
    span: Span,
    targets: &[Target],
    limit: u32,
) -> Result<Vec<([u8; 16], EventKind)>, Fault> {
    let mut statement = connection.prepare_cached(OF_KIND)?;
    let mut events = Vec::new();
    for kind in kinds_wanted(targets) {
        let rows = statement.query_map(
            params![
                environment.to_bytes(),
                kind.as_str(),
                span.ids.0,
                span.ids.1,
                span.at.0,
                span.at.1,
                limit
            ],
            |row| row.get(0),
        )?;
        for id in rows {
            events.push((id?, kind));
        }
    }
    Ok(events)
}

pub(super) const PARKED: &str = "SELECT d.event_id, e.kind
     FROM event_deliveries d INDEXED BY event_deliveries_by_state
     CROSS JOIN out_events e ON e.environment_id = d.environment_id AND e.id = d.event_id
     WHERE d.environment_id = ?1 AND d.endpoint_id = ?2 AND d.state = 'parked' AND d.state <> 'delivered'
         AND d.event_id BETWEEN ?3 AND ?4 AND e.at BETWEEN ?5 AND ?6
     ORDER BY d.event_id LIMIT ?7";

/// The first deliveries of a span that were given up.
fn parked(
    connection: &Connection,
    environment: EnvironmentId,
    span: Span,
    targets: &[Target],
    limit: u32,
) -> Result<Vec<Again>, Fault> {
    let mut statement = connection.prepare_cached(PARKED)?;
    let mut again = Vec::new();
    for target in targets {
        let mut rows = statement.query(params![
            environment.to_bytes(),
            target.id,
            span.ids.0,
            span.ids.1,
            span.at.0,
            span.at.1,
            // What is no longer wanted is passed over, so all of them may have to be read.
            if target.filter.is_some() { i64::MAX } else { i64::from(limit) }
        ])?;
        let mut found = 0;
        while let Some(row) = rows.next()?
            && found < limit
        {
            let event = EventId::from_bytes(row.get(0)?);
            if target.wants(kind(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?) {
                again.push((event.to_bytes(), target.id));
                found += 1;
            }
        }
    }
    Ok(again)
}
