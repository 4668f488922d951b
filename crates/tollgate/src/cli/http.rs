//! One HTTP exchange at a time, and the addresses it goes to.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use tollgate_http::{HttpClient, Request, TransportError};

use crate::failure::Failure;

pub(crate) use tollgate_http::Answer as Reply;

const MAX_ANSWER: usize = 64 * 1024 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client that keeps its connections.
pub(crate) struct Http {
    client: HttpClient,
}

impl Http {
    pub(crate) fn new() -> Result<Self, Failure> {
        let client = HttpClient::new(CONNECT_TIMEOUT, MAX_ANSWER, None);
        let client =
            client.map_err(|error| Failure::new(format!("cannot prepare encrypted connections: {error}")))?;
        Ok(Self { client })
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
        if url.parse::<Uri>().is_err() {
            return Err("not a valid URL".to_owned());
        }
        let mut sent = HeaderMap::new();
        if !body.is_empty() {
            sent.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, value) in headers {
            let name = HeaderName::try_from(*name).map_err(|error| error.to_string())?;
            let value = HeaderValue::try_from(value).map_err(|_| format!("{name} cannot be sent"))?;
            sent.insert(name, value);
        }
        let request = Request { method, url: url.to_owned(), headers: sent, body: body.into() };
        self.client.send(&request, timeout).await.map_err(|error| match error {
            TransportError::Unsent(reason) | TransportError::Lost(reason) => reason,
        })
    }
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
