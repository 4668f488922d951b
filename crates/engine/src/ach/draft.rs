//! A change of a transfer under construction: what is decided is collected here and committed whole, funds included.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tollgate_domain::{
    Timestamp,
    ach::{AchSighting, AchStanding, judge},
    card::Disagreement,
    event::EventKind,
    id::{ChangeId, EventId, PostingId},
    ledger::TransferStep,
    transaction::{Failure, Status, TransactionState},
};

use crate::{
    engine::Engine,
    failpoint::failpoint,
    growing::growing,
    ports::{CallLog, Changed, SettledEvent, StoreError, Transfer, TransferChange, TransferPosting, Trouble},
    provider_account::AccountCheck,
    timeline::{self, Line},
};

const LONGEST_CHECK: Duration = Duration::from_hours(6);
const LONGEST_RETRY: Duration = Duration::from_mins(10);
/// A transfer that arrived can come back for some days; the webhook tells, and these looks notice if it did not.
const AFTER_ARRIVAL: Duration = Duration::from_hours(24);
const LOOKS_AFTER_ARRIVAL: u32 = 6;

/// A decision about a transfer, not yet in force.
pub(super) struct Draft<'e> {
    engine: &'e Engine,
    /// The transfer as it will be.
    transfer: Transfer,
    from_revision: u64,
    from_status: Status,
    at: Timestamp,
    request: Option<String>,
    moved: bool,
    step: Option<TransferStep>,
    lines: Vec<Line>,
    disagreements: Vec<(Disagreement, String)>,
    event: Option<SettledEvent>,
}

impl<'e> Draft<'e> {
    /// A decision about `transfer` as it was just read.
    pub(super) fn of(engine: &'e Engine, transfer: Transfer, request: Option<&str>) -> Self {
        Self {
            engine,
            from_revision: transfer.revision,
            from_status: transfer.state.status,
            at: engine.clock.now(),
            request: request.map(str::to_owned),
            moved: false,
            step: None,
            lines: Vec::new(),
            disagreements: Vec::new(),
            event: None,
            transfer,
        }
    }

    /// Whether anything is told that is worth a line.
    pub(super) fn tells(&self) -> bool {
        self.moved || !self.disagreements.is_empty()
    }

    /// A line of the timeline.
    pub(super) fn line(&mut self, kind: &'static str, detail: Value) {
        self.lines.push((self.at, kind, detail));
    }

    /// What was asked of the provider.
    pub(super) fn called(&mut self, logs: &[CallLog]) {
        let order = &self.transfer.order;
        self.engine.provider_watch.note(order.environment, &order.provider, logs);
        self.lines.extend(timeline::calls(logs, &order.provider, self.at));
    }

    /// Takes in what the provider says; `source` says how it came to our notice.
    pub(super) fn sight(&mut self, sighting: &AchSighting, source: &str) {
        let verdict = judge(&self.transfer.order, &self.transfer.state, sighting);
        let agrees = verdict.disagreements.is_empty();
        for disagreement in verdict.disagreements {
            self.line("exception", timeline::exception(&disagreement, source));
            self.disagreements.push((disagreement, source.to_owned()));
        }
        if let Some(next) = verdict.next {
            self.state(next);
            self.step = verdict.step;
        }
        if !agrees {
            return;
        }
        let corrections = format!("[{}]", sighting.corrections.join(","));
        if corrections != self.transfer.progress.corrections && !sighting.corrections.is_empty() {
            let news = serde_json::from_str(&corrections).unwrap_or_default();
            self.line("notification_of_change", news);
            self.transfer.progress.corrections = corrections;
        }
        let progress = &mut self.transfer.progress;
        // The provider has it: only the last four digits stay here.
        progress.sealed_account = None;
        progress.expected_on = sighting.expected_on.clone().or(progress.expected_on.take());
        self.look_later();
        if sighting.standing == AchStanding::Attention {
            self.transfer.progress.waiting = Some("the provider's staff is looking at it".to_owned());
        }
    }

    /// The provider refused it: the funds are available again.
    pub(super) fn refuse(&mut self, failure: Failure) {
        let state = self.transfer.state.clone();
        self.state(TransactionState { status: Status::Failed, failure: Some(failure), ..state });
        self.step = Some(TransferStep::Release);
        self.transfer.progress.sealed_account = None;
        self.look_later();
    }

    /// The provider gave no answer that tells.
    pub(super) fn try_again(&mut self, trouble: &Trouble) {
        let first = self.engine.options.resolver.first_retry;
        let pause = growing(first, 2, self.transfer.progress.tries, LONGEST_RETRY);
        let pause = pause.max(trouble.retry_after.unwrap_or_default().min(LONGEST_CHECK));
        self.transfer.progress.due = Some(self.at.saturating_add(pause));
        self.transfer.progress.waiting = Some(trouble.reason.clone());
    }

    /// The configuration leads to another account than the one it was sent to: an operator decides.
    pub(super) fn wait_for_account(&mut self, check: &AccountCheck) {
        let trouble = check.trouble();
        if self.transfer.progress.waiting.as_deref() != Some(trouble.reason.as_str()) {
            let discrepancy = check.discrepancy();
            self.line("exception", timeline::exception(&discrepancy, "resolver"));
            self.disagreements.push((discrepancy, "resolver".to_owned()));
        }
        self.try_again(&trouble);
    }

    /// The provider's event that is done with by this decision.
    pub(super) fn settle(&mut self, event: SettledEvent) {
        self.event = Some(event);
    }

    fn state(&mut self, state: TransactionState) {
        let moves = timeline::moves(Some(&self.transfer.state), &state);
        self.lines.extend(moves.into_iter().map(|(kind, detail)| (self.at, kind, detail)));
        self.transfer.state = state;
        self.transfer.progress.tries = 0;
        self.transfer.updated_at = self.at;
        self.moved = true;
    }

    fn look_later(&mut self) {
        let progress = &mut self.transfer.progress;
        let first = self.engine.options.resolver.first_check;
        let pause = match self.transfer.state.status {
            Status::Pending | Status::Processing => Some(growing(first, 3, progress.tries, LONGEST_CHECK)),
            Status::Succeeded if progress.tries < LOOKS_AFTER_ARRIVAL => Some(AFTER_ARRIVAL),
            Status::Succeeded | Status::Failed | Status::Canceled | Status::Refunded => None,
        };
        progress.due = pause.map(|pause| self.at.saturating_add(pause));
        progress.waiting = None;
    }

    /// Makes the decision stand, and returns the transfer as it now is; `None` where it changed meanwhile.
    pub(super) async fn commit(self) -> Result<Option<Transfer>, StoreError> {
        let deadline = Instant::now() + self.engine.options.request_deadline;
        self.commit_by(deadline).await
    }

    /// The same, where a commit whose answer was lost is asked about until then.
    pub(super) async fn commit_by(self, deadline: Instant) -> Result<Option<Transfer>, StoreError> {
        let Self { engine, mut transfer, at, .. } = self;
        let posting = match self.step {
            Some(step) => Some(TransferPosting {
                id: engine.fresh(PostingId::new)?,
                cause: step.cause(),
                entries: step.entries(&transfer.order.fee),
            }),
            None => None,
        };
        let told = EventKind::of_move(Some(self.from_status), transfer.state.status);
        let change = TransferChange {
            id: engine.fresh(ChangeId::new)?,
            from_revision: self.from_revision,
            at,
            state: self.moved.then(|| transfer.state.clone()),
            progress: transfer.progress.clone(),
            posting,
            entries: engine.entries(self.lines, self.request.as_deref())?,
            exceptions: engine.exceptions_of(self.disagreements, at)?,
            event: self.event,
            announces: (self.from_revision == 0).then(|| engine.fresh(EventId::new)).transpose()?,
            tells: told.map(|kind| engine.new_event(kind)).transpose()?,
        };
        let order = &transfer.order;
        failpoint!("transfer.before_change");
        let changing = || engine.store.change_transfer(order.environment, order.id, &change);
        match engine.until_known(deadline, changing).await? {
            Changed::Done => {
                failpoint!("transfer.after_change");
                if change.announces.is_some() || change.tells.is_some() {
                    engine.outbox_news.notify_one();
                }
                transfer.revision = self.from_revision.saturating_add(1);
                Ok(Some(transfer))
            }
            // Missing: its reservation was taken back meanwhile.
            Changed::Stale | Changed::Missing => Ok(None),
        }
    }
}
