//! The wallets' books.

use std::collections::BTreeMap;

use rand::RngExt as _;
use tollgate_domain::{
    Currency,
    id::{EnvironmentId, PostingId},
    ledger::{Account, Balances, Cause},
};
use tollgate_engine::ports::{AppliedMovement, LedgerLine, Moved};

use super::{ALL, Nodes, minor, random};

/// Asks the books of a wallet the questions that must always have the same answers, and returns what is available.
pub async fn books_balance(nodes: &Nodes, environment: EnvironmentId, currency: Currency) -> u64 {
    let mut lines: Vec<LedgerLine> = Vec::new();
    loop {
        let before = lines.last().map(|line| line.posting);
        // An odd page size, so that pages and postings do not end together.
        let page = nodes.two.ledger(environment, currency, before, 7).await.unwrap();
        if page.is_empty() {
            break;
        }
        lines.extend(page);
    }
    let mut by_posting: BTreeMap<PostingId, i64> = BTreeMap::new();
    let mut by_account: BTreeMap<Account, i64> = BTreeMap::new();
    for line in &lines {
        *by_posting.entry(line.posting).or_default() += line.amount_minor;
        *by_account.entry(line.account).or_default() += line.amount_minor;
    }
    assert!(by_posting.values().all(|sum| *sum == 0), "each posting's entries sum to zero: {by_posting:?}");
    let balances = nodes.two.balances(environment, currency).await.unwrap().unwrap();
    let sum = |account| by_account.get(&account).copied().unwrap_or_default();
    let held = [
        (Account::Available, balances.available),
        (Account::Reserved, balances.reserved),
        (Account::SettledOut, balances.settled_out),
        (Account::PlatformFees, balances.platform_fees),
        (Account::OrganizationFees, balances.organization_fees),
    ];
    for (account, balance) in held {
        assert_eq!(balance.signed(), sum(account), "the balance of {account:?} is the sum of its entries");
    }
    let inside: i64 = held.iter().map(|(account, _)| sum(*account)).sum();
    assert_eq!(-sum(Account::Funding), inside, "what came in is inside");
    balances.available.get()
}

fn available(amount: u64) -> Balances {
    Balances { available: minor(amount), ..Balances::default() }
}

fn done(moved: Moved) -> AppliedMovement {
    let Moved::Done(applied) = moved else { panic!("not moved: {moved:?}") };
    applied
}

pub async fn money_comes_and_goes(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let fund = nodes.new_movement(Cause::Fund, 1_000, "first");
    let applied = done(nodes.one.move_funds(environment, &fund).await.unwrap());
    assert_eq!(
        applied,
        AppliedMovement { posting: fund.posting, replayed: false, balances: available(1_000) }
    );
    let withdraw = nodes.new_movement(Cause::Withdraw, 300, "first");
    let applied = done(nodes.two.move_funds(environment, &withdraw).await.unwrap());
    assert_eq!(
        (applied.replayed, applied.balances),
        (false, available(700)),
        "a cause has references of its own"
    );
    assert_eq!(nodes.one.balances(environment, Currency::USD).await.unwrap(), Some(available(700)));
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 700);
}

pub async fn a_reference_moves_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let first = nodes.new_movement(Cause::Fund, 500, "top-up");
    done(nodes.one.move_funds(environment, &first).await.unwrap());
    nodes.fund(environment, 11, "another").await;

    // The very same movement, and the same asked for by a later call.
    for again in [first.clone(), nodes.new_movement(Cause::Fund, 500, "top-up")] {
        let applied = done(nodes.two.move_funds(environment, &again).await.unwrap());
        let expected = AppliedMovement { posting: first.posting, replayed: true, balances: available(511) };
        assert_eq!(applied, expected, "the balances are those of now");
    }
    let other = nodes.new_movement(Cause::Fund, 501, "top-up");
    let answer = nodes.two.move_funds(environment, &other).await.unwrap();
    assert_eq!(answer, Moved::ReferenceReused { amount: minor(500) });
    // References are exact: neither case nor spaces are overlooked.
    nodes.fund(environment, 1, "Top-up").await;
    nodes.fund(environment, 1, "top-up ").await;
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 513);
}

pub async fn nothing_is_overdrawn(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 100, "f").await;
    let refused = nodes.new_movement(Cause::Withdraw, 101, "w");
    let answer = nodes.two.move_funds(environment, &refused).await.unwrap();
    assert_eq!(answer, Moved::Insufficient { available: minor(100) });
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 100);
    // A refusal uses up nothing: the reference may be judged afresh.
    nodes.fund(environment, 1, "g").await;
    assert_eq!(done(nodes.two.move_funds(environment, &refused).await.unwrap()).balances, available(0));
    let one = nodes.new_movement(Cause::Withdraw, 1, "x");
    let answer = nodes.two.move_funds(environment, &one).await.unwrap();
    assert_eq!(answer, Moved::Insufficient { available: minor(0) });
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 0);
}

pub async fn nothing_overflows(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let most = i64::MAX.unsigned_abs();
    nodes.fund(environment, most - 1, "nearly all").await;
    let two = nodes.new_movement(Cause::Fund, 2, "two");
    assert_eq!(nodes.two.move_funds(environment, &two).await.unwrap(), Moved::TooMuch);
    nodes.fund(environment, 1, "the last").await;
    let one = nodes.new_movement(Cause::Fund, 1, "one");
    assert_eq!(nodes.two.move_funds(environment, &one).await.unwrap(), Moved::TooMuch);
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, most);
    let everything = nodes.new_movement(Cause::Withdraw, most, "everything");
    assert_eq!(done(nodes.two.move_funds(environment, &everything).await.unwrap()).balances, available(0));
    nodes.fund(environment, most, "and back").await;
    let huge = nodes.new_movement(Cause::Fund, most, "huge");
    assert_eq!(nodes.two.move_funds(environment, &huge).await.unwrap(), Moved::TooMuch);
}

pub async fn an_unfunded_wallet_is_empty(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    assert_eq!(nodes.two.balances(environment, Currency::USD).await.unwrap(), Some(Balances::default()));
    assert!(nodes.two.wallet_currencies(environment).await.unwrap().is_empty());
    assert!(nodes.two.ledger(environment, Currency::USD, None, ALL).await.unwrap().is_empty());
    let refused = nodes.new_movement(Cause::Withdraw, 1, "w");
    let answer = nodes.one.move_funds(environment, &refused).await.unwrap();
    assert_eq!(answer, Moved::Insufficient { available: minor(0) });
    assert!(nodes.two.wallet_currencies(environment).await.unwrap().is_empty(), "a refusal makes no wallet");

    let nowhere = EnvironmentId::from_bytes([9; 16]);
    assert_eq!(nodes.two.balances(nowhere, Currency::USD).await.unwrap(), None);
    let fund = nodes.new_movement(Cause::Fund, 1, "f");
    assert_eq!(nodes.one.move_funds(nowhere, &fund).await.unwrap(), Moved::EnvironmentMissing);
}

pub async fn the_ledger_is_newest_first(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    for count in 1..=5_u64 {
        nodes.fund(environment, count, &format!("r{count}")).await;
    }
    let lines = nodes.two.ledger(environment, Currency::USD, None, 2).await.unwrap();
    let shown: Vec<_> =
        lines.iter().map(|line| (line.reference.as_str(), line.account, line.amount_minor)).collect();
    let expected = [
        ("r5", Account::Funding, -5),
        ("r5", Account::Available, 5),
        ("r4", Account::Funding, -4),
        ("r4", Account::Available, 4),
    ];
    assert_eq!(shown, expected, "whole postings, two of them");
    let lines = nodes.two.ledger(environment, Currency::USD, Some(lines[2].posting), ALL).await.unwrap();
    assert_eq!(
        lines.iter().step_by(2).map(|line| line.reference.as_str()).collect::<Vec<_>>(),
        ["r3", "r2", "r1"]
    );
    let last = lines.last().unwrap().posting;
    assert!(nodes.two.ledger(environment, Currency::USD, Some(last), ALL).await.unwrap().is_empty());
    assert!(nodes.two.ledger(environment, Currency::USD, None, 0).await.unwrap().is_empty());
}

pub async fn words_keep_their_letters(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let mut movement = nodes.new_movement(Cause::Fund, 5, "Überweisung №5 \u{1F9FE} '\"\\ -- ");
    movement.actor = String::from("Łucja <ops@例え.jp>");
    done(nodes.one.move_funds(environment, &movement).await.unwrap());
    let lines = nodes.two.ledger(environment, Currency::USD, None, ALL).await.unwrap();
    let line = &lines[1];
    assert_eq!((&line.reference, &line.actor), (&movement.reference, &movement.actor));
    assert_eq!((line.posting, line.cause, line.at), (movement.posting, Cause::Fund.into(), movement.at));
    // Two ways of writing the same letter are two references.
    nodes.fund(environment, 1, "caf\u{e9}").await;
    nodes.fund(environment, 1, "cafe\u{301}").await;
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 7);
}

/// Random movements, with few references so that many repeat, against the plainest model there is.
pub async fn random_movements_agree_with_a_model(nodes: &Nodes) {
    let (seed, mut random) = random();
    let environment = nodes.environment().await.id;
    let mut held: u64 = 0;
    let mut used: BTreeMap<(Cause, String), u64> = BTreeMap::new();
    for step in 0..200 {
        let cause = Cause::ALL[random.random_range(0..2)];
        let amount = random.random_range(1..=40_u64);
        let reference = format!("r{}", random.random_range(0..60_u8));
        let movement = nodes.new_movement(cause, amount, &reference);
        let node = if random.random() { &nodes.one } else { &nodes.two };
        let answer = node.move_funds(environment, &movement).await.unwrap();
        let context = format!("seed {seed}, step {step}: {cause:?} {amount} {reference}");
        match used.get(&(cause, reference.clone())) {
            Some(before) if *before != amount => {
                assert_eq!(answer, Moved::ReferenceReused { amount: minor(*before) }, "{context}");
            }
            Some(_) => {
                let applied = done(answer);
                assert_eq!((applied.replayed, applied.balances), (true, available(held)), "{context}");
            }
            None if cause == Cause::Withdraw && amount > held => {
                assert_eq!(answer, Moved::Insufficient { available: minor(held) }, "{context}");
            }
            None => {
                held = if cause == Cause::Fund { held + amount } else { held - amount };
                used.insert((cause, reference), amount);
                let applied = done(answer);
                assert_eq!((applied.replayed, applied.balances), (false, available(held)), "{context}");
            }
        }
    }
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, held, "seed {seed}");
}
