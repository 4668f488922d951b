//! The wallet's double-entry books: which accounts a movement touches, and by how much.
//!
//! Entries of one posting always sum to zero. Every account but [`Account::Funding`], the outside world's side of
//! the books, is never negative.

use crate::{currency::Currency, fee::FeeSnapshot, id::PostingId, money::Minor, time::Timestamp};

/// An account of one environment's wallet in one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// The outside world: what came in stands here as a negative amount.
    Funding,
    /// What new transfers may use.
    Available,
    /// What is set aside for transfers under way.
    Reserved,
    /// Principal that has been paid out.
    SettledOut,
    /// Fees earned by the platform.
    PlatformFees,
    /// Fees earned by the organization.
    OrganizationFees,
}

impl Account {
    /// Every account, in the order they are shown.
    pub const ALL: [Self; 6] = [
        Self::Funding,
        Self::Available,
        Self::Reserved,
        Self::SettledOut,
        Self::PlatformFees,
        Self::OrganizationFees,
    ];

    /// The name in the stores and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Funding => "funding",
            Self::Available => "available",
            Self::Reserved => "reserved",
            Self::SettledOut => "settled_out",
            Self::PlatformFees => "platform_fees",
            Self::OrganizationFees => "organization_fees",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|account| account.as_str() == text)
    }
}

/// What a wallet holds, by account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balances {
    /// Ready to use.
    pub available: Minor,
    /// Set aside for transfers under way.
    pub reserved: Minor,
    /// Principal paid out so far.
    pub settled_out: Minor,
    /// Platform fees earned so far.
    pub platform_fees: Minor,
    /// Organization fees earned so far.
    pub organization_fees: Minor,
}

/// Why a posting was made. Together with its reference it is unique in a wallet, so nothing is posted twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostingCause {
    /// Money was put into the wallet.
    Fund,
    /// Money was taken out of the wallet.
    Withdraw,
    /// A transfer's total debit was set aside.
    Reserve,
    /// A transfer was paid out: its principal has left, its fees are earned.
    Settle,
    /// A transfer did not take place: what was set aside is available again.
    Release,
    /// A transfer that had been paid out came back.
    Reverse,
}

impl PostingCause {
    pub const ALL: [Self; 6] =
        [Self::Fund, Self::Withdraw, Self::Reserve, Self::Settle, Self::Release, Self::Reverse];

    /// The name in the stores and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fund => "fund",
            Self::Withdraw => "withdraw",
            Self::Reserve => "reserve",
            Self::Settle => "settle",
            Self::Release => "release",
            Self::Reverse => "reverse",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == text)
    }
}

impl From<Cause> for PostingCause {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Fund => Self::Fund,
            Cause::Withdraw => Self::Withdraw,
        }
    }
}

/// Why an operator moves money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Money was put into the wallet.
    Fund,
    /// Money was taken out of the wallet.
    Withdraw,
}

impl Cause {
    pub const ALL: [Self; 2] = [Self::Fund, Self::Withdraw];

    /// The name in the stores and in the API.
    pub fn as_str(self) -> &'static str {
        PostingCause::from(self).as_str()
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == text)
    }
}

/// One side of a posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The account touched.
    pub account: Account,
    /// What is added to it; negative takes away.
    pub amount_minor: i64,
}

/// An operator's movement of money into or out of a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    /// The posting it becomes.
    pub posting: PostingId,
    /// The wallet's currency.
    pub currency: Currency,
    /// In or out.
    pub cause: Cause,
    /// How much; more than zero.
    pub amount: Minor,
    /// The operator's own name for it; the same reference twice moves money once.
    pub reference: String,
    /// Who asked.
    pub actor: String,
    pub at: Timestamp,
}

/// Why a movement cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovementError {
    /// The available funds are below the amount.
    Insufficient {
        /// What is there.
        available: Minor,
    },
    /// The wallet would hold more than can be counted.
    TooMuch,
}

/// The two entries of a movement, given what is available and what has ever come in.
///
/// `funded` is the (positive) total on the outside world's side, which bounds every other account.
pub fn entries(movement: &Movement, available: Minor, funded: Minor) -> Result<[Entry; 2], MovementError> {
    let amount = movement.amount.signed();
    let (into_available, into_funding) = match movement.cause {
        Cause::Fund => {
            funded.checked_add(movement.amount).ok_or(MovementError::TooMuch)?;
            (amount, -amount)
        }
        Cause::Withdraw => {
            available.checked_sub(movement.amount).ok_or(MovementError::Insufficient { available })?;
            (-amount, amount)
        }
    };
    Ok([
        Entry { account: Account::Funding, amount_minor: into_funding },
        Entry { account: Account::Available, amount_minor: into_available },
    ])
}

/// What becomes of a transfer's funds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferStep {
    /// Set aside.
    Reserve,
    /// Paid out.
    Settle,
    /// Not paid out: available again.
    Release,
    /// Paid out and come back: available again, fees included.
    Reverse,
}

impl TransferStep {
    /// The cause it is posted under.
    pub const fn cause(self) -> PostingCause {
        match self {
            Self::Reserve => PostingCause::Reserve,
            Self::Settle => PostingCause::Settle,
            Self::Release => PostingCause::Release,
            Self::Reverse => PostingCause::Reverse,
        }
    }

    /// The entries of this step, which sum to zero; accounts that nothing happens to are left out.
    pub fn entries(self, fee: &FeeSnapshot) -> Vec<Entry> {
        let total = fee.total_debit.signed();
        let (principal, platform, organization) =
            (Minor::from(fee.principal).signed(), fee.platform.fee.signed(), fee.organization.fee.signed());
        let entry = |account, amount_minor| Entry { account, amount_minor };
        let earned = |sign: i64| {
            [
                entry(Account::SettledOut, sign * principal),
                entry(Account::PlatformFees, sign * platform),
                entry(Account::OrganizationFees, sign * organization),
            ]
        };
        let entries = match self {
            Self::Reserve => vec![entry(Account::Available, -total), entry(Account::Reserved, total)],
            Self::Release => vec![entry(Account::Available, total), entry(Account::Reserved, -total)],
            Self::Settle => [entry(Account::Reserved, -total)].into_iter().chain(earned(1)).collect(),
            Self::Reverse => [entry(Account::Available, total)].into_iter().chain(earned(-1)).collect(),
        };
        entries.into_iter().filter(|entry| entry.amount_minor != 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn movement(cause: Cause, amount: u64) -> Movement {
        Movement {
            posting: PostingId::from_bytes([1; 16]),
            currency: Currency::USD,
            cause,
            amount: Minor::new(amount).unwrap(),
            reference: "r".to_owned(),
            actor: "a".to_owned(),
            at: Timestamp::from_unix_millis(0),
        }
    }

    #[test]
    fn every_movement_balances() {
        let have = Minor::new(500).unwrap();
        for cause in Cause::ALL {
            let entries = entries(&movement(cause, 500), have, have).unwrap();
            assert_eq!(entries.iter().map(|entry| entry.amount_minor).sum::<i64>(), 0);
        }
    }

    #[test]
    fn every_step_of_a_transfer_balances_and_undoes_the_one_before() {
        use TransferStep::{Release, Reserve, Reverse, Settle};
        let layer = |fixed| crate::fee::FeeLayer {
            enabled: true,
            fixed: Minor::new(fixed).unwrap(),
            ..crate::fee::FeeLayer::default()
        };
        for (platform, organization) in [(0, 0), (25, 0), (25, 10)] {
            let entry = crate::fee::FeeEntry { platform: layer(platform), organization: layer(organization) };
            let fee = entry.assess(crate::money::Principal::new(1_000).unwrap());
            let sum = |steps: &[TransferStep], account| -> i64 {
                let entries = steps.iter().flat_map(|step| step.entries(&fee));
                entries.filter(|entry| entry.account == account).map(|entry| entry.amount_minor).sum()
            };
            for step in [Reserve, Settle, Release, Reverse] {
                assert_eq!(step.entries(&fee).iter().map(|entry| entry.amount_minor).sum::<i64>(), 0);
            }
            for account in Account::ALL {
                assert_eq!(sum(&[Reserve, Release], account), 0);
                assert_eq!(sum(&[Reserve, Settle, Reverse], account), 0);
            }
            assert_eq!(sum(&[Reserve, Settle], Account::SettledOut), 1_000);
        }
    }

    #[test]
    fn nothing_is_overdrawn_or_overflows() {
        let have = Minor::new(499).unwrap();
        assert_eq!(
            entries(&movement(Cause::Withdraw, 500), have, have),
            Err(MovementError::Insufficient { available: have })
        );
        assert_eq!(entries(&movement(Cause::Fund, 1), have, Minor::MAX), Err(MovementError::TooMuch));
    }
}
