//! Every failure a caller can see: its status, its code, its sentence.

use std::{borrow::Cow, time::Duration};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::Value;
use tollgate_domain::{id::RequestId, limit::LimitBound, routing::Unroutable};
use tollgate_engine::{
    CircuitOpen, ExceededLimit, ReadError,
    ports::{CardPayment, StoreError},
};

use crate::response::{error_code::ErrorCode, fee_decision::FeeDecisionResponse};

/// On an answer that was given before.
pub(crate) const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Detail {
    pub(crate) field: Cow<'static, str>,
    pub(crate) message: Cow<'static, str>,
}

/// A failure on its way out. What is internal is logged and never answered.
#[derive(Debug, Clone)]
pub(crate) struct ApiError(Box<Failure>);

#[derive(Debug, Clone)]
struct Failure {
    code: ErrorCode,
    message: Cow<'static, str>,
    details: Vec<Detail>,
    internal: Option<String>,
    retry_after: Option<Duration>,
    allow: Option<String>,
    close: bool,
    replayed: bool,
    reference: Option<String>,
    decided: Option<(Value, String)>,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Failure {
            code,
            message: message.into(),
            details: Vec::new(),
            internal: None,
            retry_after: None,
            allow: None,
            close: false,
            replayed: false,
            reference: None,
            decided: None,
        }))
    }

    pub(crate) fn code(&self) -> &'static str {
        self.0.code.as_str()
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.0.code.status()
    }

    /// The names of the faulty fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.details.iter().map(|detail| &*detail.field)
    }

    pub(crate) fn reference(&self) -> Option<&str> {
        self.0.reference.as_deref()
    }

    /// What only the log is told.
    pub(crate) fn internal_reason(&self) -> Option<&str> {
        self.0.internal.as_deref()
    }

    /// The body cannot be read at all.
    pub(crate) fn malformed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidBody, message)
    }

    /// The body was read, and these fields break their rules.
    pub(crate) fn invalid(details: Vec<Detail>) -> Self {
        let message = match details.as_slice() {
            [only] => format!("{} {}.", only.field, only.message),
            _ => format!("{} fields are invalid; see error.details.", details.len()),
        };
        Self::malformed(message).with_details(details)
    }

    /// The same failure under another code.
    #[must_use]
    pub(crate) fn coded(self, code: impl FnOnce(ErrorCode) -> ErrorCode) -> Self {
        self.with(|it| it.code = code(it.code))
    }

    /// The same failure with these fields named.
    #[must_use]
    pub(crate) fn with_details(self, details: Vec<Detail>) -> Self {
        Self(Box::new(Failure { details, ..*self.0 }))
    }

    /// The request's first line or headers cannot be read.
    pub(crate) fn unreadable_head(status: StatusCode) -> Self {
        match status {
            StatusCode::URI_TOO_LONG => Self::new(
                ErrorCode::UriTooLong,
                "The request URL is too long; send data in the body instead.",
            ),
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Self::new(
                ErrorCode::HeadersTooLarge,
                "The request has more than 100 headers, or more than 32768 bytes before its body.",
            ),
            _ => Self::new(ErrorCode::MalformedRequest, "The request is not valid HTTP/1.1."),
        }
    }

    pub(crate) fn unauthenticated(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::Unauthenticated, message)
    }

    pub(crate) fn secret_key_required(message: &'static str) -> Self {
        Self::new(ErrorCode::SecretKeyRequired, message)
    }

    pub(crate) fn not_found(message: &'static str) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    pub(crate) fn method_not_allowed(allow: String) -> Self {
        let message = format!("This path only supports {allow}.");
        Self::new(ErrorCode::MethodNotAllowed, message).with(|it| it.allow = Some(allow))
    }

    pub(crate) fn body_too_large(most: usize) -> Self {
        let message = format!("The body is larger than {most} bytes.");
        Self::new(ErrorCode::BodyTooLarge, message).with(|it| it.close = true)
    }

    pub(crate) fn body_too_slow() -> Self {
        let message = "The body did not arrive in time; send the request again.";
        Self::new(ErrorCode::RequestTimeout, message).with(|it| it.close = true)
    }

    /// More is being received at once than this node has room for.
    pub(crate) fn busy() -> Self {
        let message = "This server is receiving too much at once; nothing was done. Send the request again.";
        Self::new(ErrorCode::ServerBusy, message).with(|it| {
            it.retry_after = Some(Duration::from_secs(1));
            it.close = true;
        })
    }

    pub(crate) fn rate_limited(message: &'static str, retry_after: Duration) -> Self {
        Self::new(ErrorCode::RateLimited, message).with(|it| it.retry_after = Some(retry_after))
    }

    pub(crate) fn store_unavailable(message: &'static str, internal: String) -> Self {
        Self::new(ErrorCode::StoreUnavailable, message).with(|it| {
            it.retry_after = Some(Duration::from_secs(1));
            it.internal = Some(internal);
        })
    }

    /// The store did not say whether it committed.
    pub(crate) fn outcome_unknown(message: &'static str, internal: String) -> Self {
        Self::new(ErrorCode::OutcomeUnknown, message).with(|it| {
            it.retry_after = Some(Duration::from_secs(1));
            it.internal = Some(internal);
        })
    }

    /// The provider's own validation said no.
    pub(crate) fn provider_rejected(message: String) -> Self {
        Self::new(ErrorCode::ProviderRejected, message)
    }

    /// The provider gets no new work now, and nothing was recorded.
    pub(crate) fn circuit_open(open: &CircuitOpen) -> Self {
        let message = format!(
            "The provider is not taking new payments ({}); nothing was created. Try again later.",
            open.reason
        );
        Self::new(ErrorCode::ProviderUnavailable, message).retry_after(open.retry_after)
    }

    /// The provider lacks something, or does not accept what it was given.
    pub(crate) fn provider_not_configured(provider: &str, missing: &[String]) -> Self {
        let message = if missing.is_empty() {
            format!(
                "The selected provider `{provider}` rejected its configured credentials; \
                 an operator must correct them."
            )
        } else {
            let missing = missing.join("`, `");
            format!("The selected provider is not fully configured; an operator must add `{missing}`.")
        };
        Self::new(ErrorCode::ProviderNotConfigured, message)
    }

    /// What a payer agreed to is not what is decided for their card.
    pub(crate) fn fee_changed(payment: &CardPayment) -> Self {
        let order = &payment.order;
        let card_fee = payment.progress.card_fee.as_ref();
        let decided = card_fee.and_then(|card_fee| card_fee.card.as_ref()).map(|card| {
            let decision = FeeDecisionResponse::of(&card.decision, order.currency, &card.amounts);
            let total = card.amounts.total_debit.to_string();
            (serde_json::to_value(decision).unwrap_or_default(), total)
        });
        let message = "The fee for this card is not the one that the payer agreed to; nothing was charged. Show the payer \
                       error.feeDecision and error.totalDebitMinor, and confirm with that total.";
        Self::new(ErrorCode::FeeChanged, message).about(&order.id).with(|it| it.decided = decided)
    }

    /// The provider did not respond, and nothing can be paid.
    pub(crate) fn provider_unavailable(retry_after: Duration) -> Self {
        let message = "The payment provider could not be reached or its response was unclear. No payment can be \
                       made with this request; try again.";
        Self::new(ErrorCode::ProviderUnavailable, message).with(|it| it.retry_after = Some(retry_after))
    }

    /// The same, of a payment that the customer may have made in the browser.
    pub(crate) fn provider_unclear(retry_after: Duration) -> Self {
        let message = "The payment provider could not be reached or its response was unclear. Send the same request \
                       again; what the customer paid in the browser may have gone through.";
        Self::new(ErrorCode::ProviderUnavailable, message).with(|it| it.retry_after = Some(retry_after))
    }

    /// Logged whole, answered without a word of it.
    pub(crate) fn internal(internal: impl Into<String>) -> Self {
        let message = "Something went wrong on our side; include the request ID when you report it.";
        Self::new(ErrorCode::Internal, message).with(|it| it.internal = Some(internal.into()))
    }

    /// The same failure, marked as the repetition of an earlier answer.
    #[must_use]
    pub(crate) fn replayed(self) -> Self {
        self.with(|it| it.replayed = true)
    }

    /// The same failure with the payment it is about.
    #[must_use]
    pub(crate) fn about(self, reference: &impl ToString) -> Self {
        self.with(|it| it.reference = Some(reference.to_string()))
    }

    /// The same failure with a time to wait.
    #[must_use]
    pub(crate) fn retry_after(self, wait: Duration) -> Self {
        self.with(|it| it.retry_after = Some(wait))
    }

    fn with(mut self, change: impl FnOnce(&mut Failure)) -> Self {
        change(&mut self.0);
        self
    }

    /// The failure as the caller gets it.
    pub(crate) fn render(&self, request: RequestId, warnings: &[String]) -> Response {
        let failure = &self.0;
        let mut response = Response::new(Body::from(self.body(request, warnings)));
        *response.status_mut() = failure.code.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if failure.code.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = failure.retry_after {
            // Rounded up: a caller that waits this long is not refused again for having come too early.
            let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(allow) = failure.allow.as_deref().and_then(|allow| HeaderValue::from_str(allow).ok()) {
            headers.insert(header::ALLOW, allow);
        }
        if failure.replayed {
            headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        }
        if failure.close {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// The bytes of the answer to a request whose head cannot be read; the parser's own `head` has everything but a body
    /// and an id.
    pub(crate) fn render_refused_head(&self, request: RequestId, head: &str) -> Vec<u8> {
        let (status, body) = (self.status(), self.body(request, &[]));
        let is_kept =
            |line: &&str| !line.is_empty() && !line.to_ascii_lowercase().starts_with("content-length:");
        let kept: Vec<_> = head.split("\r\n").skip(1).filter(is_kept).collect();
        let (kept, length) = (kept.join("\r\n"), body.len());
        let mut answer = format!(
            "HTTP/1.1 {status}\r\n{kept}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nrequest-id: {request}\r\n\r\n"
        )
        .into_bytes();
        answer.extend_from_slice(&body);
        answer
    }

    fn body(&self, request: RequestId, warnings: &[String]) -> Vec<u8> {
        let failure = &self.0;
        let envelope = FailureEnvelope {
            success: false,
            data: (),
            message: &failure.message,
            error: FailureBody {
                code: failure.code.as_str(),
                request_id: request.to_string(),
                details: &failure.details,
                service_reference: failure.reference.as_deref(),
                fee_decision: failure.decided.as_ref().map(|(decision, _)| decision),
                total_debit_minor: failure.decided.as_ref().map(|(_, total)| total.as_str()),
                docs: failure.code.docs(),
            },
            warnings,
        };
        serde_json::to_vec(&envelope).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct FailureEnvelope<'a> {
    success: bool,
    data: (),
    message: &'a str,
    error: FailureBody<'a>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FailureBody<'a> {
    code: &'static str,
    request_id: String,
    details: &'a [Detail],
    #[serde(skip_serializing_if = "Option::is_none")]
    service_reference: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fee_decision: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_debit_minor: Option<&'a str>,
    docs: &'static str,
}

impl IntoResponse for ApiError {
    /// Leaves the rendering to the edge, which knows the request's id.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.0.code.status();
        response.extensions_mut().insert(self);
        response
    }
}

/// What does not exist looks the same whether it never did or belongs elsewhere.
pub(crate) fn not_found_here() -> ApiError {
    ApiError::not_found("Not found; check the IDs in the path.")
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(why) => Self::store_unavailable(
                "The database is not responding; nothing was changed. Try again.",
                why,
            ),
            StoreError::Unknown(why) => Self::outcome_unknown(
                "It is unknown whether the change was recorded; read it back before you try again.",
                why,
            ),
            StoreError::Broken(why) => Self::internal(why),
        }
    }
}

impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Missing => not_found_here(),
            ReadError::Store(error) => error.into(),
        }
    }
}

impl From<ExceededLimit> for ApiError {
    fn from(exceeded: ExceededLimit) -> Self {
        let limit = &exceeded.limit;
        let message = format!(
            "The limit `{}` allows {limit}, and this payment would exceed it. Nothing was recorded. Send the same \
             request again later, or have the limit raised.",
            limit.id
        );
        let detail = Detail {
            field: format!("limits[{}]", limit.id).into(),
            message: match exceeded.bound {
                LimitBound::Count(most) => format!("at most {most} payments").into(),
                LimitBound::Amount(most) => format!("at most {most} minor units").into(),
            },
        };
        Self::new(ErrorCode::LimitExceeded, message).with_details(vec![detail])
    }
}

impl From<Unroutable> for ApiError {
    fn from(error: Unroutable) -> Self {
        let message = match error {
            Unroutable::Disabled => {
                "Routing for this payment method is disabled in this environment; enable it in its configuration."
            }
            Unroutable::Incomplete => {
                "No routing rule matched and there is no default target; add one to the environment's configuration."
            }
        };
        Self::new(ErrorCode::RoutingUnavailable, message)
    }
}
