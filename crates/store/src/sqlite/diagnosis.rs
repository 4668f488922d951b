//! What a database file says of itself.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use tollgate_domain::Timestamp;
use tollgate_engine::ports::{Diagnosis, Durability};

use super::session::SqliteSession;
use crate::{
    prelude::*,
    units::diagnosis::{backlog, schema_version},
};

/// How often the disk is asked to confirm a write; one slow answer says little.
const SYNCS: usize = 9;
/// As much as a small commit writes.
const SYNC_BYTES: usize = 4_096;

/// What this connection waits for at a commit.
pub(super) async fn synchronous(s: &mut SqliteSession) -> Result<Effect<u32>, Fault> {
    Ok(Effect::Nothing(s.query_row("PRAGMA synchronous", [], |row| row.get(0))?))
}

/// `synchronous` is what the connection that writes waits for at a commit.
pub(super) async fn diagnose(
    s: &mut SqliteSession,
    now: Timestamp,
    synchronous: u32,
    keeps_deleted: bool,
) -> Result<Diagnosis, Fault> {
    let path = s.path().map(Path::new);
    // A folder that takes no file says nothing about the disk.
    let sync_micros = path.and_then(|path| sync_micros(path).ok()).unwrap_or_default();
    let journal_mode = s.query_one("PRAGMA journal_mode", &[], read).await?;
    Ok(Diagnosis {
        software: format!("SQLite {}", rusqlite::version()),
        schema_version: schema_version(s).await?,
        durability: Durability::File { journal_mode, synchronous, sync_micros, keeps_deleted },
        backlog: backlog(s, now).await?,
        node_urls: Vec::new(),
    })
}

/// Tells the files of those who look at once apart.
static NEXT_FILE: AtomicU64 = AtomicU64::new(0);

/// Times the disk with a file of its own beside the database, and removes it.
fn sync_micros(database: &Path) -> std::io::Result<Vec<u64>> {
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
