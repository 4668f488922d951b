//! Applying a provider's event to the payment or transfer it is about.

use std::{sync::Arc, time::Duration};

use tollgate_domain::{PaymentMethod, Timestamp};
use tracing::warn;

use super::{dispute_list::LIST_KIND, notice_text, receive::UNREADABLE_KIND};
use crate::{
    backoff::exponential_backoff,
    engine::Engine,
    ports::{ProviderEventState, SettledProviderEvent, Stopped, StoreError, StoredProviderEvent},
};

/// An event may come before what it is about is known here; after so many looks it is about nothing of ours.
const UNMATCHED_TRIES: u32 = 3;
const MAX_PAUSE: Duration = Duration::from_mins(10);
/// Beyond this the event is left to the resolver's own looks at the payment, and parked for an operator to see.
const MAX_TRIES: u32 = 200;
/// An event that cannot be applied, whatever anybody does at the provider, is parked after so many tries.
const MAX_FAILED_TRIES: u32 = 6;

/// What became of an event.
pub(crate) enum EventOutcome {
    /// It is settled, in the same commit as what it led to.
    Done,
    /// It is about nothing known here, perhaps not yet.
    Unmatched,
    /// The provider says that it is about a payment that was not made here.
    Foreign,
    /// The provider could not be asked, and why.
    Waiting(String),
}

impl Engine {
    /// Applies an event; one that keeps failing is parked, so that an operator sees it and nothing is tried for ever.
    pub(crate) async fn apply_event_or_park(
        self: Arc<Self>,
        stored: StoredProviderEvent,
    ) -> Result<(), StoreError> {
        let engine = Arc::clone(&self);
        let copy = stored.clone();
        let why = match self.host.run(async move { engine.apply_event(copy).await }).await {
            Ok(Err(StoreError::Broken(reason))) => reason,
            Ok(outcome) => return outcome,
            Err(Stopped) => "stopped unexpectedly; see the log".to_owned(),
        };
        self.failed(&stored, &why).await
    }

    /// The event could not be applied, for a reason that does not lie at the provider.
    async fn failed(&self, stored: &StoredProviderEvent, why: &str) -> Result<(), StoreError> {
        let is_poison = stored.tries >= MAX_FAILED_TRIES;
        let state = if is_poison { ProviderEventState::Parked } else { ProviderEventState::Waiting };
        let (provider, event) = (&stored.event.provider, &stored.event.id);
        warn!(environment = %stored.environment, provider, event, why, parked = is_poison, "provider event not applied");
        let note = format!("cannot be applied: {why}").replace('\0', "\u{fffd}");
        self.set_aside(stored, state, &note).await
    }

    /// Applies an event once: what it leads to and that it is done with are committed together.
    async fn apply_event(&self, stored: StoredProviderEvent) -> Result<(), StoreError> {
        if stored.event.kind == LIST_KIND {
            let outcome = self.apply_dispute_list(&stored).await?;
            return self.settle_outcome(&stored, outcome).await;
        }
        if stored.event.kind == UNREADABLE_KIND {
            // Its body was not kept: there is nothing to try again.
            return self.set_aside(&stored, ProviderEventState::Parked, &stored.note).await;
        }
        let Some(notice) = notice_text::read(&stored.event.notice) else {
            // A node of the version that stored it can read it.
            return self.failed(&stored, "stored by an incompatible version").await;
        };
        let view = self.view(stored.environment);
        let providers = view.as_deref().map(|view| &view.configuration.providers);
        let provider = providers.and_then(|providers| providers.get(&stored.event.provider));
        let outcome = match (view.as_deref(), provider) {
            (Some(view), Some(provider)) if provider.adapter.method() == PaymentMethod::Ach => {
                self.apply_transfer_event(view, provider, &stored, &notice).await?
            }
            _ => self.apply_payment_event(&stored, &notice).await?,
        };
        self.settle_outcome(&stored, outcome).await
    }

    async fn settle_outcome(
        &self,
        stored: &StoredProviderEvent,
        outcome: EventOutcome,
    ) -> Result<(), StoreError> {
        let (state, note) = match outcome {
            EventOutcome::Done => return Ok(()),
            EventOutcome::Waiting(why) => (ProviderEventState::Waiting, why),
            EventOutcome::Unmatched if stored.tries < UNMATCHED_TRIES => {
                (ProviderEventState::Waiting, "no matching payment yet".to_owned())
            }
            EventOutcome::Foreign => {
                (ProviderEventState::Ignored, "about a payment that was not made here".to_owned())
            }
            EventOutcome::Unmatched => {
                (ProviderEventState::Ignored, "no matching payment in this environment".to_owned())
            }
        };
        self.set_aside(stored, state, &note).await
    }

    /// Leaves the payment as it is.
    async fn set_aside(
        &self,
        stored: &StoredProviderEvent,
        state: ProviderEventState,
        note: &str,
    ) -> Result<(), StoreError> {
        let given_up = state == ProviderEventState::Waiting && stored.tries >= MAX_TRIES;
        let state = if given_up { ProviderEventState::Parked } else { state };
        let due = (state == ProviderEventState::Waiting).then(|| {
            let first = self.options.resolver.first_retry;
            let pause = exponential_backoff(first, 2, stored.tries, MAX_PAUSE);
            self.clock.now().saturating_add(pause)
        });
        self.store.settle_provider_event(stored.environment, &settled(stored, state, due, note)).await?;
        Ok(())
    }
}

/// An event with its new state.
pub(crate) fn settled(
    stored: &StoredProviderEvent,
    state: ProviderEventState,
    due: Option<Timestamp>,
    note: &str,
) -> SettledProviderEvent {
    SettledProviderEvent { event: stored.event.clone(), state, due, note: note.to_owned() }
}
