//! Organizations, applications and environments, and what changed among them.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use tollgate_domain::{
    Timestamp,
    id::{ApplicationId, EnvironmentId, OrganizationId},
    tenant::{Application, Environment, Organization},
};
use tollgate_engine::ports::{Created, Delta, DirectoryVersion, EnvironmentState, Page};

use super::{fault::Fault, keys, writer::Effect};
use crate::convert;

pub(super) fn pin(connection: &Connection, name: &str, value: &str) -> Result<Effect<String>, Fault> {
    let kept = connection
        .prepare_cached("INSERT INTO pins (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING")?
        .execute(params![name, value])?;
    if kept == 1 {
        return Ok(Effect::Written(value.to_owned()));
    }
    let value = connection
        .prepare_cached("SELECT value FROM pins WHERE name = ?1")?
        .query_row(params![name], |row| row.get(0))?;
    Ok(Effect::Nothing(value))
}

/// The directory's version as this transaction sees it.
pub(super) fn version(connection: &Connection) -> Result<DirectoryVersion, Fault> {
    let version =
        connection.prepare_cached("SELECT version FROM directory")?.query_row([], |row| row.get(0))?;
    Ok(DirectoryVersion(convert::count(version)?))
}

/// The pin that readiness is tried with; nothing reads it.
const SCRATCH: &str = "readiness scratch";

/// Writes the version down again as it is: changes nothing, and needs a disk that takes writes. With `scratch`, as much
/// besides as a large unit of work writes: a commit of one page may still fit where nothing else does.
pub(super) fn rewrite_version(connection: &Connection, scratch: Option<u32>) -> Result<Effect<()>, Fault> {
    connection.prepare_cached("UPDATE directory SET version = version")?.execute([])?;
    if let Some(bytes) = scratch {
        connection
            .prepare_cached("INSERT OR REPLACE INTO pins (name, value) VALUES (?1, hex(zeroblob(?2 / 2)))")?
            .execute(params![SCRATCH, bytes])?;
    }
    Ok(Effect::Written(()))
}

/// Gives back what was written besides.
pub(super) fn clear_scratch(connection: &Connection) -> Result<Effect<()>, Fault> {
    connection.prepare_cached("DELETE FROM pins WHERE name = ?1")?.execute(params![SCRATCH])?;
    Ok(Effect::Written(()))
}

/// Counts one more change of the directory.
fn advance(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection
        .prepare_cached("UPDATE directory SET version = version + 1 RETURNING version")?
        .query_row([], |row| row.get(0))?)
}

/// Counts one more change of the directory, made to this environment.
pub(super) fn touch(connection: &Connection, environment: EnvironmentId) -> Result<DirectoryVersion, Fault> {
    let version = advance(connection)?;
    connection
        .prepare_cached("UPDATE environments SET directory_version = ?2 WHERE id = ?1")?
        .execute(params![environment.to_bytes(), version])?;
    Ok(DirectoryVersion(convert::count(version)?))
}

/// The version of the environment's last change, which holds all earlier ones; `None` if there is none such.
pub(super) fn stamp(
    connection: &Connection,
    environment: EnvironmentId,
) -> Result<Option<DirectoryVersion>, Fault> {
    let version = connection
        .prepare_cached("SELECT directory_version FROM environments WHERE id = ?1")?
        .query_row(params![environment.to_bytes()], |row| row.get(0))
        .optional()?;
    Ok(version.map(convert::count).transpose()?.map(DirectoryVersion))
}

pub(super) fn create_organization(
    connection: &Connection,
    organization: &Organization,
) -> Result<Effect<()>, Fault> {
    connection
        .prepare_cached(
            "INSERT INTO organizations (id, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![
            organization.id.to_bytes(),
            organization.name,
            organization.created_at.unix_millis()
        ])?;
    Ok(Effect::Written(()))
}

pub(super) fn create_application(
    connection: &Connection,
    application: &Application,
) -> Result<Effect<Created>, Fault> {
    if organization(connection, application.organization)?.is_none() {
        return Ok(Effect::Nothing(Created::ParentMissing));
    }
    connection
        .prepare_cached(
            "INSERT INTO applications (id, organization_id, name, created_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![
            application.id.to_bytes(),
            application.organization.to_bytes(),
            application.name,
            application.created_at.unix_millis()
        ])?;
    Ok(Effect::Written(Created::Done(version(connection)?)))
}

pub(super) fn create_environment(
    connection: &Connection,
    new: &Environment,
) -> Result<Effect<Created>, Fault> {
    if let Some(stamp) = stamp(connection, new.id)? {
        return Ok(Effect::Nothing(Created::Done(stamp)));
    }
    let parent = application(connection, new.application)?;
    if parent.is_none_or(|parent| parent.organization != new.organization) {
        return Ok(Effect::Nothing(Created::ParentMissing));
    }
    let taken: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM environments WHERE application_id = ?1 AND name = ?2)")?
        .query_row(params![new.application.to_bytes(), new.name.as_str()], |row| row.get(0))?;
    if taken {
        return Ok(Effect::Nothing(Created::NameTaken));
    }
    let version = advance(connection)?;
    connection
        .prepare_cached(
            "INSERT INTO environments
                 (id, application_id, organization_id, name, created_at, config_version, directory_version)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)",
        )?
        .execute(params![
            new.id.to_bytes(),
            new.application.to_bytes(),
            new.organization.to_bytes(),
            new.name.as_str(),
            new.created_at.unix_millis(),
            version
        ])?;
    Ok(Effect::Directory(Created::Done(DirectoryVersion(convert::count(version)?))))
}

fn read_organization(row: &Row<'_>) -> Result<Organization, Fault> {
    Ok(Organization {
        id: OrganizationId::from_bytes(row.get(0)?),
        name: row.get(1)?,
        created_at: Timestamp::from_unix_millis(row.get(2)?),
    })
}

fn read_application(row: &Row<'_>) -> Result<Application, Fault> {
    Ok(Application {
        id: ApplicationId::from_bytes(row.get(0)?),
        organization: OrganizationId::from_bytes(row.get(1)?),
        name: row.get(2)?,
        created_at: Timestamp::from_unix_millis(row.get(3)?),
    })
}

fn read_environment(row: &Row<'_>) -> Result<Environment, Fault> {
    Ok(Environment {
        id: EnvironmentId::from_bytes(row.get(0)?),
        application: ApplicationId::from_bytes(row.get(1)?),
        organization: OrganizationId::from_bytes(row.get(2)?),
        name: convert::environment_name(row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?)?,
        created_at: Timestamp::from_unix_millis(row.get(4)?),
    })
}

pub(super) fn organizations(
    connection: &Connection,
    page: Page<OrganizationId>,
) -> Result<Vec<Organization>, Fault> {
    let Some(first) = convert::from_after(page.after.map(OrganizationId::to_bytes)) else {
        return Ok(Vec::new());
    };
    connection
        .prepare_cached("SELECT id, name, created_at FROM organizations WHERE id >= ?1 ORDER BY id LIMIT ?2")?
        .query_and_then(params![first, page.limit], read_organization)?
        .collect()
}

pub(super) fn organization(
    connection: &Connection,
    id: OrganizationId,
) -> Result<Option<Organization>, Fault> {
    connection
        .prepare_cached("SELECT id, name, created_at FROM organizations WHERE id = ?1")?
        .query_and_then(params![id.to_bytes()], read_organization)?
        .next()
        .transpose()
}

pub(super) fn application(connection: &Connection, id: ApplicationId) -> Result<Option<Application>, Fault> {
    connection
        .prepare_cached("SELECT id, organization_id, name, created_at FROM applications WHERE id = ?1")?
        .query_and_then(params![id.to_bytes()], read_application)?
        .next()
        .transpose()
}

pub(super) fn applications(
    connection: &Connection,
    organization: OrganizationId,
    page: Page<ApplicationId>,
) -> Result<Vec<Application>, Fault> {
    let Some(first) = convert::from_after(page.after.map(ApplicationId::to_bytes)) else {
        return Ok(Vec::new());
    };
    connection
        .prepare_cached(
            "SELECT id, organization_id, name, created_at FROM applications
             WHERE organization_id = ?1 AND id >= ?2 ORDER BY id LIMIT ?3",
        )?
        .query_and_then(params![organization.to_bytes(), first, page.limit], read_application)?
        .collect()
}

pub(super) fn environments(
    connection: &Connection,
    application: ApplicationId,
    page: Page<EnvironmentId>,
) -> Result<Vec<Environment>, Fault> {
    let Some(first) = convert::from_after(page.after.map(EnvironmentId::to_bytes)) else {
        return Ok(Vec::new());
    };
    connection
        .prepare_cached(
            "SELECT id, application_id, organization_id, name, created_at FROM environments
             WHERE application_id = ?1 AND id >= ?2 ORDER BY id LIMIT ?3",
        )?
        .query_and_then(params![application.to_bytes(), first, page.limit], read_environment)?
        .collect()
}

pub(super) fn environment(connection: &Connection, id: EnvironmentId) -> Result<Option<Environment>, Fault> {
    connection
        .prepare_cached(
            "SELECT id, application_id, organization_id, name, created_at FROM environments WHERE id = ?1",
        )?
        .query_and_then(params![id.to_bytes()], read_environment)?
        .next()
        .transpose()
}

/// Reads every environment touched after `since`; the transaction around it makes it one moment.
pub(super) fn directory_since(connection: &Connection, since: DirectoryVersion) -> Result<Delta, Fault> {
    let version = version(connection)?;
    if version == since {
        return Ok(Delta { version, environments: Vec::new() });
    }
    let since = convert::version(since.0);
    let mut states: BTreeMap<EnvironmentId, EnvironmentState> = connection
        .prepare_cached(
            "SELECT e.id, e.application_id, e.organization_id, e.name, e.created_at, e.config_version
             FROM environments e WHERE e.directory_version > ?1",
        )?
        .query_and_then(params![since], |row| {
            let environment = read_environment(row)?;
            let config_version = convert::count(row.get(5)?)?;
            Ok::<_, Fault>((
                environment.id,
                EnvironmentState { environment, keys: Vec::new(), config_version },
            ))
        })?
        .collect::<Result<_, _>>()?;
    let mut statement = connection.prepare_cached(
        "SELECT k.id, k.environment_id, k.kind, k.digest, k.last_four, k.created_at, k.expires_at, k.revoked_at,
             k.replaced_by
         FROM environments e JOIN api_keys k ON k.environment_id = e.id
         WHERE e.directory_version > ?1 AND k.revoked_at IS NULL ORDER BY k.environment_id, k.id",
    )?;
    for key in statement.query_and_then(params![since], keys::read_key)? {
        let key = key?;
        if let Some(state) = states.get_mut(&key.environment) {
            state.keys.push(key);
        }
    }
    Ok(Delta { version, environments: states.into_values().collect() })
}
