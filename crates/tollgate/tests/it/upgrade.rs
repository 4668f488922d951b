//! From the version before to this one, back, and to this one again, under load: what callers see, and what the books have.
//!
//! `make upgrade-drill` builds older binaries and names them in `TOLLGATE_UPGRADE_FROM`, as `name=path` separated by commas; without
//! it, this version takes the place of the one before. `TOLLGATE_UPGRADE_SECONDS` is how long callers go on on each side of a step.

mod callers;
mod recorded;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    net::SocketAddr,
    path::PathBuf,
    process::Command,
    sync::{Arc, atomic::Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{
    BANK_WAIT_TIMEOUT, BankRail, BankSimulator, BankStore, Database, Desk, Key, On, SQUARE_TOKEN, STRIPE_KEY,
    Server, Tenant, binary, on_each_store, truth, wait_until,
};
use callers::{Load, Tally};

/// Longer than a request takes, and than a load balancer to hear that a node is leaving.
const LEAVING: Duration = Duration::from_secs(2);

/// A binary, and what it is called.
struct Version {
    name: String,
    binary: PathBuf,
}

impl Version {
    fn this() -> Self {
        Self { name: "this version".to_owned(), binary: binary().into() }
    }

    /// Those to come from.
    fn before() -> Vec<Self> {
        let Ok(named) = env::var("TOLLGATE_UPGRADE_FROM") else { return vec![Self::this()] };
        let version = |text: &str| {
            let (name, binary) = text.split_once('=').expect("TOLLGATE_UPGRADE_FROM is name=path,…");
            Self { name: name.to_owned(), binary: binary.into() }
        };
        named.split(',').map(version).collect()
    }

    fn serve(&self, store: &BankStore, address: Option<SocketAddr>) -> Server {
        let start = store.serve().of(&self.binary);
        let start = match address {
            Some(address) => start.with("TOLLGATE_LISTEN", &address.to_string()),
            None => start,
        };
        start.spawn()
    }

    fn run(&self, store: &BankStore, address: Option<SocketAddr>) -> Server {
        let mut server = self.serve(store, address);
        server.wait_ready();
        server
    }
}

/// The oldest schema whose binaries may run on that of this version, as it says itself.
fn oldest_schema() -> i64 {
    let output = Command::new(binary()).args(["version", "--json"]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said["schemaVersion"].as_i64() >= said["oldestSchemaVersion"].as_i64(), "{said}");
    said["oldestSchemaVersion"].as_i64().unwrap()
}

fn seconds() -> Duration {
    let text = env::var("TOLLGATE_UPGRADE_SECONDS").unwrap_or_else(|_| "0.3".to_owned());
    Duration::from_secs_f64(text.parse().expect("TOLLGATE_UPGRADE_SECONDS is no number"))
}

/// One environment that every version so far understands: Square for cards, Stripe for those whose metadata asks for it, Increase for
/// transfers.
fn document(desk: &Desk, providers: SocketAddr) -> Value {
    let layer =
        |fixed: &str, bps: u16| json!({"enabled": true, "fixedFeeMinor": fixed, "percentFeeBps": bps});
    let fee = |provider: &str, method: &str, channel: &str| {
        json!({"provider": provider, "paymentMethod": method, "channel": channel, "currency": "USD",
               "platform": layer("25", 0), "organization": layer("0", 10)})
    };
    let route = |provider: &str, channel: &str| json!({"enabled": true, "rules": [], "default": {"provider": provider, "channel": channel}});
    json!({
        "providers": {
            "ach_provider_a": BankRail::Increase.entry(providers, &desk.webhook_secret()),
            "card_provider_b": {
                "adapter": "square",
                "credentials": {
                    "accessToken": SQUARE_TOKEN, "applicationId": "sandbox-sq0idb-simulator",
                    "locationId": "LSIMULATOR001", "webhookSignatureKey": desk.webhook_secret(),
                },
                "environment": "sandbox", "baseUrl": format!("http://{providers}/square"),
            },
            "card_provider_a": {
                "adapter": "stripe",
                "credentials": {
                    "secretKey": STRIPE_KEY, "publishableKey": "pk_test_simulator", "webhookSecret": desk.webhook_secret(),
                },
                "baseUrl": format!("http://{providers}/stripe"),
            },
        },
        "routing": {"ach": route("ach_provider_a", "standard_ach"), "web_card": {
            "enabled": true,
            "rules": [{
                "id": "rule_stripe", "enabled": true, "target": {"provider": "card_provider_a", "channel": "web_card"},
                "conditions": [{"id": "cond_stripe", "field": "metadata.wire", "op": "eq", "value": "stripe"}],
            }],
            "default": {"provider": "card_provider_b", "channel": "web_card"},
        }},
        "fees": [
            fee("ach_provider_a", "ach", "standard_ach"), fee("card_provider_a", "web_card", "none"),
            fee("card_provider_b", "web_card", "none"),
        ],
    })
}

fn open(server: &Server, simulator: &BankSimulator) -> Desk {
    let mut admin = server.admin();
    let tenant = Tenant::create(&mut admin);
    let Key { key: secret, .. } = tenant.issue(&mut admin);
    let mut desk = Desk {
        environment: tenant.environment,
        secret,
        publishable: String::new(),
        token: String::new(),
        server: server.address(),
        rail: BankRail::Increase,
    };
    desk.configure(&document(&desk, simulator.address()));
    desk.fund(Desk::FUNDS, "opening");
    desk.token = desk.new_token("customer-1");
    desk
}

/// What an upgrade is tried on.
struct World {
    store: BankStore,
    simulator: BankSimulator,
    server: Server,
    desk: Desk,
    load: Arc<Load>,
}

impl World {
    fn start(on: On, version: &Version) -> Self {
        let store = match on {
            On::Sqlite => BankStore::new(on),
            On::Postgres => BankStore::Postgres(Database::create_empty()),
        };
        let simulator = BankSimulator::start();
        let server = version.run(&store, None);
        let desk = open(&server, &simulator);
        let load = Load::new(&desk, simulator.address());
        Self { store, simulator, server, desk, load }
    }

    /// The newest schema that the store's own record says a binary must know. A server on SQLite has the file to itself, and must be
    /// stopped.
    fn schema(&self) -> i64 {
        let sql = "SELECT CAST(max(version) AS TEXT) FROM schema_migrations";
        let text = match &self.store {
            BankStore::Postgres(database) => database.texts(sql).remove(0),
            BankStore::Sqlite(folder) => {
                let file = rusqlite::Connection::open(folder.path().join("data/tollgate.db")).unwrap();
                file.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap()
            }
        };
        text.parse().unwrap()
    }

    /// The next version joins, and when it is ready, the one before leaves.
    fn pass_on(&mut self, version: &Version, beside: impl FnOnce(&Self, &Server, &Server)) {
        let next = version.run(&self.store, None);
        self.load.send_to(&[self.server.address(), next.address()]);
        beside(self, &self.server, &next);
        thread::sleep(seconds());
        self.load.send_to(&[next.address()]);
        thread::sleep(LEAVING);
        assert!(self.server.terminate().success());
        self.server = next;
        self.desk = self.desk.at(&self.server);
    }

    /// The version that runs ends, and another starts at its address. `between` sees the store without a server.
    fn stop_and_start(&mut self, version: &Version, between: impl FnOnce(&Self)) {
        let address = self.server.address();
        self.load.is_down.store(true, Ordering::SeqCst);
        assert!(self.server.terminate().success());
        between(self);
        self.server = version.run(&self.store, Some(address));
        self.load.is_down.store(false, Ordering::SeqCst);
    }

    /// Callers before, during and after a step; then everything is compared, and a line of the table printed.
    fn under_load(&mut self, what: &str, step: impl FnOnce(&mut Self)) {
        let running = self.load.start();
        thread::sleep(seconds());
        step(self);
        thread::sleep(seconds());
        let Tally { requests, again, unreached, failures } = running.end();
        let payments = self.compare();
        println!("| {what} | {requests} | {again} | {unreached} | {} | {payments} | clean |", failures.len());
        assert_eq!(failures, Vec::<String>::new(), "{what}");
        assert!(requests > 0 && payments > 0, "{what}: nobody paid");
    }

    /// What callers were answered, what the providers have, and what the server lists: the same, each once. Returns how many payments.
    fn compare(&self) -> usize {
        let desk = &self.desk;
        let paid = self.load.paid.lock().unwrap();
        let cards: BTreeSet<&str> = paid.cards.iter().map(String::as_str).collect();
        let transfers: BTreeSet<&str> = paid.transfers.iter().map(String::as_str).collect();
        assert_eq!(
            (cards.len(), transfers.len()),
            (paid.cards.len(), paid.transfers.len()),
            "answered twice"
        );
        let listed = || desk.listed("transactions");
        wait_until("every payment has ended or is on its way", BANK_WAIT_TIMEOUT, || {
            listed().iter().all(|transaction| {
                let status = &transaction["status"];
                status == "succeeded" || (status == "processing" && transaction["paymentMethod"] == "ach")
            })
        });
        let listed = listed();
        let in_books: BTreeSet<&str> =
            listed.iter().map(|transaction| transaction["serviceReference"].as_str().unwrap()).collect();
        assert_eq!(listed.len(), in_books.len(), "listed twice");
        assert_eq!(in_books, cards.union(&transfers).copied().collect(), "lost, or from nowhere");
        let accepted = self.simulator.accepted(200_000);
        assert_eq!(accepted.len(), transfers.len(), "the bank has others");
        for reference in &transfers {
            assert_eq!(accepted.get(*reference).map(Vec::len), Some(1), "{reference} at the bank");
        }
        let refunded = self.refunded(&paid.refunds);
        let state = self.simulator.control("GET", "state?limit=200000", &Value::Null);
        for reference in &cards {
            let truth = truth(&state, reference);
            let expected = refunded.get(*reference).copied().unwrap_or_default();
            assert_eq!((truth.charged, truth.refunded), (1, expected), "{reference} at the card provider");
        }
        let counts = |provider: &str, name: &str| state[provider]["counts"][name].as_u64().unwrap();
        let charged = counts("stripe", "charges_succeeded") + counts("square", "payments_charged");
        assert_eq!(usize::try_from(charged).unwrap(), cards.len(), "the card providers have others");
        assert_eq!(desk.listed("exceptions"), Vec::<Value>::new());
        desk.assert_books(Desk::FUNDS);
        in_books.len()
    }

    /// What each payment gave back, once every refund has ended: those that were answered, each once.
    fn refunded(&self, refunds: &[(String, String)]) -> BTreeMap<String, i64> {
        let mut sums = BTreeMap::new();
        for (refund, payment) in refunds {
            let read = || self.desk.client().get(&format!("/client/v1/refunds/{refund}")).data(200);
            wait_until("a refund has succeeded", BANK_WAIT_TIMEOUT, || read()["status"] == "succeeded");
            let total: i64 = read()["totalRefundMinor"].as_str().unwrap().parse().unwrap();
            assert_eq!(sums.insert(payment.clone(), total), None, "{payment} gave back twice");
        }
        sums
    }
}

/// While both run, the new one stores what the old one does not know: that goes on by what it understood, and says so.
fn meets_what_it_does_not_know(world: &World, old: &Server, new: &Server) {
    let (before, after) = (world.desk.at(old), world.desk.at(new));
    let plain = document(&after, world.simulator.address());
    let mut later = plain.clone();
    later["providers"]["card_provider_c"] = json!({
        "adapter": "adyen", "environment": "sandbox", "merchantAccount": "TollgateTestECOM",
        "credentials": {"apiKey": "adyen_simulator_key", "clientKey": "test_SIMULATOR", "hmacKey": "44".repeat(32)},
    });
    after.configure(&later);
    let details = || before.client().get("/readyz").data(200)["details"].clone();
    wait_until("the old node says so", BANK_WAIT_TIMEOUT, || !details().is_null());
    let said = details()[0].as_str().unwrap().to_owned();
    assert!(said.contains("this node cannot use configuration"), "{said}");
    let taken = before.transfer(&before.body("by what it understood", 777)).data(201);
    let reference = taken["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    world.load.paid.lock().unwrap().transfers.push(reference);
    after.configure(&plain);
    wait_until("the old node understands again", BANK_WAIT_TIMEOUT, || details().is_null());
}

fn there_and_back(on: On) {
    let (this, oldest) = (Version::this(), oldest_schema());
    println!(
        "\n| step | requests | try again | no node | failed | payments | audit |\n|---|---|---|---|---|---|---|"
    );
    for before in Version::before() {
        let mut world = World::start(on, &before);
        let line = |direction: &str| format!("{}, {on:?}: {direction}", before.name);
        let is_older = before.binary != this.binary;
        // On SQLite it is known once nobody has the file open.
        let mut may_run = matches!(on, On::Postgres).then(|| world.schema() >= oldest);
        if may_run == Some(true) {
            world.under_load(&line("the new one joins, the old one leaves"), |world| {
                world.pass_on(&this, |world, old, new| {
                    if is_older {
                        meets_what_it_does_not_know(world, old, new);
                    }
                });
            });
            world.under_load(&line("back"), |world| world.pass_on(&before, |_, _, _| {}));
            world.under_load(&line("forward again"), |world| world.pass_on(&this, |_, _, _| {}));
            continue;
        }
        world.under_load(&line("the old one stops, the new one starts"), |world| {
            world.stop_and_start(&this, |world| may_run = Some(world.schema() >= oldest));
        });
        if may_run == Some(true) {
            world.under_load(&line("back"), |world| world.stop_and_start(&before, |_| {}));
            world.under_load(&line("forward again"), |world| world.stop_and_start(&this, |_| {}));
        } else {
            world.under_load(&line("back is refused, and the new one goes on"), |world| {
                world.stop_and_start(&this, |world| is_refused(&before, &world.store));
            });
        }
    }
}

/// A binary that may not run on the schema says so at its start, and changes nothing.
fn is_refused(version: &Version, store: &BankStore) {
    let mut refused = version.serve(store, None);
    assert!(!refused.wait_end(Duration::from_secs(150)).success(), "{} started", version.name);
    assert!(refused.log().contains("start a newer tollgate"), "{}", refused.log());
}

on_each_store! {
    there_and_back
}
