//! Applying a provider's event about a card payment.

use serde_json::json;
use tollgate_domain::{
    Flow,
    card::{CardOrder, Discrepancy, DiscrepancyKind, ProviderReport, ProviderStatus, Trigger, discrepancies},
    id::{EnvironmentId, PaymentId},
    transaction::Status,
};

use super::{
    CardProvider, MAX_ROUNDS,
    at_provider::{open_attempt, sent_to, subject},
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    ports::{
        Call, CallError, CallLog, CardPayment, Confirmation, ProviderEventState, Reading, RejectionKind,
        StoreError, StoredProviderEvent, Subject, WebhookNotice,
    },
    webhook::{EventOutcome, settled},
};

impl Engine {
    pub(crate) async fn apply_payment_event(
        &self,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
    ) -> Result<EventOutcome, StoreError> {
        let environment = stored.environment;
        let provider = &stored.event.provider;
        let known = self.payment_of(environment, provider, notice).await?;
        let (id, notice, logs) = match (known, &notice.names_only) {
            (Some(id), _) => (id, notice.clone(), Vec::new()),
            (None, None) => return Ok(EventOutcome::Unmatched),
            (None, Some(object)) => {
                let (notice, logs) = match self.identify(stored, notice, object).await {
                    Ok(identified) => identified,
                    Err(outcome) => return Ok(outcome),
                };
                let Some(id) = self.payment_of(environment, provider, &notice).await? else {
                    // Everything that is made here carries our reference.
                    let is_ours = notice.reference.is_some();
                    return Ok(if is_ours { EventOutcome::Unmatched } else { EventOutcome::Foreign });
                };
                (id, notice, logs)
            }
        };
        for _ in 0..MAX_ROUNDS {
            let Some(payment) = self.store.payment(environment, id).await? else {
                return Ok(EventOutcome::Unmatched);
            };
            if let Some(outcome) = Box::pin(self.apply_to(payment, stored, &notice, &logs)).await? {
                return Ok(outcome);
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this payment".to_owned()))
    }

    /// Asks the provider which payment an event is about that names an object and nothing else.
    async fn identify(
        &self,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
        object: &str,
    ) -> Result<(WebhookNotice, Vec<CallLog>), EventOutcome> {
        let name = &stored.event.provider;
        let view = self.view(stored.environment);
        let Some(Ok(provider)) = view.as_deref().map(|view| self.card_provider(view, name)) else {
            return Err(EventOutcome::Waiting("waiting: the provider is not configured".to_owned()));
        };
        let Call { outcome, logs } = provider.cards.identify(provider.provider, object).await;
        let identified = match outcome {
            // The configuration may hold another account's key for a while.
            Ok(identified) => identified.ok_or(EventOutcome::Unmatched)?,
            Err(error) => {
                self.note_calls(stored.environment, name, None, &logs);
                return Err(match error {
                    CallError::Rejected(rejection) if rejection.kind != RejectionKind::Credentials => {
                        EventOutcome::Unmatched
                    }
                    CallError::Rejected(rejection) => {
                        EventOutcome::Waiting(format!("waiting for the provider: {}", rejection.summary()))
                    }
                    CallError::Unsent(transient) | CallError::Unknown(transient) => {
                        EventOutcome::Waiting(format!("waiting for the provider: {}", transient.reason))
                    }
                });
            }
        };
        let notice = WebhookNotice {
            objects: identified.payment.iter().cloned().collect(),
            payment: identified.payment,
            reference: identified.reference,
            dispute: identified.dispute,
            ..notice.clone()
        };
        Ok((notice, logs))
    }

    /// One round: `None` if the payment changed meanwhile.
    async fn apply_to(
        &self,
        payment: CardPayment,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
        logs: &[CallLog],
    ) -> Result<Option<EventOutcome>, StoreError> {
        let waiting = |why: String| Ok(Some(EventOutcome::Waiting(why)));
        if payment.order.provider != stored.event.provider {
            return self.apply_to_left(payment, stored, notice).await;
        }
        let order = payment.order.clone();
        let mut update = PaymentUpdate::of(self, payment, Some(&stored.event.request));
        update.record_calls(logs);
        let view = self.view(stored.environment);
        let provider = view.as_deref().map(|view| self.provider_of_order(view, &order));
        let Some(Ok(provider)) = provider else {
            return waiting("waiting: the payment's provider is not configured".to_owned());
        };
        let check = self.check_account(stored.environment, sent_to(update.payment()), provider.provider);
        if check.is_unreachable() {
            return waiting(format!("waiting: {}", check.transient_error().reason));
        }
        if let Some(signed) = &notice.signed {
            return self.apply_signed(update, stored, notice, signed).await;
        }
        let Some(call) = self.read_for(&provider, update.payment(), notice).await? else {
            return self.finish(update, stored, notice, "nothing to read at the provider").await;
        };
        update.record_calls(&call.logs);
        match call.outcome {
            // An event's own amounts may be in the buyer's currency, or a part of the payment's: what is read is compared.
            Ok(Reading::CannotBeAsked(_)) => {
                self.finish(update, stored, notice, "the provider cannot be asked about it").await
            }
            Ok(Reading::Report(report)) => {
                take_in(&mut update, &report, notice, provider.confirmation());
                if let Some(news) = notice.dispute.clone() {
                    let call = self.current_dispute(&provider, update.payment(), Some(&news.id)).await;
                    let current = call.and_then(|call| {
                        update.record_calls(&call.logs);
                        call.outcome.ok().flatten()
                    });
                    // The provider's word goes before the event's, which may be late.
                    update.dispute(current.unwrap_or(news), "webhook");
                }
                update.schedule_next_check();
                self.finish(update, stored, notice, "").await
            }
            // Until somebody corrects the credentials; what the event told of must not be lost meanwhile.
            Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
                waiting(format!("waiting for the provider: {}", rejection.summary()))
            }
            // Another account does not show the payment, which says nothing about it.
            Err(CallError::Rejected(_)) if !check.is_unchanged() => {
                waiting(format!("waiting: {}", check.transient_error().reason))
            }
            Err(CallError::Rejected(rejection)) => {
                let note = format!("the provider does not return the payment: {}", rejection.summary());
                self.finish(update, stored, notice, &note).await
            }
            Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
                waiting(format!("waiting for the provider: {}", transient.reason))
            }
        }
    }

    /// Asks the provider about what the event is about.
    async fn read_for(
        &self,
        provider: &CardProvider<'_>,
        payment: &CardPayment,
        notice: &WebhookNotice,
    ) -> Result<Option<Call<Reading>>, StoreError> {
        if let Some(id) = notice.payment.as_deref() {
            let call = provider.cards.read(provider.provider, &payment.order, Subject::Payment(id)).await;
            return Ok(Some(call));
        }
        match subject(payment, provider.confirmation()) {
            Some(subject) => self.read_payment(provider, payment, subject).await.map(Some),
            None => Ok(None),
        }
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
        let is_its = |payment: &CardPayment| {
            payment.order.provider == provider || payment.order.route.has_tried(provider)
        };
        Ok(payment.filter(is_its).map(|payment| payment.order.id))
    }

    /// Whether nothing was paid at a provider that the payment was switched away from: what was withdrawn or declined there is
    /// reported by events, too. `Err` says why that is not known yet.
    async fn is_over_at(
        &self,
        payment: &CardPayment,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
    ) -> Result<bool, String> {
        if let Some(signed) = &notice.signed {
            return Ok(signed.step.is_end());
        }
        let name = &stored.event.provider;
        let view = self.view(stored.environment);
        let Some(Ok(provider)) = view.as_deref().map(|view| self.card_provider(view, name)) else {
            return Err("waiting: the provider is not configured".to_owned());
        };
        let subject = match (&notice.payment, notice.objects.first()) {
            (Some(payment), _) => Subject::Payment(payment),
            (None, Some(object)) => Subject::Object(object),
            (None, None) => return Ok(false),
        };
        let order = CardOrder { provider: name.clone(), ..payment.order.clone() };
        let Call { outcome, logs } = provider.cards.read(provider.provider, &order, subject).await;
        self.note_calls(stored.environment, name, Some(order.id.to_bytes()), &logs);
        match outcome {
            Ok(Reading::Report(report)) => Ok(!report.provider_status.is_under_way()),
            Ok(Reading::CannotBeAsked(_)) => Ok(false),
            Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Missing => Ok(true),
            Err(error) => Err(format!("waiting for the provider: {}", error.into_transient().reason)),
        }
    }

    /// An event of a provider that the payment has left, which was proven to have nothing of it: an operator looks at what it
    /// has after all.
    async fn apply_to_left(
        &self,
        payment: CardPayment,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
    ) -> Result<Option<EventOutcome>, StoreError> {
        let left = &stored.event.provider;
        let mut update = PaymentUpdate::of(self, payment, Some(&stored.event.request));
        if update.payment().order.route.was_declined_at(left) {
            match self.is_over_at(update.payment(), stored, notice).await {
                Err(why) => return Ok(Some(EventOutcome::Waiting(why))),
                Ok(true) => return self.finish(update, stored, notice, "switched to another provider").await,
                Ok(false) => {}
            }
        }
        let object = notice.objects.first().cloned().unwrap_or_default();
        let discrepancy = Discrepancy {
            kind: DiscrepancyKind::Reference,
            expected: format!("the payment at {} only", update.payment().order.provider),
            found: format!("{} about {object} at {left}", notice.kind),
        };
        update.record_discrepancies(vec![discrepancy], &notice.event);
        self.finish(update, stored, notice, "the payment is at another provider").await
    }

    pub(super) async fn finish(
        &self,
        mut update: PaymentUpdate<'_>,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
        note: &str,
    ) -> Result<Option<EventOutcome>, StoreError> {
        let detail = json!({
            "provider": stored.event.provider,
            "eventId": notice.event,
            "type": notice.kind,
            "note": if note.is_empty() { None } else { Some(note) },
            "signed": notice.signed.as_ref().map(|_| true),
        });
        update.line("webhook", detail);
        update.settle(settled(stored, ProviderEventState::Applied, None, note));
        Ok(update.commit().await?.map(|_| EventOutcome::Done))
    }
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
        let payment = update.payment();
        let card_fee = payment.progress.card_fee.as_deref();
        let is_ours = discrepancies(&payment.order, card_fee, claims.0, claims.1, claims.2).is_empty();
        if is_charging && is_ours {
            update.apply_charge_report(report, Trigger::Other, &notice.event);
        } else {
            update.apply_report(report, Trigger::Other, &notice.event);
        }
        if is_ours {
            // One of several payments for the same order: later events about it belong to this payment.
            update.objects(notice.payment.clone());
        }
    }
}
