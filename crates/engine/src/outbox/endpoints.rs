//! Endpoints: add, read, change, rotate the secret with grace, remove.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_domain::{
    event::EventFilter,
    id::{EndpointId, EnvironmentId},
};
use tollgate_vault::{RandomnessUnavailable, SealError, Secret, SigningSecret};

use super::endpoint_url::{EndpointUrl, InvalidUrl};
use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    ports::{Endpoint, EndpointAdded, EndpointChanged, SealedSecret, StoreError},
};

/// As many as an environment may have: every event is written once for each.
const MAX_ENDPOINTS: u32 = 16;
/// Signatures in one header. An operator who rotates more often than that within the grace loses the oldest.
const MAX_SECRETS: usize = 4;
/// How often a change is made again because somebody else changed the endpoint meanwhile.
const MAX_ROUNDS: usize = 8;

/// What an endpoint is made of.
#[derive(Debug, Clone)]
pub struct NewEndpoint {
    pub url: EndpointUrl,
    /// Which events.
    pub filter: EventFilter,
    /// What it is for, in the operator's words.
    pub description: Option<String>,
}

/// What changes about an endpoint; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct EndpointChange {
    pub url: Option<EndpointUrl>,
    /// Which events.
    pub filter: Option<EventFilter>,
    /// What it is for.
    pub description: DescriptionChange,
    /// Whether it is told anything.
    pub enabled: Option<bool>,
}

/// What becomes of an endpoint's description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DescriptionChange {
    /// It stays.
    #[default]
    Keep,
    /// It is taken away.
    Clear,
    /// It is this from now on.
    Set(String),
}

/// An endpoint and the only sight of its secret.
#[derive(Debug, Clone)]
pub struct CreatedEndpoint {
    pub endpoint: Endpoint,
    /// What its deliveries are signed with.
    pub secret: Secret,
}

/// Why an endpoint was not added, read or changed.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// No such environment, or no such endpoint in it.
    #[error("environment or endpoint not found")]
    Missing,
    /// The environment has as many as it may have.
    #[error("an environment has at most {MAX_ENDPOINTS} event endpoints")]
    TooMany,
    /// It is being changed by others all the time.
    #[error("the endpoint is being changed by another request")]
    Busy,
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The secret cannot be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The operating system provided no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

impl Engine {
    /// Checks an address by the rules of this server.
    pub fn endpoint_url(&self, text: &str) -> Result<EndpointUrl, InvalidUrl> {
        EndpointUrl::parse(text, self.options.outbox.allow_private)
    }

    /// Adds an endpoint. It is told what happens from now on.
    pub async fn add_endpoint(
        &self,
        environment: EnvironmentId,
        new: NewEndpoint,
        origin: &Origin,
    ) -> Result<CreatedEndpoint, EndpointError> {
        let id = self.new_id(EndpointId::new)?;
        let now = self.clock.now();
        let (secret, sealed) = self.new_secret(environment, id)?;
        let endpoint = Endpoint {
            id,
            revision: 0,
            url: new.url.as_str().to_owned(),
            description: new.description,
            filter: new.filter,
            disabled: None,
            secrets: vec![sealed],
            created_at: now,
            updated_at: now,
            failures: 0,
            rests_until: None,
        };
        let audited =
            Audited::new("event_endpoint.create", id).in_environment(environment).after(described(&endpoint));
        let store = self.audited(origin, audited);
        match store.add_endpoint(environment, &endpoint, MAX_ENDPOINTS).await? {
            EndpointAdded::Done => Ok(CreatedEndpoint { endpoint, secret }),
            EndpointAdded::TooMany => Err(EndpointError::TooMany),
            EndpointAdded::EnvironmentMissing => Err(EndpointError::Missing),
        }
    }

    /// All endpoints of an environment, oldest first.
    pub async fn endpoints(&self, environment: EnvironmentId) -> Result<Vec<Endpoint>, EndpointError> {
        Ok(self.store.endpoints(environment).await?)
    }

    /// An endpoint.
    pub async fn endpoint(
        &self,
        environment: EnvironmentId,
        id: EndpointId,
    ) -> Result<Endpoint, EndpointError> {
        self.store.endpoint(environment, id).await?.ok_or(EndpointError::Missing)
    }

    /// Changes an endpoint; who disabled it is remembered with it.
    pub async fn change_endpoint(
        &self,
        environment: EnvironmentId,
        id: EndpointId,
        change: &EndpointChange,
        origin: &Origin,
    ) -> Result<Endpoint, EndpointError> {
        let changed = self.revise(environment, id, "event_endpoint.change", origin, |endpoint| {
            if let Some(url) = &change.url {
                url.as_str().clone_into(&mut endpoint.url);
            }
            if let Some(filter) = &change.filter {
                endpoint.filter.clone_from(filter);
            }
            match &change.description {
                DescriptionChange::Keep => {}
                DescriptionChange::Clear => endpoint.description = None,
                DescriptionChange::Set(text) => endpoint.description = Some(text.clone()),
            }
            match change.enabled {
                Some(true) => endpoint.disabled = None,
                // Why it was disabled in the first place is worth more than that somebody agreed.
                Some(false) if endpoint.disabled.is_none() => {
                    endpoint.disabled = Some(format!("disabled by {}", origin.actor));
                }
                Some(false) | None => {}
            }
        });
        let changed = changed.await?;
        self.outbox_notify.notify_one();
        Ok(changed)
    }

    /// Gives an endpoint a new secret; the current one goes on signing beside it for `grace`.
    pub async fn rotate_endpoint_secret(
        &self,
        environment: EnvironmentId,
        id: EndpointId,
        grace: Duration,
        origin: &Origin,
    ) -> Result<CreatedEndpoint, EndpointError> {
        let (secret, sealed) = self.new_secret(environment, id)?;
        let now = self.clock.now();
        let ends = now.saturating_add(grace);
        let endpoint = self.revise(environment, id, "event_endpoint.rotate_secret", origin, |endpoint| {
            let old = std::mem::take(&mut endpoint.secrets).into_iter().map(|old| SealedSecret {
                until: Some(old.until.map_or(ends, |until| until.min(ends))),
                ..old
            });
            let live = old.filter(|old| old.until.is_some_and(|until| until > now));
            endpoint.secrets = std::iter::once(sealed.clone()).chain(live).take(MAX_SECRETS).collect();
        });
        Ok(CreatedEndpoint { endpoint: endpoint.await?, secret })
    }

    /// Removes an endpoint and what waits for it; the events stay.
    pub async fn remove_endpoint(
        &self,
        environment: EnvironmentId,
        id: EndpointId,
        origin: &Origin,
    ) -> Result<(), EndpointError> {
        let audited = Audited::new("event_endpoint.remove", id).in_environment(environment);
        if self.audited(origin, audited).remove_endpoint(environment, id).await? {
            return Ok(());
        }
        Err(EndpointError::Missing)
    }

    /// The secrets that sign a delivery made now, the current one first.
    pub(super) fn signing_secrets(
        &self,
        environment: EnvironmentId,
        endpoint: &Endpoint,
    ) -> Result<Vec<SigningSecret>, String> {
        let now = self.clock.now();
        let live = endpoint.secrets.iter().filter(|secret| secret.until.is_none_or(|until| until > now));
        let context = secret_context(environment, endpoint.id);
        live.map(|secret| {
            let text =
                self.endpoint_sealer.open(&context, &secret.sealed).map_err(|error| error.to_string())?;
            SigningSecret::parse(&text).map_err(|error| error.to_string())
        })
        .collect()
    }

    fn new_secret(
        &self,
        environment: EnvironmentId,
        id: EndpointId,
    ) -> Result<(Secret, SealedSecret), EndpointError> {
        let secret = SigningSecret::generate()?.expose();
        let sealed = self.endpoint_sealer.seal(&secret_context(environment, id), &secret)?;
        Ok((secret, SealedSecret { sealed, until: None }))
    }

    /// Reads an endpoint, has it changed and puts it back, as often as somebody else comes first.
    async fn revise(
        &self,
        environment: EnvironmentId,
        id: EndpointId,
        action: &'static str,
        origin: &Origin,
        change: impl Fn(&mut Endpoint) + Send,
    ) -> Result<Endpoint, EndpointError> {
        for _ in 0..MAX_ROUNDS {
            let mut endpoint = self.endpoint(environment, id).await?;
            let before = described(&endpoint);
            change(&mut endpoint);
            endpoint.updated_at = self.clock.now();
            let audited = Audited::new(action, id)
                .in_environment(environment)
                .before(before)
                .after(described(&endpoint));
            match self.audited(origin, audited).change_endpoint(environment, &endpoint).await? {
                EndpointChanged::Done => return self.endpoint(environment, id).await,
                EndpointChanged::Missing => return Err(EndpointError::Missing),
                EndpointChanged::Stale => {}
            }
        }
        Err(EndpointError::Busy)
    }
}

/// An endpoint for the audit log, without its secrets.
fn described(endpoint: &Endpoint) -> Value {
    json!({
        "url": endpoint.url,
        "events": endpoint.filter.names(),
        "description": endpoint.description,
        "disabled": endpoint.disabled,
        "secrets": endpoint.secrets.len(),
    })
}

/// What a sealed secret is bound to: moved to another endpoint, it does not open.
pub(crate) fn secret_context(environment: EnvironmentId, endpoint: EndpointId) -> String {
    format!("{environment} {endpoint}")
}
