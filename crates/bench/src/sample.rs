//! Rounds as they were measured, and numbers as people and programs read them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Fault;
use crate::load::Measured;
use crate::process::{self, Process};

/// One round of one thing.
pub(crate) struct Sample {
    pub(crate) measured: Measured,
    pub(crate) spent: Spent,
}

/// Processor time of those who took part, which others' share of the machine does not blur.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spent {
    /// Whoever is measured.
    pub(crate) server: Option<Duration>,
    /// The database server, with all its processes.
    pub(crate) database: Option<Duration>,
    pub(crate) provider: Option<Duration>,
}

/// Who takes part.
#[derive(Clone, Copy, Default)]
pub(crate) struct Clock {
    server: Option<u32>,
    database: Option<u32>,
    provider: Option<u32>,
}

/// All rounds of one thing.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) samples: Vec<Sample>,
}

impl Clock {
    pub(crate) fn of(server: &Process) -> Self {
        Self::default().with_server(server)
    }

    pub(crate) fn with_server(self, server: &Process) -> Self {
        Self { server: Some(server.id()), ..self }
    }

    /// The work is done in this very process.
    pub(crate) fn with_own(self) -> Self {
        Self { server: Some(std::process::id()), ..self }
    }

    pub(crate) fn with_provider(self, provider: &Process) -> Self {
        Self { provider: Some(provider.id()), ..self }
    }

    pub(crate) fn with_database(self, database: Option<u32>) -> Self {
        Self { database, ..self }
    }

    fn read(self) -> Result<Spent, Fault> {
        Ok(Spent {
            server: self.server.map(process::processor_time).transpose()?,
            database: self.database.map(process::family_processor_time).transpose()?,
            provider: self.provider.map(process::processor_time).transpose()?,
        })
    }

    /// The round with what everybody spent on it.
    pub(crate) async fn around(
        self,
        round: impl Future<Output = Result<Measured, Fault>>,
    ) -> Result<Sample, Fault> {
        let before = self.read()?;
        let measured = round.await?;
        let after = self.read()?;
        let between =
            |after: Option<Duration>, before: Option<Duration>| Some(after?.saturating_sub(before?));
        let spent = Spent {
            server: between(after.server, before.server),
            database: between(after.database, before.database),
            provider: between(after.provider, before.provider),
        };
        Ok(Sample { measured, spent })
    }
}

impl Sample {
    pub(crate) fn p50(&self) -> Duration {
        self.measured.latencies.quantile(0.5)
    }

    pub(crate) fn p99(&self) -> Duration {
        self.measured.latencies.quantile(0.99)
    }

    /// The server's processor time per answer.
    pub(crate) fn processor_time(&self) -> Duration {
        self.per_answer(self.spent.server).unwrap_or_default()
    }

    fn per_answer(&self, spent: Option<Duration>) -> Option<Duration> {
        let answers = self.measured.answers + self.measured.beside;
        let nanoseconds = spent?.as_nanos() / u128::from(answers.max(1));
        Some(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX)))
    }

    fn figures(&self) -> Figures {
        let spent = |spent| self.per_answer(spent).map(nanoseconds);
        Figures {
            per_second: self.measured.per_second(),
            p50: nanoseconds(self.p50()),
            p99: nanoseconds(self.p99()),
            server: spent(self.spent.server),
            database: spent(self.spent.database),
            provider: spent(self.spent.provider),
        }
    }
}

/// What is told of a round; times in nanoseconds, processor time per answer.
struct Figures {
    per_second: u64,
    p50: u64,
    p99: u64,
    server: Option<u64>,
    database: Option<u64>,
    provider: Option<u64>,
}

impl Figures {
    /// The median of each figure by itself.
    fn medians(all: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> u64| median(all.iter().map(figure).collect());
        let spent = |figure: fn(&Self) -> Option<u64>| {
            let all: Vec<u64> = all.iter().filter_map(figure).collect();
            (!all.is_empty()).then(|| median(all))
        };
        Self {
            per_second: of(|figures| figures.per_second),
            p50: of(|figures| figures.p50),
            p99: of(|figures| figures.p99),
            server: spent(|figures| figures.server),
            database: spent(|figures| figures.database),
            provider: spent(|figures| figures.provider),
        }
    }

    /// A row of the table under [`HEADING`].
    fn row(&self, round: &str, name: &str, failed: u64) -> String {
        let time = |nanoseconds| microseconds(Duration::from_nanos(nanoseconds));
        let spent = |nanoseconds: Option<u64>| nanoseconds.map_or_else(|| "-".to_owned(), time);
        format!(
            "  {round:>6}  {name:<29}  {:>8}  {:>11}  {:>11}  {:>9}  {:>9}  {:>9}  {failed:>6}\n",
            self.per_second,
            time(self.p50),
            time(self.p99),
            spent(self.server),
            spent(self.database),
            spent(self.provider),
        )
    }

    fn json(&self) -> Value {
        json!({
            "perSecond": self.per_second,
            "p50Nanoseconds": self.p50,
            "p99Nanoseconds": self.p99,
            "serverProcessorNanoseconds": self.server,
            "databaseProcessorNanoseconds": self.database,
            "providerProcessorNanoseconds": self.provider,
        })
    }
}

/// The last three columns before the failures are processor time per answer.
const HEADING: &str = "   round  what                              per s          p50          p99     server   database   provider  failed\n";

/// The rounds of all series, in the order they were made, and their medians.
pub(crate) fn table(series: &[&Series]) -> String {
    let mut text = HEADING.to_owned();
    let rounds = series.iter().map(|series| series.samples.len()).max().unwrap_or_default();
    for round in 0..rounds {
        for series in series {
            if let Some(sample) = series.samples.get(round) {
                let failed = sample.measured.refusals;
                text.push_str(&sample.figures().row(&(round + 1).to_string(), &series.name, failed));
            }
        }
    }
    for series in series {
        let failed = series.samples.iter().map(|sample| sample.measured.refusals).sum();
        text.push_str(&series.medians().row("median", &series.name, failed));
    }
    text
}

pub(crate) fn json_of(series: &[&Series]) -> Value {
    let one = |series: &&Series| {
        let rounds: Vec<Value> = series.samples.iter().map(|sample| sample.figures().json()).collect();
        let failed: u64 = series.samples.iter().map(|sample| sample.measured.refusals).sum();
        json!({"name": series.name, "medians": series.medians().json(), "rounds": rounds, "failed": failed})
    };
    series.iter().map(one).collect()
}

impl Series {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), samples: Vec::new() }
    }

    fn medians(&self) -> Figures {
        Figures::medians(&self.samples.iter().map(Sample::figures).collect::<Vec<_>>())
    }

    pub(crate) fn complaints(&self) -> impl Iterator<Item = String> {
        self.samples.iter().enumerate().filter_map(|(round, sample)| {
            sample.measured.complaint(&format!("{}, round {}", self.name, round + 1))
        })
    }

    /// Median over the rounds of this one's rate to that of doing all of the others one after the other, in thousandths.
    pub(crate) fn ratio(&self, others: &[&Self]) -> u64 {
        let rate = |series: &Self, round: usize| {
            series.samples.get(round).map(|sample| sample.measured.per_second())
        };
        let of_round = |round| {
            let others: Option<Vec<u64>> = others.iter().map(|other| rate(other, round)).collect();
            Some(to_sum(rate(self, round)?, &others?))
        };
        median((0..self.samples.len()).filter_map(of_round).collect())
    }
}

/// A rate as thousandths of the rate of doing all of these one after the other: the times add up.
fn to_sum(rate: u64, others: &[u64]) -> u64 {
    let picoseconds = |rate: u64| 1_000_000_000_000 / u128::from(rate.max(1));
    let together: u128 = others.iter().map(|rate| picoseconds(*rate)).sum();
    u64::try_from(u128::from(rate) * together / 1_000_000_000).unwrap_or(u64::MAX)
}

pub(crate) fn per_mille(part: u64, whole: u64) -> u64 {
    let ratio = u128::from(part) * 1000 / u128::from(whole.max(1));
    u64::try_from(ratio).unwrap_or(u64::MAX)
}

/// The middle value; of an even number, the lower of the two in the middle; zero of none.
pub(crate) fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    let middle = values.len().saturating_sub(1) / 2;
    values.get(middle).copied().unwrap_or(0)
}

pub(crate) fn thousandths(value: u64) -> String {
    format!("{}.{:03}", value / 1000, value % 1000)
}

pub(crate) fn microseconds(duration: Duration) -> String {
    let tenths = duration.as_nanos() / 100;
    format!("{}.{} µs", tenths / 10, tenths % 10)
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, rates: &[u64]) -> Series {
        let sample = |answers: &u64| {
            let measured = Measured { answers: *answers, elapsed: Duration::from_secs(1), ..Measured::new() };
            Sample { measured, spent: Spent::default() }
        };
        Series { name: name.to_owned(), samples: rates.iter().map(sample).collect() }
    }

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

    #[test]
    fn times_one_after_the_other_add_up() {
        assert_eq!(to_sum(500, &[1000]), 500);
        // A thousandth and a thousandth of a second make 500 per second.
        assert_eq!(to_sum(500, &[1000, 1000]), 1000);
        assert_eq!(to_sum(100, &[400, 100]), 1250);
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let (product, raw) = (series("product", &[80, 10, 90]), series("raw", &[100, 100, 100]));
        assert_eq!(product.ratio(&[&raw]), 800);
        assert_eq!(product.medians().per_second, 80);
        let shown = table(&[&product, &raw]);
        assert_eq!(shown.lines().count(), 1 + 6 + 2);
    }
}
