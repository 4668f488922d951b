//! What every handler can reach.

use std::sync::Arc;

use axum::Router;
use tollgate_engine::{Engine, ports::Courier};
use tollgate_vault::AdminToken;

use crate::{bad_credentials::BadCredentials, metrics::Metrics, operations::Readiness, router::OPERATIONS};

/// The service behind the routes.
pub struct App {
    pub(crate) engine: Arc<Engine>,
    pub(crate) admin_token: AdminToken,
    pub(crate) bad_credentials: BadCredentials,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
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
            engine: Arc::new(engine),
            courier: None,
            mounted: None,
        }
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
