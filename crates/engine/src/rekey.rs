//! Rotating the master key: everything that is sealed under the previous one is sealed under the current one, while payments
//! go on. Each value is replaced by itself, so that it can be interrupted anywhere and begun again.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tollgate_configuration::reseal_document;
use tollgate_domain::id::{EndpointId, PaymentId, SealingKeyId, TransferId};
use tollgate_vault::{MasterKey, SealError, Sealer};
use tracing::{info, warn};

use crate::{
    ach,
    audit_log::Audited,
    card,
    configure::Origin,
    engine::{Engine, StartError},
    outbox,
    ports::{SealedKind, SealedPlace, SealedValue, Store, StoreError},
};

/// The name under which the database remembers which master key its secrets are sealed with.
const MASTER_KEY_PIN: &str = "master_key_fingerprint";
/// The name under which it keeps what digests are made with, once that is no longer the master key's own root.
const ROOT_PIN: &str = "digest_root";
const ROOT_PURPOSE: &str = "digest root";
/// Values that are read at once.
const PAGE: u32 = 50;
/// How long one call works. The next goes on from there.
const CALL_LIMIT: Duration = Duration::from_secs(2);

/// How far a rotation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RekeyProgress {
    /// Values that this call has sealed under the current key.
    pub resealed: u64,
    /// Values that neither key opens.
    pub unreadable: u64,
    /// Whether nothing readable is left under the previous key.
    pub is_done: bool,
}

/// Why nothing is sealed anew.
#[derive(Debug, thiserror::Error)]
pub enum RekeyError {
    /// There is no other key.
    #[error("no previous master key is set")]
    NoPreviousKey,
    /// Something could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks that the master key, or the previous one, belongs to the database. Returns it with the root that the database's
/// digests are made with.
pub(crate) async fn adopt(store: &dyn Store, key: &MasterKey) -> Result<MasterKey, StartError> {
    let ours = key.fingerprint();
    let pinned = store.pin(MASTER_KEY_PIN, &ours).await?;
    let previous = key.previous().filter(|previous| previous.fingerprint() == pinned);
    if pinned != ours && previous.is_none() {
        return Err(StartError::OtherMasterKey { pinned, ours });
    }
    let root = match store.pinned(ROOT_PIN).await? {
        Some(sealed) => key.sealer(ROOT_PURPOSE).open(ROOT_PIN, &sealed).map_err(StartError::DigestRoot)?,
        // Until it was rotated for the first time, the key that the database was created with has it.
        None => previous.unwrap_or(key).root(),
    };
    key.clone().with_root(&root).map_err(StartError::DigestRoot)
}

impl Engine {
    /// Seals some of what the previous master key has sealed under the current one, for up to two seconds.
    pub async fn rekey(&self, origin: &Origin) -> Result<RekeyProgress, RekeyError> {
        let previous = self.master_key.previous().ok_or(RekeyError::NoPreviousKey)?.fingerprint();
        let audited = Audited::new("master_key.rekey", self.master_key.fingerprint())
            .before(json!({ "key": previous }))
            .after(json!({ "key": self.master_key.fingerprint() }));
        self.record_action(origin, audited).await?;
        self.keep_root().await?;
        let deadline = Instant::now() + CALL_LIMIT;
        let mut progress = RekeyProgress::default();
        for kind in SealedKind::ALL {
            let mut after = SealedPlace::FIRST;
            loop {
                let page = self.store.sealed_values(kind, &previous, after, PAGE).await?;
                let Some(last) = page.last() else { break };
                after = last.place;
                for value in &page {
                    self.reseal(kind, value, &mut progress).await?;
                    if Instant::now() >= deadline {
                        return Ok(progress);
                    }
                }
            }
        }
        // What was found was replaced; whether all of it was is for the next call to say.
        progress.is_done = progress.resealed == 0;
        let ours = self.master_key.fingerprint();
        if progress.is_done && self.store.pinned(MASTER_KEY_PIN).await? != Some(ours.clone()) {
            self.store.set_pin(MASTER_KEY_PIN, &ours).await?;
            info!(key = ours, "everything is sealed under the current master key");
        }
        Ok(progress)
    }

    /// The kinds of which something is still sealed under the previous key; `None` if there is no such key.
    pub(crate) async fn sealed_under_previous(&self) -> Result<Option<Vec<SealedKind>>, StoreError> {
        let Some(previous) = self.master_key.previous() else { return Ok(None) };
        let mut left = Vec::new();
        for kind in SealedKind::ALL {
            let found =
                self.store.sealed_values(kind, &previous.fingerprint(), SealedPlace::FIRST, 1).await?;
            if !found.is_empty() {
                left.push(kind);
            }
        }
        Ok(Some(left))
    }

    /// Whether the database needs no other key than the current one.
    pub(crate) async fn is_pinned_to_current(&self) -> Result<bool, StoreError> {
        Ok(self.store.pinned(MASTER_KEY_PIN).await? == Some(self.master_key.fingerprint()))
    }

    /// Keeps the root under the current key, before anything else is: the previous one will be gone.
    async fn keep_root(&self) -> Result<(), RekeyError> {
        let sealer = self.master_key.sealer(ROOT_PURPOSE);
        let sealed = match self.store.pinned(ROOT_PIN).await? {
            Some(sealed) => sealer.reseal(ROOT_PIN, &sealed)?,
            None => Some(sealer.seal(ROOT_PIN, &self.master_key.root())?),
        };
        if let Some(sealed) = sealed {
            self.store.set_pin(ROOT_PIN, &sealed).await?;
        }
        Ok(())
    }

    async fn reseal(
        &self,
        kind: SealedKind,
        value: &SealedValue,
        progress: &mut RekeyProgress,
    ) -> Result<(), RekeyError> {
        match self.resealed(kind, value) {
            Ok(Some(text)) => {
                // Whoever changed it meanwhile may have written what it was before: the next call looks again.
                self.store.replace_sealed(kind, value, &text).await?;
                progress.resealed = progress.resealed.saturating_add(1);
            }
            Ok(None) => {}
            Err(SealError::Randomness(error)) => return Err(SealError::Randomness(error).into()),
            Err(error) => {
                warn!(%error, kind = kind.describe(), environment = %value.place.environment, "a sealed value cannot be read");
                progress.unreadable = progress.unreadable.saturating_add(1);
            }
        }
        Ok(())
    }

    /// The stored text with everything in it sealed under the current key; `None` if it is.
    fn resealed(&self, kind: SealedKind, value: &SealedValue) -> Result<Option<String>, SealError> {
        let SealedPlace { environment, id, number } = value.place;
        let text = value.text.as_str();
        match kind {
            SealedKind::Configuration | SealedKind::Proposal => {
                reseal_document(text, environment, &self.sealer)
            }
            SealedKind::Endpoint => {
                let context = outbox::secret_context(environment, EndpointId::from_bytes(id));
                reseal_list(text, "sealed", &self.endpoint_sealer, |_| context.clone())
            }
            SealedKind::CardSource => {
                let number = u32::try_from(number).map_err(|_| SealError::Malformed)?;
                let context = card::source_context(environment, PaymentId::from_bytes(id), number);
                self.source_sealer.reseal(&context, text)
            }
            SealedKind::SealingKey => self.reseal_account_key(SealingKeyId::from_bytes(id), text),
            SealedKind::BankAccount => {
                let context = ach::account_context(environment, transfer_of(value)?);
                self.account_sealer.reseal(&context, text)
            }
            SealedKind::Corrections => {
                let transfer = transfer_of(value)?;
                let context = |place| ach::correction_context(environment, transfer, place);
                reseal_list(text, ach::SEALED_NUMBER, &self.account_sealer, context)
            }
        }
    }
}

fn transfer_of(value: &SealedValue) -> Result<TransferId, SealError> {
    value.reference.parse().map_err(|_| SealError::Malformed)
}

/// A list of objects, some of which have a sealed text in this field.
fn reseal_list(
    text: &str,
    field: &str,
    sealer: &Sealer,
    context: impl Fn(usize) -> String,
) -> Result<Option<String>, SealError> {
    let mut entries: Vec<Value> = serde_json::from_str(text).map_err(|_| SealError::Malformed)?;
    let mut is_changed = false;
    for (place, entry) in entries.iter_mut().enumerate() {
        let Some(sealed) = entry.get_mut(field) else { continue };
        let resealed = sealer.reseal(&context(place), sealed.as_str().unwrap_or_default())?;
        if let Some(resealed) = resealed {
            *sealed = resealed.into();
            is_changed = true;
        }
    }
    Ok(is_changed.then(|| Value::Array(entries).to_string()))
}
