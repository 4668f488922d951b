//! Why a piece of work on a database stopped.

use deadpool_postgres::PoolError;
use tollgate_engine::ports::StoreError;

/// A stored value that this version cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the database holds a {0} that this version cannot read")]
pub(crate) struct CorruptRow(pub(crate) &'static str);

impl From<CorruptRow> for StoreError {
    fn from(damaged: CorruptRow) -> Self {
        Self::Broken(damaged.to_string())
    }
}

/// Why one attempt at a piece of work stopped. What it means for the caller is decided by the driver it happened on.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Inside SQLite.
    Sqlite(rusqlite::Error),
    /// No connection to PostgreSQL was available.
    Connection(PoolError),
    /// While a PostgreSQL statement that commits by itself, or a commit, was in progress.
    Statement(tokio_postgres::Error),
    /// Before the transaction's commit was sent: nothing has happened.
    Uncommitted(tokio_postgres::Error),
    /// Another came first, and the next attempt will find what it did: nothing has happened.
    Raced(tokio_postgres::Error),
    /// No answer in time.
    TimedOut,
    /// The time was over before it began.
    TooLate,
    /// A row cannot be read.
    CorruptRow(CorruptRow),
    /// The caller asked for what makes no sense.
    Misuse(&'static str),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Statement(error)
    }
}

impl From<CorruptRow> for Fault {
    fn from(damaged: CorruptRow) -> Self {
        Self::CorruptRow(damaged)
    }
}

/// The same error for one more caller.
pub(crate) fn same(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(reason) => StoreError::Unavailable(reason.clone()),
        StoreError::Unknown(reason) => StoreError::Unknown(reason.clone()),
        StoreError::Broken(reason) => StoreError::Broken(reason.clone()),
    }
}
