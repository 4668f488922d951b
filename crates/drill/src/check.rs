//! Compares three records: the answers callers got, what the provider did, and what the ledger holds. Values in, violations
//! out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::record::{Entry, Kind, Outcome, Told};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Violation {
    /// Acknowledged, and not there anymore or not as it was.
    Lost,
    /// At the provider more than once.
    Doubled,
    /// An answer, or the books, said what was not so.
    Untrue,
    /// Still pending when everything had time to settle.
    Unsettled,
    /// What the product's own audit found.
    Books,
}

impl Violation {
    pub(crate) const ALL: [Self; 5] = [Self::Lost, Self::Doubled, Self::Untrue, Self::Unsettled, Self::Books];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Doubled => "doubled",
            Self::Untrue => "untrue",
            Self::Unsettled => "unsettled",
            Self::Books => "books",
        }
    }
}

/// A payment as the provider has it.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    /// Our reference, under which it was sent.
    pub(crate) reference: String,
    pub(crate) is_transfer: bool,
    pub(crate) amount: u64,
    /// Whether the money moved, or will: not rejected, canceled or returned.
    pub(crate) moved: bool,
}

/// A transaction as the books have it.
#[derive(Debug, Clone)]
pub(crate) struct Booked {
    pub(crate) is_transfer: bool,
    pub(crate) promise: Value,
    pub(crate) status: String,
}

/// All there is to compare.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) callers: Vec<Entry>,
    pub(crate) provider: Vec<Taken>,
    /// By reference.
    pub(crate) books: BTreeMap<String, Booked>,
    /// References of transfers that were never sent, and whose bank details were lost with the memory of the database and of
    /// the node that made them. They fail after an hour.
    pub(crate) keyless: BTreeSet<String>,
    /// References of card payments that were prepared, paid or not.
    pub(crate) prepared: BTreeSet<String>,
    /// What the audit found.
    pub(crate) findings: Vec<String>,
}

/// What was found, once for each thing it is about.
#[derive(Debug, Default)]
pub(crate) struct Found(BTreeMap<(Violation, String), String>);

impl Found {
    fn add(&mut self, violation: Violation, about: &str, text: impl fmt::Display) {
        self.0.entry((violation, about.to_owned())).or_insert_with(|| format!("{about} {text}"));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn count(&self, violation: Violation) -> usize {
        self.0.keys().filter(|(kind, _)| *kind == violation).count()
    }

    /// Sentences with the kind of violation first.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|((violation, _), text)| format!("{}: {text}", violation.name()))
    }
}

/// Compares the records of a world in which nothing is in flight anymore.
pub(crate) fn compare(records: &Records) -> Found {
    let mut found = Found::default();
    let moved = Moved::of(&records.provider);
    callers(records, &moved, &mut found);
    provider(records, &moved, &mut found);
    books(records, &moved, &mut found);
    for finding in &records.findings {
        found.add(Violation::Books, finding, "");
    }
    found
}

/// How often money moved at the provider.
struct Moved<'a> {
    by_reference: BTreeMap<&'a str, usize>,
    transfers_by_amount: BTreeMap<u64, usize>,
}

impl<'a> Moved<'a> {
    fn of(provider: &'a [Taken]) -> Self {
        let mut moved = Self { by_reference: BTreeMap::new(), transfers_by_amount: BTreeMap::new() };
        for taken in provider.iter().filter(|taken| taken.moved) {
            *moved.by_reference.entry(&taken.reference).or_default() += 1;
            if taken.is_transfer {
                *moved.transfers_by_amount.entry(taken.amount).or_default() += 1;
            }
        }
        moved
    }

    fn has(&self, reference: &str) -> bool {
        self.by_reference.contains_key(reference)
    }
}

fn callers(records: &Records, moved: &Moved<'_>, found: &mut Found) {
    let mut before = BTreeMap::<(Kind, &str), &Told>::new();
    let mut firsts = BTreeSet::new();
    for entry in &records.callers {
        let key = entry.key.as_str();
        let told = match &entry.outcome {
            Outcome::Told(told) => told,
            Outcome::Refused(code) => {
                if entry.kind == Kind::Transfer && moved.transfers_by_amount.contains_key(&entry.amount) {
                    found.add(
                        Violation::Untrue,
                        key,
                        format_args!("was refused ({code}), and its money moved"),
                    );
                }
                continue;
            }
            Outcome::Unclear(_) | Outcome::Lost(_) => continue,
        };
        kept(records, entry, told, found);
        if entry.kind == Kind::Preparation {
            continue;
        }
        let reference = &told.reference;
        match told.status.as_str() {
            "failed" | "canceled" if moved.has(reference) => {
                found.add(
                    Violation::Untrue,
                    key,
                    format_args!("was answered {}, and its money moved", told.status),
                );
            }
            "processing" | "succeeded" if !moved.has(reference) => {
                found.add(
                    Violation::Untrue,
                    key,
                    format_args!("was answered {}, and the provider never took it", told.status),
                );
            }
            _ => {}
        }
        if told.is_first && entry.kind == Kind::Transfer && !firsts.insert(key) {
            found.add(Violation::Untrue, key, "was made for the first time more than once");
        }
        if let Some(earlier) = before.insert((entry.kind, key), told) {
            if earlier.promise != told.promise {
                found.add(
                    Violation::Untrue,
                    key,
                    format_args!("was answered {} and later {}", earlier.promise, told.promise),
                );
            }
            went_on(key, &earlier.status, &told.status, found);
        }
        if let Some(booked) = records.books.get(reference) {
            went_on(key, &told.status, &booked.status, found);
        }
    }
}

/// What was acknowledged is there, as it was.
fn kept(records: &Records, entry: &Entry, told: &Told, found: &mut Found) {
    let (key, reference) = (&entry.key, &told.reference);
    if entry.kind == Kind::Preparation {
        if !records.prepared.contains(reference) {
            found.add(Violation::Lost, key, format_args!("was acknowledged as {reference} and is not there"));
        }
        return;
    }
    match records.books.get(reference) {
        None => {
            found.add(Violation::Lost, key, format_args!("was acknowledged as {reference} and is not there"));
        }
        Some(booked) if booked.promise != told.promise => found.add(
            Violation::Lost,
            key,
            format_args!("was acknowledged as {} and is {}", told.promise, booked.promise),
        ),
        Some(_) => {}
    }
}

fn went_on(key: &str, from: &str, to: &str, found: &mut Found) {
    if rank(to) < rank(from) {
        found.add(Violation::Untrue, key, format_args!("was {from} and later {to}"));
    }
}

/// A status never goes down. A card that failed may still be paid; a transfer that failed is compared with the provider.
fn rank(status: &str) -> u8 {
    match status {
        "pending" => 0,
        "processing" | "authorized" => 1,
        "failed" | "canceled" => 2,
        _ => 3,
    }
}

fn provider(records: &Records, moved: &Moved<'_>, found: &mut Found) {
    for (reference, count) in &moved.by_reference {
        if *count > 1 {
            found.add(Violation::Doubled, reference, format_args!("is at the provider {count} times"));
        }
        if !records.books.contains_key(*reference) {
            found.add(Violation::Lost, reference, "is at the provider and not in the books");
        }
    }
    for (amount, count) in &moved.transfers_by_amount {
        if *count > 1 {
            let about = format!("the transfer of {amount}");
            found.add(Violation::Doubled, &about, format_args!("is at the provider {count} times"));
        }
    }
}

fn books(records: &Records, moved: &Moved<'_>, found: &mut Found) {
    for (reference, booked) in &records.books {
        let status = booked.status.as_str();
        match (status, moved.has(reference)) {
            ("pending", false) if records.keyless.contains(reference) => {}
            ("pending", _) if booked.is_transfer => {
                found.add(Violation::Unsettled, reference, "is still pending");
            }
            ("failed" | "canceled", true) => {
                found.add(Violation::Untrue, reference, format_args!("is {status}, and its money moved"));
            }
            ("processing" | "succeeded", false) => {
                found.add(
                    Violation::Untrue,
                    reference,
                    format_args!("is {status}, and the provider never took it"),
                );
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(reference: &str, status: &str, is_first: bool) -> Outcome {
        let promise = json!({ "serviceReference": reference, "feeMinor": "25" });
        Outcome::Told(Told { reference: reference.to_owned(), promise, status: status.to_owned(), is_first })
    }

    fn entry(kind: Kind, key: &str, amount: u64, outcome: Outcome) -> Entry {
        Entry { kind, key: key.to_owned(), amount, tollgate: 0, sent: 1, at: 2, outcome }
    }

    fn taken(reference: &str, is_transfer: bool, amount: u64) -> Taken {
        Taken { reference: reference.to_owned(), is_transfer, amount, moved: true }
    }

    fn book(records: &mut Records, reference: &str, is_transfer: bool, status: &str) {
        let promise = json!({ "serviceReference": reference, "feeMinor": "25" });
        records
            .books
            .insert(reference.to_owned(), Booked { is_transfer, promise, status: status.to_owned() });
    }

    /// A transfer that was retried, one that was refused, and a card payment: nothing is wrong with any.
    fn sound() -> Records {
        let mut records = Records {
            callers: vec![
                entry(Kind::Transfer, "k1", 101, Outcome::Lost("closed".to_owned())),
                entry(Kind::Transfer, "k1", 101, Outcome::Unclear("503".to_owned())),
                entry(Kind::Transfer, "k1", 101, told("a", "pending", true)),
                entry(Kind::Transfer, "k1", 101, told("a", "processing", false)),
                entry(Kind::Transfer, "k2", 102, Outcome::Refused("422".to_owned())),
                entry(Kind::Preparation, "c1", 0, told("c", "pending", true)),
                entry(Kind::Confirmation, "c1", 0, told("c", "succeeded", false)),
            ],
            provider: vec![taken("a", true, 101), taken("c", false, 50)],
            prepared: ["c".to_owned()].into(),
            ..Records::default()
        };
        book(&mut records, "a", true, "processing");
        book(&mut records, "b", true, "failed");
        book(&mut records, "c", false, "succeeded");
        records
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Records), expected: &[&str]) {
        let mut records = sound();
        change(&mut records);
        let found: Vec<String> = compare(&records).texts().collect();
        for words in expected {
            assert!(found.iter().any(|text| text.contains(words)), "{words}: {found:?}");
        }
        assert_eq!(found.is_empty(), expected.is_empty(), "{found:?}");
    }

    #[test]
    fn a_sound_world_has_no_violations() {
        check(|_| {}, &[]);
    }

    #[test]
    fn what_was_acknowledged_and_is_gone_is_lost() {
        check(
            |records| drop(records.books.remove("a")),
            &["lost: k1", "lost: a is at the provider and not in the books"],
        );
        check(|records| records.prepared.clear(), &["lost: c1"]);
        let change = |records: &mut Records| {
            if let Some(booked) = records.books.get_mut("a") {
                booked.promise = json!({ "serviceReference": "a", "feeMinor": "26" });
            }
        };
        check(change, &["lost: k1 was acknowledged as"]);
    }

    #[test]
    fn what_the_provider_has_twice_is_doubled() {
        check(
            |records| records.provider.push(taken("c", false, 50)),
            &["doubled: c is at the provider 2 times"],
        );
        // Under another reference, where only the amount gives it away.
        let change = |records: &mut Records| {
            records.provider.push(taken("d", true, 101));
            book(records, "d", true, "processing");
        };
        check(change, &["doubled: the transfer of 101"]);
    }

    #[test]
    fn answers_that_were_not_so_are_untrue() {
        let refused = |records: &mut Records| {
            records.provider.push(taken("b", true, 102));
        };
        check(refused, &["untrue: k2 was refused (422), and its money moved", "untrue: b is failed"]);
        let never = |records: &mut Records| records.provider.retain(|taken| taken.reference != "a");
        check(never, &["untrue: k1 was answered processing, and the provider never took it"]);
        let back = |records: &mut Records| {
            records.callers.push(entry(Kind::Transfer, "k1", 101, told("a", "pending", false)));
        };
        check(back, &["untrue: k1 was processing and later pending"]);
        check(
            |records| book(records, "c", false, "processing"),
            &["untrue: c1 was succeeded and later processing"],
        );
        let twice = |records: &mut Records| {
            records.callers.push(entry(Kind::Transfer, "k1", 101, told("a", "processing", true)));
        };
        check(twice, &["untrue: k1 was made for the first time more than once"]);
        let failed = |records: &mut Records| {
            records.callers.push(entry(Kind::Confirmation, "c2", 0, told("c", "failed", false)));
        };
        check(failed, &["untrue: c2 was answered failed, and its money moved"]);
    }

    #[test]
    fn what_is_pending_and_what_the_audit_finds_count() {
        check(|records| book(records, "b", true, "pending"), &["unsettled: b"]);
        let keyless = |records: &mut Records| {
            book(records, "b", true, "pending");
            records.keyless.insert("b".to_owned());
        };
        check(keyless, &[]);
        let sent = |records: &mut Records| {
            keyless(records);
            records.provider.push(taken("b", true, 999));
        };
        check(sent, &["unsettled: b"]);
        check(|records| records.findings.push("the wallet".to_owned()), &["books: the wallet"]);
    }
}
