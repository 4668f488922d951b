//! Identifiers, from a small seeded generator.

use crate::prelude::*;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Makes identifiers. They are unique and look random; nothing here is secret, so they need not be unguessable.
#[derive(Debug)]
pub(crate) struct Ids(Mutex<u64>);

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    pub(crate) fn letters(&self, length: usize) -> String {
        let mut state = lock(&self.0);
        (0..length)
            .map(|_| {
                let place = usize::try_from(next(&mut state) % 62).unwrap_or_default();
                ALPHABET.get(place).copied().map_or('0', char::from)
            })
            .collect()
    }

    pub(crate) fn with_prefix(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.letters(24))
    }

    pub(crate) fn uuid(&self) -> String {
        let mut state = lock(&self.0);
        let (high, low) = (next(&mut state), next(&mut state));
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }
}

/// One step of splitmix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
