//! One request to the provider: where it goes, what it carries, and what its answer means.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use tollgate_configuration::Provider;
use tollgate_domain::ach::AchProviderReport;
use tollgate_engine::ports::{CallError, RejectionKind};
use tollgate_http::{Answer, Request};

use super::{
    rejection::{self, unreadable},
    types::ErrorBody,
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
    /// The account that pays.
    pub(super) fn account(self) -> Result<&'a str, CallError> {
        self.provider.funding("accountId").filter(|id| is_id(id)).ok_or_else(unusable)
    }

    /// That account's number, by its id: real-time payments name their source so.
    pub(super) fn account_number(self) -> Result<&'a str, CallError> {
        self.provider.funding("accountNumberId").filter(|id| is_id(id)).ok_or_else(unusable)
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

    /// Has something done to an object, which answers the same the second time or is refused.
    pub(super) fn act(self, operation: &'static str, path: &str) -> Result<ApiCall, CallError> {
        let (method, headers) = (Method::POST, self.headers()?);
        let request = Request { method, url: self.url(path), headers, body: Bytes::new() };
        Ok(ApiCall { operation, key: None, request, makes: false })
    }

    /// Reads something.
    pub(super) fn get(self, operation: &'static str, path: &str) -> Result<ApiCall, CallError> {
        let (method, headers) = (Method::GET, self.headers()?);
        let request = Request { method, url: self.url(path), headers, body: Bytes::new() };
        Ok(ApiCall { operation, key: None, request, makes: false })
    }

    fn url(self, path: &str) -> String {
        format!("{}/{path}", self.provider.address())
    }

    fn headers(self) -> Result<HeaderMap, CallError> {
        let key = self.provider.credential("apiKey").ok_or_else(unusable)?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| unusable())?;
        bearer.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, bearer);
        headers.insert(header::USER_AGENT, HeaderValue::from_static("tollgate"));
        Ok(headers)
    }
}

pub(super) fn unusable() -> CallError {
    refused(RejectionKind::Credentials, Code::ProviderCredentials)
}

/// What became of a transfer's creation.
pub(super) enum CreationState {
    /// It stands so.
    Now(AchProviderReport),
    /// The key has made this object before, by a request that read otherwise.
    Before(String),
}

/// What an answer means; `read` reads a good one. The provider's own word on whether to try again goes before ours.
pub(super) fn interpret<T>(
    answer: &Answer,
    read: impl Fn(&[u8]) -> serde_json::Result<T>,
) -> AttemptResult<T> {
    let result = interpret_status(answer, read);
    match (answer.header("x-should-retry"), &result.outcome) {
        (Some("true"), Err(_)) => AttemptResult { again: true, ..result },
        (Some("false"), _) => AttemptResult { again: false, ..result },
        _ => result,
    }
}

fn interpret_status<T>(answer: &Answer, read: impl Fn(&[u8]) -> serde_json::Result<T>) -> AttemptResult<T> {
    match answer.status {
        status if status.is_success() => match read(&answer.body) {
            Ok(value) => AttemptResult::ok(value),
            Err(_) => AttemptResult::retry(unknown("unreadable response"), "unreadable response"),
        },
        StatusCode::TOO_MANY_REQUESTS => {
            AttemptResult::retry(unsent("the provider is busy", retry_after(answer)), "rate limited")
        }
        StatusCode::REQUEST_TIMEOUT => AttemptResult::retry(unknown("the provider timed out"), "timed out"),
        status if status.is_server_error() => {
            let code = status.as_u16();
            AttemptResult::retry(unknown(format!("the provider answered {code}")), format!("error {code}"))
        }
        status => match serde_json::from_slice::<ErrorBody>(&answer.body) {
            Ok(body) => rejection::result(status, &body),
            Err(_) => unreadable(status),
        },
    }
}

/// What the answer to a creation means, where the key may have been used before.
pub(super) fn interpret_creation(
    answer: &Answer,
    read: impl Fn(&[u8]) -> serde_json::Result<AchProviderReport>,
) -> AttemptResult<CreationState> {
    let interpreted = || interpret(answer, |body| read(body).map(CreationState::Now));
    if answer.status != StatusCode::CONFLICT {
        let result = interpreted();
        return match result.outcome {
            // A creation names nothing but our own account: that, or the address, is configured wrongly.
            Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Missing => {
                AttemptResult { outcome: Err(unusable()), ..result }
            }
            outcome => AttemptResult { outcome, ..result },
        };
    }
    let Ok(error) = serde_json::from_slice::<ErrorBody>(&answer.body) else { return interpreted() };
    match (error.kind.as_str(), error.resource_id.as_str()) {
        (rejection::KEY_USED, Some(id)) => AttemptResult {
            word: rejection::KEY_USED.to_owned(),
            ..AttemptResult::ok(CreationState::Before(id.to_owned()))
        },
        (rejection::NOT_ALLOWED, _) => AttemptResult {
            again: answer.header("x-should-retry") == Some("true"),
            ..rejection::not_allowed(&error)
        },
        _ => interpreted(),
    }
}

/// What the answer to a step means that an object's state may not allow.
pub(super) fn interpret_step<T>(
    answer: &Answer,
    read: impl Fn(&[u8]) -> serde_json::Result<T>,
) -> AttemptResult<T> {
    match serde_json::from_slice::<ErrorBody>(&answer.body) {
        Ok(error) if answer.status == StatusCode::CONFLICT && error.kind == rejection::NOT_ALLOWED => {
            rejection::not_allowed(&error)
        }
        _ => interpret(answer, read),
    }
}

/// The pause a busy provider asks for, where it is not in the usual header.
fn retry_after(answer: &Answer) -> Option<Duration> {
    let millis = answer.header("retry-after-ms").and_then(|text| text.trim().parse().ok());
    if let Some(millis) = millis {
        return Some(Duration::from_millis(millis));
    }
    let body: ErrorBody = serde_json::from_slice(&answer.body).ok()?;
    body.retry_after.as_u64().map(Duration::from_secs)
}
