//! `tollgate audit`: asks a server to verify its books, from the last audit on or everything, and fails where anything is off.

use clap::Args;
use serde_json::Value;

use super::{admin_client::AUDIT, fields::Fields, moment::moment, session::Session, table::Table};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Verify everything, not only what was written since the last audit that found nothing.
    #[arg(long)]
    full: bool,
    /// Accept an entry which says that those before it are not proved, as after an upgrade from a version without the
    /// audit log's key.
    #[arg(long, value_name = "SEQUENCE", conflicts_with = "full")]
    accept: Option<u64>,
}

pub(crate) async fn run(session: Session, asked: Audit) -> Result<(), Failure> {
    if let Some(entry) = asked.accept {
        let accepted = session.client.post(&format!("{AUDIT}-log/{entry}/accept"), &Value::Null).await?;
        return session
            .output
            .show(&accepted, |_| "Accepted, which is an entry of the audit log itself.\n".to_owned());
    }
    let path = if asked.full { format!("{AUDIT}?full=true") } else { AUDIT.to_owned() };
    let audit = session.client.get(&path).await?;
    let findings = audit.list("findings");
    session.output.show(&audit, |style| {
        let [wallets, postings, transfers, card_postings] =
            ["wallets", "postings", "transfers", "cardPostings"].map(|name| audit.number(name));
        let mut text = format!(
            "{wallets} wallets, {postings} postings, {transfers} transfers and {card_postings} postings of card \
             payments verified\n"
        );
        text += &earlier(&audit);
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
        Some(problem) => Err(Failure::new(format!("the audit log is not as it should be: {problem}"))),
        None => Ok(()),
    }
}

/// What was not verified again, since when, and how to have it verified.
fn earlier(audit: &Value) -> String {
    let Some(earlier) = audit.field("earlier").filter(|earlier| !earlier.is_null()) else {
        return "that is everything there is\n".to_owned();
    };
    let (postings, card_postings) = (earlier.number("postings"), earlier.number("cardPostings"));
    let [verified_at, full_at] = ["verifiedAt", "fullAt"].map(|name| moment(earlier.text(name)));
    format!(
        "verified earlier, up to {verified_at}: {postings} postings and {card_postings} postings of card payments\n\
         everything at once: {full_at}; only `tollgate audit --full` finds a change of what was verified earlier\n"
    )
}
