//! The endpoints of an environment.

use deadpool_postgres::ClientWrapper;
use tollgate_domain::{
    Timestamp,
    id::{EndpointId, EnvironmentId},
};
use tollgate_engine::ports::{Endpoint, EndpointAdded, EndpointChanged};

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::{
    self,
    endpoint::{endpoint_columns, is_made, read, write_filter, write_secrets},
};

/// The environment is locked first, so that two who count at once do not both find a place for one more.
pub(super) async fn add(
    client: &mut ClientWrapper,
    environment: EnvironmentId,
    endpoint: &Endpoint,
    most: u32,
) -> Result<EndpointAdded, Fault> {
    let (scope, id) = (uuid(environment.to_bytes()), uuid(endpoint.id.to_bytes()));
    let transaction = client.transaction().await.map_err(Fault::Uncommitted)?;
    let sql = "SELECT 1 FROM environments WHERE id = $1 FOR NO KEY UPDATE";
    let lock = transaction.prepare_cached(sql).await.map_err(Fault::Uncommitted)?;
    if transaction.query_opt(&lock, &[&scope]).await.map_err(Fault::Uncommitted)?.is_none() {
        return Ok(EndpointAdded::EnvironmentMissing);
    }
    let sql =
        "SELECT count(*), count(*) FILTER (WHERE id = $2) FROM event_endpoints WHERE environment_id = $1";
    let count = transaction.prepare_cached(sql).await.map_err(Fault::Uncommitted)?;
    let row = transaction.query_one(&count, &[&scope, &id]).await.map_err(Fault::Uncommitted)?;
    let (all, this): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    if this > 0 {
        return Ok(EndpointAdded::Done);
    }
    if all >= i64::from(most) {
        return Ok(EndpointAdded::TooMany);
    }
    let statement = transaction
        .prepare_cached(
            "INSERT INTO event_endpoints (environment_id, id, revision, url, description, filter, disabled, secrets,
                 created_at, updated_at, failures, rests_until)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        )
        .await
        .map_err(Fault::Uncommitted)?;
    transaction
        .execute(
            &statement,
            &[
                &scope,
                &id,
                &convert::version(endpoint.revision),
                &endpoint.url,
                &endpoint.description,
                &write_filter(&endpoint.filter),
                &endpoint.disabled,
                &write_secrets(&endpoint.secrets),
                &endpoint.created_at.unix_millis(),
                &endpoint.updated_at.unix_millis(),
                &i64::from(endpoint.failures),
                &endpoint.rests_until.map(Timestamp::unix_millis),
            ],
        )
        .await
        .map_err(Fault::Uncommitted)?;
    transaction.commit().await?;
    Ok(EndpointAdded::Done)
}

pub(super) async fn list(client: &ClientWrapper, environment: EnvironmentId) -> Result<Vec<Endpoint>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            endpoint_columns!(),
            " FROM event_endpoints p WHERE p.environment_id = $1 ORDER BY p.id"
        ))
        .await?;
    let rows = client.query(&statement, &[&uuid(environment.to_bytes())]).await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect()
}

pub(super) async fn find(
    client: &ClientWrapper,
    environment: EnvironmentId,
    id: EndpointId,
) -> Result<Option<Endpoint>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            endpoint_columns!(),
            " FROM event_endpoints p WHERE p.environment_id = $1 AND p.id = $2"
        ))
        .await?;
    let row = client.query_opt(&statement, &[&uuid(environment.to_bytes()), &uuid(id.to_bytes())]).await?;
    row.map(|row| read(&mut RowCells::new(&row, 0))).transpose()
}

pub(super) async fn change(
    client: &ClientWrapper,
    environment: EnvironmentId,
    endpoint: &Endpoint,
) -> Result<EndpointChanged, Fault> {
    // On the right of an assignment, a column is as it was before.
    let statement = client
        .prepare_cached(
            "WITH changed AS (
                 UPDATE event_endpoints p SET revision = p.revision + 1, url = $4, description = $5, filter = $6,
                     disabled = $7, secrets = $8, updated_at = $9,
                     failures = CASE WHEN p.disabled IS NOT NULL AND $7::text IS NULL THEN 0 ELSE p.failures END,
                     rests_until = CASE WHEN p.disabled IS NOT NULL AND $7::text IS NULL THEN NULL
                         ELSE p.rests_until END
                 WHERE p.environment_id = $1 AND p.id = $2 AND p.revision = $3
                 RETURNING p.environment_id, p.id, p.disabled),
             parked AS (
                 UPDATE event_deliveries d SET state = 'parked', due_at = NULL FROM changed
                 WHERE changed.disabled IS NOT NULL AND d.environment_id = changed.environment_id
                     AND d.endpoint_id = changed.id AND d.state = 'waiting')
             SELECT EXISTS (SELECT 1 FROM changed)",
        )
        .await?;
    let row = client
        .query_one(
            &statement,
            &[
                &uuid(environment.to_bytes()),
                &uuid(endpoint.id.to_bytes()),
                &convert::version(endpoint.revision),
                &endpoint.url,
                &endpoint.description,
                &write_filter(&endpoint.filter),
                &endpoint.disabled,
                &write_secrets(&endpoint.secrets),
                &endpoint.updated_at.unix_millis(),
            ],
        )
        .await?;
    if row.try_get(0)? {
        return Ok(EndpointChanged::Done);
    }
    // Asked afterwards, because the statement itself has seen the endpoint as it was before it waited for its turn.
    Ok(match find(client, environment, endpoint.id).await? {
        None => EndpointChanged::Missing,
        Some(stored) if is_made(&stored, endpoint) => EndpointChanged::Done,
        Some(_) => EndpointChanged::Stale,
    })
}

pub(super) async fn remove(
    client: &ClientWrapper,
    environment: EnvironmentId,
    id: EndpointId,
) -> Result<bool, Fault> {
    let statement = client
        .prepare_cached(
            "WITH removed AS (
                 DELETE FROM event_endpoints WHERE environment_id = $1 AND id = $2 RETURNING environment_id, id),
             emptied AS (
                 DELETE FROM event_deliveries d USING removed
                 WHERE d.environment_id = removed.environment_id AND d.endpoint_id = removed.id)
             SELECT EXISTS (SELECT 1 FROM removed)",
        )
        .await?;
    let row = client.query_one(&statement, &[&uuid(environment.to_bytes()), &uuid(id.to_bytes())]).await?;
    Ok(row.try_get(0)?)
}
