//! The results of the quote, as a table for people and as one JSON object for programs.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::load::Measured;
use crate::rules::{COUNTS, RulesMeasured};
use crate::sample::{Sample, median, microseconds, milliseconds, nanoseconds, per_mille, thousandths};

/// A round against each server, one right after the other.
pub(crate) struct Round {
    pub(crate) echo: Sample,
    pub(crate) quote: Sample,
}

/// Everything a run found out.
pub(crate) struct Report {
    pub(crate) connections: u32,
    pub(crate) answer_bytes: usize,
    pub(crate) ready_new: Duration,
    pub(crate) ready_existing: Duration,
    pub(crate) ready_after_run: Duration,
    pub(crate) rounds: Vec<Round>,
    pub(crate) quotes: u64,
    pub(crate) memory_start_kib: u64,
    pub(crate) memory_end_kib: u64,
    pub(crate) rules: Vec<RulesMeasured>,
    /// What makes the run a failure, one sentence each.
    pub(crate) failures: Vec<String>,
}

/// A round's row of the table.
fn row(sample: &Sample, number: usize, name: &str) -> String {
    format!(
        "  {number:>5}  {name:<5}  {:>8}  {:>10}  {:>10}  {:>12}  {:>7}\n",
        sample.measured.per_second(),
        microseconds(sample.p50()),
        microseconds(sample.p99()),
        microseconds(sample.processor_time()),
        sample.measured.refusals,
    )
}

fn round_json(sample: &Sample) -> Value {
    json!({
        "requestsPerSecond": sample.measured.per_second(),
        "p50Nanoseconds": nanoseconds(sample.p50()),
        "p99Nanoseconds": nanoseconds(sample.p99()),
        "serverProcessorNanosecondsPerRequest": nanoseconds(sample.processor_time()),
        "non200": sample.measured.refusals,
        "brokenConnections": sample.measured.faults.len(),
    })
}

impl Report {
    /// Median over the rounds of quote ÷ echo, in thousandths: throughput, 99th percentile, processor time.
    fn ratios(&self) -> [u64; 3] {
        let median_of = |value: fn(&Sample) -> u64| {
            median(
                self.rounds.iter().map(|round| per_mille(value(&round.quote), value(&round.echo))).collect(),
            )
        };
        [
            median_of(|sample| sample.measured.per_second()),
            median_of(|sample| nanoseconds(sample.p99())),
            median_of(|sample| nanoseconds(sample.processor_time())),
        ]
    }

    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "Ready\n  new database                      {:>6} ms\n  existing database                 {:>6} ms\n  \
             existing database, after this run {:>6} ms\n\n",
            self.ready_new.as_millis(),
            self.ready_existing.as_millis(),
            self.ready_after_run.as_millis(),
        );
        let _ = writeln!(
            text,
            "Quote and echo, {} connections, answers of {} bytes",
            self.connections, self.answer_bytes
        );
        text.push_str("  round  what      req/s         p50         p99  server cpu/r  non-200\n");
        for (index, round) in self.rounds.iter().enumerate() {
            text.push_str(&row(&round.echo, index + 1, "echo"));
            text.push_str(&row(&round.quote, index + 1, "quote"));
        }
        let [throughput, p99, processor] = self.ratios().map(thousandths);
        let _ = writeln!(text, "  quote ÷ echo, median of the rounds: throughput {throughput}");
        let _ = writeln!(
            text,
            "                                      p99 {p99}, server cpu per request {processor}"
        );
        let _ = writeln!(
            text,
            "\nMemory\n  at start             {:>8} KiB\n  after {:>10} quotes {:>6} KiB",
            self.memory_start_kib, self.quotes, self.memory_end_kib
        );
        if !self.rules.is_empty() {
            let _ = writeln!(text, "\nRules, none matching (cost relative to {} rules)", COUNTS[0]);
            text.push_str("  shape                 rules         p50   cost     req/s   cost  non-200\n");
            for row in &self.rules {
                let [latency, throughput] = self.cost(row).map(thousandths);
                let _ = writeln!(
                    text,
                    "  {:<20}  {:>5}  {:>10}  {latency:>5}  {:>8}  {throughput:>5}  {:>7}",
                    row.shape.name(),
                    row.count,
                    microseconds(row.alone.latencies.quantile(0.5)),
                    row.together.per_second(),
                    row.alone.refusals + row.together.refusals,
                );
            }
        }
        for failure in &self.failures {
            let _ = writeln!(text, "\nFAILED: {failure}");
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let [throughput, p99, processor] = self.ratios();
        let rounds = self
            .rounds
            .iter()
            .map(|round| json!({"echo": round_json(&round.echo), "quote": round_json(&round.quote)}));
        let rules = self.rules.iter().map(|row| {
            let [latency, throughput] = self.cost(row);
            json!({
                "shape": row.shape.name(),
                "rules": row.count,
                "p50Nanoseconds": nanoseconds(row.alone.latencies.quantile(0.5)),
                "requestsPerSecond": row.together.per_second(),
                "latencyCostPerMille": latency,
                "throughputCostPerMille": throughput,
                "non200": row.alone.refusals + row.together.refusals,
            })
        });
        json!({
            "connections": self.connections,
            "answerBytes": self.answer_bytes,
            "readyMilliseconds": {
                "newDatabase": milliseconds(self.ready_new),
                "existingDatabase": milliseconds(self.ready_existing),
                "existingDatabaseAfterRun": milliseconds(self.ready_after_run),
            },
            "rounds": rounds.collect::<Vec<_>>(),
            "quoteToEchoPerMille": {"throughput": throughput, "p99": p99, "serverProcessorTime": processor},
            "quotes": self.quotes,
            "memoryKib": {"start": self.memory_start_kib, "end": self.memory_end_kib},
            "rules": rules.collect::<Vec<_>>(),
            "failures": self.failures,
        })
    }

    /// How much more a quote costs than with the fewest rules of the same shape, in thousandths: by its latency
    /// alone and by the throughput of many.
    fn cost(&self, row: &RulesMeasured) -> [u64; 2] {
        let is_base = |other: &&RulesMeasured| other.shape == row.shape && other.count == COUNTS[0];
        let Some(base) = self.rules.iter().find(is_base) else { return [0, 0] };
        let p50 = |measured: &Measured| nanoseconds(measured.latencies.quantile(0.5));
        [
            per_mille(p50(&row.alone), p50(&base.alone)),
            per_mille(base.together.per_second(), row.together.per_second()),
        ]
    }
}
