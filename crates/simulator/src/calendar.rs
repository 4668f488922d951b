//! The time, as each provider writes it.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn unix_seconds() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// A number that differs from one process to the next, to start identifiers from.
pub(crate) fn unix_nanos() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| u64::try_from(since.as_nanos()).ok())
        .unwrap_or_default()
}

pub(crate) fn rfc3339() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// A time some seconds from now, in RFC 3339 with milliseconds.
pub(crate) fn rfc3339_in_seconds(seconds: i64) -> String {
    let now = jiff::Timestamp::now();
    format!("{:.3}", now.checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap_or(now))
}

/// Whether a time in RFC 3339 is so many milliseconds ago, or more.
pub(crate) fn is_older(time: &str, millis: u64) -> bool {
    let age = time.parse::<jiff::Timestamp>().map(|time| jiff::Timestamp::now().duration_since(time));
    age.is_ok_and(|age| age.as_millis() >= i128::from(millis))
}

/// The seconds of a duration such as `P7D` or `PT36H`.
pub(crate) fn seconds_of(duration: &str) -> Option<i64> {
    let span: jiff::Span = duration.parse().ok()?;
    let whole = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok()?;
    Some(whole.as_secs())
}

/// The time so many seconds from now, as it stands in an HTTP header.
pub(crate) fn http_date(seconds_ahead: i64) -> String {
    let now = jiff::Timestamp::now();
    let at = now.checked_add(jiff::SignedDuration::from_secs(seconds_ahead)).unwrap_or(now);
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Whether a card that ends in this month is past it, in UTC.
pub(crate) fn month_is_past(year: i64, month: i64) -> bool {
    let today = jiff::Timestamp::now().to_string();
    let mut parts = today.split('-').map(|part| part.parse::<i64>().unwrap_or_default());
    let (this_year, this_month) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    (year, month) < (this_year, this_month)
}

/// The first day from this one on that is a banking day; holidays are not known here.
pub(crate) fn banking_day(mut day: jiff::civil::Date) -> jiff::civil::Date {
    while matches!(day.weekday(), jiff::civil::Weekday::Saturday | jiff::civil::Weekday::Sunday) {
        day = day.saturating_add(jiff::Span::new().days(1));
    }
    day
}

pub(crate) fn next_banking_day(day: jiff::civil::Date) -> jiff::civil::Date {
    banking_day(day.saturating_add(jiff::Span::new().days(1)))
}

pub(crate) fn today() -> jiff::civil::Date {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, seconds) in
            [("P7D", Some(604_800)), ("PT168H", Some(604_800)), ("PT1M", Some(60)), ("soon", None)]
        {
            assert_eq!(seconds_of(text), seconds, "{text}");
        }
    }

    #[test]
    fn weekends_are_no_banking_days() {
        let day = |text: &str| text.parse::<jiff::civil::Date>().unwrap();
        assert_eq!(banking_day(day("2026-01-02")), day("2026-01-02"));
        assert_eq!(banking_day(day("2026-01-03")), day("2026-01-05"));
        assert_eq!(next_banking_day(day("2026-01-02")), day("2026-01-05"));
    }
}
