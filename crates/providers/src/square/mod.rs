//! The Square wire: payments on our word for the embedded component, payment links for the hosted page.
//!
//! The browser hands over a one-time token; the service charges it. A link sells an order, and the order knows whether
//! it was paid.

mod call;
mod find;
mod link;
mod refusal;
mod request;
mod status;
mod webhook;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Flow, Timestamp,
    card::{CardOrder, Sighting},
    transaction::Dispute,
};
use tollgate_engine::ports::{
    Call, CallError, Cards, Charge, Component, Confirmation, Delivery, Notice, Prepared, RefusalKind,
    Subject, Unreadable, Unverified, WebhookReader,
};

use crate::{
    failure::{Code, missing_is_none, not_offered, refused, unknown},
    http::HttpClient,
    retry::Errand,
    settings::Settings,
    square::{
        call::{Stop, judge, judge_charge},
        wire::{DisputeObject, LocationBody, PaymentBody, PaymentLinkBody},
    },
    text::is_id,
};

/// Cards and webhooks over the Square wire.
#[derive(Debug)]
pub(crate) struct Square {
    http: Arc<HttpClient>,
    settings: Arc<Settings>,
}

impl Square {
    pub(crate) fn new(http: Arc<HttpClient>, settings: Arc<Settings>) -> Self {
        Self { http, settings }
    }

    fn errand(&self) -> Errand<'_> {
        Errand::new(&self.http, &self.settings)
    }

    fn stop<'a>(&'a self, provider: &'a Provider) -> Stop<'a> {
        Stop { provider, version: &self.settings.square_version }
    }
}

#[async_trait]
impl Cards for Square {
    fn confirmation(&self) -> Confirmation {
        Confirmation::Charge
    }

    fn asks_to_prepare(&self, flow: Flow) -> bool {
        match flow {
            Flow::PaymentComponent => false,
            Flow::HostedCheckout => true,
        }
    }

    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        let mut errand = self.errand().hiding(order.customer_email.as_deref());
        let outcome = prepare(&mut errand, self.stop(provider), order).await;
        errand.finish(outcome)
    }

    fn component(&self, provider: &Provider, _: Option<&Prepared>) -> Option<Component> {
        Some(Component::WebPayments {
            application_id: provider.credential("applicationId")?.to_owned(),
            location_id: provider.credential("locationId")?.to_owned(),
            environment: provider.environment().as_str(),
        })
    }

    async fn charge(&self, provider: &Provider, order: &CardOrder, charge: &Charge) -> Call<Sighting> {
        let mut errand = self.errand().hiding(charge.buyer_email.as_deref());
        let outcome = pay(&mut errand, self.stop(provider), order, charge).await;
        errand.finish(outcome)
    }

    async fn find_charge(
        &self,
        provider: &Provider,
        order: &CardOrder,
        from: Timestamp,
        until: Timestamp,
    ) -> Call<Option<Sighting>> {
        let mut errand = self.errand();
        let outcome = find::by_reference(&mut errand, self.stop(provider), order, from, until).await;
        errand.finish(outcome)
    }

    async fn read(&self, provider: &Provider, order: &CardOrder, subject: Subject<'_>) -> Call<Sighting> {
        let mut errand = self.errand();
        let stop = self.stop(provider);
        let outcome = match subject {
            Subject::Object(link) => link::read(&mut errand, stop, order, link).await,
            Subject::Payment(id) => read_payment(&mut errand, stop, id).await,
        };
        errand.finish(outcome)
    }

    async fn sees_account(&self, provider: &Provider) -> Call<bool> {
        let mut errand = self.errand();
        let outcome = sees_location(&mut errand, self.stop(provider)).await;
        errand.finish(outcome)
    }

    async fn dispute(&self, provider: &Provider, _: &str, known: Option<&str>) -> Call<Option<Dispute>> {
        let mut errand = self.errand();
        let outcome = match known {
            Some(id) => read_dispute(&mut errand, self.stop(provider), id).await.map(Some),
            // The wire lists disputes by location and state, but not by payment.
            None => Ok(None),
        };
        errand.finish(outcome)
    }

    async fn withdraw(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Sighting> {
        let mut errand = self.errand();
        let outcome = link::withdraw(&mut errand, self.stop(provider), order, object).await;
        errand.finish(outcome)
    }
}

impl WebhookReader for Square {
    fn verify(&self, provider: &Provider, delivery: Delivery<'_>, _: Timestamp) -> Result<(), Unverified> {
        webhook::verify(provider.credential("webhookSignatureKey"), delivery)
    }

    fn translate(&self, body: &[u8]) -> Result<Notice, Unreadable> {
        webhook::translate(body)
    }
}

async fn prepare(errand: &mut Errand<'_>, stop: Stop<'_>, order: &CardOrder) -> Result<Prepared, CallError> {
    if order.flow != Flow::HostedCheckout {
        return Err(not_offered("On this wire a component payment needs no preparation."));
    }
    let key = format!("{}-prepare", order.id);
    let body = request::link(order, stop.location()?, &key);
    let ask = stop.create("payment_links.create", "online-checkout/payment-links", &body, key)?;
    let link = errand.run(&ask, judge::<PaymentLinkBody>).await?.payment_link;
    // The longer address is the page itself; the short one leads to it and is all that is promised.
    let checkout_url = link.url.or(link.long_url);
    if checkout_url.is_none() {
        return Err(unknown("the answer has no address to pay at"));
    }
    Ok(Prepared { object: link.id, also: vec![link.order_id], checkout_url, client_secret: None })
}

async fn pay(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    order: &CardOrder,
    charge: &Charge,
) -> Result<Sighting, CallError> {
    let key = format!("{}-{}", order.id, charge.number);
    let body = request::payment(order, charge, stop.location()?, &key);
    let ask = stop.create("payments.create", "payments", &body, key)?;
    let paid = errand.run(&ask, judge_charge::<PaymentBody>).await?;
    Ok(status::sighting(&paid.payment))
}

async fn sees_location(errand: &mut Errand<'_>, stop: Stop<'_>) -> Result<bool, CallError> {
    let id = stop.location()?;
    if !is_id(id) {
        return Ok(false);
    }
    let ask = stop.get("locations.get", &format!("locations/{id}"))?;
    missing_is_none(errand.run(&ask, judge::<LocationBody>).await)
        .map(|read| read.is_some_and(|read| read.location.id == id))
}

async fn read_payment(errand: &mut Errand<'_>, stop: Stop<'_>, id: &str) -> Result<Sighting, CallError> {
    if !is_id(id) {
        return Err(refused(RefusalKind::Missing, Code::ProviderObjectMissing));
    }
    let ask = stop.get("payments.get", &format!("payments/{id}"))?;
    let read = errand.run(&ask, judge::<PaymentBody>).await?;
    Ok(status::sighting(&read.payment))
}

async fn read_dispute(errand: &mut Errand<'_>, stop: Stop<'_>, id: &str) -> Result<Dispute, CallError> {
    if !is_id(id) {
        return Err(refused(RefusalKind::Missing, Code::ProviderObjectMissing));
    }
    let ask = stop.get("disputes.get", &format!("disputes/{id}"))?;
    let read = errand.run(&ask, judge::<DisputeObject>).await?.dispute;
    Ok(webhook::told(read, id.to_owned()))
}
