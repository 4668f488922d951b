//! What every handler can reach.

use std::sync::Arc;

use axum::Router;
use tollgate_engine::{Engine, ports::Courier};
use tollgate_vault::{AdminToken, Secret};

use crate::{
    bad_credentials::BadCredentials, metrics::Metrics, operations::Readiness, reference::Reference,
    router::OPERATIONS,
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
    mounted: Option<Mounted>,
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
            mounted: None,
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

    /// Serves another service's routes below `prefix` (`/name/`), which its router expects in its paths. Its answers
    /// leave as they are: no envelope, no request id, no count.
    #[must_use]
    pub fn with_mounted(mut self, prefix: &'static str, router: Router) -> Self {
        self.mounted = Some(Mounted { prefix, router });
        self
    }

    /// What `/openapi.json` and `/docs` serve.
    pub(crate) fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The other service, if the path is one of its own.
    pub(crate) fn mounted(&self, path: &str) -> Option<&Router> {
        self.mounted
            .as_ref()
            .filter(|mounted| path.starts_with(mounted.prefix))
            .map(|mounted| &mounted.router)
    }

    pub(crate) fn courier(&self) -> Option<&Arc<dyn Courier>> {
        self.courier.as_ref()
    }

    /// The use-cases.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}
