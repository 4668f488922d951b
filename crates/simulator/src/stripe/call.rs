//! One API call: read, authenticated, carried out, answered.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use data_encoding::BASE64;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;

use super::error::StripeError;
use super::form::Params;
use super::list;
use super::state::{Context, DEFAULT_VERSION, StripeState};
use crate::calendar;
use crate::call_handler::{Answer, Ask, Outcome, ProviderApi, handle_call, read_body};
use crate::config::{StripeKeys, Wire};
use crate::simulator::Simulator;

/// What the browser's key may do.
const BROWSER_OPERATIONS: [&str; 3] =
    ["payment_intents.retrieve", "payment_intents.confirm", "payment_methods.create"];

/// A call as its endpoint sees it.
#[derive(Debug)]
pub(super) struct Call {
    /// The id in the path; empty if there is none.
    pub(super) id: String,
    pub(super) params: Params,
    /// Whether it came with the browser's key.
    pub(super) from_browser: bool,
    pub(super) context: Context,
}

/// What an endpoint does.
pub(super) type Perform = fn(&mut StripeState, &Call) -> Result<Value, StripeError>;

/// Reads a call, has it carried out, and answers it.
pub(super) async fn handle(
    simulator: Simulator,
    operation: &'static str,
    id: Option<String>,
    request: Request<Body>,
    perform: Perform,
) -> Response {
    let (parts, body) = request.into_parts();
    let request_id = simulator.ids().with_prefix("req_");
    let key = text(&parts.headers, "idempotency-key").filter(|_| parts.method == Method::POST);
    let version = text(&parts.headers, "stripe-version").unwrap_or_else(|| DEFAULT_VERSION.to_owned());
    let context = Context {
        simulator: simulator.clone(),
        now: calendar::unix_seconds(),
        request_id: Some(request_id.clone()),
        idempotency_key: key.clone(),
        version: version.clone(),
    };
    let read = read_call(&simulator, operation, id, &parts, body, context).await;
    let mut response = match read {
        Ok(call) => {
            let fingerprint = format!("{} {} {}", parts.method, parts.uri.path(), call.params.fingerprint());
            let ask = Ask { operation, key: key.clone(), fingerprint, request_id: request_id.clone() };
            let answer = handle_call::<Stripe, _>(simulator, ask, move |simulator| {
                carry_out(simulator, &call, perform)
            });
            with_replay_headers(answer.await)
        }
        Err(error) => refuse(&error),
    };
    let headers = response.headers_mut();
    for (name, value) in
        [("request-id", Some(request_id)), ("stripe-version", Some(version)), ("idempotency-key", key)]
    {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            headers.insert(name, value);
        }
    }
    response
}

fn carry_out(simulator: &Simulator, call: &Call, perform: Perform) -> Outcome {
    let mut state = simulator.stripe();
    let (status, body, keep) = match perform(&mut state, call) {
        Ok(mut value) => {
            list::expand(&state, &call.params, &mut value);
            (StatusCode::OK, value, true)
        }
        Err(error) => (error.status, error.json(), error.begun),
    };
    Outcome { status, body, keep, webhook_events: state.take_webhook_events() }
}

async fn read_call(
    simulator: &Simulator,
    operation: &str,
    id: Option<String>,
    parts: &Parts,
    body: Body,
    context: Context,
) -> Result<Call, StripeError> {
    let from_browser = authenticate(&simulator.config().stripe, &parts.headers)?;
    if from_browser && !BROWSER_OPERATIONS.contains(&operation) {
        let message = "This API call cannot be made with a publishable API key. Please use a secret API key.";
        return Err(StripeError { status: StatusCode::FORBIDDEN, ..StripeError::invalid(message) }
            .code("secret_key_required"));
    }
    if context.idempotency_key.as_ref().is_some_and(|key| key.len() > 255) {
        return Err(StripeError::invalid("Idempotency keys can have up to 255 characters."));
    }
    let params = if parts.method == Method::GET {
        Params::parse(parts.uri.query().unwrap_or_default().as_bytes())
    } else {
        let body = read_body(body).await;
        let kind = text(&parts.headers, "content-type").unwrap_or_default();
        if !body.is_empty() && !kind.starts_with("application/x-www-form-urlencoded") {
            let message =
                "Invalid request (check that your POST content type is application/x-www-form-urlencoded).";
            return Err(StripeError::invalid(message));
        }
        Params::parse(&body)
    };
    list::check_expand(&params)?;
    Ok(Call { id: id.unwrap_or_default(), params, from_browser, context })
}

/// Whether it is the browser's key; any other but the secret key is refused.
fn authenticate(keys: &StripeKeys, headers: &HeaderMap) -> Result<bool, StripeError> {
    let given = text(headers, header::AUTHORIZATION.as_str()).and_then(|value| {
        let (scheme, rest) = value.split_once(' ')?;
        match scheme.to_ascii_lowercase().as_str() {
            "bearer" => Some(rest.trim().to_owned()),
            "basic" => {
                let pair = String::from_utf8(BASE64.decode(rest.trim().as_bytes()).ok()?).ok()?;
                pair.split(':').next().map(str::to_owned)
            }
            _ => None,
        }
    });
    let Some(given) = given else {
        return Err(StripeError::unauthorized(
            "You did not provide an API key. Provide it in the Authorization header, as a Bearer token.",
        ));
    };
    let is = |key: &str| bool::from(key.as_bytes().ct_eq(given.as_bytes()));
    if is(&keys.secret_key) {
        Ok(false)
    } else if is(&keys.publishable_key) {
        Ok(true)
    } else {
        let shown: String = given.chars().take(8).collect();
        Err(StripeError::unauthorized(format!("Invalid API Key provided: {shown}****")))
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned).filter(|value| !value.is_empty())
}

fn with_replay_headers(answer: Answer) -> Response {
    let replay_of = answer.replay_of.clone();
    let mut response = answer.into_response();
    if let Some(original) = replay_of {
        response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
        if let Ok(original) = HeaderValue::from_str(&original) {
            response.headers_mut().insert("original-request", original);
        }
    }
    response
}

pub(super) fn refuse(error: &StripeError) -> Response {
    let mut response = Response::new(Body::from(error.json().to_string()));
    *response.status_mut() = error.status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// How this provider words what all can say.
#[derive(Debug)]
struct Stripe;

impl ProviderApi for Stripe {
    const WIRE: Wire = Wire::Stripe;

    fn server_error(_: StatusCode) -> Value {
        json!({ "error": { "type": "api_error", "message": "An unknown error occurred (simulated)." } })
    }

    fn refusal(operation: &str, code: Option<&str>) -> (StatusCode, Value) {
        let message = "Rejected (simulated).";
        let error = if operation == "payment_intents.confirm" {
            let error =
                StripeError::new(StatusCode::PAYMENT_REQUIRED, "card_error", message).code("card_declined");
            error.with("decline_code", code.unwrap_or("generic_decline"))
        } else {
            StripeError::invalid(message).code(code.unwrap_or("parameter_invalid_empty"))
        };
        (error.status, error.json())
    }

    fn rate_limited() -> Value {
        StripeError::invalid("Request rate limit exceeded (simulated).").code("rate_limit").json()
    }

    fn key_reused(key: &str, _: Option<&str>) -> (StatusCode, Value) {
        let message = format!(
            "Keys for idempotent requests can only be used with the same parameters they were first used with. \
             Try using a key other than '{key}' if you meant to execute a different request."
        );
        let error = StripeError::new(StatusCode::BAD_REQUEST, "idempotency_error", message);
        (error.status, error.json())
    }

    fn key_in_use(key: &str) -> (StatusCode, Value) {
        let message =
            format!("There is currently another in-progress request using this Idempotent Key ({key}).");
        let error = StripeError::new(StatusCode::CONFLICT, "idempotency_error", message);
        (error.status, error.code("idempotency_key_in_use").json())
    }
}
