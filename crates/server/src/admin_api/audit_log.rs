//! `GET /admin/v1/audit-log`: who did what, newest first, and the same as JSON lines.

use data_encoding::HEXLOWER;
use serde_json::value::RawValue;
use tollgate_domain::audit_log::AuditEntry;
use tollgate_engine::{Audited, ports::AuditLogFilter};

use crate::{prelude::*, request::location::QueryReader};

responses! {
    AcceptedResponse as AuditLogEntryAccepted {
        /// The entry that is accepted.
        entry: u64,
    }
}

/// What came before an entry that says that it is not proved is accepted as it is.
pub(crate) async fn accept(operator: Operator) -> Done<AcceptedResponse> {
    let entry = operator.path("entry")?;
    let is_accepted = operator.app.engine.accept_audit_entry(entry, &operator.origin).await?;
    if is_accepted { respond::ok(&AcceptedResponse { entry }) } else { Err(not_found_here()) }
}

pub(crate) const JSON_LINES: &str = "application/jsonl; charset=utf-8";

/// Entries that are read for an export at a time, and in all. What follows is exported with the last one's `before`.
const EXPORT_SLICE: u32 = 1_000;
const MAX_EXPORT_ENTRIES: usize = 20_000;

responses! {
    EntryResponse as AuditLogEntry {
        /// Counts up from 1 without gaps.
        sequence: u64,
        at: Moment,
        actor_kind: words::ActorKind,
        user_id: Option<String>,
        actor: String,
        /// The personal token it was done with.
        token_id: Option<String>,
        /// Where the request came from.
        address: Option<String>,
        request_id: String,
        /// What was done, such as `key.issue`.
        action: String,
        organization_id: Option<String>,
        environment_id: Option<String>,
        /// The ID or reference of what it was done to.
        subject: String,
        #[schema(value_type = Option<Object>, required)]
        before: Option<Box<RawValue>>,
        #[schema(value_type = Option<Object>, required)]
        after: Option<Box<RawValue>>,
        /// HMAC-SHA-256 of this entry and of the hash before it, under a key derived from the master key.
        hash: String,
    }
}

impl EntryResponse {
    pub(crate) fn of(read: AuditEntry) -> Self {
        let AuditEntry { sequence, entry, hash } = read;
        let json = |text: Option<String>| text.and_then(|text| RawValue::from_string(text).ok());
        Self {
            sequence,
            at: Moment(entry.at),
            actor_kind: entry.actor.kind.as_str().into(),
            user_id: entry.actor.kind.user().map(|id| id.to_string()),
            actor: entry.actor.name,
            token_id: entry.token.map(|id| id.to_string()),
            address: entry.address.map(|address| address.to_string()),
            request_id: entry.request,
            action: entry.action,
            organization_id: entry.organization.map(|id| id.to_string()),
            environment_id: entry.environment.map(|id| id.to_string()),
            subject: entry.subject,
            before: json(entry.before),
            after: json(entry.after),
            hash: HEXLOWER.encode(&hash),
        }
    }
}

fn filter(query: &mut QueryReader<'_>) -> (AuditLogFilter, Option<u64>) {
    // What no database holds finds nothing; that it is not asked spares it a question it would refuse.
    let rule = "must not have control characters";
    let mut text = |name| {
        query
            .value_as(name, rule, |text: &str| (!text.chars().any(char::is_control)).then(|| text.to_owned()))
    };
    let (action, subject) = (text("action"), text("subject"));
    let filter = AuditLogFilter {
        user: query.value("userId"),
        action,
        environment: query.value("environmentId"),
        subject,
        from: query.moment("from"),
        until: query.moment("until"),
    };
    (filter, query.value("before"))
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<EntryResponse>> {
    let mut query = operator.query();
    let ((filter, before), limit) = (filter(&mut query), query.limit());
    query.finish()?;
    let entries = operator.app.engine.audit_log(&filter, before, limit.to_read()).await?;
    respond::ok(&ListResponse::slice(entries, limit, EntryResponse::of, |it| it.sequence))
}

/// That somebody took the log away is in it before they have it.
pub(crate) async fn export(operator: Operator) -> ApiResult {
    let mut query = operator.query();
    let (filter, mut before) = filter(&mut query);
    query.finish()?;
    let engine = &operator.app.engine;
    engine.record_repeatable(&operator.origin, Audited::new("audit_log.export", "")).await?;
    let mut text = Vec::new();
    let mut count = 0_usize;
    while count < MAX_EXPORT_ENTRIES {
        let entries = engine.audit_log(&filter, before, EXPORT_SLICE).await?;
        let Some(last) = entries.last() else { break };
        before = Some(last.sequence);
        count = count.saturating_add(entries.len());
        for entry in entries {
            let failed = |error: serde_json::Error| ApiError::internal(error.to_string());
            serde_json::to_writer(&mut text, &EntryResponse::of(entry)).map_err(failed)?;
            text.push(b'\n');
        }
    }
    Ok(respond::file(JSON_LINES, text))
}
