//! What came of it, for a person and for a program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{Found, Records, Violation};
use crate::record::{Kind, Outcome, longest_gap};
use crate::world::Strike;

/// How many violations are shown in full.
const SHOWN: usize = 20;

pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) synchronous: bool,
    pub(crate) took: Duration,
    pub(crate) settled_within: Duration,
    /// In the order of the first of each kind.
    pub(crate) outages: Vec<Outages>,
    pub(crate) totals: Totals,
    pub(crate) found: Found,
}

/// How long writes stopped, for all faults of a kind, in milliseconds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outages {
    name: &'static str,
    /// From the last acknowledged transfer to the next.
    tollgate: Vec<u64>,
    /// The same for somebody who only writes to PostgreSQL, whichever server takes it.
    cluster: Vec<u64>,
    /// What the first takes longer than the second.
    beyond: Vec<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Totals {
    transfers: usize,
    payments: usize,
    refused: usize,
    answers: usize,
    unclear: usize,
    lost: usize,
    keyless: usize,
}

impl Outages {
    pub(crate) fn measure(strikes: &[Strike], tollgate: &[u64], cluster: &[u64]) -> Vec<Self> {
        let mut by_name = BTreeMap::<_, Self>::new();
        for strike in strikes {
            let gap = |successes: &[u64]| {
                longest_gap(successes, strike.from, strike.to).unwrap_or(strike.to - strike.from)
            };
            let (ours, theirs) = (gap(tollgate), gap(cluster));
            let name = strike.mishap.name();
            let outages = by_name.entry(name).or_insert_with(|| Self { name, ..Self::default() });
            outages.tollgate.push(ours);
            outages.cluster.push(theirs);
            outages.beyond.push(ours.saturating_sub(theirs));
        }
        let mut all: Vec<Self> = by_name.into_values().collect();
        for outages in &mut all {
            for series in [&mut outages.tollgate, &mut outages.cluster, &mut outages.beyond] {
                series.sort_unstable();
            }
        }
        all
    }

    fn row(&self) -> String {
        let [ours, theirs, beyond] = [&self.tollgate, &self.cluster, &self.beyond].map(|series| {
            let cell = |percent| seconds(percentile(series, percent));
            format!("{} | {} | {}", cell(50), cell(95), cell(100))
        });
        format!("| {} | {} | {ours} | {theirs} | {beyond} |", self.name, self.tollgate.len())
    }

    fn json(&self) -> Value {
        let series = |series: &[u64]| json!({"p50": percentile(series, 50), "p95": percentile(series, 95), "max": percentile(series, 100)});
        json!({
            "fault": self.name, "times": self.tollgate.len(), "tollgateMs": series(&self.tollgate),
            "clusterMs": series(&self.cluster), "beyondMs": series(&self.beyond),
        })
    }
}

/// The nearest rank, of a sorted list.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

fn seconds(millis: u64) -> String {
    format!("{}.{:02} s", millis / 1_000, millis % 1_000 / 10)
}

impl Totals {
    pub(crate) fn of(records: &Records) -> Self {
        let mut totals = Self { keyless: records.keyless.len(), ..Self::default() };
        for entry in &records.callers {
            match &entry.outcome {
                Outcome::Told(told) => {
                    totals.answers += 1;
                    let is_first = told.is_first && entry.kind == Kind::Transfer;
                    totals.transfers += usize::from(is_first);
                    totals.payments += usize::from(entry.kind == Kind::Preparation);
                }
                Outcome::Refused(_) => {
                    totals.answers += 1;
                    totals.refused += usize::from(entry.kind == Kind::Transfer);
                }
                Outcome::Unclear(_) => totals.unclear += 1,
                Outcome::Lost(_) => totals.lost += 1,
            }
        }
        totals
    }
}

impl Report {
    pub(crate) fn table(&self) -> String {
        let Totals { transfers, payments, refused, answers, unclear, lost, keyless } = &self.totals;
        let faults: usize = self.outages.iter().map(|outages| outages.tollgate.len()).sum();
        let mut text = format!(
            "Seed {}: {faults} faults in {} s, synchronous replication {}; settled {} s after the last\n\
             {transfers} transfers made, {refused} refusals, {payments} card payments prepared; {answers} definite \
             answers, {unclear} answers to try again, {lost} requests without an answer\n\n",
            self.seed,
            self.took.as_secs(),
            if self.synchronous { "on" } else { "OFF" },
            self.settled_within.as_secs(),
        );
        text += "| fault | times | writes stopped p50 | p95 | max | cluster alone p50 | p95 | max | beyond it p50 | p95 | max |\n";
        text += "|---|---|---|---|---|---|---|---|---|---|---|\n";
        for outages in &self.outages {
            let _ = writeln!(text, "{}", outages.row());
        }
        let counts = Violation::ALL.map(|kind| format!("{} {}", kind.name(), self.found.count(kind)));
        if *keyless > 0 {
            let _ = writeln!(
                text,
                "\n{keyless} transfers were never sent: their bank details were lost with the memory of database and node. \
                 They fail after an hour."
            );
        }
        let _ = writeln!(text, "\nviolations: {}", counts.join(", "));
        for violation in self.found.texts().take(SHOWN) {
            let _ = writeln!(text, "  {violation}");
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let Totals { transfers, payments, refused, answers, unclear, lost, keyless } = &self.totals;
        let counts = Violation::ALL.map(|kind| (kind.name().to_owned(), self.found.count(kind).into()));
        json!({
            "seed": self.seed,
            "synchronousReplication": self.synchronous,
            "seconds": self.took.as_secs(),
            "settledSeconds": self.settled_within.as_secs(),
            "transfers": transfers, "refusals": refused, "cardPayments": payments,
            "answers": answers, "unclear": unclear, "unanswered": lost, "withoutBankDetails": keyless,
            "outages": self.outages.iter().map(Outages::json).collect::<Vec<_>>(),
            "violations": counts.into_iter().collect::<serde_json::Map<_, _>>(),
            "details": self.found.texts().collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Mishap;

    #[test]
    fn what_takes_longer_than_the_cluster_is_shown() {
        let strike = |from, to| Strike { mishap: Mishap::LeaderKilled, from, to };
        let (tollgate, cluster) = ([90, 5_300, 20_000, 29_000], [95, 5_100, 20_000, 28_000]);
        let outages = Outages::measure(&[strike(100, 6_000), strike(20_500, 21_000)], &tollgate, &cluster);
        let [outages] = outages.as_slice() else { panic!("{outages:?}") };
        // The second gap of the first span is longer, and counts.
        assert_eq!(outages.tollgate, [9_000, 14_700]);
        assert_eq!(outages.cluster, [8_000, 14_900]);
        assert_eq!(outages.beyond, [0, 1_000]);
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let sorted: Vec<u64> = (1..=20).collect();
        assert_eq!([50, 95, 100].map(|percent| percentile(&sorted, percent)), [10, 19, 20]);
        assert_eq!(percentile(&[7], 50), 7);
        assert_eq!(seconds(5_678), "5.67 s");
    }
}
