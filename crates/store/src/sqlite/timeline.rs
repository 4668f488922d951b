//! Payments' timelines.

use rusqlite::{Connection, params};
use tollgate_domain::{ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::Entry;

use super::{cells::RowCells, fault::Fault};
use crate::convert::payment::{entry_columns, read_entry};

/// Adds lines to a timeline; one that is there stays as it is.
pub(super) fn add(
    connection: &Connection,
    environment: EnvironmentId,
    reference: ServiceReference,
    entries: &[Entry],
) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO timeline (environment_id, method, reference, id, at, kind, request, detail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT DO NOTHING",
    )?;
    for entry in entries {
        statement.execute(params![
            environment.to_bytes(),
            reference.method().as_str(),
            reference.to_bytes(),
            entry.id.to_bytes(),
            entry.at.unix_millis(),
            entry.kind,
            entry.request,
            entry.detail
        ])?;
    }
    Ok(())
}

pub(super) const OF_REFERENCE: &str = concat!(
    "SELECT ",
    entry_columns!(),
    " FROM timeline WHERE environment_id = ?1 AND method = ?2 AND reference = ?3 ORDER BY id"
);

pub(super) fn of_reference(
    connection: &Connection,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Vec<Entry>, Fault> {
    connection
        .prepare_cached(OF_REFERENCE)?
        .query_and_then(
            params![environment.to_bytes(), reference.method().as_str(), reference.to_bytes()],
            |row| read_entry(&mut RowCells::new(row, 0)),
        )?
        .collect()
}
