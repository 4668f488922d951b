//! The one source of chance: a seed, and everything that follows from it.

use std::ops::Range;

/// SplitMix64: small, fast, and the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Self(seed ^ 0x7011_6a7e_5eed_0001);
        rng.next();
        rng
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of the range, which is not empty.
    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start).max(1)
    }

    /// True so many times out of a thousand.
    pub(crate) fn permille(&mut self, chance: u64) -> bool {
        self.next() % 1_000 < chance
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let place = self.within(0..from.len() as u64);
        &from[usize::try_from(place).unwrap_or(0)]
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let drawn = self.next().to_le_bytes();
            chunk.copy_from_slice(&drawn[..chunk.len()]);
        }
    }
}
