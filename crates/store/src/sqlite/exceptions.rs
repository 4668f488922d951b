//! Discrepancies with providers that a person has to look at.

use rusqlite::{Connection, params};
use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, ExceptionId},
};
use tollgate_engine::ports::{NewException, Resolution, StoredException};

use super::{cells::RowCells, fault::Fault, writer::Effect};
use crate::convert::{
    self,
    exception::{exception_columns, found_digest, read},
};

/// Records what is wrong with a payment; what is known of it already stays as it is.
pub(super) fn add(
    connection: &Connection,
    environment: EnvironmentId,
    reference: ServiceReference,
    exceptions: &[NewException],
) -> Result<(), Fault> {
    for exception in exceptions {
        connection
            .prepare_cached(
                "INSERT INTO reconciliation_exceptions
                     (environment_id, id, method, reference, kind, expected, found, found_digest, source, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                environment.to_bytes(),
                exception.id.to_bytes(),
                reference.method().as_str(),
                reference.to_bytes(),
                exception.kind.as_str(),
                exception.expected,
                exception.found,
                found_digest(exception),
                exception.source,
                exception.at.unix_millis()
            ])?;
    }
    Ok(())
}

macro_rules! list {
    ($open:literal) => {
        concat!(
            "SELECT ",
            exception_columns!(),
            " FROM reconciliation_exceptions WHERE environment_id = ?1 AND id <= ?2",
            $open,
            " ORDER BY id DESC LIMIT ?3"
        )
    };
}

pub(super) const LIST: &str = list!("");
pub(super) const LIST_OPEN: &str = list!(" AND resolved_at IS NULL");

pub(super) fn list(
    connection: &Connection,
    environment: EnvironmentId,
    open_only: bool,
    before: Option<ExceptionId>,
    limit: u32,
) -> Result<Vec<StoredException>, Fault> {
    let Some(last) = convert::up_to_before(before.map(ExceptionId::to_bytes)) else { return Ok(Vec::new()) };
    connection
        .prepare_cached(if open_only { LIST_OPEN } else { LIST })?
        .query_and_then(params![environment.to_bytes(), last, limit], |row| read(&mut RowCells::new(row, 0)))?
        .collect()
}

/// The plus keeps SQLite from reading the whole environment for the sake of the order.
pub(super) const OF_REFERENCE: &str = concat!(
    "SELECT ",
    exception_columns!(),
    " FROM reconciliation_exceptions
     WHERE environment_id = ?1 AND method = ?2 AND reference = ?3 ORDER BY +id"
);

pub(super) fn of_reference(
    connection: &Connection,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Vec<StoredException>, Fault> {
    connection
        .prepare_cached(OF_REFERENCE)?
        .query_and_then(
            params![environment.to_bytes(), reference.method().as_str(), reference.to_bytes()],
            |row| read(&mut RowCells::new(row, 0)),
        )?
        .collect()
}

pub(super) fn resolve(
    connection: &Connection,
    environment: EnvironmentId,
    id: ExceptionId,
    resolution: &Resolution,
) -> Result<Effect<bool>, Fault> {
    let resolved = connection
        .prepare_cached(
            "UPDATE reconciliation_exceptions SET resolved_at = ?3, resolved_by = ?4, resolution = ?5
             WHERE environment_id = ?1 AND id = ?2 AND resolved_at IS NULL",
        )?
        .execute(params![
            environment.to_bytes(),
            id.to_bytes(),
            resolution.at.unix_millis(),
            resolution.actor,
            resolution.note
        ])?;
    if resolved == 1 {
        return Ok(Effect::Written(true));
    }
    let known = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM reconciliation_exceptions WHERE environment_id = ?1 AND id = ?2)",
        )?
        .query_row(params![environment.to_bytes(), id.to_bytes()], |row| row.get(0))?;
    Ok(Effect::Nothing(known))
}
