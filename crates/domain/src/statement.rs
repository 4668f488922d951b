//! The monthly statement: the fees that were earned, and the payments, refunds and disputes behind them.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::{
    books::{Amounts, CardPostingKind},
    currency::Currency,
    payment::PaymentMethod,
    time::Timestamp,
};

/// A calendar month in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: u16,
    month: u8,
}

impl Month {
    /// Reads `2026-11`, nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, month) = text.split_once('-')?;
        let is_plain =
            |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_plain(year, 4) || !is_plain(month, 2) {
            return None;
        }
        let (year, month) = (year.parse().ok()?, month.parse().ok()?);
        ((1970..=9998).contains(&year) && (1..=12).contains(&month)).then_some(Self { year, month })
    }

    /// The month this moment is in; moments outside of all months are in the nearest one.
    pub fn of(at: Timestamp) -> Self {
        let (mut low, mut high) = (0_u32, Self { year: 9998, month: 12 }.number());
        // The last month that has begun.
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if Self::numbered(middle).start() <= at { low = middle } else { high = middle - 1 }
        }
        Self::numbered(low)
    }

    /// The month of a day; days outside of all months are in the nearest one.
    pub fn of_day(day: Date) -> Self {
        match u16::try_from(day.year()) {
            Ok(year @ 1970..=9998) => Self { year, month: day.month().unsigned_abs() },
            Ok(9999..) => Self { year: 9998, month: 12 },
            _ => Self { year: 1970, month: 1 },
        }
    }

    #[must_use]
    pub fn previous(self) -> Self {
        Self::numbered(self.number().saturating_sub(1))
    }

    #[must_use]
    pub fn next(self) -> Self {
        Self::numbered(self.number() + 1)
    }

    /// Its first moment.
    pub fn start(self) -> Timestamp {
        Timestamp::from_unix_millis(days_before(self) * 86_400_000)
    }

    /// The first moment after it.
    pub fn end(self) -> Timestamp {
        self.next().start()
    }

    /// Months since January 1970.
    fn number(self) -> u32 {
        u32::from(self.year - 1970) * 12 + u32::from(self.month) - 1
    }

    fn numbered(number: u32) -> Self {
        let year = u16::try_from(number / 12).map_or(u16::MAX, |years| years.saturating_add(1970));
        Self { year, month: u8::try_from(number % 12).unwrap_or(0) + 1 }
    }
}

impl std::str::FromStr for Month {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::parse(text).ok_or(())
    }
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

/// Days from 1970 to the first of the month, in the proleptic Gregorian calendar.
fn days_before(month: Month) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let (year, index) = (i64::from(month.year), usize::from(month.month - 1));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let years = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    let leap_day = i64::from(is_leap && month.month > 2);
    years + BEFORE.get(index).copied().unwrap_or(0) + leap_day
}

/// Why something was posted, whatever the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatementKind {
    /// To the books of card payments.
    Card(CardPostingKind),
    /// A bank transfer was paid out.
    TransferSettled,
    /// A bank transfer that had been paid out came back.
    TransferReturned,
}

/// What was posted in a month of one kind, at one provider, in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementLine {
    /// The provider, by its name in the configuration.
    pub provider: String,
    pub method: PaymentMethod,
    pub currency: Currency,
    pub kind: StatementKind,
    /// How many postings.
    pub count: u64,
    /// Of a transfer: the principal and the fees, signed as they were posted.
    pub amounts: Amounts,
}

/// A number of payments, refunds or disputes, and what they moved. Nothing in it is negative unless more was reversed
/// than made within the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Part {
    pub count: i128,
    pub principal: i128,
    pub platform_fees: i128,
    pub organization_fees: i128,
}

impl Part {
    fn add(&mut self, count: i128, principal: i128, platform_fees: i128, organization_fees: i128) {
        self.count = self.count.saturating_add(count);
        self.principal = self.principal.saturating_add(principal);
        self.platform_fees = self.platform_fees.saturating_add(platform_fees);
        self.organization_fees = self.organization_fees.saturating_add(organization_fees);
    }

    fn plus(&mut self, other: Self) {
        self.add(other.count, other.principal, other.platform_fees, other.organization_fees);
    }
}

/// A month at one provider, by one method, in one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatementRow {
    /// What customers paid, or what was paid out by transfer.
    pub payments: Part,
    /// What was given back: refunds that were not undone, and transfers that came back.
    pub refunds: Part,
    /// Disputes that were lost.
    pub lost: Part,
    /// How many disputes began to hold money.
    pub disputes_opened: i128,
    /// By how much the amount held for open disputes grew.
    pub disputes_held: i128,
    /// By how much the amount that the provider owes grew; bank transfers are paid from the wallet.
    pub due_from_provider: i128,
}

impl StatementRow {
    /// What the platform has earned: its fees on payments, less what was given back or lost.
    pub const fn platform_fees(&self) -> i128 {
        self.payments.platform_fees - self.refunds.platform_fees - self.lost.platform_fees
    }

    /// What the organization has earned, likewise.
    pub const fn organization_fees(&self) -> i128 {
        self.payments.organization_fees - self.refunds.organization_fees - self.lost.organization_fees
    }

    fn post(&mut self, line: &StatementLine) {
        let (count, posted) = (i128::from(line.count), line.amounts);
        let (platform, organization) = (posted.platform_fees, posted.organization_fees);
        self.due_from_provider = self.due_from_provider.saturating_add(posted.due_from_provider);
        self.disputes_held = self.disputes_held.saturating_add(posted.disputes_held);
        // A refund of a payment whose dispute was lost can change which part of the loss was principal, so that what is lost
        // and what is refunded go by their accounts, whatever the kind.
        self.lost.principal = self.lost.principal.saturating_add(posted.disputes_lost);
        self.refunds.principal = self.refunds.principal.saturating_add(posted.refunds_given);
        match line.kind {
            StatementKind::Card(CardPostingKind::Payment) | StatementKind::TransferSettled => {
                self.payments.add(count, posted.principal, platform, organization);
            }
            StatementKind::TransferReturned => {
                self.refunds.add(count, -posted.principal, -platform, -organization);
            }
            StatementKind::Card(CardPostingKind::Refund) => {
                self.refunds.add(count, 0, -platform, -organization);
            }
            StatementKind::Card(CardPostingKind::RefundReversed) => {
                self.refunds.add(-count, 0, -platform, -organization);
            }
            StatementKind::Card(kind) => {
                self.disputes_opened += if kind == CardPostingKind::DisputeHeld { count } else { 0 };
                let lost = if kind == CardPostingKind::DisputeLost { count } else { 0 };
                self.lost.add(lost, 0, -platform, -organization);
            }
        }
    }

    /// This row and another one.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        self.payments.plus(other.payments);
        self.refunds.plus(other.refunds);
        self.lost.plus(other.lost);
        self.disputes_opened = self.disputes_opened.saturating_add(other.disputes_opened);
        self.disputes_held = self.disputes_held.saturating_add(other.disputes_held);
        self.due_from_provider = self.due_from_provider.saturating_add(other.due_from_provider);
        self
    }
}

/// What one row of a statement is about.
pub type StatementKey = (String, PaymentMethod, Currency);

/// The rows of an environment's statement, by provider, method and currency.
pub fn rows(lines: &[StatementLine]) -> BTreeMap<StatementKey, StatementRow> {
    let mut rows: BTreeMap<StatementKey, StatementRow> = BTreeMap::new();
    for line in lines {
        rows.entry((line.provider.clone(), line.method, line.currency)).or_default().post(line);
    }
    rows
}

/// The totals of such rows, by currency.
pub fn totals(rows: &BTreeMap<StatementKey, StatementRow>) -> BTreeMap<Currency, StatementRow> {
    let mut totals: BTreeMap<Currency, StatementRow> = BTreeMap::new();
    for ((_, _, currency), row) in rows {
        let total = totals.entry(*currency).or_default();
        *total = total.plus(row);
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_those_of_the_calendar() {
        for (text, start) in [
            ("1970-01", 0),
            ("2000-02", 949_363_200_000),
            ("2000-03", 951_868_800_000),
            ("2026-11", 1_793_491_200_000),
            ("2100-03", 4_107_542_400_000),
        ] {
            let month = Month::parse(text).unwrap();
            assert_eq!((month.start().unix_millis(), month.to_string()), (start, text.to_owned()));
            assert_eq!(Month::of(month.start()), month);
            assert_eq!(Month::of(Timestamp::from_unix_millis(month.end().unix_millis() - 1)), month);
            assert_eq!(month.next().previous(), month);
        }
        for wrong in ["", "2026", "2026-13", "2026-00", "2026-1", "26-11", "+026-11", "2026-11-01", "0000-01"]
        {
            assert_eq!(Month::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Month::of(Timestamp::from_unix_millis(-1)).to_string(), "1970-01");
    }

    #[test]
    fn rows_show_what_was_earned_and_given_back() {
        let line = |kind, count, amounts| StatementLine {
            provider: "a".to_owned(),
            method: PaymentMethod::WebCard,
            currency: Currency::USD,
            kind: StatementKind::Card(kind),
            count,
            amounts,
        };
        let paid = Amounts {
            due_from_provider: 2_146,
            principal: 2_000,
            platform_fees: 66,
            organization_fees: 80,
            ..Amounts::default()
        };
        let given = Amounts {
            due_from_provider: -537,
            refunds_given: 500,
            platform_fees: -17,
            organization_fees: -20,
            ..Amounts::default()
        };
        let lines = [
            line(CardPostingKind::Payment, 2, paid),
            line(CardPostingKind::Refund, 1, given),
            line(CardPostingKind::RefundReversed, 1, Amounts::default().since(given)),
        ];
        let all = rows(&lines[..2]);
        let row = all.values().next().unwrap();
        assert_eq!((row.payments.count, row.refunds.count, row.refunds.principal), (2, 1, 500));
        assert_eq!((row.platform_fees(), row.organization_fees(), row.due_from_provider), (49, 60, 1_609));
        let undone = *totals(&rows(&lines)).values().next().unwrap();
        assert_eq!((undone.refunds, undone.platform_fees()), (Part::default(), 66));
    }
}
