//! Bank transfers from request to answer: funds set aside and committed, the provider asked, its answer committed. Beside
//! them, the same rows written by a program that does nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use crate::Fault;
use crate::call::{Caller, count_at, text_at};
use crate::cell::Cell;
use crate::comparison::{Comparison, Fact, Group, Ratio};
use crate::databases::{self, Databases, with_databases};
use crate::load::Target;
use crate::numbered::{NUMBER, Numbered};
use crate::options::Options;
use crate::pgbench::{NUMBER_WALLETS, Pgbench};
use crate::plan::{Names, Unit};
use crate::raw_sqlite::RawSqlite;
use crate::rows::{Row, describe, only_one};
use crate::runner::{Runner, Work, take_turns};
use crate::sample::{Clock, Series, milliseconds};
use crate::service::{Secrets, Service};
use crate::simulator::Simulator;
use crate::tenants::{self, Tenant};
use crate::twin::{Copied, Ground, Kind, Twin, shared};
use crate::{http, launch};

pub(crate) const PATH: &str = "/client/v1/ach/transfers";
/// How long setting up may take.
const SET_UP_WITHIN: Duration = Duration::from_mins(10);
/// What each wallet holds: more than any run can spend.
const FUNDS_MINOR: &str = "1000000000000000";

/// Options of this measurement.
#[derive(Args, Debug)]
pub(crate) struct TransferOptions {
    #[command(flatten)]
    pub(crate) common: Options,
    /// Wallets that transfers are spread over, each of an environment of its own, beside the measurement of a single one.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    wallets: u32,
    /// PostgreSQL's own benchmark program.
    #[arg(long, value_name = "FILE", env = "TOLLGATE_BENCH_PGBENCH", default_value = "pgbench")]
    pgbench: PathBuf,
}

/// How transfers are spread.
#[derive(Clone, Copy)]
enum Spread {
    /// All out of one wallet.
    One,
    /// Evenly, and as if by chance.
    All,
}

impl Spread {
    const BOTH: [Self; 2] = [Self::One, Self::All];

    fn name(self, wallets: usize) -> String {
        match self {
            Self::One => "one wallet".to_owned(),
            Self::All => format!("{wallets} wallets"),
        }
    }
}

/// An environment that can send, with what a request needs.
pub(crate) struct Sender {
    pub(crate) tenant: Tenant,
    customer_token: String,
}

/// Runs the whole measurement.
pub(crate) async fn measure(options: &TransferOptions) -> Result<Comparison, Fault> {
    let url = options.common.postgres_url.as_deref();
    with_databases(url, async |databases| compare(options, databases).await).await
}

async fn compare(options: &TransferOptions, databases: &mut Option<Databases>) -> Result<Comparison, Fault> {
    let binary = launch::binary(options.common.tollgate_bin.as_deref())?;
    let directory = tempfile::Builder::new().prefix("tollgate-bench-").tempdir()?;
    let simulator = Simulator::start(&binary, directory.path()).await?;
    let secrets = Secrets::generate(&binary)?;
    let mut ground = Ground { binary: &binary, directory: directory.path(), secrets, databases };

    let mut comparison = Comparison {
        title: format!("Bank transfers, {} connections", options.common.connections),
        ..Comparison::default()
    };
    let mut accepted = 0;
    for kind in ground.kinds() {
        accepted += one_database(&mut ground, kind, &simulator, options, &mut comparison).await?;
    }
    let at_provider = simulator.transfers_accepted().await?;
    if at_provider != accepted {
        comparison.failures.push(format!(
            "the provider accepted {at_provider} transfers, and {accepted} were answered as accepted"
        ));
    }
    comparison.facts.push(Fact::new("transfers the provider accepted", at_provider, "in all"));
    comparison.facts.push(Fact::new("  memory of it", simulator.process.memory_kib()?, "KiB"));
    Ok(comparison)
}

/// Measures on one database; how many transfers were answered as accepted.
async fn one_database(
    ground: &mut Ground<'_>,
    kind: Kind,
    simulator: &Simulator,
    options: &TransferOptions,
    comparison: &mut Comparison,
) -> Result<u64, Fault> {
    let configuration = Arc::new(simulator.configuration("stripe"));
    let started = Instant::now();
    let twin = ground.twin(kind, async |service| {
        let setting_up = set_up(service, &configuration, options.wallets);
        let set_up = tokio::time::timeout(SET_UP_WITHIN, setting_up).await;
        set_up.map_err(|_| "setting up took too long")?
    });
    let Twin { service, copied, set_up: senders } = twin.await?;
    let set_up_within = started.elapsed();

    let plan = Plan::read(&copied).await?;
    let clock = Clock::default().with_database(ground.database_server(kind));
    let mut runners = Vec::new();
    for spread in Spread::BOTH {
        runners.extend(plan.yardsticks(&copied, spread, ground.directory, options, clock)?);
        let clock = clock.with_server(&service.process).with_provider(&simulator.process);
        let name = format!("{}, {}", kind.name(), spread.name(senders.len()));
        runners.push(Runner::new(name, Work::Http(target(&service, spread, &senders)?), clock));
    }
    if let Copied::Postgres(url) = &copied {
        let numbered = databases::client(url).await?.batch_execute(NUMBER_WALLETS).await;
        numbered.map_err(|error| describe(&error))?;
    }
    take_turns(&mut runners, &options.common).await?;

    // One was made to copy its rows.
    let made = 1 + runners.iter().filter(|runner| runner.is_http()).map(Runner::accepted).sum::<u64>();
    comparison.failures.extend(runners.iter().flat_map(Runner::complaints));
    comparison.failures.extend(audit(&service, made).await?);
    let name = kind.name();
    comparison.facts.push(Fact::new(
        format!("setting up {} wallets on {name}", senders.len()),
        milliseconds(set_up_within),
        "ms",
    ));
    comparison.facts.push(Fact::new(format!("transfers on {name}"), made, "in all"));
    comparison.facts.push(Fact::new("  memory after them", service.process.memory_kib()?, "KiB"));
    let mut series: Vec<Series> = runners.into_iter().map(|runner| runner.series).collect();
    for spread in Spread::BOTH {
        let place = spread.name(senders.len());
        let (own, others) = series.into_iter().partition(|series| series.name.ends_with(&place));
        series = others;
        let product = format!("{name}, {place}");
        let ratios = ratios(kind, spread, &product, &own);
        comparison.groups.push(Group { name: product, series: own, ratios });
    }
    service.process.stop().await?;
    Ok(made)
}

/// The product's rate to each yardstick's.
fn ratios(kind: Kind, spread: Spread, product: &str, all: &[Series]) -> Vec<Ratio> {
    let Some(product) = all.iter().find(|series| series.name == product) else { return Vec::new() };
    let yardsticks = all.iter().filter(|series| series.name != product.name);
    let goal = match (kind, spread) {
        (Kind::Sqlite, Spread::One) => 1_000,
        (Kind::Sqlite, Spread::All) => 800,
        (Kind::Postgres, Spread::One) => 8_000,
        (Kind::Postgres, Spread::All) => 1_500,
    };
    yardsticks.map(|yardstick| Ratio::new(product, &[yardstick]).with_goal(goal)).collect()
}

/// Funded environments with a customer each, and one transfer whose rows the yardstick copies.
async fn set_up(service: &Service, configuration: &Arc<Value>, wallets: u32) -> Result<Vec<Sender>, Fault> {
    let wanted = (1..=wallets).map(|number| (format!("w{number}"), Arc::clone(configuration)));
    let tenants = tenants::set_up(service, wanted.collect()).await?;
    let senders = tenants::in_parallel(tenants, |tenant| {
        let (mut operator, address) = (service.operator(), service.address);
        async move {
            let path = format!("/admin/v1/environments/{}/wallets/USD/fund", tenant.environment_id);
            operator
                .send("POST", &path, &json!({"amountMinor": FUNDS_MINOR, "reference": "benchmark"}))
                .await?;
            let customer = json!({
                "externalCustomerId": "customer-1001", "email": "ada@example.com", "firstName": "Ada",
                "lastName": "Lovelace", "phone": "+1 555 0100",
            });
            let mut client = Caller::new(address, &tenant.secret_key);
            let token = client.send("POST", "/client/v1/ach/customer-tokens", &customer).await?;
            Ok(Sender { customer_token: text_at(&token, "/customerToken")?, tenant })
        }
    })
    .await?;
    let first = senders.first().ok_or("there is no wallet")?;
    let mut client = Caller::new(service.address, &first.tenant.secret_key);
    client.send("POST", PATH, &body(first, "benchmark-sample")).await?;
    Ok(senders)
}

/// One funded environment with a customer.
pub(crate) async fn sender(service: &Service, configuration: &Arc<Value>) -> Result<Sender, Fault> {
    set_up(service, configuration, 1).await?.pop().ok_or_else(|| "there is no wallet".into())
}

pub(crate) fn body(sender: &Sender, key: &str) -> Value {
    json!({
        "idempotencyKey": key, "amountMinor": "12500", "currency": "USD", "customerToken": sender.customer_token,
        "routingNumber": "021000021", "accountNumber": "000123456789", "bankAccountType": "checking",
        "bankName": "First Bank", "accountName": "Ada Lovelace", "description": "Payout A-1001",
        "metadata": {"orderId": "A-1001", "tier": "gold"},
    })
}

/// Each request has a key of its own.
fn target(service: &Service, spread: Spread, senders: &[Sender]) -> Result<Target, Fault> {
    let (name, senders) = match spread {
        Spread::One => ("one", senders.get(..1).unwrap_or_default()),
        Spread::All => ("all", senders),
    };
    let form = |sender: &Sender| {
        let body = body(sender, &format!("benchmark-{name}-{NUMBER}")).to_string();
        http::request("POST", PATH, Some(&sender.tenant.secret_key), Some(body.as_bytes()))
    };
    Ok(Target::numbered(service.address, Numbered::new(senders.iter().map(form).collect())?, 201))
}

/// What the product's own audit finds wrong.
async fn audit(service: &Service, made: u64) -> Result<Vec<String>, Fault> {
    let found = service.operator().call("GET", "/admin/v1/audit?full=true", None).await?.body;
    let mut failures = Vec::new();
    if found.pointer("/data/clean") != Some(&Value::Bool(true)) {
        let first = found.pointer("/data/findings/0").map(Value::to_string);
        failures.push(format!("the audit is not clean: {}", first.unwrap_or_default()));
    }
    let counted = count_at(&found, "/data/transfers")?;
    if counted != made {
        failures.push(format!("the audit counts {counted} transfers, and {made} were answered as accepted"));
    }
    Ok(failures)
}

/// The statements of one transfer, with the rows of one the product made.
struct Plan {
    names: Names,
    /// Up to the first commit.
    reserve: Unit,
    /// From there to the second.
    outcome: Unit,
    environments: Vec<Cell>,
    first: Cell,
}

const TRANSFER_CHANGES: [&str; 9] = [
    "sealed_account",
    "expected_on",
    "corrections",
    "due_at",
    "tries",
    "waiting",
    "revision",
    "last_change",
    "timeline",
];
const TRANSACTION_CHANGES: [&str; 3] = ["updated_at", "status", "provider_reference"];

/// As long as the sealed bank account that a transfer holds until the provider has it.
const SEALED_BYTES: usize = 180;

impl Plan {
    async fn read(copied: &Copied) -> Result<Self, Fault> {
        let [transactions, transfers, postings, entries, events, wallets] = copied
            .rows([
                "SELECT * FROM transactions",
                "SELECT * FROM transfers",
                "SELECT * FROM ledger_postings WHERE cause = 'reserve'",
                "SELECT e.* FROM posting_entries e JOIN ledger_postings p
                     ON p.environment_id = e.environment_id AND p.currency = e.currency AND p.id = e.posting_id
                 WHERE p.cause = 'reserve' ORDER BY e.amount_minor",
                "SELECT * FROM out_events ORDER BY id",
                "SELECT environment_id FROM ledger_accounts WHERE account = 'available' AND currency = 'USD'",
            ])
            .await?;
        let transaction = only_one(transactions, "transactions")?;
        let transfer = only_one(transfers, "transfers")?;
        let posting = only_one(postings, "ledger_postings")?;
        let environments = wallets.iter().map(|row| row.cell("environment_id").cloned());
        let mut names = Names::default();
        let first = transaction.cell("environment_id")?.clone();
        names.environment(&first);
        names.scattered(transaction.cell("reference")?);
        names.text(transfer.text("reference")?.ok_or("a transfer without a reference")?);
        let [pending, processing] = <[Row; 2]>::try_from(events)
            .map_err(|events| format!("out_events: {} rows, not two", events.len()))?;
        let outcome = outcome(&mut names, &transaction, &transfer, &processing)?;
        let reserve = reserve(&mut names, transaction, transfer, posting, &entries, &pending)?;
        Ok(Self { names, reserve, outcome, environments: environments.collect::<Result<_, _>>()?, first })
    }

    /// What the product is compared with.
    fn yardsticks(
        &self,
        copied: &Copied,
        spread: Spread,
        directory: &Path,
        options: &TransferOptions,
        clock: Clock,
    ) -> Result<Vec<Runner>, Fault> {
        let environments = match spread {
            Spread::One => vec![self.first.clone()],
            Spread::All => self.environments.clone(),
        };
        let wallets = environments.len();
        let place = spread.name(self.environments.len());
        match copied {
            Copied::Sqlite(path) => {
                let both: Unit = self.reserve.iter().chain(&self.outcome).cloned().collect();
                let raw = RawSqlite::new(shared(path)?, &[both], self.names.maker(environments));
                Ok(vec![Runner::new(format!("raw sqlite, {place}"), Work::Sqlite(raw), clock.with_own())])
            }
            Copied::Postgres(url) => {
                let scripts: [(&str, Vec<Unit>); 2] = [
                    ("whole", vec![self.reserve.clone(), self.outcome.clone()]),
                    ("reserve", vec![self.reserve.clone()]),
                ];
                let runner = |(part, units): &(&str, Vec<Unit>)| {
                    let name = format!("{part}-{wallets}");
                    let work = (units.as_slice(), &self.names);
                    let pgbench = Pgbench::new(&options.pgbench, url, directory, &name, wallets, work)?;
                    Ok(Runner::new(format!("pgbench, {part}, {place}"), Work::Pgbench(pgbench), clock))
                };
                scripts.iter().map(runner).collect()
            }
        }
    }
}

/// Takes the funds, if they are there, and records the transfer.
fn reserve(
    names: &mut Names,
    transaction: Row,
    transfer: Row,
    posting: Row,
    entries: &[Row],
    event: &Row,
) -> Result<Unit, Fault> {
    let mut unit = Vec::new();
    for entry in entries {
        let [environment, currency, account, amount] =
            ["environment_id", "currency", "account", "amount_minor"].map(|column| entry.cell(column));
        let values = [environment?.clone(), currency?.clone(), account?.clone(), amount?.clone()];
        let [environment, currency, account, amount] = values.clone();
        unit.push(if entry.integer("amount_minor")? < 0 {
            names.statement(
                "UPDATE ledger_accounts SET balance_minor = balance_minor + {}
                 WHERE environment_id = {} AND currency = {} AND account = {} AND balance_minor + {} >= 0",
                &[amount.clone(), environment, currency, account, amount],
            )
        } else {
            names.statement(
                "INSERT INTO ledger_accounts (environment_id, currency, account, balance_minor)
                 VALUES ({}, {}, {}, {}) ON CONFLICT (environment_id, currency, account)
                 DO UPDATE SET balance_minor = ledger_accounts.balance_minor + excluded.balance_minor",
                &values,
            )
        });
    }
    let created_at = transaction.cell("created_at")?.clone();
    let transaction = transaction.with(&[
        ("updated_at", created_at),
        ("status", Cell::text("pending")),
        ("provider_reference", Cell::Null),
    ])?;
    let transfer = transfer.with(&[
        ("sealed_account", Cell::Text("s".repeat(SEALED_BYTES))),
        ("revision", Cell::Integer(0)),
        ("last_change", Cell::Null),
        ("timeline", Cell::Null),
    ])?;
    unit.push(names.insert("transactions", &[transaction]));
    unit.push(names.insert("transfers", &[transfer]));
    unit.push(names.insert("ledger_postings", &[posting]));
    unit.push(names.insert_event(event)?);
    Ok(unit)
}

/// Records what the provider said.
fn outcome(names: &mut Names, transaction: &Row, transfer: &Row, event: &Row) -> Result<Unit, Fault> {
    let key = transfer.only(&["environment_id", "transaction_id"])?;
    let key: Vec<_> = key.into_iter().chain([("revision".to_owned(), Cell::Integer(0))]).collect();
    Ok(vec![
        names.update("transfers", &transfer.only(&TRANSFER_CHANGES)?, &key),
        names.update(
            "transactions",
            &transaction.only(&TRANSACTION_CHANGES)?,
            &transaction.only(&["environment_id", "id"])?,
        ),
        names.insert_event(event)?,
    ])
}
