//! `tollgate audit`: asks a server to recompute its books, and fails where anything is off.

use clap::Args;

use super::{admin_client::AUDIT, fields::Fields, session::Session, table::Table};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Audit {}

pub(crate) async fn run(session: Session, _: Audit) -> Result<(), Failure> {
    let audit = session.client.get(AUDIT).await?;
    let findings = audit.list("findings");
    session.output.show(&audit, |style| {
        let [wallets, postings, transfers, card_postings] =
            ["wallets", "postings", "transfers", "cardPostings"].map(|name| audit.number(name));
        let mut text = format!(
            "{wallets} wallets, {postings} postings, {transfers} transfers and {card_postings} postings of card \
             payments checked\n"
        );
        let mut table = Table::new(&["ENVIRONMENT", "SUBJECT", "PROBLEM"]);
        for finding in findings {
            table.row(["environmentId", "subject", "problem"].map(|name| finding.word(name).into()));
        }
        text.push_str(&table.draw(style, "the ledger is consistent"));
        let (entries, head) = (audit.word("/auditLog/entries"), audit.text("/auditLog/head"));
        let problem = audit.optional_text("/auditLog/problem").unwrap_or("nothing was changed or removed");
        text + &format!("audit log: {entries} entries, {problem}; head {head}\n")
    })?;
    if !findings.is_empty() {
        return Err(Failure::new(format!("{} ledger inconsistencies", findings.len())));
    }
    match audit.optional_text("/auditLog/problem") {
        Some(problem) => Err(Failure::new(format!("the audit log was tampered with: {problem}"))),
        None => Ok(()),
    }
}
