//! The Stripe API: payment intents for the embedded component, checkout sessions for the hosted page.
//!
//! The browser pays; the service prepares, looks, and takes back.

mod call;
mod check;
mod domains;
mod form;
mod hold;
mod identify;
mod refund;
mod rejection;
mod request;
mod status;
mod token;
mod types;
mod webhook;
mod withdraw;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Currency, Flow, Timestamp,
    card::{CardOrder, ProviderReport},
    hold::HoldAction,
    refund::{Refund, RefundReport},
    transaction::Dispute,
};
use tollgate_engine::ports::{
    Call, CallError, Captures, Cards, Charge, CheckReport, CheckSubject, Component, Embedded, EmbeddedCards,
    HostedCheckout, Identified, InboundWebhook, NewWebhook, OrderFault, Prepared, Preparing, ProviderChecks,
    Reading, Refunds, RegisteredDomain, RegisteredWebhook, RejectionKind, SignatureError, Subject, TokenCard,
    TokenCards, UnreadableEvent, WebhookNotice, Webhooks,
};
use tollgate_http::HttpClient;
use tollgate_vault::Secret;

use crate::{
    check::Checkup,
    failure::{Code, not_offered, refused, still_in_doubt},
    retry::{CallSession, unix_seconds},
    settings::ProviderSettings,
    stripe::{
        call::{ApiClient, interpret},
        form::Form,
        types::{Intent, Session},
    },
    text::is_id,
};

/// Cards and webhooks over the Stripe API.
#[derive(Debug)]
pub(crate) struct Stripe {
    http: Arc<HttpClient>,
    settings: Arc<ProviderSettings>,
}

impl Stripe {
    pub(crate) fn new(http: Arc<HttpClient>, settings: Arc<ProviderSettings>) -> Self {
        Self { http, settings }
    }

    fn calls<'a>(&'a self, provider: &'a Provider) -> CallSession<'a> {
        CallSession::new(&self.http, &self.settings, provider)
    }

    fn api<'a>(&'a self, provider: &'a Provider) -> ApiClient<'a> {
        let version = provider.options.api_version.as_deref().unwrap_or(&self.settings.stripe_version);
        ApiClient::new(provider, version)
    }
}

#[async_trait]
impl Cards for Stripe {
    fn hosted_checkout(&self) -> Option<&dyn HostedCheckout> {
        Some(self)
    }

    fn embedded(&self) -> Option<Embedded<'_>> {
        Some(Embedded::InBrowser(self))
    }

    fn captures(&self, _: Flow) -> Option<&dyn Captures> {
        Some(self)
    }

    fn refunds(&self) -> Option<&dyn Refunds> {
        Some(self)
    }

    async fn check_order(&self, provider: &Provider, order: &CardOrder) -> Call<(), OrderFault> {
        self.calls(provider).finish(request::check(order, &provider.options))
    }

    async fn read(&self, provider: &Provider, _: &CardOrder, subject: Subject<'_>) -> Call<Reading> {
        let (Subject::Object(id) | Subject::Payment(id)) = subject;
        let mut calls = self.calls(provider);
        let outcome = read(&mut calls, self.api(provider), id).await;
        calls.finish(outcome).read()
    }

    async fn can_access_account(&self, provider: &Provider, account: Option<&str>) -> Call<bool> {
        let mut calls = self.calls(provider);
        let named = provider.options.account.as_deref().or(account);
        let outcome = can_access_account(&mut calls, self.api(provider), named).await;
        calls.finish(outcome)
    }

    async fn dispute(
        &self,
        provider: &Provider,
        payment: &str,
        known: Option<&str>,
    ) -> Call<Option<Dispute>> {
        let mut calls = self.calls(provider);
        let outcome = dispute(&mut calls, self.api(provider), payment, known).await;
        calls.finish(outcome)
    }

    async fn withdraw(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Reading> {
        let mut calls = self.calls(provider);
        let outcome = withdraw::withdraw(&mut calls, self.api(provider), order, object).await;
        calls.finish(outcome).read()
    }

    async fn identify(&self, provider: &Provider, object: &str) -> Call<Option<Identified>> {
        let mut calls = self.calls(provider);
        let outcome = identify::identify(&mut calls, self.api(provider), object).await;
        calls.finish(outcome)
    }

    async fn register_domain(&self, provider: &Provider, domain: &str) -> Option<Call<RegisteredDomain>> {
        let mut calls = self.calls(provider);
        let outcome = domains::register(&mut calls, self.api(provider), domain).await;
        Some(calls.finish(outcome))
    }
}

#[async_trait]
impl Preparing for Stripe {
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        let mut calls = self.calls(provider).hiding(order.customer_email.as_deref());
        let outcome = prepare(&mut calls, self.api(provider), order).await;
        calls.finish(outcome)
    }

    async fn withdraw_unanswered(&self, provider: &Provider, order: &CardOrder) -> Call<()> {
        let mut calls = self.calls(provider);
        let outcome = withdraw::unanswered(&mut calls, self.api(provider), order).await;
        calls.finish(outcome)
    }
}

impl HostedCheckout for Stripe {
    fn max_lifetime(&self) -> Option<Duration> {
        Some(request::MAX_SESSION)
    }
}

#[async_trait]
impl EmbeddedCards for Stripe {
    async fn reopen(&self, provider: &Provider, _: &CardOrder, object: &str) -> Call<Prepared> {
        let mut calls = self.calls(provider);
        let outcome = reopen(&mut calls, self.api(provider), object).await;
        calls.finish(outcome)
    }

    fn component(&self, provider: &Provider, _: &CardOrder, prepared: &Prepared) -> Option<Component> {
        Some(Component::PaymentElement {
            publishable_key: provider.credential("publishableKey")?.to_owned(),
            client_secret: prepared.client_secret.clone()?,
            payment_intent_id: prepared.object.clone(),
            account: provider.options.account.clone(),
            script_url: provider.script_url()?,
            token_methods: self.tokens(provider).map(|_| prepared.methods.clone()),
        })
    }

    fn tokens(&self, provider: &Provider) -> Option<&dyn TokenCards> {
        token::is_offered(self.api(provider).version).then_some(self)
    }
}

#[async_trait]
impl TokenCards for Stripe {
    async fn read_token(&self, provider: &Provider, token: &Secret) -> Call<TokenCard> {
        let mut calls = self.calls(provider);
        let outcome = token::look_at(&mut calls, self.api(provider), token).await;
        calls.finish(outcome)
    }

    fn amount_step(&self, currency: Currency) -> u64 {
        request::amount_step(currency)
    }

    async fn charge_token(
        &self,
        provider: &Provider,
        order: &CardOrder,
        charge: &Charge,
    ) -> Call<ProviderReport> {
        let mut calls = self.calls(provider);
        let outcome = token::charge(&mut calls, self.api(provider), order, charge).await;
        calls.finish(outcome)
    }
}

#[async_trait]
impl Captures for Stripe {
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
impl Refunds for Stripe {
    fn amount_step(&self, currency: Currency) -> u64 {
        request::amount_step(currency)
    }

    async fn refund(
        &self,
        provider: &Provider,
        _: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport> {
        let mut calls = self.calls(provider);
        let outcome = refund::make(&mut calls, self.api(provider), payment, refund).await;
        calls.finish(outcome)
    }
}

#[async_trait]
impl ProviderChecks for Stripe {
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
        Some(
            check::register(self.calls(provider), provider, self.api(provider).version, new, unix_seconds())
                .await,
        )
    }
}

impl Webhooks for Stripe {
    fn verify(
        &self,
        provider: &Provider,
        inbound: InboundWebhook<'_>,
        now: Timestamp,
    ) -> Result<(), SignatureError> {
        webhook::verify(provider.credential("webhookSecret"), inbound, now)
    }

    fn translate(&self, body: &[u8]) -> Vec<Result<WebhookNotice, UnreadableEvent>> {
        vec![webhook::translate(body)]
    }
}

async fn prepare(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
) -> Result<Prepared, CallError> {
    let options = &api.provider.options;
    request::check(order, options)
        .map_err(|fault| not_offered(&format!("{} {}.", fault.field, fault.message)))?;
    let (prepared, offered) = match order.flow {
        Flow::PaymentComponent => {
            let form = request::intent(order, options, api.version);
            let made: types::NewIntent =
                api.create(calls, "payment_intents.create", "payment_intents", form, order).await?;
            let client_secret = Some(Secret::new(made.client_secret));
            let methods = made.payment_method_types.clone().unwrap_or_default();
            let (object, also) = (made.id, Vec::new());
            let prepared = Prepared { object, also, checkout_url: None, client_secret, methods };
            (prepared, made.payment_method_types)
        }
        Flow::HostedCheckout => {
            let form = request::session(order, options, api.version)?;
            let made: types::NewSession =
                api.create(calls, "checkout.sessions.create", "checkout/sessions", form, order).await?;
            let checkout_url = Some(made.url);
            let (object, also, methods) = (made.id, Vec::new(), Vec::new());
            let prepared = Prepared { object, also, checkout_url, client_secret: None, methods };
            (prepared, made.payment_method_types)
        }
    };
    if let Some(reason) = offered.and_then(|offered| request::untaken_of(order, options, &offered)) {
        withdraw::withdraw(calls, api, order, &prepared.object).await.map_err(still_in_doubt)?;
        return Err(not_offered(&reason));
    }
    Ok(prepared)
}

async fn reopen(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    intent: &str,
) -> Result<Prepared, CallError> {
    if !is_id(intent) || is_session(intent) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let path = format!("payment_intents/{intent}");
    let call = api.get("payment_intents.retrieve", &path, form::Form::new())?;
    let made = calls.run(&call, interpret::<types::NewIntent>).await?;
    let client_secret = Some(Secret::new(made.client_secret));
    let methods = made.payment_method_types.unwrap_or_default();
    Ok(Prepared { object: made.id, also: Vec::new(), checkout_url: None, client_secret, methods })
}

async fn read(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<ProviderReport, CallError> {
    if !is_id(id) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    if is_session(id) {
        let query = request::session_query();
        let call = api.get("checkout.sessions.retrieve", &format!("checkout/sessions/{id}"), query)?;
        let session = calls.run(&call, interpret::<Session>).await?;
        let report = status::session_report(&session);
        let intent = session.payment_intent;
        return with_refunds(calls, api, report, intent).await;
    }
    let query = request::intent_query();
    let call = api.get("payment_intents.retrieve", &format!("payment_intents/{id}"), query)?;
    let intent = calls.run(&call, interpret::<Intent>).await?;
    let report = status::intent_report(&intent);
    with_refunds(calls, api, report, Some(intent)).await
}

async fn with_refunds(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    report: ProviderReport,
    intent: Option<Intent>,
) -> Result<ProviderReport, CallError> {
    let Some(intent) = intent else { return Ok(report) };
    let refunds = refund::of_charge(calls, api, intent.latest_charge, &intent.id).await?;
    Ok(ProviderReport { refunds, ..report })
}

/// Where no account is known there is nothing to compare with.
async fn can_access_account(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    named: Option<&str>,
) -> Result<bool, CallError> {
    let Some(named) = named else { return Ok(false) };
    let call = api.get("account.retrieve", "account", Form::new())?;
    let account = calls.run(&call, interpret::<types::Account>).await?;
    Ok(account.id == named)
}

/// A payment can be contested several times, a part of it each time: the dispute that is known, otherwise the newest.
async fn dispute(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    intent: &str,
    known: Option<&str>,
) -> Result<Option<Dispute>, CallError> {
    if !is_id(intent) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let call = api.get("disputes.list", "disputes", request::dispute_query(intent))?;
    let list = calls.run(&call, interpret::<types::DisputeList>).await?;
    let place = list.data.iter().position(|dispute| Some(dispute.id.as_str()) == known).unwrap_or(0);
    Ok(list.data.into_iter().nth(place).map(|dispute| Dispute {
        withdrawn: dispute.withdrawn(),
        id: dispute.id,
        status: dispute.status,
        reason: dispute.reason,
        amount: dispute.amount,
        currency: dispute.currency.map(|currency| currency.to_ascii_uppercase()),
        respond_by: dispute.evidence_details.and_then(|details| details.respond_by()),
    }))
}

fn is_session(id: &str) -> bool {
    id.starts_with("cs_")
}
