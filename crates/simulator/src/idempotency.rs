//! Idempotency keys: what was asked under each, and what was answered.

use crate::prelude::*;
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, VecDeque};

/// So many keys are remembered after their answers were dropped.
const USED_MAX: usize = 500_000;

#[derive(Debug, Clone)]
pub(crate) struct Saved {
    pub(crate) status: StatusCode,
    pub(crate) body: Arc<str>,
    pub(crate) request_id: String,
}

/// The beginning of a SHA-256: among millions of texts, two share it once in billions of times.
type Hash = [u8; 16];

fn hash(text: &str) -> Hash {
    Sha256::digest(text).first_chunk().copied().unwrap_or_default()
}

#[derive(Debug)]
struct Entry {
    /// Of what was asked.
    fingerprint: Hash,
    progress: Progress,
    /// When, in seconds of the provider's clock.
    at: i64,
}

#[derive(Debug)]
enum Progress {
    Running,
    Answered(Box<Saved>),
    /// Its answer was dropped. It still cannot make something a second time.
    Used,
}

/// What a key means to a call that brings it.
#[derive(Debug)]
pub(crate) enum Claim {
    /// It is unused: the call goes ahead and must settle or release it.
    Fresh,
    /// The same call was answered before.
    Answered(Saved),
    /// The same key came with another request, whose answer this is if it is still known.
    Reused(Option<Arc<str>>),
    /// The first call under this key is still being carried out.
    Busy,
}

/// The keys of one provider.
#[derive(Debug)]
pub(crate) struct Keys {
    inner: Mutex<Inner>,
    answers_max: usize,
    /// How long each is remembered; `None` for ever.
    kept_seconds: Option<i64>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<Hash, Entry>,
    /// Those with an answer, the oldest first.
    answered: VecDeque<Hash>,
    /// Those whose answer was dropped.
    used: VecDeque<Hash>,
}

impl Keys {
    pub(crate) fn new(answers_max: usize, kept_seconds: Option<i64>) -> Self {
        Self { inner: Mutex::default(), answers_max, kept_seconds }
    }

    pub(crate) fn claim(&self, key: &str, fingerprint: &str, now: i64) -> Claim {
        let (key, fingerprint) = (hash(key), hash(fingerprint));
        let mut inner = lock(&self.inner);
        let is_kept =
            |entry: &&Entry| self.kept_seconds.is_none_or(|kept| now.saturating_sub(entry.at) < kept);
        match inner.entries.get(&key).filter(is_kept) {
            None => {
                inner.entries.insert(key, Entry { fingerprint, progress: Progress::Running, at: now });
                Claim::Fresh
            }
            Some(entry) => match &entry.progress {
                Progress::Answered(saved) if entry.fingerprint == fingerprint => {
                    Claim::Answered(Saved::clone(saved))
                }
                Progress::Running if entry.fingerprint == fingerprint => Claim::Busy,
                Progress::Answered(saved) => Claim::Reused(Some(Arc::clone(&saved.body))),
                Progress::Running | Progress::Used => Claim::Reused(None),
            },
        }
    }

    /// Keeps the answer for replay. The oldest answers are dropped, and their keys stay used.
    pub(crate) fn settle(&self, key: &str, fingerprint: &str, saved: Saved, now: i64) {
        let (key, fingerprint) = (hash(key), hash(fingerprint));
        let progress = Progress::Answered(Box::new(saved));
        let inner = &mut *lock(&self.inner);
        inner.entries.insert(key, Entry { fingerprint, progress, at: now });
        inner.answered.push_back(key);
        while inner.answered.len() > self.answers_max {
            let Some(oldest) = inner.answered.pop_front() else { break };
            let entry = inner.entries.get_mut(&oldest);
            if let Some(entry) = entry.filter(|entry| matches!(entry.progress, Progress::Answered(_))) {
                entry.progress = Progress::Used;
                inner.used.push_back(oldest);
            }
        }
        while inner.used.len() > USED_MAX {
            inner.used.pop_front().and_then(|oldest| inner.entries.remove(&oldest));
        }
    }

    /// Forgets a key, so that it may be used again.
    pub(crate) fn release(&self, key: &str) {
        lock(&self.inner).entries.remove(&hash(key));
    }

    pub(crate) fn clear(&self) {
        *lock(&self.inner) = Inner::default();
    }
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

    fn saved(number: usize) -> Saved {
        let body = format!(r#"{{"b":{number}}}"#).into();
        Saved { status: StatusCode::CREATED, body, request_id: format!("req-{number}") }
    }

    #[test]
    fn the_newest_answers_are_repeated_and_older_keys_make_nothing_again() {
        let keys = Keys::new(1_000, None);
        for (number, key) in (0..1_500).map(|number| (number, format!("key-{number}"))) {
            assert!(matches!(keys.claim(&key, &key, 0), Claim::Fresh));
            keys.settle(&key, &key, saved(number), 0);
        }
        for (number, key) in (0..1_500).map(|number| (number, format!("key-{number}"))) {
            let (claim, other) = (keys.claim(&key, &key, 0), keys.claim(&key, "other", 0));
            if number < 500 {
                assert!(matches!((claim, other), (Claim::Reused(None), Claim::Reused(None))), "{key}");
                continue;
            }
            let Claim::Answered(Saved { status, body, request_id }) = claim else { panic!("{key}") };
            let expected = saved(number);
            assert_eq!((status, &body, request_id), (expected.status, &expected.body, expected.request_id));
            assert!(matches!(other, Claim::Reused(Some(first)) if first == body), "{key}");
        }
    }

    #[test]
    fn a_key_in_use_stays_so_until_it_is_released() {
        let keys = Keys::new(1, None);
        keys.settle("slow", "slow", saved(0), 0);
        keys.release("slow");
        assert!(matches!(keys.claim("slow", "slow", 0), Claim::Fresh));
        for number in 1..10 {
            keys.settle(&number.to_string(), "", saved(number), 0);
        }
        assert!(matches!(keys.claim("slow", "slow", 0), Claim::Busy));
        assert!(matches!(keys.claim("slow", "other", 0), Claim::Reused(None)));
        keys.release("slow");
        assert!(matches!(keys.claim("slow", "other", 0), Claim::Fresh));
    }

    #[test]
    fn keys_end_after_their_time() {
        let keys = Keys::new(10, Some(100));
        keys.settle("key", "a", saved(0), 0);
        assert!(matches!(keys.claim("key", "a", 99), Claim::Answered(_)));
        assert!(matches!(keys.claim("key", "b", 100), Claim::Fresh));
    }
}
