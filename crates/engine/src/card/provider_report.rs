//! What a provider says of a payment, brought into the decision about it.

use tollgate_domain::{
    card::{Attempt, AttemptState, Preparation, ProviderReport, ProviderStatus, Trigger, decide_status},
    transaction::{Dispute, TransactionState},
};

use super::{at_provider::open_attempt, update::PaymentUpdate};

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
