//! Failover as a command. A PostgreSQL cluster, two Tollgate nodes and a provider are broken in a seeded order while callers
//! write; afterwards the callers', the provider's and Tollgate's records are compared, and every violation is a failure.

mod check;
mod clock;
mod cluster;
mod faults;
mod link;
mod probe;
mod readiness;
mod record;
mod report;
mod world;
mod writers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use tollgate_bench::{Fault, launch, unless_stopped};

use cluster::Setup;
use faults::Counts;
use probe::Probe;
use report::{Outages, Report, Totals};
use world::World;

/// How long callers write before the first fault, and between two.
const CALM: Duration = Duration::from_secs(2);

/// Breaks a PostgreSQL cluster, Tollgate and the provider under load, and compares all records.
#[derive(Parser)]
#[command(name = "tollgate-drill", version)]
struct Arguments {
    /// The product's binary [default: beside this program].
    #[arg(long, value_name = "FILE")]
    tollgate_bin: Option<PathBuf>,
    /// The directory of `postgres` and `initdb`.
    #[arg(long, value_name = "DIRECTORY", env = "TOLLGATE_DRILL_POSTGRES")]
    postgres: PathBuf,
    /// Who PostgreSQL runs as where we are root, as UID:GID.
    #[arg(long, value_name = "UID:GID", env = "TOLLGATE_DRILL_ACCOUNT", value_parser = account)]
    account: Option<(u32, u32)>,
    /// Replays the order of the faults of another run.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    counts: Counts,
    /// The control: commits wait for no standby, and replication stops before each leader is killed. Must report loss.
    #[arg(long)]
    unsafe_replication: bool,
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
    /// Keep the directory with the callers' record and all logs.
    #[arg(long)]
    keep: bool,
}

fn account(text: &str) -> Result<(u32, u32), String> {
    let (user, group) = text.split_once(':').ok_or("it must be UID:GID")?;
    let number = |text: &str| text.parse().map_err(|_| format!("{text} is not a number"));
    Ok((number(user)?, number(group)?))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool, Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let report = runtime.block_on(unless_stopped(drill(arguments)))?;
    if arguments.json {
        println!("{}", report.json());
    } else {
        print!("{}", report.table());
    }
    Ok(report.found.is_empty())
}

async fn drill(arguments: &Arguments) -> Result<Report, Fault> {
    let seed = arguments.seed.unwrap_or_else(|| rand::random_range(1..1_000_000));
    eprintln!("seed {seed}");
    let binary = launch::binary(arguments.tollgate_bin.as_deref())?;
    let mut directory = tempfile::Builder::new().prefix("tollgate-drill-").tempdir()?;
    world::open_for_others(directory.path())?;
    directory.disable_cleanup(arguments.keep);
    if arguments.keep {
        eprintln!("records and logs are in {}", directory.path().display());
    }
    let mut counts = arguments.counts;
    if counts.full_disks > 0 && arguments.account.is_none() {
        eprintln!("no disk is filled: mounting a small one needs root");
        counts.full_disks = 0;
    }
    let setup = Setup {
        directory: directory.path(),
        postgres: &arguments.postgres,
        account: arguments.account,
        synchronous: !arguments.unsafe_replication,
        small_disk: counts.full_disks > 0,
        wrong_clocks: counts.clock_jumps > 0,
    };
    let mut world = World::start(&setup, binary).await?;
    let probe = Probe::start(world.cluster.nodes.iter().map(|node| node.server), &world.record);
    let writers = world.writers().await?;
    let began = Instant::now();
    let plan = faults::plan(seed, counts);
    let mut strikes = Vec::new();
    for (number, mishap) in plan.iter().enumerate() {
        tokio::time::sleep(CALM).await;
        let strike = world.strike(*mishap).await?;
        let took = strike.to - strike.from;
        eprintln!("{}/{}: {}, whole again after {took} ms", number + 1, plan.len(), mishap.name());
        strikes.push(strike);
    }
    tokio::time::sleep(CALM).await;
    writers.stop().await?;
    world.set_clocks()?;
    let took = began.elapsed();
    let settled_within = world.settle().await?;
    let records = world.records().await?;
    Ok(Report {
        seed,
        synchronous: setup.synchronous,
        took,
        settled_within,
        outages: Outages::measure(&strikes, &world.record.writes(), &probe.writes()),
        totals: Totals::of(&records),
        found: check::compare(&records),
    })
}
