//! Which network an instant transfer takes: decided before funds are reserved, and kept with the order.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tollgate_domain::{Channel, Timestamp, ach::TransferRail, id::EnvironmentId};
use tollgate_vault::Secret;

use super::{AchProvider, request::TransferError};
use crate::{
    engine::Engine,
    ports::{CallError, RejectionKind},
};

/// How long an answer counts. Banks join and leave the networks on banking days.
const LASTS: Duration = Duration::from_hours(1);
const MAX_KEPT: usize = 10_000;
/// How long a caller waits before the provider may tell.
const RETRY: Duration = Duration::from_secs(10);

/// What providers said about banks: by their address and the routing number.
#[derive(Debug, Default)]
pub(crate) struct InstantRails(Mutex<BTreeMap<(String, String), KeptAnswer>>);

#[derive(Debug, Clone, Copy)]
struct KeptAnswer {
    rail: Option<TransferRail>,
    until: Timestamp,
}

impl InstantRails {
    fn get(&self, key: &(String, String), now: Timestamp) -> Option<KeptAnswer> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).filter(|answer| now < answer.until).copied()
    }

    fn keep(&self, key: (String, String), rail: Option<TransferRail>, now: Timestamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.retain(|_, answer| now < answer.until);
        }
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(key, KeptAnswer { rail, until: now.saturating_add(LASTS) });
    }
}

impl Engine {
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
        let key = (entry.address().to_owned(), routing_number.expose().to_owned());
        let rail = if let Some(known) = self.instant_rails.get(&key, self.clock.now()) {
            known.rail
        } else {
            let call = provider.wire.instant_rail(entry, routing_number).await;
            self.note_calls(environment, &entry.name, None, &call.logs);
            let rail = call.outcome.map_err(|error| not_told(error, &entry.name))?;
            self.instant_rails.keep(key, rail, self.clock.now());
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
