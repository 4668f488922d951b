//! Errors as Checkout and the Management API write them.

use super::prelude::*;
use crate::api::{ApiError, Refusal};

#[derive(Debug, Clone)]
pub(crate) struct Error {
    pub(super) status: StatusCode,
    pub(super) code: Word,
    /// `transient` where nothing was done and the same key may be sent again; `management` has a form of its own.
    pub(super) kind: Word,
    pub(super) message: String,
}

pub(super) type Answer<T = Value> = Result<T, Error>;

impl Error {
    /// The error of a code, as it usually is.
    pub(super) fn of(code: &str) -> Self {
        let known = rows::<4>(include_str!("errors.txt")).find(|[known, ..]| *known == code);
        let [code, status, kind, message] = known.unwrap_or(["702", "422", "validation", "Rejected."]);
        let status = status.parse().unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
        Self { status, code, kind, message: message.to_owned() }
    }

    pub(super) fn saying(self, message: impl Into<String>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// A wrong field, or something in no state for the call.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::of("702").saying(message)
    }

    /// An error without a code of its own.
    pub(super) fn plain(status: StatusCode, message: &str) -> Self {
        let kind = if status == StatusCode::NOT_FOUND { "validation" } else { "internal" };
        Self { status, code: "000", kind, message: message.to_owned() }
    }
}

impl ApiError for Error {
    fn refusal(&self) -> Refusal {
        let Self { status, code, kind, message } = self;
        let title = status.canonical_reason().unwrap_or_default();
        let body = match *kind {
            "management" => json!({
                "type": format!("https://docs.adyen.com/errors/{}", title.to_lowercase().replace(' ', "-")),
                "title": title, "status": status.as_u16(), "detail": message, "errorCode": code,
            }),
            kind => json!({
                "status": status.as_u16(), "errorCode": code, "message": message,
                "errorType": if self.is_transient() { "internal" } else { kind },
            }),
        };
        // A key keeps every answer that is not transient, once the caller is known.
        let begun = !self.is_transient() && *kind != "security";
        Refusal { status: *status, body, begun }
    }

    fn is_transient(&self) -> bool {
        self.kind == "transient"
    }
}
