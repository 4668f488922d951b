//! Carries events to the addresses that want them, and to no address that is not public.
//!
//! A receiver's address is chosen by somebody else, so this is the one place where the service can be made to knock at
//! doors of its own house. Names are resolved here, every address a name has is looked at, and the connection is made to
//! exactly an address that was looked at: there is no second look-up that could answer differently. Redirects are not
//! followed, proxies of the environment are not used, nothing is kept between two deliveries but TLS sessions.

mod connect;
mod resolve;
mod retry_after;
mod send;

use std::{sync::Arc, time::Duration};

use tokio_rustls::TlsConnector;

pub use resolve::{Resolver, SystemResolver};

/// How letters are carried.
#[derive(Debug, Clone, Copy)]
pub struct CourierSettings {
    /// How long it may take until the connection stands: name, TCP and TLS.
    pub connect_timeout: Duration,
    /// How long all of it may take.
    pub timeout: Duration,
    /// Whether addresses that are not public are carried to.
    pub allow_private: bool,
}

impl Default for CourierSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(15),
            allow_private: false,
        }
    }
}

/// Carries letters over HTTP.
pub struct HttpCourier {
    settings: CourierSettings,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
}

impl HttpCourier {
    /// A courier that asks the system for names and believes the system's certificate authorities.
    pub fn new(settings: CourierSettings) -> Result<Self, rustls::Error> {
        Ok(Self::with(settings, Arc::new(SystemResolver), tollgate_http::client_config()?))
    }

    /// A courier that asks `resolver` for names, and believes whom `tls` believes.
    pub fn with(settings: CourierSettings, resolver: Arc<dyn Resolver>, tls: rustls::ClientConfig) -> Self {
        Self { settings, resolver, tls: TlsConnector::from(Arc::new(tls)) }
    }
}
