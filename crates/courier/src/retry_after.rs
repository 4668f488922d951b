//! `Retry-After`: seconds, or a date.

use std::time::{Duration, SystemTime};

use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};

/// How long a receiver asks to be left alone; what cannot be read asks for nothing.
pub(crate) fn read(text: &str, now: SystemTime) -> Option<Duration> {
    static DATES: DateTimeParser = DateTimeParser::new();
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than can be counted ask for more patience than anybody has.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let until = DATES.parse_timestamp(text).ok()?;
    let now = Timestamp::try_from(now).ok()?;
    let seconds = until.as_second().saturating_sub(now.as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (text, seconds) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 07:50:37 GMT", Some(0)),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(read(text, now), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
