//! The store port on SQLite, for one node, and on PostgreSQL, for many.
//!
//! [`open`] picks by the database's URL, brings the schema up to date and hands out the port; nothing else of this
//! crate is needed to run the service. Units of work are written once, in `units`, over the session of either database;
//! `store` says which of them each method of the port is. The suite in the crate `store-conformance` checks every
//! promise of the port against both.

#![allow(
    clippy::redundant_closure_for_method_calls,
    reason = "a reader must take rows of any lifetime, which a closure does and a method of `Cells` does not"
)]

pub mod postgres;
pub mod sqlite;

mod cells;
mod fault;
mod migration;
#[cfg(test)]
mod migration_tests;
mod prelude;
mod record;
mod rows;
mod session;
mod signal;
mod store;
mod table;
mod unit;
mod units;
mod url;
mod value;

use std::{path::PathBuf, sync::Arc};

use futures_util::future::BoxFuture;
use tollgate_engine::ports::Store;

pub use store::SqlStore;
pub use url::{DatabaseUrl, InvalidDatabaseUrl};

/// How a store may use the machine. The defaults suit a server.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// For `sqlite:` databases.
    pub sqlite: sqlite::SqliteSettings,
    /// For `postgres:` databases.
    pub postgres: postgres::PostgresSettings,
}

/// Why a database cannot be used, for whoever starts the service.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process serves the same file.
    #[error(
        "the database {} is in use by another process: stop that one, or give this one a file of its own (the lock is held on {})",
        database.display(), lock.display()
    )]
    InUse {
        /// The database.
        database: PathBuf,
        /// The file whose lock is held.
        lock: PathBuf,
    },
    /// The file cannot be opened or created.
    #[error(
        "cannot open the database {}: {reason}; check that its folder exists and that this user may write there",
        path.display()
    )]
    File {
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The server does not answer, or does not let us in.
    #[error(
        "cannot use the PostgreSQL database {url}: {reason}; check that the server runs, that the address, user, password and database name are right, and that it accepts writes"
    )]
    Server {
        /// The database, without its password.
        url: DatabaseUrl,
        /// What went wrong.
        reason: String,
    },
    /// The URL asks for something that is not offered.
    #[error(transparent)]
    Url(#[from] InvalidDatabaseUrl),
    /// The encryption of the connection cannot be prepared.
    #[error("cannot prepare TLS for the database connection: {reason}")]
    Tls {
        /// What went wrong, and what to do.
        reason: String,
    },
    /// A newer version of the service has changed the schema.
    #[error(
        "the database's schema is at version {database} and needs a tollgate that knows version {needed}, but this one knows only {known}: start a newer tollgate, or restore the backup made before the upgrade"
    )]
    SchemaNewer {
        /// The database's version.
        database: i64,
        /// What a binary must know to run on it.
        needed: i64,
        /// The newest this binary knows.
        known: i64,
    },
    /// The history of the schema is not the one this binary carries.
    #[error(
        "migration {version} ({name}) was applied to this database with another content than this version of tollgate carries: it was made by a different build; start that build, or begin with a fresh database"
    )]
    SchemaDiffers {
        /// The migration's number.
        version: i64,
        /// Its name as the database has it.
        name: String,
    },
    /// A migration did not go through; the database is as it was before it.
    #[error("migration {version} ({name}) failed and was undone: {reason}")]
    Migration {
        /// The migration's number, 0 for the table of migrations itself.
        version: i64,
        name: String,
        /// What the database said.
        reason: String,
    },
}

/// The version of the schema that this binary brings a database to.
pub fn schema_version() -> i64 {
    sqlite::MIGRATIONS.last().map_or(0, |migration| migration.version)
}

/// The oldest schema whose binaries may run beside this one, and may be started again on the schema that it leaves.
pub fn oldest_schema_version() -> i64 {
    sqlite::MIGRATIONS.iter().map(|migration| migration.since).max().unwrap_or(0)
}

/// Opens the database behind `url`, brings its schema up to date and returns the store on it.
///
/// Must be called within a tokio runtime, which the store goes on using.
///
/// In a box, so that everything behind the port is compiled here, once and at this crate's level of optimization, rather than
/// in every program that waits for it.
pub fn open<'a>(
    url: &'a DatabaseUrl,
    options: &'a Options,
) -> BoxFuture<'a, Result<Arc<dyn Store>, OpenError>> {
    Box::pin(async move {
        let store: Arc<dyn Store> = if let Some(path) = url.sqlite_path() {
            Arc::new(sqlite::SqliteStore::open(path, &options.sqlite).await?)
        } else {
            Arc::new(postgres::PostgresStore::open(url, &options.postgres).await?)
        };
        Ok(store)
    })
}
