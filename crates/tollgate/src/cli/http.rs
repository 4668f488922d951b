//! One HTTP exchange at a time, plain or with the system's certificates.

use std::{error::Error, time::Duration};

use axum::body::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};

use crate::failure::Failure;

const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// A client that keeps its connections.
pub(crate) struct Http {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Http {
    pub(crate) fn new() -> Result<Self, Failure> {
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::aws_lc_rs::default_provider())
            .map_err(|error| Failure::new(format!("cannot read the system's certificates: {error}")))?
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self { client: Client::builder(TokioExecutor::new()).build(connector) })
    }

    /// Sends a request and reads the whole answer; otherwise says in words why there is none.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &str,
        headers: &[(&str, String)],
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<Reply, String> {
        let mut request = Request::builder().method(method).uri(url);
        if !body.is_empty() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|_| "not a valid URL".to_owned())?;
        let exchange = async {
            let answer = self.client.request(request).await.map_err(|error| reason(&error))?;
            let (parts, body) = answer.into_parts();
            let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| error.to_string())?;
            Ok(Reply { status: parts.status, headers: parts.headers, body: body.to_bytes() })
        };
        let waited = tokio::time::timeout(timeout, exchange).await;
        waited.map_err(|_| "timed out".to_owned())?
    }
}

/// The innermost reason: "connection refused" rather than "client error (Connect)".
fn reason(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// A part of a path, with everything escaped that could end it.
pub(crate) fn segment(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            escaped.push(char::from(byte));
        } else {
            escaped.extend([format!("%{byte:02X}")]);
        }
    }
    escaped
}

/// A query out of what is given, with its question mark; empty where nothing is.
pub(crate) fn query(pairs: &[(&str, Option<String>)]) -> String {
    let given = pairs.iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
    let given: Vec<_> = given.map(|(name, value)| format!("{name}={}", segment(value))).collect();
    if given.is_empty() { String::new() } else { format!("?{}", given.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_given_leaves_its_segment() {
        assert_eq!(segment("env_1/../x?y#z é"), "env_1%2F..%2Fx%3Fy%23z%20%C3%A9");
        assert_eq!(query(&[("a", None)]), "");
        assert_eq!(
            query(&[("a", Some("1".to_owned())), ("b", None), ("c", Some("&".to_owned()))]),
            "?a=1&c=%26"
        );
    }
}
