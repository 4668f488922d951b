//! One type per kind of id: sixteen bytes inside, `prefix_` and 26 characters outside.
//!
//! The first 48 bits are milliseconds since the epoch, so that ids made later sort later and databases append
//! rather than scatter; the other 80 are random. The text is Crockford's base 32 in lower case, whose order is the
//! order of the bytes and which has no letters that are misread for one another.

use std::{fmt, str::FromStr};

use crate::time::Timestamp;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// How many characters follow the prefix and the underscore.
pub const TEXT_LENGTH: usize = 26;

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a valid ID: expected `{prefix}_` and {TEXT_LENGTH} characters of 0-9 and a-z without i, l, o and u"
)]
pub struct InvalidId {
    prefix: &'static str,
}

fn compose(at: Timestamp, random: [u8; 10]) -> u128 {
    let millis = u64::try_from(at.unix_millis()).unwrap_or(0) & 0xffff_ffff_ffff;
    let mut tail = [0; 16];
    for (to, from) in tail.iter_mut().skip(6).zip(random) {
        *to = from;
    }
    (u128::from(millis) << 80) | u128::from_be_bytes(tail)
}

fn digits(value: u128) -> [u8; TEXT_LENGTH] {
    let mut text = [b'0'; TEXT_LENGTH];
    let mut rest = value;
    for place in text.iter_mut().rev() {
        let digit = usize::try_from(rest & 31).unwrap_or(0);
        *place = ALPHABET.get(digit).copied().unwrap_or(b'0');
        rest >>= 5;
    }
    text
}

fn write_text(value: u128, prefix: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(prefix)?;
    f.write_str("_")?;
    f.write_str(std::str::from_utf8(&digits(value)).map_err(|_| fmt::Error)?)
}

fn parse_text(text: &str, prefix: &'static str) -> Result<u128, InvalidId> {
    let invalid = InvalidId { prefix };
    let digits = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')).ok_or(invalid)?;
    if digits.len() != TEXT_LENGTH {
        return Err(invalid);
    }
    // 26 digits carry 130 bits, so the first may only hold the top three.
    let mut value: u128 = 0;
    for (place, byte) in digits.bytes().enumerate() {
        let digit = ALPHABET.iter().position(|letter| *letter == byte).ok_or(invalid)?;
        if place == 0 && digit > 7 {
            return Err(invalid);
        }
        value = (value << 5) | u128::try_from(digit).map_err(|_| invalid)?;
    }
    Ok(value)
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// What the text of every id of this kind begins with, before the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// An id from the moment of its making and randomness that the caller drew.
            pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
                Self(compose(at, random))
            }

            /// The id held in these bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(u128::from_be_bytes(bytes))
            }

            /// The text's part behind the prefix and the underscore.
            pub fn digits(self) -> [u8; TEXT_LENGTH] {
                digits(self.0)
            }

            /// The bytes to store; their order is the order of the ids.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_text(self.0, $prefix, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse_text(text, $prefix).map(Self)
            }
        }
    };
}

impl EntryId {
    /// The id behind this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

id!(/// A company that uses the service.
    OrganizationId, "org");
id!(/// One of an organization's products.
    ApplicationId, "app");
id!(/// The scope of keys, configuration, wallets, payments and references.
    EnvironmentId, "env");
id!(/// An API key's public name; it reveals nothing of the key.
    KeyId, "key");
id!(/// A person who operates the service.
    UserId, "usr");
id!(/// A personal token's public name; it reveals nothing of the token.
    TokenId, "tok");
id!(/// One stored change, so that making it twice makes it once.
    ChangeId, "chg");
id!(/// One balanced posting of the ledger.
    PostingId, "post");
id!(/// A key that seals for a few minutes and is destroyed afterwards.
    SealingKeyId, "slk");
id!(/// One HTTP request, on its answer and in the log.
    RequestId, "req");
id!(/// A card payment from its preparation on: what callers store as its `serviceReference`.
    PaymentId, "pay");
id!(/// A bank transfer: a digest of organization, environment and the caller's idempotency key.
    TransferId, "ach");
id!(/// A capture or void: a digest of environment and the caller's idempotency key.
    HoldActionId, "hold");
id!(/// A transaction's place in lists; callers know it by its reference.
    TransactionId, "txn");
id!(/// One line of a payment's timeline.
    EntryId, "ent");
id!(/// A discrepancy between a provider and our books that a person has to look at.
    ExceptionId, "exc");
id!(/// Something that callers are notified; the same on every delivery of it.
    EventId, "evt");
id!(/// A refund: a digest of environment and the caller's idempotency key, or of the provider's name for it.
    RefundId, "re");
id!(/// A webhook endpoint.
    EndpointId, "ep");
id!(/// What people decide about something that waits for them.
    ApprovalId, "apr");

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    #[test]
    fn text_and_bytes_go_round() {
        for random in [[0; 10], [255; 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]] {
            let id = EnvironmentId::new(at(1_790_000_000_000), random);
            let text = id.to_string();
            assert_eq!(text.len(), 4 + TEXT_LENGTH);
            assert_eq!(text.parse(), Ok(id));
            assert_eq!(EnvironmentId::from_bytes(id.to_bytes()), id);
        }
    }

    #[test]
    fn later_ids_sort_later_in_every_form() {
        let early = KeyId::new(at(1_000), [255; 10]);
        let late = KeyId::new(at(1_001), [0; 10]);
        assert!(early < late);
        assert!(early.to_bytes() < late.to_bytes());
        assert!(early.to_string() < late.to_string());
    }

    #[test]
    fn other_texts_are_refused() {
        let good = EnvironmentId::new(at(7), [9; 10]).to_string();
        let too_large = "env_8zzzzzzzzzzzzzzzzzzzzzzzzz";
        let other_kind = good.replace("env_", "org_");
        for text in ["", "env_", "env", too_large, &other_kind, &good.to_uppercase(), &format!("{good}0")] {
            assert!(text.parse::<EnvironmentId>().is_err(), "{text}");
        }
    }
}
