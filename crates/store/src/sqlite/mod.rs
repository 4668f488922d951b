//! The store on one SQLite file, for one server process.
//!
//! One thread writes (see `writer`), a few connections read, and both see only whole units of work. The file is in
//! write-ahead mode with full durability: an answered unit survives the loss of power. A second process on the same
//! file is refused.

mod accounts;
mod audit;
mod cells;
mod config;
mod deliveries;
mod diagnosis;
mod digest;
mod directory;
mod endpoints;
mod events;
mod exceptions;
mod fault;
mod file;
mod inspection_store;
mod keys;
#[cfg(feature = "simulation")]
mod memory;
mod migrate;
mod out_events;
mod outbox_store;
mod payment_change;
mod payment_store;
mod payments;
#[cfg(test)]
mod plans;
mod postings;
mod readers;
mod record_store;
mod records;
mod resend;
mod store;
mod timeline;
mod transactions;
mod transfer_change;
mod transfer_store;
mod transfers;
mod wallet;
mod writer;

use std::{path::Path, sync::Arc, time::Duration};

use crate::{OpenError, signal::Announcer};
use file::ServedFile;
use readers::Readers;
use writer::Writer;

/// How the SQLite store uses the machine.
#[derive(Debug, Clone)]
pub struct SqliteSettings {
    /// How many reads run at once, 1 to 64.
    pub readers: usize,
    /// How long to wait for a lock that another process, such as a backup, holds on the file.
    pub busy_timeout: Duration,
    /// How long a unit of work may wait for its turn before it is refused as unavailable.
    pub queue_timeout: Duration,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self { readers: 4, busy_timeout: Duration::from_secs(2), queue_timeout: Duration::from_secs(5) }
    }
}

/// The store port on SQLite. Dropping it finishes what waits to be written.
#[derive(Debug)]
pub struct SqliteStore {
    // The order matters: the last connection to close folds the log into the file, and the writer may.
    readers: Readers,
    writer: Writer,
    announcer: Announcer,
    /// None where it is in memory.
    file: Option<Arc<ServedFile>>,
}

impl SqliteStore {
    /// Opens the file, or creates it, and brings its schema up to date.
    pub async fn open(path: &Path, settings: &SqliteSettings) -> Result<Self, OpenError> {
        let (path, settings) = (path.to_owned(), settings.clone());
        let opening = tokio::task::spawn_blocking({
            let path = path.clone();
            move || Self::open_blocking(&path, &settings)
        });
        opening.await.unwrap_or_else(|error| Err(OpenError::File { path, reason: error.to_string() }))
    }

    fn open_blocking(path: &Path, settings: &SqliteSettings) -> Result<Self, OpenError> {
        let file = Arc::new(ServedFile::claim(path, settings.busy_timeout)?);
        let failed = |reason: String| OpenError::File { path: file.path().to_owned(), reason };
        let connection = file.writer().map_err(|fault| failed(fault.to_string()))?;
        migrate::migrate(&connection)?;
        let announcer = Announcer::new();
        let writer = Writer::start(Arc::clone(&file), connection, settings.queue_timeout, announcer.clone())
            .map_err(|error| failed(error.to_string()))?;
        let readers = Readers::new(Arc::clone(&file), settings.readers, settings.queue_timeout);
        Ok(Self { readers, writer, announcer, file: Some(file) })
    }

    /// A database in memory that is gone with the store, without threads: each unit of work runs at once, by whoever asks.
    #[cfg(feature = "simulation")]
    pub fn in_memory() -> Result<Self, OpenError> {
        let memory = memory::Memory::open()?;
        let announcer = Announcer::new();
        let writer = Writer::inline(memory.clone(), announcer.clone());
        Ok(Self { readers: Readers::Inline(memory), writer, announcer, file: None })
    }

    /// How many transactions have been committed; several units may share one.
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }
}
