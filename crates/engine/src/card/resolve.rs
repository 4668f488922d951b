//! Looking after payments whose outcome is unknown, whose webhook never came, or that nobody paid.

use std::time::Duration;

use tollgate_domain::{
    Timestamp,
    card::{Attempt, AttemptState, Occasion, Preparation, Standing},
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
            return self.expire(&provider, payment).await;
        }
        self.look(&provider, payment).await
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
        self.withdraw(provider, payment, Preparation::Withdrawn).await
    }

    /// Nobody paid in time.
    async fn expire(&self, provider: &CardProvider<'_>, payment: CardPayment) -> Result<(), StoreError> {
        if payment.progress.object.is_some() {
            return self.withdraw(provider, payment, Preparation::Expired).await;
        }
        let mut draft = Draft::of(self, payment, None);
        draft.preparation(Preparation::Expired, None);
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
    ) -> Result<(), StoreError> {
        let (environment, id) = (payment.order.environment, payment.order.id);
        let object = payment.progress.object.clone().unwrap_or_default();
        let call = provider.cards.withdraw(provider.provider, &payment.order, &object).await;
        let mut draft = Draft::of(self, payment, None);
        draft.called(&call.logs);
        match call.outcome {
            Ok(sighting) => {
                draft.sight(&sighting, Occasion::Notice, "resolver");
                let still_open = matches!(
                    sighting.standing,
                    Standing::Succeeded | Standing::Processing | Standing::Acting | Standing::Unrecognized(_)
                );
                if still_open && end == Preparation::Withdrawn {
                    // Somebody pays what nobody should know of: it is a payment like any other from now on.
                    draft.preparation(Preparation::Prepared, None);
                } else if !still_open {
                    draft.preparation(end, None);
                }
                draft.look_later();
            }
            // What the provider does not know, nobody can pay.
            Err(CallError::Refused(refusal)) if refusal.kind == RefusalKind::Missing => {
                draft.preparation(end, Some(&refusal.failure));
                draft.look_later();
            }
            Err(CallError::Refused(refusal)) => {
                let reason = format!("the provider refuses to take it back: {}", refusal.failure.message);
                draft.try_again(&Trouble { reason, retry_after: None });
            }
            Err(CallError::Unsent(trouble) | CallError::Unknown(trouble)) => draft.try_again(&trouble),
        }
        if draft.commit().await?.is_some() {
            return Ok(());
        }
        // The provider's own word that it is closed can be faster than its answer; that we asked for it is still told.
        for _ in 0..MOST_ROUNDS {
            let Some(payment) = self.store.payment(environment, id).await? else { break };
            let mut draft = Draft::of(self, payment, None);
            draft.called(&call.logs);
            if draft.commit().await?.is_some() {
                break;
            }
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
        if let Some(charge) = charge.filter(|_| key_is_trusted) {
            let mut call = provider.cards.charge(provider.provider, &payment.order, &charge).await;
            call.outcome = call.outcome.map_err(after_a_lost_answer);
            self.record_charge(payment, attempt.number, &call, None).await?;
            return Ok(());
        }
        let from = Timestamp::from_unix_millis(attempt.created_at.unix_millis() - CLOCK_SKEW_MILLIS);
        let call = provider.cards.find_charge(provider.provider, &payment.order, from, now).await;
        if !is_same && matches!(call.outcome, Ok(None)) {
            return self.hold_payment(payment, check, &call.logs).await;
        }
        let mut draft = Draft::of(self, payment, None);
        draft.called(&call.logs);
        match call.outcome {
            Ok(Some(sighting)) => {
                let declined = matches!(sighting.standing, Standing::Failed(_));
                draft.close_attempt(if declined { AttemptState::Declined } else { AttemptState::Taken });
                draft.sight(&sighting, Occasion::Notice, "resolver");
                draft.look_later();
            }
            Ok(None) => {
                draft.close_attempt(AttemptState::Declined);
                let before = draft.payment().transaction.as_ref().map(|it| it.state.clone());
                let failure = Failure {
                    code: "not_charged".to_owned(),
                    message: "The charge never reached the provider; try the card again.".to_owned(),
                };
                let before = before.unwrap_or_else(TransactionState::pending);
                draft.transaction(TransactionState {
                    status: Status::Failed,
                    failure: Some(failure),
                    ..before
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
    async fn look(&self, provider: &CardProvider<'_>, payment: CardPayment) -> Result<(), StoreError> {
        let call: Option<Call<_>> = match subject(&payment, provider.cards.confirmation()) {
            Some(subject) => Some(provider.cards.read(provider.provider, &payment.order, subject).await),
            None => None,
        };
        let mut draft = Draft::of(self, payment, None);
        match call {
            None => draft.look_later(),
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
