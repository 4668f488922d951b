//! Idempotency keys that are used again for another request. The answer names what differs; with enough of them, somebody
//! could find out what the first request said, so that a key has only so many.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tollgate_domain::{Timestamp, id::EnvironmentId};

use crate::{engine::Engine, rate_limiter::RateLimitExceeded};

const WINDOW: Duration = Duration::from_hours(1);
const MAX_IN_WINDOW: usize = 20;
/// More keys than are in conflict at any time, unless somebody tries.
const MAX_KEYS: usize = 10_000;

/// When each key was in conflict within the last hour, as far as this node knows.
#[derive(Debug, Default)]
pub(crate) struct KeyConflicts(Mutex<HashMap<[u8; 32], VecDeque<Timestamp>>>);

impl KeyConflicts {
    fn count(&self, key: [u8; 32], now: Timestamp) -> Result<(), RateLimitExceeded> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |at: &Timestamp| at.saturating_add(WINDOW) <= now;
        if keys.len() >= MAX_KEYS && !keys.contains_key(&key) {
            keys.retain(|_, moments| moments.back().is_some_and(|last| !is_over(last)));
            let stalest = keys.iter().min_by_key(|(_, moments)| moments.back().copied()).map(|(key, _)| *key);
            if let Some(stalest) = stalest.filter(|_| keys.len() >= MAX_KEYS) {
                keys.remove(&stalest);
            }
        }
        let moments = keys.entry(key).or_default();
        while moments.front().is_some_and(is_over) {
            moments.pop_front();
        }
        if moments.len() >= MAX_IN_WINDOW
            && let Some(first) = moments.front()
        {
            let millis = first.saturating_add(WINDOW).unix_millis().saturating_sub(now.unix_millis());
            let retry_after = Duration::from_millis(u64::try_from(millis).unwrap_or_default());
            return Err(RateLimitExceeded { retry_after });
        }
        moments.push_back(now);
        Ok(())
    }
}

impl Engine {
    /// Counts a conflict of a key, named by what was derived from it.
    pub(crate) fn count_key_conflict(
        &self,
        environment: EnvironmentId,
        key: &[u8],
    ) -> Result<(), RateLimitExceeded> {
        let key = self.request_digester.digest(&[b"conflict", &environment.to_bytes(), key]);
        self.key_conflicts.count(key, self.clock.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_millis(seconds * 1_000)
    }

    #[test]
    fn a_key_has_twenty_conflicts_in_any_hour() {
        let conflicts = KeyConflicts::default();
        for second in 0..20 {
            assert_eq!(conflicts.count([1; 32], at(second)), Ok(()));
        }
        let refused = conflicts.count([1; 32], at(100)).unwrap_err();
        assert_eq!(refused.retry_after, Duration::from_secs(3_500));
        assert_eq!(conflicts.count([2; 32], at(100)), Ok(()), "another key has its own");
        assert_eq!(conflicts.count([1; 32], at(3_600)), Ok(()));
        assert!(conflicts.count([1; 32], at(3_600)).is_err(), "the others are not over yet");
    }

    #[test]
    fn no_more_keys_are_kept_than_fit() {
        let conflicts = KeyConflicts::default();
        for number in 0..MAX_KEYS + 100 {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_be_bytes());
            conflicts.count(key, at(0)).unwrap();
            assert!(conflicts.0.lock().unwrap().len() <= MAX_KEYS);
        }
    }
}
