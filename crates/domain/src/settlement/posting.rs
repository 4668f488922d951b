//! The books of settlement: each posting moves an amount between two accounts, so that it cannot be out of balance.

use std::{collections::BTreeMap, fmt};

use super::FactKind;
use crate::{currency::Currency, statement::Month};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettlementAccount {
    /// The same account that card postings have.
    DueFromProvider,
    ProviderFees,
    InTransit,
    Bank,
    ReservesHeld,
    OtherActivity,
    Suspense,
    FxDifference,
}

impl SettlementAccount {
    pub const ALL: [Self; 8] = [
        Self::DueFromProvider,
        Self::ProviderFees,
        Self::InTransit,
        Self::Bank,
        Self::ReservesHeld,
        Self::OtherActivity,
        Self::Suspense,
        Self::FxDifference,
    ];

    /// The name in the stores and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DueFromProvider => "due_from_provider",
            Self::ProviderFees => "provider_fees",
            Self::InTransit => "in_transit",
            Self::Bank => "bank",
            Self::ReservesHeld => "reserves_held",
            Self::OtherActivity => "other_activity",
            Self::Suspense => "suspense",
            Self::FxDifference => "fx_difference",
        }
    }
}

/// What a posting is made for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PostedFact {
    Entry(String),
    /// What the entries of a subject differ from our books by.
    Subject(FactKind, String),
    Payout(String),
    PayoutRemainder(String),
    BankLine(String),
}

impl fmt::Display for PostedFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(id) => write!(f, "entry {id:?}"),
            Self::Subject(kind, id) => write!(f, "{} {id:?}", kind.as_str()),
            Self::Payout(id) => write!(f, "payout {id:?}"),
            Self::PayoutRemainder(id) => write!(f, "payout_remainder {id:?}"),
            Self::BankLine(id) => write!(f, "bank_line {id:?}"),
        }
    }
}

/// An amount moved from one account to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettlementPosting {
    pub fact: PostedFact,
    pub month: Month,
    pub currency: Currency,
    pub debit: SettlementAccount,
    pub credit: SettlementAccount,
    /// Negative moves the other way.
    pub amount_minor: i128,
}

impl SettlementPosting {
    /// What is added to an account: debits are positive.
    pub fn change_of(&self, account: SettlementAccount) -> i128 {
        let side = |own: SettlementAccount| i128::from(own == account);
        self.amount_minor * (side(self.debit) - side(self.credit))
    }
}

/// What has to be posted to get from what is posted to what should be, in the first open month where a month is closed.
pub fn unposted(
    target: &[SettlementPosting],
    posted: &[SettlementPosting],
    first_open: Month,
) -> Vec<SettlementPosting> {
    type Key<'a> = (&'a PostedFact, Currency, SettlementAccount, SettlementAccount);
    let mut missing: BTreeMap<Key<'_>, (Month, i128)> = BTreeMap::new();
    let signed = posted.iter().map(|posting| (posting, -1)).chain(target.iter().map(|posting| (posting, 1)));
    for (posting, sign) in signed {
        let key = (&posting.fact, posting.currency, posting.debit, posting.credit);
        let (month, sum) = missing.entry(key).or_insert((posting.month, 0));
        *month = posting.month.max(first_open);
        *sum = sum.saturating_add(sign * posting.amount_minor);
    }
    let missing = missing.into_iter().filter(|(_, (_, amount))| *amount != 0);
    missing
        .map(|((fact, currency, debit, credit), (month, amount_minor))| SettlementPosting {
            fact: fact.clone(),
            month,
            currency,
            debit,
            credit,
            amount_minor,
        })
        .collect()
}
