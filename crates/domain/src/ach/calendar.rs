//! When a transfer arrives: banking days, cut-offs and limits, each valid from a day on.
//!
//! All of it is Eastern Time, the network's own. Rules come as a table with dates, because they change: a new limit is a
//! new row that begins on its day, and what was computed before stays as it was.

use jiff::{
    ToSpan as _,
    civil::{Date, Time, Weekday},
    tz::TimeZone,
};

use crate::{money::Minor, payment::Channel, time::Timestamp};

/// The network's rules from one day on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RailRules {
    /// The first day they hold.
    pub from: Date,
    /// The most one same-day entry may move.
    pub same_day_limit: Minor,
    /// The last moment, in Eastern Time, at which an entry still settles the same day.
    pub same_day_cutoff: Time,
    /// The last moment, in Eastern Time, at which an entry settles on the next banking day.
    pub standard_cutoff: Time,
}

/// Banking days and the rules of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calendar {
    rules: Vec<RailRules>,
    closed: Vec<Date>,
}

impl Default for Calendar {
    /// The network's rules as published: same-day entries of a million dollars, in three windows a day.
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new())
    }
}

impl Calendar {
    /// The published rules, replaced from their days on by `rules`; `closed` are days beyond the usual holidays on which
    /// nothing settles.
    pub fn new(rules: Vec<RailRules>, closed: Vec<Date>) -> Self {
        let mut all = vec![RailRules {
            from: Date::MIN,
            same_day_limit: Minor::new(100_000_000).unwrap_or(Minor::MAX),
            same_day_cutoff: Time::constant(16, 45, 0, 0),
            standard_cutoff: Time::constant(20, 0, 0, 0),
        }];
        all.extend(rules);
        all.sort_by_key(|rules| rules.from);
        Self { rules: all, closed }
    }

    /// The day on which a transfer made now should arrive.
    pub fn expected_on(&self, channel: Channel, amount: Minor, now: Timestamp) -> Option<Date> {
        let zone = TimeZone::get("America/New_York").ok()?;
        let local = jiff::Timestamp::from_millisecond(now.unix_millis()).ok()?.to_zoned(zone);
        let (today, time) = (local.date(), local.time());
        let rules = self.rules.iter().rfind(|rules| rules.from <= today)?;
        let is_open = self.is_banking_day(today);
        match channel {
            Channel::WebCard => None,
            Channel::Instant => Some(today),
            Channel::SameDayAch if amount <= rules.same_day_limit => {
                if is_open && time <= rules.same_day_cutoff {
                    Some(today)
                } else {
                    self.next_banking_day(today)
                }
            }
            // Above the limit an entry travels like any other.
            Channel::SameDayAch | Channel::StandardAch => {
                let sent_on = if is_open && time <= rules.standard_cutoff {
                    today
                } else {
                    self.next_banking_day(today)?
                };
                self.next_banking_day(sent_on)
            }
        }
    }

    /// Whether entries settle on a day.
    pub fn is_banking_day(&self, day: Date) -> bool {
        !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday)
            && !is_holiday(day)
            && !self.closed.contains(&day)
    }

    /// The last day on which something may arrive that is given so many banking days from a day on.
    pub fn banking_days_after(&self, day: Date, count: u8) -> Option<Date> {
        (0..count).try_fold(day, |day, _| self.next_banking_day(day))
    }

    fn next_banking_day(&self, day: Date) -> Option<Date> {
        // No run of closed days is as long as this.
        (1..=30_i64)
            .filter_map(|days| day.checked_add(days.days()).ok())
            .find(|day| self.is_banking_day(*day))
    }
}

/// The Federal Reserve's holidays. One that falls on a Sunday is kept on the Monday after; one on a Saturday is not moved.
fn is_holiday(day: Date) -> bool {
    let fixed = |month: i8, date: i8| {
        let holiday = Date::new(day.year(), month, date).ok();
        let kept = holiday.and_then(|holiday| match holiday.weekday() {
            Weekday::Sunday => holiday.tomorrow().ok(),
            _ => Some(holiday),
        });
        kept == Some(day)
    };
    let moving = |month: i8, weekday: Weekday, nth: i8| {
        let first = Date::new(day.year(), month, 1).ok();
        first.and_then(|first| first.nth_weekday_of_month(nth, weekday).ok()) == Some(day)
    };
    fixed(1, 1)
        || moving(1, Weekday::Monday, 3)
        || moving(2, Weekday::Monday, 3)
        || moving(5, Weekday::Monday, -1)
        || fixed(6, 19)
        || fixed(7, 4)
        || moving(9, Weekday::Monday, 1)
        || moving(10, Weekday::Monday, 2)
        || fixed(11, 11)
        || moving(11, Weekday::Thursday, 4)
        || fixed(12, 25)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_unix_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    fn dollars(amount: u64) -> Minor {
        Minor::new(amount * 100).unwrap()
    }

    #[test]
    fn banking_days_leave_out_weekends_and_holidays() {
        let calendar = Calendar::default();
        for closed in [
            "2026-01-01",
            "2026-01-19",
            "2026-02-16",
            "2026-05-25",
            "2026-06-19",
            "2026-09-07",
            "2026-10-12",
            "2026-11-11",
            "2026-11-26",
            "2026-12-25",
            "2026-11-14",
            "2026-11-15",
            "2027-07-05",
            "2028-01-17",
        ] {
            assert!(!calendar.is_banking_day(day(closed)), "{closed}");
        }
        // The fourth of July 2026 is a Saturday: the banks are open on the Friday before.
        for open in ["2026-07-03", "2026-11-16", "2026-12-24", "2027-12-24"] {
            assert!(calendar.is_banking_day(day(open)), "{open}");
        }
        let closed = Calendar::new(Vec::new(), vec![day("2026-12-24")]);
        assert!(!closed.is_banking_day(day("2026-12-24")));
    }

    #[test]
    fn channels_arrive_on_their_days() {
        use Channel::{Instant, SameDayAch, StandardAch, WebCard};
        let calendar = Calendar::default();
        for (channel, amount, now, expected) in [
            // A Monday morning in New York.
            (StandardAch, 10, "2026-11-16T15:00:00Z", Some("2026-11-17")),
            (SameDayAch, 10, "2026-11-16T15:00:00Z", Some("2026-11-16")),
            (Instant, 10, "2026-11-16T15:00:00Z", Some("2026-11-16")),
            (WebCard, 10, "2026-11-16T15:00:00Z", None),
            // At and after the last window: 16:45 in New York is 21:45 in UTC in winter, 20:45 in summer.
            (SameDayAch, 10, "2026-11-16T21:45:00Z", Some("2026-11-16")),
            (SameDayAch, 10, "2026-11-16T21:45:01Z", Some("2026-11-17")),
            (SameDayAch, 10, "2026-07-06T20:45:01Z", Some("2026-07-07")),
            // Above the limit it travels like any other.
            (SameDayAch, 1_000_000, "2026-11-16T15:00:00Z", Some("2026-11-16")),
            (SameDayAch, 1_000_001, "2026-11-16T15:00:00Z", Some("2026-11-17")),
            // A weekend, and the day before Thanksgiving.
            (StandardAch, 10, "2026-11-14T15:00:00Z", Some("2026-11-17")),
            (SameDayAch, 10, "2026-11-14T15:00:00Z", Some("2026-11-16")),
            (Instant, 10, "2026-11-14T15:00:00Z", Some("2026-11-14")),
            (StandardAch, 10, "2026-11-25T15:00:00Z", Some("2026-11-27")),
            // Late in the evening in New York, where it is still the day before.
            (StandardAch, 10, "2026-11-17T02:00:00Z", Some("2026-11-18")),
        ] {
            let found = calendar.expected_on(channel, dollars(amount), at(now)).map(|day| day.to_string());
            assert_eq!(found.as_deref(), expected, "{channel} {amount} {now}");
        }
    }

    #[test]
    fn banking_days_are_counted_over_closed_ones() {
        let calendar = Calendar::default();
        for (from, count, expected) in [
            ("2026-11-20", 0, "2026-11-20"),
            ("2026-11-20", 1, "2026-11-23"),
            ("2026-11-20", 5, "2026-11-30"),
            ("2026-11-21", 1, "2026-11-23"),
        ] {
            assert_eq!(calendar.banking_days_after(day(from), count), Some(day(expected)), "{from} {count}");
        }
    }

    #[test]
    fn rules_hold_from_their_day_on() {
        let rules = RailRules {
            from: day("2027-01-04"),
            same_day_limit: dollars(5_000_000),
            same_day_cutoff: Time::constant(18, 0, 0, 0),
            standard_cutoff: Time::constant(20, 0, 0, 0),
        };
        let calendar = Calendar::new(vec![rules], Vec::new());
        let on = |now: &str| {
            calendar.expected_on(Channel::SameDayAch, dollars(2_000_000), at(now)).unwrap().to_string()
        };
        assert_eq!(on("2026-12-31T15:00:00Z"), "2027-01-04", "the old limit, and a new year");
        assert_eq!(on("2027-01-04T22:30:00Z"), "2027-01-04", "the new limit and the new cut-off");
    }
}
