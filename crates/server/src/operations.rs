//! What an operator's machinery asks: alive, ready, metrics.

use crate::response::respond::Done;
use axum::{body::Body, extract::State, response::Response};
use http::{HeaderValue, header};
use prometheus_client::encoding::text::encode_eof;

use crate::{
    app::SharedApp,
    response::{
        error::ApiError,
        respond::{self, ApiResult},
    },
    transport::state_metrics::ServiceState,
    types::responses,
};

const MAX_DETAILS: usize = 20;

responses! {
    /// How the process is.
    StatusResponse as ServiceStatus {
        status: &'static str,
        /// What keeps the node from working as configured, though it takes work; left out where nothing does.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        details: Vec<String>,
    }
}

pub(crate) async fn health() -> Done<StatusResponse> {
    respond::ok(&StatusResponse { status: "ok", details: Vec::new() })
}

/// The process would take work: its store answers and can be written to, and its clock agrees with the store's.
pub(crate) async fn ready(State(app): State<SharedApp>) -> Done<StatusResponse> {
    let clock = app.engine.clock().standing();
    if clock.is_off() {
        let direction = if clock.machine_ahead < 0 { "behind" } else { "ahead of" };
        let millis = clock.machine_ahead.unsigned_abs();
        let why = format!("this machine's clock is {millis} ms {direction} the database's");
        return Err(ApiError::store_unavailable(
            "Not ready: this server's clock and the database's are more than a minute apart. Run a time service on both.",
            why,
        ));
    }
    app.readiness.probe(&app.engine).await.map_err(|why| {
        ApiError::store_unavailable("Not ready: the database is not responding or is read-only.", why)
    })?;
    let snapshot = app.engine.directory().snapshot();
    let details = snapshot.environments().into_iter().filter_map(|view| {
        let (environment, version) = (view.environment.id, view.unusable.as_ref()?.version);
        let in_force = view.config_in_force();
        Some(format!("{environment}: this node cannot use configuration {version}; {in_force} is in force"))
    });
    respond::ok(&StatusResponse { status: "ready", details: details.take(MAX_DETAILS).collect() })
}

pub(crate) async fn metrics(State(app): State<SharedApp>) -> ApiResult {
    let directory = app.engine.directory();
    let version = i64::try_from(directory.snapshot().version().0).unwrap_or(i64::MAX);
    app.metrics.directory_version.set(version);
    app.metrics.directory_in_step.set(i64::from(directory.is_in_step()));
    app.metrics.set_dropped_requests(app.engine.dropped_requests());
    let state = ServiceState::read(&app.engine).await;
    let mut text = String::new();
    let rendered = app.metrics.render(&mut text).and_then(|()| state.render(&mut text));
    rendered.and_then(|()| encode_eof(&mut text)).map_err(|error| ApiError::internal(error.to_string()))?;
    let mut response = Response::new(Body::from(text));
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    Ok(response)
}
