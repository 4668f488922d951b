//! `tollgate audit-log`: who did what, newest first, or all of it as JSON lines.

use clap::Args;
use serde_json::Value;

use super::{
    fields::Fields,
    http::query,
    moment::moment,
    output::{self, Paint, Style, printable},
    session::Session,
    table::more,
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
        let entries = list.list("items");
        if entries.is_empty() {
            return "Nothing found.".to_owned();
        }
        entries.iter().map(|entry| lines(entry, style)).collect::<String>() + &more(&list, "--before")
    })
}

/// What was done to what, and by whom: a table of all of that would be wider than most terminals.
fn lines(entry: &Value, style: Style) -> String {
    let action = style.strong(&entry.word("action"));
    let (when, subject) = (moment(entry.text("at")), printable(&entry.word("subject")));
    let from = entry.optional_text("address").map(|address| format!(", from {address}")).unwrap_or_default();
    let by = format!("{}{from}, {}", entry.word("actor"), entry.word("requestId"));
    format!(
        "{:>6}  {when}  {action}  {subject}\n        {}\n",
        entry.word("sequence"),
        style.paint(Paint::Dim, &by)
    )
}
