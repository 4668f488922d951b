//! Active ISO 4217 currencies that have a minor unit.

use std::{fmt, sync::LazyLock};

use crate::money::Minor;

/// A currency a payment can be made in.
///
/// Codes without a minor unit (`XAU`, `XDR`, `XTS`, `XXX` …) are refused: an amount in their minor units would mean
/// nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// United States dollar, the only currency of ACH.
    pub const USD: Self = Self(*b"USD");

    /// Reads three ASCII letters of either case.
    pub fn parse(text: &str) -> Option<Self> {
        let letters: [u8; 3] = text.as_bytes().try_into().ok()?;
        let upper = letters.map(|letter| letter.to_ascii_uppercase());
        Self(upper).listed().map(|_| Self(upper))
    }

    /// The code in capitals.
    pub fn code(&self) -> &str {
        // Only ASCII letters get past `parse`.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// An amount as a decimal number: `12.34`, or `500` in a currency without a smaller unit.
    pub fn decimal(&self, amount: Minor) -> String {
        let mut text = String::new();
        self.write_decimal(&mut text, amount);
        text
    }

    /// Appends an amount as a decimal number.
    pub fn write_decimal(&self, text: &mut String, amount: Minor) {
        let places = usize::from(self.exponent());
        let digits = amount.get().to_string();
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(places));
        text.push_str(if whole.is_empty() { "0" } else { whole });
        if places > 0 {
            text.push('.');
            for _ in fraction.len()..places {
                text.push('0');
            }
            text.push_str(fraction);
        }
    }

    /// How many digits stand behind the decimal point when the currency is written out.
    pub fn exponent(&self) -> u16 {
        self.listed().unwrap_or(2)
    }

    /// The exponent, if the currency is active.
    fn listed(self) -> Option<u16> {
        EXPONENTS.get(place(self.0)?).copied().flatten()
    }
}

const LETTERS: usize = 26;

/// The exponent of the active currency at each place, worked out once: every request asks.
static EXPONENTS: LazyLock<Vec<Option<u16>>> = LazyLock::new(|| {
    let letters = || b'A'..=b'Z';
    let codes = letters().flat_map(|first| {
        letters().flat_map(move |second| letters().map(move |third| Currency([first, second, third])))
    });
    codes.map(exponent).collect()
});

fn exponent(currency: Currency) -> Option<u16> {
    let code = currency.code();
    let listed = iso_currency::Currency::from_code(code)?;
    // The table flags VES as superseded by VED; ISO lists both.
    let is_superseded = listed.is_superseded().is_some() && code != "VES";
    listed.exponent().filter(|_| !is_superseded)
}

/// Three capital letters as a number below 26³.
fn place(code: [u8; 3]) -> Option<usize> {
    code.iter().try_fold(0, |place, letter| {
        letter.is_ascii_uppercase().then(|| place * LETTERS + usize::from(letter - b'A'))
    })
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_case_is_read_and_capitals_are_kept() {
        assert_eq!(Currency::parse("usd"), Some(Currency::USD));
        assert_eq!(Currency::parse("eUr").map(|currency| currency.to_string()), Some("EUR".to_owned()));
    }

    #[test]
    fn codes_added_in_recent_years_are_active() {
        for code in ["VES", "VED", "SLE", "ZWG", "XCG", "XAD", "MRU", "STN", "BYN"] {
            assert!(Currency::parse(code).is_some(), "{code}");
        }
    }

    #[test]
    fn withdrawn_unknown_and_unitless_codes_are_refused() {
        for code in [
            "BGN", "HRK", "SLL", "ZWL", "CUC", "ANG", "DEM", "ZZZ", "XXX", "XTS", "XAU", "US", "USDT", "U D",
            "ÜS", "",
        ] {
            assert!(Currency::parse(code).is_none(), "{code}");
        }
    }

    #[test]
    fn amounts_are_written_with_the_digits_of_their_currency() {
        for (code, amount, written) in [
            ("USD", 12_875, "128.75"),
            ("USD", 5, "0.05"),
            ("USD", 9_007_199_254_740_993, "90071992547409.93"),
            ("JPY", 500, "500"),
            ("KWD", 1_230, "1.230"),
            ("CLF", 1, "0.0001"),
        ] {
            let currency = Currency::parse(code).unwrap();
            assert_eq!(currency.decimal(Minor::new(amount).unwrap()), written);
        }
    }

    #[test]
    fn exponents_follow_the_standard() {
        for (code, exponent) in [("USD", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4)] {
            assert_eq!(Currency::parse(code).map(|currency| currency.exponent()), Some(exponent));
        }
    }
}
