//! The time, as each wire writes it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
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

/// Now, in RFC 3339 with milliseconds.
pub(crate) fn rfc3339() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// A time some hours from now, in RFC 3339 with milliseconds.
pub(crate) fn rfc3339_in_hours(hours: i64) -> String {
    let now = jiff::Timestamp::now();
    format!("{:.3}", now.checked_add(jiff::SignedDuration::from_hours(hours)).unwrap_or(now))
}

/// Whether a card that ends in this month is past it, in UTC.
pub(crate) fn month_is_past(year: i64, month: i64) -> bool {
    let today = jiff::Timestamp::now().to_string();
    let mut parts = today.split('-').map(|part| part.parse::<i64>().unwrap_or_default());
    let (this_year, this_month) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    (year, month) < (this_year, this_month)
}
