//! Moments and randomness for new ids, such that every id a node makes is above the one before.
//!
//! Ids begin with a millisecond, and a node makes several within one: lists that are ordered by id would show those in
//! any order.

use std::time::Duration;

use tollgate_domain::Timestamp;

/// Ten bytes of randomness as a number.
const RANDOM_END: u128 = 1 << 80;
/// So far is one id from the next at least. Lines of a timeline take the numbers behind the first one's.
const MIN_STEP: u128 = 1 << 16;

/// The last id's moment and randomness.
#[derive(Debug)]
pub(crate) struct Sequence {
    at: Timestamp,
    random: u128,
}

impl Default for Sequence {
    fn default() -> Self {
        Self { at: Timestamp::from_unix_millis(0), random: 0 }
    }
}

impl Sequence {
    /// What the next id is made from, given the time and fresh randomness. Within one millisecond, and while a clock
    /// that was set back catches up, the randomness grows by steps that are themselves random.
    pub(crate) fn next(&mut self, now: Timestamp, drawn: [u8; 10]) -> (Timestamp, [u8; 10]) {
        let new_id = drawn.iter().fold(0, |number, byte| (number << 8) | u128::from(*byte));
        let step = (new_id & 0xffff_ffff) + MIN_STEP;
        if now > self.at {
            (self.at, self.random) = (now, new_id);
        } else if self.random + step < RANDOM_END {
            self.random += step;
        } else {
            (self.at, self.random) = (self.at.saturating_add(Duration::from_millis(1)), new_id);
        }
        let mut random = [0; 10];
        for (to, from) in random.iter_mut().zip(self.random.to_be_bytes().into_iter().skip(6)) {
            *to = from;
        }
        (self.at, random)
    }
}

#[cfg(test)]
mod tests {
    use tollgate_domain::id::PostingId;

    use super::*;

    #[test]
    fn ids_ascend_whatever_the_clock_and_the_randomness_do() {
        let mut sequence = Sequence::default();
        let mut last = None;
        for (number, byte) in (0..20_000).zip([0, 255, 7, 128].into_iter().cycle()) {
            // The clock stands still most of the time, and is set back now and then.
            let now = Timestamp::from_unix_millis(1_790_000_000_000 + number / 500 - number % 3);
            let (at, random) = sequence.next(now, [byte; 10]);
            let id = PostingId::new(at, random);
            assert!(Some(id) > last, "{number}: {id} after {last:?}");
            last = Some(id);
        }
    }

    #[test]
    fn a_new_millisecond_has_all_of_its_randomness() {
        let (at, drawn) = (Timestamp::from_unix_millis(9), [1, 2, 3, 4, 5, 6, 7, 8, 9, 255]);
        assert_eq!(Sequence::default().next(at, drawn), (at, drawn));
    }
}
