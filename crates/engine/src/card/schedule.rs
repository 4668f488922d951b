//! When a payment is looked at next, and why.

use std::time::Duration;

use tollgate_domain::{
    Timestamp,
    card::{AttemptState, Preparation},
    transaction::Status,
};

use crate::{
    growing::growing,
    options::ResolverOptions,
    ports::{CardPayment, Trouble},
};

const LONGEST_CHECK: Duration = Duration::from_hours(6);
const LONGEST_RETRY: Duration = Duration::from_mins(10);

/// When to look after a payment that goes its ordinary way; `None` when it has come to its end.
pub(super) fn next_look(
    payment: &CardPayment,
    now: Timestamp,
    options: &ResolverOptions,
) -> Option<Timestamp> {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    let is_over = match (payment.progress.preparation, status) {
        (Preparation::Refused | Preparation::Withdrawn, _)
        | (_, Some(Status::Succeeded | Status::Refunded | Status::Canceled)) => true,
        (Preparation::Expired, status) => !status.is_some_and(Status::is_open),
        (Preparation::Preparing | Preparation::Prepared, _) => false,
    };
    if is_over {
        return None;
    }
    let check = now.saturating_add(growing(options.first_check, 3, payment.progress.tries, LONGEST_CHECK));
    let expires_at = payment.order.expires_at;
    if !can_be_read(payment) {
        return Some(expires_at);
    }
    // A charge in doubt is asked about when it was to be: what was learnt meanwhile has not settled it.
    if let Some(due) = payment.progress.due.filter(|_| has_open_attempt(payment)) {
        return Some(due.min(check));
    }
    Some(if now < expires_at { check.min(expires_at) } else { check })
}

/// When to ask again about what is in doubt.
pub(super) fn next_try(
    payment: &CardPayment,
    now: Timestamp,
    trouble: &Trouble,
    options: &ResolverOptions,
) -> Timestamp {
    let pause = growing(options.first_retry, 2, payment.progress.tries, LONGEST_RETRY);
    now.saturating_add(pause.max(trouble.retry_after.unwrap_or_default().min(LONGEST_CHECK)))
}

/// Whether the provider has anything to be asked about.
fn can_be_read(payment: &CardPayment) -> bool {
    let reference = payment.transaction.as_ref().and_then(|it| it.state.provider_reference.as_ref());
    payment.progress.object.is_some() || reference.is_some() || has_open_attempt(payment)
}

fn has_open_attempt(payment: &CardPayment) -> bool {
    payment.attempts.iter().any(|attempt| attempt.state == AttemptState::Open)
}
