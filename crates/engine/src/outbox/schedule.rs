//! What an attempt at a delivery means: when it is tried next, when it is given up, how long its endpoint rests.
//!
//! Pure: the moment and the randomness are arguments.

use std::time::Duration;

use tollgate_domain::Timestamp;

use crate::{
    backoff::exponential_backoff,
    options::OutboxOptions,
    ports::{Attempted, ClaimedDelivery, DeliveryState, EndpointEffect, LastTry},
};

/// The pauses between tries, in multiples of the first: with one of 5 seconds they are 5 s, 30 s, 2 min, 10 min, 30 min
/// and 1 h, then every 4 h.
const PAUSES: [u32; 6] = [1, 6, 24, 120, 360, 720];
const LATER_PAUSES: u32 = 2_880;
/// A receiver may ask for a longer pause, up to as long as the longest pause and half of it again.
const ASKED_FOR_MOST: u32 = LATER_PAUSES + LATER_PAUSES / 2;

/// As many failures in a row mean nothing yet: one event that an endpoint cannot stand does not stop the others.
const FAILURES_BEFORE_REST: u32 = 4;
const MAX_REST: Duration = Duration::from_mins(5);

/// Jitter is drawn from 0 to this.
pub(super) const MAX_JITTER: u32 = 1_000;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The answer's status, where there was an answer.
    pub(super) status: Option<u16>,
    /// How long the receiver asks to be left alone.
    pub(super) retry_after: Option<Duration>,
    /// Its result, for operators.
    pub(super) note: String,
}

impl Outcome {
    fn is_delivered(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// The receiver wants nothing anymore.
    fn is_gone(&self) -> bool {
        self.status == Some(410)
    }
}

/// When and how long an attempt was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) now: Timestamp,
    pub(super) took: Duration,
    /// From 0 to [`MAX_JITTER`].
    pub(super) jitter: u32,
}

/// What an attempt at this delivery means for it and for its endpoint.
pub(super) fn next_step(
    claimed: &ClaimedDelivery,
    outcome: Outcome,
    moment: Moment,
    options: &OutboxOptions,
) -> Attempted {
    let Moment { now, took, jitter } = moment;
    let (is_delivered, is_gone) = (outcome.is_delivered(), outcome.is_gone());
    let retry_after = outcome.retry_after;
    let last = LastTry {
        at: now,
        status: outcome.status,
        took_millis: u32::try_from(took.as_millis()).unwrap_or(u32::MAX),
        note: outcome.note,
    };
    if is_delivered {
        let endpoint = EndpointEffect::Answers;
        return Attempted { state: DeliveryState::Delivered, due: None, last, endpoint };
    }
    if is_gone {
        let reason = "endpoint returned 410 Gone".to_owned();
        let endpoint = EndpointEffect::Disabled(reason);
        return Attempted { state: DeliveryState::Parked, due: None, last, endpoint };
    }
    let failures = claimed.endpoint.failures.saturating_add(1);
    let rest = rest(failures, retry_after, options.first_retry);
    let endpoint = EndpointEffect::Rests(now.saturating_add(rest));
    let end = claimed.delivery.since.saturating_add(options.span);
    if now >= end {
        return Attempted { state: DeliveryState::Parked, due: None, last, endpoint };
    }
    let pause = pause(claimed.delivery.tries, retry_after, jitter, options.first_retry);
    // The last try comes when the time is up, not hours before.
    let due = now.saturating_add(pause).min(end);
    Attempted { state: DeliveryState::Waiting, due: Some(due), last, endpoint }
}

/// How long until a delivery that failed for the `tries`th time is tried again; about a tenth more or less, so that what
/// failed together does not come back together.
fn pause(tries: u32, retry_after: Option<Duration>, jitter: u32, first: Duration) -> Duration {
    let place = usize::try_from(tries.saturating_sub(1)).unwrap_or(usize::MAX);
    let pause = first.saturating_mul(PAUSES.get(place).copied().unwrap_or(LATER_PAUSES));
    let asked = retry_after.unwrap_or_default().min(first.saturating_mul(ASKED_FOR_MOST));
    let least = pause.max(asked);
    // From nine to eleven tenths; never sooner than was asked for.
    let tenths = 900_u32.saturating_add(jitter.min(MAX_JITTER) / 5);
    (least.saturating_mul(tenths) / 1_000).max(asked)
}

/// How long an endpoint is left alone after so many failures in a row.
fn rest(failures: u32, retry_after: Option<Duration>, first_retry: Duration) -> Duration {
    let own = match failures.checked_sub(FAILURES_BEFORE_REST) {
        None => Duration::ZERO,
        // Several deliveries fail at once where an endpoint is down: that is one failure and not several.
        Some(more) => exponential_backoff(first_retry / 5, 2, more / FAILURES_BEFORE_REST, MAX_REST),
    };
    own.max(retry_after.unwrap_or_default()).min(MAX_REST)
}

#[cfg(test)]
mod tests {
    use tollgate_domain::{
        ServiceReference,
        event::{EventFilter, EventKind},
        id::{EndpointId, EnvironmentId, EventId, PaymentId},
    };

    use super::*;
    use crate::ports::{Endpoint, Event, EventDelivery};

    const DAY: i64 = 86_400_000;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    fn claimed(tries: u32, failures: u32) -> ClaimedDelivery {
        let endpoint = EndpointId::from_bytes([1; 16]);
        let event = Event {
            id: EventId::from_bytes([2; 16]),
            kind: EventKind::PaymentPrepared,
            reference: Some(ServiceReference::Card(PaymentId::from_bytes([3; 16]))),
            at: at(0),
            revision: 1,
            state: None,
            refund: None,
            circuit: None,
            proposal: None,
            audit_head: None,
        };
        ClaimedDelivery {
            environment: EnvironmentId::from_bytes([4; 16]),
            delivery: EventDelivery {
                event,
                endpoint,
                state: DeliveryState::Waiting,
                since: at(0),
                due: None,
                tries,
                last: None,
            },
            endpoint: Endpoint {
                id: endpoint,
                revision: 0,
                url: "https://shop.example/".to_owned(),
                description: None,
                filter: EventFilter::All,
                disabled: None,
                secrets: Vec::new(),
                created_at: at(0),
                updated_at: at(0),
                failures,
                rests_until: None,
            },
        }
    }

    fn attempt(claimed: &ClaimedDelivery, now: i64, status: Option<u16>, retry_after: u64) -> Attempted {
        let retry_after = (retry_after > 0).then(|| Duration::from_secs(retry_after));
        let outcome = Outcome { status, retry_after, note: "a note".to_owned() };
        let moment = Moment { now: at(now), took: Duration::from_millis(7), jitter: MAX_JITTER / 2 };
        next_step(claimed, outcome, moment, &OutboxOptions::default())
    }

    #[test]
    fn only_a_success_is_a_delivery() {
        for status in 100..600 {
            let attempted = attempt(&claimed(1, 0), 5, Some(status), 0);
            let expected = match status {
                200..300 => DeliveryState::Delivered,
                410 => DeliveryState::Parked,
                _ => DeliveryState::Waiting,
            };
            assert_eq!(attempted.state, expected, "{status}");
            assert_eq!(attempted.endpoint == EndpointEffect::Answers, expected == DeliveryState::Delivered);
            assert_eq!(matches!(attempted.endpoint, EndpointEffect::Disabled(_)), status == 410);
            assert_eq!((attempted.last.status, attempted.last.took_millis), (Some(status), 7));
            assert_eq!(attempted.due.is_some(), expected == DeliveryState::Waiting);
        }
        assert_eq!(attempt(&claimed(1, 0), 5, None, 0).state, DeliveryState::Waiting);
    }

    #[test]
    fn pauses_grow_and_stay_near_their_table() {
        let first = Duration::from_secs(5);
        let table = [(1, 5), (2, 30), (3, 120), (4, 600), (5, 1_800), (6, 3_600), (7, 14_400), (500, 14_400)];
        for (tries, seconds) in table {
            assert_eq!(pause(tries, None, MAX_JITTER / 2, first), Duration::from_secs(seconds));
            let (least, most) = (pause(tries, None, 0, first), pause(tries, None, MAX_JITTER, first));
            assert_eq!(
                (least * 10, most * 10),
                (Duration::from_secs(seconds) * 9, Duration::from_secs(seconds) * 11)
            );
        }
    }

    #[test]
    fn a_receivers_retry_after_is_kept_within_bounds() {
        let first = Duration::from_secs(5);
        let asked = |seconds: u64, tries: u32, jitter: u32| {
            pause(tries, Some(Duration::from_secs(seconds)), jitter, first).as_secs()
        };
        assert_eq!(asked(60, 1, 0), 60, "never sooner");
        assert_eq!(asked(60, 1, MAX_JITTER), 66);
        assert_eq!(asked(1, 2, MAX_JITTER / 2), 30, "no sooner than our own pause");
        assert_eq!(asked(u64::MAX, 1, 0), 6 * 3_600);
        assert_eq!(rest(1, Some(Duration::from_secs(20)), first), Duration::from_secs(20));
        assert_eq!(rest(1, Some(Duration::MAX), first), MAX_REST);
    }

    #[test]
    fn endpoints_rest_the_longer_the_more_often_they_fail() {
        let first = Duration::from_secs(5);
        for (failures, seconds) in [
            (0, 0),
            (1, 0),
            (3, 0),
            (4, 1),
            (7, 1),
            (8, 2),
            (12, 4),
            (16, 8),
            (32, 128),
            (36, 256),
            (40, 300),
        ] {
            assert_eq!(rest(failures, None, first), Duration::from_secs(seconds), "{failures}");
        }
        assert_eq!(rest(u32::MAX, None, first), MAX_REST);
    }

    #[test]
    fn a_delivery_is_tried_for_three_days_and_then_parked() {
        let (mut now, mut tries) = (0, 0);
        let end = loop {
            tries += 1;
            let attempted = attempt(&claimed(tries, 0), now, Some(500), 0);
            match attempted.due {
                Some(due) => {
                    assert!(due.unix_millis() > now);
                    now = due.unix_millis();
                }
                None => break attempted,
            }
        };
        assert_eq!((now, end.state), (3 * DAY, DeliveryState::Parked));
        assert!((20..30).contains(&tries), "{tries} tries");
    }
}
