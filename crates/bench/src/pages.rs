//! The console with very many payments in the store: how long the server takes for each page.
//!
//! The store is filled as described in `filling`.

use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use crate::Fault;
use crate::databases::{Databases, with_databases};
use crate::filling::{self, Sample};
use crate::http::{self, Connection};
use crate::launch;
use crate::options::Options;
use crate::service::{Place, Secrets, Service};
use crate::simulator::Simulator;
use crate::twin::Kind;

/// What is measured.
#[derive(Args, Debug)]
pub(crate) struct PageOptions {
    #[command(flatten)]
    pub(crate) common: Options,
    /// Transactions in the store.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    transactions: u32,
}

/// A page's times.
struct Timing {
    store: &'static str,
    page: String,
    median: Duration,
    longest: Duration,
    kilobytes: usize,
}

/// A statement that takes less reads no postings of a million.
const ADDED_UP: Duration = Duration::from_millis(500);
const ADDED_UP_TIMEOUT: Duration = Duration::from_mins(2);

/// Prints a line for each page. `Ok(false)`: a page was not answered with 200.
pub(crate) async fn measure(options: &PageOptions) -> Result<bool, Fault> {
    let url = options.common.postgres_url.as_deref();
    let timings = with_databases(url, async |databases| time_all(options, databases).await).await?;
    if options.common.json {
        let rows: Vec<Value> = timings
            .iter()
            .map(|timing| {
                json!({"store": timing.store, "page": timing.page, "medianMicros": micros(timing.median),
                       "longestMicros": micros(timing.longest), "kilobytes": timing.kilobytes})
            })
            .collect();
        println!("{}", json!({"transactions": options.transactions, "pages": rows}));
        return Ok(true);
    }
    println!(
        "The console with {} transactions, {} times each page",
        options.transactions, options.common.rounds
    );
    println!("  {:<10}{:<44}{:>12}{:>12}{:>8}", "store", "page", "median ms", "longest ms", "KB");
    for timing in &timings {
        println!(
            "  {:<10}{:<44}{:>12}{:>12}{:>8}",
            timing.store,
            timing.page,
            millis(timing.median),
            millis(timing.longest),
            timing.kilobytes
        );
    }
    Ok(true)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn millis(time: Duration) -> String {
    let micros = micros(time);
    format!("{}.{}", micros / 1_000, micros % 1_000 / 100)
}

async fn time_all(options: &PageOptions, databases: &mut Option<Databases>) -> Result<Vec<Timing>, Fault> {
    let binary = launch::binary(options.common.tollgate_bin.as_deref())?;
    let directory = tempfile::Builder::new().prefix("tollgate-bench-").tempdir()?;
    let simulator = Simulator::start(&binary, directory.path()).await?;
    let secrets = Secrets::generate(&binary)?;
    let mut timings = Vec::new();
    let kinds = [Kind::Sqlite].into_iter().chain(databases.as_ref().map(|_| Kind::Postgres));
    for kind in kinds.collect::<Vec<_>>() {
        let folder = directory.path().join(kind.name());
        let database_url = match (kind, databases.as_mut()) {
            (Kind::Postgres, Some(databases)) => databases.create("pages", None).await?,
            _ => filling::sqlite_url(&folder),
        };
        let place = Place { binary: &binary, directory: folder, database_url, listen: None, settings: &[] };
        let service = Service::start(&place, &secrets).await?;
        let sample = filling::set_up(&service, &simulator).await?;
        service.process.stop().await?;
        filling::multiply(kind, &place, options.transactions).await?;
        let service = Service::start(&place, &secrets).await?;
        timings.extend(time_pages(kind, &service, &secrets, &sample, options.common.rounds).await?);
        service.process.stop().await?;
    }
    Ok(timings)
}

/// A day in the midst of what there is, as the console reads it.
fn two_weeks_ago() -> Result<String, Fault> {
    let clock = rusqlite::Connection::open_in_memory()?;
    Ok(clock.query_row("SELECT date('now', '-14 days')", [], |row| row.get(0))?)
}

/// What somebody types who has not copied all of it.
fn part_of(reference: &str) -> &str {
    reference.get(..14).unwrap_or(reference)
}

/// A million payments were written behind the service's back, where usually those of ten seconds at most are not added up: it does
/// that after its start.
async fn wait_for_statements(connection: &mut Connection, path: &str, cookie: &str) -> Result<(), Fault> {
    let started = Instant::now();
    let request = http::compose("GET", path, &[("Cookie", cookie)], None);
    loop {
        let asked = Instant::now();
        connection.exchange(&request).await?;
        if asked.elapsed() < ADDED_UP {
            eprintln!("months added up within {} s of the start", started.elapsed().as_secs());
            return Ok(());
        }
        if started.elapsed() > ADDED_UP_TIMEOUT {
            return Err("the months were not added up".into());
        }
    }
}

/// Signs in and asks for every page, one after the other.
async fn time_pages(
    kind: Kind,
    service: &Service,
    secrets: &Secrets,
    sample: &Sample,
    rounds: u32,
) -> Result<Vec<Timing>, Fault> {
    let Sample { tenant, card: reference, .. } = sample;
    let mut connection = Connection::open(service.address).await?;
    let cookie = connection.sign_in(secrets.admin_token()).await?;
    let base = format!("/console/{}", tenant.environment_id);
    let pages = [
        String::new(),
        "?span=week".to_owned(),
        "?span=month".to_owned(),
        "/payments".to_owned(),
        "/payments?status=failed".to_owned(),
        "/payments?status=pending".to_owned(),
        "/payments?method=ach".to_owned(),
        "/payments?provider=ach_provider_a".to_owned(),
        "/payments?provider=nobody".to_owned(),
        "/payments?method=ach&provider=nobody&status=failed".to_owned(),
        "/payments?status=prepared".to_owned(),
        "/payments?status=expired&provider=nobody".to_owned(),
        "/payments?from=2020-01-01&until=2020-02-01".to_owned(),
        format!("/payments?until={}", two_weeks_ago()?),
        format!("/payments?method=ach&until={}", two_weeks_ago()?),
        "/payments?q=ada%40example.com".to_owned(),
        "/payments?q=ada%40example.com&status=failed".to_owned(),
        "/payments?q=ada%40example.com&provider=nobody".to_owned(),
        "/payments?q=a-1001-500000".to_owned(),
        "/payments?q=orderId%3Da-1001-4242".to_owned(),
        "/payments?q=1250.00".to_owned(),
        format!("/payments?q={reference}"),
        "/payments?q=nothing+like+it".to_owned(),
        "/payments?q=%241%2C250.00".to_owned(),
        format!("/payments?q={}", part_of(reference)),
        format!("/payments/{reference}"),
        format!("/payments/{reference}/refund"),
        "/requests".to_owned(),
        "/disputes".to_owned(),
        "/approvals".to_owned(),
        "/statement".to_owned(),
        "/routing".to_owned(),
        "/rules/edit?method=web_card".to_owned(),
        "/config".to_owned(),
        "/config/history".to_owned(),
        "/config/history/1".to_owned(),
        "/try?amount=125&currency=USD".to_owned(),
        "/wallets".to_owned(),
        "/wallets/USD".to_owned(),
        "/providers".to_owned(),
        "/endpoints".to_owned(),
        "/events".to_owned(),
        "/events?type=transaction.failed".to_owned(),
        "/deliveries".to_owned(),
        "/exceptions".to_owned(),
        "/waiting".to_owned(),
        "/keys".to_owned(),
        "/console/environments".to_owned(),
        "/console/audit-log".to_owned(),
        "/console/users".to_owned(),
    ];
    wait_for_statements(&mut connection, &format!("{base}/statement"), &cookie).await?;
    let mut timings = Vec::new();
    for page in pages {
        let path = if page.starts_with("/console/") { page.clone() } else { format!("{base}{page}") };
        let request = http::compose("GET", &path, &[("Cookie", &cookie)], None);
        let (mut times, mut bytes) = (Vec::new(), 0);
        for _ in 0..rounds {
            let started = Instant::now();
            let answer = connection.exchange(&request).await?;
            if answer.status != 200 {
                return Err(format!("{page}: {answer}").into());
            }
            bytes = answer.body.len();
            times.push(started.elapsed());
        }
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let longest = times.last().copied().unwrap_or_default();
        let page = page.replace(reference.as_str(), "pay_…").replace(part_of(reference), "(its beginning)");
        let page = if page.is_empty() { "overview".to_owned() } else { page };
        timings.push(Timing { store: kind.name(), page, median, longest, kilobytes: bytes / 1024 });
    }
    Ok(timings)
}
