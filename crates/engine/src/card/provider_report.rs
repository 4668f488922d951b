//! What a provider says of a payment, brought into the decision about it.

use tollgate_domain::{
    ProviderAccount,
    card::{Attempt, AttemptState, Preparation, ProviderReport, ProviderStatus, Trigger, decide_status},
    transaction::{Dispute, TransactionState},
};

use super::update::PaymentUpdate;
use crate::ports::{CardPayment, Confirmation, Subject};

impl PaymentUpdate<'_> {
    /// Takes in a provider report; `source` says how it came to our notice.
    pub(super) fn apply_report(&mut self, report: &ProviderReport, trigger: Trigger, source: &str) {
        let payment = self.payment();
        let current = payment.transaction.as_ref().map(|transaction| &transaction.state);
        let decision = decide_status(&payment.order, current, report, trigger);
        let agrees = decision.discrepancies.is_empty();
        self.record_discrepancies(decision.discrepancies, source);
        if let Some(next) = decision.next {
            self.transaction(next);
        }
        if !agrees {
            return;
        }
        self.objects(report.payment.clone());
        // Whatever ends what the provider has, ends the preparation.
        match (self.payment().progress.preparation, &report.provider_status) {
            (Preparation::Prepared, ProviderStatus::Canceled) => self.preparation(Preparation::Expired, None),
            (Preparation::Preparing, ProviderStatus::Canceled) => {
                self.preparation(Preparation::Withdrawn, None);
            }
            // Somebody pays what nobody should know of: it is a payment like any other from now on.
            (Preparation::Preparing, ProviderStatus::Succeeded | ProviderStatus::Processing) => {
                self.preparation(Preparation::Prepared, None);
            }
            _ => {}
        }
    }

    /// Takes in what the provider says of the charge that is open: its outcome is known.
    pub(super) fn apply_charge_report(&mut self, report: &ProviderReport, trigger: Trigger, source: &str) {
        let declined = matches!(report.provider_status, ProviderStatus::Failed(_));
        let is_clear = matches!(
            report.provider_status,
            ProviderStatus::Processing | ProviderStatus::Succeeded | ProviderStatus::Failed(_)
        );
        if !is_clear {
            // There is a charge all the same, which is more than a preparation.
            self.in_doubt(report.payment.clone());
        }
        self.apply_report(report, trigger, source);
        if self.has_discrepancies() {
            // The caller gets a transaction to refer to; a person decides what it is.
            self.in_doubt(report.payment.clone());
        }
        if declined {
            self.note_declined_again();
        }
        self.close_attempt(if declined { AttemptState::Declined } else { AttemptState::Taken });
    }

    /// Takes in the news of a dispute, if there is a transaction to contest.
    pub(super) fn dispute(&mut self, news: Dispute) {
        let recorded = self.payment().transaction.as_ref().map(|transaction| transaction.state.clone());
        let Some(state) = recorded else { return };
        let dispute = Some(match state.dispute.clone() {
            Some(known) => known.followed_by(news),
            None => news,
        });
        if dispute != state.dispute {
            self.transaction(TransactionState { dispute, ..state });
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
