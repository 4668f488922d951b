//! What a database file says of itself, and the postings of one payment.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use rusqlite::{Connection, params};
use tollgate_domain::{Currency, ServiceReference, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Backlog, Diagnosis, Durability, LedgerLine};

use super::{fault::Fault, wallet::line, writer::Effect};
use crate::convert;

/// How often the disk is asked to confirm a write; one slow answer says little.
const SYNCS: usize = 9;
/// As much as a small commit writes.
const SYNC_BYTES: usize = 4_096;

const DUE: [(&str, &str); 3] = [
    ("card payments", "SELECT due_at FROM card_payments WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2"),
    ("transfers", "SELECT due_at FROM transfers WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2"),
    ("provider events", "SELECT due_at FROM provider_events WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2"),
];

/// What the connection that writes waits for at a commit.
pub(super) fn synchronous(connection: &Connection) -> Result<Effect<u32>, Fault> {
    Ok(Effect::Nothing(connection.query_row("PRAGMA synchronous", [], |row| row.get(0))?))
}

pub(super) fn diagnose(
    connection: &Connection,
    now: Timestamp,
    synchronous: u32,
) -> Result<Diagnosis, Fault> {
    let schema_version: i64 =
        connection
            .query_row("SELECT coalesce(max(version), 0) FROM schema_migrations", [], |row| row.get(0))?;
    let mut backlog = Vec::with_capacity(DUE.len());
    for (what, sql) in DUE {
        let counted = format!("SELECT count(*), min(due_at) FROM ({sql})");
        let found = connection
            .prepare_cached(&counted)?
            .query_row(params![now.unix_millis(), Backlog::MOST], |row| {
                Ok((row.get::<_, u32>(0)?, row.get::<_, Option<i64>>(1)?))
            })?;
        backlog.push(Backlog { what, due: found.0, oldest: found.1.map(Timestamp::from_unix_millis) });
    }
    let path = connection.path().map(Path::new);
    Ok(Diagnosis {
        software: format!("SQLite {}", rusqlite::version()),
        schema_version: u64::try_from(schema_version).unwrap_or_default(),
        clock: None,
        durability: Durability::File {
            journal_mode: connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?,
            synchronous,
            // A folder that takes no file tells nothing about the disk.
            sync_micros: path.and_then(|path| sync_micros(path).ok()).unwrap_or_default(),
        },
        backlog,
    })
}

/// Tells the files of those who look at once apart.
static NEXT_FILE: AtomicU64 = AtomicU64::new(0);

/// Times the disk with a file of its own beside the database, and removes it.
fn sync_micros(database: &Path) -> std::io::Result<Vec<u64>> {
    // Two may look at once, each with a file of its own.
    let path = database.with_extension(format!("fsync-check-{}", NEXT_FILE.fetch_add(1, Ordering::Relaxed)));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
    let mut times = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        file.write_all(&[0; SYNC_BYTES])?;
        let begun = Instant::now();
        file.sync_all()?;
        times.push(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    drop(file);
    fs::remove_file(&path)?;
    Ok(times)
}

pub(super) fn postings_of(
    connection: &Connection,
    environment: EnvironmentId,
    currency: Currency,
    reference: ServiceReference,
) -> Result<Vec<LedgerLine>, Fault> {
    let mut lines = connection
        .prepare_cached(
            "SELECT p.id, p.cause, p.reference, p.actor, p.at, e.account, e.amount_minor
             FROM ledger_postings p
             JOIN ledger_entries e
                 ON e.environment_id = ?1 AND e.currency = ?2 AND e.posting_id = p.id
             WHERE p.environment_id = ?1 AND p.currency = ?2
                 AND p.cause IN ('reserve', 'settle', 'release', 'reverse') AND p.reference = ?3",
        )?
        .query_and_then(params![environment.to_bytes(), currency.code(), reference.to_string()], line)?
        .collect::<Result<Vec<_>, Fault>>()?;
    convert::newest_first(&mut lines);
    Ok(lines)
}
