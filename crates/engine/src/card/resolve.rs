//! Looking after payments whose outcome is unknown, whose webhook never came, or that nobody paid.

use std::time::Duration;

use tollgate_domain::{
    Timestamp,
    card::{Attempt, AttemptState, Occasion, Preparation, Sighting, Standing},
    id::{EnvironmentId, PaymentId},
    transaction::{Failure, Status, TransactionState},
};

use super::{
    CardProvider, MOST_ROUNDS,
    draft::Draft,
    look::{open_attempt, sent_to, subject},
};
use crate::{
    engine::Engine,
    ports::{Call, CallError, CallLog, CardPayment, Refusal, RefusalKind, StoreError, Subject, Trouble},
    provider_account::AccountCheck,
};

/// As long as a provider surely remembers the key of a charge. Later, the charge is looked for instead of repeated.
const KEY_TRUSTED: Duration = Duration::from_hours(1);
/// How long a provider may take to list a charge that it has made.
const LISTED_AFTER: Duration = Duration::from_mins(2);
/// How much clocks may differ between here and a provider.
const CLOCK_SKEW_MILLIS: i64 = 5 * 60 * 1_000;

impl Engine {
    /// One look at one payment. Where somebody else changes it meanwhile, that was the better look.
    pub(crate) async fn look_after_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<(), StoreError> {
        let Some(payment) = self.store.payment(environment, id).await? else { return Ok(()) };
        let view = self.view(environment);
        let found = view.as_deref().map(|view| self.provider_of_order(view, &payment.order));
        let Some(Ok(provider)) = found else {
            let provider = &payment.order.provider;
            let reason = format!("the provider {provider} is not configured completely");
            let mut draft = Draft::of(self, payment, None);
            draft.try_again(&Trouble { reason, retry_after: None });
            draft.commit().await?;
            return Ok(());
        };
        let check = self.check_account(environment, sent_to(&payment), provider.provider);
        if check.is_unreachable() {
            return self.hold_payment(payment, &check, &[]).await;
        }
        if payment.progress.preparation == Preparation::Preparing {
            return self.take_back(&provider, payment, &check).await;
        }
        if let Some(attempt) = open_attempt(&payment).cloned() {
            return self.finish_charge(&provider, payment, &attempt, &check).await;
        }
        if self.clock.now() >= payment.order.expires_at && can_expire(&payment) {
            return self.expire(&provider, payment, &check).await;
        }
        self.look(&provider, payment, &check).await
    }

    async fn hold_payment(
        &self,
        payment: CardPayment,
        check: &AccountCheck,
        logs: &[CallLog],
    ) -> Result<(), StoreError> {
        let mut draft = Draft::of(self, payment, None);
        draft.called(logs);
        draft.wait_for_account(check);
        draft.commit().await?;
        Ok(())
    }

    /// A preparation whose answer was lost: nobody was told of it, so nobody may be able to pay it.
    async fn take_back(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let mut payment = payment;
        if payment.progress.object.is_none() {
            if !check.is_same(|| provider.cards.sees_account(provider.provider)).await {
                return self.hold_payment(payment, check, &[]).await;
            }
            let call = provider.cards.prepare(provider.provider, &payment.order).await;
            let mut draft = Draft::of(self, payment, None);
            draft.called(&call.logs);
            let made = match call.outcome {
                Ok(prepared) => {
                    draft.progress().object = Some(prepared.object.clone());
                    draft.objects([prepared.object].into_iter().chain(prepared.also));
                    draft.lease();
                    true
                }
                // That we are not let in says nothing about what was made when we were.
                Err(CallError::Refused(refusal)) if refusal.kind == RefusalKind::Credentials => {
                    draft.try_again(&in_doubt(&refusal));
                    false
                }
                Err(CallError::Refused(refusal)) => {
                    draft.preparation(Preparation::Refused, Some(&refusal.failure));
                    draft.look_later();
                    false
                }
                Err(CallError::Unsent(trouble) | CallError::Unknown(trouble)) => {
                    draft.try_again(&trouble);
                    false
                }
            };
            match draft.commit().await? {
                Some(recorded) if made => payment = recorded,
                _ => return Ok(()),
            }
        }
        self.withdraw(provider, payment, Preparation::Withdrawn, check).await
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
        let mut draft = Draft::of(self, payment, None);
        end(&mut draft, Preparation::Expired, None);
        draft.look_later();
        draft.commit().await?;
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
        if shows_nothing(&call) && !check.is_same(|| provider.cards.sees_account(provider.provider)).await {
            return self.hold_payment(payment, check, &call.logs).await;
        }
        let (began, mut seen) = (payment.progress.preparation, payment);
        for _ in 0..MOST_ROUNDS {
            // The provider's webhook that it is closed can be faster than its answer; that we asked is still recorded.
            let is_ended = seen.progress.preparation != began;
            let mut draft = Draft::of(self, seen, None);
            draft.called(&call.logs);
            if !is_ended {
                note_withdrawal(&mut draft, &call.outcome, end);
            }
            if draft.commit().await?.is_some() {
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
        let now = self.clock.now();
        let charge = self.open_source(&payment.order, attempt);
        let is_same = check.is_same(|| provider.cards.sees_account(provider.provider)).await;
        let key_is_trusted = is_same && now < attempt.created_at.saturating_add(KEY_TRUSTED);
        // It may never have been sent, and nothing is charged any more once it has expired.
        let is_late = now >= payment.order.expires_at;
        if let Some(charge) = charge.filter(|_| key_is_trusted && !is_late) {
            let mut call = provider.cards.charge(provider.provider, &payment.order, &charge).await;
            call.outcome = call.outcome.map_err(after_a_lost_answer);
            self.record_charge(payment, attempt.number, &call, None).await?;
            return Ok(());
        }
        let is_listed = now >= attempt.created_at.saturating_add(LISTED_AFTER);
        let from = Timestamp::from_unix_millis(attempt.created_at.unix_millis() - CLOCK_SKEW_MILLIS);
        let call = provider.cards.find_charge(provider.provider, &payment.order, from, now).await;
        if !is_same && matches!(call.outcome, Ok(None)) {
            return self.hold_payment(payment, check, &call.logs).await;
        }
        let mut draft = Draft::of(self, payment, None);
        draft.called(&call.logs);
        match call.outcome {
            Ok(Some(sighting)) if !matches!(sighting.standing, Standing::Failed(_)) || is_listed => {
                draft.charge_seen(&sighting, Occasion::Notice, "resolver");
                draft.look_later();
            }
            // What failed may be an earlier attempt.
            Ok(_) if !is_listed => {
                let reason = "the provider does not list the charge yet".to_owned();
                draft.try_again(&Trouble { reason, retry_after: None });
            }
            Ok(_) => {
                draft.close_attempt(AttemptState::Declined);
                draft.charge_failed(Failure {
                    code: "not_charged".to_owned(),
                    message: "The charge never reached the provider; try the card again.".to_owned(),
                });
                draft.look_later();
            }
            Err(CallError::Refused(refusal)) => {
                let reason = format!("the provider does not show its payments: {}", refusal.failure.message);
                draft.try_again(&Trouble { reason, retry_after: None });
            }
            Err(CallError::Unsent(trouble) | CallError::Unknown(trouble)) => draft.try_again(&trouble),
        }
        draft.commit().await?;
        Ok(())
    }

    /// A payment of which nothing was heard.
    async fn look(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let call: Option<Call<_>> = match subject(&payment, provider.cards.confirmation()) {
            Some(subject) => Some(provider.cards.read(provider.provider, &payment.order, subject).await),
            None => None,
        };
        if call.as_ref().is_some_and(shows_nothing)
            && !check.is_same(|| provider.cards.sees_account(provider.provider)).await
        {
            return self.hold_payment(payment, check, &[]).await;
        }
        let mut draft = Draft::of(self, payment, None);
        let ended = Some(draft.payment().progress.preparation)
            .filter(|preparation| !matches!(preparation, Preparation::Preparing | Preparation::Prepared));
        match call {
            None => {
                // Nothing is there that could still be paid.
                if let Some(ended) = ended {
                    end(&mut draft, ended, None);
                }
                draft.look_later();
            }
            Some(Call { outcome: Err(CallError::Refused(refusal)), logs })
                if refusal.kind == RefusalKind::Missing && ended.is_some() =>
            {
                draft.called(&logs);
                end(&mut draft, ended.unwrap_or(Preparation::Expired), None);
                draft.look_later();
            }
            Some(Call { outcome: Ok(sighting), logs }) => {
                draft.sight(&sighting, Occasion::Notice, "resolver");
                // A look that tells nothing new is not worth a line: an unpaid checkout is looked at for a day.
                if draft.moves() || draft.disagrees() {
                    draft.called(&logs);
                }
                draft.look_later();
            }
            Some(Call { outcome: Err(error), logs }) => {
                draft.called(&logs);
                let trouble = match error {
                    CallError::Unsent(trouble) | CallError::Unknown(trouble) => trouble,
                    CallError::Refused(refusal) => Trouble {
                        reason: format!("the provider does not show it: {}", refusal.failure.message),
                        retry_after: None,
                    },
                };
                draft.try_again(&trouble);
            }
        }
        draft.commit().await?;
        Ok(())
    }
}

/// Whether the provider has nothing of the payment: final only where it is the account the payment was sent to.
fn shows_nothing(call: &Call<Sighting>) -> bool {
    match &call.outcome {
        Ok(sighting) => sighting.standing == Standing::Canceled && sighting.amount.is_none(),
        Err(CallError::Refused(refusal)) => refusal.kind == RefusalKind::Missing,
        Err(CallError::Unsent(_) | CallError::Unknown(_)) => false,
    }
}

/// What came of taking back what the provider has.
fn note_withdrawal(draft: &mut Draft<'_>, outcome: &Result<Sighting, CallError>, end_as: Preparation) {
    match outcome {
        Ok(sighting) => {
            draft.sight(sighting, Occasion::Notice, "resolver");
            let still_open = matches!(
                sighting.standing,
                Standing::Succeeded | Standing::Processing | Standing::Acting | Standing::Unrecognized(_)
            );
            if still_open && end_as == Preparation::Withdrawn {
                // Somebody pays what nobody should know of: it is a payment like any other from now on.
                draft.preparation(Preparation::Prepared, None);
            } else if !still_open {
                end(draft, end_as, None);
            }
            draft.look_later();
        }
        // What the provider does not know, nobody can pay.
        Err(CallError::Refused(refusal)) if refusal.kind == RefusalKind::Missing => {
            end(draft, end_as, Some(&refusal.failure));
            draft.look_later();
        }
        Err(CallError::Refused(refusal)) => {
            let reason = format!("the provider refuses to take it back: {}", refusal.failure.message);
            draft.try_again(&Trouble { reason, retry_after: None });
        }
        Err(CallError::Unsent(trouble) | CallError::Unknown(trouble)) => draft.try_again(trouble),
    }
}

/// The preparation ends unpaid: whatever still waits for its payment is canceled with it.
fn end(draft: &mut Draft<'_>, preparation: Preparation, why: Option<&Failure>) {
    draft.preparation(preparation, why);
    let state = draft.payment().transaction.as_ref().map(|transaction| transaction.state.clone());
    if let Some(state) = state.filter(|state| state.status == Status::Pending) {
        draft.transaction(TransactionState { status: Status::Canceled, ..state });
    }
}

/// What the answer to a repeated charge means for the first one. A decline under the same key is what became of that
/// key; anything else can be said before the key is looked at, or because the first charge has used up the token.
fn after_a_lost_answer(error: CallError) -> CallError {
    let unsure = ["card_token_used", "processing_error"];
    match error {
        CallError::Refused(refusal)
            if refusal.kind != RefusalKind::Declined || unsure.contains(&refusal.failure.code.as_str()) =>
        {
            CallError::Unknown(in_doubt(&refusal))
        }
        other => other,
    }
}

fn in_doubt(refusal: &Refusal) -> Trouble {
    let reason = format!("an answer was lost; then the provider refused: {}", refusal.failure.code);
    Trouble { reason, retry_after: None }
}

/// Whether time alone ends it: money that is on its way is waited for.
fn can_expire(payment: &CardPayment) -> bool {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    payment.progress.preparation == Preparation::Prepared
        && !matches!(status, Some(Status::Processing | Status::Succeeded | Status::Refunded))
        && !matches!(subject_without_object(payment), Some(Subject::Payment(_)))
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
