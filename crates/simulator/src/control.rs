//! The control interface: faults, webhook targets, what was accepted, and what no API call can cause.

mod state;

use crate::call_handler::{json_response, refuse};
use crate::prelude::*;
use crate::{adyen, increase, modern_treasury, square, stripe};
use axum::extract::{Path, State};
use axum::middleware;
use axum::routing::{get, post};
use serde::de::DeserializeOwned;

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

async fn list_faults(State(all): State<Providers>) -> Response {
    ok(&json!({ "faults": all.services.faults.waiting() }))
}

async fn add_fault(State(all): State<Providers>, body: Bytes) -> Response {
    add(&body, "too many faults queued", |fault: Fault| all.services.faults.add(fault))
}

async fn clear_faults(State(all): State<Providers>) -> Response {
    all.services.faults.clear();
    ok(&json!({}))
}

async fn list_webhooks(State(all): State<Providers>) -> Response {
    let targets = Wire::ALL.map(|wire| all.services.targets(wire)).concat();
    let queue = &all.services.queue;
    ok(&json!({ "targets": targets, "tally": queue.tally(), "attempts": queue.attempts() }))
}

async fn add_target(State(all): State<Providers>, body: Bytes) -> Response {
    add(&body, "too many targets", |target: WebhookTarget| all.services.add_webhook_target(target))
}

/// Reads what is to be added and adds it; `full` is why it could not be.
fn add<T: DeserializeOwned + Serialize + Clone>(
    body: &[u8],
    full: &str,
    add: impl FnOnce(T) -> bool,
) -> Response {
    match serde_json::from_slice::<T>(body) {
        Ok(new) if add(new.clone()) => json_response(StatusCode::CREATED, &json!(new)),
        Ok(_) => problem(StatusCode::CONFLICT, full),
        Err(error) => problem(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

async fn send_again(State(all): State<Providers>, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let event_id = body.get("event_id").and_then(Value::as_str).unwrap_or_default();
    match all.services.queue.again(event_id) {
        0 => problem(StatusCode::NOT_FOUND, "no such event was delivered"),
        deliveries => ok(&json!({ "event_id": event_id, "deliveries": deliveries })),
    }
}

async fn remove_targets(State(all): State<Providers>) -> Response {
    all.services.remove_webhook_targets();
    ok(&json!({}))
}

/// Has every provider's clock run ahead, or behind where the number is negative.
async fn set_clock(State(all): State<Providers>, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let Some(seconds) = body.get("skew_seconds").and_then(Value::as_i64) else {
        return problem(StatusCode::BAD_REQUEST, "skew_seconds must be a whole number");
    };
    all.services.set_skew(seconds);
    ok(&json!({ "skew_seconds": seconds }))
}

async fn reset(State(all): State<Providers>) -> Response {
    all.reset();
    ok(&json!({}))
}

async fn drive(
    State(all): State<Providers>,
    Path((wire, kind, id, action)): Path<(String, String, String, String)>,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let what = Driven { kind: &kind, id: &id, action: &action };
    match wire.as_str() {
        "stripe" => respond(&all.stripe, stripe::drive, what, &body).await,
        "square" => respond(&all.square, square::drive, what, &body).await,
        "increase" => respond(&all.increase, increase::drive, what, &body).await,
        "modern_treasury" => respond(&all.modern_treasury, modern_treasury::drive, what, &body).await,
        "adyen" => respond(&all.adyen, adyen::drive, what, &body).await,
        _ => problem(StatusCode::NOT_FOUND, "unknown provider"),
    }
}

type Drive<P> = fn(
    &mut <P as Provider>::State,
    &Arc<Services>,
    Driven<'_>,
    &Value,
) -> Result<Value, <P as Provider>::Error>;

async fn respond<P: Provider>(api: &Api<P>, drive: Drive<P>, what: Driven<'_>, body: &Value) -> Response {
    match api.change_and_announce(|state| drive(state, api.services(), what, body)).await {
        Ok(object) => ok(&object),
        Err(error) => refuse(&error),
    }
}

fn ok(body: &Value) -> Response {
    json_response(StatusCode::OK, body)
}

fn problem(status: StatusCode, text: &str) -> Response {
    json_response(status, &json!({ "error": text }))
}
