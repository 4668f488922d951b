//! A store whose database can be taken away and given back at any moment.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use super::{
    bank_world::{BankStore, On},
    proxy::{Proxy, Weather},
    server::Start,
};

/// How a database fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// It refuses: connections are closed, or the file's lock is held by another.
    Killed,
    /// It says nothing anymore.
    Frozen,
}

impl Outage {
    pub const BOTH: [Self; 2] = [Self::Killed, Self::Frozen];
}

/// What the database is reached through.
pub struct Switch {
    way: Way,
}

enum Way {
    Network(Proxy),
    /// Whoever has the file's lock keeps every other writer waiting, and then turned away.
    File {
        path: PathBuf,
        lock: Mutex<Option<rusqlite::Connection>>,
    },
}

impl Switch {
    /// The switch of a store, and a server on the store behind it.
    pub fn on(store: &BankStore) -> (Arc<Self>, Start) {
        match store {
            BankStore::Sqlite(folder) => {
                let path = folder.path().join("data/tollgate.db");
                (Arc::new(Self { way: Way::File { path, lock: Mutex::new(None) } }), store.serve())
            }
            BankStore::Postgres(database) => {
                let proxy = Proxy::start(database.address());
                let url = database.url_through(proxy.address);
                let start = store.serve().with("TOLLGATE_DATABASE_URL", &url);
                (Arc::new(Self { way: Way::Network(proxy) }), start)
            }
        }
    }

    /// Takes the database away.
    pub fn fail(&self, outage: Outage) {
        match &self.way {
            Way::Network(proxy) => proxy.set(match outage {
                Outage::Killed => Weather::Cut,
                Outage::Frozen => Weather::Silent,
            }),
            Way::File { path, lock } => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
                connection.execute_batch("BEGIN IMMEDIATE").unwrap();
                *lock.lock().unwrap() = Some(connection);
            }
        }
    }

    /// Gives it back.
    pub fn restore(&self) {
        match &self.way {
            Way::Network(proxy) => proxy.set(Weather::Clear),
            Way::File { lock, .. } => drop(lock.lock().unwrap().take()),
        }
    }

    /// Which store it is of.
    pub fn store(&self) -> On {
        match self.way {
            Way::Network(_) => On::Postgres,
            Way::File { .. } => On::Sqlite,
        }
    }
}
