//! Brings a database's schema up to date, however many nodes start at once.

use deadpool_postgres::{Object, Transaction};

use super::fault::describe;
use crate::{
    OpenError,
    migration::{Applied, Migration, migrations, next, now_millis},
};

const MIGRATIONS: &[Migration] = migrations!("postgres":
    1 "0001" foundations,
    2 "0002" payments,
    3 "0003" transfers,
    4 "0004" entries,
    5 "0005" events,
    6 "0006" lists,
    7 "0007" accounts,
    8 "0008" event_sequence,
    11 "0011" follow_ups,
    12 "0012" names_of_payments,
    16 "0016" provider_checks,
    18 "0018" refunds,
    19 "0019" preparation_keys,
    20 "0020" holds,
    21 "0021" card_books,
    22 "0022" customer_tokens,
    23 "0023" security,
    24 "0024" fingerprints,
    25 "0025" people,
    27 "0027" routes,
    29 "0029" limits,
    31 "0031" request_log,
    32 "0032" search,
    33 "0033" transfer_details,
    34 "0034" request_log_by_code,
    35 "0035" audit_log,
    36 "0036" key_scopes,
    37 "0037" erasure,
    38 "0038" approvals,
    39 "0039" audit_checkpoint,
    40 "0040" statement_sums,
    41 "0041" entries_of_postings,
    42 "0042" lines_of_payments,
    43 "0043" smaller_search_terms,
    44 "0044" withdrawn_for_disputes,
    45 "0045" erasure_wishes,
    46 "0046" credential_accounts,
    50 "0050" identity,
    51 "0051" more_approvals,
);

/// Any number that nobody else locks; these are the letters of `tollgate`.
const LOCK: i64 = 0x746f_6c6c_6761_7465;

const RECORD: &str = "CREATE TABLE schema_migrations (
    version BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL
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
    let row = transaction.query_one("SELECT to_regclass('schema_migrations') IS NOT NULL", &[]).await?;
    if !row.try_get::<_, bool>(0)? {
        transaction.batch_execute(RECORD).await?;
    }
    let rows = transaction
        .query("SELECT version, name, checksum FROM schema_migrations ORDER BY version", &[])
        .await?;
    rows.iter()
        .map(|row| Ok(Applied { version: row.try_get(0)?, name: row.try_get(1)?, checksum: row.try_get(2)? }))
        .collect()
}

async fn apply(transaction: &Transaction<'_>, migration: &Migration) -> Result<(), tokio_postgres::Error> {
    transaction.batch_execute(migration.sql).await?;
    transaction
        .execute(
            "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)",
            &[&migration.version, &migration.name, &migration.checksum(), &now_millis()],
        )
        .await?;
    Ok(())
}
