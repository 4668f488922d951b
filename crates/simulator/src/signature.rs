//! How each provider signs what it sends.

use data_encoding::{BASE64, HEXLOWER, HEXUPPER_PERMISSIVE};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

/// The `Stripe-Signature` header: hex over `<t>.<body>`, keyed with the whole secret, its `whsec_` included.
pub fn stripe_signature(secret: &str, timestamp: i64, body: &str) -> String {
    let code = authenticate(secret.as_bytes(), &[timestamp.to_string().as_bytes(), b".", body.as_bytes()]);
    format!("t={timestamp},v1={}", HEXLOWER.encode(&code))
}

/// The `x-square-hmacsha256-signature` header: base64 over the address as it was registered, then the body.
pub fn square_signature(signature_key: &str, notification_url: &str, body: &str) -> String {
    BASE64.encode(&authenticate(signature_key.as_bytes(), &[notification_url.as_bytes(), body.as_bytes()]))
}

/// The `webhook-signature` header of Standard Webhooks: base64 over `<id>.<timestamp>.<body>`, keyed with the shared
/// secret's own bytes, which the provider neither strips of a prefix nor decodes.
pub fn increase_signature(shared_secret: &str, event_id: &str, timestamp: i64, body: &str) -> String {
    let timestamp = timestamp.to_string();
    let parts = [event_id.as_bytes(), b".", timestamp.as_bytes(), b".", body.as_bytes()];
    format!("v1,{}", BASE64.encode(&authenticate(shared_secret.as_bytes(), &parts)))
}

/// The `X-Signature` header of Modern Treasury: hex over the body alone.
pub fn modern_treasury_signature(webhook_key: &str, body: &str) -> String {
    HEXLOWER.encode(&authenticate(webhook_key.as_bytes(), &[body.as_bytes()]))
}

/// `additionalData.hmacSignature` of Adyen: eight fields of a notification's item, joined by colons that nothing escapes. The key
/// is hex; one that is not makes a signature that no verifier accepts.
pub fn adyen_signature(hmac_key: &str, item: &Value) -> String {
    let text = |place: &str| match item.pointer(place) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let signed = [
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
    let key = HEXUPPER_PERMISSIVE.decode(hmac_key.as_bytes()).unwrap_or_default();
    BASE64.encode(&authenticate(&key, &[signed.as_bytes()]))
}

fn authenticate(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC takes keys of any length, so this never fails; an empty answer would be refused by every verifier.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}
