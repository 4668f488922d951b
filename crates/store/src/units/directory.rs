//! Organizations, applications and environments, and what changed among them.
//!
//! Whatever changes the directory locks its one row first and holds that lock until it commits: the order of versions is
//! the order of commits, and what such a unit has read stays as it is until it is done.

use std::collections::BTreeMap;

use tollgate_domain::{
    id::{ApplicationId, EnvironmentId, OrganizationId},
    tenant::{Application, Environment, KeyRecord, Organization},
};
use tollgate_engine::ports::{Created, Delta, DirectoryVersion, EnvironmentState, Page};

use super::{keys, people};
use crate::prelude::*;

pub(crate) async fn pin<S: Session>(s: &mut S, name: &str, value: &str) -> Result<Effect<String>, Fault> {
    let sql = "INSERT INTO pins (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    if s.execute(sql, values![name, value]).await? == 1 {
        return Ok(Effect::Written(value.to_owned()));
    }
    let sql = "SELECT value FROM pins WHERE name = $1";
    Ok(Effect::Nothing(s.query_one(sql, values![name], read).await?))
}

pub(super) fn read_version(cells: &mut Cells<'_>) -> Result<DirectoryVersion, Fault> {
    Ok(DirectoryVersion(cells.field("version of the directory")?))
}

pub(crate) async fn version<S: Session>(s: &mut S) -> Result<DirectoryVersion, Fault> {
    s.query_one("SELECT version FROM directory", values![], read_version).await
}

/// Lets no other unit change the directory until this one is done.
pub(super) async fn lock<S: Session>(s: &mut S) -> Result<(), Fault> {
    let sql = S::DIALECT.locked("SELECT version FROM directory");
    s.query_one(&sql, values![], read_version).await.map(drop)
}

/// Counts one more change of the directory.
pub(super) async fn advance<S: Session>(s: &mut S) -> Result<DirectoryVersion, Fault> {
    let sql = "UPDATE directory SET version = version + 1 RETURNING version";
    s.query_one(sql, values![], read_version).await
}

/// Counts one more change of the directory, made to this environment.
pub(super) async fn touch<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
) -> Result<DirectoryVersion, Fault> {
    let version = advance(s).await?;
    let sql = "UPDATE environments SET directory_version = $2 WHERE id = $1";
    s.execute(sql, values![environment, rows::version(version.0)]).await?;
    Ok(version)
}

/// The version of the environment's last change, which holds all earlier ones; `None` if there is none such.
pub(super) async fn stamp<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
) -> Result<Option<DirectoryVersion>, Fault> {
    let sql = "SELECT directory_version FROM environments WHERE id = $1";
    s.query_opt(sql, values![environment], read_version).await
}

pub(crate) async fn create_organization<S: Session>(
    s: &mut S,
    new: &Organization,
) -> Result<Effect<()>, Fault> {
    let sql =
        "INSERT INTO organizations (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING";
    s.execute(sql, values![new.id, &new.name, new.created_at]).await?;
    Ok(Effect::Written(()))
}

pub(crate) async fn create_application<S: Session>(
    s: &mut S,
    new: &Application,
) -> Result<Effect<Created>, Fault> {
    if organization(s, new.organization).await?.is_none() {
        return Ok(Effect::Nothing(Created::ParentMissing));
    }
    let sql = "INSERT INTO applications (id, organization_id, name, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (id) DO NOTHING";
    s.execute(sql, values![new.id, new.organization, &new.name, new.created_at]).await?;
    Ok(Effect::Written(Created::Done(version(s).await?)))
}

pub(crate) async fn create_environment<S: Session>(
    s: &mut S,
    new: &Environment,
) -> Result<Effect<Created>, Fault> {
    lock(s).await?;
    if let Some(stamp) = stamp(s, new.id).await? {
        return Ok(Effect::Nothing(Created::Done(stamp)));
    }
    let parent = application(s, new.application).await?;
    if parent.is_none_or(|parent| parent.organization != new.organization) {
        return Ok(Effect::Nothing(Created::ParentMissing));
    }
    let sql = "SELECT 1 FROM environments WHERE application_id = $1 AND name = $2";
    if s.exists(sql, values![new.application, new.name.as_str()]).await? {
        return Ok(Effect::Nothing(Created::NameTaken));
    }
    let version = advance(s).await?;
    let sql = "INSERT INTO environments
             (id, application_id, organization_id, name, created_at, config_version, directory_version)
         VALUES ($1, $2, $3, $4, $5, 0, $6)";
    let values = values![
        new.id,
        new.application,
        new.organization,
        new.name.as_str(),
        new.created_at,
        rows::version(version.0)
    ];
    s.execute(sql, values).await?;
    Ok(Effect::Directory(Created::Done(version)))
}

stored! {
    Organization { id, name, created_at }
    Application { id, organization, name, created_at }
    Environment { id, application, organization, name, created_at }
}

pub(crate) async fn organizations<S: Session>(
    s: &mut S,
    page: Page<OrganizationId>,
) -> Result<Vec<Organization>, Fault> {
    let Some(first) = rows::from_after(page.after) else { return Ok(Vec::new()) };
    let sql = "SELECT id, name, created_at FROM organizations WHERE id >= $1 ORDER BY id LIMIT $2";
    s.query(sql, values![first, page.limit], read).await
}

pub(crate) async fn organization<S: Session>(
    s: &mut S,
    id: OrganizationId,
) -> Result<Option<Organization>, Fault> {
    let sql = "SELECT id, name, created_at FROM organizations WHERE id = $1";
    s.query_opt(sql, values![id], read).await
}

pub(crate) async fn application<S: Session>(
    s: &mut S,
    id: ApplicationId,
) -> Result<Option<Application>, Fault> {
    let sql = "SELECT id, organization_id, name, created_at FROM applications WHERE id = $1";
    s.query_opt(sql, values![id], read).await
}

pub(crate) async fn applications<S: Session>(
    s: &mut S,
    organization: OrganizationId,
    page: Page<ApplicationId>,
) -> Result<Vec<Application>, Fault> {
    let Some(first) = rows::from_after(page.after) else { return Ok(Vec::new()) };
    let sql = "SELECT id, organization_id, name, created_at FROM applications
         WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3";
    s.query(sql, values![organization, first, page.limit], read).await
}

pub(crate) async fn environments<S: Session>(
    s: &mut S,
    application: ApplicationId,
    page: Page<EnvironmentId>,
) -> Result<Vec<Environment>, Fault> {
    let Some(first) = rows::from_after(page.after) else { return Ok(Vec::new()) };
    let sql = "SELECT id, application_id, organization_id, name, created_at FROM environments
         WHERE application_id = $1 AND id >= $2 ORDER BY id LIMIT $3";
    s.query(sql, values![application, first, page.limit], read).await
}

pub(crate) async fn environment<S: Session>(
    s: &mut S,
    id: EnvironmentId,
) -> Result<Option<Environment>, Fault> {
    let sql = "SELECT id, application_id, organization_id, name, created_at FROM environments WHERE id = $1";
    s.query_opt(sql, values![id], read).await
}

/// Every environment and user touched after `since`.
pub(crate) async fn since<S: Session>(s: &mut S, since: DirectoryVersion) -> Result<Delta, Fault> {
    let version = version(s).await?;
    let since = rows::version(since.0);
    let sql = "SELECT id, application_id, organization_id, name, created_at, config_version
         FROM environments WHERE directory_version > $1";
    let states = s
        .query(sql, values![since], |cells| {
            let environment: Environment = cells.get()?;
            let config_version = cells.field("version of a configuration")?;
            Ok((environment.id, EnvironmentState { environment, keys: Vec::new(), config_version }))
        })
        .await?;
    let mut states: BTreeMap<_, _> = states.into_iter().collect();
    let sql = concat!(
        "SELECT ",
        keys::key_columns!(),
        " FROM environments e JOIN api_keys k ON k.environment_id = e.id
         WHERE e.directory_version > $1 AND k.revoked_at IS NULL ORDER BY k.environment_id, k.id"
    );
    for key in s.query(sql, values![since], read::<KeyRecord>).await? {
        if let Some(state) = states.get_mut(&key.environment) {
            state.keys.push(key);
        }
    }
    let users = people::since(s, since).await?;
    Ok(Delta { version, environments: states.into_values().collect(), users })
}
