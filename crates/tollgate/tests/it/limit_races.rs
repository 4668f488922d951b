//! Many transfers at one moment against a daily limit: never a cent above it, and none refused that would have fit.

use std::{
    env,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use rand::RngExt;
use serde_json::{Value, json};

use crate::support::{BankStore, BankWorld, Client, Desk, On, TRANSFERS, randomness, seed};

const DEFAULT_TRANSFERS: usize = 200;
/// On PostgreSQL those that wait too long for a connection are told to try again.
const KNOWN_WITHIN: Duration = Duration::from_secs(180);

fn transfers() -> usize {
    let given = env::var("TOLLGATE_LIMIT_TRANSFERS").ok();
    given.map_or(DEFAULT_TRANSFERS, |text| text.parse().expect("TOLLGATE_LIMIT_TRANSFERS is not a number"))
}

fn limited(desk: &Desk, limit: u64) {
    let mut document = desk.admin().get(&desk.path("/config")).data(200);
    document["limits"] = json!([{"id": "daily", "paymentMethod": "ach", "per": "environment",
        "windowSeconds": 86_400, "maxAmountMinor": limit.to_string()}]);
    desk.configure(&document);
}

/// Asks until it is known whether the transfer was made, as callers do, and says how often the server could not tell.
fn made(client: &mut Client, body: &Value) -> (bool, u32) {
    let (deadline, mut unknown) = (Instant::now() + KNOWN_WITHIN, 0);
    while Instant::now() < deadline {
        let answer = client.post(TRANSFERS, body);
        match answer.status {
            200 | 201 => return (true, unknown),
            409 => {
                assert_eq!(answer.failure(409), "limit_exceeded");
                return (false, unknown);
            }
            503 => {
                unknown += 1;
                thread::sleep(Duration::from_millis(500));
            }
            _ => panic!("{} {}", answer.status, String::from_utf8_lossy(&answer.body)),
        }
    }
    panic!("the server never answered")
}

/// All of them at once, shared by the nodes, each on a connection of its own.
fn storm(nodes: &[Desk], limit: u64, amounts: &[u64]) {
    let (desk, began) = (&nodes[0], Instant::now());
    let start = Barrier::new(amounts.len());
    let answers: Vec<_> = thread::scope(|scope| {
        let caller = |(number, amount): (usize, &u64)| {
            let (node, start, amount) = (&nodes[number % nodes.len()], &start, *amount);
            scope.spawn(move || {
                let (mut client, body) =
                    (node.client(), node.body(&format!("transfer number {number}"), amount));
                start.wait();
                let (is_made, unknown) = made(&mut client, &body);
                (is_made, unknown, amount)
            })
        };
        let callers: Vec<_> = amounts.iter().enumerate().map(caller).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    let took = began.elapsed();
    let unknown: u32 = answers.iter().map(|(_, unknown, _)| unknown).sum();
    let accepted: u64 = answers.iter().filter(|(is_made, ..)| *is_made).map(|(.., amount)| amount).sum();
    let refused: Vec<_> =
        answers.iter().filter(|(is_made, ..)| !is_made).map(|(.., amount)| *amount).collect();
    println!(
        "{} transfers on {} nodes: {accepted} of {limit} made by {}, {} refused, {unknown} asked again, {took:?}",
        amounts.len(),
        nodes.len(),
        amounts.len() - refused.len(),
        refused.len()
    );
    assert!(accepted <= limit && !refused.is_empty(), "{accepted} of {limit}");
    // What was made only grew: what did not fit then does not fit now.
    assert!(refused.iter().all(|amount| accepted + amount > limit), "{accepted} of {limit}: {refused:?}");
    if amounts.iter().all(|amount| limit.is_multiple_of(*amount)) {
        assert_eq!(accepted, limit);
    }

    // The limit itself has counted the same: what is left fits to the cent.
    let (mut client, left) = (desk.client(), limit - accepted);
    assert!(!made(&mut client, &desk.body("a cent too much", left + 1)).0);
    if left > 0 {
        assert!(made(&mut client, &desk.body("the last cent", left)).0);
    }
    let listed = desk.listed("transactions");
    let amount = |transaction: &Value| transaction["amountMinor"].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(listed.iter().map(amount).sum::<u64>(), limit);
    desk.assert_books(Desk::FUNDS);
}

/// Amounts that the limit is a multiple of, and amounts of every size.
fn daily_limit_holds(on: On, servers: usize) {
    let world = BankWorld::start_with(on, BankStore::serve_plainly);
    let (mut random, count) = (randomness(seed(), 0), transfers());
    let limit = 1_700 * u64::try_from(count).unwrap() / 2;
    let mixed: Vec<u64> = (0..count).map(|_| random.random_range(1..=5_000)).collect();
    let storms = [vec![1_700; count], mixed].map(|amounts| {
        let desk = world.another_desk();
        limited(&desk, limit);
        (desk, amounts)
    });
    // They know the limits from their start.
    let others: Vec<_> = (1..servers).map(|_| world.store.serve_plainly().run()).collect();
    for (desk, amounts) in storms {
        let elsewhere: Vec<_> = others.iter().map(|server| desk.at(server)).collect();
        let nodes: Vec<_> = [desk].into_iter().chain(elsewhere).collect();
        storm(&nodes, limit, &amounts);
    }
}

#[test]
fn a_daily_limit_holds_against_a_crowd() {
    daily_limit_holds(On::Sqlite, 1);
}

#[test]
fn a_daily_limit_holds_on_two_servers() {
    daily_limit_holds(On::Postgres, 2);
}
