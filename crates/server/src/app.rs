//! What every handler can reach.

use std::sync::Arc;

use tollgate_engine::Engine;
use tollgate_vault::AdminToken;

use crate::{bad_credentials::BadCredentials, metrics::Metrics, operations::Readiness, router::OPERATIONS};

/// The service behind the routes.
pub struct App {
    pub(crate) engine: Engine,
    pub(crate) admin_token: AdminToken,
    pub(crate) bad_credentials: BadCredentials,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
}

/// How handlers hold it.
pub(crate) type SharedApp = Arc<App>;

impl App {
    /// Puts HTTP in front of an engine.
    pub fn new(engine: Engine, admin_token: AdminToken) -> Self {
        let operations = OPERATIONS.iter().map(|operation| operation.name);
        Self {
            engine,
            admin_token,
            bad_credentials: BadCredentials::default(),
            metrics: Metrics::new(operations),
            readiness: Readiness::default(),
        }
    }

    /// The use-cases.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}
