//! Configurations and their history.

use tollgate_domain::id::EnvironmentId;
use tollgate_engine::ports::{ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary};

use super::{circuit_events, directory};
use crate::prelude::*;

pub(crate) async fn put<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    change: &ConfigChange,
) -> Result<Effect<ConfigPut>, Fault> {
    directory::lock(s).await?;
    let Some(directory) = directory::stamp(s, environment).await? else {
        return Ok(Effect::Nothing(ConfigPut::EnvironmentMissing));
    };
    let sql = "SELECT version FROM config_versions WHERE environment_id = $1 AND change_id = $2";
    let put_before = s.query_opt(sql, values![environment, change.id], read).await?;
    if let Some(version) = put_before {
        return Ok(Effect::Nothing(ConfigPut::Done { version, directory }));
    }
    let sql = "SELECT config_version FROM environments WHERE id = $1";
    let current: u64 = s.query_one(sql, values![environment], read).await?;
    if current != change.from_version {
        return Ok(Effect::Nothing(ConfigPut::Stale { current }));
    }
    let version = current.saturating_add(1);
    let sql = "INSERT INTO config_versions (environment_id, version, change_id, actor, request, at, document)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values = values![
        environment,
        rows::version(version),
        change.id,
        &change.actor,
        &change.request,
        change.at,
        &change.document
    ];
    s.execute(sql, values).await?;
    let sql = "UPDATE environments SET config_version = $2 WHERE id = $1";
    s.execute(sql, values![environment, rows::version(version)]).await?;
    circuit_events::report(s, environment, &change.circuits).await?;
    let directory = directory::touch(s, environment).await?;
    Ok(Effect::Directory(ConfigPut::Done { version, directory }))
}

pub(crate) async fn in_force<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
) -> Result<Option<ConfigVersion>, Fault> {
    let sql = "SELECT e.config_version, c.document FROM environments e
         LEFT JOIN config_versions c ON c.environment_id = e.id AND c.version = e.config_version
         WHERE e.id = $1";
    s.query_opt(sql, values![environment], read).await
}

pub(crate) async fn of_version<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    version: u64,
) -> Result<Option<ConfigVersion>, Fault> {
    // Version 0 has no row of its own: every environment has it.
    let sql = "SELECT CAST($2 AS BIGINT), c.document FROM environments e
         LEFT JOIN config_versions c ON c.environment_id = e.id AND c.version = $2
         WHERE e.id = $1 AND ($2 = 0 OR c.version IS NOT NULL)";
    s.query_opt(sql, values![environment, rows::version(version)], read).await
}

stored! {
    ConfigVersion { version, document }
    ConfigVersionSummary { version, actor, request, at }
}

pub(crate) async fn history<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<ConfigVersionSummary>, Fault> {
    let sql = "SELECT version, actor, request, at FROM config_versions
         WHERE environment_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3";
    s.query(sql, values![environment, before.map_or(i64::MAX, rows::version), limit], read).await
}
