//! What the provider has of a payment, as far as we know.

use tollgate_domain::{
    ProviderAccount,
    card::{Attempt, AttemptState},
    refund::Refund,
};

use crate::ports::{CardPayment, Confirmation, Subject};

/// The attempt whose outcome is not known; there is one at most.
pub(super) fn open_attempt(payment: &CardPayment) -> Option<&Attempt> {
    payment.attempts.iter().find(|attempt| attempt.state == AttemptState::Open)
}

/// The refunds whose outcome is not known.
pub(super) fn open_refunds(payment: &CardPayment) -> impl Iterator<Item = &Refund> {
    payment.refunds.iter().filter(|refund| refund.status.is_open())
}

/// The refunds that the provider may never have heard of.
pub(super) fn unsent_refunds(payment: &CardPayment) -> impl Iterator<Item = &Refund> {
    open_refunds(payment).filter(|refund| refund.provider_reference.is_none())
}

/// The account the payment was last sent to.
pub(super) fn sent_to(payment: &CardPayment) -> Option<&ProviderAccount> {
    let sent = payment.attempts.iter().filter(|attempt| attempt.state != AttemptState::Unsent);
    let charged = sent.max_by_key(|attempt| attempt.number);
    charged.and_then(|attempt| attempt.account.as_ref()).or(payment.order.account.as_ref())
}

/// What to ask the provider about, if it has anything of this payment.
pub(super) fn subject(payment: &CardPayment, confirmation: Confirmation) -> Option<Subject<'_>> {
    let transaction = payment.transaction.as_ref();
    let reference = transaction.and_then(|transaction| transaction.state.provider_reference.as_deref());
    let object = payment.progress.object.as_deref().map(Subject::Object);
    match confirmation {
        // The object leads to whatever payment there is, also to a newer one than the one on record.
        Confirmation::Look => object.or_else(|| reference.map(Subject::Payment)),
        Confirmation::Charge => reference.map(Subject::Payment).or(object),
    }
}
