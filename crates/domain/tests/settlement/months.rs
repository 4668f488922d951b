//! Months close once, and what comes later is in the next one.

use std::hash::{DefaultHasher, Hasher};

use tollgate_domain::{
    settlement::{CloseBlocker, EntryKind, FactKind, MonthClose, ProviderEntry, close_month, unposted},
    statement::Month,
};

use crate::build::{World, day, entry, expected};

fn month(text: &str) -> Month {
    Month::parse(text).unwrap()
}

fn digest(close: &MonthClose) -> u64 {
    let mut hasher = DefaultHasher::new();
    close.feed(|bytes| hasher.write(bytes));
    hasher.finish()
}

#[test]
fn a_month_closes_when_everything_is_read_and_resolved() {
    let mut world = World::stripe();
    let done = world.reconcile();
    let close = close_month(month("2026-11"), None, &world.windows, &done.differences, &done).unwrap();
    assert_eq!((close.postings.len(), close.in_transit.len()), (done.postings.len(), 0));
    // The same facts in another order freeze to the same bytes; other money does not.
    world.entries.reverse();
    let again = world.reconcile();
    let same = close_month(month("2026-11"), None, &world.windows, &[], &again).unwrap();
    assert_eq!(digest(&same), digest(&close));
    world.entry("txn_pi_1").fee_minor += 1;
    let other = close_month(month("2026-11"), None, &world.windows, &[], &world.reconcile()).unwrap();
    assert_ne!(digest(&other), digest(&close));
}

#[test]
fn what_is_open_keeps_a_month_open() {
    let mut world = World::stripe();
    world.lines.clear();
    let done = world.reconcile();
    let open = |blockers: Vec<CloseBlocker>| {
        blockers.iter().filter(|blocker| matches!(blocker, CloseBlocker::Open(_))).count()
    };
    let november = month("2026-11");
    let blocked = close_month(november, None, &world.windows, &done.differences, &done).unwrap_err();
    assert_eq!((blocked.len(), open(blocked)), (1, 1));
    let resolved = close_month(november, None, &world.windows, &[], &done).unwrap();
    assert_eq!(resolved.in_transit, [("po_1".to_owned(), 28_267)]);
    world.windows[1].is_closed = false;
    assert_eq!(close_month(november, None, &world.windows, &[], &done), Err(vec![CloseBlocker::NotRead]));
    world.windows.pop();
    assert_eq!(close_month(november, None, &world.windows, &[], &done), Err(vec![CloseBlocker::NotRead]));
    let october = Some(month("2026-09"));
    let blocked = close_month(november, october, &World::stripe().windows, &[], &done);
    assert_eq!(blocked, Err(vec![CloseBlocker::NotNext(month("2026-10"))]));
}

#[test]
fn what_comes_after_the_close_is_posted_to_the_open_month_once() {
    let mut world = World::stripe();
    let before = world.reconcile();
    let november = month("2026-11");
    // The store notes which month a fact was closed in.
    world.closed_through = Some(november);
    world.entries.iter_mut().for_each(|entry| entry.closed_in = Some(november));
    world.payouts.iter_mut().for_each(|payout| payout.closed_in = Some(november));
    world.lines.iter_mut().for_each(|line| line.closed_in = Some(november));
    let closed = world.reconcile();
    assert_eq!((closed.differences.as_slice(), &closed.postings), (&[][..], &before.postings));
    assert_eq!(unposted(&closed.postings, &before.postings, november.next()), []);

    let late = entry("txn_pi_9", EntryKind::Charge, 1_000, 59, "pi_9");
    world.entries.push(ProviderEntry { created_on: day("2026-11-28"), ..late });
    world.expectations.push(expected(FactKind::Charge, "pi_9", 1_000, Some(59)));
    world.balances[0].1 = 941;
    let after = world.reconcile();
    assert_eq!(after.differences.iter().map(|late| late.cause.as_str()).collect::<Vec<_>>(), ["after_close"]);
    let new = unposted(&after.postings, &before.postings, november.next());
    assert_eq!(
        new.iter().map(|posting| (posting.month, posting.amount_minor)).collect::<Vec<_>>(),
        [(november.next(), 59)]
    );
    let in_november = |done: &tollgate_domain::settlement::Reconciliation| {
        done.postings.iter().filter(|posting| posting.month == november).cloned().collect::<Vec<_>>()
    };
    assert_eq!(in_november(&after), in_november(&before), "what was closed stays as it was");

    // A posting that turns out to be wrong is taken back where it can be: in the open month.
    let back = unposted(&before.postings, &after.postings, november.next());
    assert_eq!(back.iter().map(|posting| posting.amount_minor).collect::<Vec<_>>(), [-59]);
}
