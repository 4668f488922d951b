//! Applying a provider's event. The event is a hint: what counts is what the provider says when asked.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tollgate_domain::{
    Flow, PaymentMethod, Timestamp,
    card::{ProviderReport, ProviderStatus, Trigger, discrepancies},
    id::{EnvironmentId, PaymentId},
    transaction::Status,
};

use tracing::warn;

use super::{
    CardProvider, MAX_ROUNDS, notice_text,
    provider_report::{open_attempt, sent_to, subject},
    update::PaymentUpdate,
};
use crate::{
    ach::TransferEvent,
    backoff::exponential_backoff,
    engine::Engine,
    ports::{
        Call, CallError, CardPayment, Confirmation, ProviderEventState, RejectionKind, SettledProviderEvent,
        Stopped, StoreError, StoredProviderEvent, Subject, WebhookNotice,
    },
};

/// An event may come before what it is about is known here; after so many looks it is about nothing of ours.
const UNMATCHED_TRIES: u32 = 3;
const MAX_PAUSE: Duration = Duration::from_mins(10);
/// Beyond this the event is left to the resolver's own looks at the payment, and parked for an operator to see.
const MAX_TRIES: u32 = 200;
/// An event that cannot be applied, whatever anybody does at the provider, is parked after so many tries.
const MAX_FAILED_TRIES: u32 = 6;

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
    pub(crate) async fn apply_event(&self, stored: StoredProviderEvent) -> Result<(), StoreError> {
        let environment = stored.environment;
        let Some(notice) = notice_text::read(&stored.event.notice) else {
            // A node of the version that stored it can read it.
            return self.failed(&stored, "stored by an incompatible version").await;
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
                TransferEvent::Waiting(why) => {
                    self.set_aside(&stored, ProviderEventState::Waiting, &why).await
                }
            };
        }
        let Some(id) = self.payment_of(environment, &stored.event.provider, &notice).await? else {
            if stored.tries < UNMATCHED_TRIES {
                return self.set_aside(&stored, ProviderEventState::Waiting, "no matching payment yet").await;
            }
            return self
                .set_aside(&stored, ProviderEventState::Ignored, "no matching payment in this environment")
                .await;
        };
        for _ in 0..MAX_ROUNDS {
            let Some(payment) = self.store.payment(environment, id).await? else {
                return self
                    .set_aside(
                        &stored,
                        ProviderEventState::Ignored,
                        "no matching payment in this environment",
                    )
                    .await;
            };
            if self.apply_to(payment, &stored, &notice).await? {
                return Ok(());
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this payment".to_owned()))
    }

    /// It may come before what it is about is known here.
    async fn unmatched(&self, stored: &StoredProviderEvent) -> Result<(), StoreError> {
        let (state, note) = if stored.tries < UNMATCHED_TRIES {
            (ProviderEventState::Waiting, "no matching payment yet")
        } else {
            (ProviderEventState::Ignored, "no matching payment in this environment")
        };
        self.set_aside(stored, state, note).await
    }

    /// One round: `false` if the payment changed meanwhile.
    async fn apply_to(
        &self,
        payment: CardPayment,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
    ) -> Result<bool, StoreError> {
        let order = payment.order.clone();
        let claimed =
            discrepancies(&order, notice.amount, notice.currency.as_deref(), notice.reference.as_deref());
        let mut update = PaymentUpdate::of(self, payment, Some(&stored.event.request));
        if !claimed.is_empty() {
            update.record_discrepancies(claimed, &notice.event);
            return self
                .finish(update, stored, notice, "does not match the payment; see the exception")
                .await;
        }
        let view = self.view(stored.environment);
        let provider = view.as_deref().map(|view| self.provider_of_order(view, &order));
        let Some(Ok(provider)) = provider else {
            let note = "waiting: the payment's provider is not configured";
            self.set_aside(stored, ProviderEventState::Waiting, note).await?;
            return Ok(true);
        };
        let check = self.check_account(stored.environment, sent_to(update.payment()), provider.provider);
        if check.is_unreachable() {
            let note = format!("waiting: {}", check.transient_error().reason);
            self.set_aside(stored, ProviderEventState::Waiting, &note).await?;
            return Ok(true);
        }
        let Some(call) = self.read_for(&provider, update.payment(), notice).await else {
            return self.finish(update, stored, notice, "nothing to read at the provider").await;
        };
        update.record_calls(&call.logs);
        match call.outcome {
            Ok(report) => {
                take_in(&mut update, &report, notice, provider.cards.confirmation());
                if let Some(news) = notice.dispute.clone() {
                    let call = self.current_dispute(&provider, update.payment(), Some(&news.id)).await;
                    let current = call.and_then(|call| {
                        update.record_calls(&call.logs);
                        call.outcome.ok().flatten()
                    });
                    // The provider's word goes before the event's, which may be late.
                    update.dispute(current.unwrap_or(news));
                }
                update.schedule_next_check();
                self.finish(update, stored, notice, "").await
            }
            // Until somebody corrects the credentials; what the event told of must not be lost meanwhile.
            Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
                let note = format!("waiting for the provider: {}", rejection.failure.code);
                self.set_aside(stored, ProviderEventState::Waiting, &note).await?;
                Ok(true)
            }
            // Another account does not show the payment, which says nothing about it.
            Err(CallError::Rejected(_)) if !check.is_unchanged() => {
                let note = format!("waits: {}", check.transient_error().reason);
                self.set_aside(stored, ProviderEventState::Waiting, &note).await?;
                Ok(true)
            }
            Err(CallError::Rejected(rejection)) => {
                let note = format!("the provider does not return the payment: {}", rejection.failure.code);
                self.finish(update, stored, notice, &note).await
            }
            Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
                let note = format!("waiting for the provider: {}", transient.reason);
                self.set_aside(stored, ProviderEventState::Waiting, &note).await?;
                Ok(true)
            }
        }
    }

    /// Asks the provider about what the event is about.
    async fn read_for(
        &self,
        provider: &CardProvider<'_>,
        payment: &CardPayment,
        notice: &WebhookNotice,
    ) -> Option<Call<ProviderReport>> {
        let told = notice.payment.as_deref().map(Subject::Payment);
        let subject = told.or_else(|| subject(payment, provider.cards.confirmation()))?;
        Some(provider.cards.read(provider.provider, &payment.order, subject).await)
    }

    async fn payment_of(
        &self,
        environment: EnvironmentId,
        provider: &str,
        notice: &WebhookNotice,
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
        mut update: PaymentUpdate<'_>,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
        note: &str,
    ) -> Result<bool, StoreError> {
        let detail = json!({
            "provider": stored.event.provider,
            "eventId": notice.event,
            "type": notice.kind,
            "note": if note.is_empty() { None } else { Some(note) },
        });
        update.line("webhook", detail);
        update.settle(settled(stored, ProviderEventState::Applied, None, note));
        Ok(update.commit().await?.is_some())
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

fn settled(
    stored: &StoredProviderEvent,
    state: ProviderEventState,
    due: Option<Timestamp>,
    note: &str,
) -> SettledProviderEvent {
    let (provider, id) = (stored.event.provider.clone(), stored.event.id.clone());
    SettledProviderEvent { provider, id, state, due, note: note.to_owned() }
}

fn take_in(
    update: &mut PaymentUpdate<'_>,
    report: &ProviderReport,
    notice: &WebhookNotice,
    confirmation: Confirmation,
) {
    let payment = update.payment();
    let is_charging = confirmation == Confirmation::Charge && open_attempt(payment).is_some();
    let on_our_word = confirmation == Confirmation::Charge && payment.order.flow == Flow::PaymentComponent;
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    let declined = matches!(report.provider_status, ProviderStatus::Failed(_));
    // The charge's own answer tells of its decline. One told by an event may be an earlier attempt's, come late.
    let is_old_news = declined && (is_charging || (on_our_word && status == Some(Status::Failed)));
    if !is_old_news {
        let claims = (report.amount, report.currency.as_deref(), report.reference.as_deref());
        let is_ours = discrepancies(&update.payment().order, claims.0, claims.1, claims.2).is_empty();
        if is_charging && is_ours {
            update.apply_charge_report(report, Trigger::Other, &notice.event);
        } else {
            update.apply_report(report, Trigger::Other, &notice.event);
        }
    }
}
