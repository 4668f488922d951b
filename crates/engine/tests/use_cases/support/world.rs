//! One environment in one process, over SQLite in memory, with model providers and an endpoint.

use std::{
    cell::RefCell,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::watch, time::sleep};
use tollgate_domain::{
    Flow, ServiceReference,
    hold::CaptureMode,
    id::{EnvironmentId, PaymentId, TransferId},
    ledger::Cause,
    tenant::EnvironmentName,
    transaction::Status,
};
use tollgate_engine::{
    ConfirmBody, ConfirmError, Confirmed, Engine, EnvironmentView, Options, PrepareRequest, StartError,
    TransferCreated, TransferError, WebhookError,
    ports::{CardPayment, Clock, Host, Store, Task, Transfer},
};
use tollgate_store::sqlite::SqliteStore;
use tollgate_vault::{MasterKey, RandomnessUnavailable, Secret, fill_random};

use super::{
    clock::TestClock,
    config,
    faults::{Faults, Life},
    provider::{ModelAdapters, Providers, SIGNATURE, WEBHOOK_SECRET},
    receiver::{PlainBodies, Received, Receiver},
    requests::{card_request, move_order, origin, transfer_request},
    store::FaultyStore,
};

pub(crate) const FUNDS: u64 = 1_000_000;
const PUBLIC_URL: &str = "https://tollgate.example";
pub(crate) const MASTER_KEY: &str = "a master key for these tests, long enough";

/// Everything a test needs.
pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) providers: Providers,
    pub(crate) faults: Arc<Faults>,
    pub(crate) environment: EnvironmentId,
    /// What the endpoint received, repetitions included.
    pub(crate) received: Received,
    clock: TestClock,
    process: RefCell<Process>,
    key: RefCell<MasterKey>,
}

/// The engine and its tasks.
#[derive(Clone)]
struct Process {
    engine: Arc<Engine>,
    life: Arc<Life>,
}

impl World {
    /// A configured and funded environment in a store of its own.
    pub(crate) async fn new() -> Self {
        Self::within(&empty_store(), 0).await
    }

    /// The same in a store that earlier runs have used.
    pub(crate) async fn within(store: &Arc<dyn Store>, era: usize) -> Self {
        let (store, clock) = (Arc::clone(store), TestClock::start(era));
        let (providers, faults) = (Providers::default(), Arc::<Faults>::default());
        let key = master_key(MASTER_KEY);
        let process = start(&store, &providers, &faults, &clock, &key, PUBLIC_URL).await.unwrap();
        let engine = &process.engine;
        let organization = engine.create_organization("Acme".to_owned(), &origin()).await.unwrap();
        let application =
            engine.create_application(organization.id, "Shop".to_owned(), &origin()).await.unwrap();
        let name = EnvironmentName::parse("test").unwrap();
        let environment = engine.create_environment(application.id, name, &origin()).await.unwrap().id;
        let world = Self {
            store,
            providers,
            faults,
            environment,
            received: Arc::default(),
            clock,
            process: RefCell::new(process),
            key: RefCell::new(key),
        };
        world.configure(config::document()).await;
        world.fund(FUNDS).await;
        world
    }

    pub(crate) fn set_clock_back(&self, by: Duration) {
        self.clock.set_back(by);
    }

    /// The clock of the database.
    pub(crate) fn clock(&self) -> &TestClock {
        &self.clock
    }

    /// The store as a node reaches it.
    pub(crate) fn reached(&self) -> FaultyStore {
        let life = Arc::clone(&self.process.borrow().life);
        reach(&self.store, &self.faults, &life, &self.clock)
    }

    /// Another node that decides by this clock.
    pub(crate) async fn other_node(&self, clock: Arc<dyn Clock>) -> Arc<Engine> {
        let key = self.key.borrow().clone();
        let other =
            start_by((clock, PUBLIC_URL), &self.store, &self.providers, &self.faults, &self.clock, &key)
                .await;
        other.unwrap().engine
    }

    pub(crate) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.process.borrow().engine)
    }

    /// The environment's configuration as the process knows it.
    pub(crate) fn view(&self) -> Arc<EnvironmentView> {
        Arc::clone(self.engine().directory().snapshot().environment(self.environment).unwrap())
    }

    /// The result of `work`; `None` where the process died, and was restarted.
    pub(crate) async fn survive<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let life = Arc::clone(&self.process.borrow().life);
        let made = life.survive(work).await;
        if life.is_over() {
            self.restart().await;
            return None;
        }
        made
    }

    /// Starts another process in place of the running one, with the same master key.
    pub(crate) async fn restart(&self) {
        let key = self.key.borrow().clone();
        self.restart_with(key).await.unwrap();
    }

    /// The same with this master key.
    pub(crate) async fn restart_with(&self, key: MasterKey) -> Result<(), StartError> {
        let process =
            start(&self.store, &self.providers, &self.faults, &self.clock, &key, PUBLIC_URL).await?;
        self.process.replace(process);
        self.key.replace(key);
        Ok(())
    }

    /// Starts a process with another public URL in place of the running one.
    pub(crate) async fn move_to(&self, public_url: &str) {
        let key = self.key.borrow().clone();
        let (store, clock) = (&self.store, &self.clock);
        let process = start(store, &self.providers, &self.faults, clock, &key, public_url).await.unwrap();
        self.process.replace(process);
    }

    /// How often the process has computed something beside its tasks.
    pub(crate) fn computed(&self) -> usize {
        self.process.borrow().life.computed.load(Ordering::Relaxed)
    }

    pub(crate) async fn configure(&self, document: Value) {
        self.engine().put_config(self.environment, document, None, origin()).await.unwrap();
    }

    pub(crate) async fn fund(&self, amount: u64) {
        let order = move_order(Cause::Fund, amount, &format!("funds of {amount}"));
        self.engine().move_funds(self.environment, order, &origin()).await.unwrap();
    }

    /// Receives a provider's webhook and lets the engine apply it.
    pub(crate) async fn webhook(&self, provider: &str, body: &Value) -> Result<(), WebhookError> {
        let headers = [(SIGNATURE.to_owned(), WEBHOOK_SECRET.to_owned())];
        let body = body.to_string();
        let engine = self.engine();
        let receiving =
            engine.receive_webhook(self.environment, provider, &headers, body.as_bytes(), "req_webhook");
        let received = receiving.await;
        sleep(Duration::from_millis(1)).await;
        received
    }

    /// Prepares a payment.
    pub(crate) async fn prepared(&self, flow: Flow, amount: u64) -> CardPayment {
        let preparing = self.engine().prepare(&self.view(), card_request(flow, amount), "req_prepare").await;
        preparing.unwrap().payment
    }

    /// Prepares a payment that is captured by hand.
    pub(crate) async fn prepared_to_capture(&self, flow: Flow, amount: u64) -> CardPayment {
        let request = PrepareRequest { capture: CaptureMode::Manual, ..card_request(flow, amount) };
        self.engine().prepare(&self.view(), request, "req_prepare").await.unwrap().payment
    }

    pub(crate) async fn confirm(&self, id: PaymentId, body: ConfirmBody) -> Result<Confirmed, ConfirmError> {
        let (engine, view) = (self.engine(), self.view());
        let confirmable = engine.confirmable(&view, ServiceReference::Card(id)).await?;
        engine.confirm(&view, confirmable, body, "req_confirm").await
    }

    pub(crate) async fn send(&self, key: &str, amount: u64) -> Result<TransferCreated, TransferError> {
        let request = transfer_request(self, key, amount);
        self.engine().create_transfer(&self.view(), request, "req_transfer").await
    }

    /// Runs the resolver until nothing is due.
    pub(crate) async fn resolve(&self) {
        Self::resolve_by(self.engine()).await;
    }

    /// The same on another node.
    pub(crate) async fn resolve_by(engine: Arc<Engine>) {
        let (stop, stopped) = watch::channel(false);
        let stopping = async {
            sleep(Duration::from_millis(500)).await;
            stop.send_replace(true);
        };
        tokio::join!(engine.resolve_until(stopped), stopping);
    }

    /// Delivers events until nothing is due.
    pub(crate) async fn deliver(&self) {
        let (stop, stopped) = watch::channel(false);
        let stopping = async {
            sleep(Duration::from_millis(500)).await;
            stop.send_replace(true);
        };
        let courier = Receiver {
            received: Arc::clone(&self.received),
            faults: Arc::clone(&self.faults),
            life: Arc::clone(&self.process.borrow().life),
        };
        let delivering = self.engine().deliver_until(Arc::new(courier), Arc::new(PlainBodies), stopped);
        tokio::join!(delivering, stopping);
    }

    pub(crate) async fn payment(&self, id: PaymentId) -> CardPayment {
        self.store.payment(self.environment, id).await.unwrap().unwrap()
    }

    pub(crate) async fn transfer(&self, id: TransferId) -> Option<Transfer> {
        self.store.transfer(self.environment, id).await.unwrap()
    }

    /// A transaction's status; `None` where there is no transaction.
    pub(crate) async fn status(&self, reference: ServiceReference) -> Option<Status> {
        let transaction = self.store.transaction(self.environment, reference).await.unwrap();
        transaction.map(|transaction| transaction.state.status)
    }
}

pub(crate) fn master_key(text: &str) -> MasterKey {
    MasterKey::from_setting(&Secret::new(text)).unwrap()
}

/// A database in memory.
pub(crate) fn empty_store() -> Arc<dyn Store> {
    Arc::new(SqliteStore::in_memory().unwrap())
}

fn reach(store: &Arc<dyn Store>, faults: &Arc<Faults>, life: &Arc<Life>, clock: &TestClock) -> FaultyStore {
    FaultyStore {
        inner: Arc::clone(store),
        faults: Arc::clone(faults),
        life: Arc::clone(life),
        clock: clock.clone(),
    }
}

async fn start(
    store: &Arc<dyn Store>,
    providers: &Providers,
    faults: &Arc<Faults>,
    clock: &TestClock,
    key: &MasterKey,
    public_url: &str,
) -> Result<Process, StartError> {
    start_by((Arc::new(clock.clone()), public_url), store, providers, faults, clock, key).await
}

async fn start_by(
    (own_clock, public_url): (Arc<dyn Clock>, &str),
    store: &Arc<dyn Store>,
    providers: &Providers,
    faults: &Arc<Faults>,
    clock: &TestClock,
    key: &MasterKey,
) -> Result<Process, StartError> {
    let life = Arc::<Life>::default();
    let reached = reach(store, faults, &life, clock);
    let adapters = ModelAdapters::new(providers, faults, &life, clock);
    let mut options = Options::at(public_url);
    options.allow_other_provider_hosts = true;
    // Tests decide when due work is looked for.
    options.resolver.poll = Duration::from_hours(1);
    options.outbox.poll = Duration::from_hours(1);
    let host = Arc::new(TestHost(Arc::clone(&life)));
    let engine = Engine::start_on(host, Arc::new(reached), own_clock, key, Arc::new(adapters), options);
    Ok(Process { engine: Arc::new(engine.await?), life })
}

struct TestHost(Arc<Life>);

impl Host for TestHost {
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
        fill_random(bytes)
    }

    fn spawn(&self, task: Task) {
        self.0.run(task);
    }

    fn spawn_blocking(&self, work: Box<dyn FnOnce() + Send + 'static>) {
        self.0.computed.fetch_add(1, Ordering::Relaxed);
        work();
    }
}
