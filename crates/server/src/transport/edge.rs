//! The outermost layer: every request gets its id here, and every answer leaves through here.

use std::{
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
use tower_service::Service;
use tracing::{debug, error, info};

use crate::{
    app::{App, SharedApp},
    client_api::quote,
    request::{context::RequestContext, unknown_fields},
    response::error::ApiError,
    router::{OperationTable, router},
};

/// What callers name their requests by.
const CALLER_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The service behind every connection.
pub(crate) struct Edge {
    app: SharedApp,
    router: Router,
    operations: OperationTable,
}

impl Edge {
    pub(crate) fn new(app: App) -> Arc<Self> {
        let app = Arc::new(app);
        Arc::new(Self { router: router(Arc::clone(&app)), operations: OperationTable::new(), app })
    }

    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    /// Answers one request, whatever happens inside.
    pub(crate) async fn answer<B>(
        self: Arc<Self>,
        peer: IpAddr,
        request: Request<B>,
    ) -> Result<Response, Infallible>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<BoxError>,
    {
        if let Some(mounted) = self.app.mounted(request.uri().path()) {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            return guarded(Box::pin(mounted.clone().call(request))).await;
        }
        let started = Instant::now();
        let at = self.app.engine.clock().now();
        let context = RequestContext { id: RequestId::new(at, rand::random()), at, peer };
        let (head, body) = request.into_parts();
        let operation = self.operations.find(&head.method, head.uri.path());
        // Quotes are asked for tens of thousands of times a second, so they skip what the router does for everyone
        // else: a second look at the path, boxes for the handler, its future and the body, and copies for the log.
        if self.operations.is_quote(operation) {
            let quoting = quote::answer(&self.app, &context, &head.headers, body);
            let quoting = AssertUnwindSafe(quoting).catch_unwind();
            let (handled, unknown_fields) = unknown_fields::collecting(quoting).await;
            let handled = handled.map(IntoResponse::into_response);
            let record =
                Record { method: &head.method, uri: &head.uri, headers: &head.headers, unknown_fields };
            return Ok(self.finished(handled, operation, &context, started, &record));
        }
        let (method, uri) = (head.method.clone(), head.uri.clone());
        let headers = head.headers.get(CALLER_REQUEST_ID).map(|id| (CALLER_REQUEST_ID, id.clone()));
        let headers = headers.into_iter().collect();
        // In a box of its own: what is not needed for a quote need not be moved about with one.
        let routing = Box::pin(self.route(context, Request::from_parts(head, body)));
        let routing = AssertUnwindSafe(routing).catch_unwind();
        let (handled, unknown_fields) = unknown_fields::collecting(routing).await;
        let record = Record { method: &method, uri: &uri, headers: &headers, unknown_fields };
        Ok(self.finished(handled, operation, &context, started, &record))
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
        if let Some(failure) = &failure {
            response = failure.render(context.id);
        }
        let took = started.elapsed();
        self.app.metrics.answered(operation, response.status(), took);
        finish(response.headers_mut(), record.method, context.id);
        unknown_fields::tell(&record.unknown_fields, response.headers_mut());
        record.log(context.id, response.status(), failure.as_ref(), took.as_micros());
        response
    }

    async fn route<B>(&self, context: RequestContext, mut request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        request.extensions_mut().insert(context);
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

fn finish(headers: &mut HeaderMap, method: &Method, id: RequestId) {
    const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
    let mut text = *b"req_00000000000000000000000000";
    for (to, from) in text.iter_mut().skip(RequestId::PREFIX.len() + 1).zip(id.digits()) {
        *to = from;
    }
    // What answers a POST, PUT or DELETE is not kept by any cache to begin with.
    if *method == Method::GET {
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
    /// What the body had that nothing reads, in words.
    unknown_fields: Vec<String>,
}

impl Record<'_> {
    fn log(&self, id: RequestId, status: StatusCode, failure: Option<&ApiError>, took_micros: u128) {
        let (method, path, status_code) = (self.method, self.uri.path(), status.as_u16());
        let caller_request_id = || self.caller_request_id();
        let code = failure.map(ApiError::code).unwrap_or_default();
        let internal = failure.and_then(ApiError::internal_reason).unwrap_or_default();
        if status.is_server_error() {
            error!(request_id = %id, caller_request_id = caller_request_id(), %method, path, status = status_code, code, took_micros, internal, "request failed");
        } else if status.is_client_error() {
            info!(request_id = %id, caller_request_id = caller_request_id(), %method, path, status = status_code, code, took_micros, "request rejected");
        } else if path.starts_with("/admin/") && method != Method::GET {
            info!(request_id = %id, caller_request_id = caller_request_id(), %method, path, status = status_code, took_micros, "request answered");
        } else {
            debug!(request_id = %id, caller_request_id = caller_request_id(), %method, path, status = status_code, took_micros, "request answered");
        }
    }

    /// The caller's own id, as far as it can be shown and is not suspiciously long.
    fn caller_request_id(&self) -> &str {
        let value = self.headers.get(CALLER_REQUEST_ID);
        let text = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
        if text.len() <= 200 { text } else { "(too long)" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_panics_is_answered_all_the_same() {
        let Ok(answer) = guarded(async { panic!("a fault of a page") }).await;
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let Ok(answer) = guarded(async { Ok(StatusCode::NO_CONTENT.into_response()) }).await;
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    }
}
