//! Limits: how many payments, and how much money, may be made within a window of time.
//!
//! A payment counts from the moment it is recorded until the window has passed over it. One that fails, is canceled or
//! can no longer be paid does not count.

use std::{fmt, sync::Arc, time::Duration};

use crate::{card::Preparation, money::Minor, payment::PaymentMethod, transaction::Status};

/// Whose payments a limit adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitScope {
    /// All of the environment.
    Environment,
    /// One customer's: a transfer's `externalCustomerId`, a card payment's e-mail address.
    Customer,
    /// Those to one bank account.
    Account,
    /// Those with one card.
    Card,
}

impl LimitScope {
    pub const ALL: [Self; 4] = [Self::Environment, Self::Customer, Self::Account, Self::Card];

    /// The name in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Customer => "customer",
            Self::Account => "account",
            Self::Card => "card",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// A limit. Every currency is counted by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Its name, under which payments are counted: a limit of another name begins at zero.
    pub id: Arc<str>,
    pub method: PaymentMethod,
    pub per: LimitScope,
    pub window: Duration,
    /// How many payments there may be within the window.
    pub max_count: Option<u64>,
    /// How much their principals may add up to.
    pub max_amount: Option<Minor>,
    pub action: LimitAction,
}

/// What becomes of a payment that a limit does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitAction {
    Refuse,
    /// It waits for a person's approval, and counts in the meantime.
    Review,
}

impl LimitAction {
    pub const ALL: [Self; 2] = [Self::Refuse, Self::Review];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Review => "review",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// A limit that a payment counts toward, and whose payments it is counted with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitUse {
    pub limit: Limit,
    /// A digest of limit, currency and the customer or account.
    pub subject: [u8; 32],
    /// Whether people decide about a payment beyond the limit: it counts, whatever that adds up to.
    pub is_reviewed: bool,
}

impl LimitUse {
    /// What counts once this principal does, too.
    pub fn add(&self, totals: LimitTotals, principal: Minor) -> Result<LimitTotals, LimitBound> {
        if !self.is_reviewed {
            return self.limit.add(totals, principal);
        }
        let amount = totals.amount.checked_add(principal).unwrap_or(Minor::MAX);
        Ok(LimitTotals { count: totals.count.saturating_add(1), amount })
    }
}

/// What counts toward a limit at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitTotals {
    pub count: u64,
    pub amount: Minor,
}

/// What of a limit would be exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitBound {
    Count(u64),
    Amount(Minor),
}

impl Limit {
    /// What counts once this principal does, too.
    pub fn add(&self, totals: LimitTotals, principal: Minor) -> Result<LimitTotals, LimitBound> {
        let count = totals.count.saturating_add(1);
        if let Some(most) = self.max_count
            && count > most
        {
            return Err(LimitBound::Count(most));
        }
        let amount = totals.amount.checked_add(principal);
        match (amount, self.max_amount) {
            (Some(amount), Some(most)) if amount > most => Err(LimitBound::Amount(most)),
            (Some(amount), _) => Ok(LimitTotals { count, amount }),
            (None, most) => Err(LimitBound::Amount(most.unwrap_or(Minor::MAX))),
        }
    }
}

/// `at most 3 payments in 86400 seconds for each customer`, for sentences.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("at most ")?;
        if let Some(count) = self.max_count {
            write!(f, "{count} {}", if count == 1 { "payment" } else { "payments" })?;
        }
        if self.max_count.is_some() && self.max_amount.is_some() {
            f.write_str(" and ")?;
        }
        if let Some(amount) = self.max_amount {
            write!(f, "{amount} minor units")?;
        }
        write!(f, " in {} seconds", self.window.as_secs())?;
        match self.per {
            LimitScope::Environment => Ok(()),
            other => write!(f, " for each {}", other.as_str()),
        }
    }
}

/// Whether a bank transfer in this status counts toward limits.
pub const fn transfer_counts(status: Status) -> bool {
    !matches!(status, Status::Failed | Status::Canceled)
}

/// Whether a card payment counts toward limits: it is paid, being paid, or can still be. A declined one can be paid with
/// another card until it expires.
pub const fn card_counts(preparation: Preparation, status: Option<Status>) -> bool {
    match status {
        Some(Status::Canceled) => false,
        None | Some(Status::Failed) => matches!(preparation, Preparation::Preparing | Preparation::Prepared),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(max_count: Option<u64>, max_amount: Option<u64>) -> Limit {
        Limit {
            id: "daily".into(),
            method: PaymentMethod::Ach,
            per: LimitScope::Customer,
            window: Duration::from_hours(24),
            max_count,
            max_amount: max_amount.and_then(Minor::new),
            action: LimitAction::Refuse,
        }
    }

    fn totals(count: u64, amount: u64) -> LimitTotals {
        LimitTotals { count, amount: Minor::new(amount).unwrap() }
    }

    #[test]
    fn a_limit_is_reached_to_the_last_cent_and_no_further() {
        let amount = |minor| Minor::new(minor).unwrap();
        for (limit, used, principal, expected) in [
            (limit(Some(2), None), totals(1, 9), 5, Ok(totals(2, 14))),
            (limit(Some(2), None), totals(2, 9), 5, Err(LimitBound::Count(2))),
            (limit(None, Some(100)), totals(7, 60), 40, Ok(totals(8, 100))),
            (limit(None, Some(100)), totals(7, 60), 41, Err(LimitBound::Amount(amount(100)))),
            (limit(Some(8), Some(100)), totals(8, 100), 1, Err(LimitBound::Count(8))),
            (limit(Some(9), None), totals(1, Minor::MAX.get()), 1, Err(LimitBound::Amount(Minor::MAX))),
        ] {
            assert_eq!(limit.add(used, amount(principal)), expected, "{limit}");
        }
    }

    #[test]
    fn a_limit_is_said_in_words() {
        assert_eq!(
            limit(Some(1), Some(500)).to_string(),
            "at most 1 payment and 500 minor units in 86400 seconds for each customer"
        );
        let all = Limit { per: LimitScope::Environment, ..limit(Some(3), None) };
        assert_eq!(all.to_string(), "at most 3 payments in 86400 seconds");
    }

    #[test]
    fn what_can_no_longer_be_paid_does_not_count() {
        for (preparation, status, expected) in [
            (Preparation::Preparing, None, true),
            (Preparation::Prepared, None, true),
            (Preparation::Prepared, Some(Status::Failed), true),
            (Preparation::Expired, Some(Status::Failed), false),
            (Preparation::Expired, None, false),
            (Preparation::Withdrawn, None, false),
            (Preparation::Refused, None, false),
            (Preparation::Prepared, Some(Status::Canceled), false),
            (Preparation::Expired, Some(Status::Succeeded), true),
            (Preparation::Prepared, Some(Status::Refunded), true),
        ] {
            assert_eq!(card_counts(preparation, status), expected, "{preparation:?} {status:?}");
        }
        let counting: Vec<_> = Status::ALL.into_iter().filter(|status| !transfer_counts(*status)).collect();
        assert_eq!(counting, [Status::Failed, Status::Canceled]);
    }
}
