//! The Adyen API: what is answered, what only webhooks tell, and what a key keeps.

use serde_json::{Value, json};
use tollgate_simulator::{Config, Wire, adyen_signature};

use crate::support::{ADYEN_SECRET, Inbox, Reply, Running, start, start_with};

const MERCHANT: &str = "TollgateTestECOM";

pub(crate) async fn call(running: &Running, method: &str, path: &str, key: &str, body: Value) -> Reply {
    let mut headers = vec![("x-api-key", "adyen_simulator_key"), ("content-type", "application/json")];
    if !key.is_empty() {
        headers.push(("idempotency-key", key));
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    running.try_send(method, &format!("/adyen/{path}"), &headers, body).await.unwrap()
}

pub(crate) fn session(reference: &str, more: &Value) -> Value {
    let mut body = json!({
        "merchantAccount": MERCHANT, "amount": { "value": 1_999, "currency": "USD" }, "reference": reference,
        "returnUrl": "https://shop.example.test/done", "countryCode": "US", "captureDelayHours": 0,
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

pub(crate) fn item(received: &Value) -> Value {
    received["notificationItems"][0]["NotificationRequestItem"].clone()
}

/// A payment on a session, as the control interface pays it.
async fn paid(running: &Running, reference: &str, more: Value) -> String {
    let made = call(running, "POST", "v72/sessions", "", session(reference, &more)).await.expect(201);
    let pay = format!("adyen/sessions/{}/pay", made["id"].as_str().unwrap());
    running.control("POST", &pay, json!({})).await["id"].as_str().unwrap().to_owned()
}

async fn modify(running: &Running, payment: &str, what: &str, body: Value) -> Value {
    let mut body = body;
    body["merchantAccount"] = MERCHANT.into();
    call(running, "POST", &format!("v72/payments/{payment}/{what}"), "", body).await.expect(201)
}

fn usd(value: i64) -> Value {
    json!({ "amount": { "value": value, "currency": "USD" }, "reference": format!("ref-{value}") })
}

/// Event code, success, amount and merchant reference of everything received.
fn told(inbox: &Inbox) -> Vec<(String, String, i64, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one = |received: &Value| {
        let item = item(received);
        let value = item["amount"]["value"].as_i64().unwrap();
        (text(&item["eventCode"]), text(&item["success"]), value, text(&item["merchantReference"]))
    };
    inbox.received().iter().map(|received| one(&received.json)).collect()
}

fn told_of(events: &[(&str, bool, i64, &str)]) -> Vec<(String, String, i64, String)> {
    let own = |(code, success, value, reference): &(&str, bool, i64, &str)| {
        ((*code).to_owned(), success.to_string(), *value, (*reference).to_owned())
    };
    events.iter().map(own).collect()
}

#[tokio::test]
async fn only_signed_webhooks_tell_what_became_of_a_request() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    let payment = paid(&running, "held", json!({ "additionalData": { "manualCapture": "true" } })).await;
    // There is no call that reads a payment.
    call(&running, "GET", &format!("v72/payments/{payment}"), "", Value::Null).await.expect(404);
    let early = modify(&running, &payment, "refunds", usd(5)).await;
    let part = modify(&running, &payment, "captures", usd(1_500)).await;
    let rest = modify(&running, &payment, "captures", usd(499)).await;
    modify(&running, &payment, "cancels", json!({ "reference": "void" })).await;
    modify(&running, &payment, "refunds", usd(1_000)).await;
    modify(&running, &payment, "refunds", usd(501)).await;
    for answer in [&early, &part, &rest] {
        assert_eq!(
            (&answer["status"], &answer["paymentPspReference"]),
            (&json!("received"), &json!(payment)),
            "whatever comes of it"
        );
    }
    let received = inbox.wait(7).await;
    assert_eq!(
        told(&inbox),
        told_of(&[
            ("AUTHORISATION", true, 1_999, "held"),
            ("REFUND", false, 5, "ref-5"),
            ("CAPTURE", true, 1_500, "ref-1500"),
            // A partial capture releases the rest.
            ("CAPTURE", false, 499, "ref-499"),
            ("CANCELLATION", false, 1_999, "void"),
            ("REFUND", true, 1_000, "ref-1000"),
            ("REFUND", false, 501, "ref-501"),
        ])
    );
    for received in &received {
        let item = item(&received.json);
        assert_eq!(item["additionalData"]["hmacSignature"], adyen_signature(ADYEN_SECRET, &item));
        assert_eq!(item["merchantAccountCode"], MERCHANT);
        let original = item.get("originalReference").and_then(Value::as_str).unwrap_or(&payment);
        assert_eq!(original, payment);
    }
    let state = running.state().await;
    let row = &state["adyen"]["payments"][0];
    assert_eq!((&row["captured"], &row["refunded"]), (&json!(1_500), &json!(1_000)));
    modify(&running, &payment, "captures", usd(5)).await;
    call(&running, "POST", "v72/payments/NOBODY/captures", "", session("x", &json!({}))).await.expect(422);
}

#[tokio::test]
async fn an_account_that_captures_by_hand_is_told_otherwise_by_the_payment() {
    for (more, captured) in [
        (json!({}), 1_999),
        (json!({ "captureDelayHours": null }), 0),
        (json!({ "additionalData": { "manualCapture": "true" } }), 0),
    ] {
        let running = start().await;
        let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
        let payment = paid(&running, "one", more.clone()).await;
        let row = running.state().await["adyen"]["payments"][0].clone();
        assert_eq!(row["captured"], captured, "{more}");
        // An automatic capture is not told of.
        modify(&running, &payment, "reversals", json!({ "reference": "back" })).await;
        let received = inbox.wait(2).await;
        let item = item(&received[1].json);
        let action = if captured > 0 { "refund" } else { "cancel" };
        assert_eq!(
            (&item["eventCode"], &item["additionalData"]["modification.action"]),
            (&json!("CANCEL_OR_REFUND"), &json!(action))
        );
    }
}

#[tokio::test]
async fn a_key_repeats_its_first_answer_whatever_is_asked() {
    let running = start().await;
    let create = async |key: &str, reference: &str| {
        call(&running, "POST", "v72/sessions", key, session(reference, &json!({}))).await
    };
    let first = create("key", "one").await;
    let (again, other) = (create("key", "one").await, create("key", "two").await);
    assert_eq!(first.header("idempotency-key"), Some("key"));
    assert_eq!(first.header("pspreference").unwrap().len(), 16);
    assert_eq!(first.header("pspreference"), other.header("pspreference"));
    let first = first.expect(201);
    assert_eq!((again.expect(201), other.expect(201)), (first.clone(), first));
    create(&"x".repeat(65), "one").await.expect(422);
    // So is a refusal of what was asked.
    create("wrong", "").await.expect(422);
    assert_eq!(create("wrong", "three").await.expect(422)["errorCode"], "130");
}

#[tokio::test]
async fn a_key_in_flight_is_704_and_a_transient_error_leaves_the_key_free() {
    let running = start().await;
    let fault = |fault: &str, more: Value| {
        let mut body = json!({ "wire": "adyen", "operation": "sessions.create", "fault": fault });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let create =
        async |key: &str| call(&running, "POST", "v72/sessions", key, session(key, &json!({}))).await;
    running.fault(fault("slow", json!({ "delay_ms": 5_000 }))).await;
    let (slow, fast) = tokio::join!(create("key"), async {
        running.wait_call("adyen.sessions.create").await;
        create("key").await
    });
    assert_eq!(fast.expect(422)["errorCode"], "704");
    assert_eq!(create("key").await.expect(201), slow.expect(201));
    running.fault(fault("refuse", json!({ "code": "703" }))).await;
    let refused = create("free").await;
    assert_eq!(refused.header("transient-error"), Some("true"));
    assert_eq!(refused.expect(503)["errorCode"], "703");
    create("free").await.expect(201);
}

#[tokio::test]
async fn a_lost_connection_behind_the_provider_is_the_keys_answer_although_the_money_moved() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    let payment = paid(&running, "order", json!({})).await;
    running
        .fault(json!({ "wire": "adyen", "operation": "refunds.create", "fault": "error_kept_after" }))
        .await;
    let body = json!({ "merchantAccount": MERCHANT, "amount": { "value": 500, "currency": "USD" },
        "reference": "re_1" });
    let path = format!("v72/payments/{payment}/refunds");
    for _ in 0..2 {
        let answer = call(&running, "POST", &path, "refund-1", body.clone()).await;
        assert_eq!(answer.header("transient-error"), None);
        answer.expect(500);
    }
    inbox.wait(2).await;
    assert_eq!(told(&inbox)[1..], told_of(&[("REFUND", true, 500, "re_1")]));
    // The same, as a server asks the test platform for it.
    let pay = |code: &str| {
        json!({
            "merchantAccount": MERCHANT, "amount": { "value": 1_999, "currency": "USD" }, "reference": "direct",
            "returnUrl": "https://shop.example.test/done", "captureDelayHours": 0,
            "additionalData": { "RequestedTestErrorResponseCode": code },
            "paymentMethod": { "type": "scheme", "encryptedCardNumber": "test_4111111111111111",
                "encryptedExpiryMonth": "test_03", "encryptedExpiryYear": "test_2030",
                "encryptedSecurityCode": "test_737" },
        })
    };
    let lost = pay("NO_CONNECTION_AVAILABLE");
    let transient = call(&running, "POST", "v72/payments", "pay", lost).await;
    assert_eq!(transient.header("transient-error"), Some("true"));
    for _ in 0..2 {
        let lost = pay("IOEXCEPTION_RECEIVED");
        call(&running, "POST", "v72/payments", "pay", lost).await.expect(500);
    }
    inbox.wait(3).await;
    assert_eq!(told(&inbox)[2..], told_of(&[("AUTHORISATION", true, 1_999, "direct")]));
}

#[tokio::test]
async fn what_a_reference_names_is_canceled_and_a_made_up_one_is_no_error() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    let payment = paid(&running, "held", json!({ "additionalData": { "manualCapture": "true" } })).await;
    for reference in ["nobody's", "held"] {
        let body = json!({ "merchantAccount": MERCHANT, "paymentReference": reference });
        let answer = call(&running, "POST", "v72/cancels", "", body).await.expect(201);
        assert_eq!(answer["status"], "received");
    }
    let received = inbox.wait(2).await;
    assert_eq!(told(&inbox)[1..], told_of(&[("TECHNICAL_CANCEL", true, 1_999, "held")]));
    assert_eq!(item(&received[1].json)["originalReference"], payment.as_str());
}

#[tokio::test]
async fn captures_and_refunds_fail_later_and_are_repaired() {
    let running = start_with(Config { adyen_modifications_settle: false, ..Config::default() }).await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    let payment = paid(&running, "held", json!({ "additionalData": { "manualCapture": "true" } })).await;
    let capture = modify(&running, &payment, "captures", usd(1_999)).await;
    inbox.wait(1).await;
    let drive = async |id: &Value, action: &str| {
        let path = format!("adyen/modifications/{}/{action}", id.as_str().unwrap());
        running.control("POST", &path, json!({})).await
    };
    for action in ["settle", "fail", "repair"] {
        drive(&capture["pspReference"], action).await;
    }
    let refund = modify(&running, &payment, "refunds", usd(700)).await;
    let refused = modify(&running, &payment, "refunds", usd(600)).await;
    drive(&refused["pspReference"], "refuse").await;
    drive(&refund["pspReference"], "settle").await;
    drive(&refund["pspReference"], "fail").await;
    inbox.wait(7).await;
    assert_eq!(
        told(&inbox)[1..],
        told_of(&[
            ("CAPTURE", true, 1_999, "ref-1999"),
            ("CAPTURE_FAILED", true, 1_999, "ref-1999"),
            ("CAPTURE", true, 1_999, "ref-1999"),
            ("REFUND", false, 600, "ref-600"),
            ("REFUND", true, 700, "ref-700"),
            ("REFUND_FAILED", true, 700, "ref-700"),
        ])
    );
    let row = running.state().await["adyen"]["payments"][0].clone();
    assert_eq!((&row["captured"], &row["refunded"]), (&json!(1_999), &json!(0)));
}

#[tokio::test]
async fn a_dispute_keeps_its_reference_for_its_whole_life() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    let payment = paid(&running, "order", json!({})).await;
    let opened = running.control("POST", &format!("adyen/payments/{payment}/dispute"), json!({})).await;
    let id = opened["id"].as_str().unwrap().to_owned();
    for event in ["INFORMATION_SUPPLIED", "CHARGEBACK_REVERSED", "PREARBITRATION_OPEN", "PREARBITRATION_LOST"]
    {
        let path = format!("adyen/disputes/{id}/report");
        running.control("POST", &path, json!({ "event": event })).await;
    }
    let received = inbox.wait(7).await;
    let life: Vec<_> = received[1..].iter().map(|received| item(&received.json)).collect();
    let codes: Vec<_> = life.iter().map(|item| item["eventCode"].as_str().unwrap()).collect();
    assert_eq!(
        codes,
        [
            "NOTIFICATION_OF_CHARGEBACK",
            "CHARGEBACK",
            "INFORMATION_SUPPLIED",
            "CHARGEBACK_REVERSED",
            "PREARBITRATION_OPEN",
            "PREARBITRATION_LOST"
        ]
    );
    for item in &life {
        assert_eq!((&item["pspReference"], &item["originalReference"]), (&json!(id), &json!(payment)));
    }
    assert_eq!(life[5]["additionalData"]["disputeStatus"], "Lost");
    let late = json!({ "event": "CHARGEBACK" }).to_string();
    let late = running.try_send("POST", &format!("/control/adyen/disputes/{id}/report"), &[], late).await;
    late.unwrap().expect(422);
}

#[tokio::test]
async fn what_nobody_pays_or_captures_ends_at_its_time() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    call(&running, "POST", "v72/sessions", "", session("nobody", &json!({}))).await.expect(201);
    let link = json!({ "merchantAccount": MERCHANT, "reference": "link",
        "amount": { "value": 5, "currency": "USD" } });
    let link = call(&running, "POST", "v72/paymentLinks", "", link).await.expect(201);
    paid(&running, "held", json!({ "additionalData": { "manualCapture": "true" } })).await;
    running.control("POST", "clock", json!({ "skew_seconds": 29 * 86_400 })).await;
    let received = inbox.wait(3).await;
    let mut codes: Vec<_> = received
        .iter()
        .map(|received| item(&received.json)["eventCode"].as_str().unwrap().to_owned())
        .collect();
    codes.sort();
    assert_eq!(codes, ["AUTHORISATION", "EXPIRE", "OFFER_CLOSED"]);
    let path = format!("v72/paymentLinks/{}", link["id"].as_str().unwrap());
    assert_eq!(call(&running, "GET", &path, "", Value::Null).await.expect(200)["status"], "expired");
    // The page of a link that has ended is closed.
    assert_eq!(running.open(link["url"].as_str().unwrap()).await.status, 410);
}

#[tokio::test]
async fn a_failed_delivery_holds_up_those_behind_it_and_no_other_endpoint() {
    let running = start_with(Config { webhook_backoff_ms: 200, ..Config::default() }).await;
    let (slow, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    let (other, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    slow.refuse(2);
    for reference in ["one", "two", "three"] {
        paid(&running, reference, json!({})).await;
    }
    other.wait(3).await;
    let received = slow.wait(5).await;
    let references: Vec<_> = received
        .iter()
        .map(|received| item(&received.json)["merchantReference"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(references, ["one", "one", "one", "two", "three"]);
}
