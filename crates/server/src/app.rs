//! What every handler can reach.

use std::sync::Arc;

use axum::Router;
use tollgate_engine::{Engine, ports::Courier};
use tollgate_vault::{AdminToken, Secret};

use crate::{
    operations::Readiness, reference::Reference, request::bad_credentials::BadCredentials,
    router::OPERATIONS, transport::metrics::Metrics,
};

/// The service behind the routes.
pub struct App {
    pub(crate) engine: Arc<Engine>,
    pub(crate) admin_token: AdminToken,
    pub(crate) bad_credentials: BadCredentials,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
    reference: Reference,
    courier: Option<Arc<dyn Courier>>,
    mounted: Vec<Mounted>,
}

/// Another service at this one's address.
struct Mounted {
    prefix: &'static str,
    router: Router,
}

/// How handlers hold it.
pub(crate) type SharedApp = Arc<App>;

impl App {
    /// Puts HTTP in front of an engine.
    pub fn new(engine: Engine, admin_token: AdminToken) -> Self {
        let operations = OPERATIONS.iter().map(|operation| operation.name);
        Self {
            admin_token,
            bad_credentials: BadCredentials::default(),
            metrics: Metrics::new(operations, Arc::clone(engine.delivery_tally())),
            readiness: Readiness::default(),
            reference: Reference::new(None),
            engine: Arc::new(engine),
            courier: None,
            mounted: Vec::new(),
        }
    }

    /// Fills this key in on the page at `/docs`. For a sandbox: whoever can read the page can read the key.
    #[must_use]
    pub fn with_key_in_docs(mut self, key: &Secret) -> Self {
        self.reference = Reference::new(Some(key));
        self
    }

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

    /// What `/openapi.json` and `/docs` serve.
    pub(crate) fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The other service, if the path is one of its own.
    pub(crate) fn mounted(&self, path: &str) -> Option<&Router> {
        let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        let mut own =
            self.mounted.iter().filter(|mounted| path.strip_prefix(mounted.prefix).is_some_and(below));
        own.next().map(|mounted| &mounted.router)
    }

    pub(crate) fn courier(&self) -> Option<&Arc<dyn Courier>> {
        self.courier.as_ref()
    }

    /// The use-cases.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}
