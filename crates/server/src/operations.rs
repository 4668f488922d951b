//! What an operator's machinery asks: alive, ready, metrics.

use std::time::Duration;

use axum::{body::Body, extract::State, response::Response};
use http::{HeaderValue, header};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::{
    app::SharedApp,
    response::{
        error::ApiError,
        respond::{self, ApiResult},
    },
};

/// Environments whose rates are shown.
const MAX_ENVIRONMENTS: usize = 200;
const STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// How the process is.
#[derive(Serialize, ToSchema)]
#[schema(as = ServiceStatus)]
pub(crate) struct StatusResponse {
    status: &'static str,
}

/// The process runs.
pub(crate) async fn health() -> ApiResult {
    respond::ok(&StatusResponse { status: "ok" })
}

/// The process would take work: its store answers and can be written to.
pub(crate) async fn ready(State(app): State<SharedApp>) -> ApiResult {
    app.readiness.probe(&app.engine).await.map_err(|why| {
        ApiError::store_unavailable("Not ready: the database is not responding or is read-only.", why)
    })?;
    respond::ok(&StatusResponse { status: "ready" })
}

/// Prometheus' text.
pub(crate) async fn metrics(State(app): State<SharedApp>) -> ApiResult {
    let directory = app.engine.directory();
    let version = i64::try_from(directory.snapshot().version().0).unwrap_or(i64::MAX);
    app.metrics.directory_version.set(version);
    app.metrics.directory_in_step.set(i64::from(directory.is_in_step()));
    app.metrics.set_dropped_requests(app.engine.dropped_requests());
    let environments: Vec<_> = directory
        .snapshot()
        .environments()
        .iter()
        .take(MAX_ENVIRONMENTS)
        .map(|view| view.environment.id)
        .collect();
    // A store that does not respond does not keep the rest from being scraped.
    let counting = timeout(STORE_TIMEOUT, app.engine.recent_return_rates(environments)).await;
    for (environment, rates) in counting.unwrap_or_default() {
        app.metrics.set_return_rates(environment, &rates);
    }
    let text = app.metrics.render().map_err(|error| ApiError::internal(error.to_string()))?;
    let mut response = Response::new(Body::from(text));
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    Ok(response)
}
