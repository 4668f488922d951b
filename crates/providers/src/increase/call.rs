//! One request to the wire: where it goes, what it carries, and what its answer means.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use tollgate_configuration::Provider;
use tollgate_domain::ach::AchSighting;
use tollgate_engine::ports::{CallError, RefusalKind};

use super::{
    refusal::{self, unreadable},
    wire::ErrorBody,
};
use crate::{
    failure::{Code, refused, unknown, unsent},
    http::{Answer, Request},
    retry::{Ask, Verdict},
    text::is_id,
};

/// Whom to ask.
#[derive(Clone, Copy)]
pub(super) struct Stop<'a> {
    pub(super) provider: &'a Provider,
}

impl<'a> Stop<'a> {
    /// The account that pays.
    pub(super) fn account(self) -> Result<&'a str, CallError> {
        self.provider.funding("accountId").filter(|id| is_id(id)).ok_or_else(unusable)
    }

    /// That account's number, by its id: real-time payments name their source so.
    pub(super) fn account_number(self) -> Result<&'a str, CallError> {
        self.provider.funding("accountNumberId").filter(|id| is_id(id)).ok_or_else(unusable)
    }

    /// Makes something, once.
    pub(super) fn create(
        self,
        operation: &'static str,
        path: &str,
        body: &Value,
        key: String,
    ) -> Result<Ask, CallError> {
        let mut headers = self.headers()?;
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("idempotency-key", HeaderValue::from_str(&key).map_err(|_| unusable())?);
        let body = Bytes::from(body.to_string());
        let request = Request { method: Method::POST, url: self.url(path), headers, body };
        Ok(Ask { operation, key: Some(key), request, makes: true })
    }

    /// Reads something.
    pub(super) fn get(self, operation: &'static str, path: &str) -> Result<Ask, CallError> {
        let (method, headers) = (Method::GET, self.headers()?);
        let request = Request { method, url: self.url(path), headers, body: Bytes::new() };
        Ok(Ask { operation, key: None, request, makes: false })
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

fn unusable() -> CallError {
    refused(RefusalKind::Credentials, Code::ProviderCredentials)
}

/// What became of a transfer's creation.
pub(super) enum Taken {
    /// It stands so.
    Now(AchSighting),
    /// The key has made this object before, by a request that read otherwise.
    Before(String),
}

/// What an answer means; `read` reads a good one. The provider's own word on whether to try again goes before ours.
pub(super) fn judge<T>(answer: &Answer, read: impl Fn(&[u8]) -> serde_json::Result<T>) -> Verdict<T> {
    let verdict = first_judgement(answer, read);
    match (answer.header("x-should-retry"), &verdict.outcome) {
        (Some("true"), Err(_)) => Verdict { again: true, ..verdict },
        (Some("false"), _) => Verdict { again: false, ..verdict },
        _ => verdict,
    }
}

fn first_judgement<T>(answer: &Answer, read: impl Fn(&[u8]) -> serde_json::Result<T>) -> Verdict<T> {
    match answer.status {
        status if status.is_success() => match read(&answer.body) {
            Ok(value) => Verdict::done(value),
            Err(_) => Verdict::again(unknown("the answer cannot be read"), "unreadable answer"),
        },
        StatusCode::TOO_MANY_REQUESTS => {
            Verdict::again(unsent("the provider is busy", retry_after(answer)), "rate limited")
        }
        StatusCode::REQUEST_TIMEOUT => Verdict::again(unknown("the provider timed out"), "timed out"),
        status if status.is_server_error() => {
            let code = status.as_u16();
            Verdict::again(unknown(format!("the provider answered {code}")), format!("error {code}"))
        }
        status => match serde_json::from_slice::<ErrorBody>(&answer.body) {
            Ok(body) => refusal::verdict(status, &body),
            Err(_) => unreadable(status),
        },
    }
}

/// What the answer to a creation means, where the key may have been used before.
pub(super) fn judge_creation(
    answer: &Answer,
    read: impl Fn(&[u8]) -> serde_json::Result<AchSighting>,
) -> Verdict<Taken> {
    let judged = || judge(answer, |body| read(body).map(Taken::Now));
    if answer.status != StatusCode::CONFLICT {
        let verdict = judged();
        return match verdict.outcome {
            // A creation names nothing but our own account: that, or the address, is configured wrongly.
            Err(CallError::Refused(refusal)) if refusal.kind == RefusalKind::Missing => {
                Verdict { outcome: Err(unusable()), ..verdict }
            }
            outcome => Verdict { outcome, ..verdict },
        };
    }
    let error = serde_json::from_slice::<ErrorBody>(&answer.body).ok();
    let used = error.filter(|error| error.kind == refusal::KEY_USED);
    match used.as_ref().and_then(|error| error.resource_id.as_str()) {
        Some(id) => {
            Verdict { word: refusal::KEY_USED.to_owned(), ..Verdict::done(Taken::Before(id.to_owned())) }
        }
        None => judged(),
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
