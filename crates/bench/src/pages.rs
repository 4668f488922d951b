//! The console with very many payments in the store: how long the server takes for each page.
//!
//! One card payment and one transfer are made through the API; then the database itself writes their rows again and again,
//! with new ids and moments spread over the past thirty days, until there are as many as wanted.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use crate::Fault;
use crate::call::{Caller, text_at};
use crate::databases::{self, Databases, with_databases};
use crate::http::{self, Connection};
use crate::launch;
use crate::options::Options;
use crate::rows::{describe, open_sqlite};
use crate::service::{Place, Secrets, Service};
use crate::simulator::Simulator;
use crate::tenants::{self, Tenant};
use crate::twin::Kind;

const MONTH_MILLIS: i64 = 30 * 86_400_000;
/// How long the product's own index is waited for.
const INDEXED_WITHIN: Duration = Duration::from_secs(30);

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
        let file = folder.join("tollgate.db");
        let database_url = match (kind, databases.as_mut()) {
            (Kind::Postgres, Some(databases)) => databases.create("pages", None).await?,
            _ => format!("sqlite:{}", file.display()),
        };
        let place = Place { binary: &binary, directory: folder, database_url, listen: None, settings: &[] };
        let service = Service::start(&place, &secrets).await?;
        let (tenant, reference) = set_up(&service, &simulator).await?;
        service.process.stop().await?;
        eprintln!("writing {} transactions on {}", options.transactions, kind.name());
        let started = Instant::now();
        match kind {
            Kind::Sqlite => multiply_sqlite(&file, options.transactions)?,
            Kind::Postgres => multiply_postgres(&place.database_url, options.transactions).await?,
        }
        eprintln!("written in {} s", started.elapsed().as_secs());
        let service = Service::start(&place, &secrets).await?;
        let rounds = options.common.rounds;
        timings.extend(time_pages(kind, &service, &secrets, &tenant, &reference, rounds).await?);
        service.process.stop().await?;
    }
    Ok(timings)
}

/// An environment with one card payment and one transfer, both in the index.
async fn set_up(service: &Service, simulator: &Simulator) -> Result<(Tenant, String), Fault> {
    let wanted = vec![("test".to_owned(), std::sync::Arc::new(simulator.configuration("square")))];
    let tenants = tenants::set_up(service, wanted).await?;
    let tenant = tenants.into_iter().next().ok_or("there is no environment")?;
    let mut operator = service.operator();
    let environment = format!("/admin/v1/environments/{}", tenant.environment_id);
    let funds = json!({"amountMinor": "100000000", "reference": "benchmark"});
    operator.send("POST", &format!("{environment}/wallets/USD/fund"), &funds).await?;
    let mut client = Caller::new(service.address, &tenant.secret_key);
    let order = json!({"amountMinor": "125000", "currency": "USD", "description": "Order A-1001",
        "customer": {"name": "Ada Lovelace", "email": "ada@example.com"}, "metadata": {"orderId": "A-1001", "tier": "gold"}});
    let prepared = client.send("POST", "/client/v1/payments/component", &order).await?;
    let reference = text_at(&prepared, "/serviceReference")?;
    let path = format!("/client/v1/payments/component/{reference}/confirm");
    client.send("POST", &path, &json!({"sourceId": "cnon:card-nonce-ok"})).await?;
    let customer = json!({"externalCustomerId": "customer-1001", "email": "ada@example.com", "firstName": "Ada",
        "lastName": "Lovelace"});
    let token = client.send("POST", "/client/v1/ach/customer-tokens", &customer).await?;
    let transfer = json!({"idempotencyKey": "benchmark-sample", "amountMinor": "12500", "currency": "USD",
        "customerToken": text_at(&token, "/customerToken")?, "routingNumber": "021000021",
        "accountNumber": "000123456789", "bankAccountType": "checking", "bankName": "First Bank",
        "accountName": "Ada Lovelace", "metadata": {"orderId": "A-1002"}});
    client.send("POST", "/client/v1/ach/transfers", &transfer).await?;
    let deadline = Instant::now() + INDEXED_WITHIN;
    loop {
        let events = operator.call("GET", &format!("{environment}/events?limit=200"), None).await?.body;
        let told = events.pointer("/data/items").and_then(Value::as_array).map_or(0, Vec::len);
        if told >= 5 {
            break;
        }
        if Instant::now() > deadline {
            return Err(format!("only {told} events were told").into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The index follows within a second.
    tokio::time::sleep(Duration::from_secs(3)).await;
    Ok((tenant, reference))
}

/// A table whose rows are written again, and what is new in each.
struct Table {
    name: &'static str,
    /// Which rows of it are the pattern.
    pattern: &'static str,
    /// Columns and what stands there, in terms of the numbers' columns.
    changes: &'static [(&'static str, &'static str)],
}

/// Of every number `n`: `i`, `at` (a moment), `id`, `id2`, `id3` (ids of that moment), `reference` (any id), `name` (its text).
const TABLES: [Table; 12] = [
    Table {
        name: "card_payments",
        pattern: "i % 2 = 0",
        changes: &[
            ("id", "n.id"),
            ("created_at", "n.at"),
            ("due_at", "NULL"),
            ("principal_minor", "n.amount"),
        ],
    },
    Table {
        name: "transactions",
        pattern: "method = 'web_card' AND i % 2 = 0",
        changes: &[
            ("id", "n.id2"),
            ("reference", "n.id"),
            ("created_at", "n.at"),
            ("updated_at", "n.at"),
            ("principal_minor", "n.amount"),
            ("status", "CASE WHEN n.i % 10 = 0 THEN 'failed' ELSE 'succeeded' END"),
            ("failure_code", "CASE WHEN n.i % 10 = 0 THEN 'card_declined' END"),
            ("failure_message", "CASE WHEN n.i % 10 = 0 THEN 'The card was declined.' END"),
        ],
    },
    Table {
        name: "transactions",
        pattern: "method = 'ach' AND i % 2 = 1",
        changes: &[
            ("id", "n.id2"),
            ("reference", "n.reference"),
            ("created_at", "n.at"),
            ("updated_at", "n.at"),
            ("principal_minor", "n.amount"),
            ("provider_reference", "n.name"),
        ],
    },
    Table {
        name: "transfers",
        pattern: "i % 2 = 1",
        changes: &[("transaction_id", "n.id2"), ("reference", "n.name"), ("due_at", "NULL")],
    },
    Table {
        name: "timeline",
        pattern: "method = 'web_card' AND i % 2 = 0",
        changes: &[("reference", "n.id"), ("id", "{fresh}"), ("at", "n.at")],
    },
    Table {
        name: "timeline",
        pattern: "method = 'ach' AND i % 2 = 1",
        changes: &[("reference", "n.reference"), ("id", "{fresh}"), ("at", "n.at")],
    },
    Table {
        name: "out_events",
        pattern: "method = 'web_card' AND i % 2 = 0",
        changes: &[("reference", "n.id"), ("id", "{fresh}"), ("at", "n.at")],
    },
    Table {
        name: "out_events",
        pattern: "method = 'ach' AND i % 2 = 1",
        changes: &[("reference", "n.reference"), ("id", "{fresh}"), ("at", "n.at")],
    },
    Table {
        name: "search_terms",
        pattern: "method = 'web_card' AND i % 2 = 0",
        changes: &[
            ("place", "n.id"),
            ("reference", "n.id"),
            (
                "term",
                "CASE WHEN s.term LIKE 'amount:%' THEN 'amount:' || n.amount WHEN s.term LIKE '%a-1001' THEN s.term || '-' || n.i ELSE s.term END",
            ),
        ],
    },
    Table {
        name: "search_terms",
        pattern: "method = 'ach' AND i % 2 = 1",
        changes: &[
            ("place", "n.id2"),
            ("reference", "n.reference"),
            (
                "term",
                "CASE WHEN s.term LIKE 'amount:%' THEN 'amount:' || n.amount WHEN s.term LIKE '%a-1002' THEN s.term || '-' || n.i ELSE s.term END",
            ),
        ],
    },
    Table {
        name: "ledger_postings",
        pattern: "cause = 'reserve' AND i % 2 = 1",
        changes: &[("id", "n.id3"), ("reference", "n.name"), ("at", "n.at")],
    },
    Table {
        name: "activity",
        pattern: "i <= 720",
        changes: &[("hour", "n.now_hour - n.i * 3600000"), ("count", "1000 + n.i % 97")],
    },
];

/// Sets of rows that grew by themselves.
fn statements(
    columns: &dyn Fn(&str) -> Result<Vec<String>, Fault>,
    fresh: &str,
) -> Result<Vec<String>, Fault> {
    let mut all = Vec::new();
    for table in &TABLES {
        let columns = columns(table.name)?;
        let mut values = String::new();
        for column in &columns {
            let change = table.changes.iter().find(|(name, _)| name == column);
            let value =
                change.map_or_else(|| format!("s.{column}"), |(_, value)| value.replace("{fresh}", fresh));
            let _ = write!(values, "{}{value}", if values.is_empty() { "" } else { ", " });
        }
        let own = table.pattern.split(" AND ").filter(|part| !part.starts_with("i ")).collect::<Vec<_>>();
        let numbers = table.pattern.split(" AND ").filter(|part| part.starts_with("i ")).collect::<Vec<_>>();
        let own = if own.is_empty() { "true".to_owned() } else { own.join(" AND ") };
        all.push(format!(
            "INSERT INTO {name} ({}) SELECT {values} FROM (SELECT * FROM pattern_{name} WHERE {own}) s
             CROSS JOIN (SELECT * FROM numbers WHERE {}) n WHERE true ON CONFLICT DO NOTHING",
            columns.join(", "),
            numbers.join(" AND "),
            name = table.name,
        ));
    }
    Ok(all)
}

fn multiply_sqlite(file: &Path, count: u32) -> Result<(), Fault> {
    let connection = open_sqlite(file)?;
    connection
        .execute_batch("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -400000")?;
    let step = MONTH_MILLIS / i64::from(count);
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE numbers AS
         WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {count}),
             m AS (SELECT i, CAST(unixepoch('now') AS INTEGER) * 1000 - i * {step} AS at FROM c)
         SELECT i, at, 1000 + i * 7919 % 900000 AS amount,
             unixepoch('now') / 3600 * 3600000 AS now_hour,
             unhex(printf('%012x', at) || hex(randomblob(10))) AS id, unhex(printf('%012x', at) || hex(randomblob(10))) AS id2,
             unhex(printf('%012x', at) || hex(randomblob(10))) AS id3, randomblob(16) AS reference,
             'ach_' || lower(hex(randomblob(13))) AS name FROM m"
    ))?;
    let mut done = Vec::new();
    for Table { name, .. } in &TABLES {
        if !done.contains(name) {
            connection.execute_batch(&format!("CREATE TEMP TABLE pattern_{name} AS SELECT * FROM {name}"))?;
            done.push(*name);
        }
    }
    let columns = |table: &str| {
        let statement = connection.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
        Ok(statement.column_names().map(str::to_owned).collect())
    };
    for sql in statements(&columns, "unhex(printf('%012x', n.at) || hex(randomblob(10)))")? {
        connection.execute(&sql, []).map_err(|error| format!("{sql}: {error}"))?;
    }
    connection.execute_batch("PRAGMA optimize = 0x10002; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

async fn multiply_postgres(url: &str, count: u32) -> Result<(), Fault> {
    let client = databases::client(url).await?;
    let run = async |sql: &str| {
        client.batch_execute(sql).await.map_err(|error| Fault::from(format!("{sql}: {}", describe(&error))))
    };
    let step = MONTH_MILLIS / i64::from(count);
    let fresh =
        "(lpad(to_hex(at), 12, '0') || substr(replace(gen_random_uuid()::text, '-', ''), 1, 20))::uuid";
    run("SET enable_seqscan = on; SET synchronous_commit = off").await?;
    run(&format!(
        "CREATE TEMP TABLE numbers AS
         SELECT i, at, 1000 + i * 7919 % 900000 AS amount,
             (extract(epoch FROM now())::bigint / 3600) * 3600000 AS now_hour,
             {fresh} AS id, {fresh} AS id2, {fresh} AS id3, gen_random_uuid() AS reference,
             'ach_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 26) AS name
         FROM (SELECT i::bigint AS i, extract(epoch FROM now())::bigint * 1000 - i::bigint * {step} AS at
               FROM generate_series(1, {count}) i) m"
    ))
    .await?;
    let mut all = Vec::new();
    for Table { name, .. } in &TABLES {
        if all.iter().any(|(known, _)| known == name) {
            continue;
        }
        run(&format!("CREATE TEMP TABLE pattern_{name} AS SELECT * FROM {name}")).await?;
        let statement = client.prepare(&format!("SELECT * FROM {name} LIMIT 0")).await?;
        all.push((
            *name,
            statement.columns().iter().map(|column| column.name().to_owned()).collect::<Vec<_>>(),
        ));
    }
    let columns = |table: &str| {
        let found = all.iter().find(|(name, _)| *name == table);
        found.map(|(_, columns)| columns.clone()).ok_or_else(|| Fault::from("an unknown table"))
    };
    for sql in statements(&columns, &fresh.replace("(at)", "(n.at)"))? {
        run(&sql).await?;
    }
    run("ANALYZE").await
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

/// Signs in and asks for every page, one after the other.
async fn time_pages(
    kind: Kind,
    service: &Service,
    secrets: &Secrets,
    tenant: &Tenant,
    reference: &str,
    rounds: u32,
) -> Result<Vec<Timing>, Fault> {
    let mut connection = Connection::open(service.address).await?;
    let form = format!("token={}&name=bench", secrets.admin_token());
    let kind_of_form = [("Content-Type", "application/x-www-form-urlencoded")];
    let sign_in = http::compose("POST", "/console/sign-in", &kind_of_form, Some(form.as_bytes()));
    let cookie = connection.cookie(&sign_in).await?;
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
        "/rules/edit".to_owned(),
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
        let page = page.replace(reference, "pay_…").replace(part_of(reference), "(its beginning)");
        let page = if page.is_empty() { "overview".to_owned() } else { page };
        timings.push(Timing { store: kind.name(), page, median, longest, kilobytes: bytes / 1024 });
    }
    Ok(timings)
}
