//! What every handler can reach.

use std::sync::Arc;

use axum::Router;
use tollgate_domain::address_range::AddressRange;
use tollgate_engine::{AddressRateLimiter, BodyBudget, Engine, ExternalCheck, ports::Courier};
use tollgate_vault::AdminToken;

use crate::{
    policy_tally::PolicyReports,
    readiness::Readiness,
    reference::page::Reference,
    transport::{metrics::Metrics, own_host},
};

/// The service behind the routes.
pub struct App {
    pub(crate) engine: Arc<Engine>,
    pub(crate) admin_token: AdminToken,
    pub(crate) bad_credentials: AddressRateLimiter,
    /// What all requests under way hold of their bodies.
    pub(crate) body_budget: Arc<BodyBudget>,
    pub(crate) metrics: Metrics,
    /// What browsers reported of pages with card fields.
    pub(crate) policy_reports: Arc<PolicyReports>,
    /// The token that opens the metrics to other machines.
    pub(crate) metrics_token: Option<AdminToken>,
    pub(crate) readiness: Readiness,
    pub(crate) reference: Reference,
    pub(crate) courier: Option<Arc<dyn Courier>>,
    pub(crate) mounted: Vec<Mounted>,
    /// Pages that hold a key, in the sandbox: shown only to those who ask for this service by its own name.
    pub(crate) key_pages: Vec<&'static str>,
    /// Whose `X-Forwarded-For` is believed.
    pub(crate) trusted_proxies: Vec<AddressRange>,
    /// What the doctor looks at besides.
    pub(crate) external_check: Option<Arc<dyn ExternalCheck>>,
    /// True if pages on the browser's own machine may call what a publishable key opens, in the sandbox.
    pub(crate) allows_loopback_origins: bool,
}

/// Another service at this one's address.
pub(crate) struct Mounted {
    prefix: &'static str,
    pub(crate) router: Router,
    /// True if its requests are given an id, counted and logged as the API's are.
    pub(crate) is_recorded: bool,
}

/// True if the path is the operators': their API or their pages.
pub(crate) fn is_for_operators(path: &str) -> bool {
    is_below(path, "/admin") || is_below(path, "/console")
}

fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

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
        self.mounted.push(Mounted { prefix, router, is_recorded: false });
        self
    }

    /// Serves the operator's pages at `prefix` and below. Each request has an id, which its page finds beside the caller's
    /// `IpAddr`, and is counted and logged.
    #[must_use]
    pub fn with_console(mut self, prefix: &'static str, router: Router) -> Self {
        self.mounted.push(Mounted { prefix, router, is_recorded: true });
        self
    }

    /// Shows these pages, which hold a key, only under this service's own names. Another site can make its name lead here
    /// and would read them in the browser of whoever visits it.
    #[must_use]
    pub fn with_key_pages(mut self, pages: &[&'static str]) -> Self {
        self.key_pages = pages.to_vec();
        self
    }

    /// Believes these addresses about where a request comes from.
    #[must_use]
    pub fn with_trusted_proxies(mut self, proxies: Vec<AddressRange>) -> Self {
        self.trusted_proxies = proxies;
        self
    }

    /// Shows metrics also to requests with this token.
    #[must_use]
    pub fn with_metrics_token(mut self, token: AdminToken) -> Self {
        self.metrics_token = Some(token);
        self
    }

    /// Has the doctor look at this, too.
    #[must_use]
    pub fn with_external_check(mut self, check: Arc<dyn ExternalCheck>) -> Self {
        self.external_check = Some(check);
        self
    }

    /// Lets pages on the browser's own machine call what a publishable key opens. For a sandbox.
    #[must_use]
    pub fn with_loopback_origins(mut self) -> Self {
        self.allows_loopback_origins = true;
        self
    }

    /// The other service, if the path is one of its own.
    pub(crate) fn mounted(&self, path: &str) -> Option<&Mounted> {
        self.mounted.iter().find(|mounted| is_below(path, mounted.prefix))
    }

    pub(crate) fn has_key_pages(&self) -> bool {
        !self.key_pages.is_empty()
    }

    /// True if this is a page that holds a key, asked for under a name that is not this service's own.
    pub(crate) fn hides_page(&self, path: &str, host: Option<&str>) -> bool {
        self.key_pages.iter().any(|page| is_below(path, page))
            && !host.is_some_and(|host| own_host::is_own(host, self.engine.public_url()))
    }

    /// The use-cases.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}
