//! The Square API: payments on our word for the embedded component, payment links for the hosted page.
//!
//! The browser hands over a one-time token; the service charges it. A link sells an order, and the order knows whether
//! it was paid.

mod call;
mod check;
mod dispute;
mod find;
mod hold;
mod link;
mod locations;
mod refund;
mod rejection;
mod request;
mod status;
mod types;
mod webhook;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Flow, Timestamp,
    card::{CardOrder, ProviderReport},
    hold::HoldAction,
    refund::{Refund, RefundReport},
    transaction::Dispute,
};
use tollgate_engine::ports::{
    Call, CallError, Captures, Cards, Charge, Charges, CheckReport, CheckSubject, Component, DisputeLists,
    DisputePage, Embedded, HostedCheckout, InboundWebhook, NewWebhook, OrderFault, Prepared, Preparing,
    ProviderChecks, Reading, Refunds, RegisteredWebhook, RejectionKind, SignatureError, Subject,
    UnreadableEvent, WebhookNotice, Webhooks,
};
use tollgate_http::HttpClient;

use crate::{
    check::Checkup,
    failure::{Code, missing_is_none, refused, unknown},
    retry::CallSession,
    settings::ProviderSettings,
    square::{
        call::{ApiClient, interpret, interpret_charge},
        locations::{Known, Locations},
        types::{Location, LocationBody, Payment, PaymentBody, PaymentLinkBody},
    },
    text::is_id,
};

/// A caller waits for it before the payment itself, so that it is given up soon.
const LOCATION_TIMEOUT: Duration = Duration::from_secs(3);

/// Cards and webhooks over the Square API.
#[derive(Debug)]
pub(crate) struct Square {
    http: Arc<HttpClient>,
    settings: Arc<ProviderSettings>,
    /// For calls that a request should not wait for.
    hasty: ProviderSettings,
    locations: Locations,
}

impl Square {
    pub(crate) fn new(http: Arc<HttpClient>, settings: Arc<ProviderSettings>) -> Self {
        let hasty = ProviderSettings {
            tries_max: 1,
            deadline: settings.deadline.min(LOCATION_TIMEOUT),
            ..ProviderSettings::clone(&settings)
        };
        Self { http, settings, hasty, locations: Locations::default() }
    }

    fn calls<'a>(&'a self, provider: &'a Provider) -> CallSession<'a> {
        CallSession::new(&self.http, &self.settings, provider)
    }

    /// The currency of the configured location; `None` if it cannot be found out now.
    async fn currency(&self, calls: &mut CallSession<'_>, api: ApiClient<'_>) -> Option<String> {
        let (address, location) = (api.provider.address(), api.location().ok()?);
        if let Some(known) = self.locations.get(address, location, Instant::now()) {
            return known.currency;
        }
        let read = read_location(calls, api).await.ok().flatten();
        let currency = read.and_then(|location| location.currency).map(|code| code.to_ascii_uppercase());
        self.locations.put(address, location, Known { currency: currency.clone() }, Instant::now());
        currency
    }

    fn api<'a>(&'a self, provider: &'a Provider) -> ApiClient<'a> {
        let version = provider.options.api_version.as_deref().unwrap_or(&self.settings.square_version);
        ApiClient { provider, version }
    }
}

#[async_trait]
impl Cards for Square {
    fn hosted_checkout(&self) -> Option<&dyn HostedCheckout> {
        Some(self)
    }

    fn embedded(&self) -> Option<Embedded<'_>> {
        Some(Embedded::ByToken(self))
    }

    /// A link is paid at once.
    fn captures(&self, flow: Flow) -> Option<&dyn Captures> {
        match flow {
            Flow::PaymentComponent => Some(self),
            Flow::HostedCheckout => None,
        }
    }

    fn refunds(&self) -> Option<&dyn Refunds> {
        Some(self)
    }

    fn dispute_lists(&self) -> Option<&dyn DisputeLists> {
        Some(self)
    }

    async fn check_order(&self, provider: &Provider, order: &CardOrder) -> Call<(), OrderFault> {
        let mut calls = CallSession::new(&self.http, &self.hasty, provider);
        let currency = self.currency(&mut calls, self.api(provider)).await;
        calls.finish(match currency {
            Some(only) if only != order.currency.code() => Err(other_currency(&only, order)),
            _ => Ok(()),
        })
    }

    async fn read(&self, provider: &Provider, order: &CardOrder, subject: Subject<'_>) -> Call<Reading> {
        let mut calls = self.calls(provider);
        let api = self.api(provider);
        let outcome = match (subject, order.flow) {
            (Subject::Object(link), _) => link::read(&mut calls, api, link).await,
            (Subject::Payment(id), Flow::HostedCheckout) => link::read_payment(&mut calls, api, id).await,
            (Subject::Payment(id), Flow::PaymentComponent) => read_payment(&mut calls, api, id).await,
        };
        calls.finish(outcome).read()
    }

    async fn read_by_name(
        &self,
        provider: &Provider,
        order: &CardOrder,
        name: &str,
    ) -> Call<Option<ProviderReport>> {
        let mut calls = self.calls(provider);
        let outcome = match order.flow {
            Flow::HostedCheckout => link::read_order(&mut calls, self.api(provider), name).await,
            Flow::PaymentComponent => Ok(None),
        };
        calls.finish(outcome)
    }

    async fn can_access_account(&self, provider: &Provider, _: Option<&str>) -> Call<bool> {
        let mut calls = self.calls(provider);
        let outcome = read_location(&mut calls, self.api(provider)).await;
        calls.finish(outcome.map(|location| location.is_some()))
    }

    async fn dispute(&self, provider: &Provider, _: &str, known: Option<&str>) -> Call<Option<Dispute>> {
        let mut calls = self.calls(provider);
        let outcome = match known {
            Some(id) => dispute::read(&mut calls, self.api(provider), id).await.map(Some),
            // The provider lists disputes by location and state, but not by payment.
            None => Ok(None),
        };
        calls.finish(outcome)
    }

    async fn withdraw(&self, provider: &Provider, _: &CardOrder, object: &str) -> Call<Reading> {
        let mut calls = self.calls(provider);
        let outcome = link::withdraw(&mut calls, self.api(provider), object).await;
        calls.finish(outcome).read()
    }
}

#[async_trait]
impl Preparing for Square {
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        let mut calls = self.calls(provider).hiding(order.customer_email.as_deref());
        let outcome = prepare(&mut calls, self.api(provider), order).await;
        calls.finish(outcome)
    }
}

impl HostedCheckout for Square {}

#[async_trait]
impl Charges for Square {
    fn component(&self, provider: &Provider) -> Option<Component> {
        Some(Component::WebPayments {
            application_id: provider.credential("applicationId")?.to_owned(),
            location_id: provider.credential("locationId")?.to_owned(),
            environment: provider.environment().as_str(),
            script_url: provider.script_url()?,
        })
    }

    async fn charge(&self, provider: &Provider, order: &CardOrder, charge: &Charge) -> Call<ProviderReport> {
        let mut calls = self.calls(provider).hiding(charge.buyer_email.as_deref());
        let outcome = pay(&mut calls, self.api(provider), order, charge).await;
        calls.finish(outcome)
    }

    async fn find_charge(
        &self,
        provider: &Provider,
        order: &CardOrder,
        from: Timestamp,
        until: Timestamp,
    ) -> Call<Option<ProviderReport>> {
        let mut calls = self.calls(provider);
        let outcome = find::by_reference(&mut calls, self.api(provider), order, from, until).await;
        calls.finish(outcome)
    }
}

#[async_trait]
impl Captures for Square {
    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<Reading> {
        let mut calls = self.calls(provider);
        let outcome = hold::act(&mut calls, self.api(provider), order, payment, action).await;
        calls.finish(outcome).read()
    }
}

#[async_trait]
impl Refunds for Square {
    async fn refund(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport> {
        let mut calls = self.calls(provider);
        let outcome = refund::make(&mut calls, self.api(provider), order, payment, refund).await;
        calls.finish(outcome)
    }
}

#[async_trait]
impl DisputeLists for Square {
    async fn list_disputes(&self, provider: &Provider, from: Option<&str>) -> Call<DisputePage> {
        let mut calls = self.calls(provider);
        let outcome = dispute::list(&mut calls, self.api(provider), from).await;
        calls.finish(outcome)
    }
}

#[async_trait]
impl ProviderChecks for Square {
    async fn check(&self, subject: CheckSubject<'_>) -> CheckReport {
        let version = self.api(subject.provider).version;
        let mut checkup = Checkup::new(self.calls(subject.provider), subject);
        check::check(&mut checkup, version).await;
        checkup.finish()
    }

    async fn register_webhook(
        &self,
        provider: &Provider,
        new: NewWebhook<'_>,
    ) -> Option<Call<RegisteredWebhook>> {
        Some(check::register(self.calls(provider), provider, self.api(provider).version, new).await)
    }
}

impl Webhooks for Square {
    fn verify(
        &self,
        provider: &Provider,
        inbound: InboundWebhook<'_>,
        _: Timestamp,
    ) -> Result<(), SignatureError> {
        webhook::verify(provider.credential("webhookSignatureKey"), inbound)
    }

    fn translate(&self, body: &[u8]) -> Vec<Result<WebhookNotice, UnreadableEvent>> {
        vec![webhook::translate(body)]
    }

    /// Webhooks tell of all of a seller's sales, those at the counter included.
    fn tells_of_other_sales(&self) -> bool {
        true
    }
}

async fn prepare(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
) -> Result<Prepared, CallError> {
    let key = format!("{}-prepare", order.provider_key());
    let body = request::link(order, api.location()?, &key);
    let call = api.create("payment_links.create", "online-checkout/payment-links", &body, key)?;
    let link = calls.run(&call, interpret::<PaymentLinkBody>).await?.payment_link;
    // The longer address is the page itself; the short one leads to it and is all that is promised.
    let checkout_url = link.url.or(link.long_url);
    if checkout_url.is_none() {
        return Err(unknown("the response has no checkout URL"));
    }
    Ok(Prepared {
        object: link.id,
        also: vec![link.order_id],
        checkout_url,
        client_secret: None,
        methods: Vec::new(),
    })
}

async fn pay(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    charge: &Charge,
) -> Result<ProviderReport, CallError> {
    let key = format!("{}-{}", order.provider_key(), charge.number);
    let body = request::payment(order, charge, api.location()?, &key);
    let call = api.create("payments.create", "payments", &body, key)?;
    let paid = calls.run(&call, interpret_charge::<PaymentBody>).await?;
    Ok(status::report(&paid.payment))
}

/// The configured location, if the credentials see it.
async fn read_location(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
) -> Result<Option<Location>, CallError> {
    let id = api.location()?;
    if !is_id(id) {
        return Ok(None);
    }
    let call = api.get("locations.get", &format!("locations/{id}"))?;
    let read = missing_is_none(calls.run(&call, interpret::<LocationBody>).await)?;
    Ok(read.map(|read| read.location).filter(|location| location.id == id))
}

fn other_currency(only: &str, order: &CardOrder) -> OrderFault {
    let message = format!(
        "must be {only}, the only one that the configured Square location takes; route {asked} to another provider, or \
         configure a location in {asked}",
        asked = order.currency.code()
    );
    OrderFault { field: "currency", message }
}

/// A payment of the component's. It was made with our reference, so that one without is another's.
async fn read_payment(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<ProviderReport, CallError> {
    let payment = get_payment(calls, api, id).await?;
    let refunds = refund::of_payments(calls, api, std::slice::from_ref(&payment)).await?;
    let report = status::report(&payment);
    Ok(ProviderReport { reference: Some(report.reference.unwrap_or_default()), refunds, ..report })
}

async fn get_payment(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<Payment, CallError> {
    if !is_id(id) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let call = api.get("payments.get", &format!("payments/{id}"))?;
    Ok(calls.run(&call, interpret::<PaymentBody>).await?.payment)
}
