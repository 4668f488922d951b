//! Applying a provider's event. The event is a hint: what counts is what the provider says when asked.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tollgate_domain::{
    Flow, PaymentMethod, Timestamp,
    card::{Occasion, Sighting, Standing, disagreements},
    id::{EnvironmentId, PaymentId},
    transaction::Status,
};

use tracing::warn;

use super::{
    CardProvider, MOST_ROUNDS,
    draft::Draft,
    look::{open_attempt, sent_to, subject},
    notice_text,
};
use crate::{
    ach::TransferEvent,
    engine::Engine,
    growing::growing,
    ports::{
        Call, CallError, CardPayment, Confirmation, EventState, Notice, RefusalKind, SettledEvent, Stopped,
        StoreError, StoredEvent, Subject,
    },
};

/// An event may come before what it is about is known here; after so many looks it is about nothing of ours.
const UNMATCHED_TRIES: u32 = 3;
const LONGEST_PAUSE: Duration = Duration::from_mins(10);
/// Beyond this the event is left to the resolver's own looks at the payment, and parked for an operator to see.
const MOST_TRIES: u32 = 200;
/// An event that cannot be applied, whatever anybody does at the provider, is parked after so many tries.
const MOST_FAILED_TRIES: u32 = 6;

impl Engine {
    /// Applies an event; one that keeps failing is parked, so that an operator sees it and nothing is tried for ever.
    pub(crate) async fn apply_event_or_park(self: Arc<Self>, stored: StoredEvent) -> Result<(), StoreError> {
        let engine = Arc::clone(&self);
        let copy = stored.clone();
        let why = match self.host.run(async move { engine.apply_event(copy).await }).await {
            Ok(Err(StoreError::Broken(reason))) => reason,
            Ok(outcome) => return outcome,
            Err(Stopped) => "it stopped unexpectedly; the log has more".to_owned(),
        };
        self.failed(&stored, &why).await
    }

    /// The event could not be applied, for a reason that does not lie at the provider.
    async fn failed(&self, stored: &StoredEvent, why: &str) -> Result<(), StoreError> {
        let is_poison = stored.tries >= MOST_FAILED_TRIES;
        let state = if is_poison { EventState::Parked } else { EventState::Waiting };
        let (provider, event) = (&stored.event.provider, &stored.event.id);
        warn!(environment = %stored.environment, provider, event, why, parked = is_poison, "an event cannot be applied");
        let note = format!("cannot be applied: {why}").replace('\0', "\u{fffd}");
        self.set_aside(stored, state, &note).await
    }

    /// Applies an event once: what it leads to and that it is done with are committed together.
    pub(crate) async fn apply_event(&self, stored: StoredEvent) -> Result<(), StoreError> {
        let environment = stored.environment;
        let Some(notice) = notice_text::read(&stored.event.notice) else {
            // A node of the version that stored it can read it.
            return self.failed(&stored, "it was stored by another version").await;
        };
        let view = self.view(environment);
        let providers = view.as_deref().map(|view| &view.configuration.providers);
        let provider = providers.and_then(|providers| providers.get(&stored.event.provider));
        if let (Some(view), Some(provider)) = (view.as_deref(), provider)
            && provider.adapter.method() == PaymentMethod::Ach
        {
            return match self.apply_transfer_event(view, provider, &stored, &notice).await? {
                TransferEvent::Done => Ok(()),
                TransferEvent::Unmatched => self.unmatched(&stored).await,
                TransferEvent::Waiting(why) => self.set_aside(&stored, EventState::Waiting, &why).await,
            };
        }
        let Some(id) = self.payment_of(environment, &stored.event.provider, &notice).await? else {
            if stored.tries < UNMATCHED_TRIES {
                return self
                    .set_aside(&stored, EventState::Waiting, "is about no payment known here yet")
                    .await;
            }
            return self
                .set_aside(&stored, EventState::Ignored, "is about no payment of this environment")
                .await;
        };
        for _ in 0..MOST_ROUNDS {
            let Some(payment) = self.store.payment(environment, id).await? else {
                return self
                    .set_aside(&stored, EventState::Ignored, "is about no payment of this environment")
                    .await;
            };
            if self.apply_to(payment, &stored, &notice).await? {
                return Ok(());
            }
        }
        Err(StoreError::Unavailable("too many others were changing this payment".to_owned()))
    }

    /// It may come before what it is about is known here.
    async fn unmatched(&self, stored: &StoredEvent) -> Result<(), StoreError> {
        let (state, note) = if stored.tries < UNMATCHED_TRIES {
            (EventState::Waiting, "is about no payment known here yet")
        } else {
            (EventState::Ignored, "is about no payment of this environment")
        };
        self.set_aside(stored, state, note).await
    }

    /// One round: `false` where the payment changed meanwhile.
    async fn apply_to(
        &self,
        payment: CardPayment,
        stored: &StoredEvent,
        notice: &Notice,
    ) -> Result<bool, StoreError> {
        let order = payment.order.clone();
        let claimed =
            disagreements(&order, notice.amount, notice.currency.as_deref(), notice.reference.as_deref());
        let mut draft = Draft::of(self, payment, Some(&stored.event.request));
        if !claimed.is_empty() {
            draft.disagree(claimed, &notice.event);
            return self.finish(draft, stored, notice, "disagrees with the payment; see the exception").await;
        }
        let view = self.view(stored.environment);
        let provider = view.as_deref().map(|view| self.provider_of_order(view, &order));
        let Some(Ok(provider)) = provider else {
            let note = "waits: the payment's provider is not configured";
            self.set_aside(stored, EventState::Waiting, note).await?;
            return Ok(true);
        };
        let check = self.check_account(stored.environment, sent_to(draft.payment()), provider.provider);
        if check.is_unreachable() {
            let note = format!("waits: {}", check.trouble().reason);
            self.set_aside(stored, EventState::Waiting, &note).await?;
            return Ok(true);
        }
        let Some(call) = self.read_for(&provider, draft.payment(), notice).await else {
            return self.finish(draft, stored, notice, "there is nothing to read at the provider").await;
        };
        draft.called(&call.logs);
        match call.outcome {
            Ok(sighting) => {
                take_in(&mut draft, &sighting, notice, provider.cards.confirmation());
                if let Some(news) = notice.dispute.clone() {
                    let call = self.current_dispute(&provider, draft.payment(), Some(&news.id)).await;
                    let current = call.and_then(|call| {
                        draft.called(&call.logs);
                        call.outcome.ok().flatten()
                    });
                    // The provider's word goes before the event's, which may be late.
                    draft.dispute(current.unwrap_or(news));
                }
                draft.look_later();
                self.finish(draft, stored, notice, "").await
            }
            // Until somebody corrects the credentials; what the event told of must not be lost meanwhile.
            Err(CallError::Refused(refusal)) if refusal.kind == RefusalKind::Credentials => {
                let note = format!("waits for the provider: {}", refusal.failure.code);
                self.set_aside(stored, EventState::Waiting, &note).await?;
                Ok(true)
            }
            // Another account does not show the payment, which says nothing about it.
            Err(CallError::Refused(_)) if !check.is_unchanged() => {
                let note = format!("waits: {}", check.trouble().reason);
                self.set_aside(stored, EventState::Waiting, &note).await?;
                Ok(true)
            }
            Err(CallError::Refused(refusal)) => {
                let note = format!("the provider does not show the payment: {}", refusal.failure.code);
                self.finish(draft, stored, notice, &note).await
            }
            Err(CallError::Unsent(trouble) | CallError::Unknown(trouble)) => {
                let note = format!("waits for the provider: {}", trouble.reason);
                self.set_aside(stored, EventState::Waiting, &note).await?;
                Ok(true)
            }
        }
    }

    /// Asks the provider about what the event is about.
    async fn read_for(
        &self,
        provider: &CardProvider<'_>,
        payment: &CardPayment,
        notice: &Notice,
    ) -> Option<Call<Sighting>> {
        let told = notice.payment.as_deref().map(Subject::Payment);
        let subject = told.or_else(|| subject(payment, provider.cards.confirmation()))?;
        Some(provider.cards.read(provider.provider, &payment.order, subject).await)
    }

    async fn payment_of(
        &self,
        environment: EnvironmentId,
        provider: &str,
        notice: &Notice,
    ) -> Result<Option<PaymentId>, StoreError> {
        for object in &notice.objects {
            if let Some(id) = self.store.payment_of_object(environment, provider, object).await? {
                return Ok(Some(id));
            }
        }
        let referred = notice.reference.as_deref().and_then(|reference| reference.parse().ok());
        let Some(id) = referred else { return Ok(None) };
        let payment = self.store.payment(environment, id).await?;
        Ok(payment.filter(|payment| payment.order.provider == provider).map(|payment| payment.order.id))
    }

    async fn finish(
        &self,
        mut draft: Draft<'_>,
        stored: &StoredEvent,
        notice: &Notice,
        note: &str,
    ) -> Result<bool, StoreError> {
        let detail = json!({
            "provider": stored.event.provider,
            "eventId": notice.event,
            "type": notice.kind,
            "note": if note.is_empty() { None } else { Some(note) },
        });
        draft.line("webhook", detail);
        draft.settle(settled(stored, EventState::Applied, None, note));
        Ok(draft.commit().await?.is_some())
    }

    /// Leaves the payment as it is.
    async fn set_aside(&self, stored: &StoredEvent, state: EventState, note: &str) -> Result<(), StoreError> {
        let given_up = state == EventState::Waiting && stored.tries >= MOST_TRIES;
        let state = if given_up { EventState::Parked } else { state };
        let due = (state == EventState::Waiting).then(|| {
            let first = self.options.resolver.first_retry;
            let pause = growing(first, 2, stored.tries, LONGEST_PAUSE);
            self.clock.now().saturating_add(pause)
        });
        self.store.settle_event(stored.environment, &settled(stored, state, due, note)).await?;
        Ok(())
    }
}

fn settled(stored: &StoredEvent, state: EventState, due: Option<Timestamp>, note: &str) -> SettledEvent {
    let (provider, id) = (stored.event.provider.clone(), stored.event.id.clone());
    SettledEvent { provider, id, state, due, note: note.to_owned() }
}

fn take_in(draft: &mut Draft<'_>, sighting: &Sighting, notice: &Notice, confirmation: Confirmation) {
    let payment = draft.payment();
    let is_charging = confirmation == Confirmation::Charge && open_attempt(payment).is_some();
    let on_our_word = confirmation == Confirmation::Charge && payment.order.flow == Flow::PaymentComponent;
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    let declined = matches!(sighting.standing, Standing::Failed(_));
    // The charge's own answer tells of its decline. One told by an event may be an earlier attempt's, come late.
    let is_old_news = declined && (is_charging || (on_our_word && status == Some(Status::Failed)));
    if !is_old_news {
        let claims = (sighting.amount, sighting.currency.as_deref(), sighting.reference.as_deref());
        let is_ours = disagreements(&draft.payment().order, claims.0, claims.1, claims.2).is_empty();
        if is_charging && is_ours {
            draft.charge_seen(sighting, Occasion::Notice, &notice.event);
        } else {
            draft.sight(sighting, Occasion::Notice, &notice.event);
        }
    }
}
