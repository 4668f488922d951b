//! Errors as the Modern Treasury API writes them.

use super::prelude::*;
use crate::api::{ApiError, Refusal};

/// A refusal: a code, a sentence, and the parameter it is about.
#[derive(Debug, Clone)]
pub(crate) struct Error {
    status: StatusCode,
    code: String,
    message: String,
    parameter: Option<String>,
}

pub(super) type Answer<T = Value> = Result<T, Error>;

impl Error {
    pub(super) fn new(code: &str, message: impl Into<String>) -> Self {
        let (status, code) = (status_of(code), code.to_owned());
        Self { status, code, message: message.into(), parameter: None }
    }

    /// What stands in front of the provider can answer with any server error.
    pub(super) fn server(status: StatusCode) -> Self {
        Self { status, ..Self::new("internal_error", "Something went wrong (simulated).") }
    }

    pub(super) fn invalid(parameter: &str, message: impl Into<String>) -> Self {
        Self::about(parameter, "parameter_invalid", &message.into())
    }

    pub(super) fn about(parameter: &str, code: &str, message: &str) -> Self {
        Self { parameter: Some(parameter.to_owned()), ..Self::new(code, format!("{parameter} {message}")) }
    }

    pub(super) fn not_found(what: &str) -> Self {
        Self::new("resource_not_found", format!("{what} could not be found"))
    }
}

impl ApiError for Error {
    fn refusal(&self) -> Refusal {
        let errors = object!(self: code message;);
        let errors = with_given(errors, [("parameter", json!(self.parameter))]);
        // Keys are kept for successes only.
        Refusal { status: self.status, body: json!({ "errors": errors }), begun: false }
    }
}

fn status_of(code: &str) -> StatusCode {
    match code {
        "invalid_key" | "expired_key" => StatusCode::UNAUTHORIZED,
        "forbidden" | "invalid_ip" => StatusCode::FORBIDDEN,
        "resource_not_found" | "not_found" => StatusCode::NOT_FOUND,
        "conflict" => StatusCode::CONFLICT,
        "too_many_requests" => StatusCode::TOO_MANY_REQUESTS,
        "header_invalid" => StatusCode::BAD_REQUEST,
        "internal_error" => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}
