//! One request to the provider: where it goes, what it carries, and what its answer means.

use bytes::Bytes;
use data_encoding::BASE64;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tollgate_configuration::Provider;
use tollgate_engine::ports::{CallError, RejectionKind};
use tollgate_http::{Answer, Request};

use super::{
    rejection::{self, unreadable},
    request::Rail,
    types::{ErrorBody, ErrorDetail, PaymentOrder},
};
use crate::{
    failure::{Code, refused, unknown, unsent},
    retry::{ApiCall, AttemptResult},
    text::is_id,
};

/// Whom to ask.
#[derive(Clone, Copy)]
pub(super) struct ApiClient<'a> {
    pub(super) provider: &'a Provider,
}

impl<'a> ApiClient<'a> {
    /// The internal account that pays.
    pub(super) fn account(self) -> Result<&'a str, CallError> {
        self.provider.funding("originatingAccountId").filter(|id| is_id(id)).ok_or_else(unusable)
    }

    /// Who pays, as the receiver's statement names them.
    pub(super) fn company_name(self) -> Option<&'a str> {
        self.provider.funding("companyName").filter(|name| !name.trim().is_empty())
    }

    /// Makes something, once.
    pub(super) fn create(
        self,
        operation: &'static str,
        path: &str,
        body: &Value,
        key: String,
    ) -> Result<ApiCall, CallError> {
        let mut headers = self.headers()?;
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("idempotency-key", HeaderValue::from_str(&key).map_err(|_| unusable())?);
        let body = Bytes::from(body.to_string());
        let request = Request { method: Method::POST, url: self.url(path), headers, body };
        Ok(ApiCall { operation, key: Some(key), request, makes: true })
    }

    /// Changes an object, which answers the same the second time or is refused.
    pub(super) fn change(
        self,
        operation: &'static str,
        path: &str,
        body: &Value,
    ) -> Result<ApiCall, CallError> {
        let mut headers = self.headers()?;
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = Bytes::from(body.to_string());
        let request = Request { method: Method::PATCH, url: self.url(path), headers, body };
        Ok(ApiCall { operation, key: None, request, makes: false })
    }

    /// Reads something.
    pub(super) fn get(self, operation: &'static str, path: &str) -> Result<ApiCall, CallError> {
        let (method, headers) = (Method::GET, self.headers()?);
        let request = Request { method, url: self.url(path), headers, body: Bytes::new() };
        Ok(ApiCall { operation, key: None, request, makes: false })
    }

    fn url(self, path: &str) -> String {
        format!("{}/api/{path}", self.provider.address())
    }

    fn headers(self) -> Result<HeaderMap, CallError> {
        let credential = |name| self.provider.credential(name).ok_or_else(unusable);
        let (organization, key) = (credential("organizationId")?, credential("apiKey")?);
        // A colon would end the user name early, and lead to another organization.
        if organization.contains(':') {
            return Err(unusable());
        }
        let pair = BASE64.encode(format!("{organization}:{key}").as_bytes());
        let mut basic = HeaderValue::from_str(&format!("Basic {pair}")).map_err(|_| unusable())?;
        basic.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, basic);
        headers.insert(header::USER_AGENT, HeaderValue::from_static("tollgate"));
        Ok(headers)
    }
}

fn unusable() -> CallError {
    refused(RejectionKind::Credentials, Code::ProviderCredentials)
}

/// What became of a payment order's creation.
pub(super) enum CreationState {
    /// It stands so.
    Now(Box<PaymentOrder>),
    /// An order with our reference was made before.
    Taken,
}

/// What an answer means whose good form is the JSON of a `T`.
pub(super) fn read_json<T: DeserializeOwned>(answer: &Answer) -> AttemptResult<T> {
    match answer.status {
        status if status.is_success() => match serde_json::from_slice(&answer.body) {
            Ok(value) => AttemptResult::ok(value),
            Err(_) => AttemptResult::retry(unknown("unreadable response"), "unreadable response"),
        },
        StatusCode::TOO_MANY_REQUESTS => {
            AttemptResult::retry(unsent("the provider is busy", None), "rate limited")
        }
        StatusCode::REQUEST_TIMEOUT => AttemptResult::retry(unknown("the provider timed out"), "timed out"),
        status if status.is_server_error() => {
            let code = status.as_u16();
            AttemptResult::retry(unknown(format!("the provider answered {code}")), format!("error {code}"))
        }
        status => match serde_json::from_slice::<ErrorBody>(&answer.body) {
            Ok(body) => rejection::result(status, &body.errors),
            Err(_) => unreadable(status),
        },
    }
}

/// What the answer to a change means that an order's state may not allow. Which of its refusals the provider uses for that is
/// not published.
pub(super) fn interpret_change(answer: &Answer) -> AttemptResult<PaymentOrder> {
    let is_refused = matches!(
        answer.status,
        StatusCode::BAD_REQUEST | StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY
    );
    if is_refused && serde_json::from_slice::<ErrorBody>(&answer.body).is_ok() {
        return AttemptResult::fail(refused(RejectionKind::State, Code::ProviderRefused), "not allowed");
    }
    read_json(answer)
}

/// What the answer to a creation means, where our reference may have been used before.
pub(super) fn interpret_creation(rail: Rail, answer: &Answer) -> AttemptResult<CreationState> {
    let error = serde_json::from_slice::<ErrorBody>(&answer.body).ok();
    let error = error.filter(|_| answer.status.is_client_error()).map(|body| body.errors);
    if error.as_ref().is_some_and(rejection::is_taken) {
        let word = "external_id taken".to_owned();
        return AttemptResult { word, ..AttemptResult::ok(CreationState::Taken) };
    }
    let is_invalid = matches!(answer.status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
    let is_about_rail =
        |error: &ErrorDetail| is_invalid && rail == Rail::RealTime && rejection::is_about_rail(error);
    if let Some(error) = error.filter(is_about_rail) {
        return AttemptResult::fail(rejection::instant_not_enabled(&error), "rtp not enabled");
    }
    let AttemptResult { outcome, again, word } = read_json::<PaymentOrder>(answer);
    let outcome = match outcome {
        // A creation names nothing but our own account: that, or the address, is configured wrongly.
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Missing => Err(unusable()),
        outcome => outcome.map(|made| CreationState::Now(Box::new(made))),
    };
    AttemptResult { outcome, again, word }
}
