//! When a payment is looked at next, and why.

use std::time::Duration;

use tollgate_domain::{Timestamp, card::Preparation, transaction::Status};

use super::at_provider::{open_attempt, open_hold_action, open_refunds, unsent_refunds};
use crate::{
    backoff::exponential_backoff,
    options::ResolverOptions,
    ports::{CardPayment, TransientError},
};

/// Between checks of a payment that its customer has yet to pay.
const MAX_CHECK: Duration = Duration::from_hours(6);
/// Between checks of anything else that has not come to its end.
const MAX_RETRY: Duration = Duration::from_mins(10);
/// Between checks of what has been processing for a day: a bank debit or a voucher takes several.
const MAX_SLOW_CHECK: Duration = Duration::from_hours(1);

/// How long after the end of an authorization the provider is asked whether it has ended.
const AFTER_AUTHORIZATION: Duration = Duration::from_mins(1);

const DAY: Duration = Duration::from_hours(24);
/// Between follow-ups: as long as the transaction has been as it is, within these bounds.
const FIRST_FOLLOW_UP: Duration = DAY;
const MAX_FOLLOW_UP: Duration = Duration::from_hours(24 * 30);
/// How long after its last change a paid payment is followed up.
const FOLLOWED_UP: Duration = Duration::from_hours(24 * 180);
/// When a follow-up that got no answer is made again.
const FOLLOW_UP_RETRY: Duration = Duration::from_hours(6);

/// When to look after a payment that goes its ordinary way; `None` when it has come to its end.
pub(super) fn next_check(
    payment: &CardPayment,
    now: Timestamp,
    options: &ResolverOptions,
) -> Option<Timestamp> {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    let is_charging = open_attempt(payment).is_some();
    if status == Some(Status::Authorized) && !is_charging {
        return Some(next_check_of_hold(payment, now, options));
    }
    let is_over = match (payment.progress.preparation, status) {
        (_, Some(Status::Succeeded | Status::Refunded | Status::Canceled)) => true,
        (Preparation::Refused | Preparation::Withdrawn | Preparation::Expired, status) => {
            !status.is_some_and(Status::is_open)
        }
        (Preparation::Preparing | Preparation::Prepared, _) => false,
    };
    let tries = payment.progress.tries;
    if is_over && !is_charging {
        // A refund that was not sent is, and one that the provider works on is looked at until its outcome is known.
        open_refunds(payment).next()?;
        if unsent_refunds(payment).next().is_none() {
            return Some(now.saturating_add(exponential_backoff(options.first_check, 3, tries, MAX_CHECK)));
        }
        return Some(after_lease(payment, now, options));
    }
    let has_left = payment.order.is_leaving() && payment.progress.object.is_none();
    if payment.progress.preparation == Preparation::Preparing && has_left && now < payment.order.expires_at {
        // Its caller decides when it goes on.
        return Some(payment.order.expires_at);
    }
    if payment.progress.preparation == Preparation::Preparing || is_charging {
        return Some(after_lease(payment, now, options));
    }
    let expires_at = payment.order.expires_at;
    let waits_for_customer = payment.progress.preparation == Preparation::Prepared
        && now < expires_at
        && match status {
            None | Some(Status::Failed) => true,
            // A card that was charged on our word is not the customer's turn.
            Some(Status::Pending) => payment.attempts.is_empty(),
            _ => false,
        };
    let is_unpaid = matches!(status, None | Some(Status::Pending | Status::Failed));
    Some(if waits_for_customer && can_be_read(payment) {
        now.saturating_add(exponential_backoff(options.first_check, 3, tries, MAX_CHECK)).min(expires_at)
    } else if waits_for_customer {
        expires_at
    } else if payment.progress.preparation == Preparation::Prepared && is_unpaid && now >= expires_at {
        // It is to be closed.
        now.saturating_add(exponential_backoff(options.first_retry, 2, tries, MAX_RETRY))
    } else {
        let is_slow = status == Some(Status::Processing) && age(payment, now).is_some_and(|age| age >= DAY);
        let longest = if is_slow { MAX_SLOW_CHECK } else { MAX_RETRY };
        now.saturating_add(exponential_backoff(options.first_check.min(MAX_RETRY), 3, tries, longest))
    })
}

/// What is held is looked at until it is captured or released: the webhook of either may be lost.
fn next_check_of_hold(payment: &CardPayment, now: Timestamp, options: &ResolverOptions) -> Timestamp {
    if open_hold_action(payment).is_some() {
        return after_lease(payment, now, options);
    }
    let hold = payment.transaction.as_ref().and_then(|transaction| transaction.state.hold);
    let end = hold.and_then(|hold| hold.capture_before).map(|end| end.saturating_add(AFTER_AUTHORIZATION));
    let check = |longest| {
        now.saturating_add(exponential_backoff(
            options.first_check.min(longest),
            3,
            payment.progress.tries,
            longest,
        ))
    };
    match end {
        Some(end) if now < end => check(MAX_CHECK).min(end),
        Some(_) => check(MAX_SLOW_CHECK),
        None => check(MAX_CHECK),
    }
}

/// The request or node that works on a payment keeps its lease; what was learned meanwhile has not settled it.
fn after_lease(payment: &CardPayment, now: Timestamp, options: &ResolverOptions) -> Timestamp {
    let longest = now.saturating_add(MAX_RETRY.max(options.lease));
    let pause = exponential_backoff(options.first_retry, 2, payment.progress.tries, MAX_RETRY);
    let due = payment.progress.due.filter(|due| *due > now);
    due.unwrap_or_else(|| now.saturating_add(pause)).min(longest)
}

/// When to ask again about what is in doubt.
pub(super) fn next_retry(
    payment: &CardPayment,
    now: Timestamp,
    transient: &TransientError,
    options: &ResolverOptions,
) -> Timestamp {
    let pause = exponential_backoff(options.first_retry, 2, payment.progress.tries, MAX_RETRY);
    now.saturating_add(pause.max(transient.retry_after.unwrap_or_default().min(MAX_RETRY)))
}

/// When a paid payment is next checked for refunds and disputes of which no webhook came; `None` when it is not.
pub(super) fn next_follow_up(payment: &CardPayment, now: Timestamp) -> Option<Timestamp> {
    let age = age_of_paid(payment, now)?;
    Some(now.saturating_add(age.clamp(FIRST_FOLLOW_UP, MAX_FOLLOW_UP)))
}

/// When to make a follow-up again that got no answer.
pub(super) fn next_follow_up_try(payment: &CardPayment, now: Timestamp) -> Option<Timestamp> {
    age_of_paid(payment, now).map(|_| now.saturating_add(FOLLOW_UP_RETRY))
}

/// How long ago a paid payment last changed, while it is followed up.
fn age_of_paid(payment: &CardPayment, now: Timestamp) -> Option<Duration> {
    let status = payment.transaction.as_ref()?.state.status;
    let is_paid = matches!(status, Status::Succeeded | Status::Refunded);
    age(payment, now).filter(|age| is_paid && can_be_read(payment) && *age < FOLLOWED_UP)
}

/// How long ago the transaction last changed.
fn age(payment: &CardPayment, now: Timestamp) -> Option<Duration> {
    let changed_at = payment.transaction.as_ref()?.updated_at;
    let millis = now.unix_millis().saturating_sub(changed_at.unix_millis());
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

/// Whether the provider has anything to be asked about.
fn can_be_read(payment: &CardPayment) -> bool {
    let reference = payment.transaction.as_ref().and_then(|it| it.state.provider_reference.as_ref());
    payment.progress.object.is_some() || reference.is_some()
}

#[cfg(test)]
mod tests {
    use tollgate_domain::{
        Channel, Currency, Flow, Principal,
        card::{Attempt, AttemptState, CardOrder},
        fee::FeeEntry,
        hold::{CaptureMode, Hold},
        id::{EnvironmentId, PaymentId, TransactionId},
        transaction::TransactionState,
    };

    use super::*;
    use crate::ports::{CardTransaction, Progress};

    const HOUR: i64 = 3_600_000;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(1_790_000_000_000 + millis)
    }

    /// A payment of the first moment that expires after a day, after many checks.
    fn payment(preparation: Preparation, status: Option<Status>) -> CardPayment {
        let order = CardOrder {
            environment: EnvironmentId::new(at(0), [1; 10]),
            id: PaymentId::new(at(0), [2; 10]),
            flow: Flow::HostedCheckout,
            provider: "p".to_owned(),
            adapter: "stripe".to_owned(),
            account: None,
            channel: Channel::WebCard,
            matched: None,
            route: tollgate_domain::routing::RouteProgress::default(),
            config_version: 1,
            currency: Currency::USD,
            fee: FeeEntry::default().assess(Principal::new(1_000).unwrap()),
            description: None,
            customer_name: None,
            customer_email: None,
            metadata: "{}".to_owned(),
            capture: CaptureMode::Automatic,
            success_url: None,
            cancel_url: None,
            key: None,
            request: "req".to_owned(),
            created_at: at(0),
            expires_at: at(24 * HOUR),
        };
        let progress = Progress {
            preparation,
            object: Some("cs_1".to_owned()),
            checkout_url: None,
            prepared_at: None,
            confirmed: false,
            due: Some(at(90 * HOUR)),
            follow_up: None,
            tries: 20,
            waiting: None,
            card_fee: None,
        };
        let transaction = status.map(|status| CardTransaction {
            id: TransactionId::new(at(0), [3; 10]),
            state: TransactionState { status, ..TransactionState::pending() },
            created_at: at(0),
            updated_at: at(0),
        });
        CardPayment {
            revision: 1,
            order,
            progress,
            transaction,
            attempts: Vec::new(),
            refunds: Vec::new(),
            disputes: Vec::new(),
            hold_actions: Vec::new(),
        }
    }

    fn attempt(state: AttemptState) -> Attempt {
        let (number, source_digest, created_at) = (1, [0; 32], at(0));
        Attempt { number, source_digest, sealed_source: None, state, account: None, created_at }
    }

    fn pause(payment: &CardPayment, now: i64) -> Option<i64> {
        let next = next_check(payment, at(now), &ResolverOptions::default())?;
        Some(next.unix_millis() - at(now).unix_millis())
    }

    #[test]
    fn only_a_customer_who_has_not_paid_is_waited_for_for_hours() {
        use Preparation::{Expired, Prepared, Preparing, Refused, Withdrawn};
        let minutes = Some(600_000);
        for (preparation, status, now, expected) in [
            (Prepared, None, HOUR, Some(6 * HOUR)),
            (Prepared, Some(Status::Pending), HOUR, Some(6 * HOUR)),
            (Prepared, Some(Status::Failed), HOUR, Some(6 * HOUR)),
            (Prepared, None, 23 * HOUR, Some(HOUR)),
            (Preparing, None, HOUR, minutes),
            (Preparing, None, 30 * HOUR, minutes),
            (Prepared, Some(Status::Processing), HOUR, minutes),
            (Prepared, None, 24 * HOUR, minutes),
            (Prepared, Some(Status::Pending), 30 * HOUR, minutes),
            (Expired, Some(Status::Pending), 30 * HOUR, minutes),
            (Expired, Some(Status::Processing), 23 * HOUR, minutes),
            (Expired, Some(Status::Processing), 30 * HOUR, Some(HOUR)),
            (Prepared, Some(Status::Processing), 90 * HOUR, Some(HOUR)),
            (Withdrawn, Some(Status::Processing), HOUR, minutes),
            (Expired, None, 30 * HOUR, None),
            (Expired, Some(Status::Failed), 30 * HOUR, None),
            (Withdrawn, None, HOUR, None),
            (Refused, None, HOUR, None),
            (Prepared, Some(Status::Succeeded), HOUR, None),
            (Prepared, Some(Status::Refunded), HOUR, None),
            (Expired, Some(Status::Canceled), HOUR, None),
        ] {
            let found = pause(&payment(preparation, status), now);
            assert_eq!(found, expected, "{preparation:?} {status:?} {now}");
        }
    }

    #[test]
    fn a_charge_whose_status_is_not_known_is_not_waited_for_for_hours() {
        let mut charged = payment(Preparation::Prepared, Some(Status::Pending));
        charged.attempts.push(attempt(AttemptState::Taken));
        assert_eq!(pause(&charged, HOUR), Some(600_000));
    }

    #[test]
    fn an_open_charge_is_asked_about_within_minutes_and_not_before_its_lease_ends() {
        let mut charging = payment(Preparation::Prepared, None);
        charging.attempts.push(attempt(AttemptState::Open));
        for (due, expected) in
            [(None, 600_000), (Some(90 * HOUR), 600_000), (Some(HOUR + 7), 7), (Some(0), 600_000)]
        {
            charging.progress.due = due.map(at);
            assert_eq!(pause(&charging, HOUR), Some(expected), "{due:?}");
        }
        let nothing = TransientError { reason: String::new(), retry_after: Some(Duration::from_hours(3)) };
        let next = next_retry(&charging, at(0), &nothing, &ResolverOptions::default());
        assert_eq!(next, at(600_000), "however long the provider wants us to wait");
    }

    #[test]
    fn paid_payments_are_followed_up_ever_more_seldom_and_not_for_ever() {
        let paid = payment(Preparation::Prepared, Some(Status::Succeeded));
        let (mut now, mut days) = (0, Vec::new());
        while let Some(next) = next_follow_up(&paid, at(now)) {
            now = next.unix_millis() - at(0).unix_millis();
            days.push(now / (24 * HOUR));
        }
        assert_eq!(days, [1, 2, 4, 8, 16, 32, 62, 92, 122, 152, 182]);
        assert_eq!(next_follow_up_try(&paid, at(HOUR)), Some(at(7 * HOUR)));
        assert_eq!(next_follow_up_try(&paid, at(now)), None);
        for status in [None, Some(Status::Pending), Some(Status::Failed), Some(Status::Canceled)] {
            assert_eq!(next_follow_up(&payment(Preparation::Prepared, status), at(0)), None, "{status:?}");
        }
        let refunded = payment(Preparation::Prepared, Some(Status::Refunded));
        assert_eq!(next_follow_up(&refunded, at(0)), Some(at(24 * HOUR)), "a refund can fail later");
    }

    #[test]
    fn what_is_held_is_checked_until_its_end_and_after() {
        let options = ResolverOptions::default();
        let mut held = payment(Preparation::Prepared, Some(Status::Authorized));
        let end = at(7 * 24 * HOUR);
        held.transaction.as_mut().unwrap().state.hold =
            Some(Hold { capture_before: Some(end), ..Hold::default() });
        let next = next_check(&held, at(2 * 24 * HOUR), &options).unwrap();
        assert_eq!(next, at(2 * 24 * HOUR + 6 * HOUR), "not the end of its preparation");
        let last = next_check(&held, at(7 * 24 * HOUR - HOUR), &options).unwrap();
        assert_eq!(last, end.saturating_add(AFTER_AUTHORIZATION));
        let after = next_check(&held, at(7 * 24 * HOUR + HOUR), &options).unwrap();
        assert_eq!(after, at(7 * 24 * HOUR + 2 * HOUR), "the provider may be late");
    }
}
