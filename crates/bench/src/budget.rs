//! What one bank transfer costs and leaves behind, from the request until it is settled and in the index, and whether that is within
//! its budget. What is counted does not depend on how fast the machine is; processor time does, and has no limit.

use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::Fault;
use crate::call::Caller;
use crate::databases::{self, Databases, with_databases};
use crate::filling::{self, Sample};
use crate::launch;
use crate::phases::{Collector, Phase};
use crate::process::{family_processor_time, processor_time, thread_time};
use crate::rows::{describe, open_sqlite};
use crate::service::{Place, Secrets, Service};
use crate::simulator::Simulator;
use crate::twin::Kind;

/// For each figure the most that one transfer may take on SQLite and on PostgreSQL. What is lower one day is lowered here.
const BUDGET: [(&str, Option<Tenths>, Option<Tenths>); 7] = [
    ("rows", Some(Tenths(221)), Some(Tenths(231))),
    ("rows that stay", Some(Tenths(161)), Some(Tenths(191))),
    ("index entries", Some(Tenths(251)), None),
    ("bytes of rows and indexes", Some(Tenths(51_000)), None),
    ("bytes that stay", Some(Tenths(40_960)), None),
    // These two are fewer the more transfers share a commit.
    ("bytes of log", Some(Tenths(3_000_000)), Some(Tenths(300_000))),
    ("commits", Some(Tenths(60)), Some(Tenths(150))),
];
/// Their rows go: some days after a webhook or a call, and once an audit and the statements have passed a posting.
const PASSING: [&str; 3] = ["posting_order", "provider_events", "request_log"];
/// Rows that so few of the transfers leave are of something else.
const MIN_ROWS: Tenths = Tenths(1);

/// How long the last transfer's success and the index are waited for.
const DONE_WITHIN: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(100);
const CALLERS: u32 = 64;
/// Transfers whose phases are looked at, one after the other.
const TRACED: u32 = 300;
/// The provider's names of the transfers that are not settled, and which are not.
const NAMES: &str =
    "SELECT provider_reference FROM transactions WHERE method = 'ach' AND status = 'processing'";
const UNSETTLED: &str = "SELECT status FROM transactions WHERE method = 'ach' AND status <> 'succeeded'
     UNION ALL SELECT 'waiting' FROM provider_events WHERE state = 'waiting'
     UNION ALL SELECT 'not indexed' FROM undigested_events LIMIT 1";
/// The index, numbers of events and the server's own statistics follow within this time.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(3);
const WRITER: &str = "sqlite-writer";

#[derive(Args, Debug)]
pub(crate) struct BudgetOptions {
    /// The product's binary [default: beside this program].
    #[arg(long, value_name = "FILE")]
    tollgate_bin: Option<PathBuf>,
    /// A PostgreSQL server on this machine, whose user may create databases; without one, only SQLite is measured.
    #[arg(long, value_name = "URL", env = "TOLLGATE_TEST_POSTGRES_URL", hide_env_values = true)]
    postgres_url: Option<String>,
    /// Transfers that are made and settled.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    transfers: u32,
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
}

/// A store at one moment.
#[derive(Debug, Default, Clone, PartialEq)]
struct Count {
    /// Rows of each table.
    tables: Vec<(String, u64)>,
    index_entries: Option<u64>,
    bytes: Option<u64>,
    staying_bytes: Option<u64>,
    log_bytes: u64,
    commits: u64,
}

/// For each transfer, in tenths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Tenths(u64);

impl Tenths {
    fn of(count: u64, transfers: u32) -> Self {
        Self(count.saturating_mul(10) / u64::from(transfers.max(1)))
    }
}

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.0 / 10, self.0 % 10))
    }
}

/// Processor time of a stretch of work, for each transfer.
struct Cost {
    what: &'static str,
    server: Duration,
    /// Of that, the thread that writes to SQLite.
    writer: Option<Duration>,
    database: Option<Duration>,
}

/// What was found on one store.
struct Found {
    store: &'static str,
    tables: Vec<(String, Tenths)>,
    figures: Vec<Figure>,
    costs: Vec<Cost>,
    /// How long each phase of making one takes.
    phases: Vec<Phase>,
}

struct Figure {
    what: &'static str,
    each: Tenths,
    most: Option<Tenths>,
}

impl Figure {
    fn is_within(&self) -> bool {
        self.most.is_none_or(|most| self.each <= most)
    }
}

/// Prints the figures. `Ok(false)`: one of them is beyond its budget.
pub(crate) async fn measure(options: &BudgetOptions) -> Result<bool, Fault> {
    let url = options.postgres_url.as_deref();
    let results = with_databases(url, async |databases| measure_all(options, databases).await).await?;
    if options.json {
        println!("{}", as_json(&results));
    } else {
        print!("{}", as_table(&results, options.transfers));
    }
    Ok(results.iter().flat_map(|result| &result.figures).all(Figure::is_within))
}

async fn measure_all(
    options: &BudgetOptions,
    databases: &mut Option<Databases>,
) -> Result<Vec<Found>, Fault> {
    let binary = launch::binary(options.tollgate_bin.as_deref())?;
    let directory = tempfile::Builder::new().prefix("tollgate-bench-").tempdir()?;
    let simulator = Simulator::start(&binary, directory.path()).await?;
    let secrets = Secrets::generate(&binary)?;
    let mut found = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some((place, server)) = place(&binary, directory.path(), kind, "budget", databases).await? else {
            continue;
        };
        eprintln!("{} transfers on {}", options.transfers, kind.name());
        let service = Service::start(&place, &secrets).await?;
        let store = match kind {
            Kind::Sqlite => Store::sqlite(&place.directory)?,
            Kind::Postgres => Store::Postgres(databases::client(&place.database_url).await?),
        };
        let sample = filling::set_up(&service, &simulator).await?;
        let meter = Meter { server: service.process.id(), database: server, transfers: options.transfers };
        let mut result = transfers(kind, &service, &simulator, &sample, &store, &meter).await?;
        service.process.stop().await?;
        if let Some((place, _)) = self::place(&binary, directory.path(), kind, "phases", databases).await? {
            result.phases = phases(place, &secrets, &simulator).await?;
        }
        found.push(result);
    }
    Ok(found)
}

/// Where an instance with a new database lives, and the process of its database; `None` if there is no such server.
async fn place<'a>(
    binary: &'a Path,
    directory: &Path,
    kind: Kind,
    name: &str,
    databases: &mut Option<Databases>,
) -> Result<Option<(Place<'a>, Option<u32>)>, Fault> {
    let directory = directory.join(format!("{}-{name}", kind.name()));
    let (database_url, server) = match (kind, databases.as_mut()) {
        (Kind::Sqlite, _) => (filling::sqlite_url(&directory), None),
        (Kind::Postgres, Some(databases)) => (databases.create(name, None).await?, databases.server),
        (Kind::Postgres, None) => return Ok(None),
    };
    Ok(Some((Place { binary, directory, database_url, listen: None, settings: &[] }, server)))
}

/// Transfers of one caller, traced.
async fn phases(place: Place<'_>, secrets: &Secrets, simulator: &Simulator) -> Result<Vec<Phase>, Fault> {
    eprintln!("{TRACED} traced transfers");
    let collector = Collector::start().await?;
    let settings =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "100")];
    let service = Service::start(&Place { settings: &settings, ..place }, secrets).await?;
    let sample = filling::set_up(&service, simulator).await?;
    make(&service, &sample, 1, TRACED).await?;
    // What was not exported yet is exported now.
    service.process.stop().await?;
    collector.phases()
}

async fn transfers(
    kind: Kind,
    service: &Service,
    simulator: &Simulator,
    sample: &Sample,
    store: &Store,
    meter: &Meter,
) -> Result<Found, Fault> {
    let tenant = &sample.tenant.environment_id;
    simulator.send_webhooks(&format!("http://{}/webhooks/v1/{tenant}/increase", service.address)).await?;
    let before = store.count().await?;
    let idle = meter.read()?;
    make(service, sample, CALLERS, meter.transfers).await?;
    let made = meter.read()?;
    for name in store.texts(NAMES).await? {
        simulator.settle(&name).await?;
    }
    let deadline = Instant::now() + DONE_WITHIN;
    while !store.texts(UNSETTLED).await?.is_empty() {
        if Instant::now() > deadline {
            return Err("not all transfers were settled in time".into());
        }
        tokio::time::sleep(POLL).await;
    }
    tokio::time::sleep(FOLLOWS_WITHIN).await;
    let settled = meter.read()?;
    simulator.send_no_webhooks().await?;
    let after = store.count().await?;
    let each = |count: u64| Tenths::of(count, meter.transfers);
    let tables: Vec<(String, u64)> = before
        .tables
        .iter()
        .zip(&after.tables)
        .map(|((name, before), (_, after))| (name.clone(), after.saturating_sub(*before)))
        .filter(|(_, rows)| each(*rows) >= MIN_ROWS)
        .collect();
    let grown = |of: fn(&Count) -> Option<u64>| Some(each(of(&after)?.saturating_sub(of(&before)?)));
    let staying = tables.iter().filter(|(name, _)| !PASSING.contains(&name.as_str()));
    let counted = [
        Some(each(tables.iter().map(|(_, rows)| rows).sum())),
        Some(each(staying.map(|(_, rows)| rows).sum())),
        grown(|count| count.index_entries),
        grown(|count| count.bytes),
        grown(|count| count.staying_bytes),
        grown(|count| Some(count.log_bytes)),
        grown(|count| Some(count.commits)),
    ];
    let tables = tables.into_iter().map(|(name, rows)| (name, each(rows))).collect();
    let figures = BUDGET.iter().zip(counted).filter_map(|((what, sqlite, postgres), each)| {
        let most = match kind {
            Kind::Sqlite => *sqlite,
            Kind::Postgres => *postgres,
        };
        Some(Figure { what, each: each?, most })
    });
    let figures = figures.collect();
    let costs = vec![
        meter.cost("made: request to answer", &idle, &made),
        meter.cost("settled: webhooks, ledger, index", &made, &settled),
    ];
    Ok(Found { store: kind.name(), tables, figures, costs, phases: Vec::new() })
}

async fn make(service: &Service, sample: &Sample, callers: u32, transfers: u32) -> Result<(), Fault> {
    let step = usize::try_from(callers)?;
    let mut calling = JoinSet::new();
    for first in 0..callers {
        let mut client = Caller::new(service.address, &sample.tenant.secret_key);
        let token = sample.customer_token.clone();
        calling.spawn(async move {
            for number in (first..transfers).step_by(step) {
                let transfer = Sample::transfer(&format!("budget-{number}"), &token);
                client.send("POST", "/client/v1/ach/transfers", &transfer).await?;
            }
            Ok::<_, Fault>(())
        });
    }
    while let Some(done) = calling.join_next().await {
        done??;
    }
    Ok(())
}

/// The processes whose time is measured.
struct Meter {
    server: u32,
    database: Option<u32>,
    transfers: u32,
}

/// Processor time so far.
struct Reading {
    server: Duration,
    writer: Option<Duration>,
    database: Option<Duration>,
}

impl Meter {
    fn read(&self) -> Result<Reading, Fault> {
        let writer = thread_time(self.server, WRITER)?;
        let database = self.database.map(family_processor_time).transpose()?;
        Ok(Reading { server: processor_time(self.server)?, writer, database })
    }

    fn cost(&self, what: &'static str, from: &Reading, to: &Reading) -> Cost {
        let each = |from: Duration, to: Duration| to.saturating_sub(from) / self.transfers.max(1);
        let both = |from: Option<Duration>, to: Option<Duration>| Some(each(from?, to?));
        Cost {
            what,
            server: each(from.server, to.server),
            writer: both(from.writer, to.writer),
            database: both(from.database, to.database),
        }
    }
}

/// Where is counted.
enum Store {
    Sqlite {
        connection: Connection,
        /// Reads from the first count on, so that the log only grows.
        reader: Connection,
        log: PathBuf,
    },
    Postgres(tokio_postgres::Client),
}

impl Store {
    fn sqlite(directory: &Path) -> Result<Self, Fault> {
        let file = directory.join(filling::FILE);
        let log = directory.join(format!("{}-wal", filling::FILE));
        Ok(Self::Sqlite { connection: open_sqlite(&file)?, reader: open_sqlite(&file)?, log })
    }

    async fn texts(&self, sql: &str) -> Result<Vec<String>, Fault> {
        match self {
            Self::Sqlite { connection, .. } => texts_of(connection, sql),
            Self::Postgres(client) => {
                let rows = client.query(sql, &[]).await.map_err(|error| describe(&error))?;
                Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
            }
        }
    }

    async fn count(&self) -> Result<Count, Fault> {
        match self {
            Self::Sqlite { connection, reader, log } => count_sqlite(connection, reader, log),
            Self::Postgres(client) => count_postgres(client).await,
        }
    }
}

fn texts_of(connection: &Connection, sql: &str) -> Result<Vec<String>, Fault> {
    let mut statement = connection.prepare(sql)?;
    let texts = statement.query_map((), |row| row.get(0))?;
    Ok(texts.collect::<Result<_, _>>()?)
}

fn count_sqlite(connection: &Connection, reader: &Connection, log: &Path) -> Result<Count, Fault> {
    if reader.is_autocommit() {
        reader.execute_batch("BEGIN; SELECT count(*) FROM sqlite_master")?;
    }
    let one = |sql: &str| -> Result<u64, Fault> {
        Ok(connection.query_row(sql, (), |row| row.get::<_, i64>(0))?.try_into()?)
    };
    let mut tables = Vec::new();
    for name in texts_of(
        connection,
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )? {
        let rows = one(&format!("SELECT count(*) FROM {name}"))?;
        tables.push((name, rows));
    }
    let entries = "SELECT coalesce(sum(ncell), 0) FROM dbstat
         WHERE name IN (SELECT name FROM sqlite_master WHERE type = 'index')";
    let staying = format!(
        "SELECT coalesce(sum(payload), 0) FROM dbstat
         WHERE name NOT IN (SELECT name FROM sqlite_master WHERE tbl_name IN ('{}'))",
        PASSING.join("', '")
    );
    let (frames, commits, page) = log_of(&fs::read(log)?).ok_or("the log cannot be read")?;
    Ok(Count {
        tables,
        index_entries: Some(one(entries)?),
        bytes: Some(one("SELECT coalesce(sum(payload), 0) FROM dbstat")?),
        staying_bytes: Some(one(&staying)?),
        log_bytes: frames * page,
        commits,
    })
}

/// The frames of a log, how many of them end a transaction, and the bytes of each. A frame belongs to the log if it has the
/// log's salt, which is another whenever the log begins anew.
fn log_of(log: &[u8]) -> Option<(u64, u64, u64)> {
    const HEADER: usize = 32;
    const FRAME_HEADER: usize = 24;
    let number = |bytes: &[u8], at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    let (header, frames) = log.split_at_checked(HEADER)?;
    let frame_bytes = usize::try_from(number(header, 8)?).ok()? + FRAME_HEADER;
    let salt = header.get(16..24)?;
    let (mut count, mut commits) = (0, 0);
    for frame in frames.chunks_exact(frame_bytes).take_while(|frame| frame.get(8..16) == Some(salt)) {
        count += 1;
        commits += u64::from(number(frame, 4)? > 0);
    }
    Some((count, commits, u64::try_from(frame_bytes).ok()?))
}

async fn count_postgres(client: &tokio_postgres::Client) -> Result<Count, Fault> {
    let said = |error: tokio_postgres::Error| describe(&error);
    let names = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename";
    let mut tables = Vec::new();
    for row in client.query(names, &[]).await.map_err(said)? {
        let name: String = row.try_get(0)?;
        let sql = format!("SELECT count(*) FROM {name}");
        let rows: i64 = client.query_one(&sql, &[]).await.map_err(said)?.try_get(0)?;
        tables.push((name, rows.try_into()?));
    }
    let sql = "SELECT w.wal_bytes::bigint, d.xact_commit FROM pg_stat_wal w
         CROSS JOIN pg_stat_database d WHERE d.datname = current_database()";
    let row = client.query_one(sql, &[]).await.map_err(said)?;
    let (log_bytes, commits): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    Ok(Count {
        tables,
        index_entries: None,
        bytes: None,
        staying_bytes: None,
        log_bytes: log_bytes.try_into()?,
        commits: commits.try_into()?,
    })
}

fn as_json(found: &[Found]) -> Value {
    let stores = found.iter().map(|found| {
        json!({
            "store": found.store,
            "figures": found.figures.iter().map(|figure| {
                json!({"what": figure.what, "each": figure.each.to_string(), "isWithin": figure.is_within(),
                    "budget": figure.most.map(|most| most.to_string())})
            }).collect::<Vec<_>>(),
            "rows": found.tables.iter().map(|(name, rows)| json!({"table": name, "each": rows.to_string()})).collect::<Vec<_>>(),
            "microseconds": found.costs.iter().map(|cost| {
                let micros = |time: Option<Duration>| time.map(|time| time.as_micros().to_string());
                json!({"what": cost.what, "server": micros(Some(cost.server)), "writer": micros(cost.writer),
                    "database": micros(cost.database)})
            }).collect::<Vec<_>>(),
            "phases": found.phases.iter().map(|phase| {
                json!({"what": phase.name, "medianMicroseconds": phase.median.as_micros().to_string()})
            }).collect::<Vec<_>>(),
        })
    });
    json!({ "stores": stores.collect::<Vec<_>>() })
}

fn as_table(found: &[Found], transfers: u32) -> String {
    let mut text = format!("One bank transfer, of {transfers} that {CALLERS} callers made\n");
    for found in found {
        let _ = writeln!(text, "\n{:<34} {:>10} {:>10}", found.store, "each", "budget");
        for figure in &found.figures {
            let most = figure.most.map_or_else(|| "-".to_owned(), |most| most.to_string());
            let beyond = if figure.is_within() { "" } else { "  BEYOND" };
            let _ = writeln!(text, "  {:<32} {:>10} {most:>10}{beyond}", figure.what, figure.each);
        }
        let rows: Vec<String> = found.tables.iter().map(|(name, rows)| format!("{name} {rows}")).collect();
        let _ = writeln!(text, "  rows of: {}", rows.join(", "));
        let _ =
            writeln!(text, "  {:<32} {:>10} {:>10} {:>10}", "processor time", "server", "writer", "database");
        for cost in &found.costs {
            let time = |time: Option<Duration>| {
                time.map_or_else(|| "-".to_owned(), |time| format!("{} µs", time.as_micros()))
            };
            let _ = writeln!(
                text,
                "    {:<30} {:>10} {:>10} {:>10}",
                cost.what,
                time(Some(cost.server)),
                time(cost.writer),
                time(cost.database)
            );
        }
        let _ = writeln!(text, "  {:<32} {:>10}", "one caller, traced", "median");
        for phase in &found.phases {
            let _ = writeln!(text, "    {:<30} {:>7} µs", phase.name, phase.median.as_micros());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_commits_of_a_log_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        let connection = Connection::open(&file).unwrap();
        connection
            .execute_batch("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
            .unwrap();
        let read = || log_of(&fs::read(folder.path().join("x.db-wal")).unwrap()).unwrap();
        let (frames, commits, bytes) = read();
        assert_eq!(bytes, 4120);
        for number in 0..5 {
            connection.execute("INSERT INTO t VALUES (?1)", [number]).unwrap();
        }
        assert_eq!(read(), (frames + 5, commits + 5, bytes));
        assert_eq!(log_of(b"short"), None);
    }

    #[test]
    fn a_figure_beyond_its_budget_is_marked() {
        let figure = |each| Figure { what: "rows", each: Tenths(each), most: Some(Tenths(220)) };
        assert!(figure(220).is_within() && !figure(221).is_within());
        let figures = vec![figure(225)];
        let found =
            Found { store: "sqlite", tables: Vec::new(), figures, costs: Vec::new(), phases: Vec::new() };
        assert!(as_table(&[found], 100).contains("22.5       22.0  BEYOND"));
    }
}
