//! What a provider says of a payment, brought into the decision about it.

use tollgate_domain::{
    ProviderAccount,
    card::{Attempt, AttemptState, Occasion, Preparation, Sighting, Standing, judge},
};

use super::draft::Draft;
use crate::ports::{CardPayment, Confirmation, Subject};

impl Draft<'_> {
    /// Takes in a sighting; `source` says how it came to our notice.
    pub(super) fn sight(&mut self, sighting: &Sighting, occasion: Occasion, source: &str) {
        let payment = self.payment();
        let current = payment.transaction.as_ref().map(|transaction| &transaction.state);
        let verdict = judge(&payment.order, current, sighting, occasion);
        let agrees = verdict.disagreements.is_empty();
        self.disagree(verdict.disagreements, source);
        if let Some(next) = verdict.next {
            self.transaction(next);
        }
        if !agrees {
            return;
        }
        self.objects(sighting.payment.clone());
        if sighting.standing == Standing::Canceled
            && self.payment().progress.preparation == Preparation::Prepared
        {
            self.preparation(Preparation::Expired, None);
        }
    }

    /// Closes the attempt that is open, whose outcome is now known.
    pub(super) fn close_attempt(&mut self, state: AttemptState) {
        if let Some(open) = open_attempt(self.payment()) {
            let closed = Attempt { state, sealed_source: None, ..open.clone() };
            self.attempt(closed);
        }
    }
}

/// The attempt whose outcome is not known; there is one at most.
pub(super) fn open_attempt(payment: &CardPayment) -> Option<&Attempt> {
    payment.attempts.iter().find(|attempt| attempt.state == AttemptState::Open)
}

/// The account the payment was last sent to.
pub(super) fn sent_to(payment: &CardPayment) -> Option<&ProviderAccount> {
    let charged = payment.attempts.iter().max_by_key(|attempt| attempt.number);
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
