//! Brings a file's schema up to date.

use rusqlite::{Connection, Row, params};

use crate::{
    OpenError,
    migration::{APPLIED, Applied, Migration, Record, migrations, next, now_millis},
};

pub(crate) const MIGRATIONS: &[Migration] = migrations!("sqlite");

const RECORDS: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    version INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS schema_changes (
    version INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL,
    since INTEGER NOT NULL
) STRICT";

/// Applies what is missing, each migration and its record in one transaction.
pub(super) fn migrate(connection: &Connection) -> Result<(), OpenError> {
    let no_record = |error: rusqlite::Error| OpenError::Migration {
        version: 0,
        name: "schema_migrations".to_owned(),
        reason: error.to_string(),
    };
    connection.execute_batch(RECORDS).map_err(no_record)?;
    while let Some(migration) = next(MIGRATIONS, &applied(connection).map_err(no_record)?)? {
        apply(connection, migration).map_err(|error| migration.failed(&error))?;
        tracing::info!(version = migration.version, name = migration.name, "applied a migration");
    }
    Ok(())
}

fn applied(connection: &Connection) -> Result<Vec<Applied>, rusqlite::Error> {
    let read = |row: &Row<'_>| {
        Ok(Applied { version: row.get(0)?, name: row.get(1)?, checksum: row.get(2)?, since: row.get(3)? })
    };
    connection.prepare(APPLIED)?.query_map([], read)?.collect()
}

fn apply(connection: &Connection, migration: &Migration) -> Result<(), rusqlite::Error> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch(migration.sql)?;
    let Migration { version, name, since, .. } = migration;
    let (checksum, now) = (migration.checksum(), now_millis());
    for record in migration.records() {
        match record {
            Record::First => transaction.execute(
                "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
                params![version, name, checksum, now],
            )?,
            Record::Changes => transaction.execute(
                "INSERT INTO schema_changes (version, name, checksum, applied_at, since) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![version, name, checksum, now, since],
            )?,
        };
    }
    transaction.commit()
}
