//! Looking through the books for what cannot be.

use rusqlite::{
    Connection,
    functions::{Aggregate, Context, FunctionFlags},
};
use tollgate_engine::ports::Audit;

use super::{cells::RowCells, fault::Fault};
use crate::convert::{
    self,
    audit::{COUNT, Check, MAX_FINDINGS},
};

/// In the one transaction of its reader, and so at one moment.
pub(super) fn audit(connection: &Connection) -> Result<Audit, Fault> {
    let pure = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("exact_sum", 1, pure, ExactSum)?;
    let (wallets, postings, transfers) =
        connection.query_row(COUNT, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut audit = Audit {
        wallets: convert::count(wallets)?,
        postings: convert::count(postings)?,
        transfers: convert::count(transfers)?,
        findings: Vec::new(),
    };
    for check in Check::ALL {
        let mut statement = connection.prepare(check.sql())?;
        let rows = statement.query_and_then([], |row| check.read_finding(&mut RowCells::new(row, 0)))?;
        for finding in rows.take(MAX_FINDINGS.saturating_sub(audit.findings.len())) {
            audit.findings.push(finding?);
        }
    }
    Ok(audit)
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
