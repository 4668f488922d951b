//! Everything that is known in, what agrees and what does not out.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    BankLine, BankMatch, Cause, Difference, EntryKind, Expectation, ImportWindow, Mark, Payout, PostedFact,
    ProviderEntry, Reconciliation, SettlementAccount, Terms, bank, known, month, payouts, subjects,
};
use crate::currency::Currency;

/// What is known of one account at a provider, in any order, and repeated where it was read twice.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    pub expectations: &'a [Expectation],
    pub entries: &'a [ProviderEntry],
    pub payouts: &'a [Payout],
    pub lines: &'a [BankLine],
    /// What the provider says it has, available and pending, where it can be asked.
    pub balances: &'a [(Currency, i64)],
    pub windows: &'a [ImportWindow],
}

/// Compares everything that is known of an account at a provider.
pub fn reconcile(facts: &Facts<'_>, terms: &Terms) -> Reconciliation {
    let mut done = Reconciliation::default();
    let entries = known::entries_by_id(facts.entries, terms, &mut done);
    let payouts = known::payouts_by_id(facts.payouts, &mut done);
    let lines = known::lines_by_id(facts.lines, &mut done);
    let groups = subjects::group(facts.expectations, &entries.entries);
    subjects::settle(&groups, terms, &mut done);
    settle_account(&entries.entries, &payouts, &groups, terms, &mut done);
    payouts::settle(&entries, &payouts, terms, &mut done);
    bank::settle(&payouts, &lines, terms, &mut done);
    check_balances(facts, &entries.entries, &payouts, terms, &mut done);
    find_late(&entries.entries, &payouts, &lines, terms, &mut done);
    done.differences.sort();
    done.differences.dedup();
    done.postings.sort();
    done.subjects.sort();
    done.payouts.sort();
    done
}

/// Entries that are about no payment of anybody: fees, reserves, payouts, and the rest.
fn settle_account(
    entries: &BTreeMap<String, ProviderEntry>,
    payouts: &BTreeMap<String, Payout>,
    groups: &subjects::Groups<'_>,
    terms: &Terms,
    done: &mut Reconciliation,
) {
    use SettlementAccount::{DueFromProvider, InTransit, OtherActivity, ProviderFees, ReservesHeld};
    let mut reserves: BTreeMap<&str, (i128, &ProviderEntry)> = BTreeMap::new();
    for entry in entries.values().filter(|entry| entry.kind.fact().is_none() && !groups.has_fee(entry)) {
        let (month, _) = terms.month_of(entry.created_on, entry.closed_in);
        let net = i128::from(entry.gross_minor) - i128::from(entry.fee_minor);
        let credit = match entry.kind {
            EntryKind::Fee if entry.mark == Mark::OtherEnvironment => OtherActivity,
            EntryKind::Fee => ProviderFees,
            EntryKind::ReserveHold | EntryKind::ReserveRelease => ReservesHeld,
            EntryKind::PayoutReversal => InTransit,
            // The payout itself is posted, whether its entry is listed or not.
            EntryKind::Payout => continue,
            _ => OtherActivity,
        };
        if credit == OtherActivity {
            done.foreign.insert(entry.id.clone());
        }
        if credit == ReservesHeld {
            let reserve = reserves.entry(entry.subject.as_deref().unwrap_or(&entry.id)).or_insert((0, entry));
            reserve.0 = reserve.0.saturating_sub(net);
            if entry.kind == EntryKind::ReserveHold {
                reserve.1 = entry;
            }
        }
        done.post(PostedFact::Entry(entry.id.clone()), month, entry.currency, [DueFromProvider, credit], net);
    }
    for (held, hold) in reserves.into_values() {
        if held != 0 && hold.available_on.is_some_and(|release| terms.is_due(release)) {
            done.differ(Difference {
                cause: Cause::ReserveNotReleased,
                references: vec![hold.id.clone()],
                service_reference: None,
                expected_minor: Some(0),
                actual_minor: Some(held),
                currency: hold.currency,
                payout: None,
                since: hold.available_on.unwrap_or(hold.created_on),
            });
        }
    }
    for entry in entries.values() {
        let of_payout = matches!(entry.kind, EntryKind::Payout | EntryKind::PayoutReversal);
        let named = [entry.payout.as_ref(), entry.subject.as_ref().filter(|_| of_payout)];
        for payout in named.into_iter().flatten().filter(|payout| !payouts.contains_key(*payout)) {
            done.differ(Difference {
                cause: Cause::PayoutUnknown,
                references: vec![payout.clone()],
                service_reference: None,
                expected_minor: None,
                actual_minor: None,
                currency: entry.currency,
                payout: Some(payout.clone()),
                since: terms.as_of,
            });
        }
    }
}

fn check_balances(
    facts: &Facts<'_>,
    entries: &BTreeMap<String, ProviderEntry>,
    payouts: &BTreeMap<String, Payout>,
    terms: &Terms,
    done: &mut Reconciliation,
) {
    let gap = month::first_gap(facts.windows);
    if let Some(gap) = &gap {
        done.differ(Difference {
            cause: Cause::EntriesMissing,
            references: vec![gap.0.rfc3339(), gap.1.rfc3339()],
            service_reference: None,
            expected_minor: None,
            actual_minor: None,
            currency: facts.balances.first().map_or(Currency::USD, |(currency, _)| *currency),
            payout: None,
            since: gap.0.utc_date(),
        });
    }
    for (currency, reported) in facts.balances {
        let own =
            entries.values().filter(|entry| entry.currency == *currency && entry.kind != EntryKind::Payout);
        let nets: i128 = own.map(|entry| i128::from(entry.net_minor)).sum();
        let left = payouts
            .values()
            .filter(|payout| payout.currency == *currency && known::has_left(payout, entries));
        let paid_out: i128 = left.map(|payout| i128::from(payout.amount_minor)).sum();
        let sum = nets.saturating_sub(paid_out);
        if sum != i128::from(*reported) && gap.is_none() {
            done.differ(Difference {
                cause: Cause::BalanceDisagrees,
                references: Vec::new(),
                service_reference: None,
                expected_minor: Some(sum),
                actual_minor: Some(i128::from(*reported)),
                currency: *currency,
                payout: None,
                since: terms.as_of,
            });
        }
    }
}

/// What came after its month was closed.
fn find_late(
    entries: &BTreeMap<String, ProviderEntry>,
    payouts: &BTreeMap<String, Payout>,
    lines: &BTreeMap<String, BankLine>,
    terms: &Terms,
    done: &mut Reconciliation,
) {
    let entries = entries.values().map(|entry| {
        (&entry.id, entry.created_on, entry.closed_in, entry.net_minor, entry.currency, entry.payout.clone())
    });
    let payouts = payouts.values().map(|payout| {
        let id = Some(payout.id.clone());
        (&payout.id, payout.arrives_on, payout.closed_in, payout.amount_minor, payout.currency, id)
    });
    let on_lines = done.payouts.iter().filter_map(|payout| match &payout.bank {
        BankMatch::Line(line) => Some(line.clone()),
        BankMatch::Awaited | BankMatch::Candidates(_) => None,
    });
    let on_lines: BTreeSet<_> = on_lines.collect();
    let lines = lines
        .values()
        // Others on the bank account are none of our business.
        .filter(|line| on_lines.contains(&line.id))
        .map(|line| (&line.id, line.booked_on, line.closed_in, line.amount_minor, line.currency, None));
    let late: Vec<_> = entries
        .chain(payouts)
        .chain(lines)
        .filter(|(_, day, closed_in, ..)| terms.month_of(*day, *closed_in).1)
        .map(|(id, since, _, amount, currency, payout)| Difference {
            cause: Cause::AfterClose,
            references: vec![id.clone()],
            service_reference: None,
            expected_minor: Some(0),
            actual_minor: Some(amount.into()),
            currency,
            payout,
            since,
        })
        .collect();
    done.differences.extend(late);
}
