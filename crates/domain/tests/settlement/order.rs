//! The order in which facts come does not matter, and what is reported about them can be acted on.

use std::collections::BTreeSet;

use jiff::ToSpan;
use tollgate_domain::{
    Currency,
    settlement::{
        BankMatch, Cause, EntryKind, Payout, PayoutStatus, ProviderEntry, SettlementAccount, SubjectState,
    },
};

use crate::{
    build::{World, day, entry},
    faults::{FAULTS, add, change},
};

#[test]
fn the_order_and_the_batches_in_which_facts_come_do_not_matter() {
    for (number, name, plant, _) in FAULTS {
        let mut world = World::stripe();
        plant(&mut world);
        let expected = world.reconcile();
        for turn in 1..12 {
            let mut other = world.clone();
            // Windows overlap: some entries come twice, some before their payout is known.
            let again: Vec<_> = other.entries.iter().step_by(turn).cloned().collect();
            other.entries.extend(again.iter().cloned().map(|entry| ProviderEntry { payout: None, ..entry }));
            other.entries.extend(again);
            let places = other.entries.len();
            other.entries.rotate_left(turn * 3 % places);
            other.payouts.reverse();
            other.expectations.rotate_left(turn % world.expectations.len());
            if turn % 2 == 0 {
                other.entries.reverse();
                other.lines.reverse();
                other.windows.reverse();
                let pending = other
                    .payouts
                    .iter()
                    .cloned()
                    .map(|payout| Payout { status: PayoutStatus::Pending, ..payout });
                let pending: Vec<_> = pending.collect();
                other.payouts.extend(pending);
            }
            assert_eq!(other.reconcile(), expected, "{number} {name}, turn {turn}");
        }
    }
}

#[test]
fn differences_say_where_how_much_and_what_to_do() {
    let mut world = World::stripe();
    change(&mut world, "txn_pi_1", 1, 0);
    let done = world.reconcile();
    let difference = &done.differences[0];
    assert_eq!((difference.expected_minor, difference.actual_minor), (Some(12_956), Some(12_957)));
    assert_eq!(difference.references, ["pi_1", "txn_pi_1"]);
    assert_eq!((difference.kind().as_str(), difference.payout.as_deref()), ("amount_differs", Some("po_1")));
    assert_eq!(done.balance_of(SettlementAccount::Suspense, Currency::USD), -1);
    let sentences: BTreeSet<_> = Cause::ALL.iter().map(|cause| cause.sentence()).collect();
    let words: BTreeSet<_> = Cause::ALL.iter().map(|cause| cause.as_str()).collect();
    assert_eq!((sentences.len(), words.len()), (Cause::ALL.len(), Cause::ALL.len()));
}

#[test]
fn what_is_not_late_is_no_difference() {
    let mut world = World::stripe();
    world.without_entry("txn_pi_3");
    world.pay_out(-20_079);
    world.lines.clear();
    world.as_of = day("2026-11-09");
    let done = world.reconcile();
    assert_eq!(done.differences, [], "seven days and five banking days are not over");
    assert_eq!(done.subjects.iter().filter(|subject| subject.state == SubjectState::Awaited).count(), 1);
    assert_eq!(done.timing_items(Currency::USD), 20_710);
    assert_eq!(done.payouts[0].bank, BankMatch::Awaited);
    world.as_of = day("2026-11-10");
    assert_eq!(world.causes(), [Cause::ChargeNotSettled]);
    // Veterans Day and a weekend are no banking days: the payout of the fourth may take to the twelfth.
    world.as_of = day("2026-11-12");
    assert_eq!(world.causes(), [Cause::ChargeNotSettled]);
    world.as_of += 1.day();
    assert_eq!(world.causes(), [Cause::ChargeNotSettled, Cause::PayoutNotAtBank]);
}

#[test]
fn foreign_money_counts_in_its_payout_and_is_labelled() {
    let mut world = World::stripe();
    add(&mut world, entry("x", EntryKind::Charge, 700, 50, "pi_of_others"));
    let done = world.reconcile();
    assert_eq!((done.payouts[0].foreign_minor, done.payouts[0].remainder_minor), (650, 0));
    assert_eq!(done.balance_of(SettlementAccount::OtherActivity, Currency::USD), -650);
    assert!(done.foreign.contains("x"));
}

#[test]
fn what_the_provider_contradicts_itself_in_is_told() {
    let mut world = World::stripe();
    world.entry("txn_pi_1").net_minor += 1;
    world.pay_out(1);
    let done = world.reconcile();
    assert_eq!(
        done.differences.iter().map(|difference| difference.cause).collect::<Vec<_>>(),
        [Cause::NetDisagrees]
    );
    world.check_books(&done, "net");

    let mut world = World::stripe();
    world.balances[0].1 = 5;
    assert_eq!(world.causes(), [Cause::BalanceDisagrees]);

    let mut world = World::stripe();
    world.payouts.clear();
    world.balances.clear();
    assert_eq!(world.causes(), [Cause::PayoutUnknown]);
}

#[test]
fn our_books_may_be_two_days_later_than_the_provider() {
    let mut world = World::stripe();
    let refund = entry("x", EntryKind::Refund, -500, 0, "re_x");
    add(&mut world, ProviderEntry { payment: Some("pi_3".to_owned()), ..refund });
    world.as_of = day("2026-11-04");
    assert_eq!(world.causes(), []);
    world.as_of = day("2026-11-05");
    assert_eq!(world.causes(), [Cause::UnknownRefund]);
}

#[test]
fn a_fee_may_come_before_its_payment() {
    let mut world = World::stripe();
    let charge = world.without_entry("txn_pi_3");
    world.pay_out(-charge.net_minor);
    add(&mut world, entry("x", EntryKind::Fee, -631, 0, "pi_3"));
    world.as_of = day("2026-11-06");
    let done = world.reconcile();
    assert_eq!(done.differences, []);
    assert_eq!(done.timing_items(Currency::USD), 20_710);
    world.check_books(&done, "fee first");
}
