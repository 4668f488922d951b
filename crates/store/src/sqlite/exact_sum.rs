//! A sum that never overflows, which is what PostgreSQL's own is.

use rusqlite::{
    Connection,
    functions::{Aggregate, Context, FunctionFlags},
};

/// Defines `exact_sum` on a connection.
pub(super) fn define(connection: &Connection) -> rusqlite::Result<()> {
    let pure = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("exact_sum", 1, pure, ExactSum)
}

/// SQLite's own sum fails where it passes the largest number on the way.
struct ExactSum;

impl Aggregate<i128, Option<String>> for ExactSum {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<i128> {
        Ok(0)
    }

    fn step(&self, context: &mut Context<'_>, sum: &mut i128) -> rusqlite::Result<()> {
        let value: Option<i64> = context.get(0)?;
        // Billions of the largest numbers would fit.
        *sum = sum.saturating_add(i128::from(value.unwrap_or(0)));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sum: Option<i128>) -> rusqlite::Result<Option<String>> {
        Ok(sum.map(|sum| sum.to_string()))
    }
}
