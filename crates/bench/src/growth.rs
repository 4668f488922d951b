//! What the same work costs with ever more transactions in the store.
//!
//! Every size has a database of its own, filled as described in `filling`, and an instance of the product. Rounds go through all
//! sizes one after the other, so that a slow moment of the machine slows all of them.

use std::fmt::Write as _;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use serde_json::{Value, json};
use tollgate_domain::Timestamp;
use tollgate_store::DatabaseUrl;

use crate::Fault;
use crate::call::{Caller, text_at};
use crate::databases::{Databases, with_databases};
use crate::filling::{self, Sample};
use crate::http::{self, Connection};
use crate::launch;
use crate::options::Options;
use crate::service::{Place, Secrets, Service};
use crate::simulator::Simulator;
use crate::twin::Kind;

/// How often each thing that takes milliseconds is done in a round.
const TIMES: u32 = 20;
/// What the resolver takes at once.
const CLAIMED: u32 = 50;
const DAY_MILLIS: i64 = 86_400_000;

/// What is measured.
#[derive(Args, Debug)]
pub(crate) struct GrowthOptions {
    #[command(flatten)]
    pub(crate) common: Options,
    /// Transactions in the store, the fewest first.
    #[arg(long, value_delimiter = ',', default_value = "10000,100000,1000000",
          value_parser = clap::value_parser!(u32).range(10_000..=10_000_000))]
    sizes: Vec<u32>,
    /// The most of these sizes on SQLite.
    #[arg(long, default_value_t = 3_000_000)]
    sqlite_most: u32,
}

/// In the order of the table.
const WORK: [&str; 13] = [
    "transfer",
    "card confirmation",
    "read by reference",
    "list",
    "list, failed",
    "search, one result",
    "search, many results",
    "overview of a day",
    "overview of a month",
    "resolver claim",
    "start-up",
    "audit",
    "audit, everything",
];

/// One size on one kind of database.
struct Subject<'a> {
    size: u32,
    place: Place<'a>,
    sample: Sample,
    service: Option<Service>,
    /// The times of each work.
    times: Vec<Vec<Duration>>,
    transfers: u32,
}

/// A row of the result.
struct Row {
    store: &'static str,
    work: &'static str,
    /// The sizes, each with its median.
    medians: Vec<(u32, Duration)>,
}

/// Prints a line for each kind of work.
pub(crate) async fn measure(options: &GrowthOptions) -> Result<bool, Fault> {
    let url = options.common.postgres_url.as_deref();
    let rows = with_databases(url, async |databases| measure_all(options, databases).await).await?;
    if options.common.json {
        println!("{}", as_json(&rows));
    } else {
        print!("{}", as_table(&rows, options.common.rounds));
    }
    Ok(true)
}

async fn measure_all(options: &GrowthOptions, databases: &mut Option<Databases>) -> Result<Vec<Row>, Fault> {
    let binary = launch::binary(options.common.tollgate_bin.as_deref())?;
    let directory = tempfile::Builder::new().prefix("tollgate-bench-").tempdir()?;
    let simulator = Simulator::start(&binary, directory.path()).await?;
    let secrets = Secrets::generate(&binary)?;
    let only = options.common.only.as_deref().unwrap_or_default();
    let mut rows = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres].into_iter().filter(|kind| kind.name().starts_with(only)) {
        if kind == Kind::Postgres && databases.is_none() {
            continue;
        }
        let mut sizes = options.sizes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.retain(|size| kind == Kind::Postgres || *size <= options.sqlite_most);
        let mut subjects = Vec::new();
        for size in sizes {
            let folder = directory.path().join(format!("{}-{size}", kind.name()));
            let database_url = match (kind, databases.as_mut()) {
                (Kind::Postgres, Some(databases)) => {
                    databases.create(&format!("growth_{size}"), None).await?
                }
                _ => filling::sqlite_url(&folder),
            };
            let place =
                Place { binary: &binary, directory: folder, database_url, listen: None, settings: &[] };
            subjects.push(Subject::fill(kind, place, &secrets, &simulator, size).await?);
        }
        for round in 0..=options.common.rounds {
            eprintln!("{}, round {round} of {}", kind.name(), options.common.rounds);
            for subject in &mut subjects {
                subject.round(&secrets, round).await?;
            }
        }
        rows.extend(WORK.iter().enumerate().map(|(place, work)| {
            let medians = subjects.iter().map(|subject| (subject.size, subject.median(place))).collect();
            Row { store: kind.name(), work, medians }
        }));
        for service in subjects.into_iter().filter_map(|subject| subject.service) {
            service.process.stop().await?;
        }
    }
    Ok(rows)
}

impl<'a> Subject<'a> {
    async fn fill(
        kind: Kind,
        place: Place<'a>,
        secrets: &Secrets,
        simulator: &Simulator,
        size: u32,
    ) -> Result<Self, Fault> {
        let service = Service::start(&place, secrets).await?;
        let sample = filling::set_up(&service, simulator).await?;
        service.process.stop().await?;
        filling::multiply(kind, &place, size).await?;
        let times = vec![Vec::new(); WORK.len()];
        Ok(Self { size, place, sample, service: None, times, transfers: 0 })
    }

    /// Does everything. The first round warms up, and leaves the first checkpoint of an audit behind.
    async fn round(&mut self, secrets: &Secrets, round: u32) -> Result<(), Fault> {
        let mut times = Vec::new();
        if let Some(service) = self.service.take() {
            service.process.stop().await?;
        }
        self.claim(&mut times).await?;
        let started = Instant::now();
        let service = Service::start(&self.place, secrets).await?;
        times.push(("start-up", started.elapsed()));
        self.ask(&service, secrets, &mut times).await?;
        self.service = Some(service);
        if round > 0 {
            for (work, time) in times {
                let place = WORK.iter().position(|known| *known == work).ok_or("an unknown work")?;
                self.times.get_mut(place).ok_or("an unknown work")?.push(time);
            }
        }
        Ok(())
    }

    /// What the resolver does, while no server does it. Some payments are due in ten days, so it is done as if in twenty.
    async fn claim(&self, times: &mut Vec<(&'static str, Duration)>) -> Result<(), Fault> {
        let url: DatabaseUrl = self.place.database_url.parse()?;
        let store = tollgate_store::open(&url, &tollgate_store::Options::default()).await?;
        let today = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
        let [until, now] = [10, 20].map(|days| Timestamp::from_unix_millis(today + days * DAY_MILLIS));
        for _ in 0..TIMES {
            let started = Instant::now();
            let payments = store.claim_payments(now, until, CLAIMED).await?.len();
            let transfers = store.claim_transfers(now, until, CLAIMED).await?.len();
            times.push(("resolver claim", started.elapsed()));
            if payments + transfers != 100 {
                return Err(format!("{payments} payments and {transfers} transfers were due").into());
            }
        }
        Ok(())
    }

    async fn ask(
        &mut self,
        service: &Service,
        secrets: &Secrets,
        times: &mut Vec<(&'static str, Duration)>,
    ) -> Result<(), Fault> {
        let mut client = Caller::new(service.address, &self.sample.tenant.secret_key);
        let mut operator = service.operator();
        let mut browser = Connection::open(service.address).await?;
        let cookie = browser.sign_in(secrets.admin_token()).await?;
        for _ in 0..TIMES {
            self.transfers += 1;
            let key = format!("growth-{}", self.transfers);
            let transfer = Sample::transfer(&key, &self.sample.customer_token);
            let started = Instant::now();
            client.send("POST", "/client/v1/ach/transfers", &transfer).await?;
            times.push(("transfer", started.elapsed()));
        }
        for _ in 0..TIMES {
            let prepared = client.send("POST", "/client/v1/payments/component", &Sample::order()).await?;
            let path =
                format!("/client/v1/payments/component/{}/confirm", text_at(&prepared, "/serviceReference")?);
            let started = Instant::now();
            client.send("POST", &path, &Sample::confirmation()).await?;
            times.push(("card confirmation", started.elapsed()));
        }
        let environment = format!("/admin/v1/environments/{}", self.sample.tenant.environment_id);
        for (work, path, results) in [
            ("read by reference", format!("/transactions/{}", self.sample.transfer), None),
            ("list", "/transactions?limit=50".to_owned(), Some(50)),
            ("list, failed", "/transactions?limit=50&status=failed".to_owned(), Some(50)),
            ("search, one result", "/transactions?search=a-1001-5000".to_owned(), Some(1)),
            ("search, many results", "/transactions?limit=50&search=ada%40example.com".to_owned(), Some(50)),
        ] {
            let path = format!("{environment}{path}");
            for _ in 0..TIMES {
                let started = Instant::now();
                let found = operator.call("GET", &path, None).await?.body;
                times.push((work, started.elapsed()));
                let count = found.pointer("/data/items").and_then(Value::as_array).map(Vec::len);
                if count != results {
                    return Err(format!("{path} has {count:?} results").into());
                }
            }
        }
        let base = format!("/console/{}", self.sample.tenant.environment_id);
        for (work, query) in [("overview of a day", ""), ("overview of a month", "?span=month")] {
            let request = http::compose("GET", &format!("{base}{query}"), &[("Cookie", &cookie)], None);
            for _ in 0..TIMES {
                let started = Instant::now();
                let answer = browser.exchange(&request).await?;
                times.push((work, started.elapsed()));
                if answer.status != 200 {
                    return Err(format!("the overview: {answer}").into());
                }
            }
        }
        for (work, path) in [("audit", "/admin/v1/audit"), ("audit, everything", "/admin/v1/audit?full=true")]
        {
            let started = Instant::now();
            let audit = operator.call("GET", path, None).await?.body;
            times.push((work, started.elapsed()));
            if audit.pointer("/data/clean") != Some(&Value::Bool(true)) {
                let first = audit.pointer("/data/findings/0").map(Value::to_string).unwrap_or_default();
                return Err(format!("the audit is not clean: {first}").into());
            }
        }
        Ok(())
    }

    fn median(&self, work: usize) -> Duration {
        let mut times = self.times.get(work).cloned().unwrap_or_default();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Row {
    /// How many times the first, with one digit behind the point.
    fn ratio(&self, time: Duration) -> String {
        let first = self.medians.first().map_or(1, |(_, first)| micros(*first)).max(1);
        let tenths = micros(time).saturating_mul(10).saturating_add(first / 2) / first;
        format!("{}.{}", tenths / 10, tenths % 10)
    }
}

fn as_json(rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let medians = row.medians.iter().map(|(size, median)| {
            json!({"transactions": size, "medianMicros": micros(*median), "ratio": row.ratio(*median)})
        });
        json!({"store": row.store, "work": row.work, "sizes": medians.collect::<Vec<_>>()})
    };
    json!({"rows": rows.iter().map(row).collect::<Vec<_>>()})
}

fn as_table(rows: &[Row], rounds: u32) -> String {
    let mut text =
        format!("Median of {rounds} rounds in ms, and how many times that of the fewest transactions\n");
    let mut store = "";
    for row in rows {
        if row.store != store {
            store = row.store;
            let _ = write!(text, "  {store:<10}{:<22}", "transactions");
            for (size, _) in &row.medians {
                let _ = write!(text, "{size:>18}");
            }
            text.push('\n');
        }
        let _ = write!(text, "  {:<10}{:<22}", row.store, row.work);
        for (_, median) in &row.medians {
            let micros = micros(*median);
            let cell = format!("{}.{:02} ({})", micros / 1_000, micros % 1_000 / 10, row.ratio(*median));
            let _ = write!(text, "{cell:>18}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_with_the_smallest() {
        let medians = vec![(10_000, Duration::from_micros(1_200)), (1_000_000, Duration::from_micros(1_800))];
        let rows = [Row { store: "sqlite", work: "list", medians }];
        let table = as_table(&rows, 5);
        let lines: Vec<&str> = table.lines().skip(1).map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                "  sqlite    transactions                       10000           1000000",
                "  sqlite    list                          1.20 (1.0)        1.80 (1.5)",
            ]
        );
        assert_eq!(as_json(&rows)["rows"][0]["sizes"][1]["ratio"], "1.5");
    }
}
