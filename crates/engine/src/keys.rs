//! API keys: issue, list, rotate with grace, revoke.

use std::time::Duration;

use tollgate_domain::{
    id::{ChangeId, EnvironmentId, KeyId},
    tenant::{KeyKind, KeyRecord},
};
use tollgate_vault::{IssuedKey, RandomnessUnavailable, Secret};

use crate::{
    configure::Origin,
    engine::Engine,
    ports::{ChangeOrigin, Issued, KeyChange, Page, Revoked, Rotated, StoreError},
};

/// A key and the only sight of its text.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// What is kept.
    pub record: KeyRecord,
    /// The key itself.
    pub key: Secret,
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
        kind: KeyKind,
        origin: Origin,
    ) -> Result<NewKey, KeyError> {
        let new = self.make_key(environment, kind).await?;
        let origin = self.change_origin(origin)?;
        match self.store.issue_key(&new.record, &origin).await? {
            Issued::Done(version) => self.directory.catch_up(version).await,
            Issued::EnvironmentMissing => return Err(KeyError::Missing),
        }
        Ok(new)
    }

    /// Issues a key of the same kind and lets the old one live for `grace`.
    pub async fn rotate_key(
        &self,
        environment: EnvironmentId,
        key: KeyId,
        grace: Duration,
        origin: Origin,
    ) -> Result<NewKey, KeyError> {
        let kind = self.key(environment, key).await?.kind;
        let new = self.make_key(environment, kind).await?;
        let old_ends_at = new.record.created_at.saturating_add(grace);
        let origin = self.change_origin(origin)?;
        match self.store.rotate_key(environment, key, &new.record, old_ends_at, &origin).await? {
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
        let origin = self.change_origin(origin)?;
        match self.store.revoke_key(environment, key, &origin).await? {
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

    fn change_origin(&self, origin: Origin) -> Result<ChangeOrigin, RandomnessUnavailable> {
        let Origin { actor, request } = origin;
        Ok(ChangeOrigin { id: self.new_id(ChangeId::new)?, actor, request, at: self.clock.now() })
    }

    async fn key(&self, environment: EnvironmentId, key: KeyId) -> Result<KeyRecord, KeyError> {
        self.store.key(environment, key).await?.ok_or(KeyError::Missing)
    }

    async fn make_key(&self, environment: EnvironmentId, kind: KeyKind) -> Result<NewKey, KeyError> {
        let known = self.store.environment(environment).await?.ok_or(KeyError::Missing)?;
        let issued = IssuedKey::generate(kind, &known.name)?;
        let record = KeyRecord {
            id: self.new_id(KeyId::new)?,
            environment,
            kind,
            digest: issued.digest.to_bytes(),
            last_four: issued.last_four,
            created_at: self.clock.now(),
            expires_at: None,
            revoked_at: None,
            replaced_by: None,
        };
        Ok(NewKey { record, key: issued.key })
    }
}
