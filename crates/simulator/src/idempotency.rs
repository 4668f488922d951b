//! Idempotency keys: what was asked under each, and what was answered.

use std::sync::{Arc, Mutex};

use http::StatusCode;

use crate::shelf::{Shelf, lock};

/// An answer kept for replay.
#[derive(Debug, Clone)]
pub(crate) struct Saved {
    pub(crate) status: StatusCode,
    pub(crate) body: Arc<str>,
    pub(crate) request_id: String,
}

#[derive(Debug, Clone)]
struct Entry {
    fingerprint: String,
    saved: Option<Saved>,
}

/// What a key means to a call that brings it.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Nobody used it: the call goes ahead and must settle or release the key.
    Fresh,
    /// The same call was answered before.
    Answered(Saved),
    /// The same key came with another request.
    Reused,
    /// The first call under this key is still being carried out.
    Busy,
}

/// The keys of one wire.
#[derive(Debug)]
pub(crate) struct Keys(Mutex<Shelf<Entry>>);

impl Keys {
    pub(crate) fn new(keys_max: usize) -> Self {
        Self(Mutex::new(Shelf::new(keys_max)))
    }

    pub(crate) fn claim(&self, key: &str, fingerprint: &str) -> Claim {
        let mut keys = lock(&self.0);
        match keys.get(key) {
            None => {
                keys.put(key, Entry { fingerprint: fingerprint.to_owned(), saved: None });
                Claim::Fresh
            }
            Some(entry) if entry.fingerprint != fingerprint => Claim::Reused,
            Some(Entry { saved: Some(saved), .. }) => Claim::Answered(saved.clone()),
            Some(Entry { saved: None, .. }) => Claim::Busy,
        }
    }

    /// Keeps the answer for replay.
    pub(crate) fn settle(&self, key: &str, fingerprint: &str, saved: Saved) {
        lock(&self.0).put(key, Entry { fingerprint: fingerprint.to_owned(), saved: Some(saved) });
    }

    /// Forgets a key, so that it may be used again.
    pub(crate) fn release(&self, key: &str) {
        lock(&self.0).remove(key);
    }

    pub(crate) fn clear(&self) {
        lock(&self.0).clear();
    }
}
