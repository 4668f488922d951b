//! Idempotency keys: what was asked under each, and what was answered.

use std::sync::{Arc, Mutex};

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::collection::{Collection, Kept, lock};

/// An answer kept for replay.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Saved {
    #[serde(with = "status_code")]
    pub(crate) status: StatusCode,
    pub(crate) body: Arc<str>,
    pub(crate) request_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    /// SHA-256 of what was asked.
    fingerprint: [u8; 32],
    saved: Option<Saved>,
    /// When, in seconds of the provider's clock.
    at: i64,
}

impl Kept for Entry {}

/// What a key means to a call that brings it.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Nobody used it: the call goes ahead and must settle or release the key.
    Fresh,
    /// The same call was answered before.
    Answered(Saved),
    /// The same key came with another request, whose answer this is unless it is still being carried out.
    Reused(Option<Arc<str>>),
    /// The first call under this key is still being carried out.
    Busy,
}

/// The keys of one provider.
#[derive(Debug)]
pub(crate) struct Keys {
    entries: Mutex<Collection<Entry>>,
    /// How long each is remembered; `None` for ever.
    kept_seconds: Option<i64>,
}

impl Keys {
    pub(crate) fn new(keys_max: usize, kept_seconds: Option<i64>) -> Self {
        Self { entries: Mutex::new(Collection::new(keys_max)), kept_seconds }
    }

    pub(crate) fn claim(&self, key: &str, fingerprint: &str, now: i64) -> Claim {
        let fingerprint = digest(fingerprint);
        let mut keys = lock(&self.entries);
        let is_kept =
            |entry: &Entry| self.kept_seconds.is_none_or(|kept| now.saturating_sub(entry.at) < kept);
        match keys.get_owned(key).filter(is_kept) {
            None => {
                keys.put(key, Entry { fingerprint, saved: None, at: now });
                Claim::Fresh
            }
            Some(entry) if entry.fingerprint != fingerprint => {
                Claim::Reused(entry.saved.map(|saved| saved.body))
            }
            Some(Entry { saved: Some(saved), .. }) => Claim::Answered(saved),
            Some(Entry { saved: None, .. }) => Claim::Busy,
        }
    }

    /// Keeps the answer for replay.
    pub(crate) fn settle(&self, key: &str, fingerprint: &str, saved: Saved, now: i64) {
        let entry = Entry { fingerprint: digest(fingerprint), saved: Some(saved), at: now };
        lock(&self.entries).put(key, entry);
    }

    /// Forgets a key, so that it may be used again.
    pub(crate) fn release(&self, key: &str) {
        lock(&self.entries).remove(key);
    }

    pub(crate) fn clear(&self) {
        lock(&self.entries).clear();
    }
}

/// A status as the number it is.
mod status_code {
    use http::StatusCode;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(super) fn serialize<S: Serializer>(status: &StatusCode, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u16(status.as_u16())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<StatusCode, D::Error> {
        StatusCode::from_u16(u16::deserialize(from)?).map_err(D::Error::custom)
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// The same text for two values that differ only in the order of their fields.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().map(|(name, value)| (name, canonical(value))).collect();
            sorted.sort();
            format!("{sorted:?}")
        }
        Value::Array(items) => format!("{:?}", items.iter().map(canonical).collect::<Vec<_>>()),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_keys_answer_as_new_ones() {
        let keys = Keys::new(10_000, None);
        let body = |number: usize| Arc::<str>::from(format!(r#"{{"b":{number},"a":"ü\n"}}  "#));
        let mut claims = (0..2_000).map(|number| (number, format!("key-{number}")));
        for (number, key) in claims.by_ref().take(1_000) {
            assert!(matches!(keys.claim(&key, &key, 0), Claim::Fresh));
            let saved = Saved {
                status: StatusCode::CREATED,
                body: body(number),
                request_id: format!("req-{number}"),
            };
            keys.settle(&key, &key, saved, 0);
        }
        for (number, key) in (0..1_000).map(|number| (number, format!("key-{number}"))) {
            let Claim::Answered(Saved { status, body: saved, request_id }) = keys.claim(&key, &key, 0) else {
                panic!("{key} was not answered");
            };
            assert_eq!(
                (status, saved, request_id),
                (StatusCode::CREATED, body(number), format!("req-{number}"))
            );
            assert!(
                matches!(keys.claim(&key, "other", 0), Claim::Reused(Some(first)) if first == body(number))
            );
        }
        // One still being carried out is not forgotten while others come and go.
        assert!(matches!(keys.claim("slow", "slow", 0), Claim::Fresh));
        for (_, key) in claims {
            assert!(matches!(keys.claim(&key, &key, 0), Claim::Fresh));
            keys.release(&key);
            assert!(matches!(keys.claim(&key, &key, 0), Claim::Fresh));
        }
        assert!(matches!(keys.claim("slow", "slow", 0), Claim::Busy));
        assert!(matches!(keys.claim("slow", "other", 0), Claim::Reused(None)));
        keys.release("slow");
        assert!(matches!(keys.claim("slow", "other", 0), Claim::Fresh));
    }
}
