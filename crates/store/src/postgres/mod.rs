//! The store on PostgreSQL (14 or newer), for any number of nodes.
//!
//! Most units are one statement: one round trip, and nothing left open when whoever asked goes away. How connections
//! are encrypted is told in `connect`: plain to this machine, TLS with a verified certificate to any other, unless
//! the URL's `sslmode` says otherwise. Connections must be the server's own or a pooler's in session mode.

mod accounts;
mod attempts;
mod audit;
mod batches;
mod cancel_reservation;
mod cells;
mod config;
mod connect;
mod deliveries;
mod delivery_claims;
mod diagnosis;
mod digest;
mod directory;
mod endpoints;
mod events;
mod exceptions;
mod fault;
mod inspection_store;
mod keys;
mod lanes;
mod listener;
mod migrate;
mod out_events;
mod outbox_store;
mod payment_change;
mod payment_store;
mod payments;
mod record_store;
mod records;
mod resend;
mod reserve;
mod reserve_rows;
mod sequence;
mod store;
mod timeline;
mod transactions;
mod transfer_change;
mod transfer_change_rows;
mod transfer_store;
mod transfers;
mod wallet;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use uuid::Uuid;

use crate::{DatabaseUrl, OpenError};
use attempts::{Attempts, Limits, Purpose};
use connect::Connector;
use lanes::Lanes;
use listener::Listener;
use reserve::Reservation;
use transfer_change::Wanted;

/// How many lanes there are of a kind. One takes thousands of units a second; more would only make batches smaller.
const MAX_LANES: usize = 2;

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
}

impl Default for PostgresSettings {
    fn default() -> Self {
        Self {
            connections: 16,
            connect_timeout: Duration::from_secs(3),
            wait_timeout: Duration::from_secs(3),
            statement_timeout: Duration::from_secs(5),
        }
    }
}

/// The store port on PostgreSQL.
#[derive(Debug)]
pub struct PostgresStore {
    pool: Pool,
    limits: Limits,
    reservations: Lanes<Reservation>,
    /// Changes that move money have lanes by wallet, the others by transfer.
    postings: Lanes<Wanted>,
    changes: Lanes<Wanted>,
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
        let manager = Manager::from_config(connector.config.clone(), connector.tls.clone(), recycling);
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
        Ok(Self {
            reservations: Lanes::start(lanes, &pool, &plans, limits),
            postings: Lanes::start(lanes, &pool, &plans, limits),
            changes: Lanes::start(lanes, &pool, &plans, limits),
            pool,
            limits,
            connector,
            listener: OnceLock::new(),
        })
    }

    fn attempts(&self, purpose: Purpose) -> Attempts<'_> {
        Attempts::new(&self.pool, purpose, self.limits)
    }

    fn listener(&self) -> &Listener {
        self.listener.get_or_init(|| Listener::start(self.connector.clone()))
    }
}

/// The column's form of an id.
fn uuid(bytes: [u8; 16]) -> Uuid {
    Uuid::from_bytes(bytes)
}
