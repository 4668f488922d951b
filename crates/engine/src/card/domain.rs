//! Registering a shop's web domain with a card provider, for the wallets that its component offers.

use tollgate_domain::{id::EnvironmentId, transaction::Failure};

use crate::{
    engine::Engine,
    ports::{CallError, RegisteredDomain, RejectionKind, TransientError},
};

/// Why a domain was not registered.
#[derive(Debug, thiserror::Error)]
pub enum RegisterDomainError {
    /// No such environment, or no such provider in it.
    #[error("environment or provider not found")]
    Missing,
    /// The provider has no such registration, or none that can be made by API.
    #[error("the provider {0} does not register domains by API")]
    NotOffered(String),
    /// The provider is not configured completely, or does not accept our credentials.
    #[error("the provider {provider} cannot be used: {}", missing.join(", "))]
    NotConfigured {
        provider: String,
        /// The paths of what is missing; empty where the provider refuses what is there.
        missing: Vec<String>,
    },
    #[error("the provider rejected it: {}", .0.message)]
    Rejected(Failure),
    /// Whether it is registered is not known; registering again does no harm.
    #[error("the provider did not respond")]
    Unavailable(TransientError),
}

impl Engine {
    /// Registers a domain at a provider, or has it validated again where it is registered already.
    pub async fn register_domain(
        &self,
        environment: EnvironmentId,
        provider: &str,
        domain: &str,
    ) -> Result<RegisteredDomain, RegisterDomainError> {
        let view = self.view(environment).ok_or(RegisterDomainError::Missing)?;
        view.configuration.providers.get(provider).ok_or(RegisterDomainError::Missing)?;
        let not_configured =
            |missing| RegisterDomainError::NotConfigured { provider: provider.to_owned(), missing };
        let found = self.card_provider(&view, provider).map_err(not_configured)?;
        let call = found.cards.register_domain(found.provider, domain).await;
        let call = call.ok_or_else(|| RegisterDomainError::NotOffered(provider.to_owned()))?;
        self.note_calls(environment, provider, None, &call.logs);
        call.outcome.map_err(|error| match error {
            CallError::Rejected(rejection) if rejection.kind == RejectionKind::Credentials => {
                not_configured(Vec::new())
            }
            CallError::Rejected(rejection) => RegisterDomainError::Rejected(rejection.failure),
            CallError::Unsent(transient) | CallError::Unknown(transient) => {
                RegisterDomainError::Unavailable(transient)
            }
        })
    }
}
