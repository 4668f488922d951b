//! Puts the service together: what handlers reach, and what the router knows of them.

use std::sync::Arc;

use tollgate_engine::{AddressRateLimiter, Engine};
use tollgate_vault::{AdminToken, Secret};

use crate::{
    app::App,
    policy_tally::PolicyReports,
    readiness::Readiness,
    reference::{document::document, page::Reference},
    router::OPERATIONS,
    transport::metrics::Metrics,
};

/// Slows down clients that keep sending invalid credentials. High enough for a misconfigured fleet behind one address to see
/// its honest 401s, low enough to bound the work; valid credentials are never refused by it.
const BAD_CREDENTIALS_PER_SECOND: u64 = 50;
const BAD_CREDENTIALS_BURST: u64 = 1_000;
const ADDRESS_SLOTS: usize = 4_096;

impl App {
    /// Puts HTTP in front of an engine.
    pub fn new(engine: Engine, admin_token: AdminToken) -> Self {
        let policy_reports: Arc<PolicyReports> = Arc::default();
        let operations = OPERATIONS.iter().map(|operation| operation.name);
        Self {
            admin_token,
            bad_credentials: AddressRateLimiter::new(
                ADDRESS_SLOTS,
                BAD_CREDENTIALS_PER_SECOND,
                BAD_CREDENTIALS_BURST,
            ),
            body_budget: Arc::default(),
            metrics_token: None,
            metrics: Metrics::new(
                operations,
                Arc::clone(engine.delivery_tally()),
                Arc::clone(engine.circuits()),
                Arc::clone(&policy_reports),
            ),
            policy_reports,
            readiness: Readiness::default(),
            reference: Reference::new(document, None),
            engine: Arc::new(engine),
            courier: None,
            mounted: Vec::new(),
            key_pages: Vec::new(),
            trusted_proxies: Vec::new(),
            external_check: None,
            allows_loopback_origins: false,
        }
    }

    /// Fills this key in on the page at `/docs`. For a sandbox: whoever can read the page can read the key.
    #[must_use]
    pub fn with_key_in_docs(mut self, key: &Secret) -> Self {
        self.reference = Reference::new(document, Some(key));
        self
    }
}
