//! `GET /admin/v1/audit`: every balance recomputed from its entries, every invariant checked, from the last audit on or, with
//! `?full=true`, from the beginning.

use data_encoding::HEXLOWER;
use tollgate_engine::ports::AuditScope;

use crate::prelude::*;

responses! {
    AuditResponse as Audit {
        clean: bool,
        wallets: u64,
        postings: u64,
        transfers: u64,
        card_postings: u64,
        /// What was verified before and not again; null if everything was verified.
        earlier: Option<EarlierResponse>,
        findings: Vec<FindingResponse>,
        audit_log: AuditLogResponse,
    }

    /// What earlier audits have verified.
    EarlierResponse as EarlierAudits {
        verified_at: Moment,
        full_at: Moment,
        postings: u64,
        card_postings: u64,
    }

    /// What the audit log's chain was found to be.
    AuditLogResponse as AuditLogCheck {
        entries: u64,
        /// The last hash. Kept elsewhere, it proves later that nothing before it was rewritten.
        head: String,
        /// The first thing that is wrong.
        problem: Option<String>,
    }

    FindingResponse as AuditFinding {
        environment_id: String,
        subject: String,
        problem: String,
    }
}

pub(crate) async fn run(operator: Operator) -> Done<AuditResponse> {
    let mut query = operator.query();
    let scope = match query.value("full") {
        Some(true) => AuditScope::Everything,
        _ => AuditScope::Recent,
    };
    query.finish()?;
    let audit = operator.app.engine.audit(scope).await?;
    let findings = audit.findings.into_iter().map(|finding| FindingResponse {
        environment_id: finding.environment.to_string(),
        subject: finding.subject,
        problem: finding.problem,
    });
    let findings: Vec<_> = findings.collect();
    let chain = operator.app.engine.verify_audit_log().await?;
    respond::ok(&AuditResponse {
        clean: findings.is_empty() && chain.problem.is_none(),
        wallets: audit.wallets,
        postings: audit.postings,
        transfers: audit.transfers,
        card_postings: audit.card_postings,
        earlier: audit.earlier.map(|earlier| EarlierResponse {
            verified_at: Moment(earlier.at),
            full_at: Moment(earlier.full_at),
            postings: earlier.postings,
            card_postings: earlier.card_postings,
        }),
        findings,
        audit_log: AuditLogResponse {
            entries: chain.entries,
            head: HEXLOWER.encode(&chain.head),
            problem: chain.problem,
        },
    })
}
