//! The database file: who may open it, and how each connection to it is set up.

use std::{
    ffi::OsString,
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};
use tollgate_engine::ports::StoreError;

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
    // Both hold a lock; the system lets go of it when the file is closed, also after a crash. That of the database itself is
    // met under any name of it, and does not touch SQLite's own locks, which are of another kind. But those would be lost if
    // the file were opened and closed once more: it is closed after every connection.
    database: File,
    _lock: File,
}

impl ServedFile {
    /// Creates the file where it is missing, readable by its owner only, and locks it against other processes, by a file beside
    /// it (which earlier releases look at alone) and by itself.
    pub(super) fn claim(path: &Path, busy_timeout: Duration) -> Result<Self, OpenError> {
        let failed =
            |error: std::io::Error| OpenError::File { path: path.to_owned(), reason: error.to_string() };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let database = options.open(path).map_err(failed)?;
        // Two names of one file must meet at one lock.
        let path = fs::canonicalize(path).map_err(failed)?;
        let lock_path = beside(&path, ".lock");
        let lock = options.open(&lock_path).map_err(failed)?;
        for (file, locked) in [(&lock, &lock_path), (&database, &path)] {
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(OpenError::InUse { database: path.clone(), lock: locked.clone() });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Ok(Self { path, busy_timeout, database, _lock: lock })
    }

    /// Whether what is open still stands under its name: a file that was deleted or replaced takes every write, and all of it
    /// is gone at the next start. `has_log`: whether a connection is open that has the log beside it.
    pub(super) fn check_place(&self, has_log: bool) -> Result<(), StoreError> {
        let identity = |file: Metadata| (file.dev(), file.ino());
        let (open, named) = (self.database.metadata().map(identity), fs::metadata(&self.path).map(identity));
        let is_log_there = !has_log || beside(&self.path, "-wal").exists();
        if is_log_there && matches!((&open, &named), (Ok(open), Ok(named)) if open == named) {
            return Ok(());
        }
        Err(StoreError::Unavailable(format!(
            "the database {} or its log was deleted, moved or replaced while it is open; put it back, or stop this server, \
             restore the database and start again",
            self.path.display()
        )))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file system has so little room left that it is worth trying out. Unknown is no.
    pub(super) fn has_little_room(&self) -> bool {
        let stats = rustix::fs::statvfs(&self.path);
        stats.is_ok_and(|stats| stats.f_bavail.saturating_mul(stats.f_frsize) < LITTLE_ROOM_BYTES)
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

/// The name of a file that belongs to the database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// What holds for every connection, to a file or in memory.
pub(super) fn set_up(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // Otherwise a statement whose limit is a parameter is planned again each time it runs: a fifth of the writer's time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    exact_sum::define(connection)
}
