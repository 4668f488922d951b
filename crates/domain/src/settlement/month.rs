//! Closing a month: what is in it is frozen.

use std::collections::BTreeSet;

use super::{BankMatch, Difference, ImportWindow, Reconciliation, SettlementPosting};
use crate::{statement::Month, time::Timestamp};

/// The first span between windows that nobody asked for.
pub(super) fn first_gap(windows: &[ImportWindow]) -> Option<(Timestamp, Timestamp)> {
    let sorted: BTreeSet<_> = windows.iter().collect();
    let mut read_to: Option<Timestamp> = None;
    for window in sorted {
        if let Some(read_to) = read_to.filter(|read_to| *read_to < window.from) {
            return Some((read_to, window.from));
        }
        read_to = read_to.max(Some(window.to));
    }
    None
}

/// Why a month cannot be closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseBlocker {
    /// Months close in their order; this one is next.
    NotNext(Month),
    /// Not everything to its end was read, and read again.
    NotRead,
    /// Nobody has resolved this.
    Open(Box<Difference>),
}

/// A month as it was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthClose {
    pub month: Month,
    pub postings: Vec<SettlementPosting>,
    /// Payouts that were on their way, with their amounts.
    pub in_transit: Vec<(String, i64)>,
}

/// Closes the month after `closed_through`; `open` are the differences that nobody has resolved.
pub fn close_month(
    month: Month,
    closed_through: Option<Month>,
    windows: &[ImportWindow],
    open: &[Difference],
    reconciliation: &Reconciliation,
) -> Result<MonthClose, Vec<CloseBlocker>> {
    let mut blockers = Vec::new();
    if let Some(next) = closed_through.map(Month::next).filter(|next| *next != month) {
        blockers.push(CloseBlocker::NotNext(next));
    }
    let read_to = windows.iter().filter(|window| window.is_closed).map(|window| window.to).max();
    let unread = windows.iter().any(|window| !window.is_closed && window.from < month.end());
    if unread || first_gap(windows).is_some() || read_to.is_none_or(|read_to| read_to < month.end()) {
        blockers.push(CloseBlocker::NotRead);
    }
    let in_month = open.iter().filter(|difference| Month::of_day(difference.since) <= month);
    blockers.extend(in_month.map(|difference| CloseBlocker::Open(Box::new(difference.clone()))));
    if !blockers.is_empty() {
        return Err(blockers);
    }
    let postings = reconciliation.postings.iter().filter(|posting| posting.month == month).cloned();
    let on_its_way =
        reconciliation.payouts.iter().filter(|payout| !matches!(payout.bank, BankMatch::Line(_)));
    Ok(MonthClose {
        month,
        postings: postings.collect(),
        in_transit: on_its_way.map(|payout| (payout.id.clone(), payout.amount_minor)).collect(),
    })
}

impl MonthClose {
    /// Hands over what is frozen, piece by piece, so that the caller can digest it: the same facts, the same bytes.
    pub fn feed(&self, mut take: impl FnMut(&[u8])) {
        take(format!("{}\n", self.month).as_bytes());
        for posting in &self.postings {
            let SettlementPosting { fact, currency, debit, credit, amount_minor, .. } = posting;
            let (debit, credit) = (debit.as_str(), credit.as_str());
            take(format!("{fact} {debit} {credit} {amount_minor} {currency}\n").as_bytes());
        }
        for (payout, amount) in &self.in_transit {
            take(format!("in transit {payout:?} {amount}\n").as_bytes());
        }
    }
}
