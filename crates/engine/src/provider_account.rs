//! Which account at a provider a payment was sent to, and whether the configuration still leads there.
//!
//! Reading by the provider's own id is safe wherever the address is the same: ids are unique there. Sending again, or
//! concluding from an empty search that nothing was sent, needs proof that it is the same account.

use data_encoding::HEXLOWER;
use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_domain::{
    AccountMatch, ProviderAccount, ServiceReference,
    card::{Discrepancy, DiscrepancyKind},
    id::EnvironmentId,
};

use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    ports::{Call, StoreError, TransientError},
};

/// Long enough that no two credentials of an environment meet by chance.
const DIGEST_LENGTH: usize = 8;

/// Why a payment was not tied to the account configured now.
#[derive(Debug, thiserror::Error)]
pub enum UseAccountError {
    /// No such payment in this environment.
    #[error("payment not found")]
    Missing,
    /// Its provider is not in the configuration.
    #[error("the provider {0} is not configured")]
    NotConfigured(String),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The account a payment was sent to beside the one that is configured.
pub(crate) struct AccountCheck {
    environment: EnvironmentId,
    sent_to: Option<ProviderAccount>,
    configured: ProviderAccount,
}

impl AccountCheck {
    fn comparison(&self) -> AccountMatch {
        // What was sent before accounts were recorded is taken to be where it was.
        self.sent_to.as_ref().map_or(AccountMatch::Same, |sent_to| sent_to.compare(&self.configured))
    }

    pub(crate) fn configured(&self) -> &ProviderAccount {
        &self.configured
    }

    /// Whether nothing can be learned at the configured address.
    pub(crate) fn is_unreachable(&self) -> bool {
        self.comparison() == AccountMatch::OtherAddress
    }

    /// Whether the configuration is, in all that matters, what it was.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.comparison() == AccountMatch::Same
    }

    /// Whether it is certainly the same account; `can_access_account` asks the provider, where only it can tell.
    pub(crate) async fn is_same<F>(&self, can_access_account: impl FnOnce() -> F) -> bool
    where
        F: Future<Output = Call<bool>>,
    {
        match self.comparison() {
            AccountMatch::Same => true,
            AccountMatch::OtherCredential => matches!(can_access_account().await.outcome, Ok(true)),
            AccountMatch::OtherAccount | AccountMatch::OtherAddress => false,
        }
    }

    /// The account that the credential belonged to which the payment was sent with, if a check has learned that.
    pub(crate) async fn account_sent_to(&self, engine: &Engine) -> Result<Option<String>, StoreError> {
        match &self.sent_to {
            Some(sent_to) => engine.store.credential_account(self.environment, &sent_to.credential).await,
            None => Ok(None),
        }
    }

    /// Why the payment waits.
    pub(crate) fn transient_error(&self) -> TransientError {
        let reason = format!(
            "it was sent to {}, but the configuration now points to {}; restore the configuration, or continue it \
             at the new account",
            self.sent_to.as_ref().map_or_else(String::new, ProviderAccount::describe),
            self.configured.describe()
        );
        TransientError { reason, retry_after: None }
    }

    /// What an operator has to look at.
    pub(crate) fn discrepancy(&self) -> Discrepancy {
        Discrepancy {
            kind: DiscrepancyKind::Account,
            expected: self.sent_to.as_ref().map_or_else(String::new, ProviderAccount::describe),
            found: self.configured.describe(),
        }
    }
}

impl Engine {
    /// The account that the configuration leads to.
    pub(crate) fn configured_account(
        &self,
        environment: EnvironmentId,
        provider: &Provider,
    ) -> ProviderAccount {
        let secret = provider.api_secret().map(tollgate_vault::Secret::expose).unwrap_or_default();
        let digest = self.credential_digester.digest(&[&environment.to_bytes(), secret.as_bytes()]);
        ProviderAccount {
            address: provider.address().to_owned(),
            id: provider.account_id().map(str::to_owned),
            credential: HEXLOWER.encode(digest.get(..DIGEST_LENGTH).unwrap_or(&digest)),
        }
    }

    /// An operator's decision that a payment goes on at the account its provider is configured with now: what was sent to
    /// the account before is known to have come to nothing.
    pub async fn use_configured_account(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
        origin: &Origin,
    ) -> Result<(), UseAccountError> {
        let order = match reference {
            ServiceReference::Card(id) => {
                self.store.payment(environment, id).await?.map(|payment| payment.order.provider)
            }
            ServiceReference::Ach(id) => {
                self.store.transfer(environment, id).await?.map(|transfer| transfer.order.provider)
            }
        };
        let name = order.ok_or(UseAccountError::Missing)?;
        let snapshot = self.directory.snapshot();
        let view = snapshot.environment(environment).ok_or(UseAccountError::Missing)?;
        let Some(provider) = view.configuration.providers.get(&name) else {
            return Err(UseAccountError::NotConfigured(name));
        };
        let account = self.configured_account(environment, provider);
        let audited = Audited::new("payment.use_configured_account", reference)
            .in_environment(environment)
            .after(json!({ "account": account.describe() }));
        let store = self.audited(origin, audited);
        let detail = json!({ "account": account.describe(), "actor": origin.actor });
        let lines = vec![(self.clock.now(), "account", detail)];
        for entry in self.entries(lines, Some(&origin.request))? {
            if !store.set_account(environment, reference, &account, None, &entry).await? {
                return Err(UseAccountError::Missing);
            }
        }
        Ok(())
    }

    /// The account something was sent to, beside the one that is configured now.
    pub(crate) fn check_account(
        &self,
        environment: EnvironmentId,
        sent_to: Option<&ProviderAccount>,
        provider: &Provider,
    ) -> AccountCheck {
        let configured = self.configured_account(environment, provider);
        AccountCheck { environment, sent_to: sent_to.cloned(), configured }
    }
}
