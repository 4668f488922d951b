//! What went over the wire, as the judges read it.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_simulator::{Config, Wire};

use crate::conformance::Inbox;
use crate::support::{self, Reply, World, quick, send};

/// Webhooks that have not come for so long do not come.
const QUIET: Duration = Duration::from_millis(700);

/// A simulator that records all exchanges of one provider's API.
pub(super) struct Recorded {
    pub(super) world: World,
    adapter: Adapter,
    /// How others than the adapter are authorized.
    authorization: String,
    recording: Recording,
    inbox: Inbox,
}

#[derive(Clone, Default)]
pub(super) struct Recording(Arc<Mutex<Vec<Value>>>);

impl Recording {
    pub(super) fn lines(&self) -> String {
        self.0.lock().unwrap().iter().fold(String::new(), |mut text, line| {
            writeln!(text, "{line}").unwrap();
            text
        })
    }

    pub(super) fn push(&self, line: Value) {
        self.0.lock().unwrap().push(line);
    }

    /// The first exchange of an operation's method and path, for tests that plant faults in it.
    pub(super) fn first(&self, method: &str, path: &str) -> Value {
        let lines = self.0.lock().unwrap();
        let fits = |line: &&Value| line["method"] == method && line["path"] == path;
        lines.iter().find(fits).unwrap_or_else(|| panic!("{method} {path} was not recorded")).clone()
    }

    /// The first webhook with this in its body.
    pub(super) fn first_webhook(&self, text: &str) -> Value {
        let lines = self.0.lock().unwrap();
        let has = |line: &&Value| line["webhook"].as_str().is_some_and(|body| body.contains(text));
        lines.iter().find(has).unwrap_or_else(|| panic!("no webhook with {text} was recorded")).clone()
    }
}

async fn record(
    State((prefix, recording)): State<(String, Recording)>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path().strip_prefix(&prefix).filter(|path| is_api(path)).map(str::to_owned);
    let Some(path) = path else { return next.run(request).await };
    let by = caller(request.headers());
    let (parts, body) = request.into_parts();
    let sent = body.collect().await.unwrap().to_bytes();
    let (method, query) = (parts.method.clone(), parts.uri.query().unwrap_or_default().to_owned());
    let request = Request::from_parts(parts, Body::from(sent.clone()));
    let (parts, body) = next.run(request).await.into_parts();
    let answer = body.collect().await.unwrap().to_bytes();
    recording.push(json!({
        "by": by, "method": method.as_str(), "path": path, "query": query, "body": String::from_utf8_lossy(&sent),
        "status": parts.status.as_u16(), "answer": String::from_utf8_lossy(&answer),
    }));
    Response::from_parts(parts, Body::from(answer))
}

fn caller(headers: &HeaderMap) -> &'static str {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match header(header::USER_AGENT) {
        "tollgate" => "tollgate",
        _ if header(header::AUTHORIZATION).contains("pk_") => "browser",
        _ => "others",
    }
}

/// Pages and scripts for browsers are no API.
fn is_api(path: &str) -> bool {
    !["/pay/", "/authenticate/", "/vouchers/", "/checkoutshopper/"].iter().any(|page| path.starts_with(page))
        && std::path::Path::new(path).extension().is_none_or(|extension| extension != "js")
}

impl Recorded {
    pub(super) async fn start(
        adapter: Adapter,
        wire: Wire,
        authorization: &str,
        webhook_secret: &str,
    ) -> Self {
        let recording = Recording::default();
        let state = (format!("/{}", wire.name()), recording.clone());
        let layered = move |router: Router| router.layer(middleware::from_fn_with_state(state, record));
        // Refunds wait until they are driven, so that they can come to nothing, too.
        let config = Config { square_refunds_settle: false, square_listed_after_ms: 0, ..Config::default() };
        let world = support::start_configured(quick(), config, layered).await;
        let inbox = Inbox::open(&world.simulator, wire, webhook_secret).await;
        Self { world, adapter, authorization: authorization.to_owned(), recording, inbox }
    }

    /// A call by another client than the adapter.
    pub(super) async fn call(&self, method: &str, path: &str, body: &str) -> Reply {
        let url = format!("{}/{}{path}", self.world.origin, self.adapter.as_str());
        let kind = if self.adapter == Adapter::Stripe {
            "application/x-www-form-urlencoded"
        } else {
            "application/json"
        };
        let key = if self.adapter == Adapter::Adyen { "x-api-key" } else { "authorization" };
        let headers = [(key, self.authorization.as_str()), ("content-type", kind)];
        send(method, &url, &headers, body.to_owned()).await.unwrap()
    }

    /// The same, which has to succeed.
    pub(super) async fn done(&self, method: &str, path: &str, body: &str) -> Value {
        let reply = self.call(method, path, body).await;
        assert!(reply.status < 300, "{method} {path}: {} {}", reply.status, reply.text);
        serde_json::from_str(&reply.text).unwrap()
    }

    /// Has the provider's side do what no call of ours can.
    pub(super) async fn drive(&self, path: &str, body: Value) -> Value {
        self.world.control("POST", &format!("{}/{path}", self.adapter.as_str()), body).await
    }

    /// The calls so far.
    pub(super) fn recorded(&self) -> Recording {
        self.recording.clone()
    }

    /// Everything so far, with the webhooks once some of these kinds and of those that the adapter needs have come, and no
    /// more come.
    pub(super) async fn finish(self, kinds: &[&str]) -> Recording {
        let needed = super::needed_events(self.adapter);
        let kinds: Vec<&str> = needed.iter().map(String::as_str).chain(kinds.iter().copied()).collect();
        let has = |body: &[u8], kind: &str| String::from_utf8_lossy(body).contains(&format!("\"{kind}\""));
        let mut received = Vec::new();
        loop {
            let before = received.len();
            received = self
                .inbox
                .until(|all| kinds.iter().all(|kind| all.iter().any(|(_, body)| has(body, kind))))
                .await;
            if received.len() == before {
                break;
            }
            tokio::time::sleep(QUIET).await;
        }
        for (_, body) in received {
            self.recording.push(json!({ "webhook": String::from_utf8_lossy(&body) }));
        }
        self.recording.clone()
    }
}
