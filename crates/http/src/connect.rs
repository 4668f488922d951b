//! Making connections within a time of their own.
//!
//! A connection that is not made in time has sent nothing, and has to be told from an answer that does not come in time.
//! The client's own limit covers TCP alone; this one covers name, TCP and TLS together.

use std::{
    error::Error,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
    vec,
};

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::{
    client::legacy::connect::{
        HttpConnector,
        dns::{GaiResolver, Name},
    },
    rt::TokioIo,
};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower_service::Service;

type BoxError = Box<dyn Error + Send + Sync>;
type BoxFuture<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// Where connections may go, for a client whose addresses are configured by somebody else.
#[derive(Debug, Clone)]
pub struct Destinations {
    /// The only hosts that are connected to, over https alone. A star at the beginning stands for a part of a name without dots.
    pub hosts: Vec<&'static str>,
    /// Whether an address that a host's name leads to may be connected to.
    pub is_allowed: fn(IpAddr) -> bool,
}

impl Destinations {
    fn allow(&self, address: &Uri) -> bool {
        let host = address.host().unwrap_or_default();
        let is_it = |own: &&str| match own.strip_prefix('*') {
            Some(end) => {
                let host = host.to_ascii_lowercase();
                host.strip_suffix(end).is_some_and(|start| !start.is_empty() && !start.contains('.'))
            }
            None => own.eq_ignore_ascii_case(host),
        };
        address.scheme_str() == Some("https") && self.hosts.iter().any(is_it)
    }
}

/// Connects to servers.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    inner: HttpsConnector<HttpConnector<CheckedResolver>>,
    timeout: Duration,
    only: Option<Arc<Destinations>>,
}

impl Connector {
    pub(super) fn new(tls: ClientConfig, timeout: Duration, only: Option<Destinations>) -> Self {
        let only = only.map(Arc::new);
        let is_allowed = only.as_ref().map(|only| only.is_allowed);
        let mut tcp =
            HttpConnector::new_with_resolver(CheckedResolver { system: GaiResolver::new(), is_allowed });
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        // Where a name has several addresses this leaves time for the second.
        tcp.set_connect_timeout(Some(timeout));
        // Whether plain http is allowed is for those to say who know the address.
        let inner = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        Self { inner: inner.wrap_connector(tcp), timeout, only }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = BoxFuture<Self::Response, BoxError>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        if self.only.as_ref().is_some_and(|only| !only.allow(&address)) {
            let host = address.host().unwrap_or_default().to_owned();
            return Box::pin(async move { Err(format!("{host} is not a host that may be called").into()) });
        }
        let connecting = tokio::time::timeout(self.timeout, self.inner.call(address));
        Box::pin(async move { connecting.await.map_err(|_| "timed out")? })
    }
}

/// Asks the operating system, and connects to a name only if every address it leads to may be connected to: the
/// connection is made to what was checked, because nobody looks the name up again.
#[derive(Debug, Clone)]
struct CheckedResolver {
    system: GaiResolver,
    is_allowed: Option<fn(IpAddr) -> bool>,
}

impl Service<Name> for CheckedResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<Self::Response, io::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        self.system.poll_ready(context)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (finding, is_allowed) = (self.system.call(name), self.is_allowed);
        Box::pin(async move {
            let found: Vec<SocketAddr> = finding.await?.collect();
            check(&found, is_allowed)?;
            Ok(found.into_iter())
        })
    }
}

fn check(found: &[SocketAddr], is_allowed: Option<fn(IpAddr) -> bool>) -> io::Result<()> {
    let Some(is_allowed) = is_allowed else { return Ok(()) };
    match found.iter().find(|address| !is_allowed(address.ip())) {
        None => Ok(()),
        Some(refused) => {
            Err(io::Error::other(format!("the host resolves to {}, which may not be called", refused.ip())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_hosts_are_called_and_only_over_tls() {
        let hosts = vec!["api.example.com", "*-live.example.net"];
        let only = Destinations { hosts, is_allowed: |_| true };
        for (address, expected) in [
            ("https://api.example.com/v1", true),
            ("https://API.example.com:443/v1", true),
            ("http://api.example.com/v1", false),
            ("https://api.example.com.evil.example/v1", false),
            ("https://evil.example/api.example.com", false),
            ("https://0123-Shop-live.example.net/v1", true),
            ("https://-live.example.net/", false),
            ("https://evil.example.org.a-live.example.net/", false),
            ("https://a-live.example.net.evil.example/", false),
            ("https://169.254.169.254/", false),
        ] {
            assert_eq!(only.allow(&address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn one_refused_address_refuses_the_name() {
        let public: SocketAddr = "8.8.8.8:443".parse().unwrap();
        let private: SocketAddr = "10.0.0.1:443".parse().unwrap();
        let not_ten: fn(IpAddr) -> bool = |address| !address.to_string().starts_with("10.");
        assert!(check(&[public], Some(not_ten)).is_ok());
        assert!(check(&[public, private], Some(not_ten)).is_err());
        assert!(check(&[private], None).is_ok());
    }

    #[tokio::test]
    async fn a_name_is_checked_whenever_it_is_resolved() {
        let mut resolver = CheckedResolver {
            system: GaiResolver::new(),
            is_allowed: Some(|address| !address.is_loopback()),
        };
        let refused = resolver.call("localhost".parse().unwrap()).await.unwrap_err();
        assert!(refused.to_string().contains("which may not be called"), "{refused}");
    }
}
