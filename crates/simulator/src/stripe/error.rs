//! Errors as the Stripe API writes them.

use super::prelude::*;
use crate::api::{ApiError, Refusal};
use crate::card::Mistake;

/// A refusal: its status and the fields of its `error` object.
#[derive(Debug, Clone)]
pub(crate) struct Error {
    pub(crate) status: StatusCode,
    pub(crate) fields: Map<String, Value>,
    pub(super) begun: bool,
}

pub(super) type Answer<T = Value> = Result<T, Error>;

impl Error {
    pub(super) fn new(status: StatusCode, kind: &str, message: impl Into<String>) -> Self {
        let mut fields = Map::new();
        fields.insert("type".to_owned(), kind.into());
        fields.insert("message".to_owned(), message.into().into());
        Self { status, fields, begun: false }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    pub(super) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    pub(super) fn code(self, code: &str) -> Self {
        let page = format!("https://stripe.com/docs/error-codes/{}", code.replace('_', "-"));
        self.with("code", code).with("doc_url", page)
    }

    pub(super) fn param(self, param: &str) -> Self {
        self.with("param", param)
    }

    pub(super) fn begun(mut self) -> Self {
        self.begun = true;
        self
    }

    pub(super) fn missing(param: &str) -> Self {
        Self::invalid(format!("Missing required param: {param}.")).code("parameter_missing").param(param)
    }

    pub(super) fn unknown(param: &str) -> Self {
        Self::invalid(format!("Received unknown parameter: {param}")).code("parameter_unknown").param(param)
    }

    pub(super) fn not_found(kind: &str, id: &str, param: &str) -> Self {
        Self { status: StatusCode::NOT_FOUND, ..Self::invalid(format!("No such {kind}: '{id}'")) }
            .code("resource_missing")
            .param(param)
    }

    pub(super) fn unexpected_state(message: impl Into<String>) -> Self {
        Self::invalid(message).code("payment_intent_unexpected_state").begun()
    }

    pub(super) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "invalid_request_error", message)
    }

    /// A card the form itself refuses.
    pub(super) fn mistake(mistake: Mistake) -> Self {
        let (code, param, message) = match mistake {
            Mistake::Number => ("incorrect_number", "number", "Your card number is incorrect."),
            Mistake::Month => {
                ("invalid_expiry_month", "exp_month", "Your card's expiration month is invalid.")
            }
            Mistake::Year => ("invalid_expiry_year", "exp_year", "Your card's expiration year is invalid."),
            Mistake::Cvc => ("invalid_cvc", "cvc", "Your card's security code is invalid."),
        };
        Self::new(StatusCode::PAYMENT_REQUIRED, "card_error", message).code(code).param(param)
    }

    /// A decline by the issuer.
    pub(super) fn declined(reason: Reason) -> Self {
        let (code, decline_code, message) = decline(reason);
        let error = Self::new(StatusCode::PAYMENT_REQUIRED, "card_error", message).code(code).begun();
        error.with("decline_code", decline_code)
    }

    pub(super) fn message(&self) -> &str {
        self.fields.get("message").and_then(Value::as_str).unwrap_or_default()
    }
}

impl ApiError for Error {
    fn refusal(&self) -> Refusal {
        Refusal { status: self.status, body: json!({ "error": self.fields }), begun: self.begun }
    }
}

/// The code, the decline code and the text of each reason.
fn decline(reason: Reason) -> (&'static str, &'static str, &'static str) {
    match reason {
        Reason::Generic => ("card_declined", "generic_decline", "Your card was declined."),
        Reason::InsufficientFunds => {
            ("card_declined", "insufficient_funds", "Your card has insufficient funds.")
        }
        Reason::Expired | Reason::InvalidExpiry => ("expired_card", "expired_card", "Your card has expired."),
        Reason::WrongCvc => ("incorrect_cvc", "incorrect_cvc", "Your card's security code is incorrect."),
        Reason::Processing => (
            "processing_error",
            "processing_error",
            "An error occurred while processing your card. Try again in a little bit.",
        ),
        Reason::Lost => ("card_declined", "lost_card", "Your card was declined."),
        Reason::Stolen => ("card_declined", "stolen_card", "Your card was declined."),
        Reason::NotATestCard => (
            "card_declined",
            "testmode_decline",
            "Your card was declined. Your request was in test mode, but used a non test card.",
        ),
    }
}
