//! Numbers and dates as banks write them. Every amount is an integer from its first digit on.

use jiff::civil::Date;
use tollgate_domain::Currency;

/// More digits than these are no amount: 10^18 is the most that anything here moves.
const MAX_DIGITS: usize = 18;

/// Digits only.
pub(crate) fn whole(text: &str) -> Result<i64, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{}` is not a whole number; only digits are allowed", shown(text)));
    }
    let significant = text.trim_start_matches('0');
    if significant.len() > MAX_DIGITS {
        return Err(format!("`{}` is larger than any amount; check the column", shown(text)));
    }
    if significant.is_empty() { Ok(0) } else { significant.parse().map_err(|_| "is too large".to_owned()) }
}

/// Digits with a sign or without.
pub(crate) fn signed_whole(text: &str) -> Result<i64, String> {
    match text.strip_prefix('-') {
        Some(digits) => whole(digits).map(|number| -number),
        None => whole(text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Minor units of a decimal number without a sign. Zeros behind the currency's last digit are allowed, other digits are not:
/// they would be lost.
pub(crate) fn minor(text: &str, currency: Currency) -> Result<i64, String> {
    let places = usize::from(currency.exponent());
    let (units, fraction) = text.split_once('.').unwrap_or((text, ""));
    let (kept, lost) = fraction.split_at_checked(places).unwrap_or((fraction, ""));
    if lost.bytes().any(|byte| byte != b'0') {
        return Err(format!(
            "`{}` is not an amount in {currency}, which has {places} decimals; ask the bank to correct it",
            shown(text)
        ));
    }
    let padded = format!("{units}{kept}{}", "0".repeat(places.saturating_sub(kept.len())));
    let is_number = !units.is_empty() && (!text.contains('.') || !fraction.is_empty());
    let amount = if is_number { whole(&padded) } else { Err(String::new()) };
    amount.map_err(|_| {
        format!("`{}` is not an amount in {currency}; use digits and a decimal point", shown(text))
    })
}

/// A minor amount as people write it.
pub(crate) fn decimal(minor: i64, currency: Currency) -> String {
    let amount = tollgate_domain::Minor::new(minor.unsigned_abs()).unwrap_or(tollgate_domain::Minor::MAX);
    format!("{}{} {currency}", if minor < 0 { "-" } else { "" }, currency.decimal(amount))
}

/// The same of a sum, which may be larger than any amount.
pub(crate) fn decimal_sum(sum: i128, currency: Currency) -> String {
    i64::try_from(sum)
        .map_or_else(|_| format!("more {currency} than there are"), |sum| decimal(sum, currency))
}

/// `YYMMDD`, of this century.
pub(crate) fn short_date(text: &str) -> Result<Date, String> {
    let is_date = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    let digits = is_date.then(|| text.parse::<i32>().ok()).flatten();
    let part = |from: i32, of: i32| digits.and_then(|digits| i8::try_from(digits / from % of).ok());
    let year = part(10_000, 100).map(|year| i16::from(year) + 2000);
    let date = year.zip(part(100, 100)).zip(part(1, 100));
    date.and_then(|((year, month), day)| Date::new(year, month, day).ok())
        .ok_or_else(|| format!("`{}` is not a date; it is written YYMMDD", shown(text)))
}

/// The day of `YYYY-MM-DD`, which a time may follow.
pub(crate) fn iso_date(text: &str) -> Result<Date, String> {
    let day = text.split_at_checked(10).map(|(day, _)| day);
    let is_plain = |day: &&str| day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    day.filter(is_plain)
        .and_then(|day| day.parse().ok())
        .ok_or_else(|| format!("`{}` is not a date; it is written YYYY-MM-DD", shown(text)))
}

/// A text of the file, short enough for a sentence.
pub(crate) fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// A sum that is still an amount.
pub(crate) fn in_range(sum: i128) -> Result<i64, String> {
    i64::try_from(sum).map_err(|_| "the sum is larger than any amount; check the file".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_of_the_currency() {
        for (text, code, expected) in [
            ("1.00", "USD", Some(100)),
            ("1", "USD", Some(100)),
            ("1.5", "USD", Some(150)),
            ("0.05", "USD", Some(5)),
            ("8.85000", "EUR", Some(885)),
            ("8.85001", "EUR", None),
            ("2700", "JPY", Some(2_700)),
            ("2700.00", "JPY", Some(2_700)),
            ("2700.5", "JPY", None),
            ("1.234", "KWD", Some(1_234)),
            ("9007199254740993.01", "USD", Some(900_719_925_474_099_301)),
            ("99999999999999999.00", "USD", None),
            ("1.", "USD", None),
            (".5", "USD", None),
            ("-1.00", "USD", None),
            ("1,00", "USD", None),
            ("1e3", "USD", None),
            ("", "USD", None),
            ("١", "USD", None),
        ] {
            let currency = Currency::parse(code).unwrap();
            assert_eq!(minor(text, currency).ok(), expected, "{text} {code}");
        }
    }

    #[test]
    fn dates_are_days_that_exist() {
        for (text, expected) in [
            ("260229", None),
            ("280229", Some("2028-02-29")),
            ("261301", None),
            ("2611", None),
            ("+60101", None),
        ] {
            assert_eq!(short_date(text).ok().map(|day| day.to_string()).as_deref(), expected, "{text}");
        }
        assert!(iso_date("2026-11-30T10:00:00+01:00").is_ok());
        for wrong in ["2026-02-30", "20261130xx", "2026", "2026-11-3é", "+002026-11"] {
            assert!(iso_date(wrong).is_err(), "{wrong}");
        }
    }
}
