//! The store on PostgreSQL (14 or newer), for any number of nodes.
//!
//! A unit that is one statement commits by itself, or together with others like it; any other is a transaction, which is undone
//! when whoever asked goes away. How connections are encrypted is described in `connect`: plain to this machine, TLS with a verified certificate to any other, unless
//! the URL's `sslmode` says otherwise. Connections must be the server's own or a pooler's in session mode.

mod attempts;
mod batches;
mod card_payments;
mod connect;
mod delivery_claims;
mod diagnosis;
mod fault;
mod lanes;
mod listener;
mod migrate;
mod reservations;
mod sequence;
mod session;
mod statements;
mod together;
mod transfer_changes;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, TransferId},
};
use tollgate_engine::ports::{
    ChangeSignal, Changed, Diagnosis, NewTransfer, Reserved, StoreError, TransferChange,
};

use crate::{
    DatabaseUrl, OpenError, SqlStore,
    session::{Driver, Mode, run, traced},
    unit::{Answer, Unit},
    units::transfers,
};
use attempts::{Attempts, Limits, Purpose};
use connect::Connector;
use lanes::Lanes;
use listener::Listener;
use reservations::Reservation;
use session::PostgresSession;
use together::Single;
use transfer_changes::Request;

/// How many lanes there are of a kind. One takes thousands of units a second; more would only make batches smaller.
const MAX_LANES: usize = 2;

/// Whoever asks whether the store is well wants to know soon.
const PROBE_LIMIT: Duration = Duration::from_secs(2);

/// How the PostgreSQL store uses the server.
#[derive(Debug, Clone)]
pub struct PostgresSettings {
    /// The most connections for units of work; one more listens for changes.
    pub connections: usize,
    /// How long one address may take to accept a connection.
    pub connect_timeout: Duration,
    /// How long a unit of work may wait for a connection while all are busy.
    pub wait_timeout: Duration,
    /// How long the server may work at one statement.
    pub statement_timeout: Duration,
    /// Where the node is reached, for the others to see.
    pub node_url: Option<String>,
}

impl Default for PostgresSettings {
    fn default() -> Self {
        Self {
            connections: 16,
            connect_timeout: Duration::from_secs(3),
            wait_timeout: Duration::from_secs(3),
            statement_timeout: Duration::from_secs(5),
            node_url: None,
        }
    }
}

/// The store port on PostgreSQL.
pub type PostgresStore = SqlStore<Postgres>;

/// Runs units of work on a server.
#[derive(Debug)]
pub struct Postgres {
    pool: Pool,
    limits: Limits,
    reservations: Lanes<Reservation>,
    /// Changes that move money have lanes by wallet, the others by transfer.
    postings: Lanes<Request>,
    changes: Lanes<Request>,
    singles: Lanes<Single>,
    connector: Connector,
    // Started by the first who listens.
    listener: OnceLock<Listener>,
}

impl PostgresStore {
    /// Connects, and brings the schema up to date. The URL must be a `postgres:` one.
    pub async fn open(url: &DatabaseUrl, settings: &PostgresSettings) -> Result<Self, OpenError> {
        let connector = Connector::new(url, settings)?;
        let failed = |reason: String| OpenError::Server { url: url.clone(), reason };
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_connect(tokio_postgres::Config::new(), connector.clone(), recycling);
        // Several addresses may have to be tried until one answers.
        let create_timeout = settings.connect_timeout.saturating_mul(2);
        let pool = Pool::builder(manager)
            .max_size(settings.connections.max(1))
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(settings.wait_timeout))
            .create_timeout(Some(create_timeout))
            .recycle_timeout(Some(settings.connect_timeout))
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let mut client = pool.get().await.map_err(|error| {
            failed(match &error {
                PoolError::Backend(error) => fault::describe(error),
                PoolError::Timeout(_) => "it did not answer in time".to_owned(),
                other => other.to_string(),
            })
        })?;
        migrate::migrate(&mut client).await?;
        let attempt = settings.statement_timeout.saturating_add(Duration::from_secs(2));
        let limits = Limits { attempt, total: attempt.saturating_mul(2) };
        // All of them busy leave some connections to others.
        let lanes = (settings.connections / 4).clamp(1, MAX_LANES);
        let plans = Arc::default();
        let driver = Postgres {
            reservations: Lanes::start(lanes, &pool, &plans, limits),
            postings: Lanes::start(lanes, &pool, &plans, limits),
            changes: Lanes::start(lanes, &pool, &plans, limits),
            singles: Lanes::start(lanes, &pool, &plans, limits),
            pool,
            limits,
            connector,
            listener: OnceLock::new(),
        };
        Ok(Self::new(driver))
    }
}

/// How a unit that writes begins, and one that reads from one moment.
const WRITE: &str = "BEGIN";
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// It may read everything, which may take longer than any unit of work may: some millions of postings in a minute.
/// Tables are joined in the order they are written in: before there are statistics, the server's own order may pair every
/// posting of an environment with every other.
const AUDIT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; \
     SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL work_mem = '64MB'; SET LOCAL jit = off; \
     SET LOCAL join_collapse_limit = 1; SET LOCAL from_collapse_limit = 1";
const AUDIT_LIMIT: Duration = Duration::from_mins(30);

/// All look-ups are by index, also where the server made its plan while next to nothing was there.
const BY_INDEX: &str = "BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; \
     SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; \
     SET LOCAL enable_sort = off";

impl Driver for Postgres {
    type Session = PostgresSession;

    /// Attempts a unit within bounds.
    async fn run_unit(&self, mode: Mode, unit: Box<dyn Unit<PostgresSession>>) -> Result<Answer, StoreError> {
        let (purpose, begin, limits) = match mode {
            Mode::Read => (Purpose::Read, None, self.limits),
            Mode::Snapshot => (Purpose::Read, Some(SNAPSHOT), self.limits),
            Mode::Probe => (Purpose::Read, None, Limits { attempt: PROBE_LIMIT, total: PROBE_LIMIT }),
            Mode::Audit => (Purpose::Read, Some(AUDIT), Limits { attempt: AUDIT_LIMIT, total: AUDIT_LIMIT }),
            Mode::Write => (Purpose::Write, Some(WRITE), self.limits),
            Mode::WriteOnce => (Purpose::Write, None, self.limits),
            Mode::WriteByIndex => (Purpose::Write, Some(BY_INDEX), self.limits),
        };
        let mut attempts = Attempts::new(&self.pool, purpose, limits);
        loop {
            let (outcome, connection) = match attempts.connection().await {
                Ok(connection) => {
                    let mut session = PostgresSession::new(connection, begin);
                    let attempt = async {
                        let outcome = unit.run(&mut session).await;
                        session.finish(outcome).await
                    };
                    let outcome = attempts.bounded(attempt).await;
                    (outcome, session.into_connection())
                }
                Err(fault) => (Err(fault), None),
            };
            if let Some(answer) = attempts.settle(outcome, connection).await {
                return answer;
            }
        }
    }

    async fn run_together(
        &self,
        key: u128,
        unit: Box<dyn Unit<PostgresSession>>,
    ) -> Result<Answer, StoreError> {
        self.singles.ask(key, Single { key, unit }).await
    }

    async fn probe(&self) -> Result<(), StoreError> {
        // Limits of its own, rather than a wait that is given up: a connection that does not answer is then thrown
        // away instead of being handed to the next who asks.
        if run!(self, Probe, session::takes_writes()).await? {
            return Ok(());
        }
        Err(StoreError::Unavailable("the database takes no writes".to_owned()))
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        run!(self, Probe, session::clock()).await
    }

    fn queued_units(&self) -> usize {
        self.pool.status().waiting
    }

    fn change_signal(&self) -> Box<dyn ChangeSignal> {
        self.listener.get_or_init(|| Listener::start(self.connector.clone())).announcer().waiter()
    }

    async fn diagnose(&self, now: Timestamp) -> Result<Diagnosis, StoreError> {
        run!(self, Read, diagnosis::diagnose(now)).await
    }

    /// The unit that deletes keys writes their table anew, and the log never holds them.
    async fn erase_deleted(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn number_events(&self, environment: Option<EnvironmentId>) -> Result<(), StoreError> {
        for _ in 0..sequence::MAX_BATCHES {
            if !run!(self, Read, sequence::number_batch(environment)).await? {
                break;
            }
        }
        Ok(())
    }

    async fn reserve_transfer(
        &self,
        environment: EnvironmentId,
        new: &NewTransfer,
    ) -> Result<Reserved, StoreError> {
        if new.order.environment != environment {
            return Err(StoreError::Broken(
                "a transfer was to be stored in another environment than its own".to_owned(),
            ));
        }
        if !new.limits.is_empty() {
            return run!(self, Write, transfers::reserve(environment, &new)).await;
        }
        let asking = self.reservations.ask(environment, Reservation(new.clone()));
        traced("transfers::reserve", asking).await
    }

    async fn change_transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        change: &TransferChange,
    ) -> Result<Changed, StoreError> {
        let request = Request { environment, id, change: change.clone() };
        if change.posting.is_some() {
            traced("transfer_change::change", self.postings.ask(environment, request)).await
        } else {
            traced("transfer_change::change", self.changes.ask(id, request)).await
        }
    }
}
