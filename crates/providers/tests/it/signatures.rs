//! Webhook signatures: the official libraries' own, and everything that is none.

use serde_json::json;
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::Timestamp;
use tollgate_engine::ports::{Adapters as _, InboundWebhook, SignatureError};

use crate::support::{provider, providers};

/// Signed and accepted by the official libraries.
pub(crate) const STRIPE_VECTOR: &str = r#"{"id":"evt_test_000001","object":"event","api_version":"2025-09-30.clover","created":1767225600,"data":{"object":{"id":"pi_test_000001","object":"payment_intent","amount":1999,"currency":"usd","status":"succeeded"}},"livemode":false,"pending_webhooks":1,"request":{"id":null,"idempotency_key":null},"type":"payment_intent.succeeded"}"#;
const STRIPE_VECTOR_SECRET: &str = "whsec_test_8f0c2f6f6c1b4b6e";
const STRIPE_V1: &str = "8ed92286698489fef9cf211c47de9928ce19d0edf8b2972bb963a6ff367ae65a";
const STRIPE_AT: i64 = 1_767_225_600;
pub(crate) const SQUARE_VECTOR: &str = r#"{"merchant_id":"6SSW7HV8K2ST5","type":"payment.updated","event_id":"13b867cf-db3d-4b1c-90b6-2f32a9d78124","created_at":"2026-01-01T00:00:05.000Z","data":{"type":"payment","id":"hYy9pRFVxpDsO1FB05SunFWUe9JZY","object":{"payment":{"id":"hYy9pRFVxpDsO1FB05SunFWUe9JZY","status":"COMPLETED","amount_money":{"amount":1999,"currency":"USD"},"location_id":"L88917AVBK2S5","order_id":"order_1","version":4}}}}"#;
const SQUARE_VECTOR_KEY: &str = "sq_test_signature_key_7Jk2";
const SQUARE_URL: &str = "https://pay.example.test/webhooks/card_provider_b";
const SQUARE_SIGNATURE: &str = "PzPG4v1+IniOGh02o2px+C+xcl/kDoTrr081GroaVBw=";

fn with_secret(adapter: &str, name: &str, secret: &str) -> Provider {
    provider(&json!({ "adapter": adapter, "credentials": { name: secret } }))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_millis(seconds * 1_000)
}

fn headers(name: &str, value: &str) -> Vec<(String, String)> {
    vec![("content-type".to_owned(), "application/json".to_owned()), (name.to_owned(), value.to_owned())]
}

#[test]
fn stripe_signatures() {
    let (providers, good) = (providers(), format!("t={STRIPE_AT},v1={STRIPE_V1}"));
    let reader = providers.capabilities(Adapter::Stripe).webhooks.unwrap();
    let provider = with_secret("stripe", "webhookSecret", STRIPE_VECTOR_SECRET);
    let verify = |header: &str, body: &[u8], now: i64| {
        let headers = headers("stripe-signature", header);
        reader.verify(&provider, InboundWebhook { url: "", headers: &headers, body }, at(now))
    };
    let (zeros, body) = ("0".repeat(64), STRIPE_VECTOR.as_bytes());
    for (header, seconds, expected) in [
        (good.clone(), 10, Ok(())),
        (good.clone(), 0, Ok(())),
        (good.clone(), 300, Ok(())),
        (good.clone(), 301, Err(SignatureError::Stale)),
        (good.clone(), -300, Ok(())),
        (good.clone(), -301, Err(SignatureError::Stale)),
        (good.clone(), -10_000, Err(SignatureError::Stale)),
        (format!("t={STRIPE_AT},v1={zeros},v1={STRIPE_V1},v0=abc"), 10, Ok(())),
        (format!("t={STRIPE_AT},v1=junk,v1={STRIPE_V1}"), 10, Ok(())),
        (format!("t={STRIPE_AT},v1={STRIPE_V1},v1={zeros}"), 10, Ok(())),
        (format!("v1={STRIPE_V1},t={STRIPE_AT}"), 10, Ok(())),
        (format!("t={STRIPE_AT},v1={zeros}"), 10, Err(SignatureError::Forged)),
        (format!("t={STRIPE_AT},v1={zeros}"), 10_000, Err(SignatureError::Forged)),
        (format!("t={},v1={STRIPE_V1}", STRIPE_AT + 1), 10, Err(SignatureError::Forged)),
        (format!("t=0{STRIPE_AT},v1={STRIPE_V1}"), 10, Err(SignatureError::Forged)),
        (format!("v1={STRIPE_V1}"), 10, Err(SignatureError::Malformed)),
        (format!("t={STRIPE_AT},v0={STRIPE_V1}"), 10, Err(SignatureError::Malformed)),
        (format!("t={STRIPE_AT},t={STRIPE_AT},v1={STRIPE_V1}"), 10, Err(SignatureError::Malformed)),
        (format!("t=now,v1={STRIPE_V1}"), 10, Err(SignatureError::Malformed)),
        (format!("t=-1,v1={STRIPE_V1}"), 10, Err(SignatureError::Malformed)),
        (format!("t=99999999999999999999,v1={STRIPE_V1}"), 10, Err(SignatureError::Malformed)),
        (format!("t=,v1={STRIPE_V1}"), 10, Err(SignatureError::Malformed)),
        (String::new(), 10, Err(SignatureError::Malformed)),
    ] {
        assert_eq!(verify(&header, body, STRIPE_AT + seconds), expected, "{header} {seconds}");
    }
    let mut bent = body.to_vec();
    bent.push(b'\n');
    assert_eq!(verify(&good, &bent, STRIPE_AT), Err(SignatureError::Forged));
    assert_eq!(verify(&good, b"", STRIPE_AT), Err(SignatureError::Malformed));

    let delivery = InboundWebhook { url: "", headers: &[], body };
    assert_eq!(reader.verify(&provider, delivery, at(STRIPE_AT)), Err(SignatureError::Malformed));
    let twice = [headers("stripe-signature", &good), headers("stripe-signature", "t=1,v1=00")].concat();
    let delivery = InboundWebhook { url: "", headers: &twice, body };
    assert_eq!(reader.verify(&provider, delivery, at(STRIPE_AT)), Err(SignatureError::Malformed));
    let headers = headers("stripe-signature", &good);
    let delivery = InboundWebhook { url: "", headers: &headers, body };
    let none = with_secret("stripe", "publishableKey", "pk");
    assert_eq!(reader.verify(&none, delivery, at(STRIPE_AT)), Err(SignatureError::NoSecret));
    let other = with_secret("stripe", "webhookSecret", "test_8f0c2f6f6c1b4b6e");
    assert_eq!(reader.verify(&other, delivery, at(STRIPE_AT)), Err(SignatureError::Forged));
}

#[test]
fn square_signatures() {
    let providers = providers();
    let reader = providers.capabilities(Adapter::Square).webhooks.unwrap();
    let provider = with_secret("square", "webhookSignatureKey", SQUARE_VECTOR_KEY);
    let verify = |header: &str, url: &str, body: &[u8]| {
        let headers = headers("x-square-hmacsha256-signature", header);
        reader.verify(&provider, InboundWebhook { url, headers: &headers, body }, at(0))
    };
    let (body, slash) = (SQUARE_VECTOR.as_bytes(), format!("{SQUARE_URL}/"));
    assert_eq!(verify(SQUARE_SIGNATURE, SQUARE_URL, body), Ok(()));
    assert_eq!(verify(SQUARE_SIGNATURE, &slash, body), Err(SignatureError::Forged));
    assert_eq!(verify(SQUARE_SIGNATURE, SQUARE_URL, &body[1..]), Err(SignatureError::Forged));
    assert_eq!(verify("AAAA", SQUARE_URL, body), Err(SignatureError::Forged));
    assert_eq!(verify("", SQUARE_URL, body), Err(SignatureError::Forged));
    assert_eq!(verify("not base64", SQUARE_URL, body), Err(SignatureError::Malformed));
    assert_eq!(verify(SQUARE_SIGNATURE, SQUARE_URL, b""), Err(SignatureError::Malformed));
    let delivery = InboundWebhook { url: SQUARE_URL, headers: &[], body };
    assert_eq!(reader.verify(&provider, delivery, at(0)), Err(SignatureError::Malformed));
    let none = with_secret("square", "accessToken", "x");
    assert_eq!(reader.verify(&none, delivery, at(0)), Err(SignatureError::NoSecret));
}
