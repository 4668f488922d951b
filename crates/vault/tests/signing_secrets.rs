//! Our signatures before the judge of the Standard Webhooks project's own library.

#![allow(clippy::unwrap_used, clippy::cast_possible_wrap, missing_docs)]

use std::time::{SystemTime, UNIX_EPOCH};

use rand::RngExt as _;
use standardwebhooks::Webhook;
use tollgate_vault::SigningSecret;

fn headers(id: &str, timestamp: i64, signature: &str) -> http::HeaderMap {
    let mut headers = http::HeaderMap::new();
    headers.insert("webhook-id", id.parse().unwrap());
    headers.insert("webhook-timestamp", timestamp.to_string().parse().unwrap());
    headers.insert("webhook-signature", signature.parse().unwrap());
    headers
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

#[test]
fn the_published_library_accepts_our_signatures_and_makes_the_same() {
    let mut random = rand::rng();
    for round in 0..500 {
        let secret = SigningSecret::generate().unwrap();
        let judge = Webhook::new(secret.expose().expose()).unwrap();
        let length = random.random_range(0..2_000);
        // The library signs text, so bodies are text here too.
        let body: String = (0..length).map(|_| random.random_range('\u{1}'..'\u{2ff}')).collect();
        let (id, timestamp) = (format!("evt_{round}"), now());
        let signature = secret.sign(&id, timestamp, body.as_bytes());
        judge.verify(body.as_bytes(), &headers(&id, timestamp, &signature)).unwrap();
        assert_eq!(judge.sign(&id, timestamp, body.as_bytes()).unwrap(), signature);
    }
}

#[test]
fn while_a_secret_is_rotated_both_are_accepted() {
    let [old, new, other] = [(); 3].map(|()| SigningSecret::generate().unwrap());
    let (body, timestamp) = (b"{}".as_slice(), now());
    let both = format!("{} {}", new.sign("evt_1", timestamp, body), old.sign("evt_1", timestamp, body));
    let accepts = |secret: &SigningSecret, id: &str, body: &[u8]| {
        let judge = Webhook::new(secret.expose().expose()).unwrap();
        judge.verify(body, &headers(id, timestamp, &both)).is_ok()
    };
    assert!(accepts(&old, "evt_1", body) && accepts(&new, "evt_1", body));
    assert!(!accepts(&other, "evt_1", body));
    assert!(!accepts(&new, "evt_2", body) && !accepts(&new, "evt_1", b"{ }"));
}
