//! What a node counts of a key's use, in memory: a call never waits for the store because of it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use tollgate_domain::Timestamp;

use crate::rate_limiter::RateLimiter;

/// How exactly the last use is known. A busy key is written down once in this time, not with every call.
const PRECISION_MILLIS: i64 = 60_000;

/// One key's counters.
#[derive(Debug, Default)]
pub struct KeyMeters {
    /// Its share of requests, where the environment limits them.
    pub limiter: RateLimiter,
    /// Quotes that succeeded and are not in the request log yet.
    pub quotes: AtomicU64,
    used_at: AtomicI64,
    /// The use that was last handed to the store.
    stored_at: AtomicI64,
}

impl KeyMeters {
    /// Takes note that the key has opened something.
    pub fn used(&self, now: Timestamp) {
        let now = now.unix_millis();
        // Most calls only read here, so that cores do not take the line from each other.
        if now.saturating_sub(self.used_at.load(Relaxed)) >= PRECISION_MILLIS {
            self.used_at.store(now, Relaxed);
        }
    }

    /// A use that was not handed to the store yet.
    pub(crate) fn take_use(&self) -> Option<Timestamp> {
        let used_at = self.used_at.load(Relaxed);
        (self.stored_at.swap(used_at, Relaxed) < used_at).then(|| Timestamp::from_unix_millis(used_at))
    }

    /// The use that was taken could not be stored.
    pub(crate) fn put_back_use(&self) {
        self.stored_at.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_key_is_written_once_a_minute() {
        let at = Timestamp::from_unix_millis;
        let meters = KeyMeters::default();
        assert_eq!(meters.take_use(), None, "never used");
        let begin = 1_800_000_000_000;
        meters.used(at(begin));
        assert_eq!(meters.take_use(), Some(at(begin)));
        for millis in 0..PRECISION_MILLIS {
            meters.used(at(begin + millis));
        }
        assert_eq!(meters.take_use(), None);
        meters.used(at(begin + PRECISION_MILLIS));
        assert_eq!(meters.take_use(), Some(at(begin + PRECISION_MILLIS)));
        meters.put_back_use();
        assert_eq!(meters.take_use(), Some(at(begin + PRECISION_MILLIS)), "the store did not respond");
    }
}
