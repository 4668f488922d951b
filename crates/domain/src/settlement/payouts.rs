//! Payouts as the sums of their entries.

use std::collections::BTreeMap;

use super::{
    BankMatch, Cause, EntryKind, Payout, PayoutStatus, PostedFact, ProviderEntry, ReconciledPayout,
    Reconciliation, Remainder, SettlementAccount, Terms,
    known::{Entries, has_left},
};

pub(super) fn settle(
    known: &Entries,
    payouts: &BTreeMap<String, Payout>,
    terms: &Terms,
    done: &mut Reconciliation,
) {
    let mut parts: BTreeMap<&str, Vec<&ProviderEntry>> = BTreeMap::new();
    for entry in known.entries.values() {
        if let Some(payout) = &entry.payout {
            // The payout's own, negative entry is not a part of it.
            let is_itself = entry.kind == EntryKind::Payout && entry.subject.as_ref() == Some(payout);
            if !is_itself {
                parts.entry(payout).or_default().push(entry);
            }
        }
    }
    for payout in payouts.values() {
        let entries = parts.remove(payout.id.as_str()).unwrap_or_default();
        let doubled = known.doubly_listed.get(&payout.id).map(Vec::as_slice).unwrap_or_default();
        let doubled = doubled.iter().filter_map(|id| known.entries.get(id));
        let doubled: i128 = doubled.map(|entry| i128::from(entry.net_minor)).sum();
        let reconciled = sum_up(payout, &entries, doubled, done);
        if has_left(payout, &known.entries) {
            post(payout, &reconciled, terms, done);
        }
        if payout.status == PayoutStatus::Failed {
            done.differ(payout.difference(Cause::PayoutFailed, payout.amount_minor.into(), 0));
        }
        done.payouts.push(reconciled);
    }
}

fn sum_up(
    payout: &Payout,
    entries: &[&ProviderEntry],
    doubled: i128,
    done: &mut Reconciliation,
) -> ReconciledPayout {
    let sum = |amount: fn(&ProviderEntry) -> i64| {
        entries.iter().map(|entry| i128::from(amount(entry))).sum::<i128>()
    };
    let net_minor = sum(|entry| entry.net_minor);
    let rest = i128::from(payout.amount_minor) - net_minor;
    let remainder = match rest {
        _ if !payout.is_itemized && entries.is_empty() => Remainder::NotItemized,
        0 => Remainder::None,
        rest if rest == doubled => Remainder::TwoPayouts,
        // Entries come after the payout; until it has left they may be incomplete.
        _ if payout.status == PayoutStatus::Pending => Remainder::None,
        _ => {
            done.differ(payout.difference(Cause::PayoutRemainder, net_minor, payout.amount_minor.into()));
            Remainder::Unexplained
        }
    };
    let foreign = entries.iter().filter(|entry| done.foreign.contains(&entry.id));
    ReconciledPayout {
        id: payout.id.clone(),
        status: payout.status,
        currency: payout.currency,
        amount_minor: payout.amount_minor,
        gross_minor: sum(|entry| entry.gross_minor),
        fee_minor: sum(|entry| entry.fee_minor),
        net_minor,
        foreign_minor: foreign.map(|entry| i128::from(entry.net_minor)).sum(),
        remainder_minor: if matches!(remainder, Remainder::None | Remainder::NotItemized) { 0 } else { rest },
        remainder,
        entries: entries.iter().map(|entry| entry.id.clone()).collect(),
        bank: BankMatch::Awaited,
    }
}

fn post(payout: &Payout, reconciled: &ReconciledPayout, terms: &Terms, done: &mut Reconciliation) {
    use SettlementAccount::{DueFromProvider, InTransit, Suspense};
    let (month, _) = terms.month_of(payout.arrives_on, payout.closed_in);
    let (id, amount) = (&payout.id, payout.amount_minor);
    done.post(
        PostedFact::Payout(id.clone()),
        month,
        payout.currency,
        [InTransit, DueFromProvider],
        amount.into(),
    );
    let rest = reconciled.remainder_minor;
    let fact = PostedFact::PayoutRemainder(id.clone());
    done.post(fact, month, payout.currency, [DueFromProvider, Suspense], rest);
}
