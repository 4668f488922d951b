//! Amounts as the provider counts them: in minor units by its own table, which is not ISO's.

use tollgate_domain::{Currency, Minor};

/// Currencies that it counts in whole units. ISO gives CVE and IDR two decimals.
const WHOLE: [&str; 15] =
    ["CVE", "DJF", "GNF", "IDR", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"];
const THREE_DECIMALS: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];
/// Currencies that it counts in hundredths and ISO in whole units.
const HUNDREDTHS: [&str; 2] = ["CLP", "ISK"];

/// How many decimals its minor unit has; `None` where it lists none and ISO does not have the usual two.
fn decimals(currency: Currency) -> Option<u32> {
    let code = currency.code();
    match code {
        _ if WHOLE.contains(&code) => Some(0),
        _ if THREE_DECIMALS.contains(&code) => Some(3),
        _ if HUNDREDTHS.contains(&code) || currency.exponent() == 2 => Some(2),
        _ => None,
    }
}

/// How many of its minor units are how many of ours: one of the two numbers is 1.
fn ratio(currency: Currency) -> Option<(u64, u64)> {
    let (theirs, ours) = (decimals(currency)?, u32::from(currency.exponent()));
    Some((10_u64.pow(theirs.saturating_sub(ours)), 10_u64.pow(ours.saturating_sub(theirs))))
}

/// Amounts are multiples of so many of our minor units; `None` for a currency that it does not take.
pub(super) fn step(currency: Currency) -> Option<u64> {
    ratio(currency).map(|(_, ours)| ours)
}

/// An amount as it counts; `None` if it cannot be told.
pub(super) fn to_provider(amount: Minor, currency: Currency) -> Option<i64> {
    let (theirs, ours) = ratio(currency)?;
    let amount = amount.get();
    let value = if amount.is_multiple_of(ours) { (amount / ours).checked_mul(theirs)? } else { return None };
    i64::try_from(value).ok()
}

/// An amount of its own as we count; `None` if that is no whole number of our minor units.
pub(super) fn from_provider(value: i64, currency: &str) -> Option<Minor> {
    let (theirs, ours) = ratio(Currency::parse(currency)?)?;
    let value = u64::try_from(value).ok()?;
    let amount =
        if value.is_multiple_of(theirs) { (value / theirs).checked_mul(ours)? } else { return None };
    Minor::new(amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_counted_by_the_providers_own_table() {
        for (code, ours, theirs) in [
            ("USD", 12_875, 12_875),
            ("JPY", 500, 500),
            ("KWD", 1_230, 1_230),
            ("CLP", 1_999, 199_900),
            ("ISK", 1, 100),
            ("CVE", 12_300, 123),
            ("IDR", 100, 1),
        ] {
            let currency = Currency::parse(code).unwrap();
            assert_eq!(to_provider(Minor::new(ours).unwrap(), currency), Some(theirs), "{code}");
            assert_eq!(from_provider(theirs, code), Minor::new(ours), "{code}");
        }
    }

    #[test]
    fn what_cannot_be_told_exactly_is_not_told() {
        let minor = |amount| Minor::new(amount).unwrap();
        let currency = |code| Currency::parse(code).unwrap();
        assert_eq!(to_provider(minor(12_345), currency("CVE")), None);
        assert_eq!(to_provider(minor(1_000_000_000_000_000_000), currency("CLP")), None, "too large");
        assert_eq!(to_provider(minor(100), currency("BIF")), None, "not in the table");
        assert_eq!(from_provider(199_950, "CLP"), None);
        assert_eq!(from_provider(-1, "USD"), None);
        assert_eq!(from_provider(1, "ZZZ"), None);
        assert_eq!(
            (step(currency("IDR")), step(currency("ISK")), step(currency("CLF"))),
            (Some(100), Some(1), None)
        );
    }
}
