//! Digests that only this service can make: they name a thing without letting anybody guess what it was.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// How often a slow digest is digested again.
const SLOW_ROUNDS: u32 = 100_000;

/// Makes digests of one purpose.
#[derive(Clone)]
pub struct Digester {
    key: Zeroizing<[u8; 64]>,
}

impl Digester {
    pub(crate) fn new(key: Zeroizing<[u8; 64]>) -> Self {
        Self { key }
    }

    /// A digest that takes long, for what has few possible values and is kept for long, as the number of a bank account:
    /// whoever has both the database and the master key still needs hours for each.
    pub fn slow_digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        let keyed = Hmac::<Sha256>::new(&(*self.key).into());
        let mut digest = self.digest(parts);
        for _ in 0..SLOW_ROUNDS {
            let mut mac = keyed.clone();
            mac.update(&digest);
            digest = mac.finalize().into_bytes().into();
        }
        digest
    }

    /// The digest of these parts. Where one part ends and the next begins counts.
    pub fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new(&(*self.key).into());
        for part in parts {
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            mac.update(&length.to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for Digester {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[digester]")
    }
}

#[cfg(test)]
mod tests {
    use crate::{MasterKey, Secret};

    #[test]
    fn digests_depend_on_key_purpose_and_where_parts_end() {
        let master = |text: &str| MasterKey::from_setting(&Secret::new(text)).unwrap();
        let one = master("a master key of thirty-two letters or more");
        let digest = one.digester("sources").digest(&[b"ab", b"c"]);
        assert_eq!(one.digester("sources").digest(&[b"ab", b"c"]), digest);
        assert_ne!(one.digester("sources").digest(&[b"a", b"bc"]), digest);
        assert_ne!(one.digester("others").digest(&[b"ab", b"c"]), digest);
        let other = master("another master key, just as long as it has to be");
        assert_ne!(other.digester("sources").digest(&[b"ab", b"c"]), digest);
        let slow = one.digester("sources").slow_digest(&[b"ab", b"c"]);
        assert_eq!(one.digester("sources").slow_digest(&[b"ab", b"c"]), slow);
        assert!(slow != digest && slow != other.digester("sources").slow_digest(&[b"ab", b"c"]));
    }
}
