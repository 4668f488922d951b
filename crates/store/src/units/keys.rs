//! API keys, of which only digests are kept.

use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    key_scope::{Endpoint, KeyScope},
    tenant::{KeyKind, KeyRecord},
};
use tollgate_engine::ports::{Issued, KeyUse, Page, Revoked, Rotated};

use super::directory;
use crate::prelude::*;

/// The columns that [`read`] takes, of api_keys as `k`.
macro_rules! key_columns {
    () => {
        "k.id, k.environment_id, k.kind, k.name, k.endpoints, k.addresses, k.digest, k.last_four, k.created_at,
         k.expires_at, k.last_used_at, k.revoked_at, k.replaced_by"
    };
}

pub(super) use key_columns;

pub(super) fn read(cells: &mut Cells<'_>) -> Result<KeyRecord, Fault> {
    Ok(KeyRecord {
        id: cells.id()?,
        environment: cells.id()?,
        kind: cells.word("kind of key", KeyKind::parse)?,
        name: cells.text_or_none()?,
        scope: read_scope(cells)?,
        digest: cells.digest()?,
        last_four: cells.text()?,
        created_at: cells.moment()?,
        expires_at: cells.moment_or_none()?,
        last_used_at: cells.moment_or_none()?,
        revoked_at: cells.moment_or_none()?,
        replaced_by: cells.id_or_none()?,
    })
}

/// An endpoint or a range that this version does not know allows nothing; that it was one of a list still counts.
fn read_scope(cells: &mut Cells<'_>) -> Result<KeyScope, Fault> {
    let (endpoints, addresses) = (cells.text_or_none()?, cells.text_or_none()?);
    Ok(KeyScope {
        endpoints: endpoints.map(|list| list.split(',').filter_map(Endpoint::parse).collect()),
        addresses: addresses.map(|list| list.split(',').filter_map(|range| range.parse().ok()).collect()),
    })
}

fn list_of<T>(items: Option<&[T]>, text: impl Fn(&T) -> String) -> Option<String> {
    items.map(|items| items.iter().map(text).collect::<Vec<_>>().join(","))
}

async fn insert<S: Session>(s: &mut S, key: &KeyRecord) -> Result<(), Fault> {
    let sql = "INSERT INTO api_keys (environment_id, id, kind, name, endpoints, addresses, digest, last_four, created_at,
             expires_at, last_used_at, revoked_at, replaced_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    let endpoints = list_of(key.scope.endpoints.as_deref(), |endpoint| endpoint.as_str().to_owned());
    let addresses = list_of(key.scope.addresses.as_deref(), ToString::to_string);
    let values = values![
        key.environment,
        key.id,
        key.kind.as_str(),
        &key.name,
        endpoints,
        addresses,
        &key.digest,
        &key.last_four,
        key.created_at,
        key.expires_at,
        key.last_used_at,
        key.revoked_at,
        key.replaced_by
    ];
    s.execute(sql, values).await.map(drop)
}

pub(crate) async fn issue<S: Session>(s: &mut S, key: &KeyRecord) -> Result<Effect<Issued>, Fault> {
    directory::lock(s).await?;
    let Some(stamp) = directory::stamp(s, key.environment).await? else {
        return Ok(Effect::Nothing(Issued::EnvironmentMissing));
    };
    if find(s, key.environment, key.id).await?.is_some() {
        return Ok(Effect::Nothing(Issued::Done(stamp)));
    }
    insert(s, key).await?;
    Ok(Effect::Directory(Issued::Done(directory::touch(s, key.environment).await?)))
}

pub(crate) async fn revoke<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    key: KeyId,
    at: Timestamp,
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
    s.execute(sql, values![environment, key, at]).await?;
    Ok(Effect::Directory(Revoked::Done(directory::touch(s, environment).await?)))
}

pub(crate) async fn rotate<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    key: KeyId,
    replacement: &KeyRecord,
    old_ends_at: Timestamp,
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
    // A key that was issued for so long does not live longer because it is rotated.
    let old_ends_at = found.expires_at.map_or(old_ends_at, |end| end.min(old_ends_at));
    let sql = "UPDATE api_keys SET expires_at = $3, replaced_by = $4 WHERE environment_id = $1 AND id = $2";
    s.execute(sql, values![environment, key, old_ends_at, replacement.id]).await?;
    Ok(Effect::Directory(Rotated::Done(directory::touch(s, environment).await?)))
}

/// When keys were last used. Nobody waits for this, so the directory's version stays as it is.
pub(super) async fn record_uses<S: Session>(s: &mut S, uses: &[KeyUse]) -> Result<(), Fault> {
    let sql = "UPDATE api_keys SET last_used_at = $3
         WHERE environment_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < $3)";
    for KeyUse { environment, key, at } in uses {
        s.execute(sql, values![*environment, *key, *at]).await?;
    }
    Ok(())
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
