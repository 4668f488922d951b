//! Webhooks: signed, retried, bent on request.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_simulator::{Config, Wire, square_signature, stripe_signature};

use crate::support::{Inbox, SQUARE_SECRET, STRIPE_SECRET, start, start_with};

const PAID: &str = "confirm=true&payment_method=pm_card_visa";
const PAID_EVENTS: [&str; 3] = ["payment_intent.created", "charge.succeeded", "payment_intent.succeeded"];

/// Signatures the providers' own libraries made and accepted.
#[test]
fn signatures_match_the_official_libraries() {
    let body = r#"{"id":"evt_test_000001","object":"event","api_version":"2025-09-30.clover","created":1767225600,"data":{"object":{"id":"pi_test_000001","object":"payment_intent","amount":1999,"currency":"usd","status":"succeeded"}},"livemode":false,"pending_webhooks":1,"request":{"id":null,"idempotency_key":null},"type":"payment_intent.succeeded"}"#;
    assert_eq!(
        stripe_signature("whsec_test_8f0c2f6f6c1b4b6e", 1_767_225_600, body),
        "t=1767225600,v1=8ed92286698489fef9cf211c47de9928ce19d0edf8b2972bb963a6ff367ae65a"
    );
    let body = r#"{"merchant_id":"6SSW7HV8K2ST5","type":"payment.updated","event_id":"13b867cf-db3d-4b1c-90b6-2f32a9d78124","created_at":"2026-01-01T00:00:05.000Z","data":{"type":"payment","id":"hYy9pRFVxpDsO1FB05SunFWUe9JZY","object":{"payment":{"id":"hYy9pRFVxpDsO1FB05SunFWUe9JZY","status":"COMPLETED","amount_money":{"amount":1999,"currency":"USD"},"location_id":"L88917AVBK2S5","order_id":"order_1","version":4}}}}"#;
    let (key, url) = ("sq_test_signature_key_7Jk2", "https://pay.example.test/webhooks/card_provider_b");
    let signature = "PzPG4v1+IniOGh02o2px+C+xcl/kDoTrr081GroaVBw=";
    assert_eq!(square_signature(key, url, body), signature);
    assert_ne!(square_signature(key, &format!("{url}/"), body), signature);
}

#[tokio::test]
async fn stripe_events_arrive_signed_and_in_order() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Stripe).await;
    let form = format!("amount=1999&currency=usd&{PAID}");
    let intent = running.try_stripe("POST", "payment_intents", &form, "the-key").await.unwrap().expect(200);
    let received = inbox.wait(3).await;
    assert_eq!(inbox.kinds(), PAID_EVENTS);
    for one in &received {
        let header = one.headers["stripe-signature"].to_str().unwrap();
        let timestamp = header.split([',', '=']).nth(1).unwrap().parse().unwrap();
        assert_eq!(header, stripe_signature(STRIPE_SECRET, timestamp, &one.body));
        assert_eq!(one.json["request"]["idempotency_key"], "the-key");
    }
    assert_eq!(received[2].json["data"]["object"], intent);

    let id = intent["id"].as_str().unwrap();
    running.stripe("POST", "refunds", &format!("payment_intent={id}&amount=1")).await.expect(200);
    let other = running.intent("").await;
    let path = format!("payment_intents/{}/confirm", other["id"].as_str().unwrap());
    running.stripe("POST", &path, "payment_method=pm_card_chargeDeclined").await.expect(402);
    running.stripe("POST", &path.replace("confirm", "cancel"), "").await.expect(200);
    inbox.wait(9).await;
    assert_eq!(
        inbox.kinds()[3..],
        [
            "refund.created",
            "charge.refunded",
            "payment_intent.created",
            "charge.failed",
            "payment_intent.payment_failed",
            "payment_intent.canceled"
        ]
    );
}

#[tokio::test]
async fn square_events_arrive_signed_over_the_address() {
    let running = start().await;
    let (inbox, url) = Inbox::for_wire(&running, Wire::Square).await;
    let payment = running.square_payment("pay", "cnon:card-nonce-ok").await.expect(200)["payment"].clone();
    let received = inbox.wait(2).await;
    assert_eq!(inbox.kinds(), ["payment.created", "payment.updated"]);
    assert_eq!(received[0].json["data"]["object"]["payment"]["status"], "APPROVED");
    assert_eq!(received[1].json["data"]["object"]["payment"], payment);
    for one in &received {
        let signature = one.headers["x-square-hmacsha256-signature"].to_str().unwrap();
        assert_eq!(signature, square_signature(SQUARE_SECRET, &url, &one.body));
    }
    let money = json!({ "amount": 5, "currency": "USD" });
    let body = json!({ "idempotency_key": "back", "payment_id": payment["id"], "amount_money": money });
    running.square("POST", "refunds", body).await.expect(200);
    inbox.wait(5).await;
    assert_eq!(inbox.kinds()[2..], ["refund.created", "payment.updated", "refund.updated"]);
}

#[tokio::test]
async fn a_refused_delivery_is_tried_again_until_it_is_given_up() {
    let running =
        start_with(Config { webhook_backoff_ms: 20, webhook_attempts_max: 3, ..Config::default() }).await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Square).await;
    inbox.refuse(1);
    running.square_payment("declined", "cnon:card-nonce-declined").await.expect(400);
    let received = inbox.wait(2).await;
    assert_eq!(received[0].body, received[1].body);
    assert_eq!(received[1].headers["square-retry-number"], "1");
    inbox.refuse(10);
    running.square_payment("again", "cnon:card-nonce-declined").await.expect(400);
    inbox.wait(5).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(inbox.received().len(), 5);
    let tally = &running.control("GET", "webhooks", Value::Null).await["tally"];
    assert_eq!(
        (&tally["delivered"], &tally["given_up"], &tally["pending"]),
        (&json!(1), &json!(1), &json!(0))
    );
}

/// Makes a payment under a webhook fault; answers the kinds received so far and the kinds received in the end,
/// of which so many are expected.
async fn bent(kind: &str, expected: usize) -> (Vec<String>, Vec<String>) {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Stripe).await;
    running
        .fault(json!({ "wire": "stripe", "operation": "payment_intents.create", "fault": kind, "delay_ms": 5_000 }))
        .await;
    running.intent(PAID).await;
    let at_once = inbox.kinds();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let soon = inbox.kinds();
    inbox.wait(expected).await;
    // And no more than that.
    tokio::time::sleep(Duration::from_millis(500)).await;
    (if kind == "webhook_first" { at_once } else { soon }, inbox.kinds())
}

#[tokio::test]
async fn webhooks_are_bent_on_request() {
    let [created, charged, paid] = PAID_EVENTS;
    let none: [&str; 0] = [];
    let (never, late, first, twice, reversed) = tokio::join!(
        bent("webhook_never", 0),
        bent("webhook_late", 3),
        bent("webhook_first", 3),
        bent("webhook_twice", 6),
        bent("webhook_out_of_order", 3)
    );
    assert_eq!(never.1, none);
    assert_eq!(late.0, none);
    assert_eq!(late.1, PAID_EVENTS);
    assert_eq!(first.0, PAID_EVENTS);
    assert_eq!(first.1, PAID_EVENTS);
    assert_eq!(twice.1, [created, created, charged, charged, paid, paid]);
    assert_eq!(reversed.1, [paid, charged, created]);
}

#[tokio::test]
async fn a_target_is_added_by_control_and_can_choose_its_events() {
    let running = start().await;
    let (inbox, url) = Inbox::for_wire(&running, Wire::Stripe).await;
    let target = json!({ "wire": "stripe", "url": url, "secret": STRIPE_SECRET, "events": ["payment_intent.succeeded"] });
    running.control("POST", "webhooks", target.clone()).await;
    let listed = running.control("GET", "webhooks", Value::Null).await;
    assert_eq!(listed["targets"], json!([target]));
    running.intent(PAID).await;
    inbox.wait(1).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(inbox.kinds(), ["payment_intent.succeeded"]);
}

#[tokio::test]
async fn an_event_is_sent_again_on_request() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Stripe).await;
    running.intent("").await;
    let first = inbox.wait(1).await.remove(0);
    let event = first.json["id"].as_str().unwrap().to_owned();
    for count in [2, 3] {
        let sent = running.control("POST", "webhooks/again", json!({ "event_id": event })).await;
        assert_eq!(sent, json!({ "event_id": event, "deliveries": 1 }));
        let received = inbox.wait(count).await;
        assert_eq!(received[count - 1].body, first.body, "word for word");
    }
    let unknown = json!({ "event_id": "evt_nobody" }).to_string();
    running.try_send("POST", "/control/webhooks/again", &[], unknown).await.unwrap().expect(404);
}
