//! Slows down whoever keeps presenting credentials that open nothing.

use std::{
    hash::{BuildHasher, RandomState},
    net::IpAddr,
};

use tollgate_engine::{RateLimitExceeded, RateLimiter};

/// A table of fixed size, so that nobody fills memory by coming from many addresses; two addresses that fall into
/// one slot share its allowance.
const SLOTS: usize = 4_096;
/// High enough for a misconfigured fleet behind one address to see its honest 401s, low enough to bound the work.
const PER_SECOND: u64 = 50;
const BURST: u64 = 1_000;

pub(crate) struct BadCredentials {
    slots: Box<[RateLimiter]>,
    hasher: RandomState,
}

impl Default for BadCredentials {
    fn default() -> Self {
        Self { slots: (0..SLOTS).map(|_| RateLimiter::default()).collect(), hasher: RandomState::new() }
    }
}

impl BadCredentials {
    /// Notes one failure from this address. Valid credentials never come here and are never refused by it.
    pub(crate) fn note(&self, peer: IpAddr) -> Result<(), RateLimitExceeded> {
        let hash = self.hasher.hash_one(peer);
        let slot = usize::try_from(hash).unwrap_or_default().checked_rem(SLOTS).unwrap_or_default();
        self.slots.get(slot).map_or(Ok(()), |limiter| limiter.take(PER_SECOND, BURST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_failures_is_cut_off_and_others_are_not() {
        let limiter = BadCredentials::default();
        let flooder: IpAddr = [127, 0, 0, 1].into();
        let passed = (0..5_000).filter(|_| limiter.note(flooder).is_ok()).count();
        assert!((1_000..1_200).contains(&passed), "{passed}");
        let unaffected = (1..=50).filter(|host| limiter.note([10, 0, 0, *host].into()).is_ok()).count();
        assert!(unaffected >= 49, "{unaffected}");
    }
}
