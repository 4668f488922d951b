//! `GET /admin/v1/audit`: every balance recomputed from its entries, every invariant checked.

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
    respond::ok(&AuditResponse {
        clean: findings.is_empty(),
        wallets: audit.wallets,
        postings: audit.postings,
        transfers: audit.transfers,
        card_postings: audit.card_postings,
        findings,
    })
}
