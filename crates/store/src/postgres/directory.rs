//! Organizations, applications and environments, and what changed among them.
//!
//! Whatever changes the directory counts up its one row first and holds that row's lock until it commits, so the
//! order of versions is the order of commits. A statement that loses a race after that may count up for nothing.

use std::collections::BTreeMap;

use deadpool_postgres::ClientWrapper;
use tokio_postgres::{IsolationLevel, Row};
use tollgate_domain::{
    Timestamp,
    id::{ApplicationId, EnvironmentId, OrganizationId},
    tenant::{Application, Environment, Organization},
};
use tollgate_engine::ports::{Created, Delta, DirectoryVersion, EnvironmentState, Page};
use uuid::Uuid;

use super::{fault::Fault, keys, uuid};
use crate::convert;

/// Whether this is a server that can commit something right now.
pub(super) async fn takes_writes(client: &ClientWrapper) -> Result<bool, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT NOT pg_is_in_recovery() AND NOT current_setting('transaction_read_only')::boolean",
        )
        .await?;
    Ok(client.query_one(&statement, &[]).await?.try_get(0)?)
}

pub(super) async fn pin(client: &ClientWrapper, name: &str, value: &str) -> Result<String, Fault> {
    let keep = client
        .prepare_cached("INSERT INTO pins (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
        .await?;
    client.execute(&keep, &[&name, &value]).await?;
    let read = client.prepare_cached("SELECT value FROM pins WHERE name = $1").await?;
    Ok(client.query_one(&read, &[&name]).await?.try_get(0)?)
}

/// The version of the environment's last change, which holds all earlier ones; `None` if there is none such.
pub(super) async fn stamp(
    client: &ClientWrapper,
    environment: EnvironmentId,
) -> Result<Option<DirectoryVersion>, Fault> {
    let statement = client.prepare_cached("SELECT directory_version FROM environments WHERE id = $1").await?;
    let row = client.query_opt(&statement, &[&uuid(environment.to_bytes())]).await?;
    row.map(|row| read_version(&row, 0)).transpose()
}

pub(super) fn read_version(row: &Row, column: usize) -> Result<DirectoryVersion, Fault> {
    Ok(DirectoryVersion(convert::count(row.try_get(column)?)?))
}

pub(super) async fn create_organization(
    client: &ClientWrapper,
    organization: &Organization,
) -> Result<(), Fault> {
    let statement = client
        .prepare_cached(
            "INSERT INTO organizations (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
        )
        .await?;
    let id = uuid(organization.id.to_bytes());
    client.execute(&statement, &[&id, &organization.name, &organization.created_at.unix_millis()]).await?;
    Ok(())
}

pub(super) async fn create_application(
    client: &ClientWrapper,
    application: &Application,
) -> Result<Created, Fault> {
    let statement = client
        .prepare_cached(
            "WITH parent AS (SELECT id FROM organizations WHERE id = $2),
             kept AS (
                 INSERT INTO applications (id, organization_id, name, created_at)
                 SELECT $1, parent.id, $3, $4 FROM parent
                 ON CONFLICT (id) DO NOTHING)
             SELECT directory.version FROM directory, parent",
        )
        .await?;
    let id = uuid(application.id.to_bytes());
    let organization = uuid(application.organization.to_bytes());
    let at = application.created_at.unix_millis();
    match client.query_opt(&statement, &[&id, &organization, &application.name, &at]).await? {
        Some(row) => Ok(Created::Done(read_version(&row, 0)?)),
        None => Ok(Created::ParentMissing),
    }
}

pub(super) async fn create_environment(client: &ClientWrapper, new: &Environment) -> Result<Created, Fault> {
    let statement = client
        .prepare_cached(
            "WITH counted AS (
                 UPDATE directory SET version = version + 1
                 WHERE EXISTS (SELECT 1 FROM applications WHERE id = $2 AND organization_id = $3)
                     AND NOT EXISTS (
                         SELECT 1 FROM environments WHERE id = $1 OR (application_id = $2 AND name = $4))
                 RETURNING version),
             kept AS (
                 INSERT INTO environments
                     (id, application_id, organization_id, name, created_at, config_version, directory_version)
                 SELECT $1, $2, $3, $4, $5, 0, counted.version FROM counted
                 ON CONFLICT DO NOTHING
                 RETURNING directory_version)
             SELECT directory_version, pg_notify('tollgate_directory', '') FROM kept",
        )
        .await?;
    let (id, application) = (uuid(new.id.to_bytes()), uuid(new.application.to_bytes()));
    let organization = uuid(new.organization.to_bytes());
    let at = new.created_at.unix_millis();
    let kept =
        client.query_opt(&statement, &[&id, &application, &organization, &new.name.as_str(), &at]).await?;
    if let Some(row) = kept {
        return Ok(Created::Done(read_version(&row, 0)?));
    }
    if let Some(stamp) = stamp(client, new.id).await? {
        return Ok(Created::Done(stamp));
    }
    let statement = client
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM applications WHERE id = $1 AND organization_id = $2)")
        .await?;
    let has_parent: bool = client.query_one(&statement, &[&application, &organization]).await?.try_get(0)?;
    Ok(if has_parent { Created::NameTaken } else { Created::ParentMissing })
}

fn read_organization(row: &Row) -> Result<Organization, Fault> {
    Ok(Organization {
        id: OrganizationId::from_bytes(row.try_get::<_, Uuid>(0)?.into_bytes()),
        name: row.try_get(1)?,
        created_at: Timestamp::from_unix_millis(row.try_get(2)?),
    })
}

fn read_application(row: &Row) -> Result<Application, Fault> {
    Ok(Application {
        id: ApplicationId::from_bytes(row.try_get::<_, Uuid>(0)?.into_bytes()),
        organization: OrganizationId::from_bytes(row.try_get::<_, Uuid>(1)?.into_bytes()),
        name: row.try_get(2)?,
        created_at: Timestamp::from_unix_millis(row.try_get(3)?),
    })
}

fn read_environment(row: &Row) -> Result<Environment, Fault> {
    Ok(Environment {
        id: EnvironmentId::from_bytes(row.try_get::<_, Uuid>(0)?.into_bytes()),
        application: ApplicationId::from_bytes(row.try_get::<_, Uuid>(1)?.into_bytes()),
        organization: OrganizationId::from_bytes(row.try_get::<_, Uuid>(2)?.into_bytes()),
        name: convert::environment_name(row.try_get(3)?)?,
        created_at: Timestamp::from_unix_millis(row.try_get(4)?),
    })
}

pub(super) async fn organizations(
    client: &ClientWrapper,
    page: Page<OrganizationId>,
) -> Result<Vec<Organization>, Fault> {
    let Some(first) = convert::from_after(page.after.map(OrganizationId::to_bytes)) else {
        return Ok(Vec::new());
    };
    let statement = client
        .prepare_cached("SELECT id, name, created_at FROM organizations WHERE id >= $1 ORDER BY id LIMIT $2")
        .await?;
    let rows = client.query(&statement, &[&uuid(first), &i64::from(page.limit)]).await?;
    rows.iter().map(read_organization).collect()
}

pub(super) async fn organization(
    client: &ClientWrapper,
    id: OrganizationId,
) -> Result<Option<Organization>, Fault> {
    let statement =
        client.prepare_cached("SELECT id, name, created_at FROM organizations WHERE id = $1").await?;
    client.query_opt(&statement, &[&uuid(id.to_bytes())]).await?.as_ref().map(read_organization).transpose()
}

pub(super) async fn application(
    client: &ClientWrapper,
    id: ApplicationId,
) -> Result<Option<Application>, Fault> {
    let statement = client
        .prepare_cached("SELECT id, organization_id, name, created_at FROM applications WHERE id = $1")
        .await?;
    client.query_opt(&statement, &[&uuid(id.to_bytes())]).await?.as_ref().map(read_application).transpose()
}

pub(super) async fn applications(
    client: &ClientWrapper,
    organization: OrganizationId,
    page: Page<ApplicationId>,
) -> Result<Vec<Application>, Fault> {
    let Some(first) = convert::from_after(page.after.map(ApplicationId::to_bytes)) else {
        return Ok(Vec::new());
    };
    let statement = client
        .prepare_cached(
            "SELECT id, organization_id, name, created_at FROM applications
             WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3",
        )
        .await?;
    let organization = uuid(organization.to_bytes());
    let rows = client.query(&statement, &[&organization, &uuid(first), &i64::from(page.limit)]).await?;
    rows.iter().map(read_application).collect()
}

pub(super) async fn environments(
    client: &ClientWrapper,
    application: ApplicationId,
    page: Page<EnvironmentId>,
) -> Result<Vec<Environment>, Fault> {
    let Some(first) = convert::from_after(page.after.map(EnvironmentId::to_bytes)) else {
        return Ok(Vec::new());
    };
    let statement = client
        .prepare_cached(
            "SELECT id, application_id, organization_id, name, created_at FROM environments
             WHERE application_id = $1 AND id >= $2 ORDER BY id LIMIT $3",
        )
        .await?;
    let application = uuid(application.to_bytes());
    let rows = client.query(&statement, &[&application, &uuid(first), &i64::from(page.limit)]).await?;
    rows.iter().map(read_environment).collect()
}

pub(super) async fn environment(
    client: &ClientWrapper,
    id: EnvironmentId,
) -> Result<Option<Environment>, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT id, application_id, organization_id, name, created_at FROM environments WHERE id = $1",
        )
        .await?;
    client.query_opt(&statement, &[&uuid(id.to_bytes())]).await?.as_ref().map(read_environment).transpose()
}

/// Reads every environment touched after `since`, all from one moment.
pub(super) async fn directory_since(
    client: &mut ClientWrapper,
    since: DirectoryVersion,
) -> Result<Delta, Fault> {
    // Every node asks this all the time, and most of the time nothing has changed.
    let statement = client.prepare_cached("SELECT version FROM directory").await?;
    let version = read_version(&client.query_one(&statement, &[]).await?, 0)?;
    if version == since {
        return Ok(Delta { version, environments: Vec::new() });
    }
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    let version = read_version(&transaction.query_one(&statement, &[]).await?, 0)?;
    let since = convert::version(since.0);
    let statement = transaction
        .prepare_cached(
            "SELECT e.id, e.application_id, e.organization_id, e.name, e.created_at, e.config_version
             FROM environments e WHERE e.directory_version > $1",
        )
        .await?;
    let mut states = BTreeMap::new();
    for row in transaction.query(&statement, &[&since]).await? {
        let environment = read_environment(&row)?;
        let config_version = convert::count(row.try_get(5)?)?;
        states.insert(environment.id, EnvironmentState { environment, keys: Vec::new(), config_version });
    }
    let statement = transaction
        .prepare_cached(
            "SELECT k.id, k.environment_id, k.kind, k.digest, k.last_four, k.created_at, k.expires_at,
                 k.revoked_at, k.replaced_by
             FROM environments e JOIN api_keys k ON k.environment_id = e.id
             WHERE e.directory_version > $1 AND k.revoked_at IS NULL ORDER BY k.environment_id, k.id",
        )
        .await?;
    for row in transaction.query(&statement, &[&since]).await? {
        let key = keys::read_key(&row)?;
        if let Some(state) = states.get_mut(&key.environment) {
            state.keys.push(key);
        }
    }
    transaction.commit().await?;
    Ok(Delta { version, environments: states.into_values().collect() })
}
