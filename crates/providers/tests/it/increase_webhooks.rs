//! Webhooks of the Increase API: the official library's signature, every way to bend it, every event, and what the
//! simulator really sends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::{Channel, Timestamp};
use tollgate_engine::ports::{Adapters as _, InboundWebhook, SignatureError, WebhookNotice, WebhookReader};
use tollgate_simulator::{WebhookTarget, Wire};

use crate::increase_support::{SECRET, order, start};
use crate::support::{now, provider, providers, quick};

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
    let reader = providers.webhooks(Adapter::Increase).unwrap();
    reader.verify(provider, InboundWebhook { url: "", headers, body }, at(now))
}

#[test]
fn signatures() {
    let providers = providers();
    let reader = providers.webhooks(Adapter::Increase).unwrap();
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
    // One that looks like the common form of other senders is not decoded here.
    let secret = "whsec_c2VjcmV0";
    let signature = tollgate_simulator::increase_signature(secret, ID, AT, VECTOR);
    let signed = headers(ID, &AT.to_string(), &signature);
    assert_eq!(verify(&with_secret(secret), &signed, body, AT), Ok(()));
    assert_eq!(verify(&with_secret("secret"), &signed, body, AT), Err(SignatureError::Forged));
}

#[test]
fn headers_that_are_missing_or_sent_twice_sign_nothing() {
    let provider = with_secret(VECTOR_SECRET);
    let good = headers(ID, &AT.to_string(), &format!("v1,{V1}"));
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        let without: Vec<_> = good.iter().filter(|(known, _)| known != name).cloned().collect();
        assert_eq!(
            verify(&provider, &without, VECTOR.as_bytes(), AT),
            Err(SignatureError::Malformed),
            "{name}"
        );
        let mut twice = good.clone();
        twice.push(good.iter().find(|(known, _)| known == name).unwrap().clone());
        assert_eq!(
            verify(&provider, &twice, VECTOR.as_bytes(), AT),
            Err(SignatureError::Malformed),
            "{name}"
        );
    }
    assert_eq!(verify(&provider, &good, b"", AT), Err(SignatureError::Malformed));
    let unnamed = headers("", &AT.to_string(), &format!("v1,{V1}"));
    assert_eq!(verify(&provider, &unnamed, VECTOR.as_bytes(), AT), Err(SignatureError::Malformed));
}

/// One bit anywhere in what is signed or in the signature, and it is not believed.
#[test]
fn no_bit_can_be_changed() {
    let providers = providers();
    let reader = providers.webhooks(Adapter::Increase).unwrap();
    let provider = with_secret(VECTOR_SECRET);
    let signature = format!("v1,{V1}");
    let parts = [ID, &AT.to_string(), &signature, VECTOR];
    let mut bent_parts = 0;
    for part in 0..parts.len() {
        for place in 0..parts[part].len() {
            for bit in 0..8 {
                let mut bent = parts.map(|text| text.as_bytes().to_vec());
                bent[part][place] ^= 1 << bit;
                let [id, at_text, signature, body] = bent;
                // A header that is no text does not get this far.
                let (Ok(id), Ok(at_text), Ok(signature)) =
                    (String::from_utf8(id), String::from_utf8(at_text), String::from_utf8(signature))
                else {
                    continue;
                };
                let headers = headers(&id, &at_text, &signature);
                let delivery = InboundWebhook { url: "", headers: &headers, body: &body };
                assert!(
                    reader.verify(&provider, delivery, at(AT)).is_err(),
                    "bit {bit} of {place} in {part}"
                );
                bent_parts += 1;
            }
        }
    }
    assert!(bent_parts > 2_000, "{bent_parts}");
    // What means the same to a reader of JSON is another text all the same.
    for body in
        [format!("{VECTOR}\n"), format!(" {VECTOR}"), format!("{VECTOR}{VECTOR}"), VECTOR.replace(':', ": ")]
    {
        let headers = headers(ID, &AT.to_string(), &signature);
        let delivery = InboundWebhook { url: "", headers: &headers, body: body.as_bytes() };
        assert_eq!(reader.verify(&provider, delivery, at(AT)), Err(SignatureError::Forged), "{body}");
    }
    for cut in 0..VECTOR.len() {
        let headers = headers(ID, &AT.to_string(), &signature);
        let delivery = InboundWebhook { url: "", headers: &headers, body: &VECTOR.as_bytes()[..cut] };
        assert!(reader.verify(&provider, delivery, at(AT)).is_err(), "{cut}");
    }
}

#[test]
fn every_event() {
    let providers = providers();
    let reader = providers.webhooks(Adapter::Increase).unwrap();
    let event = |category: &str, object: Value| {
        let body = json!({ "id": "event_1", "category": category, "associated_object_id": object,
            "associated_object_type": "x", "created_at": "2026-01-01T00:00:00Z", "type": "event" });
        reader.translate(body.to_string().as_bytes())
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
        assert!(reader.translate(body.as_bytes()).is_err(), "{body}");
    }
}

type Received = (Vec<(String, String)>, Vec<u8>);

#[derive(Clone, Default)]
struct Inbox(Arc<Mutex<Vec<Received>>>);

async fn receive(State(inbox): State<Inbox>, request: Request) {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap().to_vec();
    let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        (name.as_str().to_owned(), value.to_str().unwrap().to_owned())
    };
    inbox.0.lock().unwrap().push((parts.headers.iter().map(header).collect(), body));
}

#[tokio::test]
async fn what_the_simulator_sends_is_believed_and_understood() {
    let world = start(quick()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hooks", listener.local_addr().unwrap());
    let inbox = Inbox::default();
    let router = Router::new().fallback(receive).with_state(inbox.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let target = WebhookTarget {
        wire: Wire::Increase,
        url: url.clone(),
        secret: SECRET.to_owned(),
        events: Vec::new(),
    };
    assert!(world.simulator.add_webhook_target(target));

    let ach = world.send(&order(Channel::StandardAch)).await.outcome.unwrap().transfer;
    let instant = world.send(&order(Channel::Instant)).await.outcome.unwrap().transfer;
    world.post(&format!("simulations/ach_transfers/{ach}/settle"), None, Value::Null).await;
    world.post(&format!("simulations/ach_transfers/{ach}/return"), None, Value::Null).await;
    world
        .post(&format!("simulations/real_time_payments_transfers/{instant}/complete"), None, json!({}))
        .await;

    let reader: &dyn WebhookReader = world.providers.webhooks(Adapter::Increase).unwrap();
    for _ in 0..300 {
        if inbox.0.lock().unwrap().len() >= 6 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let received = inbox.0.lock().unwrap().clone();
    let mut told = Vec::new();
    for (headers, body) in &received {
        let delivery = InboundWebhook { url: &url, headers, body };
        assert_eq!(reader.verify(&world.provider, delivery, now()), Ok(()));
        assert_eq!(reader.verify(&with_secret("another"), delivery, now()), Err(SignatureError::Forged));
        let notice = reader.translate(body).unwrap();
        assert!(notice.relevant && notice.event.starts_with("event_"), "{notice:?}");
        let [object] = &notice.objects[..] else { panic!("{notice:?}") };
        world.read(object).await.outcome.unwrap();
        told.push((notice.kind, object.clone()));
    }
    let count = |kind: &str, object: &str| told.iter().filter(|one| one.0 == kind && one.1 == object).count();
    assert_eq!(count("ach_transfer.created", &ach), 1);
    // Sent, settled, returned.
    assert_eq!(count("ach_transfer.updated", &ach), 3);
    assert_eq!(count("real_time_payments_transfer.created", &instant), 1);
    assert_eq!(count("real_time_payments_transfer.updated", &instant), 1);
}
