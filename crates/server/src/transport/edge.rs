//! The outermost layer: every request gets its id here, and every answer leaves through here.

use std::{
    borrow::Cow,
    convert::Infallible,
    net::IpAddr,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    BoxError, Router,
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use tollgate_domain::id::RequestId;
use tollgate_engine::ACTIVITY;
use tollgate_trace::{Instrument as _, Span, continue_trace};
use tower_service::Service;
use tracing::{
    Level, debug, enabled, error,
    field::{Empty, display},
    info,
};

use crate::{
    app::{App, Mounted, SharedApp, is_for_operators},
    client_api::quote,
    request::{
        auth::too_many,
        call_notes::{self, CallNotes, UnknownFields},
        context::RequestContext,
        origin::CrossOrigin,
        unknown_fields,
    },
    response::{error::ApiError, error_code::ErrorCode},
    router::{OPERATIONS, OperationTable, UNKNOWN_PATH, router},
    transport::{
        call_lines::{CallLine, CallLines},
        client_address::{client_address, is_on_this_machine},
        metered_body::MeteredRequest,
        request_log,
    },
};

const METRICS_PATH: &str = "/metrics";
const METRICS_HIDDEN: &str = "Metrics are shown on the admin listener, on this machine, and to whoever sends TOLLGATE_METRICS_TOKEN \
                              as `Authorization: Bearer …`.";

/// What callers name their requests by.
const CALLER_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServedTo {
    Everybody,
    /// Operators have a listener of their own.
    Callers,
    Operators,
}

pub(crate) struct Edge {
    app: SharedApp,
    router: Router,
    operations: OperationTable,
    call_lines: CallLines,
}

impl Edge {
    pub(crate) fn new(app: App) -> Arc<Self> {
        let app = Arc::new(app);
        let router = router(Arc::clone(&app));
        Arc::new(Self { router, operations: OperationTable::new(), call_lines: CallLines::default(), app })
    }

    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    /// Answers one request, whatever happens inside. Where operators are not served, it is as if their API and pages did not
    /// exist.
    pub(crate) async fn answer<B>(
        self: Arc<Self>,
        peer: IpAddr,
        served_to: ServedTo,
        request: Request<B>,
    ) -> Result<Response, Infallible>
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        let started = Instant::now();
        let at = self.app.engine.clock().now();
        let id = RequestId::new(at, rand::random());
        let client = client_address(peer, request.headers(), &self.app.trusted_proxies);
        let mut context = RequestContext { id, at, client, endpoint: ("", "") };
        let metered = MeteredRequest::new(request.body(), || self.app.body_budget.meter(client));
        let mut request = request.map(|body| metered.counted(body));
        // Quotes are asked for tens of thousands of times a second, so they skip what is done for everyone else: looking
        // the path up, boxes for the handler, its future and the body, and copies for the log.
        if OperationTable::is_quote_call(request.method(), request.uri().path()) {
            let (head, body) = request.into_parts();
            let operation = self.operations.quote();
            context.endpoint = OperationTable::endpoint(operation);
            let span = request_span(operation, &head.method, &head.headers, &context);
            let quoting =
                AssertUnwindSafe(quote::answer(&self.app, &context, &head.headers, body)).catch_unwind();
            let quoted = if span.is_disabled() {
                quoting.await
            } else {
                Box::pin(quoting).instrument(span.clone()).await
            };
            let (handled, notes) = match quoted {
                Ok((answer, notes)) => (Ok(answer.into_response()), notes),
                Err(panic) => (Err(panic), CallNotes::default()),
            };
            let (method, uri, headers) = (&head.method, &head.uri, &head.headers);
            let record = Record { method, uri, headers, notes, span };
            return Ok(self.finished(handled, operation, &context, started, &record));
        }
        // In a box of its own: what is not needed for a quote need not be moved about with one.
        if let Some(meter) = metered.meter() {
            request.extensions_mut().insert(Arc::clone(meter));
        }
        if request.uri().path() == METRICS_PATH
            && let Err(answer) = self.check_metrics(peer, client, served_to, request.headers())
        {
            return Ok(self.answered_here(&request, answer.into_response(), &context, started));
        }
        Box::pin(self.answer_others(served_to, context, started, request)).await
    }

    /// Answers whatever is not a quote.
    async fn answer_others<B>(
        &self,
        served_to: ServedTo,
        mut context: RequestContext,
        started: Instant,
        request: Request<B>,
    ) -> Result<Response, Infallible>
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        if served_to == ServedTo::Callers && is_for_operators(request.uri().path()) {
            let answer = ApiError::not_found(UNKNOWN_PATH);
            return Ok(self.answered_here(&request, answer.into_response(), &context, started));
        }
        if self.app.has_key_pages() && self.app.hides_page(request.uri().path(), host(&request)) {
            let answer = hidden_page(self.app.engine.public_url());
            return Ok(self.answered_here(&request, answer.into_response(), &context, started));
        }
        if let Some(mounted) = self.app.mounted(request.uri().path()) {
            return self.answer_mounted(mounted, &context, started, request).await;
        }
        let (head, body) = request.into_parts();
        let operation = self.operations.find(&head.method, head.uri.path());
        context.endpoint = OperationTable::endpoint(operation);
        let span = request_span(operation, &head.method, &head.headers, &context);
        let cross_origin = CrossOrigin::of(&self.app, &head.headers, head.uri.path());
        let preflight =
            cross_origin.as_ref().and_then(|it| it.preflight(&self.app, &head.method, &head.headers));
        let (method, uri) = (head.method.clone(), head.uri.clone());
        let headers = head.headers.get(CALLER_REQUEST_ID).map(|id| (CALLER_REQUEST_ID, id.clone()));
        let headers = headers.into_iter().collect();
        let (handled, notes) = if let Some(answer) = preflight {
            (Ok(answer), CallNotes::default())
        } else {
            let routing = self.route(context, operation, Request::from_parts(head, body));
            let routing = routing.instrument(span.clone());
            call_notes::collecting(AssertUnwindSafe(routing).catch_unwind()).await
        };
        let record = Record { method: &method, uri: &uri, headers: &headers, notes, span };
        let mut response = self.finished(handled, operation, &context, started, &record);
        if let Some(cross_origin) = cross_origin {
            let environment = record.notes.caller.map(|(environment, _)| environment);
            cross_origin.finish(&self.app, environment, response.headers_mut());
        }
        Ok(response)
    }

    /// Metrics show balances and volumes: they are for operators, for this machine and for requests with the token. Wrong tokens
    /// count as those of operators do.
    fn check_metrics(
        &self,
        peer: IpAddr,
        client: IpAddr,
        served_to: ServedTo,
        headers: &HeaderMap,
    ) -> Result<(), ApiError> {
        if served_to == ServedTo::Operators || is_on_this_machine(peer, headers, &self.app.trusted_proxies) {
            return Ok(());
        }
        let hidden = || ApiError::unauthenticated(METRICS_HIDDEN);
        let value = headers.get(header::AUTHORIZATION).ok_or_else(hidden)?;
        let words = value.to_str().unwrap_or_default().split_once(' ');
        let presented = words.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let token = self.app.metrics_token.zip(presented);
        if token.is_some_and(|(token, (_, it))| token.verify(it.trim()).is_ok()) {
            return Ok(());
        }
        self.app.engine.count_bad_credential(Some(client)).map_err(too_many)?;
        Err(hidden())
    }

    /// An answer that nothing behind this layer was asked for.
    fn answered_here<B>(
        &self,
        request: &Request<B>,
        answer: Response,
        context: &RequestContext,
        started: Instant,
    ) -> Response {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let record = Record { method, uri, headers, notes: CallNotes::default(), span: Span::none() };
        self.finished(Ok::<_, Infallible>(answer), self.operations.unknown(), context, started, &record)
    }

    /// What is mounted answers for itself; the operator's pages are counted and logged as the API is.
    async fn answer_mounted<B>(
        &self,
        mounted: &Mounted,
        context: &RequestContext,
        started: Instant,
        request: Request<B>,
    ) -> Result<Response, Infallible>
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(context.client);
        request.extensions_mut().insert(context.id);
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let headers = request.headers().get(CALLER_REQUEST_ID).map(|id| (CALLER_REQUEST_ID, id.clone()));
        let headers = headers.into_iter().collect();
        let operation = self.operations.console();
        let span = if mounted.is_recorded {
            request_span(operation, &method, request.headers(), context)
        } else {
            Span::none()
        };
        let answering = Box::pin(mounted.router.clone().call(request));
        let answered = guarded(answering.instrument(span.clone())).await;
        if !mounted.is_recorded {
            return answered;
        }
        let record =
            Record { method: &method, uri: &uri, headers: &headers, notes: CallNotes::default(), span };
        Ok(self.finished(answered, operation, context, started, &record))
    }

    /// The bytes that answer a request whose head could not be read; `head` is how the parser would have answered.
    pub(crate) fn refuse_head(&self, status: StatusCode, head: &str) -> Vec<u8> {
        let failure = ApiError::unreadable_head(status);
        let id = RequestId::new(self.app.engine.clock().now(), rand::random());
        self.app.metrics.answered(self.operations.unknown(), failure.status(), Duration::ZERO);
        info!(request_id = %id, status = failure.status().as_u16(), code = failure.code(), "request rejected: unreadable head");
        failure.render_refused_head(id, head)
    }

    /// Gives an answer its id, counts it and logs it.
    fn finished<Panic>(
        &self,
        handled: Result<Response, Panic>,
        operation: usize,
        context: &RequestContext,
        started: Instant,
        record: &Record<'_>,
    ) -> Response {
        let mut response = handled.unwrap_or_else(|_| ApiError::internal("handler panicked").into_response());
        let failure = response.extensions_mut().remove::<ApiError>();
        let unknown_fields = record.notes.unknown_fields.as_deref();
        let warnings = unknown_fields.map(UnknownFields::warnings).unwrap_or_default();
        if let Some(failure) = &failure {
            response = failure.render(context.id, &warnings);
        }
        let took = started.elapsed();
        self.app.metrics.answered(operation, response.status(), took);
        finish(response.headers_mut(), record.method, context.id);
        unknown_fields::add_warnings(&warnings, response.headers_mut());
        record.end_span(response.status(), failure.as_ref());
        self.keep(operation, context, response.status(), failure.as_ref(), took, record);
        record.log(context, response.status(), failure.as_ref(), took.as_micros(), &self.call_lines);
        response
    }

    /// Keeps a client API call in the request log. Quotes that succeed were counted already.
    fn keep(
        &self,
        operation: usize,
        context: &RequestContext,
        status: StatusCode,
        failure: Option<&ApiError>,
        took: Duration,
        record: &Record<'_>,
    ) {
        let Some((environment, key)) = record.notes.caller else { return };
        if failure.is_none() && operation == self.operations.quote() {
            return;
        }
        let endpoint = OPERATIONS.get(operation).map_or("", |operation| operation.path);
        let call = request_log::Call { context, environment, key, endpoint, status, failure, took };
        self.app.engine.log_request(call.entry(record.method, &shown_path(record.uri.path()), &record.notes));
    }

    async fn route<B>(&self, context: RequestContext, operation: usize, mut request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        request.extensions_mut().insert(context);
        if let Some(requirement) = OperationTable::requirement(operation) {
            request.extensions_mut().insert(requirement);
        }
        let Ok(response) = self.router.clone().call(request.map(Body::new)).await;
        response
    }
}

/// What is mounted here answers for itself, unless it panics.
async fn guarded(
    answering: impl Future<Output = Result<Response, Infallible>>,
) -> Result<Response, Infallible> {
    AssertUnwindSafe(answering).catch_unwind().await.unwrap_or_else(|_| {
        error!("page handler panicked");
        Ok(StatusCode::INTERNAL_SERVER_ERROR.into_response())
    })
}

fn host<B>(request: &Request<B>) -> Option<&str> {
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    request.uri().authority().map(http::uri::Authority::as_str).or(named)
}

fn hidden_page(public_url: &str) -> ApiError {
    let message = format!(
        "This page holds a key and is shown only at this server's own address; open it at {public_url}, or set \
         TOLLGATE_PUBLIC_URL to the name you use."
    );
    ApiError::new(ErrorCode::NotFound, message)
}

fn finish(headers: &mut HeaderMap, method: &Method, id: RequestId) {
    const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
    let mut text = *b"req_00000000000000000000000000";
    for (to, from) in text.iter_mut().skip(RequestId::PREFIX.len() + 1).zip(id.digits()) {
        *to = from;
    }
    // What answers a POST, PUT or DELETE is not kept by any cache to begin with.
    if matches!(*method, Method::GET | Method::HEAD) {
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    if let Ok(id) = HeaderValue::from_bytes(&text) {
        headers.insert(REQUEST_ID, id);
    }
}

/// What the log says of a request: never a body, a query or a credential.
struct Record<'a> {
    method: &'a Method,
    uri: &'a Uri,
    headers: &'a HeaderMap,
    notes: CallNotes,
    span: Span,
}

/// What a trace says of a request: the same as the log, without the path.
fn request_span(operation: usize, method: &Method, headers: &HeaderMap, context: &RequestContext) -> Span {
    let span = tollgate_trace::span!(
        "request", otel.name = OperationTable::name(operation), otel.kind = "server",
        operation = OperationTable::name(operation), "http.request.method" = method.as_str(),
        "http.route" = OperationTable::endpoint(operation).1, request_id = %context.id,
        "http.response.status_code" = Empty, code = Empty, environment = Empty, otel.status_code = Empty
    );
    continue_trace(&span, headers);
    span
}

impl Record<'_> {
    fn end_span(&self, status: StatusCode, failure: Option<&ApiError>) {
        let span = &self.span;
        if span.is_disabled() {
            return;
        }
        span.record("http.response.status_code", status.as_u16());
        failure.map(|failure| span.record("code", failure.code()));
        self.notes.caller.map(|(environment, _)| span.record("environment", display(environment)));
        if status.is_server_error() {
            tollgate_trace::failed(span);
        }
    }

    fn log(
        &self,
        context: &RequestContext,
        status: StatusCode,
        failure: Option<&ApiError>,
        took_micros: u128,
        call_lines: &CallLines,
    ) {
        let RequestContext { id, client, .. } = context;
        let (method, path, status_code) = (self.method, self.uri.path(), status.as_u16());
        let is_change =
            method != Method::GET && (path.starts_with("/admin/") || path.starts_with("/console/"));
        // Only where there is a line to write.
        let shown = || shown_path(path);
        if enabled!(target: ACTIVITY, Level::INFO) {
            self.show_activity(path, status, failure, took_micros, || call_lines.next(context.at));
        }
        let caller_request_id = || self.caller_request_id();
        let code = failure.map(ApiError::code).unwrap_or_default();
        let internal = failure.and_then(ApiError::internal_reason).unwrap_or_default();
        if status.is_server_error() {
            error!(request_id = %id, %client, caller_request_id = caller_request_id(), %method, path = &*shown(), status = status_code, code, took_micros, internal, "request failed");
        } else if status.is_client_error() {
            info!(request_id = %id, %client, caller_request_id = caller_request_id(), %method, path = &*shown(), status = status_code, code, took_micros, "request rejected");
        } else if is_change {
            info!(request_id = %id, %client, caller_request_id = caller_request_id(), %method, path = &*shown(), status = status_code, took_micros, "request answered");
        } else {
            debug!(request_id = %id, %client, caller_request_id = caller_request_id(), %method, path = &*shown(), status = status_code, took_micros, "request answered");
        }
    }

    /// The line for whoever watches the sandbox. Webhooks that were taken in have a line of their own, and failures always do.
    fn show_activity(
        &self,
        path: &str,
        status: StatusCode,
        failure: Option<&ApiError>,
        took_micros: u128,
        next_line: impl FnOnce() -> CallLine,
    ) {
        let is_call = path.starts_with("/client/") || path.starts_with("/admin/");
        let is_refused_webhook = path.starts_with("/webhooks/") && !status.is_success();
        if !is_call && !is_refused_webhook {
            return;
        }
        let line = if failure.is_some() { CallLine::Shown { left_out: 0 } } else { next_line() };
        let CallLine::Shown { left_out } = line else { return };
        if left_out > 0 {
            info!(target: ACTIVITY, "… and {left_out} more calls");
        }
        let (method, path, status, millis) =
            (self.method, shown_path(path), status.as_u16(), took_micros / 1_000);
        let code = failure.map(|failure| format!(" {}", failure.code())).unwrap_or_default();
        info!(target: ACTIVITY, "{method} {path} {status}{code} in {millis} ms");
    }

    /// The caller's own id, as far as it can be shown and is not suspiciously long.
    fn caller_request_id(&self) -> &str {
        let value = self.headers.get(CALLER_REQUEST_ID);
        let text = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
        if text.len() <= 200 { text } else { "(too long)" }
    }
}

/// The path for the log. A part of it that begins like one of our secrets stands in the wrong place, and is left out.
fn shown_path(path: &str) -> Cow<'_, str> {
    const MARKERS: [&str; 5] = ["sk_", "pk_", "adm_", "pat_", "whsec_"];
    // Every marker has the one, or hides it behind the other.
    if !path.contains(['_', '%']) {
        return Cow::Borrowed(path);
    }
    let is_secret = |part: &&str| {
        let decoded = percent_decoded(part);
        let mut words = decoded.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        words.any(|word| MARKERS.iter().any(|marker| word.starts_with(marker)))
    };
    if !path.split('/').any(|part| is_secret(&part)) {
        return Cow::Borrowed(path);
    }
    let parts: Vec<_> =
        path.split('/').map(|part| if is_secret(&part) { "[hidden]" } else { part }).collect();
    Cow::Owned(parts.join("/"))
}

/// A part of a path with its escapes undone, as often as somebody may have escaped them.
fn percent_decoded(part: &str) -> String {
    let mut text = part.to_owned();
    for _ in 0..3 {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((first, tail)) = rest.split_first() {
            let escaped = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
            let decoded = escaped.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
            bytes.push(decoded.unwrap_or(*first));
            rest = if decoded.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
        }
        let decoded = String::from_utf8_lossy(&bytes).into_owned();
        if decoded == text {
            break;
        }
        text = decoded;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_a_path_is_not_logged() {
        for (path, shown) in [
            ("/client/v1/transactions/pay_1", "/client/v1/transactions/pay_1"),
            (
                "/admin/v1/environments/env_1/providers/task_force/test",
                "/admin/v1/environments/env_1/providers/task_force/test",
            ),
            ("/client/v1/transactions/sk_live_abc", "/client/v1/transactions/[hidden]"),
            ("/client/v1/payments/x%20sk_live_abc/confirm", "/client/v1/payments/[hidden]/confirm"),
            ("/sk%5Flive_abc", "/[hidden]"),
            ("/sk%255Flive_abc", "/[hidden]"),
            ("/Bearer%20adm_abc", "/[hidden]"),
            ("/admin/v1/users/pat_abc", "/admin/v1/users/[hidden]"),
        ] {
            assert_eq!(shown_path(path), shown);
        }
    }

    #[tokio::test]
    async fn what_panics_is_answered_all_the_same() {
        let Ok(answer) = guarded(async { panic!("a fault of a page") }).await;
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let Ok(answer) = guarded(async { Ok(StatusCode::NO_CONTENT.into_response()) }).await;
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    }
}
