//! One API call: how it is read and authenticated, and how this provider words what all can say.

use super::prelude::*;
use crate::api::{ApiRequest, ReadCall};
use crate::idempotency::canonical;
use crate::query::Query;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

const KEY_LENGTH_MAX: usize = 200;

#[derive(Debug)]
pub(crate) struct Call {
    pub(super) id: String,
    pub(super) rail: &'static Rail,
    pub(super) key: Option<String>,
    pub(super) body: Map<String, Value>,
    pub(super) query: Query,
    pub(super) context: Context,
}

fn idempotency_key(request: &ApiRequest) -> Answer<Option<String>> {
    let Parts { method, headers, .. } = &request.parts;
    let Some(value) = headers.get("idempotency-key").filter(|_| method == Method::POST) else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    if key.is_empty() || key.len() > KEY_LENGTH_MAX {
        let message = format!("must have 1 to {KEY_LENGTH_MAX} characters");
        return Err(Error::invalid("Idempotency-Key", message));
    }
    Ok(Some(key.to_owned()))
}

#[derive(Debug)]
pub(crate) struct Increase;

impl Provider for Increase {
    const WIRE: Wire = Wire::Increase;
    type State = State;
    type Call = Call;
    type Error = Error;

    fn read(api: &Api<Self>, request: &ApiRequest) -> Answer<ReadCall<Call>> {
        if !request.parts.headers.contains_key(header::AUTHORIZATION) {
            return Err(Error::no_key("no_header", "Missing Authorization header."));
        }
        if !request.has_bearer_token(&api.services().config.increase.api_key) {
            // The other environment's key is known, and told from one that nobody has.
            let other = format!("{}_production", api.services().config.increase.api_key);
            return Err(if request.has_bearer_token(&other) {
                Error::no_key("wrong_environment", "This API key is for another environment.")
            } else {
                Error::no_key("no_credential", "Invalid API key.")
            });
        }
        let malformed = || Error::new("malformed_request_error", "The body is not a JSON object.");
        let body = request.json_fields().ok_or_else(malformed)?;
        let key = idempotency_key(request)?;
        let ApiRequest { operation, id, .. } = request;
        // One key serves one call across the whole API, so what was called is part of what the key stands for.
        let fingerprint = format!("{operation} {id} {}", canonical(&Value::Object(body.clone())));
        let (query, context) = (request.query(), Context::new(api.services()));
        let rail = operation.split('.').find_map(rail_of).unwrap_or(&ACH);
        Ok(ReadCall {
            call: Call { id: id.clone(), rail, key: key.clone(), body, query, context },
            key,
            fingerprint,
        })
    }

    fn add_headers(_: &ApiRequest, replay_of: Option<&str>, headers: &mut HeaderMap) {
        if replay_of.is_some() {
            headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
        }
    }

    fn server_error(status: StatusCode) -> Error {
        Error::server(status)
    }

    fn simulated_refusal(_: &str, code: Option<&str>) -> Error {
        match code {
            None | Some("invalid_parameters_error") => Error::invalid("base", "Rejected (simulated)."),
            Some(code) => Error::new(code, "Rejected (simulated)."),
        }
    }

    fn rate_limited() -> Error {
        Error::new("rate_limited_error", "Too many requests (simulated).").with("retry_after", 1)
    }

    fn key_reused(_: &str, first: Option<&str>) -> Error {
        let first: Value = first.and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
        let Some(id) = first.get("id").and_then(Value::as_str) else {
            // Without an object there is nothing to name yet.
            return Self::key_in_use("");
        };
        let detail = "The idempotency key was used with other parameters.";
        Error::new("idempotency_key_already_used_error", detail).with("resource_id", id)
    }

    fn key_in_use(_: &str) -> Error {
        Error::conflict("A request with the same idempotency key is in progress.")
    }
}
