//! One API call: how it is read and authenticated, and how this provider words what all can say.

use super::prelude::*;
use crate::api::{ApiRequest, ReadCall};
use crate::idempotency::{Keys, canonical};
use crate::query::Query;
use http::{HeaderMap, HeaderValue};

const DEFAULT_VERSION: &str = "2025-08-20";

#[derive(Debug)]
pub(crate) struct Call {
    pub(super) id: String,
    pub(super) body: Map<String, Value>,
    pub(super) query: Query,
    pub(super) keys: Arc<Keys>,
    pub(super) context: Context,
}

/// Under this name the keys of an operation are kept: one key may serve a payment and its refund.
pub(super) fn key_name(operation: &str, key: &str) -> String {
    format!("{operation} {key}")
}

#[derive(Debug)]
pub(crate) struct Square;

impl Provider for Square {
    const WIRE: Wire = Wire::Square;
    type State = State;
    type Call = Call;
    type Error = Error;

    fn read(api: &Api<Self>, request: &ApiRequest) -> Answer<ReadCall<Call>> {
        if !request.has_bearer_token(&api.services().config.square.access_token) {
            let (status, detail) = (StatusCode::UNAUTHORIZED, "This request could not be authorized.");
            return Err(Error::new(status, "AUTHENTICATION_ERROR", "UNAUTHORIZED", detail));
        }
        let body = request.json_fields().ok_or_else(|| {
            let (status, detail) = (StatusCode::BAD_REQUEST, "Request body was not a valid JSON object");
            Error::new(status, "INVALID_REQUEST_ERROR", "EXPECTED_JSON_BODY", detail)
        })?;
        let key = body.get("idempotency_key").and_then(Value::as_str).filter(|key| !key.is_empty());
        // Where the key names another call, it is not this call's own.
        let key = key.filter(|_| request.operation != "payments.cancel_by_key");
        let key = key.map(|key| key_name(request.operation, key));
        let fingerprint = canonical(&Value::Object(body.clone()));
        let call = Call {
            id: request.id.clone(),
            body,
            query: request.query(),
            keys: Arc::clone(api.keys()),
            context: Context::new(api.services()),
        };
        Ok(ReadCall { call, key, fingerprint })
    }

    /// The key of a payment that failed is used up, and its answer is not repeated.
    fn replays(operation: &str, status: StatusCode) -> bool {
        operation != "payments.create" || status.is_success()
    }

    fn add_headers(request: &ApiRequest, _: Option<&str>, headers: &mut HeaderMap) {
        let version = request.parts.headers.get("square-version").cloned();
        headers.insert("square-version", version.unwrap_or(HeaderValue::from_static(DEFAULT_VERSION)));
    }

    fn server_error(status: StatusCode) -> Error {
        let code = match status.as_u16() {
            502 => "BAD_GATEWAY",
            503 => "SERVICE_UNAVAILABLE",
            504 => "GATEWAY_TIMEOUT",
            _ => "INTERNAL_SERVER_ERROR",
        };
        Error::new(status, "API_ERROR", code, "An internal error has occurred (simulated).")
    }

    fn simulated_refusal(operation: &str, code: Option<&str>) -> Error {
        match operation {
            "payments.create" => Error::declined(code.unwrap_or("GENERIC_DECLINE")),
            "refunds.create" => Error::refund(code.unwrap_or("REFUND_DECLINED"), "Rejected (simulated)."),
            _ => Error::new(
                StatusCode::BAD_REQUEST,
                "INVALID_REQUEST_ERROR",
                code.unwrap_or("BAD_REQUEST"),
                "Rejected (simulated).",
            ),
        }
    }

    fn rate_limited() -> Error {
        let status = StatusCode::TOO_MANY_REQUESTS;
        Error::new(status, "RATE_LIMIT_ERROR", "RATE_LIMITED", "Too many requests (simulated).")
    }

    fn key_reused(_: &str, _: Option<&str>) -> Error {
        let detail = "The idempotency key has already been used.";
        Error::invalid("IDEMPOTENCY_KEY_REUSED", "idempotency_key", detail)
    }

    fn key_in_use(_: &str) -> Error {
        let detail = "A request with the same idempotency_key is in progress.";
        Error::new(StatusCode::CONFLICT, "INVALID_REQUEST_ERROR", "CONFLICT", detail)
    }
}
