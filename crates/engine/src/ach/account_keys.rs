//! The keys that bank details are sealed with.
//!
//! A row that was deleted lives on in database files, logs and backups. So bank details are not sealed under the master
//! key, which is kept for years, but under keys that each node makes for a few minutes: once no transfer needs a key, it is
//! destroyed, and with it everything it ever sealed, wherever a copy may be left.

use std::{slice, time::Duration};

use tokio::{
    sync::Mutex,
    time::{Instant, timeout_at},
};
use tollgate_domain::{Timestamp, id::SealingKeyId};
use tollgate_vault::{MasterKey, SealError, Sealer, sealed_with};

use super::request::TransferError;
use crate::{
    engine::Engine,
    ports::{SealingKey, StoreError},
};

/// How long a key seals.
const USED_FOR: Duration = Duration::from_mins(10);
/// How much later another node may hear of a jump of the database's clock, and more.
const CLOCK_SKEW: Duration = Duration::from_mins(5);

pub(crate) struct AccountKeys {
    /// Seals the keys themselves.
    sealer: Sealer,
    /// Those this node has made and that are not destroyed yet, the newest last.
    own: Mutex<Vec<OwnKey>>,
}

struct OwnKey {
    stored: SealingKey,
    sealer: Sealer,
}

impl AccountKeys {
    pub(crate) fn new(master_key: &MasterKey) -> Self {
        Self { sealer: master_key.sealer("sealing keys of bank accounts"), own: Mutex::default() }
    }
}

impl Engine {
    /// The key to seal with now: stored before it is used, so that another node can open what this one seals.
    pub(super) async fn current_account_key(&self, deadline: Instant) -> Result<Sealer, TransferError> {
        let own = timeout_at(deadline, self.account_keys.own.lock()).await;
        let mut own =
            own.map_err(|_| StoreError::Unavailable("no sealing key could be stored in time".to_owned()))?;
        let now = self.clock.now();
        let current = own.last().filter(|key| {
            let made = key.stored.created_at;
            made <= now && now < made.saturating_add(USED_FOR)
        });
        if let Some(current) = current {
            return Ok(current.sealer.clone());
        }
        let id = self.new_id(SealingKeyId::new)?;
        let (sealer, key) = Sealer::generate(id.to_string())?;
        let sealed = self.account_keys.sealer.seal(&id.to_string(), &key)?;
        let stored = SealingKey { id, sealed, created_at: now };
        let keeping = || self.store.put_sealing_keys(slice::from_ref(&stored));
        self.retry_until_known(deadline, keeping).await.map_err(|error| match error {
            // Whether the key is there or not: nothing is sealed with it, and nothing has happened.
            StoreError::Unknown(reason) => StoreError::Unavailable(reason),
            other => other,
        })?;
        own.push(OwnKey { stored, sealer: sealer.clone() });
        Ok(sealer)
    }

    /// The key a text was sealed with; `None` if it was destroyed or is not readable.
    pub(super) async fn account_key_of(&self, sealed: &str) -> Result<Option<Sealer>, StoreError> {
        let Some(name) = sealed_with(sealed) else { return Ok(None) };
        let Ok(id) = name.parse::<SealingKeyId>() else {
            // Release 0.1.0 sealed under the master key.
            return Ok(Some(self.account_sealer.clone()));
        };
        let own = self.account_keys.own.lock().await;
        if let Some(own) = own.iter().find(|key| key.stored.id == id) {
            return Ok(Some(own.sealer.clone()));
        }
        drop(own);
        let Some(stored) = self.store.sealing_key(id).await? else { return Ok(None) };
        let key = self.account_keys.sealer.open(name, &stored.sealed).ok();
        Ok(key.and_then(|key| Sealer::of_key(name, &key).ok()))
    }

    /// A key under the current master key; `None` if it is.
    pub(crate) fn reseal_account_key(
        &self,
        id: SealingKeyId,
        sealed: &str,
    ) -> Result<Option<String>, SealError> {
        self.account_keys.sealer.reseal(&id.to_string(), sealed)
    }

    /// Destroys the keys that no transfer needs anymore, and puts those of this node back that the database has lost.
    pub async fn destroy_account_keys(&self) -> Result<(), StoreError> {
        let made_before = self.account_keys_kept_since();
        // A clock that has jumped by then is known to have.
        if !self.may_conclude() {
            return Ok(());
        }
        let in_use = self.store.sealing_keys_in_use().await?;
        let own: Vec<SealingKey> = {
            let mut own = self.account_keys.own.lock().await;
            own.retain(|key| key.stored.created_at >= made_before || in_use.contains(&key.stored.id));
            own.iter().map(|key| key.stored.clone()).collect()
        };
        if !own.is_empty() {
            self.store.put_sealing_keys(&own).await?;
        }
        self.store.destroy_sealing_keys(made_before).await.map(drop)
    }

    /// A key made later may still be in somebody's hands: what was sealed with it last is stored within the request's
    /// deadline.
    fn account_keys_kept_since(&self) -> Timestamp {
        let in_flight = self.options.request_deadline.saturating_mul(4);
        let kept = USED_FOR.saturating_add(in_flight).saturating_add(CLOCK_SKEW);
        self.clock.now().saturating_sub(kept)
    }
}
