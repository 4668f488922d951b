//! Bodies nobody would send, bent at random from real ones. Whatever comes, judging it ends in one of the four outcomes
//! its status allows, and reading an event in a notice or in `UnreadableEvent`; never in a panic.
//!
//! `TOLLGATE_TEST_SEED` repeats a run from the seed it printed.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};
use tollgate_domain::Timestamp;
use tollgate_engine::ports::{CallError, InboundWebhook, RejectionKind};

use super::{
    call::{interpret, interpret_creation},
    rail::Rail,
    types::{Balance, List, RoutingNumber},
    webhook,
};
use tollgate_http::Answer;

const ROUNDS: usize = 20_000;
const STATUSES: [u16; 18] =
    [200, 200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 408, 409, 409, 422, 429, 500, 503];

fn bodies() -> Vec<Value> {
    let ach = json!({
        "id": "ach_transfer_1", "status": "submitted", "amount": 2000, "idempotency_key": "ach_1",
        "settlement": { "settled_at": "2026-11-03T13:30:00Z" },
        "return": { "raw_return_reason_code": "R03", "return_reason_code": "no_account" },
        "submission": { "effective_date": "2026-11-02", "expected_funds_settlement_at": "2026-11-03T13:30:00Z" },
        "notifications_of_change": [{
            "change_code": "incorrect_account_number", "corrected_account_number": "000123456789",
            "corrected_routing_number": "021000021", "corrected_individual_id": "x",
            "corrected_account_funding": "savings", "created_at": "2026-11-03T13:30:00Z",
        }],
    });
    let real_time = json!({
        "id": "real_time_payments_transfer_1", "status": "rejected", "amount": 2000, "idempotency_key": null,
        "rejection": { "reject_reason_code": "account_closed" },
    });
    let used = json!({
        "type": "idempotency_key_already_used_error", "title": "", "detail": "used", "status": 409,
        "resource_id": "ach_transfer_1",
    });
    let invalid = json!({
        "type": "invalid_parameters_error", "title": "", "detail": "account 000123456789", "status": 400,
        "errors": [{ "field": "routing_number", "message": "021000021" }], "retry_after": 3,
    });
    let event = json!({
        "id": "event_1", "category": "ach_transfer.updated", "associated_object_id": "ach_transfer_1",
        "associated_object_type": "ach_transfer", "created_at": "2026-11-03T13:30:00Z", "type": "event",
    });
    let bank = json!({ "routing_number": "021000021", "real_time_payments_transfers": "supported" });
    vec![
        json!({ "data": [ach, ach], "next_cursor": null }),
        json!({ "data": [real_time], "next_cursor": "x" }),
        json!({ "data": [bank], "next_cursor": null }),
        json!({ "available_balance": -5, "current_balance": 5 }),
        ach,
        real_time,
        used,
        invalid,
        event,
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
        json!("returned"),
        json!("rejected"),
        json!("R99"),
        json!("9999-12-31T23:59:59Z"),
        json!("-9999-01-01T00:00:00Z"),
        json!("\u{0}\u{202e}🦀０２１０００"),
        json!([]),
        json!({}),
        json!([[{ "id": {} }]]),
    ];
    odd.choose(random).unwrap().clone()
}

/// Changes one thing somewhere inside.
fn bend(value: &mut Value, random: &mut StdRng) {
    if random.random_ratio(1, 5) {
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

/// What the status alone allows: a good one is no refusal, a provider's failure leaves open what was done, and only a
/// refusal says that nothing was.
fn check<T>(status: StatusCode, outcome: &Result<T, CallError>, seed: u64) {
    let allowed = match outcome {
        Ok(_) => status.is_success() || status == StatusCode::CONFLICT,
        Err(CallError::Rejected(rejection)) if status == StatusCode::CONFLICT => {
            matches!(rejection.kind, RejectionKind::Funds | RejectionKind::State)
        }
        Err(CallError::Rejected(_)) => {
            status.is_client_error()
                && ![StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS].contains(&status)
        }
        Err(CallError::Unsent(_)) => status == StatusCode::TOO_MANY_REQUESTS,
        Err(CallError::Unknown(_)) => status != StatusCode::TOO_MANY_REQUESTS,
    };
    let told = outcome.as_ref().err();
    assert!(allowed, "seed {seed}: {status} came to {told:?}");
    if let Some(error) = told {
        let told = format!("{error:?}");
        assert!(!told.contains("123456789") && !told.contains("021000021"), "seed {seed}: {told}");
    }
}

#[test]
fn no_body_breaks_the_readers() {
    let seed = std::env::var("TOLLGATE_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(rand::random);
    println!("TOLLGATE_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let originals = bodies();
    let (mut read, mut unreadable, mut told) = (0, 0, 0);
    for _ in 0..ROUNDS {
        let mut body = originals.choose(&mut random).unwrap().clone();
        for _ in 0..random.random_range(0..4) {
            bend(&mut body, &mut random);
        }
        let mut bytes = body.to_string().into_bytes();
        if random.random_ratio(1, 4) {
            scratch(&mut bytes, &mut random);
        }
        let status = StatusCode::from_u16(*STATUSES.choose(&mut random).unwrap()).unwrap();
        let answer = Answer { status, headers: HeaderMap::new(), body: Bytes::from(bytes.clone()) };
        for rail in [Rail::Ach, Rail::RealTime] {
            let made = interpret_creation(&answer, |body| rail.report(body)).outcome;
            check(status, &made, seed);
            check(status, &interpret(&answer, |body| rail.reports(body)).outcome, seed);
            if made.is_ok() { read += 1 } else { unreadable += 1 }
        }
        let banks = interpret(&answer, |body| serde_json::from_slice::<List<RoutingNumber>>(body));
        check(status, &banks.outcome, seed);
        check(status, &interpret(&answer, |body| serde_json::from_slice::<Balance>(body)).outcome, seed);

        told += usize::from(webhook::translate(&bytes).is_ok());
        let mut signature = b"v1,AAAA v1,dfAoWv9uNuQ+g6TjK476pvEV3k3lj7+c7hPOA+gWlWM=".to_vec();
        scratch(&mut signature, &mut random);
        let mut at = b"1767225600".to_vec();
        scratch(&mut at, &mut random);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = [
            ("webhook-id".to_owned(), "event_1".to_owned()),
            ("webhook-timestamp".to_owned(), text(&at)),
            ("webhook-signature".to_owned(), text(&signature)),
        ];
        let inbound = InboundWebhook { url: "", headers: &headers, body: &bytes };
        let now = Timestamp::from_unix_millis(1_767_225_600_000);
        assert!(webhook::verify(Some("secret"), inbound, now).is_err(), "seed {seed}");
    }
    let some = ROUNDS / 50;
    assert!(read > some && unreadable > some && told > some, "{read} read, {unreadable} not, {told} told");
}
