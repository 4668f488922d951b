//! A change of a payment under construction: what is decided is collected here and committed whole.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;
use tollgate_domain::{
    Flow, Timestamp,
    books::{self, PaymentRecords},
    card::{Attempt, Discrepancy, Preparation, Trigger},
    card_fee::{CardDecision, Consent},
    event::EventKind,
    hold::{Hold, HoldAction},
    id::{ChangeId, PostingId, TransactionId},
    limit,
    refund::{Refund, RefundStatus, with_refunds},
    transaction::{Dispute, Failure, Status, TransactionState},
};

use super::{
    at_provider::open_attempt,
    awaiting::{unread_since, unread_text},
    refund::is_missing,
    schedule,
};
use crate::{
    activity,
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    failpoint::failpoint,
    ports::{
        Call, CallLog, CardPayment, CardTransaction, Changed, NewCardPosting, NewEvent, PaymentChange,
        Progress, Reading, SettledProviderEvent, Store, StoreError, TransientError,
    },
    provider_account::AccountCheck,
    record::Committing,
    timeline::{self, Line},
};

/// A decision about a payment, not yet in force.
pub(super) struct PaymentUpdate<'e> {
    engine: &'e Engine,
    /// The payment as it will be.
    payment: CardPayment,
    from_revision: u64,
    at: Timestamp,
    request: Option<String>,
    /// The transaction as it was read.
    before: Option<TransactionState>,
    /// Whether it counted toward limits as it was read.
    counted: bool,
    transaction: Option<(TransactionId, TransactionState)>,
    /// Whether another card was declined after one that was.
    declined_again: bool,
    /// True if the preparation failed: no event leads the search index to it.
    preparation_failed: bool,
    attempt: Option<Attempt>,
    /// The refunds and disputes as they were read.
    refunds_before: Vec<Refund>,
    disputes_before: Vec<Dispute>,
    /// Refunds to be written, each with the status it was read in.
    refunds: Vec<(Option<RefundStatus>, Refund)>,
    disputes: Vec<Dispute>,
    hold_actions: Vec<HoldAction>,
    objects: Vec<String>,
    lines: Vec<Line>,
    discrepancies: Vec<(Discrepancy, String)>,
    event: Option<SettledProviderEvent>,
    new_events: Vec<EventKind>,
    /// Where it is written, if not to the engine's own store.
    audited: Option<Arc<dyn Store>>,
}

impl<'e> PaymentUpdate<'e> {
    /// A decision about `payment` as it was just read.
    pub(super) fn of(engine: &'e Engine, payment: CardPayment, request: Option<&str>) -> Self {
        let now = engine.clock.now();
        Self {
            engine,
            from_revision: payment.revision,
            at: now.max(no_earlier_than(&payment)),
            request: request.map(str::to_owned),
            before: payment.transaction.as_ref().map(|transaction| transaction.state.clone()),
            counted: counts(&payment),
            transaction: None,
            declined_again: false,
            preparation_failed: false,
            attempt: None,
            refunds_before: payment.refunds.clone(),
            disputes_before: payment.disputes.clone(),
            refunds: Vec::new(),
            disputes: Vec::new(),
            hold_actions: Vec::new(),
            objects: Vec::new(),
            lines: Vec::new(),
            discrepancies: Vec::new(),
            event: None,
            new_events: Vec::new(),
            audited: None,
            payment,
        }
    }

    pub(super) fn engine(&self) -> &'e Engine {
        self.engine
    }

    /// The moment of the decision.
    pub(super) fn now(&self) -> Timestamp {
        self.at
    }

    /// The payment as it will be.
    pub(super) fn payment(&self) -> &CardPayment {
        &self.payment
    }

    /// The transaction as it was read.
    pub(super) fn before(&self) -> Option<&TransactionState> {
        self.before.as_ref()
    }

    /// What is to change besides transaction and attempts.
    pub(super) fn progress(&mut self) -> &mut Progress {
        &mut self.payment.progress
    }

    /// Whether the transaction will be another.
    pub(super) fn moves(&self) -> bool {
        self.transaction.is_some()
    }

    /// Whether somebody has to look at it.
    pub(super) fn has_discrepancies(&self) -> bool {
        !self.discrepancies.is_empty()
    }

    /// A line of the timeline.
    pub(super) fn line(&mut self, kind: &'static str, detail: Value) {
        self.lines.push((self.at, kind, detail));
    }

    /// A line about an earlier moment.
    pub(super) fn line_at(&mut self, at: Timestamp, kind: &'static str, detail: Value) {
        self.lines.push((at, kind, detail));
    }

    /// What was asked of the provider.
    pub(super) fn record_calls(&mut self, logs: &[CallLog]) {
        let order = &self.payment.order;
        self.engine.note_calls(order.environment, &order.provider, Some(order.id.to_bytes()), logs);
        self.lines.extend(timeline::calls(logs, &order.provider, self.at));
    }

    /// Where the preparation stands from now on.
    pub(super) fn preparation(&mut self, to: Preparation, why: Option<&Failure>) {
        let from = std::mem::replace(&mut self.payment.progress.preparation, to);
        if from != to {
            let failure = why.map(timeline::failure);
            let detail = json!({ "from": from.as_str(), "to": to.as_str(), "failure": failure });
            self.line("preparation", detail);
            // What was tried before is another matter: it does not slow down the next check.
            self.payment.progress.tries = 0;
            self.preparation_failed = matches!(to, Preparation::Refused | Preparation::Withdrawn);
            if to == Preparation::Prepared {
                self.payment.progress.prepared_at.get_or_insert(self.at);
                self.new_events.push(EventKind::PaymentPrepared);
            }
        }
    }

    /// A payment that was to leave its provider does not: there it can be paid, as its caller was told before.
    pub(super) fn stay(&mut self) {
        let from = std::mem::replace(&mut self.payment.progress.preparation, Preparation::Prepared);
        if from != Preparation::Prepared {
            let to = Preparation::Prepared.as_str();
            self.line("preparation", json!({ "from": from.as_str(), "to": to, "failure": null }));
            self.payment.progress.tries = 0;
        }
    }

    /// What the transaction is from now on.
    pub(super) fn transaction(&mut self, mut state: TransactionState) {
        if let (None, Some(card_fee)) = (&state.charged, &self.payment.progress.card_fee) {
            state.charged = Some(Box::new(card_fee.agreed(&self.payment.order.fee)));
        }
        let before = self.payment.transaction.as_ref().map(|transaction| &transaction.state);
        self.lines.extend(
            timeline::moves(before, &state).into_iter().map(|(kind, detail)| (self.at, kind, detail)),
        );
        // A transaction that moved is a new matter: what was tried before does not slow down the next check.
        self.payment.progress.tries = 0;
        let id = before_id(&self.payment);
        let recorded =
            CardTransaction { id, state: state.clone(), created_at: self.began_at(), updated_at: self.at };
        self.payment.transaction = Some(recorded);
        self.transaction = Some((id, state));
    }

    /// The date of the transaction. A component is confirmed by a request, and its answer must have the date that will be
    /// recorded also where nothing can be recorded now: so it has that of the payment. A hosted checkout becomes a
    /// transaction when it is found to be paid.
    fn began_at(&self) -> Timestamp {
        let order = &self.payment.order;
        match &self.payment.transaction {
            Some(recorded) => recorded.created_at,
            None if order.flow == Flow::PaymentComponent => order.created_at,
            None => self.at,
        }
    }

    /// A charge has been sent, or may have been, and its outcome is not known: from now on there is a transaction, under
    /// the provider's name for it where that is known.
    pub(super) fn in_doubt(&mut self, provider_reference: Option<String>) {
        let next = match self.payment.transaction.as_ref().map(|transaction| transaction.state.clone()) {
            None => TransactionState { provider_reference, ..TransactionState::pending() },
            // The customer tries again: `pending` does not follow `failed`, `processing` does. What the provider called
            // the declined charge is not the name of this one.
            Some(state) if state.status == Status::Failed => {
                let (status, failure, charged) = (Status::Processing, None, None);
                TransactionState { status, provider_reference, failure, charged, ..state }
            }
            Some(_) => return,
        };
        self.transaction(next);
    }

    /// A charge has failed, and the transaction with it.
    pub(super) fn charge_failed(&mut self, failure: Failure) {
        let before = self.payment.transaction.as_ref().map(|transaction| transaction.state.clone());
        let before = before.unwrap_or_else(TransactionState::pending);
        let (status, failure, charged) = (Status::Failed, Some(failure), None);
        self.transaction(TransactionState { status, failure, charged, ..before });
        self.note_declined_again();
    }

    /// The status of a transaction that failed stays what it was when the next card is declined, too; that it was is
    /// recorded and reported all the same.
    pub(super) fn note_declined_again(&mut self) {
        let failed = |state: &TransactionState| state.status == Status::Failed;
        let state = self.payment.transaction.as_ref().map(|transaction| transaction.state.clone());
        let Some(state) = state.filter(|state| failed(state) && self.before.as_ref().is_some_and(failed))
        else {
            return;
        };
        self.line("status", timeline::status_line(Some(Status::Failed), &state));
        self.transaction(state);
        self.declined_again = true;
    }

    /// What was decided about the fee for a card.
    pub(super) fn decide_card_fee(&mut self, decided: CardDecision) {
        self.line("card_fee", timeline::card_fee(&decided));
        if let Some(card_fee) = &mut self.payment.progress.card_fee {
            card_fee.card = Some(decided);
        }
    }

    /// The payer has agreed to what was decided for their card, which this attempt charges.
    pub(super) fn consent(&mut self, attempt: u32, agreed: &CardDecision) {
        let (at, currency) = (self.at, self.payment.order.currency);
        let Some(card_fee) = &mut self.payment.progress.card_fee else { return };
        let text = agreed.decision.disclosure(currency, &agreed.amounts);
        let detail = json!({
            "attempt": attempt,
            "text": text,
            "feeMinor": agreed.amounts.fee.to_string(),
            "totalDebitMinor": agreed.amounts.total_debit.to_string(),
        });
        card_fee.card = Some(agreed.clone());
        card_fee.consents.push(Consent { attempt, text, card: agreed.clone(), at });
        self.line("consent", detail);
    }

    /// An attempt to add, or to put in the place of the one of the same number.
    pub(super) fn attempt(&mut self, attempt: Attempt) {
        let attempts = &mut self.payment.attempts;
        match attempts.iter_mut().find(|known| known.number == attempt.number) {
            Some(known) => *known = attempt.clone(),
            None => attempts.push(attempt.clone()),
        }
        self.attempt = Some(attempt);
    }

    /// A refund to add, or to put in the place of the one of the same id; the transaction follows.
    pub(super) fn refund(&mut self, refund: Refund) {
        self.line("refund", timeline::refund(&refund));
        let refunds = &mut self.payment.refunds;
        let before = if let Some(known) = refunds.iter_mut().find(|known| known.id == refund.id) {
            Some(std::mem::replace(known, refund.clone()).status)
        } else {
            refunds.push(refund.clone());
            None
        };
        match self.refunds.iter_mut().find(|(_, changed)| changed.id == refund.id) {
            Some((_, changed)) => *changed = refund,
            None => self.refunds.push((before, refund)),
        }
        let Some(transaction) = &self.payment.transaction else { return };
        let next = with_refunds(&self.payment.amounts(), &transaction.state, &self.payment.refunds);
        // A refund's event shows the transaction as it then is, also where that does not change.
        self.transaction(next);
    }

    /// A dispute to add, or to put in the place of the one of the same id; the transaction shows it.
    pub(super) fn put_dispute(&mut self, dispute: Dispute) {
        let Some(state) = self.payment.transaction.as_ref().map(|it| it.state.clone()) else { return };
        for disputes in [&mut self.payment.disputes, &mut self.disputes] {
            match disputes.iter_mut().find(|known| known.id == dispute.id) {
                Some(known) => *known = dispute.clone(),
                None => disputes.push(dispute.clone()),
            }
        }
        self.transaction(TransactionState { dispute: Some(dispute), ..state });
    }

    /// What the books of the payment gain by this decision.
    fn postings(&self) -> Result<Vec<NewCardPosting>, StoreError> {
        let Self { payment, before, refunds_before, disputes_before, .. } = self;
        // Before it was paid there was nothing to post, whatever the amounts were.
        let fee = &payment.amounts();
        let was = PaymentRecords {
            fee,
            status: before.as_ref().map(|state| state.status),
            refunds: refunds_before,
            disputes: disputes_before,
        };
        let will_be = PaymentRecords {
            fee,
            status: payment.transaction.as_ref().map(|transaction| transaction.state.status),
            refunds: &payment.refunds,
            disputes: &payment.disputes,
        };
        let posting =
            |posting| Ok(NewCardPosting { id: self.engine.new_id(PostingId::new)?, at: self.at, posting });
        books::postings(was, will_be).into_iter().map(posting).collect()
    }

    /// A capture or void to add, or to put in the place of the one of the same id; the transaction shows whether one is
    /// pending.
    pub(super) fn hold_action(&mut self, action: &HoldAction) {
        self.line(action.kind.as_str(), timeline::hold_action(action));
        let pending = Some(action.kind).filter(|_| action.status.is_open());
        for actions in [&mut self.payment.hold_actions, &mut self.hold_actions] {
            match actions.iter_mut().find(|known| known.id == action.id) {
                Some(known) => *known = action.clone(),
                None => actions.push(action.clone()),
            }
        }
        let state = self.payment.transaction.as_ref().map(|transaction| transaction.state.clone());
        let Some(state) = state else { return };
        let hold = Some(Hold { pending, ..state.hold.unwrap_or_default() });
        if state.hold != hold {
            self.transaction(TransactionState { hold, ..state });
        }
    }

    /// Names the provider has for the payment.
    pub(super) fn objects(&mut self, names: impl IntoIterator<Item = String>) {
        self.objects.extend(names);
    }

    /// What does not fit together, and how it came to our notice.
    pub(super) fn record_discrepancies(&mut self, discrepancies: Vec<Discrepancy>, source: &str) {
        for discrepancy in discrepancies {
            self.line("exception", timeline::exception(&discrepancy, source));
            self.discrepancies.push((discrepancy, source.to_owned()));
        }
    }

    /// The provider's event that is done with, or not, by this decision.
    pub(super) fn settle(&mut self, event: SettledProviderEvent) {
        self.event = Some(event);
    }

    /// The payment goes its ordinary way.
    pub(super) fn schedule_next_check(&mut self) {
        let options = &self.engine.options.resolver;
        self.payment.progress.due = schedule::next_check(&self.payment, self.at, options);
        self.payment.progress.follow_up = schedule::next_follow_up(&self.payment, self.at);
        self.payment.progress.waiting = None;
    }

    /// A check of a paid payment got no answer.
    pub(super) fn follow_up_again(&mut self) {
        self.payment.progress.follow_up = schedule::next_follow_up_try(&self.payment, self.at);
    }

    /// The provider did not respond that tells.
    pub(super) fn try_again(&mut self, transient: &TransientError) {
        if open_attempt(&self.payment).is_some() {
            self.in_doubt(None);
        }
        let options = &self.engine.options.resolver;
        self.payment.progress.due = Some(schedule::next_retry(&self.payment, self.at, transient, options));
        let unread = unread_since(&self.payment).map(unread_text);
        let reason = [Some(transient.reason.clone()), unread];
        self.payment.progress.waiting = Some(reason.into_iter().flatten().collect::<Vec<_>>().join("; "));
    }

    /// The configuration leads to another account than the one it was sent to: an operator decides.
    pub(super) fn wait_for_account(&mut self, check: &AccountCheck) {
        let transient = check.transient_error();
        let waiting = self.payment.progress.waiting.as_deref();
        if !waiting.is_some_and(|waiting| waiting.starts_with(&transient.reason)) {
            self.record_discrepancies(vec![check.discrepancy()], "resolver");
        }
        self.try_again(&transient);
    }

    /// Takes over what the provider was found to have, and says whether that could be read.
    pub(super) fn note_reading(&mut self, reading: Call<Reading>, check: &AccountCheck) -> bool {
        let Call { outcome, logs } = reading;
        let is_read = outcome.is_ok();
        match outcome {
            Ok(Reading::CannotBeAsked(known)) => self.note_unasked(known.as_deref(), &logs),
            Ok(Reading::Report(report)) => {
                self.apply_report(&report, Trigger::Other, "resolver");
                if self.moves() || self.has_discrepancies() {
                    self.record_calls(&logs);
                }
                self.schedule_next_check();
            }
            Err(error) => {
                self.record_calls(&logs);
                if is_missing(&error) && !check.is_unchanged() {
                    self.wait_for_account(check);
                } else {
                    self.try_again(&error.into_transient());
                }
            }
        }
        is_read
    }

    /// Somebody works on it from now on, and has so long.
    pub(super) fn lease(&mut self) {
        self.payment.progress.due = Some(self.at.saturating_add(self.engine.options.resolver.lease));
    }

    /// Adds an entry to the audit log in the same commit.
    pub(super) fn audit(&mut self, origin: &Origin, done: Audited) {
        self.audited = Some(self.engine.audited(origin, done));
    }

    /// Makes the decision stand, and returns the payment as it now is; `None` if the payment changed meanwhile. A commit
    /// whose answer was lost is asked about for as long as a request may take.
    pub(super) fn commit(self) -> Committing<'e, CardPayment> {
        // In a box: whoever awaits it would otherwise carry all of it about.
        Box::pin(self.commit_now())
    }

    async fn commit_now(self) -> Result<Option<CardPayment>, StoreError> {
        let (postings, began_at) = (self.postings()?, self.began_at());
        let Self { engine, mut payment, from_revision, at, request, .. } = self;
        let entries = engine.entries(self.lines, request.as_deref())?;
        let exceptions = engine.exceptions_of(self.discrepancies, at)?;
        let transaction = match self.transaction {
            Some((id, state)) if id == UNRECORDED => {
                // Lists are in the order of ids, and are filtered by date.
                let id = engine.new_id(|_, random| TransactionId::new(began_at, random))?;
                if let Some(recorded) = &mut payment.transaction {
                    recorded.id = id;
                }
                Some((id, state))
            }
            recorded => recorded,
        };
        let changed =
            transaction.as_ref().map(|(_, state)| EventKind::of_change(self.before.as_ref(), state));
        let (before_refunds, after_refunds) = changed.unwrap_or_default();
        let again = self.declined_again.then_some(EventKind::Transaction(Status::Failed));
        let revision = from_revision.saturating_add(1);
        let mut new_events = Vec::new();
        for kind in self.new_events.into_iter().chain(again).chain(before_refunds) {
            new_events.push(engine.new_event(kind, revision)?);
        }
        for (before, refund) in &self.refunds {
            let waits = before.is_none() && refund.waits_for_approval();
            let waits = waits.then_some(EventKind::ApprovalRequired);
            for kind in EventKind::of_refund(*before, refund.status).into_iter().chain(waits) {
                let refund = Some(Box::new(refund.clone()));
                new_events.push(NewEvent { refund, ..engine.new_event(kind, revision)? });
            }
        }
        for kind in after_refunds {
            new_events.push(engine.new_event(kind, revision)?);
        }
        let change = PaymentChange {
            id: engine.new_id(ChangeId::new)?,
            from_revision,
            at,
            progress: payment.progress.clone(),
            transaction,
            began_at,
            attempt: self.attempt,
            refunds: self.refunds.into_iter().map(|(_, refund)| refund).collect(),
            disputes: self.disputes,
            postings,
            counts: Some(counts(&payment)).filter(|counts| *counts != self.counted),
            hold_actions: self.hold_actions,
            objects: self.objects,
            entries,
            exceptions,
            event: self.event,
            new_events,
        };
        let order = &payment.order;
        failpoint!("payment.before_change");
        let deadline = Instant::now() + engine.options.request_deadline;
        let store = self.audited.as_ref().unwrap_or(&engine.store);
        let changing = || store.change_payment(order.environment, order.id, &change);
        match engine.retry_until_known(deadline, changing).await? {
            Changed::Done => {
                failpoint!("payment.after_change");
                if !change.new_events.is_empty() {
                    engine.outbox_notify.notify_one();
                }
                let total = payment.amounts().total_debit;
                for event in &change.new_events {
                    activity::changed(order.id, event.kind, total, order.currency, &order.provider);
                }
                if self.preparation_failed {
                    engine.index_failed_preparation(order).await;
                }
                payment.revision = revision;
                Ok(Some(payment))
            }
            Changed::Stale => Ok(None),
            Changed::Missing => Err(StoreError::Broken("payment not found".to_owned())),
        }
    }
}

fn counts(payment: &CardPayment) -> bool {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    limit::card_counts(payment.progress.preparation, status)
}

/// A change of a payment that was or can be switched to another provider is dated after the changes before it, even if the
/// servers' clocks differ: by its date, an event shows the provider the payment was at.
fn no_earlier_than(payment: &CardPayment) -> Timestamp {
    let left = payment.order.route.left.last().map(|left| left.until.saturating_add(TICK));
    let told = payment.transaction.as_ref().map(|transaction| transaction.updated_at);
    let refunded = payment.refunds.iter().map(|refund| refund.updated_at).max();
    let latest = left.max(told).max(refunded).max(payment.progress.prepared_at);
    latest.unwrap_or(payment.order.created_at).max(payment.order.created_at)
}

const TICK: Duration = Duration::from_millis(1);

/// Stands in for the id of a transaction that is not recorded yet, until the commit draws one.
const UNRECORDED: TransactionId = TransactionId::from_bytes([0; 16]);

fn before_id(payment: &CardPayment) -> TransactionId {
    payment.transaction.as_ref().map_or(UNRECORDED, |transaction| transaction.id)
}
