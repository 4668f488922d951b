//! One request to the provider: where it goes, what it carries, and what its answer means.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::de::DeserializeOwned;
use tollgate_configuration::Provider;
use tollgate_domain::card::CardOrder;
use tollgate_engine::ports::{CallError, RejectionKind};
use tollgate_http::{Answer, Request};

use super::{
    form::Form,
    rejection::{self, unreadable},
    types::ErrorBody,
};
use crate::{
    failure::{Code, refused, unknown, unsent},
    retry::{ApiCall, AttemptResult, CallSession},
};

/// Whom to ask, and in which version.
#[derive(Clone, Copy)]
pub(super) struct ApiClient<'a> {
    pub(super) provider: &'a Provider,
    pub(super) version: &'a str,
    /// The connected account that calls are for, if not the key's own.
    account: Option<&'a str>,
}

/// The keys that one thing is made under, one after the other: each but the last may be spent.
const KEY_ENDS: [&str; 3] = ["", "-2", "-3"];

/// What became of a request under a key.
pub(super) enum Keyed<T> {
    Answer(T),
    /// The provider has kept a server error as the answer of this key, and repeats it however often it is asked.
    Spent,
}

impl<T> Keyed<T> {
    pub(super) fn map<U>(self, read: impl FnOnce(T) -> U) -> Keyed<U> {
        match self {
            Self::Answer(answer) => Keyed::Answer(read(answer)),
            Self::Spent => Keyed::Spent,
        }
    }
}

impl<'a> ApiClient<'a> {
    pub(super) fn new(provider: &'a Provider, version: &'a str) -> Self {
        Self { provider, version, account: provider.options.account.as_deref() }
    }

    /// The same for the key's own account.
    pub(super) fn of_own_account(self) -> Self {
        Self { account: None, ..self }
    }

    /// Makes something for an order. Nothing can be paid before our caller has the answer, so making it again under another key,
    /// where one is spent, does no harm.
    pub(super) async fn create<T: DeserializeOwned>(
        self,
        calls: &mut CallSession<'_>,
        operation: &'static str,
        path: &str,
        form: Form,
        order: &CardOrder,
    ) -> Result<T, CallError> {
        for key in keys(&format!("{}-prepare", order.provider_key())) {
            let call = self.post(operation, path, form.clone(), Some(key))?;
            if let Keyed::Answer(made) = calls.run(&ApiCall { makes: true, ..call }, interpret_keyed).await? {
                return Ok(made);
            }
        }
        Err(every_key_spent())
    }

    /// Changes something that exists.
    pub(super) fn post(
        self,
        operation: &'static str,
        path: &str,
        form: Form,
        key: Option<String>,
    ) -> Result<ApiCall, CallError> {
        let mut headers = self.headers()?;
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        if let Some(key) = key.as_deref().and_then(|key| HeaderValue::from_str(key).ok()) {
            headers.insert("idempotency-key", key);
        }
        let body = Bytes::from(form.finish());
        let request = Request { method: Method::POST, url: self.url(path), headers, body };
        Ok(ApiCall { operation, key, request, makes: false })
    }

    /// Reads something.
    pub(super) fn get(self, operation: &'static str, path: &str, query: Form) -> Result<ApiCall, CallError> {
        let url = format!("{}?{}", self.url(path), query.finish());
        let request = Request { method: Method::GET, url, headers: self.headers()?, body: Bytes::new() };
        Ok(ApiCall { operation, key: None, request, makes: false })
    }

    fn url(self, path: &str) -> String {
        format!("{}/v1/{path}", self.provider.address())
    }

    fn headers(self) -> Result<HeaderMap, CallError> {
        let unusable = || refused(RejectionKind::Credentials, Code::ProviderCredentials);
        let key = self.provider.credential("secretKey").ok_or_else(unusable)?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| unusable())?;
        bearer.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, bearer);
        headers.insert(header::USER_AGENT, HeaderValue::from_static("tollgate"));
        if let Ok(version) = HeaderValue::from_str(self.version) {
            headers.insert("stripe-version", version);
        }
        if let Some(account) = self.account {
            headers.insert("stripe-account", HeaderValue::from_str(account).map_err(|_| unusable())?);
        }
        Ok(headers)
    }
}

/// A key, and those that take its place once it is spent.
pub(super) fn keys(first: &str) -> impl Iterator<Item = String> {
    KEY_ENDS.into_iter().map(move |end| format!("{first}{end}"))
}

pub(super) fn every_key_spent() -> CallError {
    unknown("the provider repeats a server error")
}

/// The same for a request with a key.
pub(super) fn interpret_keyed<T: DeserializeOwned>(answer: &Answer) -> AttemptResult<Keyed<T>> {
    if answer.status.is_server_error() && answer.header("idempotent-replayed") == Some("true") {
        let word = format!("error {}, repeated", answer.status.as_u16());
        return AttemptResult { word, ..AttemptResult::ok(Keyed::Spent) };
    }
    let AttemptResult { outcome, again, word } = interpret(answer);
    AttemptResult { outcome: outcome.map(Keyed::Answer), again, word }
}

/// What an answer means. The provider's own word on whether to try again goes before ours.
pub(super) fn interpret<T: DeserializeOwned>(answer: &Answer) -> AttemptResult<T> {
    let result = interpret_status(answer);
    match (answer.header("stripe-should-retry"), &result.outcome) {
        (Some("true"), Err(_)) => AttemptResult { again: true, ..result },
        (Some("false"), _) => AttemptResult { again: false, ..result },
        _ => result,
    }
}

fn interpret_status<T: DeserializeOwned>(answer: &Answer) -> AttemptResult<T> {
    match answer.status {
        status if status.is_success() => match serde_json::from_slice(&answer.body) {
            Ok(value) => AttemptResult::ok(value),
            Err(_) => AttemptResult::retry(unknown("unreadable response"), "unreadable response"),
        },
        StatusCode::TOO_MANY_REQUESTS => {
            AttemptResult::retry(unsent("the provider is busy", None), "rate limited")
        }
        // The key is in use, or the object is locked: somebody is at it, and that may be an earlier try of ours.
        StatusCode::CONFLICT => {
            AttemptResult::retry(unknown("the provider is still processing it"), "conflict")
        }
        StatusCode::REQUEST_TIMEOUT => AttemptResult::retry(unknown("the provider timed out"), "timed out"),
        status if status.is_server_error() => {
            let code = status.as_u16();
            AttemptResult::retry(unknown(format!("the provider answered {code}")), format!("error {code}"))
        }
        status => match serde_json::from_slice::<ErrorBody>(&answer.body) {
            Ok(body) => rejection::result(status, &body.error),
            Err(_) => unreadable(status),
        },
    }
}
