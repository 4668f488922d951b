//! Faults asked for by call: what the caller sees, and what was really done.

use serde_json::{Value, json};

use crate::support::{Running, ach_push, start};

const PAID: &str = "amount=1999&currency=usd&confirm=true&payment_method=pm_card_visa";

/// How many charges or transfers the provider has accepted.
async fn charges(running: &Running, wire: &str) -> i64 {
    let counts = &running.state().await[wire]["counts"];
    ["charges_succeeded", "payments_charged", "ach_transfers"]
        .iter()
        .find_map(|name| counts[name].as_i64())
        .unwrap()
}

#[derive(Debug, PartialEq)]
enum Seen {
    Status(u16),
    NotJson,
    NoAnswer,
    StrangeStatus,
}

fn seen(reply: Result<crate::support::Reply, String>) -> Seen {
    let Ok(reply) = reply else { return Seen::NoAnswer };
    match serde_json::from_str::<Value>(&reply.text) {
        Err(_) => Seen::NotJson,
        Ok(body) if body.to_string().contains("a_status_from_the_future") => Seen::StrangeStatus,
        Ok(_) => Seen::Status(reply.status.as_u16()),
    }
}

/// The fault, what the caller sees, and whether the payment was made all the same.
const CASES: [(&str, Seen, bool); 11] = [
    ("timeout_before", Seen::NoAnswer, false),
    ("timeout_after", Seen::NoAnswer, true),
    ("error_before", Seen::Status(503), false),
    ("error_after", Seen::Status(503), true),
    ("refuse", Seen::Status(400), false),
    ("reset", Seen::NoAnswer, false),
    ("slow", Seen::Status(200), true),
    ("malformed", Seen::NotJson, true),
    ("torn", Seen::NoAnswer, true),
    ("rate_limited", Seen::Status(429), false),
    ("unknown_status", Seen::StrangeStatus, true),
];

fn fault(wire: &str, operation: &str, kind: &str) -> Value {
    json!({ "wire": wire, "operation": operation, "fault": kind, "delay_ms": 100, "status": 503 })
}

#[tokio::test]
async fn stripe_faults_and_the_retry_that_finds_out() {
    let running = start().await;
    for (kind, expected, done) in CASES {
        running.control("POST", "reset", Value::Null).await;
        running.fault(fault("stripe", "payment_intents.create", kind)).await;
        let struck = running.try_stripe("POST", "payment_intents", PAID, "key").await;
        assert_eq!(seen(struck), expected, "{kind}");
        assert_eq!(charges(&running, "stripe").await, i64::from(done), "{kind}");
        let retried = running.try_stripe("POST", "payment_intents", PAID, "key").await.unwrap();
        assert_eq!(retried.expect(200)["status"], "succeeded", "{kind}");
        assert_eq!(retried.header("idempotent-replayed").is_some(), done, "{kind}");
        assert_eq!(charges(&running, "stripe").await, 1, "{kind}");
    }
}

/// Once a request was begun, its key keeps whatever was answered, server errors as well.
#[tokio::test]
async fn stripe_keeps_a_server_error_for_its_key() {
    let running = start().await;
    for (kind, done) in [("error_kept", false), ("error_kept_after", true)] {
        running.control("POST", "reset", Value::Null).await;
        running.fault(fault("stripe", "payment_intents.create", kind)).await;
        for replayed in [None, Some("true"), Some("true")] {
            let struck = running.try_stripe("POST", "payment_intents", PAID, "key").await.unwrap();
            assert_eq!(
                (struck.status.as_u16(), struck.header("idempotent-replayed")),
                (503, replayed),
                "{kind}"
            );
            assert_eq!(charges(&running, "stripe").await, i64::from(done), "{kind}");
        }
        running.try_stripe("POST", "payment_intents", PAID, "another").await.unwrap().expect(200);
    }
}

#[tokio::test]
async fn square_faults_and_the_retry_that_finds_out() {
    let running = start().await;
    let money = json!({ "amount": 1999, "currency": "USD" });
    let body = json!({ "idempotency_key": "key", "source_id": "cnon:card-nonce-ok", "amount_money": money });
    for (kind, expected, done) in CASES {
        running.control("POST", "reset", Value::Null).await;
        running.fault(fault("square", "*", kind)).await;
        let struck = running.try_square("POST", "payments", &body).await;
        assert_eq!(seen(struck), expected, "{kind}");
        assert_eq!(charges(&running, "square").await, i64::from(done), "{kind}");
        let retried = running.try_square("POST", "payments", &body).await.unwrap();
        assert_eq!(retried.expect(200)["payment"]["status"], "COMPLETED", "{kind}");
        assert_eq!(charges(&running, "square").await, 1, "{kind}");
    }
}

#[tokio::test]
async fn increase_faults_and_the_retry_that_finds_out() {
    let running = start().await;
    for (kind, expected, done) in CASES {
        running.control("POST", "reset", Value::Null).await;
        running.fault(fault("increase", "ach_transfers.create", kind)).await;
        let struck = running.try_increase("POST", "ach_transfers", &ach_push(), "key").await;
        assert_eq!(seen(struck), expected, "{kind}");
        assert_eq!(charges(&running, "increase").await, i64::from(done), "{kind}");
        // Whoever lost the answer can also ask by the key.
        let found =
            running.increase("GET", "ach_transfers?idempotency_key=key", Value::Null).await.expect(200);
        assert_eq!(found["data"].as_array().unwrap().len(), usize::from(done), "{kind}");
        let retried = running.try_increase("POST", "ach_transfers", &ach_push(), "key").await.unwrap();
        assert_eq!(retried.expect(200)["status"], "pending_submission", "{kind}");
        assert_eq!(retried.header("idempotent-replayed").is_some(), done, "{kind}");
        assert_eq!(charges(&running, "increase").await, 1, "{kind}");
    }
}

#[tokio::test]
async fn increase_faults_strike_reads_too() {
    let running = start().await;
    let id = running.ach_transfer("key").await["id"].as_str().unwrap().to_owned();
    let (one, all) = (format!("ach_transfers/{id}"), "ach_transfers".to_owned());
    for (operation, path) in [("ach_transfers.retrieve", &one), ("ach_transfers.list", &all)] {
        for (kind, expected, _) in CASES {
            running.fault(fault("increase", operation, kind)).await;
            let struck = running.try_increase("GET", path, &Value::Null, "").await;
            assert_eq!(seen(struck), expected, "{operation} {kind}");
        }
    }
    let mut refused = fault("increase", "real_time_payments_transfers.create", "refuse");
    refused["code"] = json!("insufficient_permissions_error");
    running.fault(refused).await;
    let answer = running.increase("POST", "real_time_payments_transfers", json!({})).await.expect(403);
    assert_eq!(answer["type"], "insufficient_permissions_error");
}

#[tokio::test]
async fn two_calls_at_once_under_one_key() {
    let running = start().await;
    let slow = json!({ "wire": "stripe", "operation": "payment_intents.create", "fault": "slow", "delay_ms": 5_000 });
    running.fault(slow).await;
    let first = running.try_stripe("POST", "payment_intents", PAID, "key");
    let second = async {
        running.wait_call("stripe.payment_intents.create").await;
        running.try_stripe("POST", "payment_intents", PAID, "key").await
    };
    let (first, second) = tokio::join!(first, second);
    first.unwrap().expect(200);
    assert_eq!(second.unwrap().expect(409)["error"]["code"], "idempotency_key_in_use");
    assert_eq!(charges(&running, "stripe").await, 1);
}

#[tokio::test]
async fn a_fault_strikes_as_often_as_asked_and_only_where_asked() {
    let running = start().await;
    let mut twice = fault("stripe", "payment_intents.create", "error_before");
    twice["count"] = json!(2);
    running.fault(twice).await;
    running.stripe("GET", "payment_intents", "").await.expect(200);
    for status in [503, 503, 200] {
        running.stripe("POST", "payment_intents", PAID).await.expect(status);
    }
    assert_eq!(running.control("GET", "faults", Value::Null).await, json!({ "faults": [] }));
    let refused = running.try_send("POST", "/control/faults", &[], r#"{"fault":"explode"}"#.to_owned()).await;
    refused.unwrap().expect(400);
}

#[tokio::test]
async fn whoever_asks_too_often_is_told_how_long_to_wait() {
    let running = start().await;
    for (delay_ms, seconds) in [(json!(null), "2"), (json!(1), "1"), (json!(1_001), "2"), (json!(7_000), "7")]
    {
        for wire in ["stripe", "square", "increase"] {
            let fault =
                json!({ "wire": wire, "operation": "*", "fault": "rate_limited", "delay_ms": delay_ms });
            running.fault(fault).await;
        }
        let replies = [
            running.try_stripe("POST", "payment_intents", PAID, "key").await,
            running.try_square("GET", "payments", &Value::Null).await,
            running.try_increase("GET", "ach_transfers", &Value::Null, "").await,
        ];
        for reply in replies.map(Result::unwrap) {
            assert_eq!((reply.status.as_u16(), reply.header("retry-after")), (429, Some(seconds)));
        }
    }
}
