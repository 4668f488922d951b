//! What an operator's machinery asks: alive, ready, metrics.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, extract::State, response::Response};
use http::{HeaderValue, header};
use serde::Serialize;
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use utoipa::ToSchema;

use crate::{
    app::SharedApp,
    error::ApiError,
    respond::{self, ApiResult},
};

/// A probe slower than this is a failed one.
const PROBE_LIMIT: Duration = Duration::from_secs(3);
/// However often readiness is asked, the store is probed at most this often.
const PROBE_AGE: Duration = Duration::from_millis(200);

/// The last probe's result, shared by everyone who asks meanwhile.
#[derive(Default)]
pub(crate) struct Readiness {
    last: Mutex<Option<(Instant, Result<(), String>)>>,
}

impl Readiness {
    async fn probe(&self, app: &SharedApp) -> Result<(), String> {
        let mut last = self.last.lock().await;
        if let Some((at, result)) = last.as_ref()
            && at.elapsed() < PROBE_AGE
        {
            return result.clone();
        }
        let result = match timeout(PROBE_LIMIT, app.engine.probe()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the store timed out".to_owned()),
        };
        *last = Some((Instant::now(), result.clone()));
        result
    }
}

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
    let shared = Arc::clone(&app);
    app.readiness.probe(&shared).await.map_err(|why| {
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
    let text = app.metrics.render().map_err(|error| ApiError::internal(error.to_string()))?;
    let mut response = Response::new(Body::from(text));
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    Ok(response)
}
