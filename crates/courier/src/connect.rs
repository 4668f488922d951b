//! Connections: to an address that was looked at, and to no other.

use std::{io, net::IpAddr};

use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tollgate_domain::public_address::is_public;
use tollgate_engine::ports::DeliveryError;
use url::{Host, Url};

use crate::HttpCourier;

/// Addresses of one name that are tried.
const ADDRESSES_TRIED: usize = 4;

/// What bytes go over.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl HttpCourier {
    /// A connection to the address's host, encrypted where the address says so.
    pub(crate) async fn connect(&self, url: &Url) -> Result<TokioIo<Box<dyn Stream>>, DeliveryError> {
        let is_encrypted = match url.scheme() {
            "https" => true,
            "http" if self.settings.allow_private => false,
            _ => return Err(refused("the URL is not https")),
        };
        let host = url.host().ok_or_else(|| refused("the URL has no host"))?;
        let port = url.port_or_known_default().ok_or_else(|| refused("the URL has no port"))?;
        let addresses = self.checked_addresses(&host).await?;
        let tcp = connect_to_one(&addresses, port).await?;
        if !is_encrypted {
            return Ok(TokioIo::new(Box::new(tcp)));
        }
        let name = match host {
            Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned())
                .map_err(|_| refused("invalid TLS server name"))?,
            Host::Ipv4(address) => IpAddr::V4(address).into(),
            Host::Ipv6(address) => IpAddr::V6(address).into(),
        };
        let tls = self.tls.connect(name, tcp).await;
        let tls = tls.map_err(|error| failed(format!("TLS handshake failed: {error}")))?;
        Ok(TokioIo::new(Box::new(tls)))
    }

    /// The host's addresses, once every single one of them was found fit to be connected to. A name that leads to a
    /// public address and to a private one is meant to deceive.
    async fn checked_addresses(&self, host: &Host<&str>) -> Result<Vec<IpAddr>, DeliveryError> {
        let addresses = match host {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => {
                let found = self.resolver.addresses(name).await;
                found.map_err(|error| failed(format!("DNS lookup failed: {error}")))?
            }
        };
        if addresses.is_empty() {
            return Err(failed("DNS lookup returned no address"));
        }
        if !self.settings.allow_private
            && let Some(private) = addresses.iter().find(|address| !is_public(**address))
        {
            return Err(refused(format!("the host resolves to {private}, which is not a public address")));
        }
        Ok(addresses)
    }
}

async fn connect_to_one(addresses: &[IpAddr], port: u16) -> Result<TcpStream, DeliveryError> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses.iter().take(ADDRESSES_TRIED) {
        match TcpStream::connect((*address, port)).await {
            Ok(stream) => {
                // Without it a delivery is a little slower, and that is all.
                drop(stream.set_nodelay(true));
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(failed(format!("no connection: {last}")))
}

pub(crate) fn refused(why: impl Into<String>) -> DeliveryError {
    DeliveryError::Refused(format!("refused: {}", why.into()))
}

pub(crate) fn failed(why: impl Into<String>) -> DeliveryError {
    DeliveryError::Failed(why.into())
}
