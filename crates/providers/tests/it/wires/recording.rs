//! What went over the wire, as the judges read it.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_simulator::Wire;

use crate::conformance::Inbox;
use crate::support::{self, Reply, World, quick, send};

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
    !["/pay/", "/authenticate/", "/vouchers/"].iter().any(|page| path.starts_with(page))
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
        let world = support::start_layered(quick(), layered).await;
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
        let headers = [("authorization", self.authorization.as_str()), ("content-type", kind)];
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

    /// Everything so far, with the webhooks once the last of these kinds has come.
    pub(super) async fn finish(self, kinds: &[&str]) -> Recording {
        let has = |body: &[u8], kind: &str| String::from_utf8_lossy(body).contains(&format!("\"{kind}\""));
        let received = self
            .inbox
            .until(|all| kinds.iter().all(|kind| all.iter().any(|(_, body)| has(body, kind))))
            .await;
        for (_, body) in received {
            self.recording.push(json!({ "webhook": String::from_utf8_lossy(&body) }));
        }
        self.recording.clone()
    }
}
