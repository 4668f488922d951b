//! Brings a file's schema up to date.

use rusqlite::{Connection, params};

use crate::{
    OpenError,
    migration::{Applied, Migration, migrations, next, now_millis},
};

const MIGRATIONS: &[Migration] = migrations!("sqlite":
    1 "0001" foundations,
    2 "0002" payments,
    3 "0003" transfers,
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
