//! What a provider says of a payment, brought into the decision about it.

use tollgate_domain::{
    Minor,
    card::{
        Attempt, AttemptState, Discrepancy, DiscrepancyKind, Preparation, ProviderReport, ProviderStatus,
        Trigger, decide_status,
    },
    refund::{Refund, RefundOrigin, RefundReport, RefundStatus, RefundTerms, Refundable},
    transaction::Dispute,
};

use crate::ports::CardPayment;

use super::{
    at_provider::{open_attempt, open_hold_action},
    update::PaymentUpdate,
};

impl PaymentUpdate<'_> {
    /// Takes in a provider report; `source` says how it came to our notice.
    pub(super) fn apply_report(&mut self, report: &ProviderReport, trigger: Trigger, source: &str) {
        let payment = self.payment();
        let current = payment.transaction.as_ref().map(|transaction| &transaction.state);
        let card_fee = payment.progress.card_fee.as_deref();
        let decision = decide_status(&payment.order, card_fee, current, report, trigger);
        let agrees = decision.discrepancies.is_empty();
        self.record_discrepancies(decision.discrepancies, source);
        if let Some(next) = decision.next {
            self.transaction(next);
        }
        if !agrees {
            return;
        }
        self.settle_hold_action();
        self.apply_refund_reports(&report.refunds, source, true);
        self.return_unlawful_fee(report, source);
        self.objects(report.payment.clone());
        // Whatever ends what the provider has, ends the preparation.
        let status = &report.provider_status;
        match self.payment().progress.preparation {
            // What the customer has authorized was paid in time, whatever became of it.
            Preparation::Prepared if status.is_canceled() && !self.was_authorized() => {
                self.preparation(Preparation::Expired, None);
            }
            // That is what it has to be before the payment can go on.
            Preparation::Preparing if status.is_canceled() && self.payment().order.is_leaving() => {
                self.progress().object = None;
            }
            Preparation::Preparing if status.is_canceled() => {
                let was_switched = self.payment().order.route.was_switched();
                let end = if was_switched { Preparation::Expired } else { Preparation::Withdrawn };
                self.preparation(end, None);
            }
            Preparation::Preparing if status.is_under_way() && self.payment().order.is_leaving() => {
                self.stay();
            }
            // Somebody pays what nobody should know of: it is a payment like any other from now on.
            Preparation::Preparing if status.is_under_way() => self.preparation(Preparation::Prepared, None),
            _ => {}
        }
    }

    fn was_authorized(&self) -> bool {
        self.payment().transaction.as_ref().is_some_and(|transaction| transaction.state.hold.is_some())
    }

    /// The capture or void that is pending has its outcome once the transaction is captured or canceled.
    fn settle_hold_action(&mut self) {
        let payment = self.payment();
        let (Some(open), Some(transaction)) = (open_hold_action(payment), &payment.transaction) else {
            return;
        };
        if let Some(settled) = open.settled_by(&payment.charged(), &transaction.state, self.now()) {
            self.hold_action(&settled);
        }
    }

    /// Takes in what the provider says of the charge that is open: its outcome is known.
    pub(super) fn apply_charge_report(&mut self, report: &ProviderReport, trigger: Trigger, source: &str) {
        let declined = matches!(report.provider_status, ProviderStatus::Failed(_));
        if !declined && !report.provider_status.is_under_way() {
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

    /// Takes in what the provider says of the payment's refunds, also of those that somebody made there; of all of them, or of
    /// some.
    pub(super) fn apply_refund_reports(&mut self, reports: &[RefundReport], source: &str, are_all: bool) {
        // More than was paid cannot have been given back, whatever the provider says.
        let total = self.payment().amounts().total_debit;
        let recorded = reports.iter().filter(|report| report.status.counts());
        let recorded = recorded.filter(|report| recorded_refund(self.payment(), report).is_some());
        let mut left = recorded.fold(total, |left, report| less(left, report.total));
        if !are_all {
            left = left_beside_records(self.payment());
        }
        for report in reports {
            match recorded_refund(self.payment(), report).cloned() {
                Some(known) => self.apply_refund_report(&known, report, source),
                // A failed refund that was never recorded here changes nothing.
                None if report.status.counts() => {
                    let booked = report.total.min(left);
                    left = less(left, booked);
                    if booked < report.total {
                        let expected = format!("at most {booked} of {total}");
                        let found = format!("{} over {}", report.id, report.total);
                        let kind = DiscrepancyKind::Refund;
                        self.record_discrepancies(vec![Discrepancy { kind, expected, found }], source);
                    }
                    let left = Refundable::after(&self.payment().amounts(), &self.payment().refunds);
                    self.refund_at_provider(report, left, booked);
                }
                None => {}
            }
        }
    }

    /// Takes in what the provider says of a refund.
    pub(super) fn apply_refund_report(&mut self, known: &Refund, report: &RefundReport, source: &str) {
        let Some(next) = known.followed_by(report, self.now()) else { return };
        let discrepancy = |expected: String, found: String| {
            vec![Discrepancy { kind: DiscrepancyKind::Refund, expected, found }]
        };
        if report.total != known.total() {
            let (expected, found) = (known.total(), report.total);
            let (expected, found) =
                (format!("{} over {expected}", known.id), format!("{} over {found}", report.id));
            self.record_discrepancies(discrepancy(expected, found), source);
        }
        let came_back = known.status == RefundStatus::Succeeded && !next.status.counts();
        let was_accepted = !known.status.counts() && next.status.counts();
        if came_back || was_accepted {
            let (expected, found) = (known.status.as_str(), next.status.as_str());
            let (expected, found) = (format!("{} {expected}", known.id), format!("{} {found}", known.id));
            self.record_discrepancies(discrepancy(expected, found), source);
        }
        self.refund(next);
    }

    /// Somebody made a refund at the provider that came to nothing. It is on record, so that its success is not booked if that is
    /// heard later.
    pub(super) fn refund_failed_at_provider(&mut self, report: &RefundReport) {
        let fee = self.payment().amounts();
        self.refund_at_provider(report, Refundable::after(&fee, &[]), report.total.min(fee.total_debit));
    }

    /// Somebody made a refund at the provider; this much of it can be booked.
    fn refund_at_provider(&mut self, report: &RefundReport, left: Refundable, booked: Minor) {
        let payment = self.payment();
        let fee = payment.amounts();
        let share = left.divide(&fee, booked);
        let refund = Refund {
            id: self.engine().refund_made_at_provider(&payment.order, &report.id),
            terms: RefundTerms {
                amount: None,
                fee_refund: None,
                reason: None,
                description: None,
                metadata: "{}".to_owned(),
            },
            principal: share.principal,
            fee: share.fee,
            origin: RefundOrigin::Provider,
            status: report.status,
            provider_reference: Some(report.id.clone()),
            failure: report.failure.clone(),
            request: None,
            approval: None,
            created_at: self.now(),
            updated_at: self.now(),
        };
        self.refund(refund);
    }

    /// Takes in the news of a dispute, if there is a transaction to contest. An amount that the payment does not have is
    /// shown to a person and not booked, neither as contested nor as withdrawn.
    pub(super) fn dispute(&mut self, mut news: Dispute, source: &str) {
        let (own, total) = (self.payment().order.currency, self.payment().amounts().total_debit);
        news.currency.take_if(|currency| currency == own.code());
        let amount = news.amount.max(news.withdrawn).unwrap_or_default();
        let others = self.payment().disputes.iter().filter(|known| known.id != news.id);
        let others = others.map(Dispute::amount_withdrawn).fold(Minor::ZERO, sum_or_max);
        let kind = match &news.currency {
            Some(_) => Some(DiscrepancyKind::Currency),
            None if amount > total => Some(DiscrepancyKind::Amount),
            None if sum_or_max(others, news.amount_withdrawn()) > total => Some(DiscrepancyKind::Amount),
            None => None,
        };
        let discrepancy = kind.map(|kind| {
            let currency = news.currency.as_deref().unwrap_or_else(|| own.code());
            let before = if others > Minor::ZERO { format!(" after {others} {own}") } else { String::new() };
            let found = format!("dispute {} over {amount} {currency}{before}", news.id);
            Discrepancy { kind, expected: format!("at most {total} {own}"), found }
        });
        if discrepancy.is_some() {
            // Zero and not `None`, which would leave what is known and let the contested amount stand for it.
            news.withdrawn = Some(Minor::ZERO);
        }
        let known = self.payment().disputes.iter().find(|known| known.id == news.id).cloned();
        let next = match known.clone() {
            Some(known) => known.followed_by(news),
            None => news,
        };
        if known.as_ref() != Some(&next) {
            self.record_discrepancies(discrepancy.into_iter().collect(), source);
            self.put_dispute(next);
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

/// The refund on record that the provider tells of.
pub(super) fn recorded_refund<'p>(payment: &'p CardPayment, report: &RefundReport) -> Option<&'p Refund> {
    let is_it = |refund: &&Refund| {
        refund.provider_reference.as_ref() == Some(&report.id) || report.reference == Some(refund.id)
    };
    payment.refunds.iter().find(is_it)
}

/// What can have been given back beside the refunds on record.
fn left_beside_records(payment: &CardPayment) -> Minor {
    let given = payment.refunds.iter().filter(|refund| refund.status.counts());
    given.fold(payment.amounts().total_debit, |left, refund| less(left, refund.total()))
}

/// Whether somebody made a refund at the provider that there is no room for, as far as we know: no more can have been given back
/// than was paid, so one on record must have come to nothing.
pub(super) fn has_no_room(payment: &CardPayment, report: &RefundReport) -> bool {
    let is_new = report.status.counts() && recorded_refund(payment, report).is_none();
    is_new && report.total > left_beside_records(payment)
}

fn less(left: Minor, booked: Minor) -> Minor {
    left.checked_sub(booked).unwrap_or_default()
}

/// What is too much for [`Minor`] is too much for any payment.
fn sum_or_max(left: Minor, right: Minor) -> Minor {
    left.checked_add(right).unwrap_or(Minor::MAX)
}
