//! Card capabilities that a test expects an adapter to offer.

use tollgate_configuration::Provider;
use tollgate_domain::card::{CardOrder, ProviderReport};
use tollgate_domain::hold::HoldAction;
use tollgate_domain::refund::{Refund, RefundReport};
use tollgate_domain::{Flow, Timestamp};
use tollgate_engine::ports::{
    Call, Cards, Charge, Charges, Component, Embedded, EmbeddedCards, Prepared, Reading, Subject,
    UnreadableEvent, WebhookNotice, Webhooks,
};

use crate::support::order;

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
    async fn read_report(
        &self,
        provider: &Provider,
        order: &CardOrder,
        subject: Subject<'_>,
    ) -> Call<ProviderReport>;
    async fn withdraw_report(
        &self,
        provider: &Provider,
        order: &CardOrder,
        object: &str,
    ) -> Call<ProviderReport>;
}

/// What a provider says as far as it can be asked.
fn report(call: Call<Reading>) -> Call<ProviderReport> {
    let report = |reading| match reading {
        Reading::Report(report) => report,
        Reading::CannotBeAsked(Some(known)) => *known,
        Reading::CannotBeAsked(None) => panic!("it cannot be asked"),
    };
    Call { outcome: call.outcome.map(report), logs: call.logs }
}

/// Bodies with one event.
pub(crate) trait OneEvent {
    fn translate_one(&self, body: &[u8]) -> Result<WebhookNotice, UnreadableEvent>;
}

impl OneEvent for dyn Webhooks + '_ {
    fn translate_one(&self, body: &[u8]) -> Result<WebhookNotice, UnreadableEvent> {
        let mut events = self.translate(body);
        assert_eq!(events.len(), 1);
        events.remove(0)
    }
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
            Some(prepared) => self.in_browser().component(provider, &order(Flow::PaymentComponent), prepared),
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
        report(self.captures(order.flow).unwrap().act_on_hold(provider, order, payment, action).await)
    }

    async fn read_report(
        &self,
        provider: &Provider,
        order: &CardOrder,
        subject: Subject<'_>,
    ) -> Call<ProviderReport> {
        report(self.read(provider, order, subject).await)
    }

    async fn withdraw_report(
        &self,
        provider: &Provider,
        order: &CardOrder,
        object: &str,
    ) -> Call<ProviderReport> {
        report(self.withdraw(provider, order, object).await)
    }
}
