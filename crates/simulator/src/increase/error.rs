//! Errors as the Increase API writes them.

use super::prelude::*;
use crate::api::{ApiError, Refusal};

/// A refusal: a problem with a type of its own, and what some types add to it.
#[derive(Debug, Clone)]
pub(crate) struct Error {
    status: StatusCode,
    kind: String,
    detail: String,
    extra: Option<Box<(&'static str, Value)>>,
}

pub(super) type Answer<T = Value> = Result<T, Error>;

impl Error {
    pub(super) fn new(kind: &str, detail: impl Into<String>) -> Self {
        Self { status: status_of(kind), kind: kind.to_owned(), detail: detail.into(), extra: None }
    }

    pub(super) fn with(self, name: &'static str, value: impl Into<Value>) -> Self {
        Self { extra: Some(Box::new((name, value.into()))), ..self }
    }

    /// What stands in front of the provider can answer with any server error.
    pub(super) fn server(status: StatusCode) -> Self {
        Self { status, ..Self::new("internal_server_error", "Something went wrong (simulated).") }
    }

    pub(super) fn invalid(field: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::new("invalid_parameters_error", format!("{field}: {message}"))
            .with("errors", json!([{ "field": field, "message": message }]))
    }

    pub(super) fn not_found(what: &str, id: &str) -> Self {
        let detail = format!("Could not find the specified {what} ({id}).");
        Self::new("object_not_found_error", detail).with("likely_environment", Value::Null)
    }

    /// The object is not in a state that allows it.
    pub(super) fn conflict(detail: impl Into<String>) -> Self {
        Self::new("invalid_operation_error", detail)
    }

    pub(super) fn no_key(reason: &str, detail: &str) -> Self {
        Self::new("invalid_api_key_error", detail).with("reason", reason)
    }
}

impl ApiError for Error {
    fn refusal(&self) -> Refusal {
        let body = json!({
            "type": self.kind, "title": title_of(&self.kind), "detail": self.detail,
            "status": self.status.as_u16(),
        });
        let body = with(body, self.extra.as_deref().cloned());
        // A key belongs to the object it made, so a refusal leaves it free.
        Refusal { status: self.status, body, begun: false }
    }
}

fn status_of(kind: &str) -> StatusCode {
    match kind {
        "invalid_api_key_error" => StatusCode::UNAUTHORIZED,
        "insufficient_permissions_error" | "environment_mismatch_error" | "private_feature_error" => {
            StatusCode::FORBIDDEN
        }
        "object_not_found_error" | "api_method_not_found_error" => StatusCode::NOT_FOUND,
        "idempotency_key_already_used_error" | "invalid_operation_error" => StatusCode::CONFLICT,
        "rate_limited_error" => StatusCode::TOO_MANY_REQUESTS,
        "internal_server_error" => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// The type in words: `object_not_found_error` is "Object not found".
fn title_of(kind: &str) -> String {
    let words = kind.trim_end_matches("_error").replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
