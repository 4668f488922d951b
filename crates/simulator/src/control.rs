//! The control interface: faults, webhook targets, what was accepted, and what no API call can cause.

mod state;

use crate::api::{Api, Provider};
use crate::call_handler::{json_response, read_body, refuse};
use crate::config::{WebhookTarget, Wire};
use crate::faults::Fault;
use crate::providers::Providers;
use crate::services::Services;
use crate::{increase, modern_treasury, square, stripe};
use axum::extract::{Path, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, middleware};
use http::{StatusCode, header};
use serde_json::{Value, json};
use std::sync::Arc;

/// Every route, relative to `/control`.
pub(crate) fn router(providers: Providers) -> Router {
    Router::new()
        .route("/faults", get(list_faults).post(add_fault).delete(clear_faults))
        .route("/webhooks", get(list_webhooks).post(add_target).delete(remove_targets))
        .route("/webhooks/again", post(send_again))
        .route("/clock", post(set_clock))
        .route("/state", get(state::show))
        .route("/reset", post(reset))
        .route("/{wire}/{kind}/{id}/{action}", post(drive))
        .layer(middleware::from_fn_with_state(providers.clone(), authenticate))
        .with_state(providers)
}

async fn authenticate(State(providers): State<Providers>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match &providers.services.config.control_token {
        Some(token) if given != Some(format!("Bearer {token}").as_str()) => {
            problem(StatusCode::UNAUTHORIZED, "missing or invalid control token")
        }
        _ => next.run(request).await,
    }
}

async fn list_faults(State(providers): State<Providers>) -> Response {
    json_response(StatusCode::OK, &json!({ "faults": providers.services.faults.waiting() }))
}

async fn add_fault(State(providers): State<Providers>, request: Request) -> Response {
    let body = read_body(request.into_body()).await;
    match serde_json::from_slice::<Fault>(&body) {
        Ok(fault) if providers.services.faults.add(fault.clone()) => {
            json_response(StatusCode::CREATED, &json!(fault))
        }
        Ok(_) => problem(StatusCode::CONFLICT, "too many faults queued"),
        Err(error) => problem(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

async fn clear_faults(State(providers): State<Providers>) -> Response {
    providers.services.faults.clear();
    json_response(StatusCode::OK, &json!({}))
}

async fn list_webhooks(State(providers): State<Providers>) -> Response {
    let targets = Wire::ALL.map(|wire| providers.services.targets(wire)).concat();
    let queue = &providers.services.queue;
    json_response(
        StatusCode::OK,
        &json!({ "targets": targets, "tally": queue.tally(), "attempts": queue.attempts() }),
    )
}

async fn add_target(State(providers): State<Providers>, request: Request) -> Response {
    let body = read_body(request.into_body()).await;
    match serde_json::from_slice::<WebhookTarget>(&body) {
        Ok(target) if providers.services.add_webhook_target(target.clone()) => {
            json_response(StatusCode::CREATED, &json!(target))
        }
        Ok(_) => problem(StatusCode::CONFLICT, "too many targets"),
        Err(error) => problem(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

async fn send_again(State(providers): State<Providers>, request: Request) -> Response {
    let body = read_body(request.into_body()).await;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let event_id = body.get("event_id").and_then(Value::as_str).unwrap_or_default();
    match providers.services.queue.again(event_id) {
        0 => problem(StatusCode::NOT_FOUND, "no such event was delivered"),
        deliveries => {
            json_response(StatusCode::OK, &json!({ "event_id": event_id, "deliveries": deliveries }))
        }
    }
}

async fn remove_targets(State(providers): State<Providers>) -> Response {
    providers.services.remove_webhook_targets();
    json_response(StatusCode::OK, &json!({}))
}

/// Has every provider's clock run ahead, or behind where the number is negative.
async fn set_clock(State(providers): State<Providers>, request: Request) -> Response {
    let body = read_body(request.into_body()).await;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let Some(seconds) = body.get("skew_seconds").and_then(Value::as_i64) else {
        return problem(StatusCode::BAD_REQUEST, "skew_seconds must be a whole number");
    };
    providers.services.set_skew(seconds);
    json_response(StatusCode::OK, &json!({ "skew_seconds": seconds }))
}

async fn reset(State(providers): State<Providers>) -> Response {
    providers.reset();
    json_response(StatusCode::OK, &json!({}))
}

async fn drive(
    State(providers): State<Providers>,
    Path((wire, kind, id, action)): Path<(String, String, String, String)>,
    request: Request,
) -> Response {
    let body = read_body(request.into_body()).await;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let what = (kind.as_str(), id.as_str(), action.as_str());
    match wire.as_str() {
        "stripe" => {
            respond(&providers.stripe, |state, services| stripe::drive(state, services, what, &body)).await
        }
        "square" => {
            respond(&providers.square, |state, services| square::drive(state, services, what, &body)).await
        }
        "increase" => {
            respond(&providers.increase, |state, services| increase::drive(state, services, what, &body))
                .await
        }
        "modern_treasury" => {
            let act = |state: &mut _, services: &_| modern_treasury::drive(state, services, what, &body);
            respond(&providers.modern_treasury, act).await
        }
        _ => problem(StatusCode::NOT_FOUND, "unknown provider"),
    }
}

async fn respond<P: Provider>(
    api: &Api<P>,
    drive: impl FnOnce(&mut P::State, &Arc<Services>) -> Result<Value, P::Error>,
) -> Response {
    match api.change_and_announce(|state| drive(state, api.services())).await {
        Ok(object) => json_response(StatusCode::OK, &object),
        Err(error) => refuse(&error),
    }
}

fn problem(status: StatusCode, text: &str) -> Response {
    json_response(status, &json!({ "error": text }))
}
