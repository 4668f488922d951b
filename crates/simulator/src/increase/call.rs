//! One API call: read, authenticated, carried out, answered.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::{Map, Value};
use subtle::ConstantTimeEq as _;

use super::error::IncreaseError;
use super::state::{Context, IncreaseState};
use crate::call_handler::{Ask, Outcome, ProviderApi, handle_call, read_body};
use crate::config::Wire;
use crate::idempotency::canonical;
use crate::simulator::Simulator;

/// How long an idempotency key may be.
const KEY_LENGTH_MAX: usize = 200;

/// A call as its endpoint sees it.
#[derive(Debug)]
pub(super) struct Call {
    /// The id in the path; empty if there is none.
    pub(super) id: String,
    pub(super) key: Option<String>,
    pub(super) body: Map<String, Value>,
    pub(super) query: Vec<(String, String)>,
    pub(super) context: Context,
}

impl Call {
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(given, value)| given == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// Whether a value is in the comma list of this name; without the list, every value is.
    pub(super) fn query_has(&self, name: &str, value: &str) -> bool {
        self.query(name).is_none_or(|list| list.split(',').any(|word| word == value))
    }

    /// Whether a value is the one asked for; where none was, every value is.
    pub(super) fn query_is(&self, name: &str, value: Option<&str>) -> bool {
        self.query(name).is_none_or(|wanted| Some(wanted) == value)
    }
}

/// What an endpoint does.
pub(super) type Perform = fn(&mut IncreaseState, &Call) -> Result<Value, IncreaseError>;

/// Reads a call, has it carried out, and answers it.
pub(super) async fn handle(
    simulator: Simulator,
    operation: &'static str,
    id: Option<String>,
    request: Request<Body>,
    perform: Perform,
) -> Response {
    let (parts, body) = request.into_parts();
    let read = match authenticate(&simulator, &parts.headers) {
        Ok(()) => read_json(&parts.method, body).await,
        Err(error) => Err(error),
    };
    let read = read.and_then(|body| Ok((body, key(&parts.method, &parts.headers)?)));
    let (body, key) = match read {
        Ok(read) => read,
        Err(error) => return refuse(&error),
    };
    let id = id.unwrap_or_default();
    // One key serves one call on the whole wire, so what was called is part of what the key stands for.
    let fingerprint = format!("{operation} {id} {}", canonical(&Value::Object(body.clone())));
    let ask = Ask { operation, key: key.clone(), fingerprint, request_id: simulator.ids().uuid() };
    let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
    let query = query.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let call = Call { id, key, body, query, context: Context::new(&simulator) };
    let answer =
        handle_call::<Increase, _>(simulator, ask, move |simulator| carry_out(simulator, &call, perform))
            .await;
    let is_replayed = answer.replay_of.is_some();
    let mut response = answer.into_response();
    if is_replayed {
        response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

fn carry_out(simulator: &Simulator, call: &Call, perform: Perform) -> Outcome {
    let mut state = simulator.increase();
    // A key belongs to the object it made, so a refusal leaves it free.
    let (status, body, keep) = match perform(&mut state, call) {
        Ok(value) => (StatusCode::OK, value, true),
        Err(error) => (error.status(), error.json(), false),
    };
    Outcome { status, body, keep, webhook_events: state.take_webhook_events() }
}

fn authenticate(simulator: &Simulator, headers: &HeaderMap) -> Result<(), IncreaseError> {
    let Some(given) = headers.get(header::AUTHORIZATION) else {
        return Err(IncreaseError::no_key("no_header", "Missing Authorization header."));
    };
    let given = given.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
    let wanted = simulator.config().increase.api_key.as_bytes();
    if given.is_some_and(|given| bool::from(given.as_bytes().ct_eq(wanted))) {
        return Ok(());
    }
    Err(IncreaseError::no_key("no_credential", "Invalid API key."))
}

fn key(method: &Method, headers: &HeaderMap) -> Result<Option<String>, IncreaseError> {
    let Some(value) = headers.get("idempotency-key").filter(|_| method == Method::POST) else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    if key.is_empty() || key.len() > KEY_LENGTH_MAX {
        let message = format!("must have 1 to {KEY_LENGTH_MAX} characters");
        return Err(IncreaseError::invalid("Idempotency-Key", message));
    }
    Ok(Some(key.to_owned()))
}

async fn read_json(method: &Method, body: Body) -> Result<Map<String, Value>, IncreaseError> {
    let bytes = read_body(body).await;
    if bytes.is_empty() || method == Method::GET {
        return Ok(Map::new());
    }
    if let Ok(Value::Object(fields)) = serde_json::from_slice(&bytes) {
        return Ok(fields);
    }
    Err(IncreaseError::new("malformed_request_error", "The body is not a JSON object."))
}

pub(super) fn refuse(error: &IncreaseError) -> Response {
    let mut response = Response::new(Body::from(error.json().to_string()));
    *response.status_mut() = error.status();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// How this provider words what all can say.
#[derive(Debug)]
struct Increase;

impl ProviderApi for Increase {
    const WIRE: Wire = Wire::Increase;

    fn server_error(status: StatusCode) -> Value {
        IncreaseError::server(status).json()
    }

    fn refusal(_: &str, code: Option<&str>) -> (StatusCode, Value) {
        let error = match code {
            None | Some("invalid_parameters_error") => {
                IncreaseError::invalid("base", "Rejected (simulated).")
            }
            Some(code) => IncreaseError::new(code, "Rejected (simulated)."),
        };
        (error.status(), error.json())
    }

    fn rate_limited() -> Value {
        IncreaseError::new("rate_limited_error", "Too many requests (simulated).")
            .with("retry_after", 1)
            .json()
    }

    fn key_reused(_: &str, first: Option<&str>) -> (StatusCode, Value) {
        let first: Value = first.and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
        let Some(id) = first.get("id").and_then(Value::as_str) else {
            // Without an object there is nothing to name yet.
            return Self::key_in_use("");
        };
        let detail = "The idempotency key was used with other parameters.";
        let error = IncreaseError::new("idempotency_key_already_used_error", detail).with("resource_id", id);
        (error.status(), error.json())
    }

    fn key_in_use(_: &str) -> (StatusCode, Value) {
        let error = IncreaseError::conflict("A request with the same idempotency key is in progress.");
        (error.status(), error.json())
    }
}
