//! The endpoints of an environment.

use rusqlite::{Connection, params};
use tollgate_domain::{
    Timestamp,
    id::{EndpointId, EnvironmentId},
};
use tollgate_engine::ports::{Endpoint, EndpointAdded, EndpointChanged};

use super::{cells::RowCells, directory, fault::Fault, writer::Effect};
use crate::convert::{
    self,
    endpoint::{endpoint_columns, is_made, read, write_filter, write_secrets},
};

pub(super) fn add(
    connection: &Connection,
    environment: EnvironmentId,
    endpoint: &Endpoint,
    most: u32,
) -> Result<Effect<EndpointAdded>, Fault> {
    if directory::stamp(connection, environment)?.is_none() {
        return Ok(Effect::Nothing(EndpointAdded::EnvironmentMissing));
    }
    if find(connection, environment, endpoint.id)?.is_some() {
        return Ok(Effect::Nothing(EndpointAdded::Done));
    }
    let count: u32 = connection
        .prepare_cached("SELECT count(*) FROM event_endpoints WHERE environment_id = ?1")?
        .query_row(params![environment.to_bytes()], |row| row.get(0))?;
    if count >= most {
        return Ok(Effect::Nothing(EndpointAdded::TooMany));
    }
    connection
        .prepare_cached(
            "INSERT INTO event_endpoints (environment_id, id, revision, url, description, filter, disabled, secrets,
                 created_at, updated_at, failures, rests_until)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            environment.to_bytes(),
            endpoint.id.to_bytes(),
            convert::version(endpoint.revision),
            endpoint.url,
            endpoint.description,
            write_filter(&endpoint.filter),
            endpoint.disabled,
            write_secrets(&endpoint.secrets),
            endpoint.created_at.unix_millis(),
            endpoint.updated_at.unix_millis(),
            endpoint.failures,
            endpoint.rests_until.map(Timestamp::unix_millis)
        ])?;
    Ok(Effect::Written(EndpointAdded::Done))
}

pub(super) const LIST: &str = concat!(
    "SELECT ",
    endpoint_columns!(),
    " FROM event_endpoints p WHERE p.environment_id = ?1 ORDER BY p.id"
);

pub(super) fn list(connection: &Connection, environment: EnvironmentId) -> Result<Vec<Endpoint>, Fault> {
    connection
        .prepare_cached(LIST)?
        .query_and_then(params![environment.to_bytes()], |row| read(&mut RowCells::new(row, 0)))?
        .collect()
}

pub(super) fn find(
    connection: &Connection,
    environment: EnvironmentId,
    id: EndpointId,
) -> Result<Option<Endpoint>, Fault> {
    connection
        .prepare_cached(concat!(
            "SELECT ",
            endpoint_columns!(),
            " FROM event_endpoints p WHERE p.environment_id = ?1 AND p.id = ?2"
        ))?
        .query_and_then(params![environment.to_bytes(), id.to_bytes()], |row| {
            read(&mut RowCells::new(row, 0))
        })?
        .next()
        .transpose()
}

pub(super) fn change(
    connection: &Connection,
    environment: EnvironmentId,
    endpoint: &Endpoint,
) -> Result<Effect<EndpointChanged>, Fault> {
    // On the right of an assignment, a column is as it was before.
    let changed = connection
        .prepare_cached(
            "UPDATE event_endpoints SET revision = revision + 1, url = ?4, description = ?5, filter = ?6,
                 disabled = ?7, secrets = ?8, updated_at = ?9,
                 failures = CASE WHEN disabled IS NOT NULL AND ?7 IS NULL THEN 0 ELSE failures END,
                 rests_until = CASE WHEN disabled IS NOT NULL AND ?7 IS NULL THEN NULL ELSE rests_until END
             WHERE environment_id = ?1 AND id = ?2 AND revision = ?3",
        )?
        .execute(params![
            environment.to_bytes(),
            endpoint.id.to_bytes(),
            convert::version(endpoint.revision),
            endpoint.url,
            endpoint.description,
            write_filter(&endpoint.filter),
            endpoint.disabled,
            write_secrets(&endpoint.secrets),
            endpoint.updated_at.unix_millis()
        ])?;
    if changed == 0 {
        return Ok(Effect::Nothing(match find(connection, environment, endpoint.id)? {
            None => EndpointChanged::Missing,
            Some(stored) if is_made(&stored, endpoint) => EndpointChanged::Done,
            Some(_) => EndpointChanged::Stale,
        }));
    }
    if endpoint.disabled.is_some() {
        park_waiting(connection, environment, endpoint.id)?;
    }
    Ok(Effect::Written(EndpointChanged::Done))
}

pub(super) const PARK: &str =
    "UPDATE event_deliveries INDEXED BY event_deliveries_by_state SET state = 'parked', due_at = NULL
     WHERE environment_id = ?1 AND endpoint_id = ?2 AND state = 'waiting' AND state <> 'delivered'";

/// Gives up what waits for an endpoint that is told nothing anymore.
pub(super) fn park_waiting(
    connection: &Connection,
    environment: EnvironmentId,
    id: EndpointId,
) -> Result<(), Fault> {
    connection.prepare_cached(PARK)?.execute(params![environment.to_bytes(), id.to_bytes()])?;
    Ok(())
}

pub(super) fn remove(
    connection: &Connection,
    environment: EnvironmentId,
    id: EndpointId,
) -> Result<Effect<bool>, Fault> {
    let removed = connection
        .prepare_cached("DELETE FROM event_endpoints WHERE environment_id = ?1 AND id = ?2")?
        .execute(params![environment.to_bytes(), id.to_bytes()])?;
    if removed == 0 {
        return Ok(Effect::Nothing(false));
    }
    connection
        .prepare_cached("DELETE FROM event_deliveries WHERE environment_id = ?1 AND endpoint_id = ?2")?
        .execute(params![environment.to_bytes(), id.to_bytes()])?;
    Ok(Effect::Written(true))
}
