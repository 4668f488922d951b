//! The database file: who may open it, and how each connection to it is set up.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{exact_sum, session::SqliteSession};
use crate::{OpenError, fault::Fault};

/// Pages the log may grow to before it is folded back into the file, 64 MiB of them: under load, folding less often
/// is worth a quarter of the throughput.
const CHECKPOINT_PAGES: i64 = 16 * 1024;

/// The log's file is cut back to this size once it has been folded.
const LOG_BYTES_KEPT: i64 = 128 * 1024 * 1024;

/// Memory that the connection which writes may keep pages in, in KiB: references are random, so the pages of their indexes
/// are touched all over. Not more: at a commit, SQLite goes through all of it whenever a page was split, and what is not here is
/// in the operating system's cache. With 64 MiB transfers were no faster.
const WRITER_CACHE_KIB: i64 = 16 * 1024;

/// The same for a connection that reads: little, because it drops all of it whenever something was written since its last read.
const READER_CACHE_KIB: i64 = 512;

/// Below this, the disk is soon full.
const LITTLE_ROOM_BYTES: u64 = 16 * 1024 * 1024;

/// Statements kept prepared on each connection.
pub(super) const STATEMENTS_KEPT: usize = 128;

/// A database file that this process alone serves, for as long as this value lives.
#[derive(Debug)]
pub(super) struct ServedFile {
    path: PathBuf,
    busy_timeout: Duration,
    // Holds the lock; the system lets go of it when the file is closed, also after a crash.
    _lock: File,
}

impl ServedFile {
    /// Creates the file where it is missing, readable by its owner only, and locks it against other processes.
    pub(super) fn claim(path: &Path, busy_timeout: Duration) -> Result<Self, OpenError> {
        let failed =
            |error: std::io::Error| OpenError::File { path: path.to_owned(), reason: error.to_string() };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map_err(failed)?;
        // Two names of one file must meet at one lock.
        let path = fs::canonicalize(path).map_err(failed)?;
        let mut lock_name = path.clone().into_os_string();
        lock_name.push(".lock");
        let lock_path = PathBuf::from(lock_name);
        let lock = options.open(&lock_path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, busy_timeout, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { database: path, lock: lock_path }),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file system has so little room left that it is worth trying out. Unknown is no.
    pub(super) fn has_little_room(&self) -> bool {
        let found = rustix::fs::statvfs(&self.path);
        found.is_ok_and(|found| found.f_bavail.saturating_mul(found.f_frsize) < LITTLE_ROOM_BYTES)
    }

    /// A connection that writes. It never creates the file: one that vanished must not come back empty.
    pub(super) fn writer(&self) -> Result<SqliteSession, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = self.connect(flags)?;
        // Both pragmas answer with a row, whose value is what now holds.
        let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if !mode.eq_ignore_ascii_case("wal") {
            return Err(Fault::Misuse(
                "the file system does not allow SQLite's write-ahead log; use a local disk",
            ));
        }
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // What is deleted or replaced is overwritten with zeros: bank details and their keys among it.
        connection.pragma_update(None, "secure_delete", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
        // Negative means KiB rather than pages.
        connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
        Ok(connection)
    }

    /// A connection that cannot write.
    pub(super) fn reader(&self) -> Result<SqliteSession, Fault> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
        Ok(connection)
    }

    fn connect(&self, flags: OpenFlags) -> Result<SqliteSession, Fault> {
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(self.busy_timeout)?;
        set_up(&connection)?;
        Ok(SqliteSession(connection))
    }
}

/// What holds for every connection, to a file or in memory.
pub(super) fn set_up(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // Otherwise a statement whose limit is a parameter is planned again each time it runs: a fifth of the writer's time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    exact_sum::define(connection)
}
