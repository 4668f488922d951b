//! API keys, of which only digests are kept.

use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    key_scope::{Endpoint, KeyScope},
    tenant::KeyRecord,
};
use tollgate_engine::ports::{Issued, KeyUse, Page, Revoked, Rotated};

use super::directory;
use crate::prelude::*;

record! {
    API_KEYS, key_columns = "api_keys" as k of () "";
    KeyRecord {
        id: Id = id,
        environment_id: Id = environment,
        kind: Text = kind,
        name: Text = name,
        endpoints: Text, addresses: Text = scope,
        digest: Bytes = digest,
        last_four: Text = last_four,
        created_at: Number = created_at,
        expires_at: Number = expires_at,
        last_used_at: Number = last_used_at,
        revoked_at: Number = revoked_at,
        replaced_by: Id = replaced_by,
    }
}

/// An endpoint or a range that this version does not know allows nothing; that it was one of a list still counts.
impl Stored for KeyScope {
    const WIDTH: usize = 2;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        let endpoints =
            self.endpoints.as_ref().map(|list| list.iter().map(|it| it.as_str()).collect::<Vec<_>>());
        let addresses =
            self.addresses.as_ref().map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>());
        row.extend(row![endpoints.map(|list| list.join(",")), addresses.map(|list| list.join(","))]);
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        let (endpoints, addresses) = (cells.text_or_none()?, cells.text_or_none()?);
        Ok(Some(Self {
            endpoints: endpoints.map(|list| list.split(',').filter_map(Endpoint::parse).collect()),
            addresses: addresses.map(|list| list.split(',').filter_map(|range| range.parse().ok()).collect()),
        }))
    }
}

pub(crate) async fn issue<S: Session>(s: &mut S, key: &KeyRecord) -> Result<Effect<Issued>, Fault> {
    directory::lock(s).await?;
    let Some(stamp) = directory::stamp(s, key.environment).await? else {
        return Ok(Effect::Nothing(Issued::EnvironmentMissing));
    };
    if find(s, key.environment, key.id).await?.is_some() {
        return Ok(Effect::Nothing(Issued::Done(stamp)));
    }
    s.insert(&API_KEYS, vec![row![..key]]).await?;
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
    let (Some(existing), Some(stamp)) = (find(s, environment, key).await?, stamp) else {
        return Ok(Effect::Nothing(Revoked::Missing));
    };
    if existing.revoked_at.is_some() {
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
    let (Some(existing), Some(stamp)) = (find(s, environment, key).await?, stamp) else {
        return Ok(Effect::Nothing(Rotated::Missing));
    };
    if existing.replaced_by == Some(replacement.id) {
        return Ok(Effect::Nothing(Rotated::Done(stamp)));
    }
    if existing.replaced_by.is_some() || !existing.is_live(replacement.created_at) {
        return Ok(Effect::Nothing(Rotated::NotLive));
    }
    s.insert(&API_KEYS, vec![row![..replacement]]).await?;
    // A key that was issued for so long does not live longer because it is rotated.
    let old_ends_at = existing.expires_at.map_or(old_ends_at, |end| end.min(old_ends_at));
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
