//! Bodies nobody would send: bent at random from real ones. Whatever comes, reading it ends in a notice or in
//! `UnreadableEvent`, never in a panic.
//!
//! `TOLLGATE_TEST_SEED` repeats a run from the seed it printed.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_engine::ports::{Adapters as _, InboundWebhook, Webhooks};
use tollgate_providers::{ProviderSettings, Providers};

use crate::offered::OneEvent as _;
use crate::support::{now, square_at, stripe_at};

const ROUNDS: usize = 40_000;

fn bodies() -> Vec<Value> {
    let stripe = |kind: &str, object: Value| json!({ "id": "evt_1", "object": "event", "type": kind, "data": { "object": object } });
    let square = |kind: &str, object: Value| json!({ "event_id": "e1", "type": kind, "merchant_id": "m", "data": { "id": "d", "object": object } });
    let money = json!({ "amount": 2000, "currency": "USD" });
    vec![
        stripe(
            "payment_intent.succeeded",
            json!({ "id": "pi_1", "amount": 2000, "currency": "usd", "metadata": { "tollgate_reference": "pay_1" } }),
        ),
        stripe(
            "checkout.session.completed",
            json!({ "id": "cs_1", "amount_total": 2000, "payment_intent": "pi_1", "client_reference_id": "pay_1" }),
        ),
        stripe(
            "charge.dispute.created",
            json!({ "id": "dp_1", "amount": 7, "charge": { "id": "ch_1" }, "status": "lost", "reason": "fraud" }),
        ),
        square(
            "payment.updated",
            json!({ "payment": { "id": "p1", "order_id": "o1", "amount_money": money, "reference_id": "r" } }),
        ),
        square("refund.updated", json!({ "refund": { "payment_id": "p1", "order_id": "o1" } })),
        square(
            "dispute.created",
            json!({ "dispute": { "state": "WON", "amount_money": money, "disputed_payment": { "payment_id": "p" } } }),
        ),
    ]
}

fn anything(random: &mut StdRng) -> Value {
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1.5e300),
        json!(""),
        json!("pi_1"),
        json!("\u{0}\u{202e}🦀"),
        json!([]),
        json!({}),
        json!([[{ "id": {} }]]),
        json!({ "id": "x", "payment_id": [], "tollgate_reference": 7 }),
    ];
    odd.choose(random).unwrap().clone()
}

/// Changes one thing somewhere inside.
fn bend(value: &mut Value, random: &mut StdRng) {
    if random.random_ratio(1, 4) {
        *value = anything(random);
        return;
    }
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let names: Vec<_> = fields.keys().cloned().collect();
            let name = names.choose(random).unwrap();
            match random.random_range(0..6) {
                0 => drop(fields.remove(name)),
                1 => drop(fields.insert("more".to_owned(), anything(random))),
                _ => bend(&mut fields[name.as_str()], random),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let index = random.random_range(0..items.len());
            bend(&mut items[index], random);
        }
        other => *other = anything(random),
    }
}

/// Changes bytes without regard for what they mean.
fn scratch(bytes: &mut Vec<u8>, random: &mut StdRng) {
    for _ in 0..random.random_range(1..4) {
        if bytes.is_empty() {
            return;
        }
        let index = random.random_range(0..bytes.len());
        match random.random_range(0..3) {
            0 => bytes[index] = random.random(),
            1 => bytes.truncate(index),
            _ => bytes.insert(index, *b"{}[]\",:0\\".choose(random).unwrap()),
        }
    }
}

#[test]
fn no_body_breaks_the_readers() {
    let seed = std::env::var("TOLLGATE_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(rand::random);
    println!("TOLLGATE_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let providers = Providers::new(ProviderSettings::default()).unwrap();
    let readers: Vec<&dyn Webhooks> = [Adapter::Stripe, Adapter::Square]
        .map(|adapter| providers.capabilities(adapter).webhooks.unwrap())
        .to_vec();
    let configured = [stripe_at("http://127.0.0.1:1"), square_at("http://127.0.0.1:1")];
    let originals = bodies();
    let (mut read, mut unreadable) = (0, 0);
    for _ in 0..ROUNDS {
        let mut body = originals.choose(&mut random).unwrap().clone();
        for _ in 0..random.random_range(0..4) {
            bend(&mut body, &mut random);
        }
        let mut bytes = body.to_string().into_bytes();
        if random.random_ratio(1, 3) {
            scratch(&mut bytes, &mut random);
        }
        let mut header = b"t=1767225600,v1=8ed92286,v1=zz".to_vec();
        scratch(&mut header, &mut random);
        let header = String::from_utf8_lossy(&header).into_owned();
        let names = ["stripe-signature", "x-square-hmacsha256-signature"];
        for ((reader, provider), name) in readers.iter().zip(&configured).zip(names) {
            match reader.translate_one(&bytes) {
                Ok(_) => read += 1,
                Err(_) => unreadable += 1,
            }
            let headers = [(name.to_owned(), header.clone())];
            let delivery = InboundWebhook { url: "https://x.test/", headers: &headers, body: &bytes };
            assert!(reader.verify(provider, delivery, now()).is_err(), "seed {seed}");
        }
    }
    assert!(read > ROUNDS / 10 && unreadable > ROUNDS / 10, "{read} read, {unreadable} unreadable");
}
