//! Idempotency keys: what was asked under each, and what was answered.

use std::sync::{Arc, Mutex};

use http::StatusCode;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::collection::{Collection, lock};

/// An answer kept for replay.
#[derive(Debug, Clone)]
pub(crate) struct Saved {
    pub(crate) status: StatusCode,
    pub(crate) body: Arc<str>,
    pub(crate) request_id: String,
}

#[derive(Debug, Clone)]
struct Entry {
    /// SHA-256 of what was asked.
    fingerprint: [u8; 32],
    saved: Option<Saved>,
}

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
pub(crate) struct Keys(Mutex<Collection<Entry>>);

impl Keys {
    pub(crate) fn new(keys_max: usize) -> Self {
        Self(Mutex::new(Collection::new(keys_max)))
    }

    pub(crate) fn claim(&self, key: &str, fingerprint: &str) -> Claim {
        let fingerprint = digest(fingerprint);
        let mut keys = lock(&self.0);
        match keys.get(key) {
            None => {
                keys.put(key, Entry { fingerprint, saved: None });
                Claim::Fresh
            }
            Some(entry) if entry.fingerprint != fingerprint => {
                Claim::Reused(entry.saved.as_ref().map(|saved| Arc::clone(&saved.body)))
            }
            Some(Entry { saved: Some(saved), .. }) => Claim::Answered(saved.clone()),
            Some(Entry { saved: None, .. }) => Claim::Busy,
        }
    }

    /// Keeps the answer for replay.
    pub(crate) fn settle(&self, key: &str, fingerprint: &str, saved: Saved) {
        lock(&self.0).put(key, Entry { fingerprint: digest(fingerprint), saved: Some(saved) });
    }

    /// Forgets a key, so that it may be used again.
    pub(crate) fn release(&self, key: &str) {
        lock(&self.0).remove(key);
    }

    pub(crate) fn clear(&self) {
        lock(&self.0).clear();
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
