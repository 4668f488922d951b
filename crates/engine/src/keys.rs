//! API keys: issue, list, rotate with grace, revoke.

use std::time::Duration;

use serde_json::json;
use tollgate_domain::{
    Timestamp,
    address_range::AddressRange,
    id::{EnvironmentId, KeyId},
    key_scope::{Endpoint, KeyScope},
    tenant::{KeyKind, KeyRecord},
};
use tollgate_vault::{IssuedKey, RandomnessUnavailable, Secret};

use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    ports::{Issued, KeyAction, KeyChange, Page, Revoked, Rotated, StoreError},
};

/// A key and the only sight of its text.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// What is kept.
    pub record: KeyRecord,
    /// The key itself.
    pub key: Secret,
}

/// A key to issue.
#[derive(Debug, Clone)]
pub struct KeyRequest {
    pub kind: KeyKind,
    /// What people call it.
    pub name: Option<String>,
    /// What it is limited to.
    pub scope: KeyScope,
    /// From this moment it is refused.
    pub expires_at: Option<Timestamp>,
}

/// A key of this kind without a name, limits or an end.
impl From<KeyKind> for KeyRequest {
    fn from(kind: KeyKind) -> Self {
        Self { kind, name: None, scope: KeyScope::default(), expires_at: None }
    }
}

/// How a key is replaced. What is `None` stays as it is.
#[derive(Debug, Clone, Default)]
pub struct RotationRequest {
    /// How long the old key lives on.
    pub grace: Duration,
    pub name: Option<String>,
    pub endpoints: Option<Vec<Endpoint>>,
    pub addresses: Option<Vec<AddressRange>>,
    /// When the new key ends. A key that was issued for so long is otherwise replaced by one for as long.
    pub expires_at: Option<Timestamp>,
}

impl From<Duration> for RotationRequest {
    fn from(grace: Duration) -> Self {
        Self { grace, ..Self::default() }
    }
}

impl RotationRequest {
    /// The key that takes the old one's place.
    fn replacement(self, old: KeyRecord, now: Timestamp) -> KeyRequest {
        let lifetime = old.expires_at.map(|end| end.since(old.created_at));
        KeyRequest {
            kind: old.kind,
            name: self.name.or(old.name),
            scope: KeyScope {
                endpoints: self.endpoints.or(old.scope.endpoints),
                addresses: self.addresses.or(old.scope.addresses),
            },
            expires_at: self.expires_at.or_else(|| lifetime.map(|lifetime| now.saturating_add(lifetime))),
        }
    }
}

/// Why a key was not issued, rotated or revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No such environment, or no such key in it.
    #[error("environment or key not found")]
    Missing,
    /// The key is revoked, expired or was rotated before.
    #[error("the key is no longer valid")]
    NotLive,
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system provided no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

impl Engine {
    /// Issues a key. It opens its environment on this node at once, on others within a second.
    pub async fn issue_key(
        &self,
        environment: EnvironmentId,
        request: impl Into<KeyRequest> + Send,
        origin: Origin,
    ) -> Result<NewKey, KeyError> {
        let new = self.make_key(environment, request.into()).await?;
        let store = self.audited(&origin, issuing(&new.record, &origin));
        match store.issue_key(&new.record).await? {
            Issued::Done(version) => self.directory.catch_up(version).await,
            Issued::EnvironmentMissing => return Err(KeyError::Missing),
        }
        Ok(new)
    }

    /// Issues a key of the same kind and limits, and lets the old one live for a grace period.
    pub async fn rotate_key(
        &self,
        environment: EnvironmentId,
        key: KeyId,
        rotation: impl Into<RotationRequest> + Send,
        origin: Origin,
    ) -> Result<NewKey, KeyError> {
        let rotation = rotation.into();
        let (grace, old) = (rotation.grace, self.key(environment, key).await?);
        // One that was rotated before ends sooner than it was issued for, and is refused below.
        let new = self.make_key(environment, rotation.replacement(old, self.clock.now())).await?;
        let old_ends_at = new.record.created_at.saturating_add(grace);
        let rotating =
            Audited::new(KeyAction::Rotated.audited(), key).in_environment(environment).after(json!({
                "replacedBy": new.record.id.to_string(),
                "expiresAtMillis": old_ends_at.unix_millis(),
            }));
        let store = self.audited_all(&origin, [rotating, issuing(&new.record, &origin)]);
        match store.rotate_key(environment, key, &new.record, old_ends_at).await? {
            Rotated::Done(version) => self.directory.catch_up(version).await,
            Rotated::Missing => return Err(KeyError::Missing),
            Rotated::NotLive => return Err(KeyError::NotLive),
        }
        Ok(new)
    }

    /// Revokes a key. It is refused on this node at once, on others within a second.
    pub async fn revoke_key(
        &self,
        environment: EnvironmentId,
        key: KeyId,
        origin: Origin,
    ) -> Result<KeyRecord, KeyError> {
        let revoking = Audited::new(KeyAction::Revoked.audited(), key).in_environment(environment);
        let store = self.audited(&origin, revoking);
        match store.revoke_key(environment, key, self.clock.now()).await? {
            Revoked::Done(version) => self.directory.catch_up(version).await,
            Revoked::Missing => return Err(KeyError::Missing),
        }
        self.key(environment, key).await
    }

    /// All keys of an environment by id, revoked ones included.
    pub async fn keys(
        &self,
        environment: EnvironmentId,
        page: Page<KeyId>,
    ) -> Result<Vec<KeyRecord>, KeyError> {
        self.store.environment(environment).await?.ok_or(KeyError::Missing)?;
        Ok(self.store.keys(environment, page).await?)
    }

    /// Who did what to these keys, which are a page of [`Engine::keys`] or a single one.
    pub async fn key_changes(
        &self,
        environment: EnvironmentId,
        keys: &[KeyRecord],
    ) -> Result<Vec<KeyChange>, KeyError> {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(Vec::new()) };
        Ok(self.store.key_changes(environment, first.id, last.id).await?)
    }

    async fn key(&self, environment: EnvironmentId, key: KeyId) -> Result<KeyRecord, KeyError> {
        self.store.key(environment, key).await?.ok_or(KeyError::Missing)
    }

    async fn make_key(&self, environment: EnvironmentId, request: KeyRequest) -> Result<NewKey, KeyError> {
        let known = self.store.environment(environment).await?.ok_or(KeyError::Missing)?;
        let KeyRequest { kind, name, scope, expires_at } = request;
        let issued = IssuedKey::generate(kind, &known.name)?;
        let record = KeyRecord {
            id: self.new_id(KeyId::new)?,
            environment,
            kind,
            name,
            scope,
            digest: issued.digest.to_bytes(),
            last_four: issued.last_four,
            created_at: self.clock.now(),
            expires_at,
            last_used_at: None,
            revoked_at: None,
            replaced_by: None,
        };
        Ok(NewKey { record, key: issued.key })
    }
}

/// What the audit log says of a new key. Whoever may have seen it does not approve what is made with it.
fn issuing(key: &KeyRecord, origin: &Origin) -> Audited {
    let people = origin.people_text();
    Audited::new(KeyAction::Issued.audited(), key.id)
        .in_environment(key.environment)
        .after(json!({ "kind": key.kind.as_str(), "lastFour": key.last_four, "people": people }))
}
