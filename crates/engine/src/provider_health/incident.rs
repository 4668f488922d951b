//! Since when a provider fails, how, and for how many payments.

use std::{collections::HashSet, time::Duration};

use tollgate_domain::Timestamp;

use crate::ports::Try;

/// One lost answer is nothing to report; this many are.
const NOTABLE_FAILURES: u32 = 3;
/// So many failures in a row, and no call gets through.
const DOWN_AFTER: u32 = 5;
/// So many answers in a row end an incident.
const RECOVERED_AFTER: u32 = 20;
/// An answer, and no failure for this long, end it too: a quiet shop need not wait for twenty payments.
const CALM: Duration = Duration::from_mins(15);
/// Without any call for this long nothing is known anymore.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(1);
/// Payments are counted up to here.
const MAX_AFFECTED: usize = 1_000;

/// Whether payments can be made with a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderState {
    /// Configured, and it answers.
    Ready,
    /// It answers some calls and not others.
    Degraded,
    /// It lacks settings, or answers no call.
    Down,
}

impl ProviderState {
    pub const ALL: [&'static str; 3] = ["ready", "degraded", "down"];

    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Degraded => "degraded",
            Self::Down => "down",
        }
    }
}

/// A time in which a provider fails, as this node sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderIncident {
    /// [`ProviderState::Degraded`] or [`ProviderState::Down`].
    pub state: ProviderState,
    /// The first failure.
    pub since: Timestamp,
    /// The last failure in a few words, such as `payment_intents.create: timed out`.
    pub last_error: String,
    /// When that was.
    pub last_error_at: Timestamp,
    /// Payments with a call that failed, counted up to a thousand.
    pub affected_payments: usize,
}

/// The failures since a provider last answered well.
#[derive(Debug)]
pub(super) struct Failures {
    since: Timestamp,
    last_error: String,
    last_error_at: Timestamp,
    affected: HashSet<[u8; 16]>,
    count: u32,
    bad_in_a_row: u32,
    good_in_a_row: u32,
}

/// Follows one exchange: begins an incident, adds to it, or ends it.
pub(super) fn follow(
    current: &mut Option<Failures>,
    operation: &str,
    exchange: &Try,
    payment: Option<[u8; 16]>,
) {
    let is_failure = exchange.status.is_none_or(|status| status >= 500 || matches!(status, 401 | 403 | 429));
    if !is_failure {
        if let Some(failures) = current {
            failures.bad_in_a_row = 0;
            failures.good_in_a_row = failures.good_in_a_row.saturating_add(1);
            if failures.good_in_a_row >= RECOVERED_AFTER {
                *current = None;
            }
        }
        return;
    }
    if current.as_ref().is_some_and(|failures| failures.is_over(exchange.at)) {
        *current = None;
    }
    let failures = current.get_or_insert_with(|| Failures::begin(exchange.at));
    failures.count = failures.count.saturating_add(1);
    failures.bad_in_a_row = failures.bad_in_a_row.saturating_add(1);
    failures.good_in_a_row = 0;
    failures.last_error_at = exchange.at;
    failures.last_error = format!("{operation}: {}", exchange.outcome);
    if failures.affected.len() < MAX_AFFECTED {
        failures.affected.extend(payment);
    }
}

impl Failures {
    fn begin(at: Timestamp) -> Self {
        Self {
            since: at,
            last_error: String::new(),
            last_error_at: at,
            affected: HashSet::new(),
            count: 0,
            bad_in_a_row: 0,
            good_in_a_row: 0,
        }
    }

    fn is_over(&self, now: Timestamp) -> bool {
        let is_calm = self.good_in_a_row > 0 && self.last_error_at.saturating_add(CALM) <= now;
        is_calm || self.last_error_at.saturating_add(FORGOTTEN_AFTER) <= now
    }

    /// What operators are shown, if it is worth showing.
    pub(super) fn incident(&self, now: Timestamp) -> Option<ProviderIncident> {
        if self.count < NOTABLE_FAILURES || self.is_over(now) {
            return None;
        }
        let is_down = self.bad_in_a_row >= DOWN_AFTER;
        Some(ProviderIncident {
            state: if is_down { ProviderState::Down } else { ProviderState::Degraded },
            since: self.since,
            last_error: self.last_error.clone(),
            last_error_at: self.last_error_at,
            affected_payments: self.affected.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_millis(seconds.saturating_mul(1_000))
    }

    fn answered(current: &mut Option<Failures>, second: i64, status: Option<u16>, payment: u8) {
        let exchange = Try {
            at: at(second),
            took: Duration::from_millis(5),
            status,
            provider_request: None,
            outcome: status.map_or_else(|| "timed out".to_owned(), |status| status.to_string()),
        };
        follow(current, "charge", &exchange, Some([payment; 16]));
    }

    fn state(current: Option<&Failures>, second: i64) -> ProviderState {
        let incident = current.and_then(|failures| failures.incident(at(second)));
        incident.map_or(ProviderState::Ready, |incident| incident.state)
    }

    #[test]
    fn a_provider_that_answers_now_and_then_is_degraded_and_one_that_never_does_is_down() {
        let mut current = None;
        answered(&mut current, 1, Some(503), 1);
        answered(&mut current, 2, Some(402), 2);
        answered(&mut current, 3, None, 1);
        assert_eq!(state(current.as_ref(), 3), ProviderState::Ready, "two failures are nothing yet");
        answered(&mut current, 4, Some(401), 3);
        let incident = current.as_ref().and_then(|failures| failures.incident(at(4))).unwrap();
        assert_eq!((incident.state, incident.since), (ProviderState::Degraded, at(1)));
        assert_eq!((&*incident.last_error, incident.last_error_at), ("charge: 401", at(4)));
        assert_eq!(incident.affected_payments, 2, "a declined card is an answer");
        for second in 5..8 {
            answered(&mut current, second, None, 4);
        }
        assert_eq!(state(current.as_ref(), 8), ProviderState::Down);
        answered(&mut current, 9, Some(200), 5);
        assert_eq!(state(current.as_ref(), 9), ProviderState::Degraded);
    }

    #[test]
    fn an_incident_ends_after_answers_or_calm() {
        let failing = || {
            let mut current = None;
            for second in 0..6 {
                answered(&mut current, second, Some(500), 1);
            }
            current
        };
        let mut current = failing();
        for second in 6..26 {
            assert_ne!(state(current.as_ref(), second), ProviderState::Ready, "{second}");
            answered(&mut current, second, Some(200), 1);
        }
        assert_eq!(state(current.as_ref(), 26), ProviderState::Ready);
        let mut current = failing();
        assert_eq!(state(current.as_ref(), 1_800), ProviderState::Down, "no call has proven otherwise");
        assert_eq!(state(current.as_ref(), 3_700), ProviderState::Ready);
        answered(&mut current, 7, Some(200), 1);
        assert_eq!(state(current.as_ref(), 900), ProviderState::Degraded);
        assert_eq!(state(current.as_ref(), 906), ProviderState::Ready);
        answered(&mut current, 1_000, Some(500), 2);
        assert_eq!(
            state(current.as_ref(), 1_000),
            ProviderState::Ready,
            "a new incident begins from nothing"
        );
    }
}
