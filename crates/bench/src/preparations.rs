//! Card preparations: the product on both databases, beside what it cannot do without: an HTTP round trip, the provider's
//! answer, and the rows on disk.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::Fault;
use crate::call::Caller;
use crate::cell::Cell;
use crate::comparison::{Comparison, Fact, Group, Ratio};
use crate::databases::{Databases, with_databases};
use crate::load::Target;
use crate::numbered::{NUMBER, Numbered};
use crate::options::Options;
use crate::plan::{Names, Unit};
use crate::raw_postgres::RawPostgres;
use crate::raw_sqlite::RawSqlite;
use crate::rows::{Row, only_one};
use crate::runner::{Runner, Work, take_turns};
use crate::sample::{Clock, Series};
use crate::service::{Secrets, Service};
use crate::simulator::Simulator;
use crate::tenants::{self, Tenant};
use crate::twin::{Copied, Ground, Kind, Twin, shared};
use crate::{echo, http, launch};

pub(crate) const PATH: &str = "/client/v1/payments/component";
pub(crate) const BODY: &[u8] = br#"{"amountMinor":"125000","currency":"USD","paymentMethod":"web_card","description":"Order A-1001","customer":{"name":"Ada Lovelace","email":"ada@example.com"},"metadata":{"orderId":"A-1001","tier":"gold"}}"#;

/// What the product sends the provider for it, but for the name of the payment.
const PROVIDER_PATH: &str = "/stripe/v1/payment_intents";
const PROVIDER_VERSION: &str = "2026-10-28.endive";

/// As many as the product keeps open to PostgreSQL.
const STORE_CONNECTIONS: u32 = 16;

/// The adapters that are measured. The first asks the provider before it answers, the second does not.
const WIRES: [&str; 2] = ["stripe", "square"];

/// An instance with all that is measured of it.
struct Stage {
    kind: Kind,
    service: Service,
}

/// Runs the whole measurement.
pub(crate) async fn measure(options: &Options) -> Result<Comparison, Fault> {
    let url = options.postgres_url.as_deref();
    with_databases(url, async |databases| compare(options, databases).await).await
}

async fn compare(options: &Options, databases: &mut Option<Databases>) -> Result<Comparison, Fault> {
    let binary = launch::binary(options.tollgate_bin.as_deref())?;
    let directory = tempfile::Builder::new().prefix("tollgate-bench-").tempdir()?;
    let simulator = Simulator::start(&binary, directory.path()).await?;
    let secrets = Secrets::generate(&binary)?;
    let mut ground = Ground { binary: &binary, directory: directory.path(), secrets, databases };

    let mut runners = Vec::new();
    let mut stages = Vec::new();
    let mut answer_bytes = 0;
    for kind in ground.kinds() {
        let twin = ground.twin(kind, async |service| set_up(service, &simulator).await).await?;
        let clock = Clock::default().with_database(ground.database_server(kind));
        let Twin { service, copied, set_up: (tenants, bytes) } = twin;
        answer_bytes = bytes;
        runners.extend(raw_runners(kind, &copied, clock).await?);
        for (wire, tenant) in WIRES.into_iter().zip(tenants) {
            let request = http::request("POST", PATH, Some(&tenant.secret_key), Some(BODY));
            let target = Target::same(service.address, request).wanting(201);
            let clock = clock.with_server(&service.process).with_provider(&simulator.process);
            runners.push(Runner::new(format!("{}, {wire}", kind.name()), Work::Http(target), clock));
        }
        stages.push(Stage { kind, service });
    }
    let (echo_process, echo_address) = echo::start(directory.path(), answer_bytes).await?;
    let bare = [
        Runner::new(HTTP, Work::Http(bare_http(echo_address)), Clock::of(&echo_process)),
        Runner::new(
            PROVIDER,
            Work::Http(bare_provider(&simulator)?),
            Clock::default().with_provider(&simulator.process),
        ),
    ];
    runners.splice(0..0, bare);

    take_turns(&mut runners, options).await?;

    let mut facts = Vec::new();
    for Stage { kind, service } in &stages {
        let begins = format!("{}, ", kind.name());
        let own = runners.iter().filter(|runner| runner.series.name.starts_with(&begins));
        let made: u64 = own.map(Runner::accepted).sum();
        facts.push(Fact::new(format!("preparations on {}", kind.name()), made, "in all"));
        facts.push(Fact::new("  memory after them", service.process.memory_kib()?, "KiB"));
    }
    facts.push(Fact::new("memory of the simulated provider", simulator.process.memory_kib()?, "KiB"));
    let failures = runners.iter().flat_map(Runner::complaints).collect();
    let series: Vec<Series> = runners.into_iter().map(|runner| runner.series).collect();
    let ratios = stages.iter().flat_map(|stage| ratios(stage.kind, &series)).collect();
    let title = format!(
        "Card preparations, {} connections, {} to the database, answers of {answer_bytes} bytes",
        options.connections, STORE_CONNECTIONS
    );
    let group =
        Group { name: "Rounds (server, database, provider: processor time each)".into(), series, ratios };
    Ok(Comparison { title, groups: vec![group], facts, failures })
}

const HTTP: &str = "bare http";
const PROVIDER: &str = "bare provider";

fn raw_name(kind: Kind, wire: &str) -> String {
    let units = if wire == "stripe" { "two units" } else { "one unit" };
    format!("raw {}, {units}", kind.name())
}

fn ratios(kind: Kind, all: &[Series]) -> Vec<Ratio> {
    let find = |name: &str| all.iter().find(|series| series.name == name);
    let of_wire = |wire: &str| {
        let product = find(&format!("{}, {wire}", kind.name()))?;
        let raw = find(&raw_name(kind, wire))?;
        let (http, provider) = (find(HTTP)?, find(PROVIDER)?);
        let round_trips: &[&Series] = if wire == "stripe" { &[http, provider] } else { &[http] };
        let everything: Vec<&Series> = round_trips.iter().copied().chain([raw]).collect();
        Some([
            Ratio::new(product, &[raw]),
            Ratio::new(product, round_trips),
            Ratio::new(product, &everything),
        ])
    };
    WIRES.into_iter().filter_map(of_wire).flatten().collect()
}

/// An environment for each adapter, and one preparation in each, whose rows the yardstick copies.
async fn set_up(service: &Service, simulator: &Simulator) -> Result<(Vec<Tenant>, usize), Fault> {
    let wanted = WIRES.map(|wire| (wire.to_owned(), Arc::new(simulator.configuration(wire))));
    let tenants = tenants::set_up(service, wanted.into()).await?;
    let mut most = 0;
    for tenant in &tenants {
        let called = Caller::new(service.address, &tenant.secret_key).call("POST", PATH, Some(BODY)).await?;
        most = most.max(called.bytes);
    }
    Ok((tenants, most))
}

/// The store's work alone, for each adapter.
async fn raw_runners(kind: Kind, copied: &Copied, clock: Clock) -> Result<Vec<Runner>, Fault> {
    let mut runners = Vec::new();
    let connection = match copied {
        Copied::Sqlite(path) => Some(shared(path)?),
        Copied::Postgres(_) => None,
    };
    for wire in WIRES {
        let (units, names, environment) = plan(copied, wire).await?;
        let maker = names.maker(vec![environment]);
        let work = match (copied, &connection) {
            (Copied::Postgres(url), _) => {
                Work::Postgres(RawPostgres::connect(url, STORE_CONNECTIONS, &units, &maker).await?)
            }
            (Copied::Sqlite(_), Some(connection)) => {
                Work::Sqlite(RawSqlite::new(Arc::clone(connection), &units, maker))
            }
            (Copied::Sqlite(_), None) => continue,
        };
        runners.push(Runner::new(raw_name(kind, wire), work, clock.with_own()));
    }
    Ok(runners)
}

/// What the product changes once the provider has answered.
const CHANGED: [&str; 11] = [
    "preparation",
    "object",
    "checkout_url",
    "prepared_at",
    "confirmed",
    "due_at",
    "tries",
    "waiting",
    "revision",
    "last_change",
    "timeline",
];

async fn plan(copied: &Copied, wire: &str) -> Result<(Vec<Unit>, Names, Cell), Fault> {
    let payment = format!("SELECT * FROM card_payments WHERE adapter = '{wire}'");
    let objects = format!("SELECT * FROM provider_objects WHERE provider = '{wire}'");
    let [payments, objects] = copied.rows([&payment, &objects]).await?;
    let payment = only_one(payments, "card_payments")?;
    let environment = payment.cell("environment_id")?.clone();
    let mut names = Names::default();
    let units = units(&mut names, payment, &objects)?;
    Ok((units, names, environment))
}

/// One unit where the provider was not asked, and another for its answer where it was.
fn units(names: &mut Names, payment: Row, objects: &[Row]) -> Result<Vec<Unit>, Fault> {
    names.environment(payment.cell("environment_id")?);
    if payment.integer("revision")? == 0 {
        return Ok(vec![vec![names.insert("card_payments", &[payment])]]);
    }
    if let Some(object) = payment.text("object")? {
        names.text(object);
    }
    let key = payment.only(&["environment_id", "id"])?;
    let key: Vec<_> = key.into_iter().chain([("revision".to_owned(), Cell::Integer(0))]).collect();
    let change = names.update("card_payments", &payment.only(&CHANGED)?, &key);
    let begun = payment.with(&[
        ("preparation", Cell::text("preparing")),
        ("object", Cell::Null),
        ("checkout_url", Cell::Null),
        ("prepared_at", Cell::Null),
        ("revision", Cell::Integer(0)),
        ("last_change", Cell::Null),
        ("timeline", Cell::Null),
    ])?;
    let first = vec![names.insert("card_payments", &[begun])];
    let second = vec![change, names.insert("provider_objects", objects)];
    Ok(vec![first, second])
}

/// The load generator against a server that does nothing.
fn bare_http(address: SocketAddr) -> Target {
    Target::same(address, http::request("POST", PATH, Some("sk_test_benchmark"), Some(BODY)))
}

/// The provider's part, asked as the product asks.
fn bare_provider(simulator: &Simulator) -> Result<Target, Fault> {
    let reference = format!("pay_0benchmark{NUMBER}");
    let body = format!(
        "amount=129150&currency=usd&automatic_payment_methods%5Benabled%5D=true&description=Order+A-1001\
         &receipt_email=ada%40example.com&metadata%5Btollgate_reference%5D={reference}\
         &metadata%5Btollgate_environment%5D=env_0benchmark0benchmark000000"
    );
    let headers = [
        ("Authorization", &*format!("Bearer {}", simulator.stripe_key())),
        ("User-Agent", "tollgate"),
        ("Stripe-Version", PROVIDER_VERSION),
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Idempotency-Key", &format!("{reference}-prepare")),
    ];
    let request = http::compose("POST", PROVIDER_PATH, &headers, Some(body.as_bytes()));
    Ok(Target::numbered(simulator.address, Numbered::new(vec![request])?, 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payment(revision: i64) -> Row {
        let cells = CHANGED.iter().map(|column| ((*column).to_owned(), Cell::Null));
        let keys = [("environment_id", Cell::Id([1; 16])), ("id", Cell::Id([2; 16]))];
        let keys = keys.map(|(name, cell)| (name.to_owned(), cell));
        let row = Row { cells: keys.into_iter().chain(cells).collect() };
        row.with(&[("revision", Cell::Integer(revision)), ("object", Cell::text("pi_1"))]).unwrap()
    }

    fn object() -> Row {
        Row { cells: vec![("payment_id".to_owned(), Cell::Id([2; 16]))] }
    }

    #[test]
    fn a_provider_that_is_asked_makes_a_second_unit() {
        let mut names = Names::default();
        let units = units(&mut names, payment(1), &[object()]).unwrap();
        let sql: Vec<Vec<String>> =
            units.iter().map(|unit| unit.iter().map(crate::plan::Statement::sqlite).collect()).collect();
        assert_eq!(sql.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
        assert!(sql[0][0].starts_with("INSERT INTO card_payments (environment_id, id, preparation,"));
        assert!(sql[1][0].ends_with(" WHERE environment_id = ?12 AND id = ?13 AND revision = ?14"));
        assert_eq!(sql[1][1], "INSERT INTO provider_objects (payment_id) VALUES (?1)");
    }

    #[test]
    fn a_provider_that_is_not_asked_makes_none() {
        let units = units(&mut Names::default(), payment(0), &[]).unwrap();
        assert_eq!(units.iter().map(Vec::len).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn the_body_is_json() {
        let body: serde_json::Value = serde_json::from_slice(BODY).unwrap();
        assert_eq!(body.pointer("/customer/name"), Some(&"Ada Lovelace".into()));
    }
}
