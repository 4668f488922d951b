//! Checking a provider's configuration at the provider, and registering our webhook endpoint there. Nothing here moves
//! money.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tollgate_configuration::Provider;
use tollgate_domain::{Currency, tenant::Mode};
use tollgate_vault::Secret;

use super::{Call, CallLog};

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderCheck {
    /// What: `credentials`, `mode`, `webhook_events`.
    pub name: String,
    pub ok: bool,
    /// What was found.
    pub message: String,
    /// What to do; there exactly where something is wrong.
    pub hint: Option<String>,
}

impl ProviderCheck {
    pub fn pass(name: &str, message: impl Into<String>) -> Self {
        Self { name: name.to_owned(), ok: true, message: message.into(), hint: None }
    }

    pub fn fail(name: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name: name.to_owned(), ok: false, message: message.into(), hint: Some(hint.into()) }
    }
}

/// What a provider is checked against.
#[derive(Debug, Clone, Copy)]
pub struct CheckSubject<'a> {
    pub provider: &'a Provider,
    /// Where its webhooks have to go, byte for byte.
    pub webhook_url: &'a str,
    /// Whether the environment is for real money, where its name tells.
    pub mode: Option<Mode>,
    /// The currencies that fees are configured for at this provider.
    pub currencies: &'a [Currency],
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub checks: Vec<ProviderCheck>,
    pub logs: Vec<CallLog>,
    /// The account that the credentials belong to, where the configuration does not name it.
    pub account: Option<String>,
}

/// A webhook endpoint to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewWebhook<'a> {
    pub url: &'a str,
    /// The same for every try to make the same endpoint.
    pub key: &'a str,
    /// For providers that let us choose it; derived from the key, so that it is known again after a lost answer.
    pub secret: &'a Secret,
}

/// A webhook endpoint that sends to us.
#[derive(Debug, Clone)]
pub struct RegisteredWebhook {
    /// The provider's name for it.
    pub id: String,
    /// Whether it was made now; otherwise it was there.
    pub is_new: bool,
    /// The secret it signs with. `None` where the endpoint was there and the provider does not show its secret again.
    pub secret: Option<Secret>,
}

/// What an adapter can find out about its own configuration.
#[async_trait]
pub trait ProviderChecks: Send + Sync {
    /// Asks the provider about everything the configuration relies on. Never fails as a whole: what cannot be asked is a
    /// check that did not pass. A check that depends on one that did not pass is left out.
    async fn check(&self, subject: CheckSubject<'_>) -> CheckReport;

    /// Makes sure that an endpoint sends every event we need to this URL; makes one only where none does. `None` if only a
    /// person can make one, in the provider's dashboard.
    async fn register_webhook(
        &self,
        _provider: &Provider,
        _new: NewWebhook<'_>,
    ) -> Option<Call<RegisteredWebhook>> {
        None
    }
}
