//! Looking through the books for what cannot be.

use tollgate_engine::ports::{Audit, AuditFinding};

use crate::{
    prelude::*,
    rows::audit::{CHECKS, COUNT, MAX_FINDINGS},
};

/// SQLite's own sum fails where it passes the largest number on the way, so a function of ours takes its place.
pub(crate) async fn audit<S: Session>(s: &mut S) -> Result<Audit, Fault> {
    let mut audit = s
        .query_one(COUNT, values![], |cells| {
            Ok(Audit {
                wallets: cells.count("count")?,
                postings: cells.count("count")?,
                transfers: cells.count("count")?,
                findings: Vec::new(),
            })
        })
        .await?;
    for (sql, read_finding) in CHECKS {
        let sql = sql.replace("exact_sum", S::DIALECT.pick("exact_sum", "sum"));
        let read = |cells: &mut Cells<'_>| {
            let environment = cells.id()?;
            let (subject, problem) = read_finding(cells)?;
            Ok(AuditFinding { environment, subject, problem })
        };
        let findings = s.query(&sql, values![], read).await?;
        audit.findings.extend(findings.into_iter().take(MAX_FINDINGS.saturating_sub(audit.findings.len())));
    }
    Ok(audit)
}
