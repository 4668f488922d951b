//! API keys, of which only digests are kept.

use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    tenant::{KeyKind, KeyRecord},
};
use tollgate_engine::ports::{ChangeOrigin, Issued, KeyAction, Page, Revoked, Rotated};

use super::{admin_changes, directory};
use crate::prelude::*;

/// The columns that [`read`] takes, of api_keys as `k`.
macro_rules! key_columns {
    () => {
        "k.id, k.environment_id, k.kind, k.digest, k.last_four, k.created_at, k.expires_at, k.revoked_at,
         k.replaced_by"
    };
}

pub(super) use key_columns;

pub(super) fn read(cells: &mut Cells<'_>) -> Result<KeyRecord, Fault> {
    Ok(KeyRecord {
        id: cells.id()?,
        environment: cells.id()?,
        kind: cells.word("kind of key", KeyKind::parse)?,
        digest: cells.digest()?,
        last_four: cells.text()?,
        created_at: cells.moment()?,
        expires_at: cells.moment_or_none()?,
        revoked_at: cells.moment_or_none()?,
        replaced_by: cells.id_or_none()?,
    })
}

async fn insert<S: Session>(s: &mut S, key: &KeyRecord) -> Result<(), Fault> {
    let sql = "INSERT INTO api_keys (environment_id, id, kind, digest, last_four, created_at, expires_at, revoked_at,
             replaced_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = values![
        key.environment,
        key.id,
        key.kind.as_str(),
        &key.digest,
        &key.last_four,
        key.created_at,
        key.expires_at,
        key.revoked_at,
        key.replaced_by
    ];
    s.execute(sql, values).await.map(drop)
}

pub(crate) async fn issue<S: Session>(
    s: &mut S,
    key: &KeyRecord,
    origin: &ChangeOrigin,
) -> Result<Effect<Issued>, Fault> {
    directory::lock(s).await?;
    let Some(stamp) = directory::stamp(s, key.environment).await? else {
        return Ok(Effect::Nothing(Issued::EnvironmentMissing));
    };
    if find(s, key.environment, key.id).await?.is_some() {
        return Ok(Effect::Nothing(Issued::Done(stamp)));
    }
    insert(s, key).await?;
    admin_changes::add(s, key.environment, key.id, KeyAction::Issued, origin).await?;
    Ok(Effect::Directory(Issued::Done(directory::touch(s, key.environment).await?)))
}

pub(crate) async fn revoke<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    key: KeyId,
    origin: &ChangeOrigin,
) -> Result<Effect<Revoked>, Fault> {
    directory::lock(s).await?;
    let stamp = directory::stamp(s, environment).await?;
    let (Some(found), Some(stamp)) = (find(s, environment, key).await?, stamp) else {
        return Ok(Effect::Nothing(Revoked::Missing));
    };
    if found.revoked_at.is_some() {
        return Ok(Effect::Nothing(Revoked::Done(stamp)));
    }
    let sql = "UPDATE api_keys SET revoked_at = $3 WHERE environment_id = $1 AND id = $2";
    s.execute(sql, values![environment, key, origin.at]).await?;
    admin_changes::add(s, environment, key, KeyAction::Revoked, origin).await?;
    Ok(Effect::Directory(Revoked::Done(directory::touch(s, environment).await?)))
}

pub(crate) async fn rotate<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    key: KeyId,
    replacement: &KeyRecord,
    old_ends_at: Timestamp,
    origin: &ChangeOrigin,
) -> Result<Effect<Rotated>, Fault> {
    if replacement.environment != environment {
        return Err(Fault::Misuse("a key was to be replaced by one of another environment"));
    }
    directory::lock(s).await?;
    let stamp = directory::stamp(s, environment).await?;
    let (Some(found), Some(stamp)) = (find(s, environment, key).await?, stamp) else {
        return Ok(Effect::Nothing(Rotated::Missing));
    };
    if found.replaced_by == Some(replacement.id) {
        return Ok(Effect::Nothing(Rotated::Done(stamp)));
    }
    if found.replaced_by.is_some() || !found.is_live(replacement.created_at) {
        return Ok(Effect::Nothing(Rotated::NotLive));
    }
    insert(s, replacement).await?;
    let sql = "UPDATE api_keys SET expires_at = $3, replaced_by = $4 WHERE environment_id = $1 AND id = $2";
    s.execute(sql, values![environment, key, old_ends_at, replacement.id]).await?;
    admin_changes::add(s, environment, key, KeyAction::Rotated, origin).await?;
    admin_changes::add(s, environment, replacement.id, KeyAction::Issued, origin).await?;
    Ok(Effect::Directory(Rotated::Done(directory::touch(s, environment).await?)))
}

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    key: KeyId,
) -> Result<Option<KeyRecord>, Fault> {
    let sql =
        concat!("SELECT ", key_columns!(), " FROM api_keys k WHERE k.environment_id = $1 AND k.id = $2");
    s.query_opt(sql, values![environment, key], read).await
}

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    page: Page<KeyId>,
) -> Result<Vec<KeyRecord>, Fault> {
    let Some(first) = rows::from_after(page.after) else { return Ok(Vec::new()) };
    let sql = concat!(
        "SELECT ",
        key_columns!(),
        " FROM api_keys k WHERE k.environment_id = $1 AND k.id >= $2 ORDER BY k.id LIMIT $3"
    );
    s.query(sql, values![environment, first, page.limit], read).await
}
