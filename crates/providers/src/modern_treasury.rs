//! The Modern Treasury API: payment orders by ACH for the standard and the same-day channel, by RTP for the instant one.
//!
//! An idempotency key lasts 24 hours, is kept for successes only and belongs to one API key. What names an order for good is
//! its `external_id`, which is our reference: it is unique there, and orders are found by it.

mod call;
mod check;
mod rejection;
mod request;
mod status;
mod types;
mod webhook;

use std::sync::Arc;

use async_trait::async_trait;
use form_urlencoded::Serializer;
use serde::de::DeserializeOwned;
use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Timestamp,
    ach::{AchProviderReport, TransferOrder, TransferRail},
};
use tollgate_engine::ports::{
    AchTransfers, BankAccount, Call, CallError, CheckReport, CheckSubject, InboundWebhook, InstantCapability,
    OrderFault, ProviderChecks, RejectionKind, SignatureError, UnreadableEvent, WebhookNotice, Webhooks,
};
use tollgate_http::HttpClient;
use tollgate_vault::Secret;

use crate::{
    check::Checkup,
    failure::{Code, missing_is_none, not_offered, nothing_sent, refused, unknown},
    modern_treasury::{
        call::{ApiClient, CreationState, interpret_change, interpret_creation, read_json},
        request::Rail,
        types::{InternalAccount, PaymentOrder, Return, Reversal, RoutingNumber},
    },
    retry::{ApiCall, CallSession},
    settings::ProviderSettings,
    text::is_id,
};

/// Bank transfers and webhooks over the Modern Treasury API.
#[derive(Debug)]
pub(crate) struct ModernTreasury {
    http: Arc<HttpClient>,
    settings: Arc<ProviderSettings>,
}

impl ModernTreasury {
    pub(crate) fn new(http: Arc<HttpClient>, settings: Arc<ProviderSettings>) -> Self {
        Self { http, settings }
    }

    fn calls<'a>(&'a self, provider: &'a Provider) -> CallSession<'a> {
        CallSession::new(&self.http, &self.settings, provider)
    }
}

/// No funds: the provider passes on what the bank reports once or a few times a day, which says nothing about this moment.
#[async_trait]
impl AchTransfers for ModernTreasury {
    fn check_order(&self, order: &TransferOrder) -> Result<(), OrderFault> {
        request::check(order)
    }

    async fn instant_capability(&self, provider: &Provider) -> Call<InstantCapability> {
        let mut calls = self.calls(provider);
        let account = get_account(&mut calls, ApiClient { provider }).await;
        calls.finish(account.map(|account| match account.can_send(Rail::RealTime.word()) {
            None => InstantCapability::Unknown,
            Some(true) => InstantCapability::Available,
            Some(false) => InstantCapability::Missing("the account capability rtp (credit)"),
        }))
    }

    /// Payment orders are not made by FedNow.
    async fn instant_rail(&self, provider: &Provider, routing_number: &Secret) -> Call<Option<TransferRail>> {
        let mut calls = self.calls(provider);
        let outcome = instant_rail(&mut calls, ApiClient { provider }, routing_number).await;
        calls.finish(outcome)
    }

    async fn send(
        &self,
        provider: &Provider,
        order: &TransferOrder,
        account: &BankAccount,
    ) -> Call<AchProviderReport> {
        let mut calls = self.calls(provider);
        let outcome = send(&mut calls, ApiClient { provider }, order, account).await;
        calls.finish(outcome)
    }

    async fn find(&self, provider: &Provider, order: &TransferOrder) -> Call<Option<AchProviderReport>> {
        let mut calls = self.calls(provider);
        let outcome = find(&mut calls, ApiClient { provider }, order).await;
        calls.finish(outcome)
    }

    async fn read(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport> {
        let mut calls = self.calls(provider);
        let outcome = read(&mut calls, ApiClient { provider }, transfer).await;
        calls.finish(outcome)
    }

    async fn cancel(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport> {
        let mut calls = self.calls(provider);
        let outcome = cancel(&mut calls, ApiClient { provider }, transfer).await;
        calls.finish(outcome)
    }

    async fn can_access_account(&self, provider: &Provider) -> Call<bool> {
        let mut calls = self.calls(provider);
        let outcome = can_access_account(&mut calls, ApiClient { provider }).await;
        calls.finish(outcome)
    }
}

#[async_trait]
impl ProviderChecks for ModernTreasury {
    async fn check(&self, subject: CheckSubject<'_>) -> CheckReport {
        let mut checkup = Checkup::new(self.calls(subject.provider), subject);
        check::check(&mut checkup).await;
        checkup.finish()
    }
}

impl Webhooks for ModernTreasury {
    fn verify(
        &self,
        provider: &Provider,
        inbound: InboundWebhook<'_>,
        _: Timestamp,
    ) -> Result<(), SignatureError> {
        webhook::verify(provider.credential("webhookKey"), inbound)
    }

    fn translate(&self, body: &[u8]) -> Vec<Result<WebhookNotice, UnreadableEvent>> {
        vec![webhook::translate(body)]
    }
}

async fn send(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &TransferOrder,
    account: &BankAccount,
) -> Result<AchProviderReport, CallError> {
    let rail =
        Rail::of(order.channel).ok_or_else(|| not_offered("This provider carries bank transfers only."))?;
    let body = request::payment_order(
        rail,
        order,
        account,
        api.account()?,
        api.company_name(),
        &api.provider.options.forward_metadata,
    )?;
    // An order from before the rail was chosen first.
    if rail == Rail::RealTime && order.rail.is_none() {
        check_instant(calls, api, account).await.map_err(nothing_sent)?;
    }
    let call = api.create("payment_orders.create", "payment_orders", &body, order.id.to_string())?;
    let created = calls.run(&call, |answer| interpret_creation(rail, answer)).await;
    match created? {
        CreationState::Now(made) => report(calls, api, *made).await,
        // The provider has forgotten the key, or another API key was used: the order itself is still there.
        CreationState::Taken => {
            let found = find(calls, api, order).await.map_err(|_| unclear())?;
            found.ok_or_else(unclear)
        }
    }
}

fn unclear() -> CallError {
    unknown("a payment order with this external_id was made before, and cannot be read")
}

/// Whether the receiving bank takes part in real-time payments.
async fn check_instant(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    account: &BankAccount,
) -> Result<(), CallError> {
    let rail = instant_rail(calls, api, &account.routing_number).await?;
    rail.map(drop).ok_or_else(rejection::instant_not_supported)
}

async fn instant_rail(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    routing_number: &Secret,
) -> Result<Option<TransferRail>, CallError> {
    let query = Serializer::new(String::new())
        .append_pair("routing_number", routing_number.expose())
        .append_pair("routing_number_type", "aba")
        .finish();
    let call = api.get("validations.routing_numbers", &format!("validations/routing_numbers?{query}"))?;
    let found = missing_is_none(calls.run(&call, read_json::<RoutingNumber>).await)?;
    let takes_part =
        |bank: RoutingNumber| bank.supported_payment_types.iter().any(|known| known == Rail::RealTime.word());
    Ok(found.is_some_and(takes_part).then_some(TransferRail::RealTimePayments))
}

async fn find(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &TransferOrder,
) -> Result<Option<AchProviderReport>, CallError> {
    let reference = order.id.to_string();
    let query = Serializer::new(String::new()).append_pair("external_id", &reference).finish();
    let call = api.get("payment_orders.list", &format!("payment_orders?{query}"))?;
    let found = calls.run(&call, read_json::<Vec<PaymentOrder>>).await?;
    if found.is_empty() {
        return Ok(None);
    }
    // A list of other orders is no answer to what was asked.
    let ours = found.into_iter().find(|known| known.external_id.as_deref() == Some(reference.as_str()));
    let ours = ours.ok_or_else(|| unknown("the provider's list is not of this transfer's external_id"))?;
    report(calls, api, ours).await.map(Some)
}

async fn read(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<AchProviderReport, CallError> {
    if !is_id(id) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let call = api.get("payment_orders.retrieve", &format!("payment_orders/{id}"))?;
    let order = calls.run(&call, read_json::<PaymentOrder>).await?;
    report(calls, api, order).await
}

/// An order can be canceled until it is handed to the bank. One that can no longer be, or was canceled by an earlier try, is
/// refused: reading it tells.
async fn cancel(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<AchProviderReport, CallError> {
    if !is_id(id) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let body = json!({ "status": "cancelled" });
    let call = api.change("payment_orders.update", &format!("payment_orders/{id}"), &body)?;
    match calls.run(&call, interpret_change).await {
        Ok(order) => report(calls, api, order).await,
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::State => {
            read(calls, api, id).await
        }
        Err(error) => Err(error),
    }
}

/// A payment order as it stands. Some states say less than they seem to: `reversed` only that a reversal was sent, and `sent`
/// and `completed` nothing of what the receiving bank wants corrected, which it may say before the order is complete.
async fn report(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: PaymentOrder,
) -> Result<AchProviderReport, CallError> {
    let id = order.id.clone();
    let (mut reversals, mut returns) = (Vec::new(), Vec::new());
    if order.status == "reversed" && is_id(&id) {
        let path = format!("payment_orders/{id}/reversals");
        reversals = details::<Reversal>(calls, api.get("reversals.list", &path)?).await?;
    }
    if matches!(order.status.as_str(), "sent" | "completed") && is_id(&id) {
        let path = format!("returns?returnable_id={id}&returnable_type=payment_order");
        returns = details::<Return>(calls, api.get("returns.list", &path)?).await?;
    }
    Ok(status::report(order, &reversals, returns))
}

/// What else is known about an order. A key that may not read it must not hide the order itself.
async fn details<T: DeserializeOwned>(
    calls: &mut CallSession<'_>,
    call: ApiCall,
) -> Result<Vec<T>, CallError> {
    match calls.run(&call, read_json::<Vec<T>>).await {
        Err(CallError::Rejected(_)) => Ok(Vec::new()),
        listed => listed,
    }
}

async fn can_access_account(calls: &mut CallSession<'_>, api: ApiClient<'_>) -> Result<bool, CallError> {
    let id = api.account()?;
    let read = missing_is_none(get_account(calls, api).await);
    read.map(|read| read.is_some_and(|account| account.id == id))
}

async fn get_account(calls: &mut CallSession<'_>, api: ApiClient<'_>) -> Result<InternalAccount, CallError> {
    let call = api.get("internal_accounts.retrieve", &format!("internal_accounts/{}", api.account()?))?;
    calls.run(&call, read_json::<InternalAccount>).await
}
