//! A change of a transfer under construction: what is decided is collected here and committed whole, funds included.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;
use tollgate_domain::{
    Timestamp,
    ach::{AchProviderReport, AchProviderStatus, Correction, decide_status},
    approval::{Approval, ApprovalState},
    card::{Discrepancy, DiscrepancyKind},
    event::EventKind,
    id::{ChangeId, EventId, PostingId},
    ledger::TransferStep,
    limit,
    transaction::{Failure, Status, TransactionState},
};
use tracing::warn;

use super::send_lines::{NOT_SENT_YET, not_sent_yet};
use crate::{
    activity,
    audit_log::Audited,
    backoff::exponential_backoff,
    configure::Origin,
    engine::Engine,
    failpoint::failpoint,
    ports::{
        CallLog, Changed, SettledProviderEvent, Store, StoreError, Transfer, TransferChange, TransferPosting,
        TransientError,
    },
    provider_account::AccountCheck,
    record::Committing,
    timeline::{self, Line},
};

const MAX_CHECK: Duration = Duration::from_hours(6);
const MAX_RETRY: Duration = Duration::from_mins(10);
/// Somebody waits for the answer.
const MAX_CANCEL_RETRY: Duration = Duration::from_secs(20);
/// A transfer that arrived can come back for some days; the webhook tells, and these looks notice if it did not.
const AFTER_ARRIVAL: Duration = Duration::from_hours(24);
const CHECKS_AFTER_ARRIVAL: u32 = 6;

/// The line of a refusal that a lookup has yet to confirm: what it says is the failure once it is confirmed.
pub(super) const REFUSED: &str = "refused";

/// The line of a request to send that was not answered.
pub(super) const UNANSWERED: &str = "unanswered";

/// A decision about a transfer, not yet in force.
pub(super) struct TransferUpdate<'e> {
    engine: &'e Engine,
    /// The transfer as it will be.
    transfer: Transfer,
    from_revision: u64,
    from_status: Status,
    at: Timestamp,
    request: Option<String>,
    moved: bool,
    /// Whether the receiving bank asked for a correction.
    is_corrected: bool,
    step: Option<TransferStep>,
    lines: Vec<Line>,
    discrepancies: Vec<(Discrepancy, String)>,
    event: Option<SettledProviderEvent>,
    /// Whether people are told that it waits for them.
    is_announced: bool,
    /// Where it is written, if not to the engine's own store.
    audited: Option<Arc<dyn Store>>,
}

impl<'e> TransferUpdate<'e> {
    /// A decision about `transfer` as it was just read.
    pub(super) fn of(engine: &'e Engine, transfer: Transfer, request: Option<&str>) -> Self {
        Self {
            engine,
            from_revision: transfer.revision,
            from_status: transfer.state.status,
            // Times never go back, whichever node made the change before.
            at: engine.clock.now().max(transfer.updated_at),
            request: request.map(str::to_owned),
            moved: false,
            is_corrected: false,
            step: None,
            lines: Vec::new(),
            discrepancies: Vec::new(),
            event: None,
            is_announced: false,
            audited: None,
            transfer,
        }
    }

    /// Whether anything is told that is worth a line.
    pub(super) fn is_notable(&self) -> bool {
        !self.lines.is_empty()
    }

    /// A line of the timeline.
    pub(super) fn line(&mut self, kind: &'static str, detail: Value) {
        self.lines.push((self.at, kind, detail));
    }

    /// What was asked of the provider.
    pub(super) fn record_calls(&mut self, logs: &[CallLog]) {
        let order = &self.transfer.order;
        self.engine.note_calls(order.environment, &order.provider, Some(order.id.to_bytes()), logs);
        self.lines.extend(timeline::calls(logs, &order.provider, self.at));
    }

    /// Takes in what the provider says; `source` says how it came to our notice.
    pub(super) fn apply_report(&mut self, report: &AchProviderReport, source: &str) {
        let decision = decide_status(&self.transfer.order, &self.transfer.state, report);
        let agrees = decision.discrepancies.is_empty();
        for discrepancy in decision.discrepancies {
            self.line("exception", timeline::exception(&discrepancy, source));
            self.discrepancies.push((discrepancy, source.to_owned()));
        }
        if let Some(next) = decision.next {
            self.state(next);
            self.step = decision.step;
        }
        if !agrees {
            return;
        }
        self.note_corrections(&report.corrections);
        let progress = &mut self.transfer.progress;
        // The provider has it: only the last four digits stay here.
        progress.sealed_account = None;
        progress.expected_on = report.expected_on.clone().or(progress.expected_on.take());
        let waited = progress.waiting.take();
        self.schedule_next_check();
        if let Some(reason) = report.provider_status.waits_for() {
            if waited.as_deref() != Some(reason) {
                self.line("waiting", json!({ "reason": reason }));
            }
            self.transfer.progress.waiting = Some(reason.to_owned());
        }
    }

    /// The provider takes back that the transfer has arrived. The transaction stays succeeded; an exception asks an operator to
    /// find out whether the money is there.
    pub(super) fn note_taken_back(&mut self, word: &str, report: &AchProviderReport, source: &str) {
        let is_open = matches!(report.provider_status, AchProviderStatus::Accepted | AchProviderStatus::Sent);
        if self.transfer.state.status == Status::Succeeded && is_open {
            let discrepancy = Discrepancy {
                kind: DiscrepancyKind::Status,
                expected: Status::Succeeded.as_str().to_owned(),
                found: format!("{} ({word})", Status::Processing.as_str()),
            };
            self.line("exception", timeline::exception(&discrepancy, source));
            self.discrepancies.push((discrepancy, source.to_owned()));
        }
    }

    /// Takes in what the receiving bank wants corrected. What cannot be sealed now is not kept, and found again later.
    fn note_corrections(&mut self, reported: &[Correction]) {
        match self.engine.merge_corrections(&self.transfer, reported) {
            Ok(Some((corrections, news))) => {
                self.line("notification_of_change", news);
                self.transfer.progress.corrections = corrections;
                self.transfer.updated_at = self.at;
                self.is_corrected = true;
            }
            Ok(None) => {}
            Err(error) => warn!(%error, "a corrected account number could not be sealed"),
        }
    }

    /// The provider refused it: the funds are available again.
    pub(super) fn reject(&mut self, failure: Failure) {
        let state = self.transfer.state.clone();
        self.state(TransactionState { status: Status::Failed, failure: Some(failure), ..state });
        self.step = Some(TransferStep::Release);
        self.transfer.progress.sealed_account = None;
        self.schedule_next_check();
    }

    /// It is to be canceled. Its bank details go now, so that nobody begins to send it.
    pub(super) fn request_cancel(&mut self) {
        let progress = &mut self.transfer.progress;
        progress.cancel_requested_at = Some(self.at);
        progress.sealed_account = None;
        progress.tries = 0;
        progress.due = Some(self.at.saturating_add(self.engine.options.resolver.lease));
        progress.waiting = Some("asking the provider to cancel it".to_owned());
    }

    /// The node that commits this is the only one to send it until its lease ends.
    pub(super) fn renew_lease(&mut self) {
        self.transfer.progress.due = Some(self.at.saturating_add(self.engine.options.resolver.lease));
    }

    /// The provider could not cancel it anymore.
    pub(super) fn cancel_rejected(&mut self) {
        if self.transfer.progress.cancel_requested_at.take().is_some() {
            self.line("cancel_rejected", json!({}));
        }
    }

    /// People are told that it waits for them. Nobody looks after it until they have decided.
    pub(super) fn wait_for_approval(&mut self) {
        self.transfer.progress.due = None;
        self.transfer.progress.tries = 0;
        self.is_announced = true;
    }

    /// What people have decided. Approved, it is due, and is sent by whoever looks after it first; denied, it is canceled.
    pub(super) fn decide(&mut self, approval: Approval) {
        let state = approval.state;
        self.transfer.progress.approval = Some(approval);
        self.transfer.updated_at = self.at;
        match state {
            ApprovalState::Required => {}
            ApprovalState::Approved => {
                // Until now nobody may send it.
                self.line(NOT_SENT_YET, not_sent_yet(&self.transfer));
                self.transfer.progress.tries = 0;
                self.transfer.progress.due = Some(self.at.saturating_add(self.engine.options.resolver.lease));
            }
            ApprovalState::Denied | ApprovalState::Canceled => self.cancel_unsent(),
        }
    }

    /// Adds an entry to the audit log in the same commit.
    pub(super) fn audit(&mut self, origin: &Origin, done: Audited) {
        self.audited = Some(self.engine.audited(origin, done));
    }

    /// It is canceled, and was certainly never sent.
    pub(super) fn cancel_unsent(&mut self) {
        self.transfer.progress.sealed_account = None;
        let state = self.transfer.state.clone();
        self.state(TransactionState { status: Status::Canceled, ..state });
        self.step = Some(TransferStep::Release);
        self.schedule_next_check();
    }

    /// The provider refused it for lack of its own funds, and could not yet be asked whether it took an earlier request
    /// under the same key. The bank details go now: an old payout must not leave when the account is funded again.
    pub(super) fn reject_unless_found(&mut self, failure: &Failure) {
        self.transfer.progress.sealed_account = None;
        self.line(REFUSED, json!({ "failure": timeline::failure(failure) }));
        let reason = format!("refused, and not yet confirmed by a lookup: {}", failure.message);
        self.try_again(&TransientError { reason, retry_after: None });
    }

    /// It can never be sent again, and fails unless the provider has it. Its bank details are deleted now; the provider is asked once
    /// more when every send that was begun must have ended.
    pub(super) fn give_up_unless_found(&mut self, failure: &Failure) {
        self.reject_unless_found(failure);
        self.renew_lease();
    }

    /// A request was sent and not answered: the provider may carry it out later.
    pub(super) fn unanswered(&mut self, transient: &TransientError) {
        self.line(UNANSWERED, json!({ "reason": transient.reason }));
        self.try_again(transient);
    }

    /// The provider did not respond that tells.
    pub(super) fn try_again(&mut self, transient: &TransientError) {
        let first = self.engine.options.resolver.first_retry;
        let is_canceling = self.transfer.progress.cancel_requested_at.is_some();
        let longest = if is_canceling { MAX_CANCEL_RETRY } else { MAX_RETRY };
        let pause = exponential_backoff(first, 2, self.transfer.progress.tries, longest);
        let pause = pause.max(transient.retry_after.unwrap_or_default().min(MAX_CHECK));
        self.transfer.progress.due = Some(self.at.saturating_add(pause));
        self.transfer.progress.waiting = Some(transient.reason.clone());
    }

    /// The configuration leads to another account than the one it was sent to: an operator decides.
    pub(super) fn wait_for_account(&mut self, check: &AccountCheck) {
        let transient = check.transient_error();
        if self.transfer.progress.waiting.as_deref() != Some(transient.reason.as_str()) {
            let discrepancy = check.discrepancy();
            self.line("exception", timeline::exception(&discrepancy, "resolver"));
            self.discrepancies.push((discrepancy, "resolver".to_owned()));
        }
        self.try_again(&transient);
    }

    /// The provider's event that is done with by this decision.
    pub(super) fn settle(&mut self, event: SettledProviderEvent) {
        self.event = Some(event);
    }

    fn state(&mut self, state: TransactionState) {
        let moves = timeline::moves(Some(&self.transfer.state), &state);
        self.lines.extend(moves.into_iter().map(|(kind, detail)| (self.at, kind, detail)));
        if !matches!(state.status, Status::Pending | Status::Processing) {
            self.transfer.progress.cancel_requested_at = None;
        }
        self.transfer.state = state;
        self.transfer.progress.tries = 0;
        self.transfer.updated_at = self.at;
        self.moved = true;
    }

    fn schedule_next_check(&mut self) {
        let progress = &mut self.transfer.progress;
        let first = self.engine.options.resolver.first_check;
        let pause = match self.transfer.state.status {
            Status::Pending | Status::Processing => {
                Some(exponential_backoff(first, 3, progress.tries, MAX_CHECK))
            }
            Status::Succeeded if progress.tries < CHECKS_AFTER_ARRIVAL => Some(AFTER_ARRIVAL),
            Status::Authorized | Status::Succeeded | Status::Failed | Status::Canceled | Status::Refunded => {
                None
            }
        };
        progress.due = pause.map(|pause| self.at.saturating_add(pause));
        progress.waiting = None;
    }

    /// Makes the decision stand, and returns the transfer as it now is; `None` if it changed meanwhile.
    pub(super) fn commit(self) -> Committing<'e, Transfer> {
        let deadline = Instant::now() + self.engine.options.request_deadline;
        self.commit_by(deadline)
    }

    /// The same, where a commit whose answer was lost is asked about until then.
    pub(super) fn commit_by(self, deadline: Instant) -> Committing<'e, Transfer> {
        // In a box: whoever awaits it would otherwise carry all of it about.
        Box::pin(self.commit_now(deadline))
    }

    async fn commit_now(self, deadline: Instant) -> Result<Option<Transfer>, StoreError> {
        let Self { engine, mut transfer, at, .. } = self;
        let posting = match self.step {
            Some(step) => Some(TransferPosting {
                id: engine.new_id(PostingId::new)?,
                cause: step.cause(),
                entries: step.entries(&transfer.order.fee),
            }),
            None => None,
        };
        let moved = EventKind::of_move(Some(self.from_status), transfer.state.status);
        let corrected = self.is_corrected.then_some(EventKind::NotificationOfChange);
        let announced = self.is_announced.then_some(EventKind::ApprovalRequired);
        let told = moved.into_iter().chain(corrected).chain(announced);
        let counts = limit::transfer_counts(transfer.state.status);
        // Its reservation has no lines of its own: the first change tells what was passed over before.
        let passed_over =
            if self.from_revision == 0 { transfer.order.route.attempts.as_slice() } else { &[] };
        let mut lines: Vec<_> = timeline::route(passed_over, transfer.order.created_at).collect();
        lines.extend(self.lines);
        let revision = self.from_revision.saturating_add(1);
        let change = TransferChange {
            id: engine.new_id(ChangeId::new)?,
            from_revision: self.from_revision,
            reservation: (self.from_revision == 0).then_some(transfer.transaction),
            at,
            state: (self.moved || self.is_corrected || self.is_announced).then(|| transfer.state.clone()),
            progress: transfer.progress.clone(),
            posting,
            counts: (counts != limit::transfer_counts(self.from_status)).then_some(counts),
            entries: engine.entries(lines, self.request.as_deref())?,
            exceptions: engine.exceptions_of(self.discrepancies, at)?,
            event: self.event,
            pending_event: (self.from_revision == 0).then(|| engine.new_id(EventId::new)).transpose()?,
            new_events: told.map(|kind| engine.new_event(kind, revision)).collect::<Result<_, _>>()?,
        };
        let order = &transfer.order;
        failpoint!("transfer.before_change");
        let store = self.audited.as_ref().unwrap_or(&engine.store);
        let changing = || store.change_transfer(order.environment, order.id, &change);
        match engine.retry_until_known(deadline, changing).await? {
            Changed::Done => {
                failpoint!("transfer.after_change");
                if change.pending_event.is_some() || !change.new_events.is_empty() {
                    engine.outbox_notify.notify_one();
                }
                let pending = change.pending_event.map(|_| EventKind::Transaction(Status::Pending));
                for kind in pending.into_iter().chain(change.new_events.iter().map(|event| event.kind)) {
                    let total = order.fee.total_debit;
                    activity::changed(order.id, kind, total, order.currency, &order.provider);
                }
                transfer.revision = revision;
                Ok(Some(transfer))
            }
            // Missing: its reservation was taken back meanwhile.
            Changed::Stale | Changed::Missing => Ok(None),
        }
    }
}
