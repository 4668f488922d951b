//! Many callers at one moment: one transfer per key, and never more than the wallet holds.

use std::{sync::Barrier, thread, time::Duration};

use serde_json::Value;

use crate::support::{
    BANK_WAIT_TIMEOUT, BankRail, BankSimulator, BankStore, BankWorld, Desk, On, TRANSFERS,
    on_alternate_rails, wait_until,
};

const CALLERS: usize = 100;
const PAYERS: usize = 60;
const COVERED: usize = 25;

/// All at once, each on a connection of its own: the status and the body of every answer.
fn at_once(desks: &[&Desk], count: usize, body: impl Fn(&Desk, usize) -> Value + Sync) -> Vec<(u16, Value)> {
    let start = Barrier::new(count);
    thread::scope(|scope| {
        let callers: Vec<_> = (0..count)
            .map(|number| {
                let desk = desks[number % desks.len()];
                let (start, body) = (&start, &body);
                scope.spawn(move || {
                    let (mut client, body) = (desk.client(), body(desk, number));
                    start.wait();
                    let mut answer = client.post(TRANSFERS, &body);
                    // A store that so many wait for turns some of them away, who come again.
                    wait_until("a turn", BANK_WAIT_TIMEOUT, || {
                        let is_away = answer.status == 503 && answer.failure(503) == "store_unavailable";
                        if is_away {
                            thread::sleep(Duration::from_millis(100));
                            answer = client.post(TRANSFERS, &body);
                        }
                        !is_away
                    });
                    (answer.status, answer.json())
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    })
}

fn one_key_makes_one_transfer(desks: &[&Desk], simulator: &BankSimulator) {
    let desk = desks[0];
    // Slow enough that every caller comes while the first is still at it.
    simulator.fault(&simulator.rail.operation("create"), "slow", 1, 300);
    let answers = at_once(desks, CALLERS, |desk, _| desk.body("one key for all of them", 10_000));
    let mut firsts = 0;
    let reference = &answers[0].1["data"]["transaction"]["serviceReference"];
    for (status, body) in &answers {
        let data = &body["data"];
        assert!(matches!(status, 200 | 201), "{status} {body:#}");
        assert_eq!(data["replayed"], *status == 200, "{body:#}");
        assert_eq!(&data["transaction"]["serviceReference"], reference);
        assert_eq!(data["transaction"]["totalDebitMinor"], "10035");
        firsts += usize::from(data["replayed"] == false);
    }
    assert_eq!(firsts, 1, "one call made it, the others were told of it");
    let reference = reference.as_str().unwrap();
    desk.wait_status(reference, "processing");
    simulator.sole(reference);
    assert_eq!(simulator.accepted(200_000).len(), 1);
    assert_eq!(desk.postings(reference), ["reserve"]);
    assert_eq!(desk.wallet().reserved, 10_035);
    desk.assert_books(Desk::FUNDS);
}

fn a_hundred_callers_with_one_key_make_one_transfer(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve);
    one_key_makes_one_transfer(&[&world.desk], &world.simulator);
}

fn the_wallet_is_never_overdrawn(desks: &[&Desk], simulator: &BankSimulator) {
    let desk = desks[0];
    let opening = 10_035 * u64::try_from(COVERED).unwrap();
    desk.leave(opening + 10_034);
    let answers = at_once(desks, PAYERS, |desk, number| desk.body(&format!("payer number {number}"), 10_000));
    let made = answers.iter().filter(|(status, _)| *status == 201).count();
    for (status, body) in answers.iter().filter(|(status, _)| *status != 201) {
        assert_eq!(
            (*status, &body["error"]["code"]),
            (409, &"insufficient_wallet_balance".into()),
            "{body:#}"
        );
    }
    assert_eq!(made, COVERED);
    wait_until("all are known", BANK_WAIT_TIMEOUT, || {
        desk.listed("transactions?status=processing").len() == COVERED
    });
    let taken = simulator.accepted(200_000);
    assert_eq!(taken.len(), COVERED);
    assert!(taken.values().all(|taken| taken.len() == 1), "{taken:?}");
    let wallet = desk.wallet();
    assert_eq!((wallet.available, wallet.reserved), (10_034, opening));
    desk.assert_books(opening + 10_034);
    // A refusal that recorded nothing may be tried again, and is judged afresh.
    desk.fund(1, "one more cent");
    let (_, refused) =
        answers.iter().enumerate().find(|(_, (status, _))| *status != 201).map(|(at, it)| (it, at)).unwrap();
    desk.made(&desk.body(&format!("payer number {refused}"), 10_000));
    assert_eq!(desk.wallet().available, 0);
    desk.assert_books(opening + 10_035);
}

fn sixty_callers_share_a_wallet_that_covers_twenty_five(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve);
    the_wallet_is_never_overdrawn(&[&world.desk], &world.simulator);
}

/// A hundred transfers and a hundred settlements, returns and withdrawals at the same time.
fn two_servers(rail: BankRail, test: impl FnOnce(&[&Desk], &BankSimulator)) {
    let world = BankWorld::start_as(On::Postgres, rail, BankStore::serve);
    let other = world.store.serve().run();
    let there = world.desk.at(&other);
    wait_until("the other server knows the keys", BANK_WAIT_TIMEOUT, || {
        there.client().get("/client/v1/wallet").status == 200
    });
    test(&[&world.desk, &there], &world.simulator);
}

#[test]
fn two_servers_make_one_transfer_of_one_key() {
    for rail in [BankRail::Increase, BankRail::ModernTreasury] {
        two_servers(rail, one_key_makes_one_transfer);
    }
}

#[test]
fn two_servers_never_overdraw_the_wallet() {
    for rail in [BankRail::Increase, BankRail::ModernTreasury] {
        two_servers(rail, the_wallet_is_never_overdrawn);
    }
}

/// A settlement, told by several webhooks and looks at once, is posted once.
fn news_from_many_sides_is_posted_once(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, |store: &BankStore| {
        store.serve().with("TOLLGATE_RESOLVER_FIRST_CHECK_MS", "1").with("TOLLGATE_RESOLVER_POLL_MS", "5")
    });
    let taken: Vec<_> = (0..12).map(|number| world.taken(&format!("settled in a crowd {number}"))).collect();
    // The other provider's bank is played by the control interface, which nothing disturbs.
    let twice = |step: &str| match rail {
        BankRail::Increase => {
            world.simulator.fault(&format!("simulations.ach_transfers.{step}"), "webhook_twice", 1, 0);
        }
        BankRail::ModernTreasury => {}
    };
    for (_, id) in &taken {
        twice("settle");
        world.simulator.simulate(id, "settle", &serde_json::json!({}));
    }
    for (_, id) in &taken {
        twice("return");
        world.simulator.simulate(id, "return", &serde_json::json!({}));
    }
    for (reference, _) in &taken {
        world.desk.wait_status(reference, "failed");
        let postings = world.desk.postings(reference);
        let allowed: [&[&str]; 2] = [&["reserve", "release"], &["reserve", "settle", "reverse"]];
        assert!(allowed.iter().any(|allowed| postings == *allowed), "{postings:?}");
    }
    world.desk.wait_events(&world.simulator);
    assert_eq!(world.desk.wallet().available, Desk::FUNDS);
    world.desk.assert_books(Desk::FUNDS);
}

on_alternate_rails! {
    a_hundred_callers_with_one_key_make_one_transfer
    sixty_callers_share_a_wallet_that_covers_twenty_five
    news_from_many_sides_is_posted_once
}
