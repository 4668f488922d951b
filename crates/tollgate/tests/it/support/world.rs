//! Where card tests happen: a server on a store of its own, a simulator beside it, and a shop between them.

use super::{
    postgres::Database,
    server::{Server, Start},
    shop::{Flow, Prepared, Shop},
    simulator::{Simulator, Wire},
};

/// The lease of [`Store::serve`].
const LEASE_MS: &str = "30200";

/// Which store a server is started on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    Sqlite,
    Postgres,
}

/// A store of its own, which outlives the servers started on it.
pub enum Store {
    Sqlite(tempfile::TempDir),
    Postgres(Database),
}

impl Store {
    pub fn new(kind: StoreKind) -> Self {
        match kind {
            StoreKind::Sqlite => Self::Sqlite(tempfile::tempdir().unwrap()),
            StoreKind::Postgres => Self::Postgres(Database::create()),
        }
    }

    /// A server on this store, with settings a test can wait for: a try that hangs is given up within a second, and the
    /// resolver looks again within another. The deadline leaves time for every try on a machine that is busy with other
    /// things.
    pub fn serve(&self) -> Start {
        let start = Start::serve()
            .with("TOLLGATE_PROVIDER_TIMEOUT_MS", "800")
            .with("TOLLGATE_PROVIDER_DEADLINE_MS", "15000")
            .with("TOLLGATE_RESOLVER_POLL_MS", "50")
            .with("TOLLGATE_RESOLVER_LEASE_MS", LEASE_MS)
            .with("TOLLGATE_RESOLVER_FIRST_CHECK_MS", "400")
            .with("TOLLGATE_RESOLVER_FIRST_RETRY_MS", "200");
        match self {
            Self::Sqlite(folder) => start.within(&folder.path().join("data")),
            Self::Postgres(database) => start.with("TOLLGATE_DATABASE_URL", &database.url),
        }
    }

    /// The same, where nothing but a webhook or a caller finds out what became of a payment. No call hangs here, so that
    /// each may be as slow as the machine.
    pub fn serve_without_looks(&self) -> Start {
        let start = self.serve().with("TOLLGATE_RESOLVER_FIRST_CHECK_MS", "3600000");
        start.with("TOLLGATE_PROVIDER_TIMEOUT_MS", "10000")
    }

    /// Lets as much time pass for what a killed server left behind as its lease is long, so that no test waits for it.
    pub fn end_leases(&self) {
        for table in ["card_payments", "provider_events"] {
            self.execute(&format!(
                "UPDATE {table} SET due_at = due_at - {LEASE_MS} WHERE due_at IS NOT NULL"
            ));
        }
    }

    /// Changes rows behind the server's back. A server on SQLite has the file to itself, and must be stopped.
    pub fn execute(&self, statement: &str) {
        match self {
            Self::Sqlite(folder) => {
                let path = folder.path().join("data/tollgate.db");
                rusqlite::Connection::open(path).unwrap().execute_batch(statement).unwrap();
            }
            Self::Postgres(database) => database.on_database(statement),
        }
    }
}

/// A server, a simulator and one shop between them.
pub struct World {
    pub server: Server,
    pub simulator: Simulator,
    pub shop: Shop,
    // Dropped last: the processes are gone by then.
    pub store: Store,
    start: fn(&Store) -> Start,
}

impl World {
    /// Payments are looked after by webhooks, by callers and by the resolver.
    pub fn start(kind: StoreKind) -> Self {
        Self::start_with(kind, Store::serve)
    }

    /// Nothing but a webhook or a caller finds out what became of a payment.
    pub fn start_without_looks(kind: StoreKind) -> Self {
        Self::start_with(kind, Store::serve_without_looks)
    }

    pub fn start_with(kind: StoreKind, start: fn(&Store) -> Start) -> Self {
        let store = Store::new(kind);
        let server = start(&store).run();
        let simulator = Simulator::start();
        let shop = Shop::open(&server, &simulator);
        Self { server, simulator, shop, store, start }
    }

    /// Stops the server, lets `meanwhile` happen, and starts it again at the same address.
    pub fn restart(&mut self, meanwhile: impl FnOnce(&Self)) {
        self.server.kill();
        meanwhile(self);
        let address = self.server.address().to_string();
        self.server = (self.start)(&self.store).with("TOLLGATE_LISTEN", &address).run();
    }

    /// Another organization at the same server and the same simulator.
    pub fn another_shop(&self) -> Shop {
        Shop::open(&self.server, &self.simulator)
    }

    /// A payment that was paid, by whatever its flow and provider need, and confirmed where that is needed.
    #[track_caller]
    pub fn paid(&self, flow: Flow, wire: Wire) -> Prepared {
        let prepared = self.shop.prepare(flow, wire);
        match (flow, wire) {
            (Flow::Hosted, _) => self.simulator.pay_page(prepared.checkout_url()),
            (Flow::Component, Wire::Stripe) => self.simulator.pay_intent(prepared.component()),
            (Flow::Component, Wire::Square) => {
                self.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
            }
            (Flow::Component, Wire::Adyen) => drop(self.simulator.pay_session(prepared.component())),
        }
        self.shop.wait_status(&prepared.reference, "succeeded");
        prepared
    }
}
