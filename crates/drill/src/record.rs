//! Every answer a caller got, recorded by the callers: in memory for the comparison, and in a file to read afterwards.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};
use tollgate_bench::Fault;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Transfer,
    Preparation,
    Confirmation,
}

/// One request and what came back.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    /// A transfer's idempotency key, or what a writer calls a card payment.
    pub(crate) key: String,
    /// A transfer's own: no other transfer has the same, so that the provider's record can be read without ours.
    pub(crate) amount: u64,
    pub(crate) tollgate: usize,
    /// Milliseconds since the beginning.
    pub(crate) sent: u64,
    pub(crate) at: u64,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// 2xx.
    Told(Told),
    /// 4xx that says it failed and will not happen.
    Refused(String),
    /// Asked again with the same key: 5xx and those 4xx that say nothing about the outcome.
    Unclear(String),
    /// No answer.
    Lost(String),
}

/// What an answer said about a payment.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) reference: String,
    /// What must never change about it.
    pub(crate) promise: Value,
    pub(crate) status: String,
    /// Whether the answer said that this request made it.
    pub(crate) is_first: bool,
}

/// What may never change about a transaction.
pub(crate) fn promise(transaction: &Value) -> Value {
    let names = [
        "serviceReference",
        "amountMinor",
        "platformFeeMinor",
        "organizationFeeMinor",
        "feeMinor",
        "totalDebitMinor",
        "currency",
        "paymentMethod",
        "provider",
        "channel",
        "createdAt",
    ];
    let field = |name: &str| (name.to_owned(), transaction.get(name).cloned().unwrap_or_default());
    names.into_iter().map(field).collect()
}

pub(crate) struct Record {
    began: Instant,
    kept: Mutex<(Vec<Entry>, File)>,
}

impl Record {
    pub(crate) fn new(file: &Path) -> Result<Self, Fault> {
        let file = File::options().create(true).append(true).open(file)?;
        Ok(Self { began: Instant::now(), kept: Mutex::new((Vec::new(), file)) })
    }

    /// Milliseconds since the beginning.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn add(&self, entry: Entry) -> Result<(), Fault> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(kept.1, "{}", entry.json())?;
        kept.0.push(entry);
        Ok(())
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// When each write was acknowledged: transfers, which need both the database and the provider.
    pub(crate) fn writes(&self) -> Vec<u64> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_write = |entry: &&Entry| {
            entry.kind == Kind::Transfer && matches!(&entry.outcome, Outcome::Told(told) if told.is_first)
        };
        kept.0.iter().filter(is_write).map(|entry| entry.at).collect()
    }
}

impl Entry {
    fn json(&self) -> Value {
        let outcome = match &self.outcome {
            Outcome::Told(told) => {
                json!({"told": {"status": told.status, "first": told.is_first, "promise": told.promise}})
            }
            Outcome::Refused(text) => json!({ "refused": text }),
            Outcome::Unclear(text) => json!({ "unclear": text }),
            Outcome::Lost(text) => json!({ "lost": text }),
        };
        json!({
            "kind": format!("{:?}", self.kind).to_lowercase(), "key": self.key, "amountMinor": self.amount,
            "tollgate": self.tollgate, "sentMs": self.sent, "atMs": self.at, "outcome": outcome,
        })
    }
}

/// The longest time without a success that overlaps a span; `None` where none came after it began.
pub(crate) fn longest_gap(successes: &[u64], from: u64, to: u64) -> Option<u64> {
    let pairs = successes.iter().zip(successes.iter().skip(1));
    pairs
        .filter(|(earlier, later)| **later >= from && **earlier <= to)
        .map(|(earlier, later)| later - earlier)
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_from_the_last_success_to_the_next() {
        let successes = [10, 20, 500, 510, 2_000];
        assert_eq!(longest_gap(&successes, 25, 100), Some(480));
        assert_eq!(longest_gap(&successes, 505, 506), Some(10));
        assert_eq!(longest_gap(&successes, 25, 600), Some(1_490));
        assert_eq!(longest_gap(&successes, 2_001, 3_000), None);
    }
}
