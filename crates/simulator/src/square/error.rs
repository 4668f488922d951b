//! Errors as the Square API writes them.

use super::prelude::*;
use crate::api::{ApiError, Refusal};
use crate::card::Mistake;

/// A refusal with one entry in its `errors`.
#[derive(Debug, Clone)]
pub(crate) struct Error {
    pub(crate) status: StatusCode,
    category: &'static str,
    code: String,
    detail: String,
    field: Option<String>,
    /// The failed payment, shown beside the error.
    payment: Option<Box<Value>>,
    begun: bool,
}

pub(super) type Answer<T = Value> = Result<T, Error>;

impl Error {
    pub(super) fn new(
        status: StatusCode,
        category: &'static str,
        code: &str,
        detail: impl Into<String>,
    ) -> Self {
        let (code, detail) = (code.to_owned(), detail.into());
        Self { status, category, code, detail, field: None, payment: None, begun: false }
    }

    pub(super) fn invalid(code: &str, field: &str, detail: impl Into<String>) -> Self {
        let error = Self::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST_ERROR", code, detail);
        Self { field: Some(field.to_owned()), ..error }
    }

    pub(super) fn not_found(what: &str, id: &str) -> Self {
        let detail = format!("Could not find {what} with id: {id}");
        Self::new(StatusCode::NOT_FOUND, "INVALID_REQUEST_ERROR", "NOT_FOUND", detail)
    }

    pub(super) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST_ERROR", "BAD_REQUEST", detail).begun()
    }

    pub(super) fn refund(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "REFUND_ERROR", code, detail).begun()
    }

    /// The provider answers declines with 400 and a code of its own for each reason.
    pub(super) fn declined(code: &str) -> Self {
        let detail = format!("Authorization error: '{code}'");
        let error = Self::new(StatusCode::BAD_REQUEST, "PAYMENT_METHOD_ERROR", code, detail);
        Self { begun: code != TEMPORARY, ..error }
    }

    pub(super) fn begun(self) -> Self {
        Self { begun: true, ..self }
    }

    pub(super) fn beside(self, payment: Value) -> Self {
        Self { payment: Some(Box::new(payment)), ..self }
    }

    pub(super) fn entry(&self) -> Value {
        let entry = object!(self: category code detail;);
        with_given(entry, [("field", json!(self.field))])
    }

    pub(super) fn detail(&self) -> &str {
        &self.detail
    }
}

impl ApiError for Error {
    fn refusal(&self) -> Refusal {
        let body = json!({ "errors": [self.entry()] });
        let body = with_given(body, [("payment", json!(self.payment))]);
        Refusal { status: self.status, body, begun: self.begun }
    }
}

pub(super) fn decline_code(reason: Reason) -> &'static str {
    match reason {
        Reason::Generic | Reason::Lost | Reason::Stolen => "GENERIC_DECLINE",
        Reason::InsufficientFunds => "INSUFFICIENT_FUNDS",
        Reason::Expired => "CARD_EXPIRED",
        Reason::WrongCvc => "CVV_FAILURE",
        Reason::InvalidExpiry => "INVALID_EXPIRATION",
        Reason::Processing => "TEMPORARY_ERROR",
        Reason::NotATestCard => "INVALID_CARD",
    }
}

pub(super) fn mistake_text(mistake: Mistake) -> &'static str {
    match mistake {
        Mistake::Number => "Enter a valid card number.",
        Mistake::Month | Mistake::Year => "Enter a valid expiration date.",
        Mistake::Cvc => "Enter a valid CVV.",
    }
}
