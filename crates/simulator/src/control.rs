//! The control interface: faults, webhook targets, what was accepted, and what no API call can cause.

mod state;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use crate::call_handler::read_body;
use crate::config::{WebhookTarget, Wire};
use crate::faults::Fault;
use crate::simulator::Simulator;
use crate::{increase, square, stripe};

/// Every route, relative to `/control`.
pub(crate) fn router(simulator: Simulator) -> Router {
    Router::new()
        .route("/faults", get(list_faults).post(add_fault).delete(clear_faults))
        .route("/webhooks", get(list_webhooks).post(add_target).delete(remove_targets))
        .route("/webhooks/again", post(send_again))
        .route("/state", get(state::show))
        .route("/reset", post(reset))
        .route("/{wire}/{kind}/{id}/{action}", post(drive))
        .layer(middleware::from_fn_with_state(simulator.clone(), authenticate))
        .with_state(simulator)
}

async fn authenticate(State(simulator): State<Simulator>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match &simulator.config().control_token {
        Some(token) if given != Some(format!("Bearer {token}").as_str()) => {
            problem(StatusCode::UNAUTHORIZED, "missing or invalid control token")
        }
        _ => next.run(request).await,
    }
}

async fn list_faults(State(simulator): State<Simulator>) -> Response {
    answer(StatusCode::OK, &json!({ "faults": simulator.faults().waiting() }))
}

async fn add_fault(State(simulator): State<Simulator>, request: Request) -> Response {
    let body = read_body(request.into_body()).await;
    match serde_json::from_slice::<Fault>(&body) {
        Ok(fault) if simulator.faults().add(fault.clone()) => answer(StatusCode::CREATED, &json!(fault)),
        Ok(_) => problem(StatusCode::CONFLICT, "too many faults queued"),
        Err(error) => problem(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

async fn clear_faults(State(simulator): State<Simulator>) -> Response {
    simulator.faults().clear();
    answer(StatusCode::OK, &json!({}))
}

async fn list_webhooks(State(simulator): State<Simulator>) -> Response {
    let targets = [Wire::Stripe, Wire::Square, Wire::Increase].map(|wire| simulator.targets(wire)).concat();
    let queue = simulator.queue();
    answer(
        StatusCode::OK,
        &json!({ "targets": targets, "tally": queue.tally(), "attempts": queue.attempts() }),
    )
}

async fn add_target(State(simulator): State<Simulator>, request: Request) -> Response {
    let body = read_body(request.into_body()).await;
    match serde_json::from_slice::<WebhookTarget>(&body) {
        Ok(target) if simulator.add_webhook_target(target.clone()) => {
            answer(StatusCode::CREATED, &json!(target))
        }
        Ok(_) => problem(StatusCode::CONFLICT, "too many targets"),
        Err(error) => problem(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

async fn send_again(State(simulator): State<Simulator>, request: Request) -> Response {
    let body = read_body(request.into_body()).await;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let event_id = body.get("event_id").and_then(Value::as_str).unwrap_or_default();
    match simulator.queue().again(event_id) {
        0 => problem(StatusCode::NOT_FOUND, "no such event was delivered"),
        deliveries => answer(StatusCode::OK, &json!({ "event_id": event_id, "deliveries": deliveries })),
    }
}

async fn remove_targets(State(simulator): State<Simulator>) -> Response {
    simulator.remove_webhook_targets();
    answer(StatusCode::OK, &json!({}))
}

async fn reset(State(simulator): State<Simulator>) -> Response {
    simulator.reset();
    answer(StatusCode::OK, &json!({}))
}

async fn drive(
    State(simulator): State<Simulator>,
    Path((wire, kind, id, action)): Path<(String, String, String, String)>,
    request: Request,
) -> Response {
    let body = read_body(request.into_body()).await;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    simulator.start();
    let what = (kind.as_str(), id.as_str(), action.as_str());
    let (wire, done, webhook_events) = match wire.as_str() {
        "stripe" => {
            let mut state = simulator.stripe();
            let done = stripe::drive(&simulator, &mut state, what, &body);
            (Wire::Stripe, done.map_err(|error| (error.status, error.json())), state.take_webhook_events())
        }
        "square" => {
            let mut state = simulator.square();
            let done = square::drive(&simulator, &mut state, what, &body);
            (Wire::Square, done.map_err(|error| (error.status, error.json())), state.take_webhook_events())
        }
        "increase" => {
            let mut state = simulator.increase();
            let done = increase::drive(&simulator, &mut state, what);
            (
                Wire::Increase,
                done.map_err(|error| (error.status(), error.json())),
                state.take_webhook_events(),
            )
        }
        _ => return problem(StatusCode::NOT_FOUND, "unknown provider"),
    };
    simulator.announce(wire, webhook_events, None).await;
    match done {
        Ok(object) => answer(StatusCode::OK, &object),
        Err((status, body)) => answer(status, &body),
    }
}

fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn problem(status: StatusCode, text: &str) -> Response {
    answer(status, &json!({ "error": text }))
}
