//! Looking through the books for what cannot be.

use std::time::Duration;

use deadpool_postgres::ClientWrapper;
use tokio_postgres::IsolationLevel;
use tollgate_engine::ports::Audit;

use super::{cells::RowCells, fault::Fault};
use crate::convert::{
    self,
    audit::{COUNT, Check, MAX_FINDINGS},
};

/// How long it may take; some millions of postings are read in a minute.
pub(super) const LIMIT: Duration = Duration::from_mins(30);

/// It reads everything, which may take longer than any unit of work may. Whatever the server believes of the tables, they
/// are to be joined whole rather than row by row.
const SETTINGS: &str = "SET LOCAL statement_timeout = 0; SET LOCAL work_mem = '64MB';
    SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off";

/// In one transaction that sees one moment.
pub(super) async fn audit(client: &mut ClientWrapper) -> Result<Audit, Fault> {
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    transaction.batch_execute(SETTINGS).await?;
    let row = transaction.query_one(COUNT, &[]).await?;
    let mut audit = Audit {
        wallets: convert::count(row.try_get(0)?)?,
        postings: convert::count(row.try_get(1)?)?,
        transfers: convert::count(row.try_get(2)?)?,
        findings: Vec::new(),
    };
    for check in Check::ALL {
        let rows = transaction.query(&check.sql().replace("exact_sum", "sum"), &[]).await?;
        for row in rows.iter().take(MAX_FINDINGS.saturating_sub(audit.findings.len())) {
            audit.findings.push(check.read_finding(&mut RowCells::new(row, 0))?);
        }
    }
    transaction.rollback().await?;
    Ok(audit)
}
