//! `GET /admin/v1/audit`: every balance recomputed from its entries, every invariant checked.

use data_encoding::HEXLOWER;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    admin_api::operator::Operator,
    response::respond::{self, ApiResult},
};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Audit)]
pub(crate) struct AuditResponse {
    clean: bool,
    wallets: u64,
    postings: u64,
    transfers: u64,
    card_postings: u64,
    findings: Vec<FindingResponse>,
    audit_log: AuditLogResponse,
}

/// What the audit log's chain was found to be.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditLogCheck)]
pub(crate) struct AuditLogResponse {
    entries: u64,
    /// The last hash. Kept elsewhere, it proves later that nothing before it was rewritten.
    head: String,
    /// The first thing that is wrong.
    #[schema(required)]
    problem: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditFinding)]
pub(crate) struct FindingResponse {
    environment_id: String,
    subject: String,
    problem: String,
}

pub(crate) async fn run(operator: Operator) -> ApiResult {
    let audit = operator.app.engine.audit().await?;
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
        findings,
        audit_log: AuditLogResponse {
            entries: chain.entries,
            head: HEXLOWER.encode(&chain.head),
            problem: chain.problem,
        },
    })
}
