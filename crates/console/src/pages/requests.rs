//! The client API calls of the last days: errors by code and endpoint first, then each call.

use std::time::Duration;

use askama::Template;
use tollgate_domain::id::RequestId;
use tollgate_engine::ports::{ErrorGroup, LoggedRequest, RequestFilter};

use crate::{
    layout::{
        format::{ago, count, second},
        frame::Frame,
        page::{self, Page},
    },
    request::signed_in::SignedIn,
};

const SLICE: u32 = 50;
const GROUPED: Duration = Duration::from_hours(24);

struct Group {
    code: String,
    endpoint: String,
    count: String,
    last: String,
    link: String,
}

struct Row {
    id: String,
    at: String,
    method: String,
    path: String,
    status: u16,
    class: &'static str,
    code: String,
    fields: String,
    took: u32,
    reference: Option<String>,
    key: String,
}

#[derive(Template)]
#[template(path = "requests.html")]
struct RequestsPage {
    frame: Frame,
    groups: Vec<Group>,
    rows: Vec<Row>,
    failed: bool,
    code: String,
    endpoint: String,
    text: String,
    quotes: String,
    dropped: u64,
    days: u64,
    next: Option<String>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Requests", "requests").await?;
    let engine = &signed_in.console.engine;
    let text = signed_in.query_text("q");
    let request = text.parse::<RequestId>().ok();
    let filter = RequestFilter {
        failed: signed_in.query("failed").is_some(),
        code: signed_in.query("code").map(str::to_owned),
        endpoint: signed_in.query("endpoint").map(str::to_owned),
        key: text.parse().ok(),
        reference: (request.is_none() && text.parse::<tollgate_domain::id::KeyId>().is_err())
            .then(|| text.clone())
            .filter(|text| !text.is_empty()),
        request,
    };
    let before = signed_in.query("before").and_then(|text| text.parse().ok());
    let found = engine.requests(environment, &filter, before, SLICE).await?;
    let now = engine.clock().now();
    let since = now.saturating_sub(GROUPED);
    let groups = engine.request_errors(environment, since).await?;
    let quotes = engine.quote_counts(environment, since).await?;
    let quotes = quotes.iter().fold(0_u64, |sum, quote| sum.saturating_add(quote.count));
    let is_full = u32::try_from(found.len()).is_ok_and(|count| count == SLICE);
    let rest = signed_in.query_without("before");
    let joint = if rest.is_empty() { "" } else { "&" };
    let lifetime = signed_in.view(environment)?.configuration.settings.request_log_lifetime();
    page::render(&RequestsPage {
        groups: groups.into_iter().map(|group| Group::of(group, now)).collect(),
        next: found.last().filter(|_| is_full).map(|last| format!("?{rest}{joint}before={}", last.id)),
        rows: found.into_iter().map(Row::of).collect(),
        failed: filter.failed,
        code: filter.code.unwrap_or_default(),
        endpoint: filter.endpoint.unwrap_or_default(),
        text,
        quotes: count(quotes),
        dropped: engine.dropped_requests(),
        days: lifetime.as_secs() / Duration::from_hours(24).as_secs(),
        frame,
    })
}

impl Group {
    fn of(group: ErrorGroup, now: tollgate_domain::Timestamp) -> Self {
        let mut link = form_urlencoded::Serializer::new(String::from("?"));
        link.append_pair("code", &group.code).append_pair("endpoint", &group.endpoint);
        Self {
            link: link.finish(),
            count: count(group.count),
            last: ago(group.last_at, now),
            code: group.code,
            endpoint: group.endpoint,
        }
    }
}

impl Row {
    fn of(request: LoggedRequest) -> Self {
        Self {
            id: request.id.to_string(),
            at: second(request.at),
            method: request.method,
            path: request.path,
            status: request.status,
            class: match request.status {
                ..400 => "good",
                400..500 => "warn",
                _ => "bad",
            },
            code: request.code.unwrap_or_default(),
            fields: request.fields.join(", "),
            took: request.took_millis,
            reference: request.reference,
            key: request.key.to_string(),
        }
    }
}
