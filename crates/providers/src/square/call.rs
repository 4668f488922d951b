//! One request to the provider: where it goes, what it carries, and what its answer means.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tollgate_configuration::Provider;
use tollgate_engine::ports::{CallError, RejectionKind};
use tollgate_http::{Answer, Request};

use super::{
    rejection::{self, Operation, unreadable},
    types::ErrorBody,
};
use crate::{
    failure::{Code, refused, unknown, unsent},
    retry::{ApiCall, AttemptResult},
};

/// Whom to ask, and in which version.
#[derive(Clone, Copy)]
pub(super) struct ApiClient<'a> {
    pub(super) provider: &'a Provider,
    pub(super) version: &'a str,
}

impl<'a> ApiClient<'a> {
    /// The location whose payments these are.
    pub(super) fn location(self) -> Result<&'a str, CallError> {
        self.provider.credential("locationId").ok_or_else(unusable)
    }

    /// Makes something, once; the key stands in the body.
    pub(super) fn create(
        self,
        operation: &'static str,
        path: &str,
        body: &Value,
        key: String,
    ) -> Result<ApiCall, CallError> {
        let mut headers = self.headers()?;
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = Bytes::from(body.to_string());
        let request = Request { method: Method::POST, url: self.url(path), headers, body };
        Ok(ApiCall { operation, key: Some(key), request, makes: true })
    }

    /// Changes something, once; the key stands in the body.
    pub(super) fn put(
        self,
        operation: &'static str,
        path: &str,
        body: &Value,
        key: String,
    ) -> Result<ApiCall, CallError> {
        let mut call = self.create(operation, path, body, key)?;
        call.request.method = Method::PUT;
        Ok(ApiCall { makes: false, ..call })
    }

    /// Does something that cannot be done twice; on this API that needs no key.
    pub(super) fn post(
        self,
        operation: &'static str,
        path: &str,
        body: &Value,
    ) -> Result<ApiCall, CallError> {
        let call = self.create(operation, path, body, String::new())?;
        Ok(ApiCall { key: None, makes: false, ..call })
    }

    /// The same where the path says it all: a body would be refused.
    pub(super) fn post_empty(self, operation: &'static str, path: &str) -> Result<ApiCall, CallError> {
        self.without_body(operation, Method::POST, path)
    }

    /// Reads something.
    pub(super) fn get(self, operation: &'static str, path: &str) -> Result<ApiCall, CallError> {
        self.without_body(operation, Method::GET, path)
    }

    /// Removes something; on this API that needs no key.
    pub(super) fn delete(self, operation: &'static str, path: &str) -> Result<ApiCall, CallError> {
        self.without_body(operation, Method::DELETE, path)
    }

    fn without_body(self, operation: &'static str, method: Method, path: &str) -> Result<ApiCall, CallError> {
        let request = Request { method, url: self.url(path), headers: self.headers()?, body: Bytes::new() };
        Ok(ApiCall { operation, key: None, request, makes: false })
    }

    fn url(self, path: &str) -> String {
        format!("{}/v2/{path}", self.provider.address())
    }

    fn headers(self) -> Result<HeaderMap, CallError> {
        let token = self.provider.credential("accessToken").ok_or_else(unusable)?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| unusable())?;
        bearer.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, bearer);
        headers.insert(header::USER_AGENT, HeaderValue::from_static("tollgate"));
        if let Ok(version) = HeaderValue::from_str(self.version) {
            headers.insert("square-version", version);
        }
        Ok(headers)
    }
}

fn unusable() -> CallError {
    refused(RejectionKind::Credentials, Code::ProviderCredentials)
}

/// What an answer means.
pub(super) fn interpret<T: DeserializeOwned>(answer: &Answer) -> AttemptResult<T> {
    interpret_as(answer, Operation::Anything)
}

/// What the answer to a charge means, where some refusals say more.
pub(super) fn interpret_charge<T: DeserializeOwned>(answer: &Answer) -> AttemptResult<T> {
    interpret_as(answer, Operation::Charge)
}

fn interpret_as<T: DeserializeOwned>(answer: &Answer, asked: Operation) -> AttemptResult<T> {
    match answer.status {
        status if status.is_success() => match serde_json::from_slice(&answer.body) {
            Ok(value) => AttemptResult::ok(value),
            Err(_) => AttemptResult::retry(unknown("unreadable response"), "unreadable response"),
        },
        StatusCode::TOO_MANY_REQUESTS => {
            AttemptResult::retry(unsent("the provider is busy", None), "rate limited")
        }
        // Somebody is at it under the same key, and that may be an earlier try of ours.
        StatusCode::CONFLICT => {
            AttemptResult::retry(unknown("the provider is still processing it"), "conflict")
        }
        StatusCode::REQUEST_TIMEOUT => AttemptResult::retry(unknown("the provider timed out"), "timed out"),
        status if status.is_server_error() => {
            let code = status.as_u16();
            AttemptResult::retry(unknown(format!("the provider answered {code}")), format!("error {code}"))
        }
        status => match serde_json::from_slice::<ErrorBody>(&answer.body) {
            Ok(body) => rejection::result(status, &body.errors, asked),
            Err(_) => unreadable(status),
        },
    }
}
