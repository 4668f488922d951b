//! What a comparison finds: how each payment, payout and line stands, what differs, and what the books should say.

use std::collections::BTreeSet;

use jiff::{ToSpan as _, civil::Date};

use super::{
    Cause, Difference, FactKind, Payout, PayoutStatus, PostedFact, SettlementAccount, SettlementPosting,
};
use crate::{ach::Calendar, currency::Currency, reference::ServiceReference, statement::Month};

/// The terms of a comparison.
#[derive(Debug, Clone)]
pub struct Terms {
    pub as_of: Date,
    /// After so many days what the provider has not booked is missing.
    pub missing_after_days: i32,
    /// After so many days what our books do not have is unknown to them: webhooks may be late.
    pub unknown_after_days: i32,
    pub calendar: Calendar,
    pub closed_through: Option<Month>,
}

impl Terms {
    /// Whether the provider should have booked something of a day by now.
    pub(super) fn is_due(&self, since: Date) -> bool {
        self.is_past(since, self.missing_after_days)
    }

    /// Whether our books should have something of a day by now.
    pub(super) fn is_unknown(&self, since: Date) -> bool {
        self.is_past(since, self.unknown_after_days)
    }

    fn is_past(&self, since: Date, days: i32) -> bool {
        since.checked_add(days.days()).is_ok_and(|due| due < self.as_of)
    }

    fn first_open(&self) -> Option<Month> {
        self.closed_through.map(Month::next)
    }

    /// The month a fact is posted to, and whether it is another one than its own.
    pub(super) fn month_of(&self, day: Date, closed_in: Option<Month>) -> (Month, bool) {
        let own = Month::of_day(day);
        match (closed_in, self.first_open()) {
            (Some(closed_in), _) => (closed_in, false),
            (None, Some(open)) if own < open => (open, true),
            (None, _) => (own, false),
        }
    }
}

/// What agrees, what does not, and what the books should say. Every list is in an order of its own, whatever the facts came in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reconciliation {
    pub subjects: Vec<SubjectMatch>,
    pub payouts: Vec<ReconciledPayout>,
    pub differences: Vec<Difference>,
    pub postings: Vec<SettlementPosting>,
    /// Entries of other integrations and environments that share the account.
    pub foreign: BTreeSet<String>,
}

impl Reconciliation {
    pub(super) fn differ(&mut self, difference: Difference) {
        self.differences.push(difference);
    }

    pub(super) fn post(
        &mut self,
        fact: PostedFact,
        month: Month,
        currency: Currency,
        [debit, credit]: [SettlementAccount; 2],
        amount_minor: i128,
    ) {
        if amount_minor != 0 {
            self.postings.push(SettlementPosting { fact, month, currency, debit, credit, amount_minor });
        }
    }

    /// What the postings leave in an account.
    pub fn balance_of(&self, account: SettlementAccount, currency: Currency) -> i128 {
        let own = self.postings.iter().filter(|posting| posting.currency == currency);
        own.map(|posting| posting.change_of(account)).sum()
    }

    /// What of our books the provider has not booked, missing or only awaited.
    pub fn timing_items(&self, currency: Currency) -> i128 {
        let awaited =
            self.subjects.iter().filter(|subject| subject.currency == currency && !subject.is_booked);
        awaited.map(|subject| subject.expected_minor).sum()
    }
}

/// How the two sides of a subject stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectState {
    /// Equal to the cent.
    Settled,
    /// One side has not booked it yet, which is not late.
    Awaited,
    /// There is a difference.
    Differs,
    /// It is somebody else's, who shares the account.
    Foreign,
}

/// One payment, refund, dispute or transfer: what the books expect and what the provider booked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubjectMatch {
    pub kind: FactKind,
    pub subject: String,
    pub currency: Currency,
    pub reference: Option<ServiceReference>,
    pub state: SubjectState,
    pub expected_minor: i128,
    pub actual_minor: i128,
    /// In the currency that the account settles in.
    pub fee_minor: i128,
    /// Its entries, and fees of their own.
    pub entries: Vec<String>,
    /// The provider has booked it; until then it is a timing item.
    pub is_booked: bool,
    pub payouts: BTreeSet<String>,
}

/// What a payout's amount has beyond its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remainder {
    /// Nothing: it is the sum of its entries.
    None,
    /// The provider lists no entries for it; its balance proves it instead.
    NotItemized,
    /// Entries that another payout lists, too.
    TwoPayouts,
    Unexplained,
}

/// A payout from gross to bank.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReconciledPayout {
    pub id: String,
    pub status: PayoutStatus,
    pub currency: Currency,
    pub amount_minor: i64,
    pub gross_minor: i128,
    pub fee_minor: i128,
    pub net_minor: i128,
    /// What of the net amount is of others who share the account.
    pub foreign_minor: i128,
    pub remainder_minor: i128,
    pub remainder: Remainder,
    pub entries: Vec<String>,
    pub bank: BankMatch,
}

/// Where a payout is on the bank account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum BankMatch {
    /// Not there, which may be in order.
    Awaited,
    Line(String),
    /// A person has to decide.
    Candidates(Vec<String>),
}

impl Payout {
    /// A difference about the payout as a whole.
    pub(super) fn difference(&self, cause: Cause, expected: i128, actual: i128) -> Difference {
        Difference {
            cause,
            references: vec![self.id.clone()],
            service_reference: None,
            expected_minor: Some(expected),
            actual_minor: Some(actual),
            currency: self.currency,
            payout: Some(self.id.clone()),
            since: self.arrives_on,
        }
    }
}
