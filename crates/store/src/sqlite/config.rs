//! Configurations and their history.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary};

use super::{directory, fault::Fault, writer::Effect};
use crate::convert;

pub(super) fn put(
    connection: &Connection,
    environment: EnvironmentId,
    change: &ConfigChange,
) -> Result<Effect<ConfigPut>, Fault> {
    let Some(directory) = directory::stamp(connection, environment)? else {
        return Ok(Effect::Nothing(ConfigPut::EnvironmentMissing));
    };
    let put_before: Option<i64> = connection
        .prepare_cached("SELECT version FROM config_versions WHERE environment_id = ?1 AND change_id = ?2")?
        .query_row(params![environment.to_bytes(), change.id.to_bytes()], |row| row.get(0))
        .optional()?;
    if let Some(version) = put_before {
        return Ok(Effect::Nothing(ConfigPut::Done { version: convert::count(version)?, directory }));
    }
    let current: i64 = connection
        .prepare_cached("SELECT config_version FROM environments WHERE id = ?1")?
        .query_row(params![environment.to_bytes()], |row| row.get(0))?;
    let from = convert::count(current)?;
    if from != change.from_version {
        return Ok(Effect::Nothing(ConfigPut::Stale { current: from }));
    }
    let version = current.saturating_add(1);
    connection
        .prepare_cached(
            "INSERT INTO config_versions (environment_id, version, change_id, actor, request, at, document)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            environment.to_bytes(),
            version,
            change.id.to_bytes(),
            change.actor,
            change.request,
            change.at.unix_millis(),
            change.document
        ])?;
    connection
        .prepare_cached("UPDATE environments SET config_version = ?2 WHERE id = ?1")?
        .execute(params![environment.to_bytes(), version])?;
    let directory = directory::touch(connection, environment)?;
    Ok(Effect::Directory(ConfigPut::Done { version: convert::count(version)?, directory }))
}

pub(super) fn in_force(
    connection: &Connection,
    environment: EnvironmentId,
) -> Result<Option<ConfigVersion>, Fault> {
    connection
        .prepare_cached(
            "SELECT e.config_version, c.document FROM environments e
             LEFT JOIN config_versions c ON c.environment_id = e.id AND c.version = e.config_version
             WHERE e.id = ?1",
        )?
        .query_and_then(params![environment.to_bytes()], read_config)?
        .next()
        .transpose()
}

pub(super) fn of_version(
    connection: &Connection,
    environment: EnvironmentId,
    version: u64,
) -> Result<Option<ConfigVersion>, Fault> {
    connection
        .prepare_cached(
            // Version 0 has no row of its own: every environment has it.
            "SELECT ?2, c.document FROM environments e
             LEFT JOIN config_versions c ON c.environment_id = e.id AND c.version = ?2
             WHERE e.id = ?1 AND (?2 = 0 OR c.version IS NOT NULL)",
        )?
        .query_and_then(params![environment.to_bytes(), convert::version(version)], read_config)?
        .next()
        .transpose()
}

pub(super) fn history(
    connection: &Connection,
    environment: EnvironmentId,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<ConfigVersionSummary>, Fault> {
    connection
        .prepare_cached(
            "SELECT version, actor, request, at FROM config_versions
             WHERE environment_id = ?1 AND version < ?2 ORDER BY version DESC LIMIT ?3",
        )?
        .query_and_then(
            params![environment.to_bytes(), before.map_or(i64::MAX, convert::version), limit],
            |row| {
                Ok(ConfigVersionSummary {
                    version: convert::count(row.get(0)?)?,
                    actor: row.get(1)?,
                    request: row.get(2)?,
                    at: Timestamp::from_unix_millis(row.get(3)?),
                })
            },
        )?
        .collect()
}

fn read_config(row: &Row<'_>) -> Result<ConfigVersion, Fault> {
    Ok(ConfigVersion { version: convert::count(row.get(0)?)?, document: row.get(1)? })
}
