//! Payments' timelines.

use tollgate_domain::{ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::Entry;

use crate::{
    prelude::*,
    rows::timeline::{TIMELINE, in_order, line_row, pack, read_lines, unpack},
};

/// Adds lines behind those of a row `table`, on PostgreSQL.
pub(crate) fn appended(table: &str, lines: &str) -> String {
    format!("timeline = COALESCE({table}.timeline, '') || {lines}")
}

/// Adds the lines in this parameter, on SQLite, which joins bytes as if they were text, and leaves them as they are.
pub(crate) fn appended_on_sqlite(lines: usize) -> String {
    format!("timeline = CAST(COALESCE(timeline, x'') || ${lines} AS BLOB)")
}

macro_rules! of_transfer {
    () => {
        " WHERE environment_id = $1 AND transaction_id = (
             SELECT id FROM transactions WHERE environment_id = $1 AND method = 'ach' AND reference = $2)"
    };
}

/// Adds lines to the timeline of a payment; `false` if there is none.
pub(super) async fn add<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    entries: &[Entry],
) -> Result<bool, Fault> {
    let (table, payment) = match reference {
        ServiceReference::Card(_) => ("card_payments", " WHERE environment_id = $1 AND id = $2"),
        ServiceReference::Ach(_) => ("transfers", of_transfer!()),
    };
    let lines = match S::DIALECT {
        Dialect::Sqlite => appended_on_sqlite(3),
        Dialect::Postgres => appended(table, "$3"),
    };
    let sql = format!("UPDATE {table} SET {lines}{payment}");
    Ok(s.execute(&sql, values![environment, reference, pack(entries)?]).await? > 0)
}

/// The same as a unit of its own.
pub(crate) async fn add_line<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    entry: &Entry,
) -> Result<Effect<bool>, Fault> {
    let is_there = add(s, environment, reference, std::slice::from_ref(entry)).await?;
    Ok(if is_there { Effect::Written(true) } else { Effect::Nothing(false) })
}

/// Adds lines about a payment that is gone; one that is there stays as it is.
pub(super) async fn add_alone<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    entries: &[Entry],
) -> Result<(), Fault> {
    let rows = entries.iter().map(|entry| line_row(environment, reference, entry)).collect();
    s.insert(&TIMELINE, rows).await
}

pub(crate) const ALONE: &str = "SELECT id, at, kind, request, detail FROM timeline WHERE environment_id = $1 AND method = $2 AND reference = $3 ORDER BY id";
pub(crate) const OF_CARD: &str = "SELECT timeline FROM card_payments WHERE environment_id = $1 AND id = $2";
pub(crate) const OF_TRANSFER: &str = concat!("SELECT timeline FROM transfers", of_transfer!());

pub(crate) async fn of_reference<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Vec<Entry>, Fault> {
    let values = values![environment, reference.method().as_str(), reference];
    let mut lines = s.query(ALONE, values, read_lines).await?.concat();
    let sql = match reference {
        ServiceReference::Card(_) => OF_CARD,
        ServiceReference::Ach(_) => OF_TRANSFER,
    };
    let column: Option<Option<Vec<u8>>> = s.query_opt(sql, values![environment, reference], read).await?;
    lines.extend(unpack(&column.flatten().unwrap_or_default())?);
    Ok(in_order(lines))
}
