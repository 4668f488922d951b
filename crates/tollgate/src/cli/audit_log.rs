//! `tollgate audit-log`: who did what, newest first, or all of it as JSON lines.

use clap::Args;

use super::{
    fields::Fields,
    http::query,
    moment::moment,
    output,
    session::Session,
    table::{Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct AuditLog {
    /// Only what this user did.
    #[arg(long, value_name = "USER ID")]
    user: Option<String>,
    /// Only this action, such as key.issue.
    #[arg(long)]
    action: Option<String>,
    /// Only what was done to this: an ID or a reference.
    #[arg(long)]
    subject: Option<String>,
    /// Only from this time on (RFC 3339).
    #[arg(long)]
    from: Option<String>,
    /// Only before this time (RFC 3339).
    #[arg(long)]
    until: Option<String>,
    /// Only entries before this one.
    #[arg(long, value_name = "SEQUENCE")]
    before: Option<u64>,
    /// Maximum number of results.
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// Print up to 20,000 entries as JSON lines.
    #[arg(long)]
    export: bool,
}

pub(crate) async fn run(session: Session, asked: AuditLog) -> Result<(), Failure> {
    let AuditLog { user, action, subject, from, until, before, limit, export } = asked;
    let path = if export { "/admin/v1/audit-log.jsonl" } else { "/admin/v1/audit-log" };
    let query = query(&[
        ("userId", user),
        ("action", action),
        ("subject", subject),
        ("from", from),
        ("until", until),
        ("before", before.map(|before| before.to_string())),
        ("limit", (!export).then(|| limit.to_string())),
    ]);
    let path = format!("{path}{query}");
    if export {
        return output::print(&session.client.get_text(&path).await?);
    }
    let list = session.client.get(&path).await?;
    session.output.show(&list, |style| {
        let mut table = Table::new(&[">SEQUENCE", "WHEN", "WHO", "ACTION", "SUBJECT", "FROM", "REQUEST"]);
        for entry in list.list("items") {
            table.row([
                entry.word("sequence").into(),
                moment(entry.text("at")).into(),
                entry.word("actor").into(),
                entry.word("action").into(),
                entry.word("subject").into(),
                entry.word("address").into(),
                entry.word("requestId").into(),
            ]);
        }
        table.draw(style, "Nothing found.") + &more(&list, "--before")
    })
}
