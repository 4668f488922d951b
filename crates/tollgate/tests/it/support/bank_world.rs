//! A server, a provider and between them an environment that pays out of its wallet.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    bank_rail::BankRail,
    bank_simulator::BankSimulator,
    client::{Answer, Client},
    postgres::Database,
    server::{ADMIN_TOKEN, Server, Start, wait_until},
    tenant::{Key, Tenant},
};

pub const TOKENS: &str = "/client/v1/ach/customer-tokens";
pub const PREVIEW: &str = "/client/v1/ach/transfers/preview";
pub const TRANSFERS: &str = "/client/v1/ach/transfers";

/// A bank on all rails, one on none, and one that takes nothing instant.
pub const GOOD_BANK: &str = "021000021";
pub const REFUSED_BANK: &str = "790000051";
pub const SLOW_BANK: &str = "790000064";

/// Longer than anything a test waits for takes, on a machine busy with other things.
pub const BANK_WAIT_TIMEOUT: Duration = Duration::from_secs(180);

/// Which store a server is started on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Sqlite,
    Postgres,
}

/// A store of its own, which outlives the servers started on it.
pub enum BankStore {
    Sqlite(TempDir),
    Postgres(Database),
}

/// The same tests on each store, every one a function that takes which.
macro_rules! on_each_store {
    ($($name:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                super::$name($crate::support::On::Sqlite);
            })*
        }
        mod postgres {
            $(#[test]
            fn $name() {
                super::$name($crate::support::On::Postgres);
            })*
        }
    };
}
pub(crate) use on_each_store;

impl BankStore {
    pub fn new(on: On) -> Self {
        match on {
            On::Sqlite => Self::Sqlite(tempfile::tempdir().unwrap()),
            On::Postgres => Self::Postgres(Database::create()),
        }
    }

    /// A server on this store, with settings a test can wait for: a try that hangs is given up within a second, and the
    /// resolver looks again soon after. The deadline leaves time for every try on a machine that is busy with other
    /// things.
    pub fn serve(&self) -> Start {
        self.serve_plainly()
            .with("TOLLGATE_PROVIDER_TIMEOUT_MS", "700")
            .with("TOLLGATE_PROVIDER_DEADLINE_MS", "15000")
            .with("TOLLGATE_RESOLVER_POLL_MS", "40")
            .with("TOLLGATE_RESOLVER_LEASE_MS", "30200")
            .with("TOLLGATE_RESOLVER_FIRST_CHECK_MS", "400")
            .with("TOLLGATE_RESOLVER_FIRST_RETRY_MS", "150")
    }

    /// The same, where nothing but a webhook tells what became of a transfer. No call hangs here, so that each may be as
    /// slow as the machine.
    pub fn serve_without_looks(&self) -> Start {
        let start = self.serve().with("TOLLGATE_RESOLVER_FIRST_CHECK_MS", "3600000");
        start.with("TOLLGATE_PROVIDER_TIMEOUT_MS", "10000")
    }

    /// A server with the settings of production.
    pub fn serve_plainly(&self) -> Start {
        match self {
            Self::Sqlite(folder) => Start::serve().within(&folder.path().join("data")),
            Self::Postgres(database) => Start::serve().with("TOLLGATE_DATABASE_URL", &database.url),
        }
    }
}

/// A server, a simulator and one environment between them.
pub struct BankWorld {
    pub server: Server,
    pub simulator: BankSimulator,
    pub desk: Desk,
    // Dropped last: the processes are gone by then.
    pub store: BankStore,
}

impl BankWorld {
    /// Transfers are looked after by webhooks and by the resolver.
    pub fn start(on: On) -> Self {
        Self::start_with(on, BankStore::serve)
    }

    /// Nothing but a webhook tells what became of a transfer.
    pub fn start_without_looks(on: On) -> Self {
        Self::start_with(on, BankStore::serve_without_looks)
    }

    pub fn start_with(on: On, start: impl FnOnce(&BankStore) -> Start) -> Self {
        Self::start_as(on, BankRail::Increase, start)
    }

    /// The same with another provider.
    pub fn start_as(on: On, rail: BankRail, start: impl FnOnce(&BankStore) -> Start) -> Self {
        let store = BankStore::new(on);
        let simulator = BankSimulator::start_as(rail);
        let server = start(&store).run();
        let desk = Desk::open(&server, &simulator);
        Self { server, simulator, desk, store }
    }

    /// Starts another server at the address of the one before, which has ended.
    pub fn serve_again(&mut self, start: impl FnOnce(&BankStore) -> Start) {
        self.begin_again(start);
        self.server.wait_ready();
    }

    /// The same, without waiting: it may be made to die before it is ready.
    pub fn begin_again(&mut self, start: impl FnOnce(&BankStore) -> Start) {
        self.server = start(&self.store).with("TOLLGATE_LISTEN", &self.desk.server.to_string()).spawn();
    }

    /// Another organization at the same server and the same simulator.
    pub fn another_desk(&self) -> Desk {
        Desk::open(&self.server, &self.simulator)
    }

    /// A transfer the provider has taken: our reference and the provider's name for it.
    #[track_caller]
    pub fn taken(&self, key: &str) -> (String, String) {
        let reference = self.desk.made(&self.desk.body(key, 10_000));
        self.desk.wait_status(&reference, "processing");
        let id = self.simulator.sole(&reference).id;
        (reference, id)
    }
}

/// What a wallet holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wallet {
    pub available: u64,
    pub reserved: u64,
    pub settled: u64,
    pub fees: u64,
}

impl Wallet {
    pub fn of(data: &Value) -> Self {
        let number = |name: &str| data[name].as_str().unwrap().parse::<u64>().unwrap();
        Self {
            available: number("availableMinor"),
            reserved: number("reservedMinor"),
            settled: number("settledOutMinor"),
            fees: number("platformFeesMinor") + number("organizationFeesMinor"),
        }
    }

    pub fn sum(&self) -> u64 {
        self.available + self.reserved + self.settled + self.fees
    }
}

/// One environment that makes transfers, as its owner's backend and its operator see it.
#[derive(Clone)]
pub struct Desk {
    pub environment: String,
    pub secret: String,
    pub publishable: String,
    pub token: String,
    pub server: SocketAddr,
    pub rail: BankRail,
}

impl Desk {
    /// What [`Desk::open`] puts into the wallet.
    pub const FUNDS: u64 = 1_000_000_000_000;

    /// A new organization whose provider is served by the simulator, which sends its webhooks back.
    pub fn open(server: &Server, simulator: &BankSimulator) -> Self {
        Self::open_at(server, simulator, simulator.address())
    }

    /// The same, with the provider reached by way of another address.
    pub fn open_at(server: &Server, simulator: &BankSimulator, provider: SocketAddr) -> Self {
        let mut admin = server.admin();
        let tenant = Tenant::create(&mut admin);
        let mut key = |kind: &str| Key::of(&admin.post(&tenant.path("/keys"), &json!({ "kind": kind }))).key;
        let (secret, publishable) = (key("secret"), key("publishable"));
        let environment = tenant.environment.clone();
        let (token, rail) = (String::new(), simulator.rail);
        let mut desk = Self { environment, secret, publishable, token, server: server.address(), rail };
        desk.configure(&desk.document(provider));
        desk.fund(Self::FUNDS, "opening");
        desk.token = desk.new_token("customer-1");
        simulator.send_webhooks_to(&desk.webhook_url(), &desk.webhook_secret());
        desk
    }

    /// One provider; the metadata's `speed` picks the channel.
    pub fn document(&self, provider: SocketAddr) -> Value {
        let layer =
            |fixed: &str, bps: u16| json!({"enabled": true, "fixedFeeMinor": fixed, "percentFeeBps": bps});
        let fee = |channel: &str, platform: Value, organization: Value| {
            json!({"provider": "ach_provider_a", "paymentMethod": "ach", "channel": channel, "currency": "USD",
                   "platform": platform, "organization": organization})
        };
        let rule = |speed: &str, channel: &str| {
            json!({"id": format!("rule_{speed}"), "enabled": true,
                   "conditions": [{"id": format!("cond_{speed}"), "field": "metadata.speed", "op": "eq", "value": speed}],
                   "target": {"provider": "ach_provider_a", "channel": channel}})
        };
        json!({
            "providers": {"ach_provider_a": self.rail.entry(provider, &self.webhook_secret())},
            // Many tests make providers fail on purpose, and mean to reach them all the same.
            "settings": {"circuit": {"enabled": false}},
            "routing": {"ach": {
                "enabled": true,
                "rules": [rule("same_day", "same_day_ach"), rule("instant", "instant")],
                "default": {"provider": "ach_provider_a", "channel": "standard_ach"},
            }},
            "fees": [
                fee("standard_ach", layer("25", 0), layer("0", 10)),
                fee("same_day_ach", layer("75", 5), layer("0", 20)),
                fee("instant", layer("100", 0), layer("1", 50)),
            ],
        })
    }

    #[track_caller]
    pub fn configure(&self, document: &Value) {
        self.admin().configure(&self.path("/config"), document);
    }

    /// A secret no other environment has.
    pub fn webhook_secret(&self) -> String {
        format!("a webhook secret of {}", self.environment)
    }

    pub fn webhook_path(&self) -> String {
        format!("/webhooks/v1/{}/ach_provider_a", self.environment)
    }

    pub fn webhook_url(&self) -> String {
        format!("http://{}{}", self.server, self.webhook_path())
    }

    /// A path below the environment.
    pub fn path(&self, rest: &str) -> String {
        format!("/admin/v1/environments/{}{rest}", self.environment)
    }

    pub fn client(&self) -> Client {
        Client::new(self.server, &self.secret)
    }

    pub fn admin(&self) -> Client {
        Client::new(self.server, ADMIN_TOKEN)
    }

    /// The same environment by way of another server.
    #[must_use]
    pub fn at(&self, server: &Server) -> Self {
        Self { server: server.address(), ..self.clone() }
    }

    #[track_caller]
    pub fn fund(&self, amount: u64, reference: &str) {
        let body = json!({"amountMinor": amount.to_string(), "reference": reference});
        self.admin().post(&self.path("/wallets/USD/fund"), &body).data(201);
    }

    /// Takes everything but so much out of the wallet.
    #[track_caller]
    pub fn leave(&self, amount: u64) {
        let rest = self.wallet().available - amount;
        let body = json!({"amountMinor": rest.to_string(), "reference": format!("leave {amount}")});
        self.admin().post(&self.path("/wallets/USD/withdraw"), &body).data(201);
    }

    pub fn customer(id: &str) -> Value {
        json!({"externalCustomerId": id, "email": "ada@example.com", "firstName": "Ada", "lastName": "Example",
               "phone": "+1 415 555 0100", "metadata": {"tier": "gold"}})
    }

    #[track_caller]
    pub fn new_token(&self, customer: &str) -> String {
        let data = self.client().post(TOKENS, &Self::customer(customer)).data(201);
        data["customerToken"].as_str().unwrap().to_owned()
    }

    /// The body of a transfer.
    pub fn body(&self, key: &str, amount: u64) -> Value {
        json!({
            "idempotencyKey": key, "amountMinor": amount.to_string(), "currency": "USD",
            "customerToken": self.token, "routingNumber": GOOD_BANK, "accountNumber": "000123456789",
            "bankAccountType": "checking", "bankName": "First Example Bank", "accountName": "Ada Example",
        })
    }

    pub fn transfer(&self, body: &Value) -> Answer {
        self.client().post(TRANSFERS, body)
    }

    /// The reference of a transfer that was made just now.
    #[track_caller]
    pub fn made(&self, body: &Value) -> String {
        let data = self.transfer(body).data(201);
        assert_eq!(data["replayed"], false, "{data:#}");
        data["transaction"]["serviceReference"].as_str().unwrap().to_owned()
    }

    pub fn read(&self, reference: &str) -> Answer {
        self.client().get(&format!("/client/v1/transactions/{reference}"))
    }

    #[track_caller]
    pub fn transaction(&self, reference: &str) -> Value {
        self.read(reference).data(200)
    }

    #[track_caller]
    pub fn status(&self, reference: &str) -> String {
        self.transaction(reference)["status"].as_str().unwrap().to_owned()
    }

    /// Everything an operator sees of a transfer.
    #[track_caller]
    pub fn story(&self, reference: &str) -> Value {
        self.admin().get(&self.path(&format!("/transactions/{reference}"))).data(200)
    }

    /// The statuses a transfer went through.
    #[track_caller]
    pub fn moves(&self, reference: &str) -> Vec<String> {
        let story = self.story(reference);
        let lines = story["timeline"].as_array().unwrap().iter().filter(|line| line["kind"] == "status");
        lines.map(|line| line["detail"]["to"].as_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    pub fn wallet(&self) -> Wallet {
        Wallet::of(&self.admin().get(&self.path("/wallets/USD")).data(200))
    }

    /// The postings of one transfer, oldest first.
    #[track_caller]
    pub fn postings(&self, reference: &str) -> Vec<String> {
        let mut postings = self.listed("wallets/USD/ledger");
        postings.retain(|posting| posting["reference"] == reference);
        postings.iter().rev().map(|posting| posting["cause"].as_str().unwrap().to_owned()).collect()
    }

    /// Every item of an operator's list, newest first.
    #[track_caller]
    pub fn listed(&self, list: &str) -> Vec<Value> {
        let (mut admin, mut items, mut cursor) = (self.admin(), Vec::new(), String::new());
        let (path, query) = list.split_once('?').unwrap_or((list, ""));
        loop {
            let data = admin.get(&self.path(&format!("/{path}?limit=200&{query}{cursor}"))).data(200);
            items.extend(data["items"].as_array().unwrap().iter().cloned());
            match data["nextCursor"].as_str() {
                Some(next) => cursor = format!("&before={next}"),
                None => return items,
            }
        }
    }

    /// What the audits complain of, that of what is new and that of everything.
    pub fn audit(&self) -> Vec<String> {
        let audit = |path| {
            let data = self.admin().get(path).data(200);
            let findings = data["findings"].as_array().unwrap().clone();
            assert_eq!(data["clean"], findings.is_empty());
            findings.into_iter().map(|finding| format!("the audit: {finding}"))
        };
        audit("/admin/v1/audit").chain(audit("/admin/v1/audit?full=true")).collect()
    }

    /// `tollgate audit` of this server.
    pub fn audit_command(&self) -> Start {
        let start = Start::command(&["audit", "--full"]).with("TOLLGATE_ADMIN_TOKEN", ADMIN_TOKEN);
        start.with("TOLLGATE_URL", &format!("http://{}", self.server))
    }

    /// Checks that the books are right, and that nothing came into the wallet or left it but by its operator.
    #[track_caller]
    pub fn assert_books(&self, opening: u64) {
        assert_eq!(self.audit(), Vec::<String>::new());
        let wallet = self.wallet();
        assert_eq!(wallet.sum(), opening, "{wallet:?}");
    }

    #[track_caller]
    pub fn wait_status(&self, reference: &str, status: &str) {
        self.wait(reference, status, || self.status(reference) == status);
    }

    /// Waits for something about a transfer, and tells its whole story where it does not come true.
    #[track_caller]
    pub fn wait(&self, reference: &str, what: &str, mut is_true: impl FnMut() -> bool) {
        let deadline = Instant::now() + BANK_WAIT_TIMEOUT;
        // Often at first and seldom later: many wait at once, and their asking keeps the server busy.
        let mut pause = Duration::from_millis(5);
        while !is_true() {
            let story = || self.story(reference);
            assert!(Instant::now() < deadline, "{reference} was not {what} in time:\n{:#}", story());
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(120));
        }
    }

    /// Waits until every webhook has come and every event is done with.
    #[track_caller]
    pub fn wait_events(&self, simulator: &BankSimulator) {
        wait_until("every webhook has come and is done with", BANK_WAIT_TIMEOUT, || {
            simulator.webhooks_pending() == 0 && self.listed("provider-events?state=waiting").is_empty()
        });
    }
}
