//! The audit log: who did what, newest first.

use askama::Template;
use tollgate_engine::ports::AuditLogFilter;

use crate::{
    layout::{
        format::second,
        frame::Frame,
        page::{self, Page},
    },
    request::signed_in::SignedIn,
};

const SLICE: u32 = 100;

struct Row {
    sequence: u64,
    at: String,
    actor: String,
    kind: &'static str,
    address: String,
    action: String,
    subject: String,
    environment: String,
    request: String,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Template)]
#[template(path = "audit_log.html")]
struct AuditLogPage {
    frame: Frame,
    rows: Vec<Row>,
    user: String,
    action: String,
    subject: String,
    fault: Option<&'static str>,
    /// Whether a single entry was asked for.
    is_one: bool,
    next: Option<String>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let text = |name: &str| {
        let text = signed_in.query(name).filter(|text| !text.chars().any(char::is_control));
        text.map(str::to_owned)
    };
    let user = signed_in.query("user").map(str::parse);
    let fault = matches!(user, Some(Err(_))).then_some("A user's ID begins with usr_.");
    let filter = AuditLogFilter {
        user: user.and_then(Result::ok),
        action: text("action"),
        subject: text("subject"),
        ..AuditLogFilter::default()
    };
    let before = signed_in.query("before").and_then(|text| text.parse().ok());
    let entry = signed_in.query("entry").and_then(|text| text.parse::<u64>().ok());
    let (before, limit) = entry.map_or((before, SLICE), |entry| (Some(entry.saturating_add(1)), 1));
    let entries = signed_in.console.engine.audit_log(&filter, before, limit).await?;
    let is_full = u32::try_from(entries.len()).is_ok_and(|count| count == SLICE);
    let next = entries.last().filter(|_| is_full).map(|last| {
        let rest = signed_in.query_without("before");
        let joint = if rest.is_empty() { "" } else { "&" };
        format!("?{rest}{joint}before={}", last.sequence)
    });
    let rows = entries.into_iter().map(|read| {
        let entry = read.entry;
        Row {
            sequence: read.sequence,
            at: second(entry.at),
            actor: entry.actor.name,
            kind: entry.actor.kind.as_str(),
            address: entry.address.map(|address| address.to_string()).unwrap_or_default(),
            action: entry.action,
            subject: entry.subject,
            environment: entry.environment.map(|id| id.to_string()).unwrap_or_default(),
            request: entry.request,
            before: entry.before,
            after: entry.after,
        }
    });
    page::render(&AuditLogPage {
        frame: signed_in.service_frame("Audit log", "audit-log").await?,
        rows: rows.collect(),
        user: signed_in.query_text("user"),
        action: signed_in.query_text("action"),
        subject: signed_in.query_text("subject"),
        fault,
        is_one: entry.is_some(),
        next,
    })
}
