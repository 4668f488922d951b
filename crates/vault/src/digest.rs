//! SHA-256 of a secret that has enough randomness of its own.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

/// What is kept of a key or token. Compared in constant time.
///
/// A plain hash is right here: keys carry more than 192 random bits, so there is nothing to guess and no need for a
/// slow hash on every request.
#[derive(Clone, Copy)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a secret's text.
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// A digest read back from the store.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// The first eight bytes, to find candidates by. Whoever times a look-up by them learns nothing of use: nobody
    /// can choose a key by its digest.
    pub fn bucket(self) -> u64 {
        let mut first = [0; 8];
        for (to, from) in first.iter_mut().zip(self.0) {
            *to = from;
        }
        u64::from_be_bytes(first)
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Digest {}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[digest]")
    }
}
