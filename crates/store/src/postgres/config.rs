//! Configurations and their history.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::{Row, error::SqlState};
use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary};

use super::{directory::read_version, fault::Fault, uuid};
use crate::convert;

pub(super) async fn put(
    client: &ClientWrapper,
    environment: EnvironmentId,
    change: &ConfigChange,
) -> Result<ConfigPut, Fault> {
    let statement = client
        .prepare_cached(
            "WITH counted AS (
                 UPDATE directory SET version = version + 1
                 WHERE EXISTS (SELECT 1 FROM environments WHERE id = $1 AND config_version = $2)
                     AND NOT EXISTS (SELECT 1 FROM config_versions WHERE environment_id = $1 AND change_id = $3)
                 RETURNING version),
             stamped AS (
                 UPDATE environments e
                 SET config_version = e.config_version + 1, directory_version = counted.version
                 FROM counted WHERE e.id = $1 AND e.config_version = $2
                 RETURNING e.config_version, e.directory_version),
             kept AS (
                 INSERT INTO config_versions (environment_id, version, change_id, actor, request, at, document)
                 SELECT $1, stamped.config_version, $3, $4, $5, $6, $7 FROM stamped)
             SELECT config_version, directory_version, pg_notify('tollgate_directory', '') FROM stamped",
        )
        .await?;
    let scope = uuid(environment.to_bytes());
    let id = uuid(change.id.to_bytes());
    let from = convert::version(change.from_version);
    let row = client
        .query_opt(
            &statement,
            &[&scope, &from, &id, &change.actor, &change.request, &change.at.unix_millis(), &change.document],
        )
        .await;
    match row {
        Ok(Some(row)) => {
            let version = convert::count(row.try_get(0)?)?;
            return Ok(ConfigPut::Done { version, directory: read_version(&row, 1)? });
        }
        Ok(None) => {}
        // The same change was put by another call in this very moment.
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {}
        Err(error) => return Err(error.into()),
    }
    let statement = client
        .prepare_cached(
            "SELECT e.config_version, e.directory_version, c.version FROM environments e
             LEFT JOIN config_versions c ON c.environment_id = e.id AND c.change_id = $2
             WHERE e.id = $1",
        )
        .await?;
    let Some(row) = client.query_opt(&statement, &[&scope, &id]).await? else {
        return Ok(ConfigPut::EnvironmentMissing);
    };
    Ok(match row.try_get::<_, Option<i64>>(2)? {
        Some(version) => {
            ConfigPut::Done { version: convert::count(version)?, directory: read_version(&row, 1)? }
        }
        None => ConfigPut::Stale { current: convert::count(row.try_get(0)?)? },
    })
}

pub(super) async fn in_force(
    client: &ClientWrapper,
    environment: EnvironmentId,
) -> Result<Option<ConfigVersion>, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT e.config_version, c.document FROM environments e
             LEFT JOIN config_versions c ON c.environment_id = e.id AND c.version = e.config_version
             WHERE e.id = $1",
        )
        .await?;
    let row = client.query_opt(&statement, &[&uuid(environment.to_bytes())]).await?;
    row.as_ref().map(read_config).transpose()
}

pub(super) async fn of_version(
    client: &ClientWrapper,
    environment: EnvironmentId,
    version: u64,
) -> Result<Option<ConfigVersion>, Fault> {
    let statement = client
        .prepare_cached(
            // Version 0 has no row of its own: every environment has it.
            "SELECT $2::bigint, c.document FROM environments e
             LEFT JOIN config_versions c ON c.environment_id = e.id AND c.version = $2
             WHERE e.id = $1 AND ($2 = 0 OR c.version IS NOT NULL)",
        )
        .await?;
    let row =
        client.query_opt(&statement, &[&uuid(environment.to_bytes()), &convert::version(version)]).await?;
    row.as_ref().map(read_config).transpose()
}

pub(super) async fn history(
    client: &ClientWrapper,
    environment: EnvironmentId,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<ConfigVersionSummary>, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT version, actor, request, at FROM config_versions
             WHERE environment_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3",
        )
        .await?;
    let before = before.map_or(i64::MAX, convert::version);
    let rows = client.query(&statement, &[&uuid(environment.to_bytes()), &before, &i64::from(limit)]).await?;
    rows.iter()
        .map(|row| {
            Ok(ConfigVersionSummary {
                version: convert::count(row.try_get(0)?)?,
                actor: row.try_get(1)?,
                request: row.try_get(2)?,
                at: Timestamp::from_unix_millis(row.try_get(3)?),
            })
        })
        .collect()
}

fn read_config(row: &Row) -> Result<ConfigVersion, Fault> {
    Ok(ConfigVersion { version: convert::count(row.try_get(0)?)?, document: row.try_get(1)? })
}
