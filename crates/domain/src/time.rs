//! An instant, given to the domain by whoever holds a clock.

use std::time::Duration;

use jiff::civil::Date;

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant this many milliseconds after (or, negative, before) the epoch.
    pub const fn from_unix_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn unix_millis(self) -> i64 {
        self.0
    }

    /// The day it is then, in UTC.
    pub fn utc_date(self) -> Date {
        let moment = jiff::Timestamp::from_millisecond(self.0);
        // Outside of the calendar no law is known.
        moment.map_or(Date::MIN, |moment| jiff::tz::Offset::UTC.to_datetime(moment).date())
    }

    /// `2026-11-29 23:59 UTC`, for sentences.
    pub fn utc_minute(self) -> String {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => moment.strftime("%Y-%m-%d %H:%M UTC").to_string(),
            // Outside of the calendar.
            Err(_) => self.0.to_string(),
        }
    }

    /// `2026-11-29T23:59:00.000Z`, for programs.
    pub fn rfc3339(self) -> String {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            Err(_) => self.0.to_string(),
        }
    }

    /// The instant that [`Self::rfc3339`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|at| Self(at.as_millisecond()))
    }

    /// How long after `earlier` this instant is; nothing if it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default())
    }

    /// This instant moved forward, held at the end of representable time rather than wrapped.
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// This instant moved back, held at the beginning of representable time rather than wrapped.
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(millis))
    }
}
