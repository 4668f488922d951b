//! Webhook signatures as the providers make them, for tests that speak in a provider's place.

use std::time::SystemTime;

use data_encoding::{BASE64, HEXLOWER, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::simulator::Wire;

fn hmac(key: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

/// Seconds since the epoch.
pub fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

/// The value of `Stripe-Signature` at a moment.
pub fn stripe_signature(secret: &str, at: i64, body: &[u8]) -> String {
    let signature = hmac(secret, &[at.to_string().as_bytes(), b".", body]);
    format!("t={at},v1={}", HEXLOWER.encode(&signature))
}

/// The value of `x-square-hmacsha256-signature`.
pub fn square_signature(key: &str, url: &str, body: &[u8]) -> String {
    BASE64.encode(&hmac(key, &[url.as_bytes(), body]))
}

/// The header a wire signs with.
pub fn signature_header(wire: Wire) -> &'static str {
    match wire {
        Wire::Stripe => "stripe-signature",
        Wire::Square => "x-square-hmacsha256-signature",
        Wire::Adyen => panic!("it signs within the body: see `sign_adyen`"),
    }
}

/// Signs every item of a notification, in its own data.
pub fn sign_adyen(key: &str, notification: &Value) -> Value {
    let mut signed = notification.clone();
    for item in signed["notificationItems"].as_array_mut().unwrap() {
        let item = &mut item["NotificationRequestItem"];
        let text = |place: &str| match item.pointer(place) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        let text = [
            "/pspReference",
            "/originalReference",
            "/merchantAccountCode",
            "/merchantReference",
            "/amount/value",
            "/amount/currency",
            "/eventCode",
            "/success",
        ]
        .map(text)
        .join(":");
        let key = HEXLOWER_PERMISSIVE.decode(key.as_bytes()).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(text.as_bytes());
        item["additionalData"]["hmacSignature"] = BASE64.encode(&mac.finalize().into_bytes()).into();
    }
    signed
}

/// A text that follows from another and does not show it.
pub fn derived(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text.as_bytes()))
}

#[test]
fn signatures_are_those_of_the_providers_own_libraries() {
    // Made by the official libraries.
    let body = br#"{"id":"evt_test_000001","object":"event","api_version":"2025-09-30.clover","created":1767225600,"data":{"object":{"id":"pi_test_000001","object":"payment_intent","amount":1999,"currency":"usd","status":"succeeded"}},"livemode":false,"pending_webhooks":1,"request":{"id":null,"idempotency_key":null},"type":"payment_intent.succeeded"}"#;
    let expected = "t=1767225600,v1=8ed92286698489fef9cf211c47de9928ce19d0edf8b2972bb963a6ff367ae65a";
    assert_eq!(stripe_signature("whsec_test_8f0c2f6f6c1b4b6e", 1_767_225_600, body), expected);
    let body = br#"{"merchant_id":"6SSW7HV8K2ST5","type":"payment.updated","event_id":"13b867cf-db3d-4b1c-90b6-2f32a9d78124","created_at":"2026-01-01T00:00:05.000Z","data":{"type":"payment","id":"hYy9pRFVxpDsO1FB05SunFWUe9JZY","object":{"payment":{"id":"hYy9pRFVxpDsO1FB05SunFWUe9JZY","status":"COMPLETED","amount_money":{"amount":1999,"currency":"USD"},"location_id":"L88917AVBK2S5","order_id":"order_1","version":4}}}}"#;
    let (key, url) = ("sq_test_signature_key_7Jk2", "https://pay.example.test/webhooks/card_provider_b");
    assert_eq!(square_signature(key, url, body), "PzPG4v1+IniOGh02o2px+C+xcl/kDoTrr081GroaVBw=");
}
