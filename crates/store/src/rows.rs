//! From what a database holds to what the domain means, the same for both stores.

pub(crate) mod account;
pub(crate) mod approval;
pub(crate) mod books;
pub(crate) mod card;
pub(crate) mod card_fee;
mod compressed;
pub(crate) mod delivery;
pub(crate) mod digest;
pub(crate) mod endpoint;
pub(crate) mod fee;
pub(crate) mod hold;
pub(crate) mod out_event;
pub(crate) mod payment;
pub(crate) mod route;
pub(crate) mod timeline;
pub(crate) mod transaction;
pub(crate) mod transfer;

use std::str::FromStr;

use tollgate_domain::{
    Minor, Timestamp,
    ledger::{Account, Balances},
};
use tollgate_engine::ports::LedgerLine;

use crate::{fault::CorruptRow, value::Id};

/// Whether no database of ours can hold the text, so that there is nothing to look for: PostgreSQL knows no NUL, and does
/// not even take it in a question.
pub(crate) fn is_unstorable(text: &str) -> bool {
    text.contains('\0')
}

/// Ids that are stored in one text, apart by spaces; none where there is no text.
pub(crate) fn ids<T: FromStr>(stored: Option<String>, what: &'static str) -> Result<Vec<T>, CorruptRow> {
    let stored = stored.unwrap_or_default();
    stored.split_whitespace().map(|id| id.parse().map_err(|_| CorruptRow(what))).collect()
}

/// The text that [`ids`] reads.
pub(crate) fn list_of_ids<T: ToString>(ids: &[T]) -> String {
    let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
    ids.join(" ")
}

/// A version to compare with stored ones; none is ever as large as the largest.
pub(crate) fn version(wanted: u64) -> i64 {
    i64::try_from(wanted).unwrap_or(i64::MAX)
}

pub(crate) fn amount(stored: i64) -> Result<Minor, CorruptRow> {
    u64::try_from(stored).ok().and_then(Minor::new).ok_or(CorruptRow("negative amount"))
}

/// The wallet that these account balances make up; an account without a row holds nothing.
#[derive(Debug, Default)]
pub(crate) struct Wallet {
    balances: Balances,
    funded: Minor,
}

impl Wallet {
    /// Takes in one account's stored balance.
    pub(crate) fn hold(&mut self, account: Account, stored: i64) -> Result<(), CorruptRow> {
        match account {
            // The outside world's side is negative by what has come in.
            Account::Funding => {
                let funded = stored.checked_neg().ok_or(CorruptRow("funding balance"))?;
                self.funded = amount(funded)?;
            }
            Account::Available => self.balances.available = amount(stored)?,
            Account::Reserved => self.balances.reserved = amount(stored)?,
            Account::SettledOut => self.balances.settled_out = amount(stored)?,
            Account::PlatformFees => self.balances.platform_fees = amount(stored)?,
            Account::OrganizationFees => self.balances.organization_fees = amount(stored)?,
        }
        Ok(())
    }

    /// Takes in one more entry of an account that was held before.
    pub(crate) fn add(&mut self, account: Account, amount_minor: i64) -> Result<(), CorruptRow> {
        let stored = match account {
            Account::Funding => -self.funded.signed(),
            Account::Available => self.balances.available.signed(),
            Account::Reserved => self.balances.reserved.signed(),
            Account::SettledOut => self.balances.settled_out.signed(),
            Account::PlatformFees => self.balances.platform_fees.signed(),
            Account::OrganizationFees => self.balances.organization_fees.signed(),
        };
        self.hold(account, stored.checked_add(amount_minor).ok_or(CorruptRow("ledger balance"))?)
    }

    pub(crate) fn balances(&self) -> Balances {
        self.balances
    }

    /// What has come in and not gone out to the outside world.
    pub(crate) fn funded(&self) -> Minor {
        self.funded
    }
}

/// The order in which a ledger is shown: newest posting first, its entries in the accounts' order.
pub(crate) fn newest_first(lines: &mut [LedgerLine]) {
    lines.sort_by(|one, other| other.posting.cmp(&one.posting).then(one.account.cmp(&other.account)));
}

/// The bounds of a page in a list ordered by sixteen-byte ids, both inclusive, so that every id can be on a page.
/// `None` if nothing can lie between them.
pub(crate) fn from_after<T: Id>(after: Option<T>) -> Option<[u8; 16]> {
    match after {
        None => Some([0; 16]),
        Some(seen) => u128::from_be_bytes(seen.bytes()).checked_add(1).map(u128::to_be_bytes),
    }
}

/// The last moment before this one; `None` if there is none.
pub(crate) fn until_before(before: Option<Timestamp>) -> Option<i64> {
    match before {
        None => Some(i64::MAX),
        Some(before) => before.unix_millis().checked_sub(1),
    }
}

/// As [`from_after`], for lists read downwards.
pub(crate) fn up_to_before<T: Id>(before: Option<T>) -> Option<[u8; 16]> {
    match before {
        None => Some([0xff; 16]),
        Some(seen) => u128::from_be_bytes(seen.bytes()).checked_sub(1).map(u128::to_be_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_begin_right_after_what_was_seen() {
        assert_eq!(from_after(None::<[u8; 16]>), Some([0; 16]));
        assert_eq!(from_after(Some([0; 16])), Some(1_u128.to_be_bytes()));
        assert_eq!(from_after(Some([0xff; 16])), None);
        assert_eq!(up_to_before(None::<[u8; 16]>), Some([0xff; 16]));
        assert_eq!(up_to_before(Some(1_u128.to_be_bytes())), Some([0; 16]));
        assert_eq!(up_to_before(Some([0; 16])), None);
    }

    #[test]
    fn a_wallet_refuses_what_cannot_be() {
        let mut wallet = Wallet::default();
        wallet.hold(Account::Funding, -70).unwrap();
        wallet.hold(Account::Available, 70).unwrap();
        assert_eq!(wallet.funded(), Minor::new(70).unwrap());
        wallet.add(Account::Available, -30).unwrap();
        wallet.add(Account::Funding, 30).unwrap();
        assert_eq!((wallet.funded().get(), wallet.balances().available.get()), (40, 40));
        assert!(wallet.add(Account::Available, -41).is_err());
        assert!(wallet.hold(Account::Reserved, -1).is_err());
        assert!(wallet.hold(Account::Funding, 1).is_err());
    }
}
