//! The Increase API: ACH transfers for the standard and the same-day channel, real-time payments or FedNow for the instant one.
//!
//! A key belongs for good to the one object it made, and lists find that object by its key: what became of a request
//! whose answer was lost can always be asked.

mod call;
mod check;
#[cfg(test)]
mod fuzz_tests;
mod rail;
mod rejection;
mod request;
mod returns;
mod status;
mod types;
mod webhook;

use std::sync::Arc;

use async_trait::async_trait;
use form_urlencoded::Serializer;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Minor, Timestamp,
    ach::{AchProviderReport, TransferOrder, TransferRail},
};
use tollgate_engine::ports::{
    AchTransfers, BankAccount, Call, CallError, CheckReport, CheckSubject, InboundWebhook, NewWebhook,
    OrderFault, ProviderChecks, RegisteredWebhook, RejectionKind, SignatureError, UnreadableEvent,
    WebhookNotice, Webhooks,
};
use tollgate_http::HttpClient;
use tollgate_vault::Secret;

use crate::{
    check::Checkup,
    failure::{Code, missing_is_none, not_offered, nothing_sent, refused, unknown},
    increase::{
        call::{ApiClient, CreationState, interpret, interpret_creation, interpret_step, unusable},
        rail::Rail,
        types::{Account, Balance, List, RoutingNumber},
    },
    retry::CallSession,
    settings::ProviderSettings,
};

/// Bank transfers and webhooks over the Increase API.
#[derive(Debug)]
pub(crate) struct Increase {
    http: Arc<HttpClient>,
    settings: Arc<ProviderSettings>,
}

impl Increase {
    pub(crate) fn new(http: Arc<HttpClient>, settings: Arc<ProviderSettings>) -> Self {
        Self { http, settings }
    }

    fn calls<'a>(&'a self, provider: &'a Provider) -> CallSession<'a> {
        CallSession::new(&self.http, &self.settings, provider)
    }
}

#[async_trait]
impl AchTransfers for Increase {
    fn check_order(&self, order: &TransferOrder) -> Result<(), OrderFault> {
        request::check(order)
    }

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

    async fn funds(&self, provider: &Provider) -> Option<Call<Minor>> {
        let mut calls = self.calls(provider);
        let outcome = funds(&mut calls, ApiClient { provider }).await;
        Some(calls.finish(outcome))
    }
}

#[async_trait]
impl ProviderChecks for Increase {
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

impl Webhooks for Increase {
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

async fn send(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &TransferOrder,
    account: &BankAccount,
) -> Result<AchProviderReport, CallError> {
    let rail = rail(order)?;
    let body = match rail {
        Rail::Ach => request::ach(order, account, api.account()?, api.company_name())?,
        Rail::RealTime => {
            let body = request::instant(order, account, api.account_number()?, api.company_name())?;
            // An order from before the rail was chosen first.
            if order.rail.is_none() {
                check_instant(calls, api, account).await.map_err(nothing_sent)?;
            }
            body
        }
        Rail::FedNow => {
            let company = api.company_name().ok_or_else(unusable)?;
            request::instant(order, account, api.account_number()?, Some(company))?
        }
    };
    let key = order.id.to_string();
    let call = api.create(rail.create(), rail.path(), &body, key.clone())?;
    match calls.run(&call, |answer| interpret_creation(answer, |body| rail.report(body))).await? {
        CreationState::Now(report) => Ok(report),
        CreationState::Before(id) => taken_before(calls, api, &key, &id).await,
    }
}

/// Whether the receiving bank takes part in real-time payments.
async fn check_instant(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    account: &BankAccount,
) -> Result<(), CallError> {
    let rail = instant_rail(calls, api, &account.routing_number).await?;
    let takes_part = rail == Some(TransferRail::RealTimePayments);
    takes_part.then_some(()).ok_or_else(rejection::instant_not_supported)
}

async fn instant_rail(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    routing_number: &Secret,
) -> Result<Option<TransferRail>, CallError> {
    const YES: &str = "supported";
    let number = routing_number.expose();
    let query = Serializer::new(String::new()).append_pair("routing_number", number).finish();
    let call = api.get("routing_numbers.list", &format!("routing_numbers?{query}"))?;
    let banks: List<RoutingNumber> =
        calls.run(&call, |answer| interpret(answer, |body| serde_json::from_slice(body))).await?;
    let bank = banks.data.iter().find(|bank| bank.routing_number == number);
    Ok(bank.and_then(|bank| {
        if bank.real_time_payments_transfers == YES {
            return Some(TransferRail::RealTimePayments);
        }
        (bank.fednow_transfers.as_deref() == Some(YES)).then_some(TransferRail::FedNow)
    }))
}

/// The provider answers so when it has seen our key in a request that read otherwise. Where the key's object is ours,
/// that was us, told of another source of funds perhaps: the transfer is there, and how it stands is the answer.
async fn taken_before(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    key: &str,
    id: &str,
) -> Result<AchProviderReport, CallError> {
    let unclear = || unknown("a transfer was made under this key before, and cannot be read");
    let report = read(calls, api, id).await.map_err(|_| unclear())?;
    match report.reference.as_deref() {
        Some(reference) if reference == key => Ok(report),
        Some(_) => Err(rejection::key_reused()),
        None => Err(unclear()),
    }
}

async fn find(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &TransferOrder,
) -> Result<Option<AchProviderReport>, CallError> {
    let (rail, key) = (rail(order)?, order.id.to_string());
    let query = Serializer::new(String::new()).append_pair("idempotency_key", &key).finish();
    let call = api.get(rail.list(), &format!("{}?{query}", rail.path()))?;
    let found = calls.run(&call, |answer| interpret(answer, |body| rail.reports(body))).await?;
    if found.is_empty() {
        return Ok(None);
    }
    // A list of other transfers is no answer to what was asked.
    let ours = found.into_iter().find(|report| report.reference.as_deref() == Some(key.as_str()));
    ours.map(Some).ok_or_else(|| unknown("the provider's list is not of this transfer's key"))
}

async fn read(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<AchProviderReport, CallError> {
    let rail = rail_of(id)?;
    let call = api.get(rail.retrieve(), &format!("{}/{id}", rail.path()))?;
    calls.run(&call, |answer| interpret(answer, |body| rail.report(body))).await
}

/// Only a transfer that waits for an approval can be canceled. The provider refuses any other alike, also one that an earlier
/// try has canceled: reading it tells.
async fn cancel(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<AchProviderReport, CallError> {
    let rail = rail_of(id)?;
    let call = api.act(rail.cancel(), &format!("{}/{id}/cancel", rail.path()))?;
    match calls.run(&call, |answer| interpret_step(answer, |body| rail.report(body))).await {
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::State => {
            read(calls, api, id).await
        }
        outcome => outcome,
    }
}

fn rail_of(id: &str) -> Result<Rail, CallError> {
    Rail::of_transfer(id).ok_or_else(|| refused(RejectionKind::Missing, Code::ProviderObjectMissing))
}

async fn can_access_account(calls: &mut CallSession<'_>, api: ApiClient<'_>) -> Result<bool, CallError> {
    let id = api.account()?;
    let call = api.get("accounts.retrieve", &format!("accounts/{id}"))?;
    let read =
        calls.run(&call, |answer| interpret(answer, |body| serde_json::from_slice::<Account>(body))).await;
    missing_is_none(read).map(|read| read.is_some_and(|account| account.id == id))
}

async fn funds(calls: &mut CallSession<'_>, api: ApiClient<'_>) -> Result<Minor, CallError> {
    let call = api.get("accounts.balance", &format!("accounts/{}/balance", api.account()?))?;
    let balance: Balance =
        calls.run(&call, |answer| interpret(answer, |body| serde_json::from_slice(body))).await?;
    // An overdrawn account has nothing available.
    let available = u64::try_from(balance.available_balance).unwrap_or_default();
    Ok(Minor::new(available).unwrap_or(Minor::MAX))
}

fn rail(order: &TransferOrder) -> Result<Rail, CallError> {
    Rail::of(order).ok_or_else(|| not_offered("This wire carries bank transfers only."))
}
