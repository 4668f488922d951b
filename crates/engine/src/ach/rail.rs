//! Which network an instant transfer takes: decided before funds are reserved, and kept with the order.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tollgate_configuration::Provider;
use tollgate_domain::{Channel, Timestamp, ach::TransferRail, id::EnvironmentId};
use tollgate_vault::Secret;

use super::{AchProvider, request::TransferError};
use crate::{
    engine::Engine,
    ports::{AchTransfers, Call, CallError, InstantCapability, RejectionKind},
};

/// How long an answer counts. Banks join and leave the networks on banking days.
const LASTS: Duration = Duration::from_hours(1);
const MAX_KEPT: usize = 10_000;
/// How long a caller waits before the provider may tell.
const RETRY: Duration = Duration::from_secs(10);

/// What providers said lately, so that few transfers have to ask.
#[derive(Debug, Default)]
pub(crate) struct InstantRails {
    /// How a bank is reached, by the provider's address and the routing number.
    banks: Kept<Option<TransferRail>>,
    /// What an account can originate, by the provider's address and the account.
    accounts: Kept<InstantCapability>,
}

type Key = (String, String);

#[derive(Debug)]
struct Kept<T>(Mutex<BTreeMap<Key, (T, Timestamp)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Kept<T> {
    fn get(&self, key: &Key, now: Timestamp) -> Option<T> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).filter(|(_, until)| now < *until).map(|(answer, _)| answer.clone())
    }

    fn keep(&self, key: Key, answer: T, now: Timestamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.retain(|_, (_, until)| now < *until);
        }
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(key, (answer, now.saturating_add(LASTS)));
    }
}

fn account_key(provider: &Provider) -> Key {
    (provider.address().to_owned(), provider.account_id().unwrap_or_default().to_owned())
}

impl Engine {
    /// What the configured account is known to lack for instant transfers. Makes no call: what is not known is no reason to
    /// refuse.
    pub(super) fn check_instant(&self, provider: &Provider) -> Result<(), TransferError> {
        match self.instant_rails.accounts.get(&account_key(provider), self.clock.now()) {
            Some(InstantCapability::Missing(lacks)) => {
                Err(TransferError::InstantNotEnabled { provider: provider.name.to_string(), lacks })
            }
            Some(InstantCapability::Available | InstantCapability::Unknown) | None => Ok(()),
        }
    }

    /// Whether the provider said lately what the configured account can originate.
    pub(super) fn knows_instant(&self, provider: &Provider) -> bool {
        self.instant_rails.accounts.get(&account_key(provider), self.clock.now()).is_some()
    }

    /// Asks the provider what the configured account can originate, and keeps the answer for the next transfers.
    pub(crate) async fn learn_instant(
        &self,
        environment: EnvironmentId,
        provider: &Provider,
        adapter: &dyn AchTransfers,
    ) -> Option<InstantCapability> {
        let Call { outcome, logs } = adapter.instant_capability(provider).await;
        self.note_calls(environment, &provider.name, None, &logs);
        let learned = match outcome {
            Ok(capability) => capability,
            // A key that may not read accounts may still pay from them.
            Err(CallError::Rejected(_)) => InstantCapability::Unknown,
            Err(CallError::Unsent(_) | CallError::Unknown(_)) => return None,
        };
        self.instant_rails.accounts.keep(account_key(provider), learned.clone(), self.clock.now());
        Some(learned)
    }

    /// The rail that carries a channel to the bank of this routing number.
    pub(super) async fn choose_rail(
        &self,
        environment: EnvironmentId,
        provider: &AchProvider<'_>,
        channel: Channel,
        routing_number: &Secret,
    ) -> Result<TransferRail, TransferError> {
        if channel != Channel::Instant {
            return Ok(TransferRail::Ach);
        }
        let entry = provider.provider;
        if !self.knows_instant(entry) {
            self.learn_instant(environment, entry, provider.adapter).await;
        }
        self.check_instant(entry)?;
        let key = (entry.address().to_owned(), routing_number.expose().to_owned());
        let rail = if let Some(known) = self.instant_rails.banks.get(&key, self.clock.now()) {
            known
        } else {
            let call = provider.adapter.instant_rail(entry, routing_number).await;
            self.note_calls(environment, &entry.name, None, &call.logs);
            let rail = call.outcome.map_err(|error| not_told(error, &entry.name))?;
            self.instant_rails.banks.keep(key, rail, self.clock.now());
            rail
        };
        let rail = rail.ok_or(TransferError::InstantNotSupported)?;
        let missing = entry.missing_for(rail);
        if missing.is_empty() {
            return Ok(rail);
        }
        let missing = missing.into_iter().map(|path| format!("providers.{}.{path}", entry.name)).collect();
        Err(TransferError::NotConfigured { provider: entry.name.to_string(), missing })
    }
}

/// That the provider could not be asked says nothing about the bank.
fn not_told(error: CallError, provider: &str) -> TransferError {
    match error {
        CallError::Unsent(transient) | CallError::Unknown(transient) => {
            TransferError::RailUnknown { retry_after: transient.retry_after.unwrap_or(RETRY) }
        }
        CallError::Rejected(rejection)
            if matches!(rejection.kind, RejectionKind::Credentials | RejectionKind::Missing) =>
        {
            TransferError::NotConfigured { provider: provider.to_owned(), missing: Vec::new() }
        }
        // The provider knows no such bank.
        CallError::Rejected(_) => TransferError::InstantNotSupported,
    }
}
