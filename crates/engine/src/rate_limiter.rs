//! A rate limit in one atomic number, and a table of such limits for callers nobody knows.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::IpAddr,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tollgate_domain::address_range::client_of;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Lets a steady rate and a burst through (the generic cell rate algorithm): the number is the moment at which the
/// burst would be whole again.
#[derive(Debug, Default)]
pub struct RateLimiter {
    whole_again_at: AtomicU64,
}

/// The rate is used up for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("rate limit exceeded")]
pub struct RateLimitExceeded {
    /// How long until the next one is let through.
    pub retry_after: Duration,
}

impl RateLimiter {
    /// Takes one of `per_second`, of which up to `burst` may come at once.
    pub fn take(&self, per_second: u64, burst: u64) -> Result<(), RateLimitExceeded> {
        self.take_at(monotonic_nanos(), per_second, burst)
    }

    /// Takes one of those that come with this gap, of which up to `burst` may come at once, by a clock of the caller's.
    pub(crate) fn take_at_time(
        &self,
        now: Duration,
        gap: Duration,
        burst: u64,
    ) -> Result<(), RateLimitExceeded> {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.take_with_gap(nanos(now), nanos(gap), burst)
    }

    /// Takes one of those that come with this gap, of which up to `burst` may come at once.
    pub(crate) fn take_slowly(&self, gap: Duration, burst: u64) -> Result<(), RateLimitExceeded> {
        self.take_with_gap(monotonic_nanos(), u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX), burst)
    }

    fn take_at(&self, now: u64, per_second: u64, burst: u64) -> Result<(), RateLimitExceeded> {
        let gap = NANOS_PER_SECOND.checked_div(per_second).unwrap_or(NANOS_PER_SECOND);
        self.take_with_gap(now, gap, burst)
    }

    fn take_with_gap(&self, now: u64, gap: u64, burst: u64) -> Result<(), RateLimitExceeded> {
        let depth = gap.saturating_mul(burst.max(1));
        let mut seen = self.whole_again_at.load(Ordering::Relaxed);
        loop {
            let next = seen.max(now).saturating_add(gap);
            let ahead = next.saturating_sub(now);
            if ahead > depth {
                return Err(RateLimitExceeded {
                    retry_after: Duration::from_nanos(ahead.saturating_sub(depth)),
                });
            }
            match self.whole_again_at.compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Ok(()),
                Err(other) => seen = other,
            }
        }
    }
}

/// A limit for each client, in a table of fixed size, so that nobody fills memory by coming from many addresses: two clients
/// that fall into one slot share its allowance.
#[derive(Debug)]
pub struct AddressRateLimiter {
    slots: Box<[RateLimiter]>,
    hasher: RandomState,
    per_second: u64,
    burst: u64,
}

impl AddressRateLimiter {
    /// A table of so many slots, each of which lets `per_second` through, and up to `burst` at once.
    pub fn new(slots: usize, per_second: u64, burst: u64) -> Self {
        let slots = (0..slots).map(|_| RateLimiter::default()).collect();
        Self { slots, hasher: RandomState::new(), per_second, burst }
    }

    /// Takes one for the client of this address; those who have none share a slot.
    pub fn take(&self, address: Option<IpAddr>) -> Result<(), RateLimitExceeded> {
        let hash = usize::try_from(self.hasher.hash_one(address.map(client_of))).unwrap_or_default();
        let slot = hash.checked_rem(self.slots.len()).unwrap_or_default();
        self.slots.get(slot).map_or(Ok(()), |limiter| limiter.take(self.per_second, self.burst))
    }
}

fn monotonic_nanos() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let limiter = RateLimiter::default();
        let passed = (0..100).filter(|_| limiter.take_at(0, 10, 5).is_ok()).count();
        assert_eq!(passed, 5);
        let refused = limiter.take_at(0, 10, 5).unwrap_err();
        assert_eq!(refused.retry_after, Duration::from_millis(100));
        assert!(limiter.take_at(100_000_000, 10, 5).is_ok());
        assert!(limiter.take_at(100_000_000, 10, 5).is_err());
        let later = NANOS_PER_SECOND * 60;
        assert_eq!(
            (0..100).filter(|_| limiter.take_at(later, 10, 5).is_ok()).count(),
            5,
            "a rest does not pile up"
        );
    }

    #[test]
    fn a_flood_from_one_address_is_cut_off_and_others_are_not() {
        let limiter = AddressRateLimiter::new(4_096, 50, 1_000);
        let flooder = Some([127, 0, 0, 1].into());
        let passed = (0..5_000).filter(|_| limiter.take(flooder).is_ok()).count();
        assert!((1_000..1_200).contains(&passed), "{passed}");
        let unaffected = (1..=50).filter(|host| limiter.take(Some([10, 0, 0, *host].into())).is_ok()).count();
        assert!(unaffected >= 49, "{unaffected}");
    }

    #[test]
    fn a_subscriber_with_many_addresses_is_one_client() {
        let limiter = AddressRateLimiter::new(1_024, 1, 10);
        let of_host = |host: u16| Some([0x2001, 0xdb8, 1, 2, 0, 0, 0, host].into());
        let passed = (0..1_000).filter(|host| limiter.take(of_host(*host)).is_ok()).count();
        assert!((10..=12).contains(&passed), "{passed}");
        assert!(limiter.take(Some([203, 0, 113, 7].into())).is_ok());
    }
}
