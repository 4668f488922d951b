//! The same for cards: a server that dies at every place of a card payment charges once, and forgets nothing it said.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{RESOLVED_WITHIN, impatient};
use crate::support::{BankWorld, Client, Desk, On, StopOnDrop, on_each_store, wait_until};

pub(super) const PLACES: [&str; 10] = [
    "payment.before_prepare",
    "payment.after_prepare",
    "payment.before_charge",
    "payment.after_charge",
    "payment.before_change",
    "payment.after_change",
    "refund.before_send",
    "refund.after_send",
    "hold.before_send",
    "hold.after_send",
];
const JSON: (&str, &str) = ("content-type", "application/json");

/// What callers were answered.
#[derive(Default)]
struct Told {
    prepared: BTreeSet<String>,
    paid: BTreeSet<String>,
    /// A refund was asked for, and whether it was acknowledged.
    refunds: BTreeMap<String, bool>,
    /// A capture was asked for, and whether it was acknowledged.
    captures: BTreeMap<String, bool>,
    /// Prepared, and not known to be paid yet.
    to_confirm: Vec<String>,
}

/// Adds both card providers to the environment.
fn with_cards(world: &BankWorld) {
    let address = world.simulator.address();
    let mut document = world.desk.document(address);
    document["providers"]["card_provider_a"] = json!({
        "adapter": "stripe", "baseUrl": format!("http://{address}/stripe"),
        "credentials": {"secretKey": "sk_test_simulator", "publishableKey": "pk_test_simulator", "webhookSecret": "whsec_x"},
    });
    document["providers"]["card_provider_b"] = json!({
        "adapter": "square", "baseUrl": format!("http://{address}/square"), "environment": "sandbox",
        "credentials": {"accessToken": "square_simulator_token", "applicationId": "sandbox-sq0idb-simulator",
                        "locationId": "LSIMULATOR001", "webhookSignatureKey": "x"},
    });
    document["routing"]["web_card"] = json!({
        "enabled": true,
        "rules": [{"id": "rule_hosted", "enabled": true,
                   "conditions": [{"id": "cond_flow", "field": "flow", "op": "eq", "value": "hosted_checkout"}],
                   "target": {"provider": "card_provider_a", "channel": "web_card"}}],
        "default": {"provider": "card_provider_b", "channel": "web_card"},
    });
    world.desk.configure(&document);
}

/// `None` where the server died, or gave up a call to the provider on a busy machine: the caller asks again.
fn call(client: &mut Client, path: &str, body: &Value, expected: u16) -> Option<Value> {
    let answer = client.try_send("POST", path, &[JSON], body.to_string().as_bytes()).ok()?;
    if answer.status == 503 {
        return None;
    }
    assert_eq!(answer.status, expected, "{path}: {}", String::from_utf8_lossy(&answer.body));
    Some(answer.json()["data"].clone())
}

/// Prepares and pays until the round is over.
fn buy(desk: &Desk, told: &Mutex<Told>, turns: &AtomicU64, over: &AtomicBool) {
    let mut client = desk.client();
    while !over.load(Ordering::Relaxed) {
        let turn = turns.fetch_add(1, Ordering::Relaxed);
        let hosted = turn.is_multiple_of(3);
        // Some of the charges are only held, and then captured.
        let capture = if !hosted && turn.is_multiple_of(2) { "manual" } else { "automatic" };
        let order = json!({"amountMinor": "1000", "currency": "USD", "capture": capture});
        let path = if hosted { "/client/v1/payments" } else { "/client/v1/payments/component" };
        let Some(data) = call(&mut client, path, &order, 201) else {
            thread::sleep(Duration::from_millis(5));
            continue;
        };
        let reference = data["serviceReference"].as_str().unwrap().to_owned();
        told.lock().unwrap().prepared.insert(reference.clone());
        if !hosted {
            told.lock().unwrap().to_confirm.push(reference);
        }
        let Some(next) = told.lock().unwrap().to_confirm.pop() else { continue };
        let path = format!("/client/v1/payments/component/{next}/confirm");
        match call(&mut client, &path, &json!({"sourceId": "cnon:card-nonce-ok"}), 200) {
            Some(data) if data["transaction"]["status"] == "succeeded" => {
                told.lock().unwrap().paid.insert(next.clone());
                refund(&mut client, told, &next);
            }
            Some(data) if data["transaction"]["status"] == "authorized" => {
                capture_part(&mut client, told, &next);
            }
            // Not known yet, or never answered: asked again later, with the same token.
            _ => told.lock().unwrap().to_confirm.push(next),
        }
    }
}

/// Refunds a part of what was paid, once.
fn refund(client: &mut Client, told: &Mutex<Told>, reference: &str) {
    told.lock().unwrap().refunds.insert(reference.to_owned(), false);
    let body = json!({"idempotencyKey": format!("refund-{reference}"), "amountMinor": "100"});
    let path = format!("/client/v1/transactions/{reference}/refunds");
    if call(client, &path, &body, 201).is_some() {
        told.lock().unwrap().refunds.insert(reference.to_owned(), true);
    }
}

/// Captures a part of what is held, once.
fn capture_part(client: &mut Client, told: &Mutex<Told>, reference: &str) {
    told.lock().unwrap().captures.insert(reference.to_owned(), false);
    let body = json!({"idempotencyKey": format!("capture-{reference}"), "amountMinor": "100"});
    let path = format!("/client/v1/transactions/{reference}/capture");
    if call(client, &path, &body, 200).is_some() {
        told.lock().unwrap().captures.insert(reference.to_owned(), true);
    }
}

fn cards_survive_dying_at_every_place(on: On) {
    let began = Instant::now();
    let mut world = BankWorld::start_with(on, impatient);
    with_cards(&world);
    let (told, turns) = (Mutex::new(Told::default()), AtomicU64::new(0));
    world.server.kill();
    for place in PLACES {
        let failpoint = format!("{place}:3");
        world.begin_again(|store| impatient(store).with("TOLLGATE_FAILPOINT", &failpoint));
        let (desk, over) = (world.desk.clone(), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| buy(&desk, &told, &turns, &over));
            }
            let _stop = StopOnDrop(&over);
            let ended = world.server.wait_end(Duration::from_secs(120));
            assert!(!ended.success(), "{failpoint}");
        });
        world.serve_again(impatient);
        check(&world.desk, &world, &told.lock().unwrap(), &failpoint);
        world.server.kill();
    }
    let told = told.into_inner().unwrap();
    println!("{on:?}: {} prepared, {} paid in {:?}", told.prepared.len(), told.paid.len(), began.elapsed());
    assert!(!told.paid.is_empty());
}

#[track_caller]
fn check(desk: &Desk, world: &BankWorld, told: &Told, trigger: &str) {
    wait_until("no preparation and no charge is in doubt", RESOLVED_WITHIN, || {
        desk.listed("payments?status=preparing").is_empty() && desk.listed("payments?waiting=true").is_empty()
    });
    // Before the provider is asked, for what is still being looked after may be charged in between.
    let succeeded = desk.listed("transactions?status=succeeded");
    let state = world.simulator.control("GET", "state?limit=100000", &Value::Null);
    let rows = |wire: &str, kind: &str| state[wire][kind].as_array().unwrap().clone();
    let mut charges = BTreeMap::<String, usize>::new();
    for payment in rows("square", "payments").iter().filter(|payment| payment["status"] == "COMPLETED") {
        *charges.entry(payment["reference_id"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let mut sessions = BTreeMap::<String, usize>::new();
    for session in rows("stripe", "checkout_sessions") {
        *sessions
            .entry(session["metadata"]["tollgate_reference"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    for (reference, count) in charges.iter().chain(&sessions) {
        assert_eq!(*count, 1, "{trigger}: {reference} is at the provider {count} times");
    }
    for reference in &told.prepared {
        let answer = desk.client().get(&format!("/client/v1/payments/{reference}"));
        assert_eq!(answer.status, 200, "{trigger}: {reference} was acknowledged and is not there");
    }
    for reference in &told.paid {
        assert_eq!(desk.status(reference), "succeeded", "{trigger}: {reference}");
        assert!(charges.contains_key(reference), "{trigger}: {reference} was never charged");
    }
    check_refunds(desk, told, &rows("square", "refunds"), &rows("square", "payments"), trigger);
    check_captures(desk, world, told, trigger);
    for transaction in succeeded {
        let reference = transaction["serviceReference"].as_str().unwrap();
        assert!(charges.contains_key(reference), "{trigger}: {reference} was never charged");
    }
}

/// Every refund that was acknowledged is at the provider, and every one that is there is in the books, once.
#[track_caller]
fn check_refunds(desk: &Desk, told: &Told, refunds: &[Value], payments: &[Value], trigger: &str) {
    for (reference, is_acknowledged) in &told.refunds {
        let ours = payments.iter().find(|payment| payment["reference_id"] == reference.as_str());
        let id = &ours.unwrap()["id"];
        let count = refunds.iter().filter(|refund| refund["payment_id"] == *id).count();
        assert!(count <= 1, "{trigger}: {reference} was refunded {count} times");
        let path = format!("/client/v1/transactions/{reference}/refunds");
        let recorded = || desk.client().get(&path).data(200)["items"].as_array().unwrap().clone();
        if *is_acknowledged || !recorded().is_empty() {
            wait_until("the refund is known to have succeeded", RESOLVED_WITHIN, || {
                recorded().iter().all(|refund| refund["status"] == "succeeded")
            });
            assert_eq!(recorded().len(), 1, "{trigger}: {reference}");
        } else {
            assert_eq!(count, 0, "{trigger}: {reference} was refunded, and nobody recorded it");
        }
    }
}

/// Every capture that was acknowledged is made, and the books show what was captured.
#[track_caller]
fn check_captures(desk: &Desk, world: &BankWorld, told: &Told, trigger: &str) {
    let is_settled = |reference: &String| {
        let transaction = desk.client().get(&format!("/client/v1/transactions/{reference}")).data(200);
        transaction["pendingAction"].is_null()
    };
    wait_until("no capture is in doubt", RESOLVED_WITHIN, || told.captures.keys().all(is_settled));
    let state = world.simulator.control("GET", "state?limit=100000", &Value::Null);
    for (reference, is_acknowledged) in &told.captures {
        let transaction = desk.client().get(&format!("/client/v1/transactions/{reference}")).data(200);
        let payments = state["square"]["payments"].as_array().unwrap();
        let ours: Vec<_> = payments.iter().filter(|it| it["reference_id"] == reference.as_str()).collect();
        let [payment] = ours.as_slice() else { panic!("{trigger}: {reference} is there {ours:?}") };
        let is_captured = payment["status"] == "COMPLETED";
        assert_eq!(transaction["status"] == "succeeded", is_captured, "{trigger}: {transaction:#} {payment}");
        assert!(is_captured || !is_acknowledged, "{trigger}: {reference} was never captured");
        assert_eq!(transaction["totalDebitMinor"], payment["amount"].to_string(), "{trigger}: {reference}");
    }
}

on_each_store! { cards_survive_dying_at_every_place }
