//! What an environment says of its merchant and what it has attested.

use std::sync::Arc;

use jiff::civil::Date;

use crate::{
    card_fee::facts::{Brand, Place},
    money::{BasisPoints, Minor, Principal},
};

/// A merchant category code: four digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mcc(u16);

impl Mcc {
    /// Reads exactly four digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits { text.parse().ok().map(Self) } else { None }
    }
}

impl std::fmt::Display for Mcc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}", self.0)
    }
}

/// What it costs to accept a card at a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    pub percent: BasisPoints,
    /// In the minor unit of the payment's currency.
    pub fixed: Minor,
}

impl Cost {
    /// What a payment of this principal costs, the share rounded down: what a fee must not exceed.
    pub fn of(&self, principal: Principal) -> Minor {
        self.percent.of_rounded_down(principal).checked_add(self.fixed).unwrap_or(Minor::MAX)
    }
}

/// A rule that somebody has taken upon themselves to set aside, until a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// Which: `US-TX`, `payer_place:merchant`. The rules say which there are.
    pub id: Arc<str>,
    pub reason: String,
    /// Where the opinion it rests on is kept.
    pub document: Option<String>,
    /// The first day on which it no longer counts.
    pub expires_on: Date,
}

/// The longest an override may be given ahead.
pub const MAX_OVERRIDE_DAYS: i32 = 366;

impl Override {
    /// Whether it counts on a day. One given for longer than a year counts for nothing until its last year.
    pub fn counts_on(&self, today: Date) -> bool {
        (1..=MAX_OVERRIDE_DAYS).contains(&self.days_left(today))
    }

    /// Days until it no longer counts; zero or less once it does not.
    pub fn days_left(&self, today: Date) -> i32 {
        days_between(today, self.expires_on)
    }
}

/// The setting `feeProgram`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeeProgram {
    /// Where the merchant sells from.
    pub merchant: Place,
    pub mcc: Option<Mcc>,
    /// The brands it takes.
    pub accepted_brands: Vec<Brand>,
    /// What cards cost, by the provider's name in the configuration.
    pub cost: Vec<(Arc<str>, Cost)>,
    /// When acquirer and networks were told that surcharges begin.
    pub notice_given_on: Option<Date>,
    /// Somebody vouches that the first page with card brands says that a surcharge applies.
    pub entry_notice_attested: bool,
    /// Somebody vouches that American Express is treated like the others.
    pub amex_parity_confirmed: bool,
    /// Somebody vouches that every posted price includes the surcharge.
    pub posted_total_price: bool,
    /// Whether the merchant sells only online; `None` if it does not say.
    pub online_only: Option<bool>,
    pub overrides: Vec<Override>,
}

impl FeeProgram {
    /// What cards cost at a provider.
    pub fn cost_at(&self, provider: &str) -> Option<&Cost> {
        self.cost.iter().find(|(name, _)| &**name == provider).map(|(_, cost)| cost)
    }

    /// Whether an override is recorded and counts on this day.
    pub fn overrides(&self, id: &str, today: Date) -> bool {
        self.overrides.iter().any(|given| &*given.id == id && given.counts_on(today))
    }
}

/// Whole days from one date to another; negative if the other is earlier.
pub(crate) fn days_between(from: Date, to: Date) -> i32 {
    // A difference of two days of the calendar fits whatever they are.
    from.until(to).map_or(i32::MIN, |span| span.get_days())
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn an_override_counts_for_a_year_and_not_on_its_last_day() {
        let given = |expires_on| Override {
            id: "US-TX".into(),
            reason: "counsel".to_owned(),
            document: None,
            expires_on,
        };
        let today = date(2026, 11, 18);
        for (expires_on, counts) in [
            (date(2026, 11, 17), false),
            (date(2026, 11, 18), false),
            (date(2026, 11, 19), true),
            (date(2027, 11, 18), true),
            (date(2027, 11, 19), true),
            (date(2027, 11, 20), false),
            (Date::MAX, false),
            (Date::MIN, false),
        ] {
            assert_eq!(given(expires_on).counts_on(today), counts, "{expires_on}");
        }
    }

    #[test]
    fn a_cost_rounds_its_share_down() {
        let cost = Cost { percent: BasisPoints::new(290).unwrap(), fixed: Minor::new(30).unwrap() };
        assert_eq!(cost.of(Principal::new(3_333).unwrap()).get(), 96 + 30);
    }

    #[test]
    fn categories_have_four_digits() {
        assert_eq!(Mcc::parse("0742").map(|mcc| mcc.to_string()).as_deref(), Some("0742"));
        for text in ["", "742", "07420", "07a2", "+742"] {
            assert_eq!(Mcc::parse(text), None, "{text:?}");
        }
    }
}
