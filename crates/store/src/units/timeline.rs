//! Payments' timelines.

use tollgate_domain::{ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::Entry;

use crate::{
    prelude::*,
    rows::timeline::{TIMELINE, in_order, line_row, pack, read_lines, unpack},
};

/// A payment's lines with those of a change behind them. SQLite joins bytes as if they were text, and leaves them as they are.
macro_rules! appended {
    (Sqlite, $lines:literal) => {
        concat!("timeline = CAST(COALESCE(timeline, x'') || ", $lines, " AS BLOB)")
    };
    (Postgres, $table:literal, $lines:literal) => {
        concat!("timeline = COALESCE(", $table, ".timeline, '') || ", $lines)
    };
}

pub(crate) use appended;

const APPEND_TO_CARD: (&str, &str) = (
    concat!("UPDATE card_payments SET ", appended!(Sqlite, "$3"), " WHERE environment_id = $1 AND id = $2"),
    concat!(
        "UPDATE card_payments p SET ",
        appended!(Postgres, "p", "$3"),
        " WHERE environment_id = $1 AND id = $2"
    ),
);

macro_rules! of_transfer {
    () => {
        " WHERE environment_id = $1 AND transaction_id = (
             SELECT id FROM transactions WHERE environment_id = $1 AND method = 'ach' AND reference = $2)"
    };
}

const APPEND_TO_TRANSFER: (&str, &str) = (
    concat!("UPDATE transfers SET ", appended!(Sqlite, "$3"), of_transfer!()),
    concat!("UPDATE transfers f SET ", appended!(Postgres, "f", "$3"), of_transfer!()),
);

/// Adds lines to the timeline of a payment that is there.
pub(super) async fn add<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    entries: &[Entry],
) -> Result<(), Fault> {
    let (sqlite, postgres) = match reference {
        ServiceReference::Card(_) => APPEND_TO_CARD,
        ServiceReference::Ach(_) => APPEND_TO_TRANSFER,
    };
    s.execute(S::DIALECT.pick(sqlite, postgres), values![environment, reference, pack(entries)?]).await?;
    Ok(())
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
    let column = s.query_opt(sql, values![environment, reference], |cells| cells.bytes_or_none()).await?;
    lines.extend(unpack(&column.flatten().unwrap_or_default())?);
    Ok(in_order(lines))
}
