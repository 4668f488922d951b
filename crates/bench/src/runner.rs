//! Things that are measured in turns.

use crate::Fault;
use crate::load::{self, Measured, Target, Until};
use crate::options::Options;
use crate::pgbench::Pgbench;
use crate::raw_postgres::RawPostgres;
use crate::raw_sqlite::RawSqlite;
use crate::sample::{Clock, Series};

const WARM_UP_SECONDS: u64 = 1;
const REQUESTS_MAX: u64 = 1_000_000;

/// What a round does.
pub(crate) enum Work {
    /// Requests over HTTP.
    Http(Target),
    Sqlite(RawSqlite),
    Postgres(RawPostgres),
    Pgbench(Pgbench),
}

/// One of the things that are measured in turns.
pub(crate) struct Runner {
    work: Work,
    clock: Clock,
    pub(crate) series: Series,
    /// Answers in all rounds, and before them to warm up, that were as wanted.
    accepted: u64,
    /// What went wrong while it warmed up.
    complaint: Option<String>,
}

impl Runner {
    pub(crate) fn new(name: impl Into<String>, work: Work, clock: Clock) -> Self {
        Self { work, clock, series: Series::new(name), accepted: 0, complaint: None }
    }

    async fn run(&self, connections: u32, until: Until) -> Result<Measured, Fault> {
        let outcome = match &self.work {
            Work::Http(target) => load::run(target, connections, until).await,
            Work::Sqlite(raw) => raw.run(until).await,
            Work::Postgres(raw) => raw.run(until).await,
            Work::Pgbench(pgbench) => pgbench.run(connections, until).await,
        };
        outcome.map_err(|fault| format!("{}: {fault}", self.series.name).into())
    }

    pub(crate) fn is_http(&self) -> bool {
        matches!(self.work, Work::Http(_))
    }

    /// How many answers were as wanted, since the beginning.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted
    }

    pub(crate) fn complaints(&self) -> Vec<String> {
        self.complaint.iter().cloned().chain(self.series.complaints()).collect()
    }
}

/// A round of each to warm up, and then rounds of each in turn. Those that are not wanted are gone afterwards.
pub(crate) async fn take_turns(runners: &mut Vec<Runner>, options: &Options) -> Result<(), Fault> {
    if let Some(only) = &options.only {
        runners.retain(|runner| runner.series.name.starts_with(only));
    }
    if runners.is_empty() {
        return Ok(());
    }
    for runner in &mut *runners {
        eprintln!("warming up: {}", runner.series.name);
        let measured = runner.run(options.connections, round(WARM_UP_SECONDS)).await?;
        runner.accepted += measured.answers - measured.refusals;
        runner.complaint = measured.complaint(&format!("{}, warm-up", runner.series.name));
    }
    for number in 1..=options.rounds {
        eprintln!("round {number} of {}", options.rounds);
        for runner in &mut *runners {
            let round = runner.run(options.connections, round(options.seconds));
            let sample = runner.clock.around(round).await?;
            runner.accepted += sample.measured.answers - sample.measured.refusals;
            runner.series.samples.push(sample);
        }
    }
    Ok(())
}

fn round(seconds: u64) -> Until {
    Until { requests_max: REQUESTS_MAX, ..Until::seconds(seconds) }
}
