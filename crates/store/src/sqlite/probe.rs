//! Trying out whether the file takes writes.

use rusqlite::params;

use super::session::SqliteSession;
use crate::{fault::Fault, unit::Effect};

/// The pin that readiness is tried with; nothing reads it.
const SCRATCH: &str = "readiness scratch";

/// Writes the version down again as it is: changes nothing, and needs a disk that takes writes. With `scratch`, as much
/// besides as a large unit of work writes: a commit of one page may still fit where nothing else does.
pub(super) async fn rewrite_version(
    s: &mut SqliteSession,
    scratch: Option<u32>,
) -> Result<Effect<()>, Fault> {
    s.prepare_cached("UPDATE directory SET version = version")?.execute([])?;
    if let Some(bytes) = scratch {
        s.prepare_cached("INSERT OR REPLACE INTO pins (name, value) VALUES (?1, hex(zeroblob(?2 / 2)))")?
            .execute(params![SCRATCH, bytes])?;
    }
    Ok(Effect::Written(()))
}

/// Gives back what was written besides.
pub(super) async fn clear_scratch(s: &mut SqliteSession) -> Result<Effect<()>, Fault> {
    s.prepare_cached("DELETE FROM pins WHERE name = ?1")?.execute(params![SCRATCH])?;
    Ok(Effect::Written(()))
}
