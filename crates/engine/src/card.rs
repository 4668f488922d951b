//! Card payments, from preparation to their end.
//!
//! Everything that is learned of a payment goes the same way: read the payment, ask its provider, decide on both, and
//! commit the decision if the payment is still as it was read ([`update::PaymentUpdate`]). Whoever comes second reads again.

mod approval;
mod at_provider;
mod awaiting;
mod card_fee;
mod charge;
mod confirm;
mod domain;
mod event;
mod fallback;
mod follow_up;
mod hold;
mod hold_outcome;
mod prepare;
mod provider_report;
mod reads;
mod receipt;
mod refund;
mod resolve;
mod schedule;
mod signed;
mod source;
mod switch;
mod update;

use tollgate_configuration::{Adapter, Provider, ProviderOptions};
use tollgate_domain::{
    Flow,
    card::{CardOrder, ProviderReport},
};

use crate::{
    engine::Engine,
    ports::{
        BrowserResults, Call, CallError, Cards, Charge, Charges, Component, Confirmation, DisputeLists,
        Embedded, Prepared, Preparing, StoreError, TokenCards, TransientError,
    },
    provider_account::AccountCheck,
    snapshot::EnvironmentView,
};

pub use confirm::{ConfirmBody, ConfirmError, Confirmable, Confirmed};
pub use domain::RegisterDomainError;
pub use hold::{HoldChanged, HoldError, HoldRequest};
pub use prepare::{PrepareError, PrepareRequest, PreparedPayment};
pub use reads::{PaymentRead, ReadError};
pub use refund::{RefundCreated, RefundError, RefundRequest};
pub(crate) use source::source_context;
pub use switch::SwitchError;

/// How often a decision is made again because the payment changed meanwhile. Each round needs somebody else to have
/// moved it, and a payment moves a handful of times in its life.
const MAX_ROUNDS: usize = 16;

/// A provider that can take card payments, and the adapter for it.
struct CardProvider<'a> {
    provider: &'a Provider,
    cards: &'a dyn Cards,
}

impl<'a> CardProvider<'a> {
    async fn can_access_account(&self, engine: &Engine, check: &AccountCheck) -> Call<bool> {
        match check.account_sent_to(engine).await {
            Ok(account) => self.cards.can_access_account(self.provider, account.as_deref()).await,
            Err(error) => {
                let transient = TransientError { reason: error.to_string(), retry_after: None };
                Call { outcome: Err(CallError::Unsent(transient)), logs: Vec::new() }
            }
        }
    }

    fn offers(&self, flow: Flow) -> bool {
        match flow {
            Flow::HostedCheckout => self.cards.hosted_checkout().is_some(),
            Flow::PaymentComponent => self.cards.embedded().is_some(),
        }
    }

    /// What makes something at the provider before the customer pays; `None` where nothing is made.
    fn preparing(&self, flow: Flow) -> Option<&'a dyn Preparing> {
        match (flow, self.cards.embedded()) {
            (Flow::HostedCheckout, _) => self.cards.hosted_checkout().map(|page| page as &dyn Preparing),
            (Flow::PaymentComponent, Some(Embedded::InBrowser(cards))) => Some(cards),
            (Flow::PaymentComponent, _) => None,
        }
    }

    /// What charges cards on our word.
    fn charging(&self) -> Option<Charging<'a>> {
        match self.cards.embedded()? {
            Embedded::ByToken(charges) => Some(Charging::Source(charges)),
            Embedded::InBrowser(cards) => cards.tokens(self.provider).map(Charging::Token),
        }
    }

    /// What can look at a card before it is charged.
    fn tokens(&self) -> Option<&'a dyn TokenCards> {
        match self.charging()? {
            Charging::Token(cards) => Some(cards),
            Charging::Source(_) => None,
        }
    }

    /// How the provider is asked with what a browser got.
    fn results(&self) -> Option<&'a dyn BrowserResults> {
        match self.cards.embedded() {
            Some(Embedded::InBrowser(cards)) => cards.results(),
            _ => None,
        }
    }

    fn confirmation(&self) -> Confirmation {
        match self.cards.embedded() {
            Some(Embedded::ByToken(_)) => Confirmation::Charge,
            _ if self.results().is_some() => Confirmation::Result,
            _ => Confirmation::Look,
        }
    }

    /// What the browser needs; `prepared` is there exactly where something was made for it.
    fn component(&self, order: &CardOrder, prepared: Option<&Prepared>) -> Option<Component> {
        match (self.cards.embedded()?, prepared) {
            (Embedded::InBrowser(cards), Some(prepared)) => cards.component(self.provider, order, prepared),
            (Embedded::InBrowser(_), None) => None,
            (Embedded::ByToken(charges), _) => charges.component(self.provider),
        }
    }
}

/// How a card is charged on our word.
#[derive(Clone, Copy)]
enum Charging<'a> {
    /// Its token is all there is.
    Source(&'a dyn Charges),
    /// It is charged on what was made at preparation.
    Token(&'a dyn TokenCards),
}

impl Charging<'_> {
    async fn charge(self, provider: &Provider, order: &CardOrder, charge: &Charge) -> Call<ProviderReport> {
        match self {
            Self::Source(cards) => cards.charge(provider, order, charge).await,
            Self::Token(cards) => cards.charge_token(provider, order, charge).await,
        }
    }
}

impl Engine {
    /// The provider of this name, if it is configured completely enough to pay with; otherwise what is missing.
    fn card_provider<'a>(
        &'a self,
        view: &'a EnvironmentView,
        name: &str,
    ) -> Result<CardProvider<'a>, Vec<String>> {
        let provider = view.configuration.providers.get(name);
        let provider = provider.ok_or_else(|| vec![format!("providers.{name}")])?;
        let missing = provider.missing_to_pay();
        if !missing.is_empty() {
            return Err(missing.into_iter().map(|path| format!("providers.{name}.{path}")).collect());
        }
        let cards = self.adapters.capabilities(provider.adapter).cards;
        let cards = cards.ok_or_else(|| vec![format!("providers.{name}.adapter")])?;
        Ok(CardProvider { provider, cards })
    }

    /// What lists the disputes of a provider that is ready, if it has such a list.
    pub(crate) fn dispute_lists_of<'a>(
        &'a self,
        view: &'a EnvironmentView,
        name: &str,
    ) -> Option<(&'a Provider, &'a dyn DisputeLists)> {
        let found = self.card_provider(view, name).ok()?;
        Some((found.provider, found.cards.dispute_lists()?))
    }

    /// The provider an order was prepared with, as it is configured now. One whose adapter was changed is not
    /// the same provider.
    fn provider_of_order<'a>(
        &'a self,
        view: &'a EnvironmentView,
        order: &CardOrder,
    ) -> Result<CardProvider<'a>, Vec<String>> {
        let found = self.card_provider(view, &order.provider)?;
        if Adapter::parse(&order.adapter) != Some(found.provider.adapter) {
            return Err(vec![format!("providers.{}.adapter", order.provider)]);
        }
        Ok(found)
    }

    /// The provider with the options that an order was prepared with: a repeated request has to be the same request, and
    /// what may take days is decided by what was offered then. Where it is reached is decided by the configuration in
    /// force.
    async fn provider_as_prepared(
        &self,
        view: &EnvironmentView,
        provider: &Provider,
        order: &CardOrder,
    ) -> Result<Provider, StoreError> {
        if view.config_version == order.config_version {
            return Ok(provider.clone());
        }
        let stored = self.store.config_version(order.environment, order.config_version).await?;
        let then = match stored {
            Some(stored) => {
                let name = order.provider.clone();
                let opening = self.with_opened(order.environment, stored, move |read, _| {
                    Ok(read.configuration.providers.get(&name).cloned())
                });
                // One that cannot be opened is as good as none.
                opening.await.ok().flatten()
            }
            None => None,
        };
        Ok(match then.filter(|then| then.adapter == provider.adapter) {
            Some(then) => provider.with_options(ProviderOptions {
                account: provider.options.account.clone(),
                api_version: provider.options.api_version.clone(),
                ..then.options.clone()
            }),
            None => provider.clone(),
        })
    }
}
