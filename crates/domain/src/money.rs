//! Amounts are whole minor units (cents, yen, fils). There is no floating point anywhere near them.

use std::fmt;

/// The largest principal, and the largest amount a configuration may name: 10^18 minor units.
pub const MAX_CONFIGURED_MINOR: u64 = 1_000_000_000_000_000_000;

/// The amount a caller asks to move: 1 to 10^18 minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal(u64);

impl Principal {
    /// `None` if the amount is zero or above 10^18.
    pub const fn new(minor: u64) -> Option<Self> {
        if minor >= 1 && minor <= MAX_CONFIGURED_MINOR { Some(Self(minor)) } else { None }
    }

    /// Reads `[1-9][0-9]*`, nothing else: no sign, space, decimal point, exponent or leading zero.
    pub fn parse(text: &str) -> Option<Self> {
        parse_digits(text).and_then(Self::new)
    }

    /// The amount in minor units.
    pub const fn minor(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An amount of at least zero: a fee, a total, a balance. At most [`Minor::MAX`], which both stores hold exactly.
///
/// A fee layer is at most 2 × 10^18 (fixed part and percentage of at most 10^18 each), so a total debit is at most
/// 5 × 10^18 and always fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Minor(u64);

impl Minor {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount: what a signed 64-bit column holds.
    pub const MAX: Self = Self(i64::MAX.unsigned_abs());

    /// `None` above [`Minor::MAX`].
    pub const fn new(minor: u64) -> Option<Self> {
        if minor <= Self::MAX.0 { Some(Self(minor)) } else { None }
    }

    /// Reads `0` or `[1-9][0-9]*`, as a configuration writes amounts: at most 10^18.
    pub fn parse_configured(text: &str) -> Option<Self> {
        if text == "0" {
            return Some(Self::ZERO);
        }
        parse_digits(text).filter(|minor| *minor <= MAX_CONFIGURED_MINOR).map(Self)
    }

    /// The amount in minor units.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The same amount as a signed number, for entries of a ledger and columns of a database.
    pub const fn signed(self) -> i64 {
        // In range by construction: no amount above i64::MAX is ever made.
        self.0.cast_signed()
    }

    /// `None` if the sum passes [`Minor::MAX`].
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Self::new(sum),
            None => None,
        }
    }

    /// `None` if the difference would be negative.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(difference) => Some(Self(difference)),
            None => None,
        }
    }
}

impl From<Principal> for Minor {
    fn from(principal: Principal) -> Self {
        Self(principal.0)
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Hundredths of a percent, 0 to 10,000 (100 %).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BasisPoints(u16);

impl BasisPoints {
    /// One hundred percent.
    pub const WHOLE: u16 = 10_000;

    /// `None` above 100 %.
    pub const fn new(bps: u16) -> Option<Self> {
        if bps <= Self::WHOLE { Some(Self(bps)) } else { None }
    }

    /// The number of basis points.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// This share of the principal, rounded half up to a whole minor unit. The product is taken in 128 bits.
    pub fn of_rounded_half_up(self, principal: Principal) -> Minor {
        let whole = u128::from(Self::WHOLE);
        let product = u128::from(principal.0) * u128::from(self.0);
        let rounded = (product + whole / 2) / whole;
        // At most 100 % of a principal, which is at most 10^18: the conversion cannot fail.
        u64::try_from(rounded).map_or(Minor::MAX, Minor)
    }

    /// This share of the principal, rounded down to a whole minor unit: a limit is never passed by a fraction.
    pub fn of_rounded_down(self, principal: Principal) -> Minor {
        let product = u128::from(principal.0) * u128::from(self.0) / u128::from(Self::WHOLE);
        u64::try_from(product).map_or(Minor::MAX, Minor)
    }
}

fn parse_digits(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let leads_well = bytes.first().is_some_and(|first| (b'1'..=b'9').contains(first));
    if !leads_well || !bytes.iter().all(u8::is_ascii_digit) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_plain_digits_within_bounds() {
        for (text, expected) in [
            ("1", Some(1)),
            ("9007199254740993", Some(9_007_199_254_740_993)),
            ("1000000000000000000", Some(1_000_000_000_000_000_000)),
            ("1000000000000000001", None),
            ("99999999999999999999999999", None),
            ("0", None),
            ("01", None),
            ("+1", None),
            ("-1", None),
            (" 1", None),
            ("1 ", None),
            ("1.0", None),
            ("1e3", None),
            ("", None),
            ("١", None),
        ] {
            assert_eq!(Principal::parse(text).map(Principal::minor), expected, "{text:?}");
        }
    }

    #[test]
    fn a_share_rounds_half_up() {
        for (principal, bps, expected) in [
            (1, 5_000, 1),
            (1, 4_999, 0),
            (3, 5_000, 2),
            (100, 290, 3),
            (50, 290, 1),
            (10_000, 1, 1),
            (4_999, 1, 0),
            (5_000, 1, 1),
        ] {
            let principal = Principal::new(principal).unwrap();
            assert_eq!(BasisPoints::new(bps).unwrap().of_rounded_half_up(principal).get(), expected);
        }
    }

    #[test]
    fn sums_stop_at_the_bound() {
        let one = Minor::new(1).unwrap();
        assert_eq!(Minor::MAX.checked_add(one), None);
        assert_eq!(Minor::ZERO.checked_sub(one), None);
        assert_eq!(Minor::new(Minor::MAX.get() + 1), None);
        assert_eq!(Minor::MAX.signed(), i64::MAX);
    }
}
