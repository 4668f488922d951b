//! What becomes of captures and voids: written down when the provider has answered, and found out where it has not.

use tollgate_domain::{
    card::Trigger,
    hold::{HoldAction, HoldActionStatus},
    id::HoldActionId,
    transaction::Status,
};

use super::{
    CardProvider, MAX_ROUNDS,
    at_provider::{open_hold_action, subject},
    awaiting::{cannot_be_asked, is_key_kept},
    refund::unless_elsewhere,
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    ports::{Call, CallError, CardPayment, Reading, RejectionKind, StoreError, TransientError},
    provider_account::AccountCheck,
};

impl Engine {
    /// Writes down what became of a capture or void; one that a webhook has settled meanwhile is left alone.
    pub(super) async fn record_hold_action(
        &self,
        payment: CardPayment,
        id: HoldActionId,
        call: &Call<Reading>,
        request: Option<&str>,
        is_blind: bool,
    ) -> Result<CardPayment, StoreError> {
        let (environment, payment_id) = (payment.order.environment, payment.order.id);
        let mut seen = payment;
        for _ in 0..MAX_ROUNDS {
            let open = open_hold_action(&seen).filter(|action| action.id == id).cloned();
            let mut update = PaymentUpdate::of(self, seen, request);
            update.record_calls(&call.logs);
            if let Some(open) = open {
                note_outcome(&mut update, &open, &call.outcome, is_blind);
            }
            if let Some(recorded) = update.commit().await? {
                return Ok(recorded);
            }
            let again = self.store.payment(environment, payment_id).await?;
            seen = again.ok_or_else(|| StoreError::Broken("payment not found".to_owned()))?;
        }
        Err(StoreError::Unavailable("too many concurrent changes to this payment".to_owned()))
    }

    /// A capture or void whose outcome is not known: the provider is asked where the payment stands, and asked for the action
    /// again, under the same key, where the money is still held. One that cannot be asked gets it again until it has accepted
    /// it, as long as it surely remembers the key.
    pub(super) async fn resolve_hold_action(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        action: &HoldAction,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let Some(subject) = subject(&payment, provider.confirmation()) else { return Ok(()) };
        let reading = self.read_payment(provider, &payment, subject).await?;
        let is_blind = cannot_be_asked(&reading);
        let mut update = PaymentUpdate::of(self, payment, None);
        let is_read = update.note_reading(reading, check);
        let open = open_hold_action(update.payment()).filter(|open| open.id == action.id);
        let is_unsent = open.is_some_and(|open| open.status == HoldActionStatus::Pending);
        let may_send = !is_blind || is_key_kept(action.created_at, update.now());
        let captures = provider.cards.captures(update.payment().order.flow);
        let sending = captures.zip(held_name(update.payment())).filter(|_| is_read && is_unsent && may_send);
        if sending.is_some() {
            update.lease();
        } else if is_blind {
            update.await_word();
        }
        let (Some(payment), Some((captures, name))) = (update.commit().await?, sending) else {
            return Ok(());
        };
        let call = captures.act_on_hold(provider.provider, &payment.charged_order(), &name, action).await;
        let call = unless_elsewhere(call, check);
        self.record_hold_action(payment, action.id, &call, None, is_blind).await?;
        Ok(())
    }
}

/// The provider's name for a payment, while its money is held.
fn held_name(payment: &CardPayment) -> Option<String> {
    let state = &payment.transaction.as_ref()?.state;
    state.provider_reference.clone().filter(|_| state.status == Status::Authorized)
}

fn note_outcome(
    update: &mut PaymentUpdate<'_>,
    open: &HoldAction,
    outcome: &Result<Reading, CallError>,
    is_blind: bool,
) {
    match outcome {
        Ok(Reading::CannotBeAsked(_)) => {
            let status = HoldActionStatus::Processing;
            update.hold_action(&HoldAction { status, updated_at: update.now(), ..open.clone() });
            update.await_webhook();
        }
        Ok(Reading::Report(report)) => {
            update.apply_report(report, Trigger::Other, open.kind.as_str());
            update.schedule_next_check();
        }
        // Rejected credentials say nothing about the payment; it is asked for again once they are corrected.
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
            let reason =
                format!("the provider does not accept our credentials: {}", rejection.failure.message);
            update.send_again(&TransientError { reason, retry_after: None }, is_blind);
        }
        Err(CallError::Rejected(rejection)) => {
            let (status, failure) = (HoldActionStatus::Failed, Some(rejection.failure.clone()));
            update.hold_action(&HoldAction { status, failure, updated_at: update.now(), ..open.clone() });
            update.schedule_next_check();
        }
        Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
            update.send_again(transient, is_blind);
        }
    }
}
