//! API keys, of which only digests are kept.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::Row;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    tenant::KeyRecord,
};
use tollgate_engine::ports::{DirectoryVersion, Issued, Page, Revoked, Rotated};
use uuid::Uuid;

use super::{
    directory::{read_version, stamp},
    fault::Fault,
    uuid,
};
use crate::convert;

pub(super) async fn issue(client: &ClientWrapper, key: &KeyRecord) -> Result<Issued, Fault> {
    let statement = client
        .prepare_cached(
            "WITH counted AS (
                 UPDATE directory SET version = version + 1
                 WHERE EXISTS (SELECT 1 FROM environments WHERE id = $1)
                     AND NOT EXISTS (SELECT 1 FROM api_keys WHERE environment_id = $1 AND id = $2)
                 RETURNING version),
             stamped AS (
                 UPDATE environments e SET directory_version = counted.version FROM counted WHERE e.id = $1
                 RETURNING e.directory_version),
             kept AS (
                 INSERT INTO api_keys (environment_id, id, kind, digest, last_four, created_at, expires_at,
                     revoked_at, replaced_by)
                 SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 FROM stamped
                 ON CONFLICT (environment_id, id) DO NOTHING)
             SELECT directory_version, pg_notify('tollgate_directory', '') FROM stamped",
        )
        .await?;
    let row = client
        .query_opt(
            &statement,
            &[
                &uuid(key.environment.to_bytes()),
                &uuid(key.id.to_bytes()),
                &key.kind.as_str(),
                &key.digest.as_slice(),
                &key.last_four,
                &key.created_at.unix_millis(),
                &key.expires_at.map(Timestamp::unix_millis),
                &key.revoked_at.map(Timestamp::unix_millis),
                &key.replaced_by.map(|id| uuid(id.to_bytes())),
            ],
        )
        .await?;
    if let Some(row) = row {
        return Ok(Issued::Done(read_version(&row, 0)?));
    }
    // There before, or nowhere to put it.
    Ok(stamp(client, key.environment).await?.map_or(Issued::EnvironmentMissing, Issued::Done))
}

pub(super) async fn revoke(
    client: &ClientWrapper,
    environment: EnvironmentId,
    key: KeyId,
    at: Timestamp,
) -> Result<Revoked, Fault> {
    let statement = client
        .prepare_cached(
            "WITH counted AS (
                 UPDATE directory SET version = version + 1
                 WHERE EXISTS (
                     SELECT 1 FROM api_keys WHERE environment_id = $1 AND id = $2 AND revoked_at IS NULL)
                 RETURNING version),
             revoked AS (
                 UPDATE api_keys k SET revoked_at = $3 FROM counted
                 WHERE k.environment_id = $1 AND k.id = $2 AND k.revoked_at IS NULL
                 RETURNING counted.version),
             stamped AS (
                 UPDATE environments e SET directory_version = revoked.version FROM revoked WHERE e.id = $1
                 RETURNING e.directory_version)
             SELECT directory_version, pg_notify('tollgate_directory', '') FROM stamped",
        )
        .await?;
    let (scope, id) = (uuid(environment.to_bytes()), uuid(key.to_bytes()));
    if let Some(row) = client.query_opt(&statement, &[&scope, &id, &at.unix_millis()]).await? {
        return Ok(Revoked::Done(read_version(&row, 0)?));
    }
    Ok(standing(client, environment, key).await?.map_or(Revoked::Missing, |key| Revoked::Done(key.stamp)))
}

pub(super) async fn rotate(
    client: &ClientWrapper,
    environment: EnvironmentId,
    key: KeyId,
    replacement: &KeyRecord,
    old_ends_at: Timestamp,
) -> Result<Rotated, Fault> {
    if replacement.environment != environment {
        return Err(Fault::Misuse("a key was to be replaced by one of another environment"));
    }
    let statement = client
        .prepare_cached(
            "WITH counted AS (
                 UPDATE directory SET version = version + 1
                 WHERE EXISTS (
                     SELECT 1 FROM api_keys WHERE environment_id = $1 AND id = $2 AND revoked_at IS NULL
                         AND replaced_by IS NULL AND (expires_at IS NULL OR expires_at > $8))
                 RETURNING version),
             ended AS (
                 UPDATE api_keys k SET expires_at = $3, replaced_by = $4 FROM counted
                 WHERE k.environment_id = $1 AND k.id = $2 AND k.revoked_at IS NULL
                     AND k.replaced_by IS NULL AND (k.expires_at IS NULL OR k.expires_at > $8)
                 RETURNING counted.version),
             kept AS (
                 INSERT INTO api_keys (environment_id, id, kind, digest, last_four, created_at, expires_at,
                     revoked_at, replaced_by)
                 SELECT $1, $4, $5, $6, $7, $8, $9, $10, $11 FROM ended),
             stamped AS (
                 UPDATE environments e SET directory_version = ended.version FROM ended WHERE e.id = $1
                 RETURNING e.directory_version)
             SELECT directory_version, pg_notify('tollgate_directory', '') FROM stamped",
        )
        .await?;
    let row = client
        .query_opt(
            &statement,
            &[
                &uuid(environment.to_bytes()),
                &uuid(key.to_bytes()),
                &old_ends_at.unix_millis(),
                &uuid(replacement.id.to_bytes()),
                &replacement.kind.as_str(),
                &replacement.digest.as_slice(),
                &replacement.last_four,
                &replacement.created_at.unix_millis(),
                &replacement.expires_at.map(Timestamp::unix_millis),
                &replacement.revoked_at.map(Timestamp::unix_millis),
                &replacement.replaced_by.map(|id| uuid(id.to_bytes())),
            ],
        )
        .await?;
    if let Some(row) = row {
        return Ok(Rotated::Done(read_version(&row, 0)?));
    }
    Ok(match standing(client, environment, key).await? {
        None => Rotated::Missing,
        Some(key) if key.replaced_by == Some(replacement.id) => Rotated::Done(key.stamp),
        Some(_) => Rotated::NotLive,
    })
}

pub(super) async fn find(
    client: &ClientWrapper,
    environment: EnvironmentId,
    key: KeyId,
) -> Result<Option<KeyRecord>, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT id, environment_id, kind, digest, last_four, created_at, expires_at, revoked_at, replaced_by
             FROM api_keys WHERE environment_id = $1 AND id = $2",
        )
        .await?;
    let row = client.query_opt(&statement, &[&uuid(environment.to_bytes()), &uuid(key.to_bytes())]).await?;
    row.as_ref().map(read_key).transpose()
}

pub(super) async fn list(
    client: &ClientWrapper,
    environment: EnvironmentId,
    page: Page<KeyId>,
) -> Result<Vec<KeyRecord>, Fault> {
    let Some(first) = convert::from_after(page.after.map(KeyId::to_bytes)) else { return Ok(Vec::new()) };
    let statement = client
        .prepare_cached(
            "SELECT id, environment_id, kind, digest, last_four, created_at, expires_at, revoked_at, replaced_by
             FROM api_keys WHERE environment_id = $1 AND id >= $2 ORDER BY id LIMIT $3",
        )
        .await?;
    let environment = uuid(environment.to_bytes());
    let rows = client.query(&statement, &[&environment, &uuid(first), &i64::from(page.limit)]).await?;
    rows.iter().map(read_key).collect()
}

/// Reads the columns id, environment_id, kind, digest, last_four, created_at, expires_at, revoked_at, replaced_by.
pub(super) fn read_key(row: &Row) -> Result<KeyRecord, Fault> {
    Ok(KeyRecord {
        id: KeyId::from_bytes(row.try_get::<_, Uuid>(0)?.into_bytes()),
        environment: EnvironmentId::from_bytes(row.try_get::<_, Uuid>(1)?.into_bytes()),
        kind: convert::key_kind(row.try_get(2)?)?,
        digest: convert::digest(row.try_get(3)?)?,
        last_four: row.try_get(4)?,
        created_at: Timestamp::from_unix_millis(row.try_get(5)?),
        expires_at: row.try_get::<_, Option<i64>>(6)?.map(Timestamp::from_unix_millis),
        revoked_at: row.try_get::<_, Option<i64>>(7)?.map(Timestamp::from_unix_millis),
        replaced_by: row.try_get::<_, Option<Uuid>>(8)?.map(|id| KeyId::from_bytes(id.into_bytes())),
    })
}

/// What a statement that changed nothing needs to know of the key.
struct Standing {
    replaced_by: Option<KeyId>,
    stamp: DirectoryVersion,
}

async fn standing(
    client: &ClientWrapper,
    environment: EnvironmentId,
    key: KeyId,
) -> Result<Option<Standing>, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT k.replaced_by, e.directory_version
             FROM api_keys k JOIN environments e ON e.id = k.environment_id
             WHERE k.environment_id = $1 AND k.id = $2",
        )
        .await?;
    let row = client.query_opt(&statement, &[&uuid(environment.to_bytes()), &uuid(key.to_bytes())]).await?;
    row.map(|row| {
        Ok(Standing {
            replaced_by: row.try_get::<_, Option<Uuid>>(0)?.map(|id| KeyId::from_bytes(id.into_bytes())),
            stamp: read_version(&row, 1)?,
        })
    })
    .transpose()
}
