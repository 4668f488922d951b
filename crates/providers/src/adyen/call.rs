//! One request to the provider: where it goes, what it carries, and what its answer means.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tollgate_configuration::Provider;
use tollgate_engine::ports::{CallError, RejectionKind};
use tollgate_http::{Answer, Request};

use super::rejection;
use crate::{
    failure::{Code, refused, unknown},
    retry::{ApiCall, AttemptResult},
};

/// The version stands in the path; the newest that the provider's own libraries speak.
const CHECKOUT: &str = "v72";
const MANAGEMENT: &str = "v3";

/// Whom to ask.
#[derive(Clone, Copy)]
pub(super) struct ApiClient<'a> {
    pub(super) provider: &'a Provider,
}

impl<'a> ApiClient<'a> {
    /// The merchant account whose payments these are.
    pub(super) fn merchant(self) -> Result<&'a str, CallError> {
        self.provider.field("merchantAccount").ok_or_else(unusable)
    }

    /// Asks for something, once per key.
    pub(super) fn post(
        self,
        operation: &'static str,
        path: &str,
        body: &Value,
        key: String,
    ) -> Result<ApiCall, CallError> {
        let mut request = self.request(Method::POST, self.checkout(path), Some(body))?;
        if let Ok(value) = HeaderValue::from_str(&key) {
            request.headers.insert("idempotency-key", value);
        }
        Ok(ApiCall { operation, key: Some(key), request, makes: true })
    }

    /// Asks a question that takes a body.
    pub(super) fn ask(self, operation: &'static str, path: &str, body: &Value) -> Result<ApiCall, CallError> {
        let request = self.request(Method::POST, self.checkout(path), Some(body))?;
        Ok(ApiCall { operation, key: None, request, makes: false })
    }

    /// Changes something to what it is afterwards, however often that is asked for.
    pub(super) fn patch(
        self,
        operation: &'static str,
        path: &str,
        body: &Value,
    ) -> Result<ApiCall, CallError> {
        let request = self.request(Method::PATCH, self.checkout(path), Some(body))?;
        Ok(ApiCall { operation, key: None, request, makes: false })
    }

    /// Reads something.
    pub(super) fn get(self, operation: &'static str, path: &str) -> Result<ApiCall, CallError> {
        let request = self.request(Method::GET, self.checkout(path), None)?;
        Ok(ApiCall { operation, key: None, request, makes: false })
    }

    /// The same on the API that webhooks and credentials are set up with.
    pub(super) fn manage(
        self,
        operation: &'static str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<ApiCall, CallError> {
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let own = self.provider.own_environment();
        let own = own.and_then(|environment| self.provider.adapter.management_address(environment));
        let url = format!("{}/{MANAGEMENT}/{path}", own.unwrap_or_else(|| self.provider.address()));
        let request = self.request(method, url, body)?;
        Ok(ApiCall { operation, key: None, request, makes: body.is_some() })
    }

    fn checkout(self, path: &str) -> String {
        format!("{}/{CHECKOUT}/{path}", self.provider.address())
    }

    fn request(self, method: Method, url: String, body: Option<&Value>) -> Result<Request, CallError> {
        let key = self.provider.credential("apiKey").ok_or_else(unusable)?;
        let mut key = HeaderValue::from_str(key).map_err(|_| unusable())?;
        key.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", key);
        headers.insert(header::USER_AGENT, HeaderValue::from_static("tollgate"));
        if body.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        Ok(Request { method, url, headers, body })
    }
}

fn unusable() -> CallError {
    refused(RejectionKind::Credentials, Code::ProviderCredentials)
}

/// What an answer means.
pub(super) fn interpret<T: DeserializeOwned>(answer: &Answer) -> AttemptResult<T> {
    if !answer.status.is_success() {
        return rejection::result(answer);
    }
    match serde_json::from_slice(&answer.body) {
        Ok(value) => AttemptResult::ok(value),
        Err(_) => AttemptResult::retry(unknown("unreadable response"), "unreadable response"),
    }
}
