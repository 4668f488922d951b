//! The Modern Treasury API: keys and what they are worth, orders that end by themselves, webhooks.

use serde_json::{Value, json};
use tollgate_simulator::{Config, Wire, modern_treasury_signature};

use crate::support::{Inbox, MODERN_TREASURY_SECRET, Reply, Running, start, start_with};

const KEY: &str = "modern_treasury_simulator_key";

fn order(external_id: &str, account_number: &str) -> Value {
    json!({
        "type": "ach", "amount": 1_999, "direction": "credit", "external_id": external_id,
        "originating_account_id": "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a01",
        "receiving_account": {
            "party_name": "Ada Example",
            "account_details": [{ "account_number": account_number }],
            "routing_details": [{ "routing_number": "110000000", "routing_number_type": "aba" }],
        },
    })
}

async fn call(running: &Running, method: &str, path: &str, key: &str, body: Value) -> Reply {
    let pair = data_encoding::BASE64.encode(format!("organization_simulator:{KEY}").as_bytes());
    let basic = format!("Basic {pair}");
    let mut headers = vec![("authorization", basic.as_str()), ("content-type", "application/json")];
    if !key.is_empty() {
        headers.push(("idempotency-key", key));
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    running.try_send(method, &format!("/modern_treasury/api/{path}"), &headers, body).await.unwrap()
}

async fn create(running: &Running, key: &str, external_id: &str) -> Reply {
    call(running, "POST", "payment_orders", key, order(external_id, "000123456789")).await
}

#[tokio::test]
async fn a_key_keeps_a_success_for_a_day_whatever_is_asked() {
    let running = start().await;
    // A refusal is not kept.
    call(&running, "POST", "payment_orders", "key", json!({ "type": "ach" })).await.expect(422);
    let first = create(&running, "key", "one").await.expect(201);
    assert_eq!(create(&running, "key", "two").await.expect(201), first);
    // Not even the route counts.
    let reversals = format!("payment_orders/{}/reversals", first["id"].as_str().unwrap());
    assert_eq!(call(&running, "POST", &reversals, "key", json!({})).await.expect(201), first);
    let clock = async |hours: i64| {
        running.control("POST", "clock", json!({ "skew_seconds": hours * 3_600 })).await;
    };
    clock(23).await;
    assert_eq!(create(&running, "key", "one").await.expect(201), first);
    // Forgotten: the same request would make another order, if it did not name one that is there.
    clock(25).await;
    let taken = create(&running, "key", "one").await.expect(422);
    assert_eq!(
        (&taken["errors"]["code"], &taken["errors"]["parameter"]),
        (&json!("parameter_invalid"), &json!("external_id"))
    );
    assert_ne!(create(&running, "key", "two").await.expect(201)["id"], first["id"]);
    let found = call(&running, "GET", "payment_orders?external_id=one", "", Value::Null).await.expect(200);
    assert_eq!(found, json!([first]));
}

#[tokio::test]
async fn a_key_in_flight_is_a_conflict() {
    let running = start().await;
    running
        .fault(json!({ "wire": "modern_treasury", "operation": "payment_orders.create", "fault": "slow", "delay_ms": 5_000 }))
        .await;
    let (slow, fast) = tokio::join!(create(&running, "key", "one"), async {
        running.wait_call("modern_treasury.payment_orders.create").await;
        create(&running, "key", "one").await
    });
    assert_eq!(fast.expect(409)["errors"]["code"], "conflict");
    assert_eq!(create(&running, "key", "one").await.expect(201), slow.expect(201));
}

#[tokio::test]
async fn orders_end_by_themselves_as_in_the_sandbox_and_say_so() {
    let running = start_with(Config { ach_settles_after_ms: Some(20), ..Config::default() }).await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::ModernTreasury).await;
    for (account, events, status) in [
        ("000123456789", vec!["created", "begin_processing", "finish_processing", "completed"], "completed"),
        (
            "10003",
            vec!["created", "begin_processing", "finish_processing", "created", "returned"],
            "returned",
        ),
        ("1111111110", vec!["created", "failed"], "failed"),
    ] {
        let before = inbox.received().len();
        let made = call(&running, "POST", "payment_orders", "", order(account, account)).await.expect(201);
        let received = inbox.wait(before + events.len()).await;
        let received = &received[before..];
        let told: Vec<_> = received.iter().map(|one| one.json["event"].as_str().unwrap()).collect();
        assert_eq!(told, events, "{account}");
        for one in received {
            let header = |name: &str| one.headers[name].to_str().unwrap();
            assert_eq!(header("x-signature"), modern_treasury_signature(MODERN_TREASURY_SECRET, &one.body));
            assert_eq!(one.json["data"]["object"], header("x-topic"));
            assert!(!header("x-webhook-id").is_empty());
        }
        let path = format!("payment_orders/{}", made["id"].as_str().unwrap());
        let now = call(&running, "GET", &path, "", Value::Null).await.expect(200);
        assert_eq!(now["status"], status);
        assert_eq!(
            now["current_return"]["code"],
            if status == "returned" { json!("R03") } else { Value::Null }
        );
    }
}

/// A signature the provider's own library made and accepted.
#[test]
fn the_signature_matches_the_official_library() {
    let body = r#"{"event":"completed","data":{"id":"f62fd6a0-0000-4000-8000-000000000001","object":"payment_order","status":"completed"}}"#;
    assert_eq!(
        modern_treasury_signature("mt_test_webhook_key", body),
        "a402780d954bc06e9a77a37037c1208404a6c3498474d93c9d23a32060553fad"
    );
}

#[tokio::test]
async fn an_account_originates_what_its_capabilities_say() {
    const ACH_ONLY: &str = "00000000-0000-4000-8000-00000000ac40";
    let running = start().await;
    let paying = Config::default().modern_treasury.account_id;
    for (account, expected, status) in [
        (paying.as_str(), json!(["ach credit", "ach debit", "rtp credit"]), 201),
        (ACH_ONLY, json!(["ach credit", "ach debit"]), 422),
    ] {
        let path = format!("internal_accounts/{account}");
        let found = call(&running, "GET", &path, "", Value::Null).await.expect(200);
        let capabilities = found["account_capabilities"].as_array().unwrap().iter();
        let told = capabilities.map(|one| {
            format!("{} {}", one["payment_type"].as_str().unwrap(), one["direction"].as_str().unwrap())
        });
        assert_eq!(told.collect::<Value>(), expected);
        let mut instant = order(&format!("rtp of {account}"), "123456789");
        (instant["type"], instant["originating_account_id"]) = (json!("rtp"), json!(account));
        instant.as_object_mut().unwrap().remove("subtype");
        let made = call(&running, "POST", "payment_orders", "", instant).await.expect(status);
        if status == 422 {
            assert_eq!(made["errors"]["parameter"], "type");
        }
    }
}
