//! The one HTTP client: it reuses connections, follows no redirects, limits the size of responses, and distinguishes a
//! request that was not sent from one whose response was lost.

mod connect;
mod tls;

use std::{error::Error, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::{
    client::legacy::{Client, Error as ClientError},
    rt::{TokioExecutor, TokioTimer},
};

use self::connect::Connector;

pub use connect::Destinations;
pub use tls::client_config;

const IDLE_CONNECTION_KEPT: Duration = Duration::from_mins(1);

/// A request, in a form that can be sent again. Its headers hold credentials and its body account numbers, so it cannot be
/// printed.
pub struct Request {
    pub method: Method,
    pub url: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// A whole response.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    /// A header's text, where it has one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Why there is no response.
#[derive(Debug, PartialEq, Eq)]
pub enum TransportError {
    /// Nothing was sent.
    Unsent(String),
    /// It was sent, or may have been.
    Lost(String),
}

/// Sends requests.
#[derive(Debug)]
pub struct HttpClient {
    client: Client<Connector, Full<Bytes>>,
    answer_bytes_max: usize,
}

impl HttpClient {
    /// Makes the client without connecting. Reads the system's certificates, so make it once.
    /// With `only`, a request that would go elsewhere is not sent.
    pub fn new(
        connect_timeout: Duration,
        answer_bytes_max: usize,
        only: Option<Destinations>,
    ) -> Result<Self, rustls::Error> {
        let connector = Connector::new(client_config()?, connect_timeout, only);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_CONNECTION_KEPT)
            .build(connector);
        Ok(Self { client, answer_bytes_max })
    }

    /// One exchange. A request that cannot even be written down, such as for a malformed address, was not sent.
    pub async fn send(&self, request: &Request, timeout: Duration) -> Result<Answer, TransportError> {
        self.send_with(request, None, timeout).await
    }

    /// As [`Self::send`], with a header that is not the same every time the request is sent.
    pub async fn send_with(
        &self,
        request: &Request,
        header: Option<(HeaderName, HeaderValue)>,
        timeout: Duration,
    ) -> Result<Answer, TransportError> {
        let mut outgoing = http::Request::builder()
            .method(request.method.clone())
            .uri(&request.url)
            .body(request.body.clone());
        if let Ok(outgoing) = &mut outgoing {
            *outgoing.headers_mut() = request.headers.clone();
            outgoing.headers_mut().extend(header);
        }
        let outgoing = outgoing.map_err(|error| TransportError::Unsent(error.to_string()))?.map(Full::new);
        match tokio::time::timeout(timeout, self.exchange(outgoing)).await {
            Ok(answer) => answer,
            Err(_) => Err(TransportError::Lost("timed out".to_owned())),
        }
    }

    async fn exchange(&self, request: http::Request<Full<Bytes>>) -> Result<Answer, TransportError> {
        let response = self.client.request(request).await.map_err(|error| loss(&error))?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, self.answer_bytes_max).collect().await;
        let body = body
            .map_err(|error| TransportError::Lost(format!("incomplete response: {}", innermost(&*error))))?;
        Ok(Answer { status: parts.status, headers: parts.headers, body: body.to_bytes() })
    }
}

fn loss(error: &ClientError) -> TransportError {
    let reason = innermost(error);
    if error.is_connect() {
        TransportError::Unsent(format!("no connection: {reason}"))
    } else {
        TransportError::Lost(format!("connection lost: {reason}"))
    }
}

/// The outer errors only say that something failed.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
