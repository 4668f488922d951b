//! Webhooks of the Increase API: the official library's signature, ways to bend it, every event.

use serde_json::{Value, json};
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::Timestamp;
use tollgate_engine::ports::{Adapters as _, InboundWebhook, SignatureError, WebhookNotice};

use crate::offered::OneEvent as _;
use crate::support::{provider, providers};

/// Signed and accepted by the official library.
const VECTOR: &str = r#"{"associated_object_id":"ach_transfer_uoxatyh3lt5evrsdvo7q","associated_object_type":"ach_transfer","category":"ach_transfer.updated","created_at":"2026-01-01T00:00:00Z","id":"event_001dzz0r20rzr4zrhrr1364hy80","type":"event"}"#;
const VECTOR_SECRET: &str = "increase_test_shared_secret_42";
const ID: &str = "event_001dzz0r20rzr4zrhrr1364hy80";
const AT: i64 = 1_767_225_600;
const V1: &str = "dfAoWv9uNuQ+g6TjK476pvEV3k3lj7+c7hPOA+gWlWM=";

fn with_secret(secret: &str) -> Provider {
    provider(&json!({ "adapter": "increase", "credentials": { "webhookSecret": secret } }))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_millis(seconds * 1_000)
}

fn headers(id: &str, at: &str, signature: &str) -> Vec<(String, String)> {
    [
        ("content-type", "application/json"),
        ("webhook-id", id),
        ("webhook-timestamp", at),
        ("webhook-signature", signature),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

fn verify(
    provider: &Provider,
    headers: &[(String, String)],
    body: &[u8],
    now: i64,
) -> Result<(), SignatureError> {
    let providers = providers();
    let reader = providers.capabilities(Adapter::Increase).webhooks.unwrap();
    reader.verify(provider, InboundWebhook { url: "", headers, body }, at(now))
}

#[test]
fn signatures() {
    let providers = providers();
    let reader = providers.capabilities(Adapter::Increase).webhooks.unwrap();
    let provider = with_secret(VECTOR_SECRET);
    let (ts, body, good) = (AT.to_string(), VECTOR.as_bytes(), format!("v1,{V1}"));
    let zeros = format!("v1,{}=", "A".repeat(43));
    let check = |at_text: &str, signature: &str, seconds: i64| {
        let headers = headers(ID, at_text, signature);
        reader.verify(&provider, InboundWebhook { url: "", headers: &headers, body }, at(AT + seconds))
    };
    for (signature, seconds, expected) in [
        (good.clone(), 0, Ok(())),
        (good.clone(), 30, Ok(())),
        (good.clone(), 300, Ok(())),
        (good.clone(), 301, Err(SignatureError::Stale)),
        (good.clone(), -300, Ok(())),
        (good.clone(), -301, Err(SignatureError::Stale)),
        (format!("v1,AAAA {good}"), 30, Ok(())),
        (format!("{good} v1,AAAA"), 30, Ok(())),
        (format!("{zeros} {zeros} {good} v2,zz v1a,{V1}"), 30, Ok(())),
        (format!("v1,not*base64 {good}"), 30, Ok(())),
        (format!("  {good}  "), 30, Ok(())),
        (zeros.clone(), 30, Err(SignatureError::Forged)),
        (zeros.clone(), 10_000, Err(SignatureError::Forged)),
        ("v1,".to_owned(), 30, Err(SignatureError::Forged)),
        (V1.to_owned(), 30, Err(SignatureError::Malformed)),
        (format!("v2,{V1}"), 30, Err(SignatureError::Malformed)),
        (format!("v1={V1}"), 30, Err(SignatureError::Malformed)),
        (format!("v1,{}", V1.trim_end_matches('=')), 30, Err(SignatureError::Malformed)),
        ("v1,not*base64".to_owned(), 30, Err(SignatureError::Malformed)),
        (String::new(), 30, Err(SignatureError::Malformed)),
    ] {
        assert_eq!(check(&ts, &signature, seconds), expected, "{signature} {seconds}");
    }
    for (text, expected) in [
        ("1767225601", SignatureError::Forged),
        ("01767225600", SignatureError::Forged),
        ("", SignatureError::Malformed),
        ("now", SignatureError::Malformed),
        ("-1767225600", SignatureError::Malformed),
        ("+1767225600", SignatureError::Malformed),
        (" 1767225600", SignatureError::Malformed),
        ("1767225600.0", SignatureError::Malformed),
        ("99999999999999999999", SignatureError::Malformed),
    ] {
        assert_eq!(check(text, &good, 0), Err(expected), "{text}");
    }
}

#[test]
fn secrets_are_taken_as_they_are_written() {
    let body = VECTOR.as_bytes();
    let good = headers(ID, &AT.to_string(), &format!("v1,{V1}"));
    assert_eq!(verify(&with_secret(VECTOR_SECRET), &good, body, AT), Ok(()));
    assert_eq!(verify(&with_secret("another"), &good, body, AT), Err(SignatureError::Forged));
    let none = provider(&json!({ "adapter": "increase", "credentials": { "apiKey": "x" } }));
    assert_eq!(verify(&none, &good, body, AT), Err(SignatureError::NoSecret));
    let unnamed = headers("", &AT.to_string(), &format!("v1,{V1}"));
    assert_eq!(verify(&with_secret(VECTOR_SECRET), &unnamed, body, AT), Err(SignatureError::Malformed));
    // One that looks like the common form of other senders is not decoded here.
    let secret = "whsec_c2VjcmV0";
    let signature = tollgate_simulator::increase_signature(secret, ID, AT, VECTOR);
    let signed = headers(ID, &AT.to_string(), &signature);
    assert_eq!(verify(&with_secret(secret), &signed, body, AT), Ok(()));
    assert_eq!(verify(&with_secret("secret"), &signed, body, AT), Err(SignatureError::Forged));
}

#[test]
fn every_event() {
    let providers = providers();
    let reader = providers.capabilities(Adapter::Increase).webhooks.unwrap();
    let event = |category: &str, object: Value| {
        let body = json!({ "id": "event_1", "category": category, "associated_object_id": object,
            "associated_object_type": "x", "created_at": "2026-01-01T00:00:00Z", "type": "event" });
        reader.translate_one(body.to_string().as_bytes())
    };
    for (category, object) in [
        ("ach_transfer.created", "ach_transfer_1"),
        ("ach_transfer.updated", "sandbox_ach_transfer_1"),
        ("real_time_payments_transfer.created", "real_time_payments_transfer_1"),
        ("real_time_payments_transfer.updated", "real_time_payments_transfer_1"),
        ("fednow_transfer.created", "fednow_transfer_1"),
        ("fednow_transfer.updated", "fednow_transfer_1"),
    ] {
        let expected = WebhookNotice {
            event: "event_1".to_owned(),
            kind: category.to_owned(),
            relevant: true,
            objects: vec![object.to_owned()],
            is_creation: category.ends_with(".created"),
            ..WebhookNotice::default()
        };
        assert_eq!(event(category, object.into()).unwrap(), expected);
        assert!(event(category, Value::Null).is_err() && event(category, "".into()).is_err());
    }
    for category in [
        "inbound_fednow_transfer.created",
        "inbound_ach_transfer.created",
        "inbound_real_time_payments_transfer.created",
        "ach_prenotification.updated",
        "account.created",
        "ach_transfer",
        "",
    ] {
        let expected = WebhookNotice {
            event: "event_1".to_owned(),
            kind: category.to_owned(),
            ..WebhookNotice::default()
        };
        assert_eq!(event(category, "x_1".into()).unwrap(), expected);
        assert_eq!(event(category, Value::Null).unwrap(), expected);
    }
    for body in
        ["", "{}", "[]", "null", r#"{"id":"event_1"}"#, r#"{"id":1,"category":"ach_transfer.updated"}"#]
    {
        assert!(reader.translate_one(body.as_bytes()).is_err(), "{body}");
    }
}
