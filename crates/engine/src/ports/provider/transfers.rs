//! Bank transfers by what a provider offers of them.

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Minor,
    ach::{AchProviderReport, TransferOrder, TransferRail},
};
use tollgate_vault::Secret;

use super::{Call, OrderFault};

/// Where money goes. Neither number is ever printed.
#[derive(Debug, Clone)]
pub struct BankAccount {
    /// The bank's routing number: nine digits.
    pub routing_number: Secret,
    /// The account's number: four to seventeen digits.
    pub account_number: Secret,
}

/// Whether the account that the configuration names can originate instant transfers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstantCapability {
    /// The provider does not say: it decides when a transfer is sent.
    Unknown,
    Available,
    /// What the account lacks, as the provider calls it.
    Missing(&'static str),
}

/// Bank transfers through one provider.
///
/// Each method bounds its own tries and time. The order's id is the idempotency key of everything that is sent.
#[async_trait]
pub trait AchTransfers: Send + Sync {
    /// What the order's rail cannot carry. Asks nobody; called before anything is recorded, so that nothing is cut or left
    /// out later.
    fn check_order(&self, _order: &TransferOrder) -> Result<(), OrderFault> {
        Ok(())
    }

    /// Whether the configured account can originate instant transfers at all, whichever bank they go to.
    async fn instant_capability(&self, _provider: &Provider) -> Call<InstantCapability> {
        Call { outcome: Ok(InstantCapability::Unknown), logs: Vec::new() }
    }

    /// The instant network by which this provider reaches the bank of a routing number; `None` if there is none.
    async fn instant_rail(&self, provider: &Provider, routing_number: &Secret) -> Call<Option<TransferRail>>;

    /// Pays out the principal on the order's rail. A bank that does not take part in it is a refusal.
    async fn send(
        &self,
        provider: &Provider,
        order: &TransferOrder,
        account: &BankAccount,
    ) -> Call<AchProviderReport>;

    /// Whether the provider took a transfer under the order's key, and how it stands.
    async fn find(&self, provider: &Provider, order: &TransferOrder) -> Call<Option<AchProviderReport>>;

    /// Reads a transfer by the provider's name for it.
    async fn read(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport>;

    /// Cancels a transfer if the provider still can, and tells how it then stands: also where it no longer could, and where it
    /// was canceled before.
    async fn cancel(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport>;

    /// Whether the current credentials see the account that the configuration names: then they are the same owner's as
    /// those that named it before. `false` also where the provider names no accounts.
    async fn can_access_account(&self, provider: &Provider) -> Call<bool>;

    /// What the provider's funding account has available. `None` if the provider does not know that at this moment.
    async fn funds(&self, _provider: &Provider) -> Option<Call<Minor>> {
        None
    }
}
