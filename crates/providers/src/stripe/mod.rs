//! The Stripe wire: payment intents for the embedded component, checkout sessions for the hosted page.
//!
//! The browser pays; the service prepares, looks, and takes back.

mod call;
mod form;
mod refusal;
mod request;
mod status;
mod webhook;
mod wire;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Flow, Timestamp,
    card::{CardOrder, Sighting, Standing},
    transaction::Dispute,
};
use tollgate_engine::ports::{
    Call, CallError, Cards, Charge, Component, Confirmation, Delivery, Notice, Prepared, RefusalKind,
    Subject, Unreadable, Unverified, WebhookReader,
};
use tollgate_vault::Secret;

use crate::{
    failure::{Code, not_offered, refused},
    http::HttpClient,
    retry::Errand,
    settings::Settings,
    stripe::{
        call::{Stop, judge},
        wire::{Intent, Session},
    },
    text::is_id,
};

/// Cards and webhooks over the Stripe wire.
#[derive(Debug)]
pub(crate) struct Stripe {
    http: Arc<HttpClient>,
    settings: Arc<Settings>,
}

impl Stripe {
    pub(crate) fn new(http: Arc<HttpClient>, settings: Arc<Settings>) -> Self {
        Self { http, settings }
    }

    fn errand(&self) -> Errand<'_> {
        Errand::new(&self.http, &self.settings)
    }

    fn stop<'a>(&'a self, provider: &'a Provider) -> Stop<'a> {
        Stop { provider, version: &self.settings.stripe_version }
    }
}

#[async_trait]
impl Cards for Stripe {
    fn confirmation(&self) -> Confirmation {
        Confirmation::Look
    }

    fn asks_to_prepare(&self, _: Flow) -> bool {
        true
    }

    fn longest_life(&self, flow: Flow) -> Option<Duration> {
        match flow {
            Flow::HostedCheckout => Some(request::LONGEST_SESSION),
            Flow::PaymentComponent => None,
        }
    }

    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        let mut errand = self.errand().hiding(order.customer_email.as_deref());
        let outcome = prepare(&mut errand, self.stop(provider), order).await;
        errand.finish(outcome)
    }

    fn component(&self, provider: &Provider, prepared: Option<&Prepared>) -> Option<Component> {
        let prepared = prepared?;
        Some(Component::PaymentElement {
            publishable_key: provider.credential("publishableKey")?.to_owned(),
            client_secret: prepared.client_secret.clone()?,
            payment_intent_id: prepared.object.clone(),
        })
    }

    async fn charge(&self, _: &Provider, _: &CardOrder, _: &Charge) -> Call<Sighting> {
        self.errand().finish(Err(browser_pays()))
    }

    async fn find_charge(
        &self,
        _: &Provider,
        _: &CardOrder,
        _: Timestamp,
        _: Timestamp,
    ) -> Call<Option<Sighting>> {
        self.errand().finish(Err(browser_pays()))
    }

    async fn read(&self, provider: &Provider, _: &CardOrder, subject: Subject<'_>) -> Call<Sighting> {
        let (Subject::Object(id) | Subject::Payment(id)) = subject;
        let mut errand = self.errand();
        let outcome = read(&mut errand, self.stop(provider), id).await;
        errand.finish(outcome)
    }

    async fn sees_account(&self, _: &Provider) -> Call<bool> {
        // The configuration names no account, so there is nothing to compare with.
        self.errand().finish(Ok(false))
    }

    async fn dispute(&self, provider: &Provider, payment: &str, _: Option<&str>) -> Call<Option<Dispute>> {
        let mut errand = self.errand();
        let outcome = dispute(&mut errand, self.stop(provider), payment).await;
        errand.finish(outcome)
    }

    async fn withdraw(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Sighting> {
        let mut errand = self.errand();
        let outcome = withdraw(&mut errand, self.stop(provider), order, object).await;
        errand.finish(outcome)
    }
}

impl WebhookReader for Stripe {
    fn verify(&self, provider: &Provider, delivery: Delivery<'_>, now: Timestamp) -> Result<(), Unverified> {
        webhook::verify(provider.credential("webhookSecret"), delivery, now)
    }

    fn translate(&self, body: &[u8]) -> Result<Notice, Unreadable> {
        webhook::translate(body)
    }
}

fn browser_pays() -> CallError {
    not_offered("On this wire the customer's browser pays; there is nothing to charge.")
}

async fn prepare(errand: &mut Errand<'_>, stop: Stop<'_>, order: &CardOrder) -> Result<Prepared, CallError> {
    request::check_currency(order)?;
    match order.flow {
        Flow::PaymentComponent => {
            let ask =
                stop.create("payment_intents.create", "payment_intents", request::intent(order), order)?;
            let made = errand.run(&ask, judge::<wire::NewIntent>).await?;
            let client_secret = Some(Secret::new(made.client_secret));
            Ok(Prepared { object: made.id, also: Vec::new(), checkout_url: None, client_secret })
        }
        Flow::HostedCheckout => {
            let form = request::session(order)?;
            let ask = stop.create("checkout.sessions.create", "checkout/sessions", form, order)?;
            let made = errand.run(&ask, judge::<wire::NewSession>).await?;
            let checkout_url = Some(made.url);
            Ok(Prepared { object: made.id, also: Vec::new(), checkout_url, client_secret: None })
        }
    }
}

async fn read(errand: &mut Errand<'_>, stop: Stop<'_>, id: &str) -> Result<Sighting, CallError> {
    if !is_id(id) {
        return Err(refused(RefusalKind::Missing, Code::ProviderObjectMissing));
    }
    if is_session(id) {
        let query = request::session_query();
        let ask = stop.get("checkout.sessions.retrieve", &format!("checkout/sessions/{id}"), query)?;
        let session = errand.run(&ask, judge::<Session>).await?;
        return Ok(status::session_sighting(&session));
    }
    let query = request::intent_query();
    let ask = stop.get("payment_intents.retrieve", &format!("payment_intents/{id}"), query)?;
    let intent = errand.run(&ask, judge::<Intent>).await?;
    Ok(status::intent_sighting(&intent))
}

/// A payment that was contested twice shows its newest dispute.
async fn dispute(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    intent: &str,
) -> Result<Option<Dispute>, CallError> {
    if !is_id(intent) {
        return Err(refused(RefusalKind::Missing, Code::ProviderObjectMissing));
    }
    let ask = stop.get("disputes.list", "disputes", request::dispute_query(intent))?;
    let list = errand.run(&ask, judge::<wire::DisputeList>).await?;
    Ok(list.data.into_iter().next().map(|dispute| Dispute {
        id: dispute.id,
        status: dispute.status,
        reason: dispute.reason,
        amount: dispute.amount,
    }))
}

/// Cancels or expires, and where the provider will not, says why by saying where it stands.
async fn withdraw(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    order: &CardOrder,
    id: &str,
) -> Result<Sighting, CallError> {
    let key = format!("{}-withdraw", order.id);
    let refusal = match close(errand, stop, id, Some(key)).await {
        Err(error) if is_about_state(&error) => error,
        other => return other,
    };
    let seen = read(errand, stop, id).await?;
    if !is_payable(&seen.standing) {
        return Ok(seen);
    }
    // It can still be paid, and yet would not be closed: the key repeats a refusal of an earlier moment, when the
    // payment was under way. Closing does no harm twice, so it needs no key.
    match close(errand, stop, id, None).await {
        Err(error) if is_about_state(&error) => Err(refusal),
        other => other,
    }
}

async fn close(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    id: &str,
    key: Option<String>,
) -> Result<Sighting, CallError> {
    if !is_id(id) {
        return Err(refused(RefusalKind::Missing, Code::ProviderObjectMissing));
    }
    if is_session(id) {
        let path = format!("checkout/sessions/{id}/expire");
        let ask = stop.post("checkout.sessions.expire", &path, request::session_query(), key)?;
        let session = errand.run(&ask, judge::<Session>).await?;
        return Ok(status::session_sighting(&session));
    }
    let path = format!("payment_intents/{id}/cancel");
    let ask = stop.post("payment_intents.cancel", &path, request::cancel(), key)?;
    let intent = errand.run(&ask, judge::<Intent>).await?;
    Ok(status::intent_sighting(&intent))
}

/// The wire has no code of its own for a session that cannot be expired.
fn is_about_state(error: &CallError) -> bool {
    let CallError::Refused(refusal) = error else { return false };
    matches!(refusal.kind, RefusalKind::State | RefusalKind::Invalid)
}

fn is_payable(standing: &Standing) -> bool {
    matches!(standing, Standing::Untouched | Standing::Acting | Standing::Failed(_))
}

fn is_session(id: &str) -> bool {
    id.starts_with("cs_")
}
