//! Waiting for the signed webhook of a provider that cannot be asked: nothing is concluded from silence, and an operator is asked
//! when it lasts too long.

use std::time::Duration;

use tollgate_domain::{
    Timestamp,
    card::{Discrepancy, DiscrepancyKind, Preparation, ProviderReport, Trigger},
    transaction::Status,
};

use super::{
    at_provider::{has_unsent, open_hold_action, open_refunds},
    resolve::end,
    update::PaymentUpdate,
};
use crate::ports::{Call, CallLog, CardPayment, Reading, TransientError};

/// How long a webhook may take before an operator is asked.
const WEBHOOK_DEADLINE: Duration = Duration::from_hours(24);
/// Between checks of what an operator was asked about.
const OVERDUE_CHECK: Duration = Duration::from_hours(24);
/// How long after its end it can still turn out that something was paid in time: what its customer began before the end is
/// carried on, and the webhook may be late.
const LAST_WORD: Duration = Duration::from_hours(12);
/// As long as such a provider surely remembers the key of a command. Later, it is not sent again.
const KEY_KEPT: Duration = Duration::from_hours(24 * 6);

/// What a payment waits for whose last attempt may have been paid: what the payer's page brought of it could not be asked about.
const LAST_ATTEMPT: &str = "the last attempt";

/// Whether the provider answered that it cannot be asked.
pub(super) fn cannot_be_asked(call: &Call<Reading>) -> bool {
    matches!(call.outcome, Ok(Reading::CannotBeAsked(_)))
}

/// Whether a command that was first sent then may be sent again without asking what became of it.
pub(super) fn is_key_kept(since: Timestamp, now: Timestamp) -> bool {
    now < since.saturating_add(KEY_KEPT)
}

/// Whether the provider was not heard to have accepted something, which is asked for again at a time of its own.
fn is_asking(payment: &CardPayment) -> bool {
    is_preparing(payment) || has_unsent(payment)
}

fn is_preparing(payment: &CardPayment) -> bool {
    payment.progress.preparation == Preparation::Preparing
}

/// True for a payment that counts as failed by an earlier attempt, where the next one may be paid.
fn may_be_paid_again(payment: &CardPayment) -> bool {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    status == Some(Status::Failed) && payment.progress.preparation == Preparation::Prepared
}

/// Since when the result of the payment's last attempt is unread. What it waits for keeps that.
pub(super) fn unread_since(payment: &CardPayment) -> Option<Timestamp> {
    let waiting = payment.progress.waiting.as_deref().filter(|_| may_be_paid_again(payment))?;
    let (_, since) = waiting.split_once(LAST_ATTEMPT)?.1.split_once(" since ")?;
    Timestamp::parse(since.split(';').next()?)
}

/// What [`unread_since`] reads.
pub(super) fn unread_text(since: Timestamp) -> String {
    format!("{LAST_ATTEMPT} since {}", since.rfc3339())
}

/// What a webhook is awaited about, and since when.
fn awaited(payment: &CardPayment, now: Timestamp) -> Option<(String, Timestamp)> {
    let transaction = payment.transaction.as_ref();
    let status = transaction.map(|transaction| transaction.state.status);
    if let Some(action) = open_hold_action(payment).filter(|_| status == Some(Status::Authorized)) {
        return Some((format!("the {}", action.kind.as_str()), action.created_at));
    }
    if let Some(refund) = open_refunds(payment).next() {
        return Some((format!("the refund {}", refund.id), refund.updated_at));
    }
    let is_open = status.is_some_and(Status::is_open);
    if let Some(transaction) = transaction.filter(|_| is_open) {
        return Some(("the payment".to_owned(), transaction.updated_at));
    }
    if let Some(since) = unread_since(payment) {
        return Some((LAST_ATTEMPT.to_owned(), since));
    }
    let expires_at = payment.order.expires_at;
    let is_payable = matches!(payment.progress.preparation, Preparation::Preparing | Preparation::Prepared);
    let is_unpaid = matches!(status, None | Some(Status::Failed));
    (is_payable && is_unpaid && now >= expires_at).then(|| ("what was paid in time".to_owned(), expires_at))
}

impl PaymentUpdate<'_> {
    /// The provider cannot be asked; this much is known.
    pub(super) fn note_unasked(&mut self, known: Option<&ProviderReport>, logs: &[CallLog]) {
        if let Some(known) = known {
            self.apply_report(known, Trigger::Other, "resolver");
        }
        if self.moves() || self.has_discrepancies() {
            self.record_calls(logs);
        }
        self.await_webhook();
        // Where it says something, it may say more.
        if known.is_none() && !is_asking(self.payment()) {
            let expires_at = self.payment().order.expires_at;
            let is_ahead = self.progress().due.is_some_and(|due| due < expires_at);
            if self.progress().waiting.is_none() && is_ahead {
                self.progress().due = Some(expires_at);
            }
        }
    }

    /// The result of an attempt was not read, and no other call tells it. What was recorded of an earlier attempt says nothing
    /// of this one, so that its webhook is awaited.
    pub(super) fn await_unread(&mut self) {
        if may_be_paid_again(self.payment()) {
            let since = unread_since(self.payment()).unwrap_or_else(|| self.now());
            self.progress().waiting = Some(unread_text(since));
        }
        self.await_webhook();
    }

    /// Waits for the provider's signed webhook. What it is still being asked for is asked for again when that is due, whatever its
    /// webhooks tell of other things meanwhile.
    pub(super) fn await_webhook(&mut self) {
        if !is_asking(self.payment()) || self.progress().due.is_none() {
            self.await_word();
        }
    }

    /// The provider did not say that it has accepted a command: it gets it again soon. One that cannot be asked what it has gets
    /// it once a day from the deadline on, when an operator is asked.
    pub(super) fn send_again(&mut self, transient: &TransientError, is_blind: bool) {
        let now = self.now();
        let since = awaited(self.payment(), now).map(|(_, since)| since).filter(|_| is_blind);
        if since.is_some_and(|since| now >= since.saturating_add(WEBHOOK_DEADLINE)) {
            self.await_word();
        } else {
            self.try_again(transient);
        }
    }

    /// Says what is waited for and since when; an operator is asked once that is too long.
    pub(super) fn await_word(&mut self) {
        let (now, provider) = (self.now(), self.payment().order.provider.clone());
        let (waited, awaited) = (self.progress().waiting.clone(), awaited(self.payment(), now));
        self.schedule_next_check();
        self.progress().follow_up = None;
        let status = self.payment().transaction.as_ref().map(|transaction| transaction.state.status);
        let Some((what, since)) = awaited else {
            if status == Some(Status::Authorized) {
                self.progress().due = None;
            }
            return;
        };
        let (deadline, since) = (since.saturating_add(WEBHOOK_DEADLINE), since.rfc3339());
        let waiting = format!("waiting for the webhook of {provider} about {what} since {since}");
        if now < deadline {
            self.progress().due = Some(deadline);
            self.progress().waiting = Some(format!("{waiting}; the provider cannot be asked"));
            return;
        }
        let overdue = format!("{waiting}; look it up in the provider's dashboard");
        if waited.as_deref() != Some(overdue.as_str()) {
            let expected = format!("the webhook of {provider} about {what}");
            let found = format!("none about {what} since {since}");
            let kind = DiscrepancyKind::Unanswered;
            self.record_discrepancies(vec![Discrepancy { kind, expected, found }], "resolver");
        }
        self.progress().due = Some(now.saturating_add(OVERDUE_CHECK));
        self.progress().waiting = Some(overdue);
    }

    /// Nothing can be taken back: what was never handed out nobody can pay, and anything else ends by itself. Where somebody is
    /// paying it, only the webhook ends it, and where the last attempt is unread, an operator is asked first.
    pub(super) fn end_unasked(&mut self, known: Option<&ProviderReport>, end_as: Preparation) {
        let was_handed_out = !is_preparing(self.payment()) || self.payment().order.is_leaving();
        self.note_unasked(known, &[]);
        if known.is_some() && !self.has_discrepancies() {
            return self.keep_prepared();
        }
        let status = self.payment().transaction.as_ref().map(|transaction| transaction.state.status);
        let last_word = self.payment().order.expires_at.saturating_add(LAST_WORD);
        let unread = unread_since(self.payment()).map(|since| since.saturating_add(WEBHOOK_DEADLINE));
        let last_word = unread.map_or(last_word, |deadline| last_word.max(deadline));
        let is_unpaid = matches!(status, None | Some(Status::Failed));
        if !was_handed_out || (is_unpaid && self.now() >= last_word) {
            end(self, end_as, None);
            self.schedule_next_check();
        } else if is_unpaid {
            let due = self.progress().due.filter(|due| unread.is_some() && *due < last_word);
            self.progress().due = Some(due.unwrap_or(last_word));
        }
    }

    /// Somebody is paying it: it is a payment like any other until its webhook comes.
    fn keep_prepared(&mut self) {
        if is_preparing(self.payment()) {
            self.preparation(Preparation::Prepared, None);
            self.await_word();
        }
    }
}
