//! What a provider says of a payment, brought into the decision about it.

use tollgate_domain::{
    Minor,
    card::{
        Attempt, AttemptState, Discrepancy, DiscrepancyKind, Preparation, ProviderReport, ProviderStatus,
        Trigger, decide_status,
    },
    refund::{Refund, RefundOrigin, RefundReport, RefundStatus, RefundTerms, Refundable},
    transaction::DisputeReport,
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
        let decision = decide_status(&payment.order, current, report, trigger);
        let agrees = decision.discrepancies.is_empty();
        self.record_discrepancies(decision.discrepancies, source);
        if let Some(next) = decision.next {
            self.transaction(next);
        }
        if !agrees {
            return;
        }
        self.settle_hold_action();
        self.apply_refund_reports(&report.refunds, source);
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
        if let Some(settled) = open.settled_by(&payment.order.fee, &transaction.state, self.now()) {
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

    /// Takes in what the provider says of the payment's refunds, also of those that somebody made there.
    fn apply_refund_reports(&mut self, reports: &[RefundReport], source: &str) {
        let known = |payment: &CardPayment, report: &RefundReport| {
            let is_it = |refund: &&Refund| {
                refund.provider_reference.as_ref() == Some(&report.id) || report.reference == Some(refund.id)
            };
            payment.refunds.iter().find(is_it).cloned()
        };
        // More than was paid cannot have been given back, whatever the provider says.
        let total = self.payment().amounts().total_debit;
        let recorded = reports.iter().filter(|report| report.status.counts());
        let recorded = recorded.filter(|report| known(self.payment(), report).is_some());
        let less = |left: Minor, booked| left.checked_sub(booked).unwrap_or_default();
        let mut left = recorded.fold(total, |left, report| less(left, report.total));
        for report in reports {
            match known(self.payment(), report) {
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
                    self.refund_at_provider(report, booked);
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

    /// Somebody made a refund at the provider; this much of it can be booked.
    fn refund_at_provider(&mut self, report: &RefundReport, booked: Minor) {
        let payment = self.payment();
        let fee = payment.amounts();
        let share = Refundable::after(&fee, &payment.refunds).divide(&fee, booked);
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
    pub(super) fn dispute(&mut self, news: DisputeReport, source: &str) {
        let DisputeReport { dispute: mut news, currency } = news;
        let (own, total) = (self.payment().order.currency, self.payment().amounts().total_debit);
        let foreign = currency.filter(|currency| currency != own.code());
        let amount = news.amount.max(news.withdrawn).unwrap_or_default();
        let kind = match &foreign {
            Some(_) => Some(DiscrepancyKind::Currency),
            None if amount > total => Some(DiscrepancyKind::Amount),
            None => None,
        };
        let discrepancy = kind.map(|kind| {
            let currency = foreign.as_deref().unwrap_or_else(|| own.code());
            let found = format!("dispute {} over {amount} {currency}", news.id);
            Discrepancy { kind, expected: format!("at most {total} {own}"), found }
        });
        if discrepancy.is_some() {
            // Zero and not `None`, which would leave what is known and let the contested amount stand for it.
            news.withdrawn = Some(Minor::ZERO);
        }
        let known = self.payment().disputes.iter().find(|known| known.id == news.id).cloned();
        let mut next = match known.clone() {
            Some(known) => known.followed_by(news),
            None => news,
        };
        if known.as_ref() == Some(&next) {
            return;
        }
        if discrepancy.is_some() {
            next.amount = None;
        }
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
