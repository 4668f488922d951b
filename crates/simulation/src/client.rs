//! Requests as callers and operators write them.

use std::time::Duration;

use axum::body::Body;
use http::{Method, Request};
use serde_json::Value;

use crate::node::{ADMIN_TOKEN, Answer, Cluster, NoAnswer};

const OPERATOR_TIMEOUT: Duration = Duration::from_mins(1);

pub(crate) fn request(method: Method, path: &str, credential: &str, body: Option<&Value>) -> Request<Body> {
    let text = body.map(Value::to_string).unwrap_or_default();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {credential}"))
        .header("content-type", "application/json")
        .body(Body::from(text));
    request.unwrap_or_else(|error| panic!("a request of our own cannot be written: {error}"))
}

impl Cluster {
    /// One request of an operator.
    pub(crate) async fn operate(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, NoAnswer> {
        let node = self.any_node();
        self.ask(node, request(method, path, ADMIN_TOKEN, body), OPERATOR_TIMEOUT).await
    }

    /// An operator who does not give up: again until it is answered with success.
    pub(crate) async fn insist(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let mut longest = 2_000;
        loop {
            match self.operate(method.clone(), path, body).await {
                Ok(answer) if answer.status < 300 => return answer,
                Ok(answer) if !matches!(answer.status, 429 | 500..) => {
                    self.world.violate("operators are let do their work", format_args!("{path}: {answer:?}"));
                    return answer;
                }
                Ok(_) | Err(NoAnswer) => {
                    self.world.pause(300..longest).await;
                    longest = (longest * 2).min(600_000);
                }
            }
        }
    }

    /// A caller's POST, perhaps under an idempotency key.
    pub(crate) async fn call_with(
        &self,
        node: usize,
        path: &str,
        key: &str,
        body: &Value,
        idempotency_key: Option<&str>,
    ) -> Result<Answer, NoAnswer> {
        let patience = Duration::from_millis(self.world.draw(4_000..45_000));
        let mut request = request(Method::POST, path, key, Some(body));
        if let Some(value) = idempotency_key.and_then(|key| http::HeaderValue::from_str(key).ok()) {
            request.headers_mut().insert("idempotency-key", value);
        }
        self.ask(node, request, patience).await
    }

    /// One request of a caller with this key.
    pub(crate) async fn call(
        &self,
        node: usize,
        method: Method,
        path: &str,
        key: &str,
        body: Option<&Value>,
    ) -> Result<Answer, NoAnswer> {
        let patience = Duration::from_millis(self.world.draw(4_000..45_000));
        self.ask(node, request(method, path, key, body), patience).await
    }
}
