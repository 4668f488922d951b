//! Card capabilities that a test expects an adapter to offer.

use tollgate_configuration::Provider;
use tollgate_domain::card::{CardOrder, ProviderReport};
use tollgate_domain::hold::HoldAction;
use tollgate_domain::refund::{Refund, RefundReport};
use tollgate_domain::{Flow, Timestamp};
use tollgate_engine::ports::{Call, Cards, Charge, Charges, Component, Embedded, EmbeddedCards, Prepared};

pub(crate) trait Offered {
    fn charges(&self) -> &dyn Charges;
    fn in_browser(&self) -> &dyn EmbeddedCards;
    fn component(&self, provider: &Provider, prepared: Option<&Prepared>) -> Option<Component>;
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared>;
    async fn charge(&self, provider: &Provider, order: &CardOrder, charge: &Charge) -> Call<ProviderReport>;
    async fn find_charge(
        &self,
        provider: &Provider,
        order: &CardOrder,
        from: Timestamp,
        until: Timestamp,
    ) -> Call<Option<ProviderReport>>;
    async fn refund(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport>;
    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<ProviderReport>;
}

impl Offered for dyn Cards + '_ {
    fn charges(&self) -> &dyn Charges {
        let Some(Embedded::ByToken(charges)) = self.embedded() else { panic!("it does not charge") };
        charges
    }

    fn in_browser(&self) -> &dyn EmbeddedCards {
        let Some(Embedded::InBrowser(cards)) = self.embedded() else { panic!("it is not paid in browsers") };
        cards
    }

    fn component(&self, provider: &Provider, prepared: Option<&Prepared>) -> Option<Component> {
        match prepared {
            Some(prepared) => self.in_browser().component(provider, prepared),
            None => self.charges().component(provider),
        }
    }

    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        match order.flow {
            Flow::HostedCheckout => self.hosted_checkout().unwrap().prepare(provider, order).await,
            Flow::PaymentComponent => self.in_browser().prepare(provider, order).await,
        }
    }

    async fn charge(&self, provider: &Provider, order: &CardOrder, charge: &Charge) -> Call<ProviderReport> {
        self.charges().charge(provider, order, charge).await
    }

    async fn find_charge(
        &self,
        provider: &Provider,
        order: &CardOrder,
        from: Timestamp,
        until: Timestamp,
    ) -> Call<Option<ProviderReport>> {
        self.charges().find_charge(provider, order, from, until).await
    }

    async fn refund(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport> {
        self.refunds().unwrap().refund(provider, order, payment, refund).await
    }

    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<ProviderReport> {
        self.captures(order.flow).unwrap().act_on_hold(provider, order, payment, action).await
    }
}
