//! What every handler can reach.

use std::sync::Arc;

use axum::Router;
use tollgate_engine::{AddressRateLimiter, Engine, ports::Courier};
use tollgate_vault::AdminToken;

use crate::{readiness::Readiness, reference::page::Reference, transport::metrics::Metrics};

/// The service behind the routes.
pub struct App {
    pub(crate) engine: Arc<Engine>,
    pub(crate) admin_token: AdminToken,
    pub(crate) bad_credentials: AddressRateLimiter,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
    pub(crate) reference: Reference,
    pub(crate) courier: Option<Arc<dyn Courier>>,
    pub(crate) mounted: Vec<Mounted>,
}

/// Another service at this one's address.
pub(crate) struct Mounted {
    prefix: &'static str,
    router: Router,
}

/// How handlers hold it.
pub(crate) type SharedApp = Arc<App>;

impl App {
    /// Delivers events with this courier. Without one they wait for a node that has one.
    #[must_use]
    pub fn with_courier(mut self, courier: Arc<dyn Courier>) -> Self {
        self.courier = Some(courier);
        self
    }

    /// Serves another service's routes at `prefix` (`/name`) and below, which its router expects in its paths. Its answers
    /// leave as they are: no envelope, no request id, no count. It finds the caller's `IpAddr` in each request.
    #[must_use]
    pub fn with_mounted(mut self, prefix: &'static str, router: Router) -> Self {
        self.mounted.push(Mounted { prefix, router });
        self
    }

    /// The other service, if the path is one of its own.
    pub(crate) fn mounted(&self, path: &str) -> Option<&Router> {
        let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        let mut own =
            self.mounted.iter().filter(|mounted| path.strip_prefix(mounted.prefix).is_some_and(below));
        own.next().map(|mounted| &mounted.router)
    }

    /// The use-cases.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}
