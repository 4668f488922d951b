//! The Adyen API: sessions for the Drop-in component, payment links for the hosted page.
//!
//! No call reads a payment: the browser's result can be asked about, a link says whether it was paid, and everything else is
//! told by signed webhooks. Captures, cancels and refunds are taken first and decided later.

mod amount;
mod call;
mod check;
mod rejection;
mod request;
mod status;
mod types;
mod webhook;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tollgate_configuration::{Provider, ProviderEnvironment};
use tollgate_domain::{
    Currency, Flow, Timestamp,
    card::{CardOrder, ProviderStatus},
    hold::{HoldAction, HoldActionKind},
    refund::{Refund, RefundReport, RefundStatus},
    transaction::Dispute,
};
use tollgate_engine::ports::{
    BrowserResults, Call, CallError, Captures, Cards, CheckReport, CheckSubject, Component, Embedded,
    EmbeddedCards, HostedCheckout, InboundWebhook, NewWebhook, OrderFault, Prepared, Preparing,
    ProviderChecks, Reading, Refunds, RegisteredWebhook, RejectionKind, SignatureError, Subject,
    UnreadableEvent, WebhookNotice, Webhooks,
};
use tollgate_http::HttpClient;
use tollgate_vault::Secret;

use crate::{
    adyen::{
        amount::{from_provider, step},
        call::{ApiClient, interpret},
        types::{Amount, Link, Modification, NewSession, SessionResult},
    },
    check::Checkup,
    failure::{Code, refused, unknown},
    retry::CallSession,
    settings::ProviderSettings,
    text::is_id,
};

/// How long the provider lets a session and a link be paid at most.
const MAX_SESSION: Duration = Duration::from_hours(24);
const MAX_LINK: Duration = Duration::from_hours(24 * 70);

/// Cards and webhooks over the Adyen API.
#[derive(Debug)]
pub(crate) struct Adyen {
    http: Arc<HttpClient>,
    settings: Arc<ProviderSettings>,
}

impl Adyen {
    pub(crate) fn new(http: Arc<HttpClient>, settings: Arc<ProviderSettings>) -> Self {
        Self { http, settings }
    }

    fn calls<'a>(&'a self, provider: &'a Provider) -> CallSession<'a> {
        CallSession::new(&self.http, &self.settings, provider)
    }
}

#[async_trait]
impl Cards for Adyen {
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
        self.calls(provider).finish(request::check(order))
    }

    async fn read(&self, provider: &Provider, order: &CardOrder, subject: Subject<'_>) -> Call<Reading> {
        let mut calls = self.calls(provider);
        let outcome = match (subject, order.flow) {
            (Subject::Object(link), Flow::HostedCheckout) => {
                read_link(&mut calls, ApiClient { provider }, link).await
            }
            _ => Ok(Reading::CannotBeAsked(None)),
        };
        calls.finish(outcome)
    }

    async fn can_access_account(&self, provider: &Provider, _: Option<&str>) -> Call<bool> {
        let mut calls = self.calls(provider);
        let outcome = match check::access(ApiClient { provider }) {
            Ok(call) => calls.run(&call, interpret::<serde_json::Value>).await.map(|_| true),
            Err(error) => Err(error),
        };
        calls.finish(outcome)
    }

    async fn dispute(&self, provider: &Provider, _: &str, _: Option<&str>) -> Call<Option<Dispute>> {
        self.calls(provider).finish(Ok(None))
    }

    async fn withdraw(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Reading> {
        let mut calls = self.calls(provider);
        let outcome = match order.flow {
            Flow::HostedCheckout => withdraw_link(&mut calls, ApiClient { provider }, object).await,
            Flow::PaymentComponent => Ok(Reading::CannotBeAsked(None)),
        };
        calls.finish(outcome)
    }

    fn can_withdraw(&self, flow: Flow) -> bool {
        flow == Flow::HostedCheckout
    }
}

#[async_trait]
impl Preparing for Adyen {
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        let mut calls = self.calls(provider).hiding(order.customer_email.as_deref());
        let api = ApiClient { provider };
        let outcome = match order.flow {
            Flow::PaymentComponent => make_session(&mut calls, api, order).await,
            Flow::HostedCheckout => make_link(&mut calls, api, order).await,
        };
        calls.finish(outcome)
    }

    /// Whoever is to pay needs what the answer has, which nobody has got.
    async fn withdraw_unanswered(&self, provider: &Provider, _: &CardOrder) -> Call<()> {
        self.calls(provider).finish(Ok(()))
    }
}

impl HostedCheckout for Adyen {
    fn max_lifetime(&self) -> Option<Duration> {
        Some(MAX_LINK)
    }
}

#[async_trait]
impl EmbeddedCards for Adyen {
    fn max_lifetime(&self) -> Option<Duration> {
        Some(MAX_SESSION)
    }

    fn results(&self) -> Option<&dyn BrowserResults> {
        Some(self)
    }

    /// A session cannot be read: asked for again under its key, the first answer comes again.
    async fn reopen(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Prepared> {
        let mut calls = self.calls(provider).hiding(order.customer_email.as_deref());
        let outcome = make_session(&mut calls, ApiClient { provider }, order).await;
        let is_same = |prepared: Prepared| {
            let other = || unknown("the provider does not return the session that was made");
            if prepared.object == object { Ok(prepared) } else { Err(other()) }
        };
        calls.finish(outcome.and_then(is_same))
    }

    fn component(&self, provider: &Provider, order: &CardOrder, prepared: &Prepared) -> Option<Component> {
        Some(Component::DropIn {
            client_key: provider.credential("clientKey")?.to_owned(),
            environment: match provider.environment() {
                ProviderEnvironment::Sandbox => "test",
                ProviderEnvironment::Production => "live",
            },
            session_id: prepared.object.clone(),
            session_data: prepared.client_secret.clone()?,
            country_code: request::country(order.currency),
            script_url: provider.script_url()?,
            style_url: provider.style_url()?,
        })
    }
}

#[async_trait]
impl BrowserResults for Adyen {
    async fn read_result(
        &self,
        provider: &Provider,
        order: &CardOrder,
        object: &str,
        result: &Secret,
    ) -> Call<Reading> {
        let mut calls = self.calls(provider).hiding(Some(result.expose()));
        let outcome = read_result(&mut calls, ApiClient { provider }, order, object, result).await;
        calls.finish(outcome)
    }
}

#[async_trait]
impl Captures for Adyen {
    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<Reading> {
        let mut calls = self.calls(provider);
        let outcome = act(&mut calls, ApiClient { provider }, order, payment, action).await;
        calls.finish(outcome)
    }
}

#[async_trait]
impl Refunds for Adyen {
    fn amount_step(&self, currency: Currency) -> u64 {
        step(currency).unwrap_or(1)
    }

    async fn refund(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport> {
        let mut calls = self.calls(provider);
        let outcome = make_refund(&mut calls, ApiClient { provider }, order, payment, refund).await;
        calls.finish(outcome)
    }
}

#[async_trait]
impl ProviderChecks for Adyen {
    async fn check(&self, subject: CheckSubject<'_>) -> CheckReport {
        let mut checkup = Checkup::new(self.calls(subject.provider), subject);
        check::check(&mut checkup).await;
        checkup.finish()
    }

    async fn register_webhook(
        &self,
        provider: &Provider,
        new: NewWebhook<'_>,
    ) -> Option<Call<RegisteredWebhook>> {
        Some(check::register(self.calls(provider), provider, new).await)
    }
}

impl Webhooks for Adyen {
    /// A signature has no time in it, so that an old event looks like a new one: what it leads to can be done again.
    fn verify(
        &self,
        provider: &Provider,
        inbound: InboundWebhook<'_>,
        _: Timestamp,
    ) -> Result<(), SignatureError> {
        webhook::verify(provider, inbound)
    }

    fn translate(&self, body: &[u8]) -> Vec<Result<WebhookNotice, UnreadableEvent>> {
        webhook::translate(body)
    }

    /// Webhooks tell of everything that the merchant account sells.
    fn tells_of_other_sales(&self) -> bool {
        true
    }
}

async fn make_session(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
) -> Result<Prepared, CallError> {
    let body = request::session(order, api.merchant()?, &api.provider.options.forward_metadata)?;
    let call = api.post("sessions.create", "sessions", &body, prepare_key(order))?;
    let made = calls.run(&call, interpret::<NewSession>).await?;
    check_echo(order, &made.reference, &made.amount)?;
    let client_secret = Some(Secret::new(made.session_data));
    Ok(Prepared { object: made.id, also: Vec::new(), checkout_url: None, client_secret, methods: Vec::new() })
}

async fn make_link(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
) -> Result<Prepared, CallError> {
    let body = request::link(order, api.merchant()?, &api.provider.options.forward_metadata)?;
    let call = api.post("payment_links.create", "paymentLinks", &body, prepare_key(order))?;
    let made = calls.run(&call, interpret::<Link>).await?;
    check_echo(order, &made.reference, &made.amount)?;
    let checkout_url = Some(made.url);
    Ok(Prepared { object: made.id, also: Vec::new(), checkout_url, client_secret: None, methods: Vec::new() })
}

fn prepare_key(order: &CardOrder) -> String {
    format!("{}-prepare", order.provider_key())
}

/// The provider does not compare what comes under a key with what came first.
fn check_echo(order: &CardOrder, reference: &str, amount: &Amount) -> Result<(), CallError> {
    let value = amount.value.and_then(|value| from_provider(value, &amount.currency));
    let is_same = reference == order.id.to_string()
        && amount.currency == order.currency.code()
        && value == Some(order.fee.total_debit);
    if is_same { Ok(()) } else { Err(unknown("the response is about another payment")) }
}

async fn read_link(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    link: &str,
) -> Result<Reading, CallError> {
    let call = api.get("payment_links.get", &path("paymentLinks", link, "")?)?;
    status::link(&calls.run(&call, interpret::<Link>).await?)
}

/// A link that is paid, or about to be, cannot be expired: it is read then.
async fn withdraw_link(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    link: &str,
) -> Result<Reading, CallError> {
    let body = serde_json::json!({ "status": "expired" });
    let call = api.patch("payment_links.update", &path("paymentLinks", link, "")?, &body)?;
    match calls.run(&call, interpret::<Link>).await {
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Invalid => {
            match read_link(calls, api, link).await? {
                Reading::Report(report) if report.provider_status == ProviderStatus::NotStarted => {
                    Err(unknown("the provider does not expire the link"))
                }
                reading => Ok(reading),
            }
        }
        expired => status::link(&expired?),
    }
}

async fn read_result(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    session: &str,
    result: &Secret,
) -> Result<Reading, CallError> {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("sessionResult", result.expose())
        .finish();
    let call = api.get("sessions.result", &format!("{}?{query}", path("sessions", session, "")?))?;
    let read = calls.run(&call, interpret::<SessionResult>).await?;
    if read.id != session {
        return Err(unknown("the response is about another session"));
    }
    status::session(read, order)
}

/// Asks for a capture or void. It is taken, and its webhook says what becomes of it.
async fn act(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    payment: &str,
    action: &HoldAction,
) -> Result<Reading, CallError> {
    let (key, merchant) = (action.id.to_string(), api.merchant()?);
    let (operation, end, body) = match action.kind {
        HoldActionKind::Capture => {
            let total = action.amounts(&order.fee).total_debit;
            ("captures.create", "/captures", request::capture(order, total, &key, merchant)?)
        }
        HoldActionKind::Void => ("cancels.create", "/cancels", request::cancel(&key, merchant)),
    };
    let call = api.post(operation, &path("payments", payment, end)?, &body, key.clone())?;
    let taken = calls.run(&call, interpret::<Modification>).await?;
    check_taken(&taken, &key)?;
    Ok(Reading::CannotBeAsked(None))
}

async fn make_refund(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    payment: &str,
    refund: &Refund,
) -> Result<RefundReport, CallError> {
    let key = refund.id.to_string();
    let body = request::refund(order, refund, api.merchant()?)?;
    let call = api.post("refunds.create", &path("payments", payment, "/refunds")?, &body, key.clone())?;
    let taken = calls.run(&call, interpret::<Modification>).await?;
    check_taken(&taken, &key)?;
    let total = taken.amount.as_ref();
    let total = total.and_then(|amount| from_provider(amount.value?, &amount.currency));
    Ok(RefundReport {
        id: taken.psp_reference,
        reference: Some(refund.id),
        total: total.ok_or_else(|| unknown("the refund's amount cannot be read"))?,
        status: RefundStatus::Processing,
        failure: None,
    })
}

/// A request that is answered is taken, whatever status it has then (the provider knows no other than `received`): its webhook
/// says what becomes of it.
fn check_taken(taken: &Modification, key: &str) -> Result<(), CallError> {
    let is_ours = taken.reference.as_deref().is_none_or(|reference| reference == key);
    if is_ours { Ok(()) } else { Err(unknown("the response is about another request")) }
}

fn path(kind: &str, id: &str, end: &str) -> Result<String, CallError> {
    let missing = || refused(RejectionKind::Missing, Code::ProviderObjectMissing);
    if is_id(id) { Ok(format!("{kind}/{id}{end}")) } else { Err(missing()) }
}
