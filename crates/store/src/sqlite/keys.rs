//! API keys, of which only digests are kept.

use rusqlite::{Connection, Row, params};
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    tenant::KeyRecord,
};
use tollgate_engine::ports::{Issued, Page, Revoked, Rotated};

use super::{directory, fault::Fault, writer::Effect};
use crate::convert;

pub(super) fn issue(connection: &Connection, key: &KeyRecord) -> Result<Effect<Issued>, Fault> {
    let Some(stamp) = directory::stamp(connection, key.environment)? else {
        return Ok(Effect::Nothing(Issued::EnvironmentMissing));
    };
    if find(connection, key.environment, key.id)?.is_some() {
        return Ok(Effect::Nothing(Issued::Done(stamp)));
    }
    insert(connection, key)?;
    Ok(Effect::Directory(Issued::Done(directory::touch(connection, key.environment)?)))
}

pub(super) fn revoke(
    connection: &Connection,
    environment: EnvironmentId,
    key: KeyId,
    at: Timestamp,
) -> Result<Effect<Revoked>, Fault> {
    let stamp = directory::stamp(connection, environment)?;
    let (Some(found), Some(stamp)) = (find(connection, environment, key)?, stamp) else {
        return Ok(Effect::Nothing(Revoked::Missing));
    };
    if found.revoked_at.is_some() {
        return Ok(Effect::Nothing(Revoked::Done(stamp)));
    }
    connection
        .prepare_cached("UPDATE api_keys SET revoked_at = ?3 WHERE environment_id = ?1 AND id = ?2")?
        .execute(params![environment.to_bytes(), key.to_bytes(), at.unix_millis()])?;
    Ok(Effect::Directory(Revoked::Done(directory::touch(connection, environment)?)))
}

pub(super) fn rotate(
    connection: &Connection,
    environment: EnvironmentId,
    key: KeyId,
    replacement: &KeyRecord,
    old_ends_at: Timestamp,
) -> Result<Effect<Rotated>, Fault> {
    if replacement.environment != environment {
        return Err(Fault::Misuse("a key was to be replaced by one of another environment"));
    }
    let stamp = directory::stamp(connection, environment)?;
    let (Some(found), Some(stamp)) = (find(connection, environment, key)?, stamp) else {
        return Ok(Effect::Nothing(Rotated::Missing));
    };
    if found.replaced_by == Some(replacement.id) {
        return Ok(Effect::Nothing(Rotated::Done(stamp)));
    }
    if found.replaced_by.is_some() || !found.is_live(replacement.created_at) {
        return Ok(Effect::Nothing(Rotated::NotLive));
    }
    insert(connection, replacement)?;
    connection
        .prepare_cached(
            "UPDATE api_keys SET expires_at = ?3, replaced_by = ?4 WHERE environment_id = ?1 AND id = ?2",
        )?
        .execute(params![
            environment.to_bytes(),
            key.to_bytes(),
            old_ends_at.unix_millis(),
            replacement.id.to_bytes()
        ])?;
    Ok(Effect::Directory(Rotated::Done(directory::touch(connection, environment)?)))
}

pub(super) fn list(
    connection: &Connection,
    environment: EnvironmentId,
    page: Page<KeyId>,
) -> Result<Vec<KeyRecord>, Fault> {
    let Some(first) = convert::from_after(page.after.map(KeyId::to_bytes)) else { return Ok(Vec::new()) };
    connection
        .prepare_cached(
            "SELECT id, environment_id, kind, digest, last_four, created_at, expires_at, revoked_at, replaced_by
             FROM api_keys WHERE environment_id = ?1 AND id >= ?2 ORDER BY id LIMIT ?3",
        )?
        .query_and_then(params![environment.to_bytes(), first, page.limit], read_key)?
        .collect()
}

/// Reads the columns id, environment_id, kind, digest, last_four, created_at, expires_at, revoked_at, replaced_by.
pub(super) fn read_key(row: &Row<'_>) -> Result<KeyRecord, Fault> {
    Ok(KeyRecord {
        id: KeyId::from_bytes(row.get(0)?),
        environment: EnvironmentId::from_bytes(row.get(1)?),
        kind: convert::key_kind(row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?)?,
        digest: convert::digest(row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?)?,
        last_four: row.get(4)?,
        created_at: Timestamp::from_unix_millis(row.get(5)?),
        expires_at: row.get::<_, Option<i64>>(6)?.map(Timestamp::from_unix_millis),
        revoked_at: row.get::<_, Option<i64>>(7)?.map(Timestamp::from_unix_millis),
        replaced_by: row.get::<_, Option<[u8; 16]>>(8)?.map(KeyId::from_bytes),
    })
}

pub(super) fn find(
    connection: &Connection,
    environment: EnvironmentId,
    key: KeyId,
) -> Result<Option<KeyRecord>, Fault> {
    connection
        .prepare_cached(
            "SELECT id, environment_id, kind, digest, last_four, created_at, expires_at, revoked_at, replaced_by
             FROM api_keys WHERE environment_id = ?1 AND id = ?2",
        )?
        .query_and_then(params![environment.to_bytes(), key.to_bytes()], read_key)?
        .next()
        .transpose()
}

fn insert(connection: &Connection, key: &KeyRecord) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO api_keys (environment_id, id, kind, digest, last_four, created_at, expires_at, revoked_at,
                 replaced_by)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            key.environment.to_bytes(),
            key.id.to_bytes(),
            key.kind.as_str(),
            key.digest,
            key.last_four,
            key.created_at.unix_millis(),
            key.expires_at.map(Timestamp::unix_millis),
            key.revoked_at.map(Timestamp::unix_millis),
            key.replaced_by.map(KeyId::to_bytes)
        ])?;
    Ok(())
}
