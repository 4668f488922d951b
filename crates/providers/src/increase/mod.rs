//! The Increase wire: ACH transfers for the standard and the same-day channel, real-time payments for the instant one.
//!
//! A key belongs for good to the one object it made, and lists find that object by its key: what became of a request
//! whose answer was lost can always be asked.

mod ascii;
mod call;
mod mask;
#[cfg(test)]
mod mutations;
mod rail;
mod refusal;
mod request;
mod returns;
mod status;
mod webhook;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use form_urlencoded::Serializer;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Minor, Timestamp,
    ach::{AchSighting, TransferOrder},
};
use tollgate_engine::ports::{
    AchTransfers, BankAccount, Call, CallError, Delivery, Notice, RefusalKind, Unreadable, Unverified,
    WebhookReader,
};

use crate::{
    failure::{Code, missing_is_none, not_offered, refused, unknown},
    http::HttpClient,
    increase::{
        call::{Stop, Taken, judge, judge_creation},
        rail::Rail,
        wire::{Account, Balance, List, RoutingNumber},
    },
    retry::Errand,
    settings::Settings,
};

/// Bank transfers and webhooks over the Increase wire.
#[derive(Debug)]
pub(crate) struct Increase {
    http: Arc<HttpClient>,
    settings: Arc<Settings>,
}

impl Increase {
    pub(crate) fn new(http: Arc<HttpClient>, settings: Arc<Settings>) -> Self {
        Self { http, settings }
    }

    fn errand(&self) -> Errand<'_> {
        Errand::new(&self.http, &self.settings)
    }
}

#[async_trait]
impl AchTransfers for Increase {
    async fn send(
        &self,
        provider: &Provider,
        order: &TransferOrder,
        account: &BankAccount,
    ) -> Call<AchSighting> {
        let mut errand = self.errand();
        let outcome = send(&mut errand, Stop { provider }, order, account).await;
        errand.finish(outcome)
    }

    async fn find(&self, provider: &Provider, order: &TransferOrder) -> Call<Option<AchSighting>> {
        let mut errand = self.errand();
        let outcome = find(&mut errand, Stop { provider }, order).await;
        errand.finish(outcome)
    }

    async fn read(&self, provider: &Provider, transfer: &str) -> Call<AchSighting> {
        let mut errand = self.errand();
        let outcome = read(&mut errand, Stop { provider }, transfer).await;
        errand.finish(outcome)
    }

    async fn sees_account(&self, provider: &Provider) -> Call<bool> {
        let mut errand = self.errand();
        let outcome = sees_account(&mut errand, Stop { provider }).await;
        errand.finish(outcome)
    }

    async fn funds(&self, provider: &Provider) -> Call<Minor> {
        let mut errand = self.errand();
        let outcome = funds(&mut errand, Stop { provider }).await;
        errand.finish(outcome)
    }
}

impl WebhookReader for Increase {
    fn verify(&self, provider: &Provider, delivery: Delivery<'_>, now: Timestamp) -> Result<(), Unverified> {
        webhook::verify(provider.credential("webhookSecret"), delivery, now)
    }

    fn translate(&self, body: &[u8]) -> Result<Notice, Unreadable> {
        webhook::translate(body)
    }
}

async fn send(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    order: &TransferOrder,
    account: &BankAccount,
) -> Result<AchSighting, CallError> {
    let rail = rail(order)?;
    let body = match rail {
        Rail::Ach => request::ach(order, account, stop.account()?)?,
        Rail::RealTime => {
            let body = request::real_time(order, account, stop.account_number()?)?;
            check_instant(errand, stop, account).await.map_err(nothing_sent)?;
            body
        }
    };
    let key = order.id.to_string();
    let ask = stop.create(rail.create(), rail.path(), &body, key.clone())?;
    match errand.run(&ask, |answer| judge_creation(answer, |body| rail.sighting(body))).await? {
        Taken::Now(sighting) => Ok(sighting),
        Taken::Before(id) => taken_before(errand, stop, &key, &id).await,
    }
}

/// Whether the receiving bank takes part in real-time payments.
async fn check_instant(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    account: &BankAccount,
) -> Result<(), CallError> {
    let number = account.routing_number.expose();
    let query = Serializer::new(String::new()).append_pair("routing_number", number).finish();
    let ask = stop.get("routing_numbers.list", &format!("routing_numbers?{query}"))?;
    let banks: List<RoutingNumber> =
        errand.run(&ask, |answer| judge(answer, |body| serde_json::from_slice(body))).await?;
    let takes_part = |bank: &RoutingNumber| {
        bank.routing_number == number && bank.real_time_payments_transfers == "supported"
    };
    banks.data.iter().any(takes_part).then_some(()).ok_or_else(refusal::instant_not_supported)
}

/// Trouble before the transfer itself was sent.
fn nothing_sent(error: CallError) -> CallError {
    match error {
        CallError::Unknown(trouble) => CallError::Unsent(trouble),
        other => other,
    }
}

/// The provider answers so when it has seen our key in a request that read otherwise. Where the key's object is ours,
/// that was us, told of another source of funds perhaps: the transfer is there, and how it stands is the answer.
async fn taken_before(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    key: &str,
    id: &str,
) -> Result<AchSighting, CallError> {
    let unclear = || unknown("a transfer was made under this key before, and cannot be read");
    let sighting = read(errand, stop, id).await.map_err(|_| unclear())?;
    match sighting.reference.as_deref() {
        Some(reference) if reference == key => Ok(sighting),
        Some(_) => Err(refusal::key_reused()),
        None => Err(unclear()),
    }
}

async fn find(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    order: &TransferOrder,
) -> Result<Option<AchSighting>, CallError> {
    let (rail, key) = (rail(order)?, order.id.to_string());
    let query = Serializer::new(String::new()).append_pair("idempotency_key", &key).finish();
    let ask = stop.get(rail.list(), &format!("{}?{query}", rail.path()))?;
    let found = errand.run(&ask, |answer| judge(answer, |body| rail.sightings(body))).await?;
    if found.is_empty() {
        return Ok(None);
    }
    // A list of other transfers is no answer to what was asked.
    let ours = found.into_iter().find(|sighting| sighting.reference.as_deref() == Some(key.as_str()));
    ours.map(Some).ok_or_else(|| unknown("the provider's list is not of this transfer's key"))
}

async fn read(errand: &mut Errand<'_>, stop: Stop<'_>, id: &str) -> Result<AchSighting, CallError> {
    let rail = Rail::of_transfer(id);
    let rail = rail.ok_or_else(|| refused(RefusalKind::Missing, Code::ProviderObjectMissing))?;
    let ask = stop.get(rail.retrieve(), &format!("{}/{id}", rail.path()))?;
    errand.run(&ask, |answer| judge(answer, |body| rail.sighting(body))).await
}

async fn sees_account(errand: &mut Errand<'_>, stop: Stop<'_>) -> Result<bool, CallError> {
    let id = stop.account()?;
    let ask = stop.get("accounts.retrieve", &format!("accounts/{id}"))?;
    let read = errand.run(&ask, |answer| judge(answer, |body| serde_json::from_slice::<Account>(body))).await;
    missing_is_none(read).map(|read| read.is_some_and(|account| account.id == id))
}

async fn funds(errand: &mut Errand<'_>, stop: Stop<'_>) -> Result<Minor, CallError> {
    let ask = stop.get("accounts.balance", &format!("accounts/{}/balance", stop.account()?))?;
    let balance: Balance =
        errand.run(&ask, |answer| judge(answer, |body| serde_json::from_slice(body))).await?;
    // An overdrawn account has nothing available.
    let available = u64::try_from(balance.available_balance).unwrap_or_default();
    Ok(Minor::new(available).unwrap_or(Minor::MAX))
}

fn rail(order: &TransferOrder) -> Result<Rail, CallError> {
    Rail::of(order.channel).ok_or_else(|| not_offered("This wire carries bank transfers only."))
}
