//! Making connections within a time of their own.
//!
//! A connection that is not made in time has sent nothing, and has to be told from an answer that does not come in time.
//! The client's own limit covers TCP alone; this one covers name, TCP and TLS together.

use std::{
    error::Error,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower_service::Service;

type BoxError = Box<dyn Error + Send + Sync>;

/// Connects to servers.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    inner: HttpsConnector<HttpConnector>,
    timeout: Duration,
}

impl Connector {
    pub(super) fn new(tls: ClientConfig, timeout: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        // Where a name has several addresses this leaves time for the second.
        tcp.set_connect_timeout(Some(timeout));
        // Whether plain http is allowed is for those to say who know the address.
        let inner = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        Self { inner: inner.wrap_connector(tcp), timeout }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let connecting = tokio::time::timeout(self.timeout, self.inner.call(address));
        Box::pin(async move { connecting.await.map_err(|_| "timed out")? })
    }
}
