//! A first provider that fails under load, at every point of a preparation, a confirmation and a transfer: every payment ends at
//! one provider, none is charged twice, no caller waits longer than its deadline, and once the circuit is open new payments go to
//! the fallback.
//!
//! `TOLLGATE_ROUTES_ROUNDS` says how often the first provider goes away; `make routes` is the long run.

use std::{
    collections::BTreeMap,
    env,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{circuit, impatient, order, with_fallback};
use crate::support::{
    Answer, COMPONENT, Desk, GOOD_BANK, Prepared, Proxy, StopOnDrop, StoreKind, TOKENS, TRANSFERS, Weather,
    Wire, World, wait_until,
};

const CALLERS: usize = 4;
/// What a caller is promised, and a little for a machine that is busy with other things.
const DEADLINE: Duration = Duration::from_secs(33);
/// How long new payments are counted at least once the circuit is open and a second has passed.
const COUNTED: Duration = Duration::from_secs(2);
/// How many are counted at least: few begin in that time on a machine that is busy with other things.
const LEAST_COUNTED: usize = 5;
/// Longer than a round takes from the opening on, so that no probe is made in the midst of it.
const OPEN_SECONDS: u64 = 8;
/// Over how long a time calls are counted that failed or did not.
const WINDOW_SECONDS: u64 = 20;
const CIRCUITS_CHANGE_WITHIN: Duration = Duration::from_secs(180);
const SETTLED_WITHIN: Duration = Duration::from_secs(120);

/// One call of a caller that begins a payment or a transfer.
struct Begun {
    at: Instant,
    took: Duration,
    status: u16,
}

/// What callers did and were told.
#[derive(Default)]
struct Seen {
    begun: Mutex<Vec<Begun>>,
    /// The longest answer to a confirmation.
    confirmed_in: Mutex<Duration>,
    /// Payments that were answered as paid.
    paid: Mutex<Vec<String>>,
    /// Payments whose preparation failed and is recorded.
    given_up: Mutex<Vec<String>>,
    transfers: Mutex<Vec<String>>,
    count: AtomicU64,
    is_over: AtomicBool,
}

impl Seen {
    fn begin(&self, call: impl FnOnce() -> Answer) -> Answer {
        let at = Instant::now();
        let answer = call();
        let begun = Begun { at, took: at.elapsed(), status: answer.status };
        self.begun.lock().unwrap().push(begun);
        answer
    }
}

fn rounds() -> usize {
    let given = env::var("TOLLGATE_ROUTES_ROUNDS").ok();
    given.map_or(1, |text| text.parse().expect("TOLLGATE_ROUTES_ROUNDS is not a number"))
}

/// Both first providers behind the proxy, and both second ones as their fallbacks.
fn document(world: &World, proxy: &Proxy) -> Value {
    let (direct, proxied) = (world.simulator.address(), proxy.address);
    let mut document = with_fallback(world, proxied);
    document["providers"]["ach_provider_a"] = json!({
        "adapter": "increase", "baseUrl": format!("http://{proxied}/increase"),
        "credentials": {"apiKey": crate::support::BANK_API_KEY, "webhookSecret": "a webhook secret"},
        "funding": {"accountId": "account_simulator", "accountNumberId": "account_number_simulator"},
    });
    document["providers"]["ach_provider_b"] = json!({
        "adapter": "modern_treasury", "baseUrl": format!("http://{direct}/modern_treasury"),
        "credentials": {"organizationId": "organization_simulator", "apiKey": "modern_treasury_simulator_key",
                        "webhookKey": "a webhook key"},
        "funding": {"originatingAccountId": "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a01"},
    });
    let fallbacks = json!([{"provider": "ach_provider_b", "channel": "standard_ach"}]);
    document["routing"]["ach"] = json!({
        "enabled": true, "rules": [],
        "default": {"provider": "ach_provider_a", "channel": "standard_ach", "fallbacks": fallbacks},
    });
    // What succeeded before an outage is soon forgotten, or silence would have to outlast it: there, every failure takes its time.
    document["settings"]["circuit"] =
        json!({"minimumCalls": 10, "windowSeconds": WINDOW_SECONDS, "openSeconds": OPEN_SECONDS});
    document
}

/// Prepares and pays, and sends transfers, until it is over.
fn call(world: &World, token: &str, seen: &Seen) {
    let mut client = world.shop.client();
    while !seen.is_over.load(Ordering::Relaxed) {
        let number = seen.count.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(3) {
            let body = json!({
                "idempotencyKey": format!("transfer-{number:06}"), "amountMinor": "1000", "currency": "USD",
                "customerToken": token, "routingNumber": GOOD_BANK, "accountNumber": "000123456789",
                "bankAccountType": "checking", "bankName": "First Example Bank", "accountName": "Ada Example",
            });
            let answer = seen.begin(|| client.post(TRANSFERS, &body));
            if answer.status == 201 {
                let data = answer.data(201);
                let reference = data["transaction"]["serviceReference"].as_str().unwrap().to_owned();
                seen.transfers.lock().unwrap().push(reference);
            }
        } else {
            let answer = seen.begin(|| client.post(COMPONENT, &order()));
            if answer.status == 201 {
                pay(world, seen, &Prepared::of(&answer));
            } else if let Some(reference) = answer.json()["error"]["serviceReference"].as_str() {
                seen.given_up.lock().unwrap().push(reference.to_owned());
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn pay(world: &World, seen: &Seen, prepared: &Prepared) {
    if prepared.data["provider"] == "card_provider_a" {
        // The browser pays at the provider, whatever this service can reach.
        world.simulator.confirm_intent_by(prepared.component(), "pm_card_visa");
    }
    let at = Instant::now();
    let answer = world.shop.confirm(&prepared.reference, &prepared.confirm_body());
    let mut longest = seen.confirmed_in.lock().unwrap();
    *longest = at.elapsed().max(*longest);
    drop(longest);
    if answer.status == 200 && answer.data(200)["transaction"]["status"] == "succeeded" {
        seen.paid.lock().unwrap().push(prepared.reference.clone());
    }
}

/// Lets the first providers go away, waits for the circuit to open, and counts what new payments come to after a second.
fn outage(world: &World, proxy: &Proxy, seen: &Seen, weather: Weather) -> (usize, usize) {
    proxy.set(weather);
    wait_until("the circuits open", CIRCUITS_CHANGE_WITHIN, || {
        ["card_provider_a", "ach_provider_a"].iter().all(|name| circuit(&world.shop, name) == "open")
    });
    thread::sleep(Duration::from_secs(1));
    let from = Instant::now();
    wait_until("enough payments begin", CIRCUITS_CHANGE_WITHIN, || {
        let begun = seen.begun.lock().unwrap().iter().filter(|it| it.at >= from).count();
        from.elapsed() >= COUNTED && begun >= LEAST_COUNTED
    });
    let until = Instant::now();
    proxy.set(Weather::Clear);
    wait_until("the circuits close", CIRCUITS_CHANGE_WITHIN, || {
        ["card_provider_a", "ach_provider_a"].iter().all(|name| circuit(&world.shop, name) == "closed")
    });
    let begun = seen.begun.lock().unwrap();
    let counted: Vec<_> = begun.iter().filter(|it| (from..until).contains(&it.at)).collect();
    (counted.iter().filter(|it| it.status == 201).count(), counted.len())
}

/// Every kind of mishap at every call of the first providers, a few of each.
fn mishaps(world: &World) {
    const KINDS: [&str; 9] = [
        "timeout_before",
        "timeout_after",
        "error_before",
        "error_after",
        "reset",
        "rate_limited",
        "slow",
        "torn",
        "malformed",
    ];
    for kind in KINDS {
        for operation in ["payment_intents.create", "payment_intents.retrieve", "payment_intents.cancel"] {
            world.simulator.fault(Wire::Stripe, operation, kind, 2, 500);
        }
        let fault = json!({"wire": "increase", "operation": "ach_transfers.create", "fault": kind, "count": 2,
                           "delay_ms": 500});
        world.simulator.control("POST", "faults", &fault);
        thread::sleep(Duration::from_millis(400));
    }
    world.simulator.clear_faults();
}

/// How often each reference was charged, and can be paid, at any provider.
fn at_providers(state: &Value) -> (BTreeMap<String, u32>, BTreeMap<String, u32>) {
    let (mut charged, mut payable) = (BTreeMap::new(), BTreeMap::new());
    let rows = |wire: &str, kind: &str| state[wire][kind].as_array().cloned().unwrap_or_default();
    let text = |row: &Value| row.as_str().unwrap_or_default().to_owned();
    for intent in rows("stripe", "payment_intents") {
        let reference = text(&intent["metadata"]["tollgate_reference"]);
        match intent["status"].as_str() {
            Some("succeeded" | "processing") => *charged.entry(reference).or_default() += 1,
            Some("canceled") => {}
            _ => *payable.entry(reference).or_default() += 1,
        }
    }
    for payment in rows("square", "payments") {
        if matches!(payment["status"].as_str(), Some("COMPLETED" | "APPROVED")) {
            *charged.entry(text(&payment["reference_id"])).or_default() += 1;
        }
    }
    for transfer in rows("increase", "ach_transfers") {
        *charged.entry(text(&transfer["idempotency_key"])).or_default() += 1;
    }
    for order in rows("modern_treasury", "payment_orders") {
        *charged.entry(text(&order["external_id"])).or_default() += 1;
    }
    (charged, payable)
}

#[test]
fn a_first_provider_that_fails_under_load_costs_no_payment() {
    let world = World::start_with(StoreKind::Sqlite, impatient);
    let proxy = Proxy::start(world.simulator.address());
    world.shop.configure(&document(&world, &proxy));
    let funds = json!({"amountMinor": "1000000000", "reference": "opening"});
    world.shop.admin().post(&world.shop.path("/wallets/USD/fund"), &funds);
    let customer = world.shop.client().post(TOKENS, &Desk::customer("customer-1")).data(201);
    let token = customer["customerToken"].as_str().unwrap();
    let seen = Seen::default();
    let mut counted = Vec::new();
    thread::scope(|scope| {
        let _stop = StopOnDrop(&seen.is_over);
        for _ in 0..CALLERS {
            scope.spawn(|| call(&world, token, &seen));
        }
        for _ in 0..rounds() {
            for weather in [Weather::Cut, Weather::Silent] {
                counted.push((weather, outage(&world, &proxy, &seen, weather)));
            }
            mishaps(&world);
        }
    });
    let begun = seen.begun.into_inner().unwrap();
    let longest = begun.iter().map(|it| it.took).max().unwrap_or_default();
    let confirmed_in = seen.confirmed_in.into_inner().unwrap();
    println!(
        "{} payments and transfers; longest to begin {longest:?}, to confirm {confirmed_in:?}; with the circuit open: {counted:?}",
        begun.len()
    );
    assert!(longest <= DEADLINE && confirmed_in <= DEADLINE, "{longest:?} {confirmed_in:?}");
    for (weather, (succeeded, all)) in &counted {
        assert!(*all >= LEAST_COUNTED, "{weather:?}: only {all} payments began");
        assert!(succeeded * 1_000 >= all * 999, "{weather:?}: {succeeded} of {all}");
    }
    check(
        &world,
        &seen.paid.into_inner().unwrap(),
        &seen.given_up.into_inner().unwrap(),
        &seen.transfers.into_inner().unwrap(),
    );
}

/// Once nothing is in doubt anymore: each payment is at one provider, and what was given up at none.
fn check(world: &World, paid: &[String], given_up: &[String], transfers: &[String]) {
    let mut client = world.shop.client();
    wait_until("no transfer is in doubt", SETTLED_WITHIN, || {
        let is_known = |reference: &String| {
            let data = client.get(&format!("/client/v1/transactions/{reference}")).data(200);
            data["status"] != "pending"
        };
        thread::sleep(Duration::from_millis(200));
        transfers.iter().all(is_known)
    });
    wait_until("what was given up is withdrawn", SETTLED_WITHIN, || {
        thread::sleep(Duration::from_millis(200));
        let (charged, payable) = at_providers(&world.simulator.state());
        given_up.iter().all(|reference| !charged.contains_key(reference) && !payable.contains_key(reference))
    });
    let (charged, payable) = at_providers(&world.simulator.state());
    let twice: Vec<_> = charged.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "charged twice: {twice:?}");
    let open: Vec<_> = payable.keys().filter(|reference| charged.contains_key(*reference)).collect();
    assert!(open.is_empty(), "paid, and still to be paid elsewhere: {open:?}");
    for reference in paid.iter().chain(transfers) {
        assert_eq!(charged.get(reference), Some(&1), "{reference}");
    }
    let exceptions = world.shop.listed("exceptions");
    assert!(exceptions.is_empty(), "{exceptions:#?}");
    println!("{} paid, {} transfers, {} given up", paid.len(), transfers.len(), given_up.len());
}
