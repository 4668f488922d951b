//! The database fails at the very moment the provider has answered. Whatever is answered then must be true: the provider
//! has taken the money's order, so that nothing may be said to have failed or not to have happened.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{
    BankRail, BankSimulator, BankStore, Desk, Flow, On, Outage, Prepared, Proxy, REFUSED_BANK, Server, Shop,
    Simulator, Switch, Trap, WAIT_TIMEOUT, Weather, Wire, on_each_store, wait_until,
};

mod many;

/// The resolver takes over after minutes only: what is written soon was kept in memory.
const LATE: &str = "600000";
/// Longer than a call takes on a machine that is busy with other things.
const DEADLINE: &str = "15000";
const CHARGE: &str = "POST /square/v2/payments";
const LOOK: &str = "GET /stripe/v1/payment_intents";

/// A bank behind a trap, and a server whose database can be taken away.
struct Bank {
    desk: Desk,
    trap: Trap,
    simulator: BankSimulator,
    _server: Server,
    switch: Arc<Switch>,
    // Dropped last: the processes are gone by then.
    _store: BankStore,
}

impl Bank {
    /// Each store with a provider of its own, so that both are seen.
    fn open(on: On, lease: &str) -> Self {
        let store = BankStore::new(on);
        let simulator = BankSimulator::start_as(match on {
            On::Sqlite => BankRail::Increase,
            On::Postgres => BankRail::ModernTreasury,
        });
        let trap = Trap::before(simulator.address());
        let (switch, start) = Switch::on(&store);
        // A try may be as slow as the machine.
        let start = start.with("TOLLGATE_PROVIDER_TIMEOUT_MS", "10000");
        let server = start.with("TOLLGATE_RESOLVER_LEASE_MS", lease).run();
        let desk = Desk::open_at(&server, &simulator, trap.address);
        simulator.send_no_webhooks();
        Self { desk, trap, simulator, _server: server, switch, _store: store }
    }

    /// Sends a transfer whose database goes away once the provider has answered.
    fn transfer(&self, body: &Value, outage: Outage) -> crate::support::Answer {
        let switch = Arc::clone(&self.switch);
        self.trap.arm(self.desk.rail.creation(), move || switch.fail(outage));
        let answer = self.desk.transfer(body);
        assert!(self.trap.has_struck());
        answer
    }
}

fn a_transfer_that_was_taken_is_pending(on: On) {
    let bank = Bank::open(on, LATE);
    for outage in Outage::BOTH {
        let body = bank.desk.body(&format!("taken and then {outage:?}"), 10_000);
        let data = bank.transfer(&body, outage).data(201);
        assert_eq!((&data["transaction"]["status"], &data["replayed"]), (&json!("pending"), &json!(false)));
        let reference = data["transaction"]["serviceReference"].as_str().unwrap();
        let taken = bank.simulator.sole(reference);
        bank.switch.restore();
        bank.desk.wait_status(reference, "processing");
        assert_eq!(bank.desk.transaction(reference)["providerReference"], taken.id.as_str());
        assert_eq!(bank.desk.moves(reference), ["processing"]);
        let again = bank.desk.transfer(&body).data(200);
        assert_eq!(again["transaction"]["serviceReference"], reference);
        bank.simulator.sole(reference);
    }
    bank.desk.assert_books(Desk::FUNDS);
}

fn a_transfer_that_was_refused_is_pending_until_it_is_written_down(on: On) {
    let bank = Bank::open(on, LATE);
    let mut body = bank.desk.body("refused and then gone", 10_000);
    body["routingNumber"] = json!(REFUSED_BANK);
    let data = bank.transfer(&body, Outage::Killed).data(201);
    assert_eq!(data["transaction"]["status"], "pending");
    let reference = data["transaction"]["serviceReference"].as_str().unwrap();
    bank.switch.restore();
    bank.desk.wait_status(reference, "failed");
    let again = bank.desk.transfer(&body);
    assert_eq!(again.failure(422), "provider_rejected");
    assert_eq!(again.json()["error"]["serviceReference"], reference);
    assert_eq!(bank.desk.postings(reference), ["reserve", "release"]);
    bank.desk.assert_books(Desk::FUNDS);
}

/// A shop behind a trap, and a server whose database can be taken away.
struct Till {
    shop: Shop,
    trap: Trap,
    simulator: Simulator,
    _server: Server,
    switch: Arc<Switch>,
    _store: BankStore,
}

impl Till {
    /// A try may be as slow as the deadline.
    fn open(on: On, deadline: &str, lease: &str) -> Self {
        let store = BankStore::new(on);
        let simulator = Simulator::start();
        let trap = Trap::before(simulator.address());
        let (switch, start) = Switch::on(&store);
        let start = start.with("TOLLGATE_PROVIDER_TIMEOUT_MS", deadline);
        let start = start.with("TOLLGATE_PROVIDER_DEADLINE_MS", deadline);
        let server = start.with("TOLLGATE_RESOLVER_LEASE_MS", lease).run();
        let shop = Shop::open_at(&server, &simulator, trap.address);
        simulator.send_no_webhooks();
        Self { shop, trap, simulator, _server: server, switch, _store: store }
    }

    /// Confirms a payment whose database goes away once the provider has answered.
    fn confirm(&self, prepared: &Prepared, request: &str, outage: Outage) -> crate::support::Answer {
        let switch = Arc::clone(&self.switch);
        self.trap.arm(request, move || switch.fail(outage));
        let answer = self.shop.confirm(&prepared.reference, &prepared.confirm_body());
        assert!(self.trap.has_struck());
        answer
    }
}

fn a_card_that_was_charged_is_pending(on: On) {
    let till = Till::open(on, DEADLINE, LATE);
    for outage in Outage::BOTH {
        let prepared = till.shop.prepare(Flow::Component, Wire::Square);
        let data = till.confirm(&prepared, CHARGE, outage).data(200);
        assert_eq!(data["transaction"]["status"], "pending");
        assert_eq!(till.simulator.truth(&prepared.reference).charged, 1);
        till.switch.restore();
        till.shop.wait_status(&prepared.reference, "succeeded");
        till.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
        assert_eq!(till.simulator.truth(&prepared.reference).charged, 1);
    }
}

fn a_payment_that_was_looked_at_is_pending(on: On) {
    let till = Till::open(on, DEADLINE, LATE);
    for outage in Outage::BOTH {
        let prepared = till.shop.prepare(Flow::Component, Wire::Stripe);
        till.simulator.pay_intent(prepared.component());
        let data = till.confirm(&prepared, LOOK, outage).data(200);
        assert_eq!(data["transaction"]["status"], "pending");
        till.switch.restore();
        till.shop.wait_status(&prepared.reference, "succeeded");
    }
}

/// Nobody got what it takes to pay it. That, and no more, is said.
fn a_preparation_that_was_made_is_taken_back(on: On) {
    // The resolver takes over once the lease has ended, which is waited for once.
    let till = Till::open(on, "4000", "8200");
    let mut lost = Vec::new();
    for (outage, flow, request) in [
        (Outage::Killed, Flow::Hosted, "POST /stripe/v1/checkout/sessions"),
        (Outage::Frozen, Flow::Component, "POST /stripe/v1/payment_intents"),
    ] {
        let switch = Arc::clone(&till.switch);
        till.trap.arm(request, move || switch.fail(outage));
        let answer = till.shop.try_prepare(flow, Wire::Stripe);
        assert_eq!(answer.failure(503), "outcome_unknown");
        let said = answer.json();
        assert!(!said["message"].as_str().unwrap().contains("nothing was changed"), "{said:#}");
        let reference = said["error"]["serviceReference"].as_str().unwrap().to_owned();
        assert_eq!(till.simulator.truth(&reference).payable, 1);
        till.switch.restore();
        wait_until("the server is ready again", WAIT_TIMEOUT, || {
            till.shop.client().get("/readyz").status == 200
        });
        lost.push(reference);
    }
    for reference in &lost {
        // Frozen in the midst of the commit, it may have been recorded after all: then it can be read and paid.
        till.shop.wait(reference, "known", || {
            matches!(
                till.shop.story(reference)["preparation"]["status"].as_str(),
                Some("withdrawn" | "prepared")
            )
        });
        if till.shop.story(reference)["preparation"]["status"] == "withdrawn" {
            assert_eq!(till.simulator.truth(reference).payable, 0);
        }
    }
}

/// The database falls silent before anything is sent: nobody can say whether the request was recorded.
#[test]
fn a_commit_whose_fate_is_unknown_is_not_denied() {
    let store = BankStore::new(On::Postgres);
    let BankStore::Postgres(database) = &store else { panic!("on PostgreSQL") };
    let simulator = BankSimulator::start();
    let proxy = Proxy::start(database.address());
    // What was recorded all the same is sent once its lease has ended, so that it is a short one.
    let start = store.serve().with("TOLLGATE_PROVIDER_TIMEOUT_MS", "4000");
    let start =
        start.with("TOLLGATE_PROVIDER_DEADLINE_MS", "4000").with("TOLLGATE_RESOLVER_LEASE_MS", "8200");
    let start = start.with("TOLLGATE_DATABASE_URL", &database.url_through(proxy.address));
    let server = start.with("TOLLGATE_REQUEST_DEADLINE_MS", "8500").run();
    let desk = Desk::open(&server, &simulator);
    // The first transfer has a key made for bank details; without one, a later one would not get as far as its commit.
    let first = desk.made(&desk.body("before the silence", 10_000));
    desk.wait_status(&first, "processing");
    let body = desk.body("sent into the silence", 10_000);
    proxy.set(Weather::Silent);
    let answer = desk.transfer(&body);
    assert_eq!(answer.failure(503), "outcome_unknown");
    assert!(answer.headers["retry-after"].parse::<u64>().unwrap() > 0);
    let said = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(said.contains("same idempotency key"), "{said}");
    assert_eq!(simulator.accepted(10).len(), 1, "only the first");
    proxy.set(Weather::Clear);
    wait_until("the server is ready again", crate::support::BANK_WAIT_TIMEOUT, || {
        server.client("").get("/readyz").status == 200
    });
    let again = desk.transfer(&body);
    assert!(matches!(again.status, 200 | 201), "{:#}", again.json());
    let reference = again.json()["data"]["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    desk.wait_status(&reference, "processing");
    simulator.sole(&reference);
    desk.assert_books(Desk::FUNDS);
}

on_each_store! {
    a_transfer_that_was_taken_is_pending
    a_transfer_that_was_refused_is_pending_until_it_is_written_down
    a_card_that_was_charged_is_pending
    a_payment_that_was_looked_at_is_pending
    a_preparation_that_was_made_is_taken_back
}
