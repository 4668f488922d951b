//! Latency counts in a fixed array: recording costs one increment, memory does not grow with the run.

use std::time::Duration;

/// Values below 2^7 ns are exact; above, each power of two is cut into 2^6 buckets, an error of at most 1.6 %.
const PRECISION_BITS: u32 = 6;
const BUCKETS_PER_OCTAVE: u64 = 1 << PRECISION_BITS;
const BUCKETS: usize = 59 << PRECISION_BITS;

/// How often each latency was seen.
#[derive(Clone)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0 }
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        if let Some(count) = self.counts.get_mut(bucket(nanoseconds)) {
            *count += 1;
            self.total += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
    }

    /// The latency that `per_mille` of a thousand requests did not exceed, rounded up to its bucket's end; zero
    /// when nothing was recorded.
    pub(crate) fn percentile(&self, per_mille: u64) -> Duration {
        let wanted = (self.total * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Duration::from_nanos(upper_bound(index));
            }
        }
        Duration::ZERO
    }
}

fn bucket(nanoseconds: u64) -> usize {
    let octave = (nanoseconds | 1).ilog2();
    let shift = octave.saturating_sub(PRECISION_BITS);
    let index = u64::from(shift) * BUCKETS_PER_OCTAVE + (nanoseconds >> shift);
    usize::try_from(index).unwrap_or(usize::MAX)
}

fn upper_bound(index: usize) -> u64 {
    let index = u64::try_from(index).unwrap_or(u64::MAX);
    let shift = (index / BUCKETS_PER_OCTAVE).saturating_sub(1);
    let mantissa = u128::from(index - shift * BUCKETS_PER_OCTAVE);
    u64::try_from(((mantissa + 1) << shift) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_falls_into_a_bucket_that_ends_close_above_it() {
        let powers = (0..64).map(|bit| 1_u64 << bit);
        let around = powers.flat_map(|value| [value - 1, value, value + 1, value + value / 3]);
        for value in around.chain([u64::MAX]) {
            let index = bucket(value);
            assert!(index < BUCKETS, "{value}");
            let end = upper_bound(index);
            assert!(end >= value && end - value <= value / 64, "{value} ends at {end}");
            assert!(index == 0 || upper_bound(index - 1) < value, "{value} belongs lower");
        }
    }

    #[test]
    fn percentiles_of_a_known_spread() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.percentile(500), Duration::ZERO);
        for nanoseconds in 1..=100 {
            histogram.record(Duration::from_nanos(nanoseconds));
        }
        assert_eq!(histogram.percentile(500), Duration::from_nanos(50));
        assert_eq!(histogram.percentile(990), Duration::from_nanos(99));
        assert_eq!(histogram.percentile(1000), Duration::from_nanos(100));
    }

    #[test]
    fn merging_adds_the_counts() {
        let (mut left, mut right) = (Histogram::new(), Histogram::new());
        left.record(Duration::from_nanos(10));
        right.record(Duration::from_nanos(20));
        right.record(Duration::from_nanos(30));
        left.merge(&right);
        assert_eq!(left.percentile(500), Duration::from_nanos(20));
        assert_eq!(left.percentile(1000), Duration::from_nanos(30));
    }
}
