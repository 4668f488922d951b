//! Every planted fault is found and named as what it is, and nothing else is.

use std::collections::BTreeSet;

use tollgate_domain::{
    Currency,
    settlement::{
        BankLine, Cause, EntryKind, Expectation, FactKind, Mark, Payout, PayoutStatus, Presentment,
        ProviderEntry, Rate,
    },
    statement::Month,
};

use crate::build::{World, day, entry, expected, line, payout};

fn euro() -> Currency {
    Currency::parse("EUR").unwrap()
}

fn paid_out(entry: ProviderEntry) -> ProviderEntry {
    ProviderEntry { payout: Some("po_1".to_owned()), ..entry }
}

/// Adds an entry to the payout, which pays out that much more.
pub(crate) fn add(world: &mut World, entry: ProviderEntry) {
    world.pay_out(entry.net_minor);
    world.entries.push(paid_out(entry));
}

fn of_payment(entry: ProviderEntry, payment: &str) -> ProviderEntry {
    ProviderEntry { payment: Some(payment.to_owned()), ..entry }
}

pub(crate) fn change(world: &mut World, id: &str, gross: i64, fee: i64) {
    let entry = world.entry(id);
    entry.gross_minor += gross;
    entry.fee_minor += fee;
    entry.net_minor += gross - fee;
    world.pay_out(gross - fee);
}

fn converted(world: &mut World, gross: i64) {
    let before = world.without_entry("txn_pi_1");
    world.pay_out(-before.net_minor);
    let rate = Rate::parse("1.234").unwrap();
    let presentment = Some(Presentment { amount_minor: 1_000, currency: euro(), rate });
    add(world, ProviderEntry { presentment, ..entry("txn_pi_1", EntryKind::Charge, gross, 0, "pi_1") });
    let expectation = &mut world.expectations[0];
    (expectation.currency, expectation.amount_minor, expectation.fee_minor) = (euro(), 1_000, None);
}

fn second(world: &mut World, from: &str, id: &str) {
    let copy = world.entry(from).clone();
    add(world, ProviderEntry { id: id.to_owned(), ..copy });
}

fn transfer(world: &mut World, returns: usize, in_books: bool) {
    world.entries.push(entry("ach_1", EntryKind::Transfer, -5_000, 0, "t_1"));
    world.expectations.push(expected(FactKind::Transfer, "t_1", -5_000, None));
    for number in 0..returns {
        world.entries.push(entry(&format!("ach_r{number}"), EntryKind::TransferReturn, 5_000, 0, "t_1"));
    }
    if in_books {
        world.expectations.push(expected(FactKind::TransferReturn, "t_1", 5_000, None));
    }
    world.balances[0].1 = 5_000 * (returns as i64 - 1);
}

/// Number and name of a fault, how it is planted, and how it is named.
pub(crate) type Fault = (u8, &'static str, fn(&mut World), &'static [Cause]);

pub(crate) const FAULTS: &[Fault] = &[
    (
        1,
        "charge without payment",
        |world| {
            add(
                world,
                ProviderEntry { mark: Mark::Ours, ..entry("x", EntryKind::Charge, 5_000, 175, "pi_x") },
            );
        },
        &[Cause::UnknownCharge],
    ),
    (
        2,
        "payment without entry",
        |world| {
            world.without_entry("txn_pi_3");
            world.pay_out(-20_079);
        },
        &[Cause::ChargeNotSettled],
    ),
    (3, "gross off by one", |world| change(world, "txn_pi_1", 1, 0), &[Cause::AmountDiffers]),
    (4, "fee off by one", |world| change(world, "txn_pi_1", 0, 1), &[Cause::FeeDiffers]),
    (
        5,
        "fee adjusted later",
        |world| {
            add(world, entry("x", EntryKind::Fee, -10, 0, "pi_1"));
        },
        &[Cause::FeeAdjusted],
    ),
    (
        6,
        "wrong currency",
        |world| {
            let presentment =
                Presentment { amount_minor: 12_956, currency: euro(), rate: Rate::parse("1").unwrap() };
            world.entry("txn_pi_1").presentment = Some(presentment);
        },
        &[Cause::CurrencyDiffers],
    ),
    (7, "conversion right", |world| converted(world, 1_234), &[]),
    (7, "conversion wrong", |world| converted(world, 1_235), &[Cause::WrongConversion]),
    (
        8,
        "same id, other amount",
        |world| {
            let copy = world.entry("txn_pi_1").clone();
            world.entries.push(ProviderEntry { gross_minor: 13_000, net_minor: 12_594, ..copy });
        },
        &[Cause::SameIdOtherMoney],
    ),
    (9, "two ids, one charge", |world| second(world, "txn_pi_1", "x"), &[Cause::TwoEntries]),
    (
        10,
        "refund missing",
        |world| {
            world.without_entry("txn_re_1");
            world.pay_out(2_591);
        },
        &[Cause::RefundNotSettled],
    ),
    (11, "refund twice", |world| second(world, "txn_re_1", "x"), &[Cause::TwoEntries]),
    (
        11,
        "refund twice under two ids",
        |world| {
            add(world, of_payment(entry("x", EntryKind::Refund, -2_591, 0, "re_2"), "pi_1"));
        },
        &[Cause::UnknownRefund],
    ),
    (
        12,
        "refund failure unbooked",
        |world| {
            add(world, of_payment(entry("x", EntryKind::RefundFailure, 2_591, 0, "re_1"), "pi_1"));
        },
        &[Cause::UnknownRefundFailure],
    ),
    (
        13,
        "dashboard refund",
        |world| {
            add(world, of_payment(entry("x", EntryKind::Refund, -500, 0, "re_x"), "pi_3"));
        },
        &[Cause::UnknownRefund],
    ),
    (
        14,
        "dispute without hold",
        |world| {
            add(world, of_payment(entry("x", EntryKind::Dispute, -20_710, 1_500, "dp_x"), "pi_3"));
        },
        &[Cause::UnknownDispute],
    ),
    (15, "dispute fee missing", |world| change(world, "txn_dp_1", 0, -1_500), &[Cause::FeeMissing]),
    (
        16,
        "won dispute not returned",
        |world| {
            world.expectations.push(expected(FactKind::DisputeReversal, "dp_1", 8_302, None));
        },
        &[Cause::DisputeNotReturned],
    ),
    (
        17,
        "partial capture netted",
        |world| {
            partly_captured(world);
            let rest = of_payment(entry("x", EntryKind::PartialCaptureReversal, -10_710, 0, "pi_3"), "pi_3");
            add(world, rest);
        },
        &[],
    ),
    (17, "partial capture un-netted", partly_captured, &[Cause::CaptureNotNetted]),
    (
        18,
        "payout is not the sum of its entries",
        |world| {
            world.payouts[0].amount_minor += 1;
            world.lines[0].amount_minor += 1;
            world.balances[0].1 = -1;
        },
        &[Cause::PayoutRemainder],
    ),
    (
        19,
        "entry in two payouts",
        |world| {
            let copy = world.entry("txn_pi_1").clone();
            world.entries.push(ProviderEntry { payout: Some("po_2".to_owned()), ..copy });
            world.payouts.push(payout("po_2", 12_550, "2026-11-06"));
            world.lines.push(line("bank_2", 12_550, "2026-11-06", "TRACE-po_2"));
            world.balances[0].1 = -12_550;
        },
        &[Cause::TwoPayouts],
    ),
    (
        20,
        "payout failed after paid",
        |world| {
            world.payouts[0].status = PayoutStatus::Failed;
            world.lines.clear();
            world.entries.push(entry("x", EntryKind::PayoutReversal, 28_267, 0, "po_1"));
            world.balances[0].1 = 28_267;
        },
        &[Cause::PayoutFailed],
    ),
    (
        20,
        "payout failed and did not come back",
        |world| {
            world.payouts[0].status = PayoutStatus::Failed;
            world.lines.clear();
            world.balances[0].1 = 28_267;
        },
        &[Cause::PayoutFailed, Cause::BalanceDisagrees],
    ),
    (21, "payout never banked", |world| world.lines.clear(), &[Cause::PayoutNotAtBank]),
    (22, "bank credit short", |world| world.lines[0].amount_minor -= 1, &[Cause::BankAmountDiffers]),
    (
        23,
        "two equal payouts swapped",
        |world| {
            world.payouts[0].references.clear();
            world.payouts.push(Payout {
                is_itemized: false,
                references: Vec::new(),
                ..payout("po_2", 28_267, "2026-11-05")
            });
            world.lines.push(line("bank_2", 28_267, "2026-11-05", ""));
            world.balances[0].1 = -28_267;
        },
        &[Cause::TwoCandidates],
    ),
    (24, "negative payout", |world| negative_payout(world, true), &[]),
    (24, "negative payout without a debit", |world| negative_payout(world, false), &[Cause::PayoutNotAtBank]),
    (
        25,
        "reserve never released",
        |world| {
            let hold = entry("x", EntryKind::ReserveHold, -5_000, 0, "rsv_1");
            add(world, ProviderEntry { available_on: Some(day("2026-11-05")), ..hold });
        },
        &[Cause::ReserveNotReleased],
    ),
    (
        25,
        "reserve released",
        |world| {
            let hold = entry("x", EntryKind::ReserveHold, -5_000, 0, "rsv_1");
            add(world, ProviderEntry { available_on: Some(day("2026-11-05")), ..hold });
            add(world, entry("y", EntryKind::ReserveRelease, 5_000, 0, "rsv_1"));
        },
        &[],
    ),
    (
        26,
        "page skipped",
        |world| {
            world.without_entry("txn_pi_3");
            world.windows[0].to =
                tollgate_domain::Timestamp::from_unix_millis(world.windows[0].to.unix_millis() - 1);
        },
        &[Cause::ChargeNotSettled, Cause::PayoutRemainder, Cause::EntriesMissing],
    ),
    (
        27,
        "late entry after close",
        |world| {
            world.closed_through = Month::parse("2026-10");
            let late = entry("x", EntryKind::Charge, 1_000, 59, "pi_4");
            add(world, ProviderEntry { created_on: day("2026-10-31"), ..late });
            world.expectations.push(expected(FactKind::Charge, "pi_4", 1_000, Some(59)));
        },
        &[Cause::AfterClose],
    ),
    (
        28,
        "foreign entry",
        |world| {
            add(world, entry("x", EntryKind::Charge, 12_956, 406, "pi_of_others"));
            add(
                world,
                ProviderEntry {
                    mark: Mark::OtherEnvironment,
                    ..entry("y", EntryKind::Charge, 700, 50, "pi_test")
                },
            );
        },
        &[],
    ),
    (
        28,
        "foreign entry of an amount that we miss",
        |world| {
            world.without_entry("txn_pi_1");
            world.entries.push(paid_out(entry("x", EntryKind::Charge, 12_956, 406, "pi_of_others")));
        },
        &[Cause::ChargeNotSettled],
    ),
    (29, "ACH return unposted", |world| transfer(world, 1, false), &[Cause::UnknownTransferReturn]),
    (29, "ACH return doubled", |world| transfer(world, 2, true), &[Cause::TwoEntries]),
    (
        29,
        "ACH return not booked by the bank",
        |world| transfer(world, 0, true),
        &[Cause::TransferReturnNotSettled],
    ),
    (30, "bank file repeated", |world| world.lines.push(world.lines[0].clone()), &[]),
    (
        30,
        "bank line twice",
        |world| {
            let copy = BankLine { id: "bank_9".to_owned(), ..world.lines[0].clone() };
            world.lines.push(copy);
        },
        &[Cause::TwoBankLines],
    ),
];

fn partly_captured(world: &mut World) {
    let expectation =
        world.expectations.iter_mut().find(|expectation| expectation.subject == "pi_3").unwrap();
    *expectation = Expectation {
        amount_minor: 10_000,
        held_minor: Some(20_710),
        fee_minor: None,
        ..expectation.clone()
    };
}

fn negative_payout(world: &mut World, banked: bool) {
    let refund = of_payment(entry("x", EntryKind::Refund, -1_000, 0, "re_2"), "pi_3");
    world.entries.push(ProviderEntry { payout: Some("po_2".to_owned()), ..refund });
    world.expectations.push(expected(FactKind::Refund, "re_2", -1_000, Some(0)));
    world.payouts.push(payout("po_2", -1_000, "2026-11-06"));
    if banked {
        world.lines.push(line("bank_2", -1_000, "2026-11-09", ""));
    }
}

#[test]
fn every_planted_fault_is_found_and_named_and_nothing_else() {
    for (number, name, plant, causes) in FAULTS {
        let mut world = World::stripe();
        plant(&mut world);
        let done = world.reconcile();
        let found: BTreeSet<_> = done.differences.iter().map(|difference| difference.cause).collect();
        let expected: BTreeSet<_> = causes.iter().copied().collect();
        assert_eq!(found, expected, "{number} {name}: {:#?}", done.differences);
        world.check_books(&done, name);
    }
    let numbers: BTreeSet<_> = FAULTS.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers.len(), 30);
}
