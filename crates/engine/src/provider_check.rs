//! Checking a provider live: what the configuration says of it, held against what the provider itself says.
//!
//! Nothing here moves money. Registering the webhook endpoint is the one thing that is changed at the provider, and only
//! where it is asked for.

use data_encoding::HEXLOWER;
use serde_json::json;
use tollgate_configuration::{Configuration, Provider};
use tollgate_domain::{Channel, Timestamp, id::EnvironmentId};
use tollgate_vault::Secret;

use crate::{
    audit_log::Audited,
    configure::{ConfigRead, ConfigureError, Origin},
    engine::Engine,
    ports::{
        CallError, CheckSubject, InstantCapability, NewWebhook, ProviderCheck, ProviderCheckRecord,
        ProviderChecks, RegisteredWebhook, StoreError,
    },
};

const REGISTRATION: &str = "webhook_registration";
const INSTANT: &str = "instant";

/// Why a provider was not checked.
#[derive(Debug, thiserror::Error)]
pub enum ProviderCheckError {
    /// No such environment, or no such provider in its configuration.
    #[error("environment or provider not found")]
    Missing,
    /// The configuration could not be read or changed.
    #[error(transparent)]
    Configure(#[from] ConfigureError),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a check of a provider found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedProvider {
    /// The version of the configuration that was checked.
    pub config_version: u64,
    pub at: Timestamp,
    pub checks: Vec<ProviderCheck>,
}

impl CheckedProvider {
    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}

impl Engine {
    /// Checks a provider, and keeps what was found for the doctor. With `register`, makes sure first that the provider
    /// has a webhook endpoint that sends to us, and stores that endpoint's secret as a new version of the configuration.
    pub async fn check_provider(
        &self,
        environment: EnvironmentId,
        name: &str,
        register: bool,
        origin: Origin,
    ) -> Result<CheckedProvider, ProviderCheckError> {
        let mut read = self.config(environment).await.map_err(missing)?;
        let provider = read.configuration.providers.get(name).ok_or(ProviderCheckError::Missing)?.clone();
        let adapter = self.adapters.capabilities(provider.adapter).checks;
        let adapter = adapter.ok_or(ProviderCheckError::Missing)?;
        let audited = Audited::new("provider.test", name)
            .in_environment(environment)
            .after(json!({ "registerWebhook": register }));
        self.record_action(&origin, audited).await?;
        let mut checks = configured(&provider);
        if checks.is_empty() && register {
            let (check, changed) = self.register(environment, adapter, &read, &provider, origin).await?;
            checks.push(check);
            read = changed.unwrap_or(read);
        }
        if provider.api_secret().is_some() {
            let provider = read.configuration.providers.get(name).unwrap_or(&provider);
            let found = self.ask(environment, adapter, &read.configuration, provider).await?;
            let is_usable = found.iter().all(|check| check.ok || check.name.starts_with("webhook"));
            checks.extend(found);
            if is_usable {
                checks.extend(self.check_instant_transfers(environment, &read.configuration, provider).await);
            }
        }
        let (config_version, at) = (read.version, self.clock.now());
        let record = ProviderCheckRecord { provider: name.to_owned(), config_version, at, checks };
        self.store.put_provider_check(environment, &record).await?;
        Ok(CheckedProvider { config_version, at, checks: record.checks })
    }

    /// The last check of each provider that was ever checked.
    pub async fn provider_checks(
        &self,
        environment: EnvironmentId,
    ) -> Result<Vec<ProviderCheckRecord>, StoreError> {
        self.store.provider_checks(environment).await
    }

    async fn ask(
        &self,
        environment: EnvironmentId,
        adapter: &dyn ProviderChecks,
        configuration: &Configuration,
        provider: &Provider,
    ) -> Result<Vec<ProviderCheck>, ProviderCheckError> {
        let channels = provider.adapter.method().channels();
        let subject = CheckSubject {
            provider,
            webhook_url: &self.webhook_url(environment, &provider.name),
            mode: self.environment_name(environment).await?.mode(),
            currencies: &configuration.fees.currencies(channels, Some(&provider.name)),
        };
        let report = adapter.check(subject).await;
        self.note_calls(environment, &provider.name, None, &report.logs);
        if let Some(account) = &report.account {
            let credential = self.configured_account(environment, provider).credential;
            self.store.put_credential_account(environment, &credential, account).await?;
        }
        Ok(report.checks)
    }

    /// Whether the provider's account can originate the instant transfers that are routed to it; `None` where the provider
    /// does not say.
    async fn check_instant_transfers(
        &self,
        environment: EnvironmentId,
        configuration: &Configuration,
        provider: &Provider,
    ) -> Option<ProviderCheck> {
        let adapter = self.adapters.capabilities(provider.adapter).transfers?;
        let is_routed = configuration.reaches(&provider.name, Channel::Instant);
        match self.learn_instant(environment, provider, adapter).await? {
            InstantCapability::Unknown => None,
            InstantCapability::Available => {
                Some(ProviderCheck::pass(INSTANT, "The account can originate instant transfers."))
            }
            InstantCapability::Missing(lacks) if is_routed => {
                let message = format!("The account cannot originate instant transfers: it lacks {lacks}.");
                let hint = "Ask the provider to enable it for the account, name another account, or route instant transfers \
                            elsewhere: until then they are refused.";
                Some(ProviderCheck::fail(INSTANT, message, hint))
            }
            InstantCapability::Missing(lacks) => {
                let message = format!(
                    "The account cannot originate instant transfers, as it lacks {lacks}; none are routed to it."
                );
                Some(ProviderCheck::pass(INSTANT, message))
            }
        }
    }

    /// What became of the registration, and the configuration with the endpoint's secret where that is new.
    async fn register(
        &self,
        environment: EnvironmentId,
        adapter: &dyn ProviderChecks,
        read: &ConfigRead,
        provider: &Provider,
        origin: Origin,
    ) -> Result<(ProviderCheck, Option<ConfigRead>), ProviderCheckError> {
        let url = self.webhook_url(environment, &provider.name);
        // As long as the configuration stays as it is, this is the same registration, however often it is tried.
        let key = format!("tollgate-webhook-{environment}-{}-{}", provider.name, read.version);
        let secret = self.master_key.digester("provider webhook secrets").digest(&[key.as_bytes()]);
        let secret = Secret::new(HEXLOWER.encode(&secret));
        let new = NewWebhook { url: &url, key: &key, secret: &secret };
        let Some(made) = adapter.register_webhook(provider, new).await else {
            return Ok((by_hand(provider, &url), None));
        };
        self.note_calls(environment, &provider.name, None, &made.logs);
        let registered = match made.outcome {
            Ok(registered) => registered,
            Err(error) => return Ok((not_registered(&error), None)),
        };
        let stored = provider.credential(provider.webhook_secret_field());
        let new_secret = registered.secret.as_ref().filter(|secret| Some(secret.expose()) != stored);
        let changed = match new_secret {
            Some(secret) => Some(self.store_secret(environment, &provider.name, secret, origin).await?),
            None => None,
        };
        let version = changed.as_ref().map(|changed| changed.version);
        Ok((said(&registered, provider, stored.is_some(), version), changed))
    }

    /// Puts the configuration in force with a new webhook secret and otherwise as it is.
    async fn store_secret(
        &self,
        environment: EnvironmentId,
        name: &str,
        secret: &Secret,
        origin: Origin,
    ) -> Result<ConfigRead, ProviderCheckError> {
        let done = Audited::new("provider.register_webhook", name);
        let (name, secret) = (name.to_owned(), secret.clone());
        let storing = move |mut current: ConfigRead| {
            let providers = std::mem::take(&mut current.configuration.providers);
            current.configuration.providers = providers.with_webhook_secret(&name, &secret);
            Ok((current.configuration.clone(), current.configuration))
        };
        let stored = self.change_config(environment, None, origin, done, storing).await;
        let (version, configuration) = stored.map_err(missing)?;
        Ok(ConfigRead { version, configuration })
    }
}

fn missing(error: ConfigureError) -> ProviderCheckError {
    match error {
        ConfigureError::Missing => ProviderCheckError::Missing,
        other => other.into(),
    }
}

/// What the configuration itself lacks, if anything.
fn configured(provider: &Provider) -> Vec<ProviderCheck> {
    let missing = provider.missing_to_pay();
    if missing.is_empty() {
        return Vec::new();
    }
    let message = format!("The configuration lacks {}.", missing.join(", "));
    let hint = format!("Add it below providers.{} and apply the configuration.", provider.name);
    vec![ProviderCheck::fail("configuration", message, hint)]
}

fn by_hand(provider: &Provider, url: &str) -> ProviderCheck {
    let (name, field) = (&provider.name, provider.webhook_secret_field());
    ProviderCheck::fail(
        REGISTRATION,
        "This provider's webhook endpoints cannot be created by API.",
        format!(
            "Add {url} in its dashboard, and copy the webhook key to providers.{name}.credentials.{field}."
        ),
    )
}

fn not_registered(error: &CallError) -> ProviderCheck {
    match error {
        CallError::Rejected(rejection) => ProviderCheck::fail(
            REGISTRATION,
            format!("The provider did not create the webhook endpoint. {}", rejection.failure.message),
            "Check that TOLLGATE_PUBLIC_URL is a public https address and that the credentials may manage webhooks, or \
             create the endpoint in the provider's dashboard.",
        ),
        CallError::Unsent(transient) => ProviderCheck::fail(
            REGISTRATION,
            format!("The provider could not be asked for a webhook endpoint: {}.", transient.reason),
            "Run this again.",
        ),
        CallError::Unknown(transient) => ProviderCheck::fail(
            REGISTRATION,
            format!("The webhook endpoint may or may not have been created: {}.", transient.reason),
            "Run this again: an endpoint that was created is found and not created twice.",
        ),
    }
}

fn said(
    registered: &RegisteredWebhook,
    provider: &Provider,
    has_secret: bool,
    version: Option<u64>,
) -> ProviderCheck {
    let RegisteredWebhook { id, is_new, .. } = registered;
    let what =
        if *is_new { format!("Created {id}") } else { format!("{id} exists already; nothing was created") };
    match version {
        Some(version) => {
            ProviderCheck::pass(REGISTRATION, format!("{what}. Its secret is stored in version {version}."))
        }
        None if has_secret => {
            ProviderCheck::pass(REGISTRATION, format!("{what}. The stored secret was kept."))
        }
        None => ProviderCheck::fail(
            REGISTRATION,
            format!("{what}. The provider shows an endpoint's secret only when it is created."),
            format!(
                "Copy the secret from the provider's dashboard to providers.{}.credentials.{}, or delete the endpoint \
                 there and run this again.",
                provider.name,
                provider.webhook_secret_field()
            ),
        ),
    }
}
