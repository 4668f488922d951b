//! How often each latency was seen.

use std::time::Duration;

/// Latencies to within 1 %, from a nanosecond to an hour.
const SIGNIFICANT_DIGITS: u8 = 2;
const HIGHEST_NANOSECONDS: u64 = 3_600_000_000_000;

#[derive(Clone)]
pub(crate) struct Histogram(hdrhistogram::Histogram<u64>);

impl Histogram {
    #[expect(clippy::expect_used, reason = "the bounds are constants")]
    pub(crate) fn new() -> Self {
        let bounded = hdrhistogram::Histogram::new_with_max(HIGHEST_NANOSECONDS, SIGNIFICANT_DIGITS);
        Self(bounded.expect("the bounds are valid"))
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        self.0.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0 += &other.0;
    }

    /// The latency that this share of requests did not exceed; zero when nothing was recorded.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_two_spreads_put_together() {
        let (mut left, mut right) = (Histogram::new(), Histogram::new());
        assert_eq!(left.quantile(0.5), Duration::ZERO);
        for nanoseconds in 1..=50 {
            left.record(Duration::from_nanos(nanoseconds));
            right.record(Duration::from_nanos(nanoseconds + 50));
        }
        left.merge(&right);
        assert_eq!(left.quantile(0.5), Duration::from_nanos(50));
        assert_eq!(left.quantile(0.99), Duration::from_nanos(99));
        assert_eq!(left.quantile(1.0), Duration::from_nanos(100));
    }

    #[test]
    fn what_takes_too_long_counts_as_the_longest() {
        let mut histogram = Histogram::new();
        histogram.record(Duration::from_hours(7));
        assert!(histogram.quantile(1.0) >= Duration::from_hours(1));
    }
}
