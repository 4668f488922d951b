//! Money, moments and long texts, for a person's eye.

use tollgate_domain::{Currency, Minor, Timestamp};

/// An amount in whole units: `1,234.50 USD`.
pub(crate) fn money(minor: impl Into<i128>, currency: Currency) -> String {
    format!("{} {currency}", amount(minor, currency))
}

/// The same without the currency.
pub(crate) fn amount(minor: impl Into<i128>, currency: Currency) -> String {
    let minor: i128 = minor.into();
    let places = usize::from(currency.exponent());
    let digits = format!("{:0>width$}", minor.unsigned_abs(), width = places.saturating_add(1));
    let (whole, part) = digits.split_at_checked(digits.len().saturating_sub(places)).unwrap_or((&digits, ""));
    let sign = if minor < 0 { "−" } else { "" };
    let point = if places == 0 { "" } else { "." };
    format!("{sign}{}{point}{part}", grouped(whole))
}

/// A fee or a principal.
pub(crate) fn minor(minor: Minor, currency: Currency) -> String {
    money(minor.signed(), currency)
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len().saturating_add(digits.len() / 3));
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count.
pub(crate) fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// `2026-11-15 09:30:12.123`, in UTC.
pub(crate) fn moment(at: Timestamp) -> String {
    stamp(at, "%Y-%m-%d %H:%M:%S%.3f")
}

/// Without the milliseconds.
pub(crate) fn second(at: Timestamp) -> String {
    stamp(at, "%Y-%m-%d %H:%M:%S")
}

/// A moment of a list: in UTC, and so that a browser can show it in its own time.
pub(crate) struct When {
    pub(crate) utc: String,
    /// As a `time` element has it.
    pub(crate) machine: String,
}

impl When {
    pub(crate) fn of(at: Timestamp) -> Self {
        Self { utc: second(at), machine: rfc3339(at) }
    }
}

/// As the API writes it.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    stamp(at, "%Y-%m-%dT%H:%M:%S%.3fZ")
}

/// By a pattern of strftime.
pub(crate) fn stamp(at: Timestamp, pattern: &str) -> String {
    match jiff::Timestamp::from_millisecond(at.unix_millis()) {
        Ok(moment) => moment.strftime(pattern).to_string(),
        Err(_) => at.unix_millis().to_string(),
    }
}

/// How long ago, roughly.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.unix_millis().saturating_sub(at.unix_millis()) / 1_000;
    match seconds {
        ..0 => "in the future".to_owned(),
        0..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// The beginning of a text that may be long.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// An amount that a person typed in whole units, exactly; `None` if it is not one, or has too many places.
pub(crate) fn read_amount(text: &str, currency: Currency) -> Option<u64> {
    let text: String = text.chars().filter(|c| *c != ',' && *c != ' ').collect();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let places = usize::from(currency.exponent());
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > places || !is_number(whole) || !is_number(part) {
        return None;
    }
    format!("{whole}{part:0<places$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_and_read_exactly() {
        let usd = Currency::USD;
        let jpy = Currency::parse("JPY").unwrap();
        let kwd = Currency::parse("KWD").unwrap();
        for (minor, currency, text) in [
            (0_i128, usd, "0.00"),
            (5, usd, "0.05"),
            (123_456, usd, "1,234.56"),
            (-123_456, usd, "−1,234.56"),
            (1_000_000_000_000_000_000, usd, "10,000,000,000,000,000.00"),
            (1_234, jpy, "1,234"),
            (1_234, kwd, "1.234"),
        ] {
            assert_eq!(amount(minor, currency), text);
            if minor >= 0 {
                assert_eq!(read_amount(text, currency).map(i128::from), Some(minor));
            }
        }
        assert_eq!(read_amount("12", usd), Some(1_200));
        assert_eq!(read_amount("12.5", usd), Some(1_250));
        for text in ["", ".5", "1.234", "-1", "1e3", "abc", "99999999999999999999"] {
            assert_eq!(read_amount(text, usd), None, "{text}");
        }
        assert_eq!(read_amount("1.5", jpy), None);
    }

    #[test]
    fn moments_and_texts() {
        let at = Timestamp::from_unix_millis(1_790_000_000_123);
        assert_eq!(moment(at), "2026-09-21 14:13:20.123");
        assert_eq!(rfc3339(at), "2026-09-21T14:13:20.123Z");
        assert_eq!(ago(at, at.saturating_add(std::time::Duration::from_mins(5))), "5 min ago");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("äöü", 3), "äöü");
    }
}
