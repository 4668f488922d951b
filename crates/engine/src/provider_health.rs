//! How providers have answered this node lately: counted by the minute, kept for an hour.

mod incident;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use tollgate_domain::{Timestamp, id::EnvironmentId};

use crate::ports::{CallLog, Try};
use incident::Failures;
pub use incident::{ProviderIncident, ProviderState};

const MINUTE_MILLIS: i64 = 60_000;
/// How many minutes are kept.
const MINUTES: usize = 60;
/// Upper bounds of the classes that times are counted in, in milliseconds; the last class is everything above.
const BOUNDS: [u64; 11] = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/// How a provider has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProviderHealth {
    /// Exchanges with it.
    pub exchanges: u64,
    /// Those it did not answer, or answered with a fault of its own (a status from 500 on, or 429).
    pub failures: u64,
    /// Half of the exchanges took no longer than this many milliseconds, as near as the classes tell.
    pub median_millis: Option<u64>,
    /// And 95 of 100 no longer than this.
    pub slow_millis: Option<u64>,
}

#[derive(Debug, Clone, Default)]
struct Minute {
    number: i64,
    failures: u64,
    /// Exchanges by the time they took.
    classes: [u64; BOUNDS.len() + 1],
}

/// What this node has seen of one provider.
#[derive(Debug, Default)]
struct Seen {
    minutes: VecDeque<Minute>,
    failures: Option<Failures>,
}

/// What this node has seen of every provider.
#[derive(Debug, Default)]
pub(crate) struct ProviderWatch {
    seen: Mutex<HashMap<(EnvironmentId, String), Seen>>,
}

impl ProviderWatch {
    /// Takes note of what was asked of a provider, and for which payment.
    pub(crate) fn note(
        &self,
        environment: EnvironmentId,
        provider: &str,
        payment: Option<[u8; 16]>,
        logs: &[CallLog],
    ) {
        if logs.is_empty() {
            return;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.entry((environment, provider.to_owned())).or_default();
        for log in logs {
            for exchange in &log.tries {
                count(&mut seen.minutes, exchange);
                incident::follow(&mut seen.failures, log.operation, exchange, payment);
            }
        }
    }

    /// The failures that are not over at `now`.
    pub(crate) fn incident(
        &self,
        environment: EnvironmentId,
        provider: &str,
        now: Timestamp,
    ) -> Option<ProviderIncident> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = seen.get(&(environment, provider.to_owned()))?.failures.as_ref()?;
        failures.incident(now)
    }

    /// How a provider has answered in the hour before `now`.
    pub(crate) fn health(
        &self,
        environment: EnvironmentId,
        provider: &str,
        now: Timestamp,
    ) -> ProviderHealth {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Seen { minutes, .. }) = seen.get(&(environment, provider.to_owned())) else {
            return ProviderHealth::default();
        };
        let oldest = minute_of(now).saturating_sub(i64::try_from(MINUTES).unwrap_or(i64::MAX));
        let mut classes = [0_u64; BOUNDS.len() + 1];
        let mut failures = 0_u64;
        for minute in minutes.iter().filter(|minute| minute.number > oldest) {
            failures = failures.saturating_add(minute.failures);
            for (sum, count) in classes.iter_mut().zip(minute.classes) {
                *sum = sum.saturating_add(count);
            }
        }
        let exchanges = classes.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        ProviderHealth {
            exchanges,
            failures,
            median_millis: at_share(&classes, exchanges, 50),
            slow_millis: at_share(&classes, exchanges, 95),
        }
    }
}

fn minute_of(moment: Timestamp) -> i64 {
    moment.unix_millis().div_euclid(MINUTE_MILLIS)
}

fn count(minutes: &mut VecDeque<Minute>, exchange: &Try) {
    let number = minute_of(exchange.at);
    if minutes.back().is_none_or(|last| last.number < number) {
        minutes.push_back(Minute { number, ..Minute::default() });
        if minutes.len() > MINUTES {
            minutes.pop_front();
        }
    }
    // An exchange that began before the last one did counts with that one.
    let Some(minute) = minutes.back_mut() else { return };
    let took = u64::try_from(exchange.took.as_millis()).unwrap_or(u64::MAX);
    let class = BOUNDS.iter().position(|bound| took <= *bound).unwrap_or(BOUNDS.len());
    if let Some(class) = minute.classes.get_mut(class) {
        *class = class.saturating_add(1);
    }
    minute.failures = minute.failures.saturating_add(u64::from(has_failed(exchange)));
}

/// Whether the provider did not answer, or answered with a fault of its own.
pub(crate) fn has_failed(exchange: &Try) -> bool {
    exchange.status.is_none_or(|status| status >= 500 || status == 429)
}

/// The bound of the class in which the given share (of 100) of all exchanges is reached.
fn at_share(classes: &[u64], all: u64, share: u64) -> Option<u64> {
    if all == 0 {
        return None;
    }
    let wanted = all.saturating_mul(share).div_ceil(100).max(1);
    let mut reached = 0_u64;
    for (class, count) in classes.iter().enumerate() {
        reached = reached.saturating_add(*count);
        if reached >= wanted {
            return BOUNDS.get(class).or(BOUNDS.last()).copied();
        }
    }
    BOUNDS.last().copied()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn log(at: i64, took: u64, status: Option<u16>) -> CallLog {
        CallLog {
            operation: "x",
            idempotency_key: None,
            tries: vec![Try {
                at: Timestamp::from_unix_millis(at),
                took: Duration::from_millis(took),
                status,
                provider_request: None,
                outcome: "ok".to_owned(),
            }],
        }
    }

    #[test]
    fn an_hour_is_added_up_and_forgotten() {
        let watch = ProviderWatch::default();
        let environment = EnvironmentId::from_bytes([1; 16]);
        for n in 0..100 {
            let status = if n % 10 == 0 { Some(503) } else { Some(402) };
            watch.note(environment, "a", None, &[log(n * 1_000, if n < 60 { 8 } else { 700 }, status)]);
        }
        watch.note(environment, "a", None, &[log(100_000, 1, None)]);
        let health = watch.health(environment, "a", Timestamp::from_unix_millis(200_000));
        assert_eq!((health.exchanges, health.failures), (101, 11));
        assert_eq!((health.median_millis, health.slow_millis), (Some(10), Some(1_000)));
        let later = Timestamp::from_unix_millis(MINUTE_MILLIS * 200);
        assert_eq!(watch.health(environment, "a", later), ProviderHealth::default());
        assert_eq!(watch.health(environment, "b", later), ProviderHealth::default());
    }
}
