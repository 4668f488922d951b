//! One API call: read, authenticated, carried out, answered.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::{Map, Value};
use subtle::ConstantTimeEq as _;

use super::error::SquareError;
use super::state::{Context, SquareState};
use crate::call_handler::{Ask, Outcome, ProviderApi, handle_call, read_body};
use crate::config::Wire;
use crate::idempotency::canonical;
use crate::simulator::Simulator;

const DEFAULT_VERSION: &str = "2025-08-20";

/// A call as its endpoint sees it.
#[derive(Debug)]
pub(super) struct Call {
    /// The id in the path; empty if there is none.
    pub(super) id: String,
    pub(super) body: Map<String, Value>,
    pub(super) query: Vec<(String, String)>,
    pub(super) context: Context,
}

impl Call {
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(given, value)| given == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }
}

/// What an endpoint does.
pub(super) type Perform = fn(&mut SquareState, &Call) -> Result<Value, SquareError>;

/// Under this name the keys of an operation are kept: one key may serve a payment and its refund.
pub(super) fn key_name(operation: &str, key: &str) -> String {
    format!("{operation} {key}")
}

/// Reads a call, has it carried out, and answers it.
pub(super) async fn handle(
    simulator: Simulator,
    operation: &'static str,
    id: Option<String>,
    request: Request<Body>,
    perform: Perform,
) -> Response {
    let (parts, body) = request.into_parts();
    let version = parts.headers.get("square-version").cloned();
    let read = match authenticate(&simulator, &parts.headers) {
        Ok(()) => read_json(&parts.method, body).await,
        Err(error) => Err(error),
    };
    let mut response = match read {
        Ok(body) => {
            let key = body.get("idempotency_key").and_then(Value::as_str).filter(|key| !key.is_empty());
            // Where the key names another call, it is not this call's own.
            let key =
                key.filter(|_| operation != "payments.cancel_by_key").map(|key| key_name(operation, key));
            let fingerprint = canonical(&Value::Object(body.clone()));
            let ask = Ask { operation, key, fingerprint, request_id: simulator.ids().uuid() };
            let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
            let query = query.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
            let context = Context::new(&simulator);
            let call = Call { id: id.unwrap_or_default(), body, query, context };
            let answer = handle_call::<Square, _>(simulator, ask, move |simulator| {
                carry_out(simulator, &call, perform)
            });
            answer.await.into_response()
        }
        Err(error) => refuse(&error),
    };
    let version = version.unwrap_or(HeaderValue::from_static(DEFAULT_VERSION));
    response.headers_mut().insert("square-version", version);
    response
}

fn carry_out(simulator: &Simulator, call: &Call, perform: Perform) -> Outcome {
    let mut state = simulator.square();
    let (status, body, keep) = match perform(&mut state, call) {
        Ok(value) => (StatusCode::OK, value, true),
        Err(error) => (error.status, error.json(), error.begun),
    };
    Outcome { status, body, keep, webhook_events: state.take_webhook_events() }
}

fn authenticate(simulator: &Simulator, headers: &HeaderMap) -> Result<(), SquareError> {
    let given =
        headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let wanted = simulator.config().square.access_token.as_bytes();
    if given.is_some_and(|given| bool::from(given.as_bytes().ct_eq(wanted))) {
        return Ok(());
    }
    let detail = "This request could not be authorized.";
    Err(SquareError::new(StatusCode::UNAUTHORIZED, "AUTHENTICATION_ERROR", "UNAUTHORIZED", detail))
}

async fn read_json(method: &Method, body: Body) -> Result<Map<String, Value>, SquareError> {
    let bytes = read_body(body).await;
    if bytes.is_empty() || method == Method::GET || method == Method::DELETE {
        return Ok(Map::new());
    }
    if let Ok(Value::Object(fields)) = serde_json::from_slice(&bytes) {
        return Ok(fields);
    }
    let detail = "Request body was not a valid JSON object";
    Err(SquareError::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST_ERROR", "EXPECTED_JSON_BODY", detail))
}

pub(super) fn refuse(error: &SquareError) -> Response {
    let mut response = Response::new(Body::from(error.json().to_string()));
    *response.status_mut() = error.status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// How this provider words what all can say.
#[derive(Debug)]
struct Square;

impl ProviderApi for Square {
    const WIRE: Wire = Wire::Square;

    fn server_error(status: StatusCode) -> Value {
        let code = match status.as_u16() {
            502 => "BAD_GATEWAY",
            503 => "SERVICE_UNAVAILABLE",
            504 => "GATEWAY_TIMEOUT",
            _ => "INTERNAL_SERVER_ERROR",
        };
        SquareError::new(status, "API_ERROR", code, "An internal error has occurred (simulated).").json()
    }

    fn refusal(operation: &str, code: Option<&str>) -> (StatusCode, Value) {
        let error = match operation {
            "payments.create" => SquareError::declined(code.unwrap_or("GENERIC_DECLINE")),
            "refunds.create" => {
                SquareError::refund(code.unwrap_or("REFUND_DECLINED"), "Rejected (simulated).")
            }
            _ => SquareError::new(
                StatusCode::BAD_REQUEST,
                "INVALID_REQUEST_ERROR",
                code.unwrap_or("BAD_REQUEST"),
                "Rejected (simulated).",
            ),
        };
        (error.status, error.json())
    }

    fn rate_limited() -> Value {
        let status = StatusCode::TOO_MANY_REQUESTS;
        SquareError::new(status, "RATE_LIMIT_ERROR", "RATE_LIMITED", "Too many requests (simulated).").json()
    }

    fn key_reused(_: &str, _: Option<&str>) -> (StatusCode, Value) {
        let detail = "Different request parameters used for the same idempotency_key.";
        let error = SquareError::invalid("IDEMPOTENCY_KEY_REUSED", "idempotency_key", detail);
        (error.status, error.json())
    }

    fn key_in_use(_: &str) -> (StatusCode, Value) {
        let detail = "A request with the same idempotency_key is in progress.";
        let error = SquareError::new(StatusCode::CONFLICT, "INVALID_REQUEST_ERROR", "CONFLICT", detail);
        (error.status, error.json())
    }
}
