//! Brings a file's schema up to date.

use rusqlite::{Connection, params};

use crate::{
    OpenError,
    migration::{Applied, Migration, migrations, next, now_millis},
};

const MIGRATIONS: &[Migration] = migrations!("sqlite");

const RECORD: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    version INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT";

/// Applies what is missing, each migration and its record in one transaction.
pub(super) fn migrate(connection: &Connection) -> Result<(), OpenError> {
    let no_record = |error: rusqlite::Error| OpenError::Migration {
        version: 0,
        name: "schema_migrations".to_owned(),
        reason: error.to_string(),
    };
    connection.execute_batch(RECORD).map_err(no_record)?;
    while let Some(migration) = next(MIGRATIONS, &applied(connection).map_err(no_record)?)? {
        apply(connection, migration).map_err(|error| migration.failed(&error))?;
        tracing::info!(version = migration.version, name = migration.name, "applied a migration");
    }
    Ok(())
}

fn applied(connection: &Connection) -> Result<Vec<Applied>, rusqlite::Error> {
    connection
        .prepare("SELECT version, name, checksum FROM schema_migrations ORDER BY version")?
        .query_map([], |row| Ok(Applied { version: row.get(0)?, name: row.get(1)?, checksum: row.get(2)? }))?
        .collect()
}

fn apply(connection: &Connection, migration: &Migration) -> Result<(), rusqlite::Error> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch(migration.sql)?;
    transaction.execute(
        "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
        params![migration.version, migration.name, migration.checksum(), now_millis()],
    )?;
    transaction.commit()
}
