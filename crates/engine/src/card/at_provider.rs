//! What the provider has of a payment, as far as we know.

use tollgate_domain::{
    ProviderAccount,
    card::{Attempt, AttemptState},
    hold::{HoldAction, HoldActionStatus},
    refund::Refund,
    transaction::Status,
};

use super::CardProvider;
use crate::{
    engine::Engine,
    ports::{Call, CallError, CardPayment, Confirmation, Reading, RejectionKind, StoreError, Subject},
};

/// The attempt whose outcome is not known; there is one at most.
pub(super) fn open_attempt(payment: &CardPayment) -> Option<&Attempt> {
    payment.attempts.iter().find(|attempt| attempt.state == AttemptState::Open)
}

/// The refunds whose outcome is not known, but for those that people have yet to approve.
pub(super) fn open_refunds(payment: &CardPayment) -> impl Iterator<Item = &Refund> {
    payment.refunds.iter().filter(|refund| refund.status.is_open() && !refund.waits_for_approval())
}

/// The refunds that the provider may never have heard of.
pub(super) fn unsent_refunds(payment: &CardPayment) -> impl Iterator<Item = &Refund> {
    open_refunds(payment).filter(|refund| refund.provider_reference.is_none())
}

/// The capture or void whose outcome is not known; there is one at most.
pub(super) fn open_hold_action(payment: &CardPayment) -> Option<&HoldAction> {
    payment.hold_actions.iter().find(|action| action.status.is_open())
}

/// Whether a command was not accepted yet, as far as we know: whoever sends it, sends it again.
pub(super) fn has_unsent(payment: &CardPayment) -> bool {
    let action = open_hold_action(payment).is_some_and(|action| action.status == HoldActionStatus::Pending);
    action || unsent_refunds(payment).next().is_some()
}

/// The account the payment was last sent to.
pub(super) fn sent_to(payment: &CardPayment) -> Option<&ProviderAccount> {
    let was_switched = payment.order.route.was_switched();
    let since = payment.progress.prepared_at;
    // What was charged before a payment was switched was charged at another provider.
    let is_here =
        |attempt: &Attempt| !was_switched || since.is_some_and(|prepared| attempt.created_at >= prepared);
    let sent = payment.attempts.iter().filter(|attempt| attempt.state != AttemptState::Unsent);
    let sent = sent.filter(|attempt| is_here(attempt));
    let charged = sent.max_by_key(|attempt| attempt.number);
    charged.and_then(|attempt| attempt.account.as_ref()).or(payment.order.account.as_ref())
}

/// The payment by the provider's name for it, once it is paid or held.
fn paid_as(payment: &CardPayment) -> Option<Subject<'_>> {
    let state = &payment.transaction.as_ref()?.state;
    let is_paid = matches!(state.status, Status::Authorized | Status::Succeeded | Status::Refunded);
    state.provider_reference.as_deref().filter(|_| is_paid).map(Subject::Payment)
}

/// What to ask the provider about, if it has anything of this payment.
pub(super) fn subject(payment: &CardPayment, confirmation: Confirmation) -> Option<Subject<'_>> {
    let transaction = payment.transaction.as_ref();
    let reference = transaction.and_then(|transaction| transaction.state.provider_reference.as_deref());
    let object = payment.progress.object.as_deref().map(Subject::Object);
    match confirmation {
        // The object leads to whatever payment there is, also to a newer one than the one on record.
        Confirmation::Look => object.or_else(|| reference.map(Subject::Payment)),
        // It says nothing of what came after it was paid.
        Confirmation::Result => paid_as(payment).or(object).or_else(|| reference.map(Subject::Payment)),
        Confirmation::Charge => reference.map(Subject::Payment).or(object),
    }
}

impl Engine {
    /// Asks the provider where a payment stands.
    pub(super) async fn read_payment(
        &self,
        provider: &CardProvider<'_>,
        payment: &CardPayment,
        subject: Subject<'_>,
    ) -> Result<Call<Reading>, StoreError> {
        let call = provider.cards.read(provider.provider, &payment.order, subject).await;
        self.or_by_other_names(provider, payment, call).await
    }

    /// What was made at preparation can be gone and still have been paid before that: the payment's other names at the
    /// provider tell.
    pub(super) async fn or_by_other_names(
        &self,
        provider: &CardProvider<'_>,
        payment: &CardPayment,
        call: Call<Reading>,
    ) -> Result<Call<Reading>, StoreError> {
        let Call { outcome, mut logs } = call;
        if !matches!(&outcome, Err(CallError::Rejected(it)) if it.kind == RejectionKind::Missing) {
            return Ok(Call { outcome, logs });
        }
        let order = &payment.order;
        for name in self.store.objects_of_payment(order.environment, order.id).await? {
            if payment.progress.object.as_ref() == Some(&name) {
                continue;
            }
            let found = provider.cards.read_by_name(provider.provider, order, &name).await;
            logs.extend(found.logs);
            match found.outcome {
                Ok(Some(report)) => return Ok(Call { outcome: Ok(Reading::Report(report)), logs }),
                Ok(None) => {}
                Err(error) => return Ok(Call { outcome: Err(error), logs }),
            }
        }
        Ok(Call { outcome, logs })
    }
}
