//! The cluster, the Tollgate nodes, the provider and their callers, and what is done to them.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollgate_bench::call::{Caller, text_at};
use tollgate_bench::service::{Place, Secrets, Service};
use tollgate_bench::simulator::Simulator;
use tollgate_bench::tenants::{self, Tenant};
use tollgate_bench::{Fault, launch};

use crate::check::{Booked, Records, Taken};
use crate::clock::MachineClock;
use crate::cluster::{Cluster, Roles, Setup, TOLLGATES, send};
use crate::faults::Mishap;
use crate::link::State;
use crate::record::{Record, promise};
use crate::writers::{Load, Writers};

/// More than any run can spend.
const FUNDS_MINOR: u64 = 1_000_000_000_000;
/// How long an isolation or a pause lasts when no failover is expected.
const HELD_FOR: Duration = Duration::from_secs(6);
/// How long a former leader goes on after another was elected, before it is let back.
const OVERLAP: Duration = Duration::from_secs(2);
/// How long the control lets commits be acknowledged that no standby gets.
const UNREPLICATED_FOR: Duration = Duration::from_millis(1_500);
const WRITES_WITHIN: Duration = Duration::from_mins(1);
const STARTED_WITHIN: Duration = Duration::from_mins(1);
const SETTLED_WITHIN: Duration = Duration::from_mins(3);
/// The Tollgate node whose clock is an hour ahead from its start on, and the one whose clock jumps.
const AHEAD: usize = 0;
const JUMPING: usize = 1;
const POLL: Duration = Duration::from_millis(50);

/// As in production, but for how soon unknown outcomes are looked up: a drill cannot wait for a minute each time.
const SETTINGS: [(&str, &str); 5] = [
    ("TOLLGATE_PROVIDER_TIMEOUT_MS", "2000"),
    ("TOLLGATE_PROVIDER_DEADLINE_MS", "4000"),
    ("TOLLGATE_RESOLVER_LEASE_MS", "10000"),
    ("TOLLGATE_RESOLVER_FIRST_CHECK_MS", "2000"),
    ("TOLLGATE_RESOLVER_FIRST_RETRY_MS", "500"),
];

/// What happened, and when.
pub(crate) struct Strike {
    pub(crate) mishap: Mishap,
    /// Milliseconds since the beginning: when it began, and when everything worked again.
    pub(crate) from: u64,
    pub(crate) to: u64,
}

pub(crate) struct World {
    pub(crate) record: Arc<Record>,
    pub(crate) cluster: Cluster,
    synchronous: bool,
    binary: PathBuf,
    directory: PathBuf,
    secrets: Secrets,
    simulator: Simulator,
    tollgates: Vec<Tollgate>,
    tenant: Tenant,
}

struct Tollgate {
    address: SocketAddr,
    clock: Option<MachineClock>,
    /// How often it was started, for a log each.
    starts: u32,
    service: Option<Service>,
}

impl World {
    pub(crate) async fn start(setup: &Setup<'_>, binary: PathBuf) -> Result<Self, Fault> {
        let record = Arc::new(Record::new(&setup.directory.join("callers.jsonl"))?);
        eprintln!("starting etcd and {} PostgreSQL nodes under Patroni", crate::cluster::NODES);
        let cluster = Cluster::start(setup).await?;
        cluster.create_database().await?;
        let simulator = Simulator::start(&binary, setup.directory).await?;
        let secrets = Secrets::generate(&binary)?;
        let mut world = Self {
            record,
            cluster,
            synchronous: setup.synchronous,
            binary,
            directory: setup.directory.to_owned(),
            secrets,
            simulator,
            tollgates: Vec::new(),
            tenant: Tenant { environment_id: String::new(), secret_key: String::new() },
        };
        for number in 0..TOLLGATES {
            let address = launch::free_address()?;
            let clock = setup.wrong_clocks.then(|| MachineClock::new(setup.directory, number)).transpose()?;
            world.tollgates.push(Tollgate { address, clock, starts: 0, service: None });
            world.start_tollgate(number).await?;
        }
        let configuration = Arc::new(world.simulator.configuration("square"));
        let wanted = vec![("drill".to_owned(), configuration)];
        let tenant = tenants::set_up(world.service()?, wanted).await?.into_iter().next();
        world.tenant = tenant.ok_or("no environment was made")?;
        let body = json!({"amountMinor": FUNDS_MINOR.to_string(), "reference": "drill"});
        world.service()?.operator().send("POST", &world.path("wallets/USD/fund"), &body).await?;
        Ok(world)
    }

    pub(crate) async fn writers(&self) -> Result<Writers, Fault> {
        let customer = json!({
            "externalCustomerId": "customer-1001", "email": "ada@example.com", "firstName": "Ada",
            "lastName": "Lovelace", "phone": "+1 555 0100",
        });
        let mut client = Caller::new(self.service()?.address, &self.tenant.secret_key);
        let token = client.send("POST", "/client/v1/ach/customer-tokens", &customer).await?;
        let addresses: Vec<SocketAddr> = self.tollgates.iter().map(|tollgate| tollgate.address).collect();
        Ok(Writers::start(Load {
            tollgates: addresses.try_into().map_err(|_| "the number of Tollgate nodes")?,
            secret_key: self.tenant.secret_key.clone(),
            customer_token: text_at(&token, "/customerToken")?,
            record: Arc::clone(&self.record),
            next: AtomicU64::new(1),
            is_over: AtomicBool::new(false),
        }))
    }

    /// Breaks something, lets it be noticed, repairs it, and waits until everything works again.
    pub(crate) async fn strike(&mut self, mishap: Mishap) -> Result<Strike, Fault> {
        let roles = self.cluster.wait_whole().await?;
        let from = self.record.now();
        match mishap {
            Mishap::LeaderKilled => self.kill_leader(roles).await?,
            Mishap::LeaderIsolated => self.isolate_leader(roles, false).await?,
            Mishap::LeaderUnreachable => self.isolate_leader(roles, true).await?,
            Mishap::LeaderPaused => {
                self.cluster.node(roles.leader)?.pause();
                self.wait_for_another(roles).await?;
                self.cluster.node(roles.leader)?.resume();
            }
            Mishap::StandbyPaused => {
                let standby = (roles.leader + 1) % self.cluster.nodes.len();
                self.cluster.node(standby)?.pause();
                tokio::time::sleep(HELD_FOR).await;
                self.cluster.node(standby)?.resume();
            }
            Mishap::TollgateSilenced(number) => {
                let link = self.cluster.node(roles.leader)?.links.tollgate.get(number);
                let link = link.ok_or("no such node")?;
                link.set(State::Silent);
                tokio::time::sleep(HELD_FOR).await;
                link.set(State::Open);
            }
            Mishap::TollgatesCut => {
                let links = &self.cluster.node(roles.leader)?.links.tollgate;
                for link in links {
                    link.set(State::Cut);
                }
                tokio::time::sleep(HELD_FOR).await;
                for link in links {
                    link.set(State::Open);
                }
            }
            Mishap::TollgateKilled(number) => {
                self.tollgates.get_mut(number).ok_or("no such node")?.service = None;
                tokio::time::sleep(OVERLAP).await;
                self.start_tollgate(number).await?;
            }
            Mishap::TollgatePaused(number) => {
                let service = self.tollgates.get(number).and_then(|tollgate| tollgate.service.as_ref());
                pause(service.ok_or("no such node")?.process.id()).await;
            }
            Mishap::ProviderPaused => pause(self.simulator.process.id()).await,
            Mishap::ClockJumped(hours) => {
                if let Some(clock) = self.tollgates.get(JUMPING).and_then(|it| it.clock.as_ref()) {
                    clock.set_hours_ahead(hours)?;
                }
                tokio::time::sleep(HELD_FOR).await;
            }
            Mishap::DiskFull => {
                let node = self.cluster.nodes.last().ok_or("no such node")?;
                let filler = tokio::task::block_in_place(|| node.fill_disk())?;
                tokio::time::sleep(HELD_FOR).await;
                std::fs::remove_file(filler)?;
            }
        }
        let repaired = self.record.now();
        self.cluster.wait_whole().await?;
        self.wait_for_writes(repaired).await?;
        Ok(Strike { mishap, from, to: self.record.now() })
    }

    async fn kill_leader(&mut self, roles: Roles) -> Result<(), Fault> {
        let leader = self.cluster.node_mut(roles.leader)?;
        if !self.synchronous {
            leader.links.replication.set(State::Silent);
            tokio::time::sleep(UNREPLICATED_FOR).await;
        }
        leader.kill();
        // What is still on its way is lost with the machine.
        leader.links.replication.set(State::Cut);
        self.wait_for_another(roles).await?;
        let former = self.cluster.node_mut(roles.leader)?;
        former.links.replication.set(State::Open);
        former.restart()
    }

    async fn isolate_leader(&self, roles: Roles, also_from_tollgate: bool) -> Result<(), Fault> {
        let links = &self.cluster.node(roles.leader)?.links;
        let set = |state: State| {
            links.isolate(state);
            if also_from_tollgate {
                links.tollgate.iter().for_each(|link| link.set(state));
            }
        };
        set(State::Silent);
        self.wait_for_another(roles).await?;
        set(State::Open);
        Ok(())
    }

    /// Until another leader is elected, and a little longer.
    async fn wait_for_another(&self, before: Roles) -> Result<(), Fault> {
        self.cluster.wait(|roles| roles.leader != before.leader).await?;
        tokio::time::sleep(OVERLAP).await;
        Ok(())
    }

    async fn wait_for_writes(&self, since: u64) -> Result<(), Fault> {
        let deadline = Instant::now() + WRITES_WITHIN;
        while self.record.writes().last().is_none_or(|at| *at <= since) {
            if Instant::now() > deadline {
                return Err(format!("no write was acknowledged within {} s", WRITES_WITHIN.as_secs()).into());
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    async fn start_tollgate(&mut self, number: usize) -> Result<(), Fault> {
        let tollgate = self.tollgates.get_mut(number).ok_or("no such node")?;
        let deadline = Instant::now() + STARTED_WITHIN;
        // It starts with the right time, or it would never be ready.
        let clock = tollgate.clock.as_ref();
        clock.map(|clock| clock.set_hours_ahead(0)).transpose()?;
        let settings: Vec<_> =
            SETTINGS.into_iter().chain(clock.into_iter().flat_map(MachineClock::settings)).collect();
        loop {
            tollgate.starts += 1;
            let place = Place {
                binary: &self.binary,
                directory: self.directory.join(format!("tollgate-{}-{}", number + 1, tollgate.starts)),
                database_url: self.cluster.url(number),
                listen: Some(tollgate.address),
                settings: &settings,
            };
            match Service::start(&place, &self.secrets).await {
                Ok(service) => {
                    tollgate.service = Some(service);
                    return clock
                        .filter(|_| number == AHEAD)
                        .map_or(Ok(()), |clock| clock.set_hours_ahead(1));
                }
                // As whoever supervises it would.
                Err(_) if Instant::now() < deadline => tokio::time::sleep(POLL).await,
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Sets the clocks right.
    pub(crate) fn set_clocks(&self) -> Result<(), Fault> {
        self.tollgates.iter().flat_map(|it| &it.clock).try_for_each(|clock| clock.set_hours_ahead(0))
    }

    fn service(&self) -> Result<&Service, Fault> {
        let service = self.tollgates.first().and_then(|tollgate| tollgate.service.as_ref());
        service.ok_or_else(|| "no Tollgate node runs".into())
    }

    fn path(&self, rest: &str) -> String {
        format!("/admin/v1/environments/{}/{rest}", self.tenant.environment_id)
    }

    /// Every item of an operator's list.
    async fn listed(&self, list: &str) -> Result<Vec<Value>, Fault> {
        let mut operator = self.service()?.operator();
        let (mut items, mut cursor) = (Vec::new(), String::new());
        let (path, query) = list.split_once('?').unwrap_or((list, ""));
        loop {
            let path = self.path(&format!("{path}?limit=200&{query}{cursor}"));
            let mut page = operator.call("GET", &path, None).await?.body;
            if let Some(Value::Array(more)) = page.pointer_mut("/data/items").map(Value::take) {
                items.extend(more);
            }
            match page.pointer("/data/nextCursor").and_then(Value::as_str) {
                Some(next) => cursor = format!("&before={next}"),
                None => return Ok(items),
            }
        }
    }

    /// Waits until nothing is in flight anymore; what still is shows in the comparison.
    pub(crate) async fn settle(&self) -> Result<Duration, Fault> {
        let began = Instant::now();
        loop {
            let mut open = self.listed("transactions?status=pending").await?;
            open.retain(is_transfer);
            for list in ["transfers/waiting", "payments?status=preparing", "payments?waiting=true"] {
                open.extend(self.listed(list).await?);
            }
            let keyless = self.keyless().await?;
            open.retain(|payment| !keyless.contains(&reference(payment)));
            if open.is_empty() || began.elapsed() > SETTLED_WITHIN {
                return Ok(began.elapsed());
            }
            tokio::time::sleep(POLL * 10).await;
        }
    }

    /// Pending transfers whose encryption key no longer exists.
    async fn keyless(&self) -> Result<BTreeSet<String>, Fault> {
        let mut waiting = self.listed("transfers/waiting").await?;
        waiting.retain(|transfer| transfer.to_string().contains("bank details cannot be decrypted"));
        Ok(waiting.iter().map(reference).collect())
    }

    /// The three records.
    pub(crate) async fn records(&self) -> Result<Records, Fault> {
        let keyless = self.keyless().await?;
        let mut records = Records { callers: self.record.entries(), keyless, ..Records::default() };
        for transaction in self.listed("transactions").await? {
            let status = text(&transaction, "status");
            let booked =
                Booked { is_transfer: is_transfer(&transaction), promise: promise(&transaction), status };
            records.books.insert(text(&transaction, "serviceReference"), booked);
        }
        let payments = self.listed("payments").await?;
        records.prepared = payments.iter().map(|payment| text(payment, "serviceReference")).collect();
        records.provider = self.provider().await?;
        records.findings = self.audit().await?;
        Ok(records)
    }

    async fn provider(&self) -> Result<Vec<Taken>, Fault> {
        let mut control = Caller::new(self.simulator.address, "none");
        let state = control.call("GET", "/control/state?limit=10000000", None).await?.body;
        let rows =
            |pointer: &str| state.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
        let amount = |row: &Value| row.get("amount").and_then(Value::as_u64).unwrap_or_default();
        let transfers = rows("/increase/ach_transfers").into_iter().map(|row| Taken {
            reference: text(&row, "idempotency_key"),
            is_transfer: true,
            amount: amount(&row),
            moved: !["rejected", "canceled", "returned"].contains(&text(&row, "status").as_str()),
        });
        let charges = rows("/square/payments").into_iter().map(|row| Taken {
            reference: text(&row, "reference_id"),
            is_transfer: false,
            amount: amount(&row),
            moved: text(&row, "status") == "COMPLETED",
        });
        Ok(transfers.chain(charges).collect())
    }

    /// What the product's audit finds, and whether the wallet still adds up to what came in.
    async fn audit(&self) -> Result<Vec<String>, Fault> {
        let audit = self.service()?.operator().call("GET", "/admin/v1/audit", None).await?.body;
        let found = audit.pointer("/data/findings").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut findings: Vec<String> = found.iter().map(Value::to_string).collect();
        if findings.is_empty() && audit.pointer("/data/clean") != Some(&Value::Bool(true)) {
            findings.push(format!("the audit is not clean: {audit}"));
        }
        let wallet = self.service()?.operator().call("GET", &self.path("wallets/USD"), None).await?.body;
        let fields = [
            "availableMinor",
            "reservedMinor",
            "settledOutMinor",
            "platformFeesMinor",
            "organizationFeesMinor",
        ];
        let part = |name: &&str| wallet.pointer(&format!("/data/{name}"))?.as_str()?.parse::<u64>().ok();
        let sum: Option<u64> = fields.iter().map(part).sum();
        if sum != Some(FUNDS_MINOR) {
            findings.push(format!("the wallet does not add up to {FUNDS_MINOR}: {wallet}"));
        }
        Ok(findings)
    }
}

/// Of a payment or transaction as lists have it, or of a transfer, which has its transaction inside.
fn reference(listed: &Value) -> String {
    text(listed.get("transaction").unwrap_or(listed), "serviceReference")
}

fn is_transfer(transaction: &Value) -> bool {
    text(transaction, "paymentMethod") == "ach"
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

async fn pause(process: u32) {
    send("-STOP", &[process]);
    tokio::time::sleep(HELD_FOR).await;
    send("-CONT", &[process]);
}

/// Where the account that PostgreSQL runs as can get to its own directories below.
pub(crate) fn open_for_others(directory: &Path) -> Result<(), Fault> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o711))?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_transfer_has_the_reference_of_its_transaction() {
        let transfer = json!({"transaction": {"serviceReference": "ach_1"}, "waitingFor": "somebody"});
        assert_eq!(reference(&transfer), "ach_1");
        assert_eq!(reference(&json!({"serviceReference": "pay_1"})), "pay_1");
    }
}
