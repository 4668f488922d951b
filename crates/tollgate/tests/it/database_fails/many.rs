//! The same many times over, at moments drawn at random, and every answer held against the provider's own record.
//!
//! `TOLLGATE_CRASH_KILLS` says how often on each store; `make crash` is the long run. `TOLLGATE_TEST_SEED` repeats one.

use std::{
    env,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    thread,
    time::Duration,
};

use rand::RngExt as _;
use serde_json::{Value, json};

use super::{Bank, CHARGE, DEADLINE, Till};
use crate::support::{
    Answer, Desk, Flow, On, Outage, REFUSED_BANK, Switch, Trap, Wire, on_each_store, randomness, seed,
    wait_until,
};

const DEFAULT_TIMES: u64 = 6;

fn times() -> u64 {
    let given = env::var("TOLLGATE_CRASH_KILLS").ok();
    given.map_or(DEFAULT_TIMES, |text| text.parse().expect("TOLLGATE_CRASH_KILLS is not a number"))
}

/// What an answer claims that the provider's record must bear out. Whether the provider has it is `taken`.
fn untruth(answer: &Answer, taken: bool) -> Option<String> {
    let body = answer.json();
    let status = body["data"]["transaction"]["status"].as_str().unwrap_or_default();
    let message = body["message"].as_str().unwrap_or_default();
    let is_untrue = match answer.status {
        200 | 201 if status == "failed" => taken,
        // It may be pending either way; it may be on its way only where the provider has it.
        200 | 201 => status != "pending" && !taken,
        422 => taken,
        // The provider was asked: the answer is about the payment, never about our trouble.
        _ => true,
    };
    is_untrue.then(|| format!("{} {status} {message:?}, and the provider has it: {taken}", answer.status))
}

fn transfers(on: On) {
    let seed = seed();
    let bank = Bank::open(on, "30200");
    for number in 0..times() {
        let mut random = randomness(seed, number);
        let outage = Outage::BOTH[random.random_range(0..2)];
        let is_refused = random.random_range(0..5) == 0;
        let (delay, lasting) = (random.random_range(0..8), random.random_range(0..1_500));
        let mut body = bank.desk.body(&format!("transfer number {number}"), 10_000);
        if is_refused {
            body["routingNumber"] = json!(REFUSED_BANK);
        }
        let over = arm(&bank.trap, bank.desk.rail.creation(), &bank.switch, outage, [delay, lasting]);
        let before = bank.simulator.accepted(200_000).len();
        let answer = bank.desk.transfer(&body);
        let taken = bank.simulator.accepted(200_000).len() > before;
        assert_eq!(
            untruth(&answer, taken),
            None,
            "number {number} of seed {seed}, {outage:?} after {delay} ms"
        );
        assert_eq!(taken, !is_refused);
        let reference = reference(&answer).unwrap();
        over.recv().unwrap();
        wait_until("the database is back", Duration::from_secs(120), || {
            bank.desk.client().get("/readyz").status == 200 && bank.desk.read(&reference).status == 200
        });
        bank.desk.wait_status(&reference, if is_refused { "failed" } else { "processing" });
        assert_eq!(bank.simulator.accepted_as(&reference).len(), usize::from(!is_refused));
    }
    bank.desk.assert_books(Desk::FUNDS);
    println!("{} transfers on {:?}: no untrue answer", times(), bank.switch.store());
}

fn charges(on: On) {
    let seed = seed();
    let till = Till::open(on, DEADLINE, "30200");
    for number in 0..times() {
        let mut random = randomness(seed, number);
        let outage = Outage::BOTH[random.random_range(0..2)];
        let (delay, lasting) = (random.random_range(0..8), random.random_range(0..1_500));
        let prepared = till.shop.prepare(Flow::Component, Wire::Square);
        let over = arm(&till.trap, CHARGE, &till.switch, outage, [delay, lasting]);
        let answer = till.shop.confirm(&prepared.reference, &prepared.confirm_body());
        let taken = till.simulator.truth(&prepared.reference).charged > 0;
        assert_eq!(
            untruth(&answer, taken),
            None,
            "number {number} of seed {seed}, {outage:?} after {delay} ms"
        );
        over.recv().unwrap();
        wait_until("the database is back", Duration::from_secs(120), || {
            let is_read = till.shop.read_payment(&prepared.reference).status == 200;
            is_read && till.shop.client().get("/readyz").status == 200
        });
        till.shop.wait_status(&prepared.reference, "succeeded");
        assert_eq!(till.simulator.truth(&prepared.reference).charged, 1);
    }
    println!("{} charges on {:?}: no untrue answer", times(), till.switch.store());
}

/// Takes the database away so many milliseconds after the answer has come (at once, or in the midst of writing it down) and
/// gives it back so many later, which is told by what is returned.
fn arm(
    trap: &Trap,
    request: &str,
    switch: &Arc<Switch>,
    outage: Outage,
    [delay, lasting]: [u64; 2],
) -> Receiver<()> {
    let (tell, told) = channel();
    let switch = Arc::clone(switch);
    let strike = move || {
        thread::sleep(Duration::from_millis(delay));
        switch.fail(outage);
        thread::sleep(Duration::from_millis(lasting));
        switch.restore();
        tell.send(()).unwrap();
    };
    trap.arm(request, move || drop(thread::spawn(strike)));
    told
}

/// The reference an answer names, of whatever kind it is.
fn reference(answer: &Answer) -> Option<String> {
    let body = answer.json();
    let named = [&body["data"]["transaction"]["serviceReference"], &body["error"]["serviceReference"]];
    named.into_iter().find_map(Value::as_str).map(str::to_owned)
}

on_each_store! {
    transfers
    charges
}
