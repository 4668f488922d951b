//! A database in memory: one connection that writes and reads, for as long as somebody holds it.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use super::{file, migrate, session::SqliteSession};
use crate::OpenError;

/// The connection, handed to one piece of work at a time.
#[derive(Debug, Clone)]
pub(super) struct Memory(Arc<Mutex<SqliteSession>>);

impl Memory {
    pub(super) fn open() -> Result<Self, OpenError> {
        let connection = connect()
            .map_err(|fault| OpenError::File { path: ":memory:".into(), reason: fault.to_string() })?;
        migrate::migrate(&connection)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Does a piece of work. Whatever transaction it leaves open is undone.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut SqliteSession) -> T) -> T {
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let done = work(&mut connection);
        if !connection.is_autocommit() {
            // Where even that fails, the next transaction cannot begin and says so.
            let _ = connection.execute_batch("ROLLBACK");
        }
        done
    }
}

fn connect() -> Result<SqliteSession, rusqlite::Error> {
    let connection = Connection::open_in_memory()?;
    connection.pragma_update(None, "foreign_keys", true)?;
    file::set_up(&connection)?;
    Ok(SqliteSession(connection))
}
