//! Pauses that grow.

use std::time::Duration;

/// `first`, multiplied by `factor` for every try made, `longest` at most.
pub(crate) fn exponential_backoff(first: Duration, factor: u32, tries: u32, longest: Duration) -> Duration {
    first.saturating_mul(factor.saturating_pow(tries.min(16))).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_bound() {
        let second = Duration::from_secs(1);
        let pauses: Vec<_> = (0..5)
            .map(|tries| exponential_backoff(second, 3, tries, Duration::from_secs(20)).as_secs())
            .collect();
        assert_eq!(pauses, [1, 3, 9, 20, 20]);
        let day = Duration::from_hours(24);
        assert_eq!(exponential_backoff(second, 3, u32::MAX, day), day);
    }
}
