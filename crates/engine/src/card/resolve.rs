//! Looking after payments whose outcome is unknown, whose webhook never came, or that nobody paid.

use std::time::Duration;

use tollgate_domain::{
    Timestamp,
    card::{Attempt, AttemptState, Preparation, ProviderReport, ProviderStatus, Trigger},
    id::{EnvironmentId, PaymentId},
    transaction::{Failure, Status, TransactionState},
};

use super::{
    CardProvider, Charging, MAX_ROUNDS,
    at_provider::{open_attempt, open_hold_action, open_refunds, sent_to, subject},
    card_fee::with_terms,
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    ports::{
        Call, CallError, CallLog, CardPayment, Reading, Rejection, RejectionKind, StoreError, Subject,
        TransientError,
    },
    provider_account::AccountCheck,
};

/// As long as a provider surely remembers the key of a charge. Later, the charge is looked for instead of repeated.
const KEY_TRUSTED: Duration = Duration::from_hours(1);
/// How long a provider may take to carry out a charge and list it. Until then, that it is not listed says nothing.
const LISTED_AFTER: Duration = Duration::from_mins(2);
/// How much clocks may differ between here and a provider.
const CLOCK_SKEW_MILLIS: i64 = 5 * 60 * 1_000;

impl Engine {
    /// Resolves one payment once. If it changed meanwhile, the concurrent change wins.
    pub(crate) async fn resolve_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<(), StoreError> {
        let Some(payment) = self.store.payment(environment, id).await? else { return Ok(()) };
        let view = self.view(environment);
        let found = view.as_deref().map(|view| self.provider_of_order(view, &payment.order));
        let (Some(view), Some(Ok(provider))) = (view.as_deref(), found) else {
            let provider = &payment.order.provider;
            let reason = format!("the provider {provider} is not fully configured");
            let mut update = PaymentUpdate::of(self, payment, None);
            update.try_again(&TransientError { reason, retry_after: None });
            update.commit().await?;
            return Ok(());
        };
        let check = self.check_account(environment, sent_to(&payment), provider.provider);
        if check.is_unreachable() {
            return self.hold_payment(payment, &check, &[]).await;
        }
        let expires = self.clock.now() >= payment.order.expires_at && can_expire(&payment);
        let is_preparing = payment.progress.preparation == Preparation::Preparing;
        let as_prepared;
        let provider = if is_preparing || expires {
            as_prepared = self.provider_as_prepared(view, provider.provider, &payment.order).await?;
            CardProvider { provider: &as_prepared, cards: provider.cards }
        } else {
            provider
        };
        if is_preparing && payment.order.route.was_switched() {
            return Box::pin(self.resume_switch(&provider, payment, &check)).await;
        }
        if is_preparing {
            return self.take_back(&provider, payment, &check).await;
        }
        if let Some(attempt) = open_attempt(&payment).cloned() {
            return self.finish_charge(&provider, payment, &attempt, &check).await;
        }
        if expires {
            return self.expire(&provider, payment, &check).await;
        }
        if let Some(action) = open_hold_action(&payment).filter(|_| is_held(&payment)).cloned() {
            return self.resolve_hold_action(&provider, payment, &action, &check).await;
        }
        if open_refunds(&payment).next().is_some() {
            return self.resolve_refunds(&provider, payment, &check).await;
        }
        self.refresh_from_provider(&provider, payment, &check).await
    }

    pub(super) async fn hold_payment(
        &self,
        payment: CardPayment,
        check: &AccountCheck,
        logs: &[CallLog],
    ) -> Result<(), StoreError> {
        let mut update = PaymentUpdate::of(self, payment, None);
        update.record_calls(logs);
        update.wait_for_account(check);
        update.commit().await?;
        Ok(())
    }

    /// A preparation whose answer was lost: nobody was told of it, so nobody may be able to pay it. One that was switched ends
    /// as its caller knows it.
    pub(super) async fn take_back(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let mut payment = payment;
        let was_switched = payment.order.route.was_switched();
        let end = if was_switched { Preparation::Expired } else { Preparation::Withdrawn };
        let Some(preparing) = provider.preparing(payment.order.flow) else {
            // It came here from another provider, which has nothing of it; this one was never asked.
            let mut update = PaymentUpdate::of(self, payment, None);
            update.preparation(end, None);
            update.schedule_next_check();
            update.commit().await?;
            return Ok(());
        };
        if payment.progress.object.is_none() {
            if !check.is_same(|| provider.can_access_account(self, check)).await {
                return self.hold_payment(payment, check, &[]).await;
            }
            let call = preparing.prepare(provider.provider, &payment.order).await;
            let mut update = PaymentUpdate::of(self, payment, None);
            update.record_calls(&call.logs);
            let made = match call.outcome {
                Ok(prepared) => {
                    update.progress().object = Some(prepared.object.clone());
                    update.objects([prepared.object].into_iter().chain(prepared.also));
                    update.lease();
                    true
                }
                // That we are not let in says nothing about what was made when we were.
                Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
                    update.try_again(&in_doubt(&rejection));
                    false
                }
                Err(CallError::Rejected(rejection)) => {
                    update.preparation(Preparation::Refused, Some(&rejection.failure));
                    update.schedule_next_check();
                    false
                }
                Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
                    update.try_again(&transient);
                    false
                }
            };
            match update.commit().await? {
                Some(recorded) if made => payment = recorded,
                _ => return Ok(()),
            }
        }
        self.withdraw(provider, payment, end, check).await
    }

    /// Nobody paid in time.
    async fn expire(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        if payment.progress.object.is_some() {
            return self.withdraw(provider, payment, Preparation::Expired, check).await;
        }
        let mut update = PaymentUpdate::of(self, payment, None);
        end(&mut update, Preparation::Expired, None);
        update.schedule_next_check();
        update.commit().await?;
        Ok(())
    }

    /// Takes back what the provider has; where it was paid after all, that is the truth.
    async fn withdraw(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        end: Preparation,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let (environment, id) = (payment.order.environment, payment.order.id);
        let object = payment.progress.object.clone().unwrap_or_default();
        let call = provider.cards.withdraw(provider.provider, &payment.order, &object).await;
        let call = self.or_by_other_names(provider, &payment, call).await?;
        if shows_nothing(&call) && !check.is_same(|| provider.can_access_account(self, check)).await {
            return self.hold_payment(payment, check, &call.logs).await;
        }
        let (began, mut seen) = (payment.progress.preparation, payment);
        for _ in 0..MAX_ROUNDS {
            // The provider's webhook that it is closed can be faster than its answer; that we asked is still recorded.
            let is_ended = seen.progress.preparation != began;
            let mut update = PaymentUpdate::of(self, seen, None);
            update.record_calls(&call.logs);
            if !is_ended {
                note_withdrawal(&mut update, &call.outcome, end);
            }
            if update.commit().await?.is_some() {
                break;
            }
            let Some(again) = self.store.payment(environment, id).await? else { break };
            seen = again;
        }
        Ok(())
    }

    /// A charge whose answer was lost: asked for again under its own key while the provider surely remembers that, and
    /// looked for afterwards.
    async fn finish_charge(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        attempt: &Attempt,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let Some(charging) = provider.charging() else {
            let reason = "the adapter cannot be asked about charges anymore".to_owned();
            let mut update = PaymentUpdate::of(self, payment, None);
            update.try_again(&TransientError { reason, retry_after: None });
            update.commit().await?;
            return Ok(());
        };
        let now = self.clock.now();
        let charge = self.open_source(&payment.order, attempt);
        let charge = charge.and_then(|charge| with_terms(charge, &payment));
        let is_same = check.is_same(|| provider.can_access_account(self, check)).await;
        let key_is_trusted = is_same && now < attempt.created_at.saturating_add(KEY_TRUSTED);
        // It may never have been sent, and nothing is charged anymore once it has expired.
        let is_late = now >= payment.order.expires_at;
        let mut logs = Vec::new();
        if let Some(charge) = charge.filter(|_| key_is_trusted && !is_late) {
            let mut call = charging.charge(provider.provider, &payment.order, &charge).await;
            if !is_key_used(&call.outcome) {
                call.outcome = call.outcome.map_err(after_a_lost_answer);
                self.record_charge(payment, attempt.number, &call, None).await?;
                return Ok(());
            }
            logs = call.logs;
        }
        // It may have been sent again until then, by any node.
        let last_sent = attempt.created_at.saturating_add(KEY_TRUSTED).min(payment.order.expires_at);
        let last_sent = last_sent.max(attempt.created_at);
        let is_listed = self.may_conclude() && now >= last_sent.saturating_add(LISTED_AFTER);
        let sent = payment.attempts.iter().filter(|known| known.state != AttemptState::Unsent);
        let is_only_charge = sent.count() == 1;
        let from = Timestamp::from_unix_millis(attempt.created_at.unix_millis() - CLOCK_SKEW_MILLIS);
        let mut call = match charging {
            Charging::Source(cards) => cards.find_charge(provider.provider, &payment.order, from, now).await,
            Charging::Token(_) => charge_on_object(provider, &payment).await,
        };
        call.logs.splice(0..0, logs);
        if !is_same && matches!(call.outcome, Ok(None)) {
            return self.hold_payment(payment, check, &call.logs).await;
        }
        let mut update = PaymentUpdate::of(self, payment, None);
        update.record_calls(&call.logs);
        match call.outcome {
            Ok(Some(report))
                if !matches!(report.provider_status, ProviderStatus::Failed(_))
                    || is_only_charge
                    || is_listed =>
            {
                update.apply_charge_report(&report, Trigger::Other, "resolver");
                update.schedule_next_check();
            }
            // What failed may be an earlier attempt.
            Ok(_) if !is_listed => {
                let reason = "the provider does not list the charge yet".to_owned();
                update.try_again(&TransientError { reason, retry_after: None });
            }
            Ok(_) => {
                update.close_attempt(AttemptState::Declined);
                update.charge_failed(Failure {
                    code: "not_charged".to_owned(),
                    message: "The charge never reached the provider; try the card again.".to_owned(),
                });
                update.schedule_next_check();
            }
            Err(CallError::Rejected(rejection)) => {
                let reason = format!("the provider does not list payments: {}", rejection.failure.message);
                update.try_again(&TransientError { reason, retry_after: None });
            }
            Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => update.try_again(&transient),
        }
        update.commit().await?;
        Ok(())
    }

    /// Reads a payment from its provider and applies the report.
    async fn refresh_from_provider(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let call: Option<Call<_>> = match subject(&payment, provider.confirmation()) {
            Some(subject) => Some(self.read_payment(provider, &payment, subject).await?),
            None => None,
        };
        if call.as_ref().is_some_and(shows_nothing)
            && !check.is_same(|| provider.can_access_account(self, check)).await
        {
            return self.hold_payment(payment, check, &[]).await;
        }
        let mut update = PaymentUpdate::of(self, payment, None);
        let ended = Some(update.payment().progress.preparation)
            .filter(|preparation| !matches!(preparation, Preparation::Preparing | Preparation::Prepared));
        match call {
            None => {
                // Nothing is there that could still be paid.
                if let Some(ended) = ended {
                    end(&mut update, ended, None);
                }
                update.schedule_next_check();
            }
            Some(Call { outcome: Err(CallError::Rejected(rejection)), logs })
                if rejection.kind == RejectionKind::Missing && ended.is_some() =>
            {
                update.record_calls(&logs);
                end(&mut update, ended.unwrap_or(Preparation::Expired), None);
                update.schedule_next_check();
            }
            Some(Call { outcome: Ok(Reading::CannotBeAsked(known)), logs }) => {
                update.note_unasked(known.as_deref(), &logs);
            }
            Some(Call { outcome: Ok(Reading::Report(report)), logs }) => {
                update.apply_report(&report, Trigger::Other, "resolver");
                // A check that finds nothing new adds no line: an unpaid checkout is checked for a day.
                if update.moves() || update.has_discrepancies() {
                    update.record_calls(&logs);
                }
                update.schedule_next_check();
            }
            Some(Call { outcome: Err(error), logs }) => {
                update.record_calls(&logs);
                update.try_again(&error.into_transient());
            }
        }
        update.commit().await?;
        Ok(())
    }
}

/// What came of a charge on what was made at preparation, which tells by itself; `None` if nothing was tried.
async fn charge_on_object(
    provider: &CardProvider<'_>,
    payment: &CardPayment,
) -> Call<Option<ProviderReport>> {
    let object = payment.progress.object.clone().unwrap_or_default();
    let call = provider.cards.read(provider.provider, &payment.order, Subject::Object(&object)).await;
    let outcome = call.outcome.and_then(|reading| match reading {
        Reading::Report(report) => {
            Ok(Some(report).filter(|report| report.provider_status != ProviderStatus::NotStarted))
        }
        Reading::CannotBeAsked(_) => {
            let reason = "the provider cannot be asked what came of the charge".to_owned();
            Err(CallError::Unknown(TransientError { reason, retry_after: None }))
        }
    });
    Call { outcome, logs: call.logs }
}

/// Whether the provider has nothing of the payment: final only where it is the account the payment was sent to.
pub(super) fn shows_nothing(call: &Call<Reading>) -> bool {
    match &call.outcome {
        Ok(Reading::Report(report)) => {
            report.provider_status == ProviderStatus::Canceled && report.amount.is_none()
        }
        Err(CallError::Rejected(rejection)) => rejection.kind == RejectionKind::Missing,
        Ok(Reading::CannotBeAsked(_)) | Err(CallError::Unsent(_) | CallError::Unknown(_)) => false,
    }
}

/// What came of taking back what the provider has.
fn note_withdrawal(
    update: &mut PaymentUpdate<'_>,
    outcome: &Result<Reading, CallError>,
    end_as: Preparation,
) {
    match outcome {
        Ok(Reading::CannotBeAsked(known)) => update.end_unasked(known.as_deref(), end_as),
        Ok(Reading::Report(report)) => {
            update.apply_report(report, Trigger::Other, "resolver");
            let still_open = report.provider_status.is_under_way()
                || matches!(
                    report.provider_status,
                    ProviderStatus::ActionRequired | ProviderStatus::Unrecognized(_)
                );
            if still_open && end_as == Preparation::Withdrawn {
                // Somebody pays what nobody should know of: it is a payment like any other from now on.
                update.preparation(Preparation::Prepared, None);
            } else if !still_open {
                end(update, end_as, None);
            }
            update.schedule_next_check();
        }
        // What the provider does not know, nobody can pay.
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Missing => {
            end(update, end_as, Some(&rejection.failure));
            update.schedule_next_check();
        }
        Err(CallError::Rejected(rejection)) => {
            let reason = format!("the provider refuses to cancel it: {}", rejection.failure.message);
            update.try_again(&TransientError { reason, retry_after: None });
        }
        Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => update.try_again(transient),
    }
}

/// The preparation ends unpaid: whatever still waits for its payment is canceled with it.
pub(super) fn end(update: &mut PaymentUpdate<'_>, preparation: Preparation, why: Option<&Failure>) {
    update.preparation(preparation, why);
    let state = update.payment().transaction.as_ref().map(|transaction| transaction.state.clone());
    if let Some(state) = state.filter(|state| state.status == Status::Pending) {
        update.transaction(TransactionState { status: Status::Canceled, ..state });
    }
}

/// What the answer to a repeated charge means for the first one. A decline under the same key is what became of that
/// key, and so is a surcharge that is refused; anything else can be said before the key is looked at, or because the first charge has used up the token.
fn after_a_lost_answer(error: CallError) -> CallError {
    let unsure = ["card_token_used", "processing_error"];
    match error {
        CallError::Rejected(rejection)
            if !matches!(rejection.kind, RejectionKind::Declined | RejectionKind::Surcharge)
                || unsure.contains(&rejection.failure.code.as_str()) =>
        {
            CallError::Unknown(in_doubt(&rejection))
        }
        other => other,
    }
}

/// Whether the provider has done something under the key of a charge and does not repeat its answer.
fn is_key_used(outcome: &Result<ProviderReport, CallError>) -> bool {
    matches!(outcome, Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::State)
}

pub(super) fn in_doubt(rejection: &Rejection) -> TransientError {
    let reason = format!("a response was lost; then the provider rejected it: {}", rejection.summary());
    TransientError { reason, retry_after: None }
}

/// Whether time alone ends it: money that is on its way is waited for, and what is held ends when the provider says so.
fn can_expire(payment: &CardPayment) -> bool {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    payment.progress.preparation == Preparation::Prepared
        && !matches!(
            status,
            Some(Status::Processing | Status::Authorized | Status::Succeeded | Status::Refunded)
        )
        && !matches!(subject_without_object(payment), Some(Subject::Payment(_)))
}

/// Whether the money is held, so that it can be captured or released.
fn is_held(payment: &CardPayment) -> bool {
    payment.transaction.as_ref().is_some_and(|transaction| transaction.state.status == Status::Authorized)
}

/// A payment made on our word, which is read rather than taken back.
fn subject_without_object(payment: &CardPayment) -> Option<Subject<'_>> {
    if payment.progress.object.is_some() {
        return None;
    }
    let transaction = payment.transaction.as_ref()?;
    let is_open = transaction.state.status.is_open();
    transaction.state.provider_reference.as_deref().filter(|_| is_open).map(Subject::Payment)
}
