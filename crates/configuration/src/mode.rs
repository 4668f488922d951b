//! Test or live: what a provider's entry says of itself, and where its parts contradict one another.

use tollgate_domain::tenant::Mode;

use crate::{
    adapter::Adapter,
    provider::{Provider, ProviderEnvironment},
};

impl From<ProviderEnvironment> for Mode {
    fn from(environment: ProviderEnvironment) -> Self {
        match environment {
            ProviderEnvironment::Sandbox => Self::Test,
            ProviderEnvironment::Production => Self::Live,
        }
    }
}

impl Provider {
    /// Whether its API is called for real money, as far as its entry tells.
    pub fn mode(&self) -> Option<Mode> {
        match self.adapter {
            Adapter::Stripe => key_mode(self.credential("secretKey")?),
            Adapter::Square | Adapter::Adyen => Some(self.environment().into()),
            // Without an address of its own, its API is the production one unless the entry says otherwise.
            Adapter::Increase => match (self.environment, &self.base_url) {
                (Some(environment), _) => Some(environment.into()),
                (None, None) => Some(Mode::Live),
                (None, Some(_)) => None,
            },
            // One address serves both, and a key does not show its side.
            Adapter::ModernTreasury => self.environment.map(Into::into),
        }
    }

    /// Where people answer a dispute at the provider.
    pub fn dispute_page(&self, id: &str) -> Option<String> {
        self.adapter.dispute_page(self.mode(), id)
    }

    /// Where people see a payment at the provider; `None` where its address is not known.
    pub fn payment_page(&self, id: &str) -> Option<String> {
        self.adapter.payment_page(self.mode(), id)
    }

    /// The field that decides [`Provider::mode`].
    pub fn mode_field(&self) -> &'static str {
        match self.adapter {
            Adapter::Stripe => "credentials.secretKey",
            Adapter::Square | Adapter::Adyen | Adapter::Increase | Adapter::ModernTreasury => "environment",
        }
    }

    /// Parts of the entry that belong to different modes, each as a field below the entry and a sentence.
    pub(crate) fn mode_conflicts(&self) -> Vec<(&'static str, String)> {
        let conflict = match self.adapter {
            Adapter::Stripe => {
                let secret = self.credential("secretKey").and_then(key_mode);
                let publishable = self.credential("publishableKey").and_then(key_mode);
                secret.zip(publishable).filter(|(secret, publishable)| secret != publishable).map(
                    |(secret, publishable)| {
                        let message = format!(
                            "is a {publishable} key, but secretKey is a {secret} key; use two keys of one mode"
                        );
                        ("credentials.publishableKey", message)
                    },
                )
            }
            Adapter::Square => self.square_conflict(),
            Adapter::Adyen => self.client_key_conflict(),
            Adapter::Increase | Adapter::ModernTreasury => None,
        };
        conflict.into_iter().collect()
    }

    fn client_key_conflict(&self) -> Option<(&'static str, String)> {
        let (side, _) = self.credential("clientKey")?.split_once('_')?;
        let told_by_key = match side {
            "test" => ProviderEnvironment::Sandbox,
            "live" => ProviderEnvironment::Production,
            _ => return None,
        };
        let configured = self.environment.filter(|configured| *configured != told_by_key)?;
        let message = format!(
            "is a {side} key, but environment is `{}`; use the credentials and the environment of one side",
            configured.as_str()
        );
        Some(("credentials.clientKey", message))
    }

    fn square_conflict(&self) -> Option<(&'static str, String)> {
        let id = self.credential("applicationId")?;
        let told_by_id = match id {
            id if id.starts_with("sandbox-") => ProviderEnvironment::Sandbox,
            id if id.starts_with("sq0idp-") => ProviderEnvironment::Production,
            _ => return None,
        };
        let configured = self.environment.filter(|configured| *configured != told_by_id)?;
        let message = format!(
            "is a {} application, but environment is `{}`; use the credentials and the environment of one side",
            told_by_id.as_str(),
            configured.as_str()
        );
        Some(("credentials.applicationId", message))
    }
}

/// What a key's prefix says: `sk_test_…`, `rk_live_…`, `pk_test_…`.
fn key_mode(key: &str) -> Option<Mode> {
    let (_, rest) = key.split_once('_')?;
    match rest.split_once('_')?.0 {
        "test" => Some(Mode::Test),
        "live" => Some(Mode::Live),
        _ => None,
    }
}
