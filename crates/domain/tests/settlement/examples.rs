//! The worked examples, to the cent.

use tollgate_domain::{
    BasisPoints, Channel, Currency, Minor, Principal,
    books::{Amounts, CardPosting, CardPostingKind},
    ledger::{Account, TransferStep},
    settlement::{
        BankMatch, EntryKind, ExpectedFees, FactKind, Payout, PayoutStatus, ProviderEntry, RefundedFees,
        Remainder, SettlementAccount, SubjectState,
    },
};

use crate::build::{World, entry, expected, line, payout};

const FEES: fn(RefundedFees) -> ExpectedFees = |refunded| ExpectedFees {
    percent: BasisPoints::new(290).unwrap(),
    fixed: Minor::new(30).unwrap(),
    dispute: Minor::new(1_500).unwrap(),
    refunded,
};

#[test]
fn expected_fees_are_those_of_the_contract() {
    let principal = |amount| Principal::new(amount).unwrap();
    for (amount, fee) in [(12_956, 406), (8_302, 271), (20_710, 631)] {
        assert_eq!(FEES(RefundedFees::Kept).of_charge(principal(amount)), Some(fee));
    }
    let refund = Minor::new(2_591).unwrap();
    assert_eq!(FEES(RefundedFees::Kept).of_refund(refund, principal(12_956)), Some(0));
    assert_eq!(FEES(RefundedFees::Returned).of_refund(refund, principal(12_956)), Some(-81));
    assert_eq!(FEES(RefundedFees::Kept).of_dispute(), 1_500);
}

#[test]
fn stripes_payout_is_282_67() {
    use SettlementAccount::{Bank, DueFromProvider, InTransit, ProviderFees, Suspense};
    let mut world = World::stripe();
    let done = world.reconcile();
    assert_eq!(done.differences, []);
    let paid = &done.payouts[0];
    assert_eq!((paid.gross_minor, paid.fee_minor, paid.net_minor), (31_075, 2_808, 28_267));
    assert_eq!((paid.amount_minor, paid.remainder_minor, paid.remainder), (28_267, 0, Remainder::None));
    assert_eq!(paid.bank, BankMatch::Line("bank_1".to_owned()));
    let balance = |account| done.balance_of(account, Currency::USD);
    assert_eq!(balance(DueFromProvider), -31_075, "card postings have 31075");
    assert_eq!([ProviderFees, InTransit, Bank, Suspense].map(balance), [2_808, 0, 28_267, 0]);
    world.check_books(&done, "stripe");

    // The dispute is won: its amount comes with the next payout, its fee does not.
    let won = entry("txn_won", EntryKind::DisputeReversal, 8_302, 0, "dp_1");
    world.entries.push(ProviderEntry { payout: Some("po_2".to_owned()), ..won });
    world.expectations.push(expected(FactKind::DisputeReversal, "dp_1", 8_302, Some(0)));
    world.payouts.push(payout("po_2", 8_302, "2026-11-12"));
    world.lines.push(line("bank_2", 8_302, "2026-11-12", "TRACE-po_2"));
    let done = world.reconcile();
    assert_eq!(done.differences, []);
    assert_eq!(done.balance_of(Bank, Currency::USD), 28_267 + 8_302);
    world.check_books(&done, "won");
}

#[test]
fn squares_batch_is_100_40_and_49_52_after_an_instant_payout() {
    let mut world = World::empty("2026-11-20");
    let part = |entry: ProviderEntry| ProviderEntry { payout: Some("batch".to_owned()), ..entry };
    world.entries = vec![
        part(entry("e1", EntryKind::Charge, 12_956, 406, "pay_1")),
        part(entry("e2", EntryKind::Refund, -2_591, -81, "ref_1")),
    ];
    world.expectations = vec![
        expected(FactKind::Charge, "pay_1", 12_956, Some(406)),
        expected(FactKind::Refund, "ref_1", -2_591, Some(-81)),
    ];
    world.payouts = vec![payout("batch", 10_040, "2026-11-04")];
    world.lines = vec![line("b1", 10_040, "2026-11-04", "")];
    let done = world.reconcile();
    assert_eq!(done.differences, []);
    assert_eq!(done.payouts[0].bank, BankMatch::Line("b1".to_owned()), "the only one of its amount");

    world.entries.push(part(entry("e3", EntryKind::Payout, -5_000, 0, "simple")));
    world.entries.push(part(entry("e4", EntryKind::Fee, -88, 0, "")));
    world.payouts = vec![
        payout("batch", 4_952, "2026-11-04"),
        Payout { is_itemized: false, ..payout("simple", 5_000, "2026-11-03") },
    ];
    world.lines = vec![line("b1", 4_952, "2026-11-04", ""), line("b2", 5_000, "2026-11-03", "")];
    let done = world.reconcile();
    assert_eq!(done.differences, []);
    assert_eq!(done.payouts.iter().map(|payout| payout.remainder_minor).collect::<Vec<_>>(), [0, 0]);
    let balance = |account| done.balance_of(account, Currency::USD);
    assert_eq!(balance(SettlementAccount::Bank), 10_365 - 325 - 88);
    assert_eq!(balance(SettlementAccount::ProviderFees), 325 + 88);
    world.check_books(&done, "square");
}

#[test]
fn increases_account_is_the_wallet_less_what_is_in_flight() {
    use tollgate_domain::fee::{FeeEntry, FeeLayer};
    let layer = FeeLayer { enabled: true, fixed: Minor::new(35).unwrap(), ..FeeLayer::default() };
    let fee = FeeEntry { platform: layer, organization: FeeLayer::default() }
        .assess(Principal::new(5_000).unwrap());
    assert_eq!(Channel::StandardAch.as_str(), "standard_ach");
    // What the wallet's books hold of the 1000.00 it was funded with, by steps of the transfer.
    let wallet = |steps: &[TransferStep], accounts: &[Account]| -> i64 {
        let entries = steps.iter().flat_map(|step| step.entries(&fee));
        entries.filter(|entry| accounts.contains(&entry.account)).map(|entry| entry.amount_minor).sum()
    };
    let mut world = World::empty("2026-11-20");
    world.entries = vec![
        entry("t1", EntryKind::Other, 100_000, 0, ""),
        entry("t2", EntryKind::Transfer, -5_000, 0, "ach_transfer_1"),
    ];
    let (reserve, settle) = (TransferStep::Reserve, TransferStep::Settle);
    assert_eq!(FactKind::of_transfer_step(reserve), Some(FactKind::Transfer));
    assert_eq!(FactKind::of_transfer_step(settle), None, "the money left when it was reserved");
    world.expectations = vec![expected(FactKind::Transfer, "ach_transfer_1", -5_000, None)];
    let available = 100_000 + wallet(&[reserve], &[Account::Available]);
    let reserved = wallet(&[reserve], &[Account::Reserved]);
    assert_eq!((available, reserved), (94_965, 5_035));
    let done = world.reconcile();
    assert_eq!((done.differences.as_slice(), world.provider_balance(Currency::USD)), (&[][..], 95_000));
    assert_eq!(done.subjects[0].state, SubjectState::Settled);
    assert_eq!(i128::from(available + reserved) + done.subjects[0].actual_minor, 95_000);

    let fees = wallet(&[reserve, settle], &[Account::PlatformFees, Account::OrganizationFees]);
    assert_eq!(100_000 + wallet(&[reserve, settle], &[Account::Available]) + fees, 95_000);

    world.entries.push(entry("t3", EntryKind::TransferReturn, 5_000, 0, "ach_transfer_1"));
    world.expectations.push(expected(FactKind::TransferReturn, "ach_transfer_1", 5_000, None));
    let returned = 100_000 + wallet(&[reserve, settle, TransferStep::Reverse], &[Account::Available]);
    assert_eq!((returned, world.provider_balance(Currency::USD)), (100_000, 100_000));
    assert_eq!(world.reconcile().differences, []);

    world.entries.push(entry("t4", EntryKind::Fee, -250, 0, ""));
    let done = world.reconcile();
    assert_eq!(done.differences, []);
    assert_eq!(done.balance_of(SettlementAccount::ProviderFees, Currency::USD), 250);
    world.check_books(&done, "increase");
}

#[test]
fn a_canceled_payout_is_back_in_the_balance() {
    let mut world = World::stripe();
    world.payouts[0].status = PayoutStatus::Canceled;
    world.lines.clear();
    world.balances = vec![(Currency::USD, 28_267)];
    let back = entry("txn_back", EntryKind::PayoutReversal, 28_267, 0, "po_1");
    world.entries.push(back);
    let done = world.reconcile();
    assert_eq!(done.differences, []);
    assert_eq!(done.balance_of(SettlementAccount::InTransit, Currency::USD), 0);
    world.check_books(&done, "canceled");
}

#[test]
fn card_postings_say_what_to_expect() {
    use CardPostingKind::{DisputeHeld, DisputeLost, DisputeReturned, Payment, Refund, RefundReversed};
    for (kind, due, expected) in [
        (Payment, 12_956, Some(FactKind::Charge)),
        (Refund, -2_591, Some(FactKind::Refund)),
        (RefundReversed, 2_591, Some(FactKind::RefundFailure)),
        (DisputeHeld, -8_302, Some(FactKind::Dispute)),
        (DisputeReturned, 8_302, Some(FactKind::DisputeReversal)),
        // What was held is lost: the provider's balance stays as it is. Lost without having been held, it falls.
        (DisputeLost, 0, None),
        (DisputeLost, -8_302, Some(FactKind::Dispute)),
    ] {
        let amounts = Amounts { due_from_provider: due, ..Amounts::default() };
        assert_eq!(
            FactKind::of_card_posting(&CardPosting { kind, subject: None, amounts }),
            expected,
            "{kind:?}"
        );
    }
}
