//! Idempotency keys: what was asked under each, and what was answered.

use crate::archive::{Part, Row, Rows};
use crate::prelude::*;
use data_encoding::HEXLOWER;
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
    /// Those answered since they were written to a file, if they are.
    changes: Option<Vec<Hash>>,
}

/// A key with its answer, as it is written to a file.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    fingerprint: String,
    at: i64,
    status: u16,
    #[serde(with = "archive::text")]
    body: Arc<str>,
    request_id: String,
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
        let inner = &mut *lock(&self.inner);
        inner.settle(hash(key), hash(fingerprint), saved, now, self.answers_max);
    }

    /// Forgets a key, so that it may be used again.
    pub(crate) fn release(&self, key: &str) {
        lock(&self.inner).entries.remove(&hash(key));
    }

    pub(crate) fn clear(&self) {
        let mut inner = lock(&self.inner);
        let changes = inner.changes.as_ref().map(|_| Vec::new());
        *inner = Inner { changes, ..Inner::default() };
    }
}

impl Inner {
    fn settle(&mut self, key: Hash, fingerprint: Hash, saved: Saved, now: i64, answers_max: usize) {
        let progress = Progress::Answered(Box::new(saved));
        self.entries.insert(key, Entry { fingerprint, progress, at: now });
        self.answered.push_back(key);
        if let Some(changes) = &mut self.changes {
            changes.push(key);
        }
        while self.answered.len() > answers_max {
            let Some(oldest) = self.answered.pop_front() else { break };
            let entry = self.entries.get_mut(&oldest);
            if let Some(entry) = entry.filter(|entry| matches!(entry.progress, Progress::Answered(_))) {
                entry.progress = Progress::Used;
                self.used.push_back(oldest);
            }
        }
        while self.used.len() > USED_MAX {
            self.used.pop_front().and_then(|oldest| self.entries.remove(&oldest));
        }
    }

    fn write<'a>(&self, keys: impl IntoIterator<Item = &'a Hash>, rows: &mut Rows<'_>) {
        for key in keys {
            let Some(Entry { fingerprint, progress: Progress::Answered(saved), at }) = self.entries.get(key)
            else {
                continue;
            };
            let Saved { status, body, request_id } = &**saved;
            let written = Written {
                fingerprint: HEXLOWER.encode(fingerprint),
                at: *at,
                status: status.as_u16(),
                body: Arc::clone(body),
                request_id: request_id.clone(),
            };
            rows.add(0, &HEXLOWER.encode(key), Some(&written));
        }
    }
}

/// Keys that are only known as used are forgotten with the process.
impl Part for &Keys {
    fn keep_changes(&mut self) {
        lock(&self.inner).changes = Some(Vec::new());
    }

    fn write_changes(&mut self, rows: &mut Rows<'_>) {
        let mut inner = lock(&self.inner);
        let changes = inner.changes.as_mut().map(std::mem::take).unwrap_or_default();
        inner.write(&changes, rows);
    }

    fn write_all(&self, rows: &mut Rows<'_>) {
        let inner = lock(&self.inner);
        inner.write(&inner.answered, rows);
    }

    fn restore(&mut self, row: &Row) -> serde_json::Result<()> {
        let read = |text: &str| HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok();
        let Some(Written { fingerprint, at, status, body, request_id }) = row.object()? else {
            return Ok(());
        };
        if let (Some(key), Some(fingerprint), Ok(status)) =
            (read(&row.id), read(&fingerprint), StatusCode::from_u16(status))
        {
            let saved = Saved { status, body, request_id };
            lock(&self.inner).settle(key, fingerprint, saved, at, self.answers_max);
        }
        Ok(())
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
