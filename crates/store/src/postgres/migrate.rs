//! Brings a database's schema up to date, however many nodes start at once.

use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Row;

use super::fault::describe;
use crate::{
    OpenError,
    migration::{APPLIED, Applied, Migration, Record, migrations, next, now_millis},
};

const MIGRATIONS: &[Migration] = migrations!("postgres", 4 "0004" entries);

/// Any number that nobody else locks; these are the letters of `tollgate`.
const LOCK: i64 = 0x746f_6c6c_6761_7465;

const RECORDS: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    version BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS schema_changes (
    version BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL,
    since BIGINT NOT NULL
)";

/// Applies what is missing, each migration and its record in one transaction under a lock that all nodes share.
pub(super) async fn migrate(client: &mut Object) -> Result<(), OpenError> {
    loop {
        let transaction = client.transaction().await.map_err(|error| unrecorded(&error))?;
        let applied = lock_and_read(&transaction).await.map_err(|error| unrecorded(&error))?;
        let Some(migration) = next(MIGRATIONS, &applied)? else {
            // The table of migrations may be new; a transaction that wrote nothing costs nothing.
            return transaction.commit().await.map_err(|error| unrecorded(&error));
        };
        apply(&transaction, migration).await.map_err(|error| migration.failed(&describe(&error)))?;
        transaction.commit().await.map_err(|error| migration.failed(&describe(&error)))?;
        tracing::info!(version = migration.version, name = migration.name, "applied a migration");
    }
}

fn unrecorded(error: &tokio_postgres::Error) -> OpenError {
    OpenError::Migration { version: 0, name: "schema_migrations".to_owned(), reason: describe(error) }
}

async fn lock_and_read(transaction: &Transaction<'_>) -> Result<Vec<Applied>, tokio_postgres::Error> {
    // Another node may be in the middle of a long migration.
    transaction.batch_execute("SET LOCAL statement_timeout = '60s'").await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
    // Asked first, so that a user who may not create tables can still serve an up-to-date database.
    let row = transaction.query_one("SELECT to_regclass('schema_changes') IS NOT NULL", &[]).await?;
    if !row.try_get::<_, bool>(0)? {
        transaction.batch_execute(RECORDS).await?;
    }
    let rows = transaction.query(APPLIED, &[]).await?;
    let read = |row: &Row| {
        Ok(Applied {
            version: row.try_get(0)?,
            name: row.try_get(1)?,
            checksum: row.try_get(2)?,
            since: row.try_get(3)?,
        })
    };
    rows.iter().map(read).collect()
}

async fn apply(transaction: &Transaction<'_>, migration: &Migration) -> Result<(), tokio_postgres::Error> {
    transaction.batch_execute(migration.sql).await?;
    let Migration { version, name, since, .. } = migration;
    let (checksum, now) = (migration.checksum(), now_millis());
    for record in migration.records() {
        match record {
            Record::First => {
                let sql = "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";
                transaction.execute(sql, &[version, name, &checksum, &now]).await?;
            }
            Record::Changes => {
                let sql = "INSERT INTO schema_changes (version, name, checksum, applied_at, since) VALUES ($1, $2, $3, $4, $5)";
                transaction.execute(sql, &[version, name, &checksum, &now, since]).await?;
            }
        }
    }
    Ok(())
}
