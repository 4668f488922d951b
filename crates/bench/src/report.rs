//! The results, as a table for people and as one JSON object for programs.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::load::Measured;
use crate::rules::{COUNTS, RulesMeasured};

/// One round against one server.
pub(crate) struct Sample {
    pub(crate) measured: Measured,
    /// Processor time the server itself used, which the load generator's share of the machine does not blur.
    pub(crate) processor_time: Duration,
}

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

impl Sample {
    fn p50(&self) -> Duration {
        self.measured.latencies.percentile(500)
    }

    fn p99(&self) -> Duration {
        self.measured.latencies.percentile(990)
    }

    fn processor_time_per_answer(&self) -> Duration {
        let nanoseconds = self.processor_time.as_nanos() / u128::from(self.measured.answers.max(1));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    fn row(&self, number: usize, name: &str) -> String {
        format!(
            "  {number:>5}  {name:<5}  {:>8}  {:>10}  {:>10}  {:>12}  {:>7}\n",
            self.measured.per_second(),
            microseconds(self.p50()),
            microseconds(self.p99()),
            microseconds(self.processor_time_per_answer()),
            self.measured.refusals,
        )
    }

    fn json(&self) -> Value {
        json!({
            "requestsPerSecond": self.measured.per_second(),
            "p50Nanoseconds": nanoseconds(self.p50()),
            "p99Nanoseconds": nanoseconds(self.p99()),
            "serverProcessorNanosecondsPerRequest": nanoseconds(self.processor_time_per_answer()),
            "non200": self.measured.refusals,
            "brokenConnections": self.measured.faults.len(),
        })
    }
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
            median_of(|sample| nanoseconds(sample.processor_time_per_answer())),
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
            text.push_str(&round.echo.row(index + 1, "echo"));
            text.push_str(&round.quote.row(index + 1, "quote"));
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
                    microseconds(row.alone.latencies.percentile(500)),
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
        let rounds =
            self.rounds.iter().map(|round| json!({"echo": round.echo.json(), "quote": round.quote.json()}));
        let rules = self.rules.iter().map(|row| {
            let [latency, throughput] = self.cost(row);
            json!({
                "shape": row.shape.name(),
                "rules": row.count,
                "p50Nanoseconds": nanoseconds(row.alone.latencies.percentile(500)),
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
        let p50 = |measured: &Measured| nanoseconds(measured.latencies.percentile(500));
        [
            per_mille(p50(&row.alone), p50(&base.alone)),
            per_mille(base.together.per_second(), row.together.per_second()),
        ]
    }
}

fn per_mille(part: u64, whole: u64) -> u64 {
    let ratio = u128::from(part) * 1000 / u128::from(whole.max(1));
    u64::try_from(ratio).unwrap_or(u64::MAX)
}

/// The middle value; of an even number, the lower of the two in the middle; zero of none.
fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    let middle = values.len().saturating_sub(1) / 2;
    values.get(middle).copied().unwrap_or(0)
}

fn thousandths(value: u64) -> String {
    format!("{}.{:03}", value / 1000, value % 1000)
}

fn microseconds(duration: Duration) -> String {
    let tenths = duration.as_nanos() / 100;
    format!("{}.{} µs", tenths / 10, tenths % 10)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(thousandths(per_mille(37_500, 50_000)), "0.750");
        assert_eq!(thousandths(12_034), "12.034");
        assert_eq!(per_mille(1, 0), 1000);
        assert_eq!(microseconds(Duration::from_nanos(123_456)), "123.4 µs");
    }

    #[test]
    fn the_median_is_a_value_that_was_seen() {
        assert_eq!(median(vec![]), 0);
        assert_eq!(median(vec![9, 1, 5]), 5);
        assert_eq!(median(vec![4, 1, 3, 2]), 2);
    }
}
