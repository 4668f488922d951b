//! Facts by their ids: each once, whatever was read twice.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::{
    BankLine, Cause, Difference, EntryKind, Payout, PayoutStatus, PostedFact, ProviderEntry, Reconciliation,
    SameId, SettlementAccount, Terms, compare_entries,
};
use crate::currency::Currency;

/// Entries as they count, and the payouts that list one that another payout has, too.
pub(super) struct Entries {
    pub(super) entries: BTreeMap<String, ProviderEntry>,
    pub(super) doubly_listed: BTreeMap<String, Vec<String>>,
}

pub(super) fn entries_by_id(given: &[ProviderEntry], terms: &Terms, done: &mut Reconciliation) -> Entries {
    let mut copies: BTreeMap<&str, Vec<&ProviderEntry>> = BTreeMap::new();
    for entry in given {
        copies.entry(&entry.id).or_default().push(entry);
    }
    let mut entries = BTreeMap::new();
    let mut doubly_listed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, mut copies) in copies {
        copies.sort();
        let Some(first) = copies.first() else { continue };
        let listed: BTreeSet<_> = copies.iter().filter_map(|copy| copy.payout.clone()).collect();
        let mut entry = (*first).clone();
        entry.payout = listed.first().cloned();
        entry.closed_in = copies.iter().filter_map(|copy| copy.closed_in).min();
        let differ = |cause, expected, actual, references| Difference {
            cause,
            references,
            service_reference: None,
            expected_minor: expected,
            actual_minor: actual,
            currency: first.currency,
            payout: listed.first().cloned(),
            since: first.created_on,
        };
        if let Some(other) = copies.iter().find(|copy| compare_entries(first, copy) != SameId::Same) {
            let amount = |entry: &ProviderEntry| Some(i128::from(entry.net_minor));
            done.differ(differ(Cause::SameIdOtherMoney, amount(first), amount(other), vec![id.to_owned()]));
        }
        if listed.len() > 1 {
            let references = std::iter::once(id.to_owned()).chain(listed.iter().cloned()).collect();
            done.differ(differ(Cause::TwoPayouts, None, Some(i128::from(first.net_minor)), references));
            for payout in listed.iter().skip(1) {
                doubly_listed.entry(payout.clone()).or_default().push(id.to_owned());
            }
        }
        if i128::from(entry.gross_minor) - i128::from(entry.fee_minor) != i128::from(entry.net_minor) {
            let expected = i128::from(entry.gross_minor) - i128::from(entry.fee_minor);
            let actual = Some(i128::from(entry.net_minor));
            done.differ(differ(Cause::NetDisagrees, Some(expected), actual, vec![id.to_owned()]));
            // What disagrees is posted to suspense, so that the account has what the provider has.
            let (month, _) = terms.month_of(entry.created_on, entry.closed_in);
            let accounts = [SettlementAccount::DueFromProvider, SettlementAccount::Suspense];
            let rest = i128::from(entry.net_minor) - expected;
            if !matches!(entry.kind, EntryKind::Payout) {
                done.post(PostedFact::Entry(id.to_owned()), month, entry.currency, accounts, rest);
            }
        }
        entries.insert(id.to_owned(), entry);
    }
    Entries { entries, doubly_listed }
}

/// The latest state of each payout.
pub(super) fn payouts_by_id(given: &[Payout], done: &mut Reconciliation) -> BTreeMap<String, Payout> {
    let mut payouts: BTreeMap<String, Payout> = BTreeMap::new();
    let mut sorted: Vec<_> = given.iter().collect();
    sorted.sort_by_key(|payout| (payout.status, *payout));
    for payout in sorted {
        let before = payouts.insert(payout.id.clone(), payout.clone());
        let Some(before) = before else { continue };
        if (before.amount_minor, before.currency) != (payout.amount_minor, payout.currency) {
            done.differ(same_id(
                &payout.id,
                before.amount_minor,
                payout.amount_minor,
                payout.currency,
                payout.arrives_on,
            ));
        }
    }
    payouts
}

pub(super) fn lines_by_id(given: &[BankLine], done: &mut Reconciliation) -> BTreeMap<String, BankLine> {
    let mut lines: BTreeMap<String, BankLine> = BTreeMap::new();
    let mut sorted: Vec<_> = given.iter().collect();
    sorted.sort();
    for line in sorted {
        let before = lines.insert(line.id.clone(), line.clone());
        let Some(before) = before else { continue };
        if (before.amount_minor, before.currency) != (line.amount_minor, line.currency) {
            done.differ(same_id(
                &line.id,
                before.amount_minor,
                line.amount_minor,
                line.currency,
                line.booked_on,
            ));
        }
    }
    lines
}

fn same_id(id: &str, one: i64, other: i64, currency: Currency, since: Date) -> Difference {
    Difference {
        cause: Cause::SameIdOtherMoney,
        references: vec![id.to_owned()],
        service_reference: None,
        expected_minor: Some(one.into()),
        actual_minor: Some(other.into()),
        currency,
        payout: None,
        since,
    }
}

/// Whether a payout has left the balance: canceled ones did if they came back.
pub(super) fn has_left(payout: &Payout, entries: &BTreeMap<String, ProviderEntry>) -> bool {
    let came_back = || {
        let mut reversals = entries.values().filter(|entry| entry.kind == EntryKind::PayoutReversal);
        reversals.any(|entry| entry.subject.as_deref() == Some(payout.id.as_str()))
    };
    payout.status.has_left() || (payout.status == PayoutStatus::Canceled && came_back())
}
