//! The store on one SQLite file, for one server process.
//!
//! One thread writes (see `writer`), a few connections read, and both see only whole units of work. The file is in
//! write-ahead mode with full durability: an answered unit survives the loss of power. A second process on the same
//! file is refused.

mod diagnosis;
mod exact_sum;
mod fault;
mod file;
mod log_cut;
#[cfg(feature = "simulation")]
mod memory;
mod migrate;
mod probe;
#[cfg(test)]
mod query_plan_tests;
mod readers;
mod session;
mod writer;

use std::{path::Path, sync::Arc, time::Duration};

use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, TransferId},
};
use tollgate_engine::ports::{
    ChangeSignal, Changed, Diagnosis, NewTransfer, Reserved, StoreError, TransferChange,
};

use crate::{
    OpenError, SqlStore,
    migration::now_millis,
    session::{Driver, Mode, run},
    signal::Announcer,
    unit::{Answer, Unit},
    units::{transfer_change, transfers},
};
use file::ServedFile;
use log_cut::LogCut;
use readers::Readers;
use session::SqliteSession;
use writer::Writer;

pub(crate) use migrate::MIGRATIONS;

/// More than the largest unit of work writes.
const SCRATCH_BYTES: u32 = 256 * 1024;

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
pub type SqliteStore = SqlStore<Sqlite>;

/// Runs units of work on a database file.
#[derive(Debug)]
pub struct Sqlite {
    // The order matters: the last connection to close folds the log into the file, and the writer may.
    readers: Readers,
    writer: Writer,
    announcer: Announcer,
    /// None where it is in memory.
    file: Option<Arc<ServedFile>>,
    log_cut: Arc<LogCut>,
}

impl SqliteStore {
    /// Opens the file, or creates it, and brings its schema up to date.
    pub async fn open(path: &Path, settings: &SqliteSettings) -> Result<Self, OpenError> {
        let (path, settings) = (path.to_owned(), settings.clone());
        let opening = tokio::task::spawn_blocking({
            let path = path.clone();
            move || Sqlite::open(&path, &settings)
        });
        let driver =
            opening.await.unwrap_or_else(|error| Err(OpenError::File { path, reason: error.to_string() }))?;
        // What a process before this one deleted may still be in the log.
        if let Err(error) = driver.erase_deleted().await {
            tracing::warn!(%error, "write-ahead log not truncated; will retry");
        }
        Ok(Self::new(driver))
    }

    /// A database in memory that is gone with the store, without threads: each unit of work runs at once, by whoever asks.
    #[cfg(feature = "simulation")]
    pub fn in_memory() -> Result<Self, OpenError> {
        let memory = memory::Memory::open()?;
        let announcer = Announcer::new();
        let writer = Writer::inline(memory.clone(), announcer.clone());
        Ok(Self::new(Sqlite {
            readers: Readers::Inline(memory),
            writer,
            announcer,
            file: None,
            log_cut: Arc::default(),
        }))
    }

    /// How many transactions have been committed; several units may share one.
    pub fn commits(&self) -> u64 {
        self.driver.writer.commits()
    }
}

impl Sqlite {
    fn open(path: &Path, settings: &SqliteSettings) -> Result<Self, OpenError> {
        let file = Arc::new(ServedFile::claim(path, settings.busy_timeout)?);
        let failed = |reason: String| OpenError::File { path: file.path().to_owned(), reason };
        let connection = file.writer().map_err(|fault| failed(StoreError::from(fault).to_string()))?;
        migrate::migrate(&connection)?;
        let announcer = Announcer::new();
        let writer = Writer::start(Arc::clone(&file), connection, settings.queue_timeout, announcer.clone())
            .map_err(|error| failed(error.to_string()))?;
        let readers = Readers::new(Arc::clone(&file), settings.readers, settings.queue_timeout);
        Ok(Self { readers, writer, announcer, file: Some(file), log_cut: Arc::default() })
    }
}

impl Driver for Sqlite {
    type Session = SqliteSession;

    async fn run_unit(&self, mode: Mode, unit: Box<dyn Unit<SqliteSession>>) -> Result<Answer, StoreError> {
        match mode {
            Mode::Read | Mode::Probe | Mode::Snapshot | Mode::Audit => self.readers.read(unit).await,
            Mode::Write | Mode::WriteOnce | Mode::WriteByIndex => self.writer.write(unit).await,
        }
    }

    async fn probe(&self) -> Result<(), StoreError> {
        // A real commit: only that finds a locked or read-only file and a full disk alike. One as large as real units
        // are where space is short, or where a unit has failed for the disk's sake.
        let is_doubtful =
            self.writer.disk_failed() || self.file.as_ref().is_some_and(|file| file.has_little_room());
        let scratch = is_doubtful.then_some(SCRATCH_BYTES);
        run!(self, Write, probe::rewrite_version(scratch)).await?;
        if is_doubtful {
            run!(self, Write, probe::clear_scratch()).await?;
            self.writer.disk_recovered();
        }
        Ok(())
    }

    /// A file has no clock but that of the one machine that uses it.
    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(Timestamp::from_unix_millis(now_millis()))
    }

    fn queued_units(&self) -> usize {
        self.writer.queued_units()
    }

    fn change_signal(&self) -> Box<dyn ChangeSignal> {
        self.announcer.waiter()
    }

    async fn diagnose(&self, now: Timestamp) -> Result<Diagnosis, StoreError> {
        // Asked of the connection that commits: how it does so is a setting of its own.
        let synchronous = run!(self, Write, diagnosis::synchronous()).await?;
        let keeps_deleted = self.log_cut.is_due();
        run!(self, Read, diagnosis::diagnose(now, synchronous, keeps_deleted)).await
    }

    /// Deleted content is overwritten in the file as it is folded into it; the log is folded and cut to nothing here.
    async fn erase_deleted(&self) -> Result<(), StoreError> {
        match &self.file {
            Some(file) => self.log_cut.cut(file).await,
            None => Ok(()),
        }
    }

    /// They have their numbers from the beginning: one writer makes the order of numbers that of commits.
    async fn number_events(&self, _: Option<EnvironmentId>) -> Result<(), StoreError> {
        Ok(())
    }

    async fn reserve_transfer(
        &self,
        environment: EnvironmentId,
        new: &NewTransfer,
    ) -> Result<Reserved, StoreError> {
        run!(self, Write, transfers::reserve(environment, &new)).await
    }

    async fn change_transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        change: &TransferChange,
    ) -> Result<Changed, StoreError> {
        run!(self, Write, transfer_change::change(environment, id, &change)).await
    }
}
