//! The live check: whether account and account number are there, open and belong together, and what the event
//! subscriptions send.

use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tollgate_configuration::Provider;
use tollgate_domain::tenant::Mode;
use tollgate_engine::ports::{Call, CallError, NewWebhook, RegisteredWebhook};
use tollgate_http::Answer;

use super::{
    call::{ApiClient, interpret},
    types::List,
};
use crate::{
    check::{Checkup, WebhookEndpoint},
    failure::missing_is_none,
    retry::{ApiCall, AttemptResult, CallSession},
    text::is_id,
};

/// What a subscription has to send, so that nothing is learned late.
const NEEDED_EVENTS: [&str; 6] = [
    "ach_transfer.created",
    "ach_transfer.updated",
    "real_time_payments_transfer.created",
    "real_time_payments_transfer.updated",
    "fednow_transfer.created",
    "fednow_transfer.updated",
];

#[derive(Deserialize)]
struct Account {
    status: String,
    name: String,
}

#[derive(Deserialize)]
struct AccountNumber {
    account_id: String,
    status: String,
}

#[derive(Deserialize)]
struct Subscription {
    id: String,
    url: String,
    status: String,
    selected_event_categories: Option<Vec<Category>>,
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
struct Category {
    event_category: Option<String>,
}

pub(super) async fn check(checkup: &mut Checkup<'_>) {
    let api = ApiClient { provider: checkup.provider() };
    let is_other_side = AtomicBool::new(false);
    let listed = checkup
        .ask(list(api), |answer| {
            is_other_side.fetch_or(is_of_other_environment(answer), Ordering::Relaxed);
            read::<List<Subscription>>(answer)
        })
        .await;
    if is_other_side.load(Ordering::Relaxed) {
        other_environment(checkup);
        return;
    }
    if !checkup.connected(&listed) {
        return;
    }
    checkup.mode(checkup.provider().mode());
    account(checkup, api).await;
    if let Ok(listed) = listed {
        let kept = listed.data.into_iter().filter(|known| known.status != "deleted");
        let endpoints: Vec<_> = kept.map(WebhookEndpoint::from).collect();
        if checkup.webhooks(&endpoints, &NEEDED_EVENTS).is_some() {
            checkup.webhook_secret(None);
        }
    }
}

/// The provider tells a key of its other environment from one it does not know.
fn is_of_other_environment(answer: &Answer) -> bool {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let is = |field: &str, word: &str| body.get(field).and_then(Value::as_str) == Some(word);
    answer.status == StatusCode::UNAUTHORIZED && is("reason", "wrong_environment")
        || answer.status == StatusCode::FORBIDDEN && is("type", "environment_mismatch_error")
}

fn other_environment(checkup: &mut Checkup<'_>) {
    let address = checkup.provider().address();
    checkup.pass("connection", format!("{address} answers."));
    let side = match checkup.provider().mode() {
        Some(Mode::Test) => "production",
        _ => "sandbox",
    };
    let message = format!("The key belongs to the provider's {side}, and {address} does not accept it.");
    checkup.fail("mode", message, format!("Set environment to `{side}`, or use a key of the other side."));
}

async fn account(checkup: &mut Checkup<'_>, api: ApiClient<'_>) {
    let id = checkup.provider().funding("accountId").unwrap_or_default();
    let found = checkup.ask(get(api, "accounts.retrieve", "accounts", id), read::<Account>).await;
    match missing_is_none(found) {
        Ok(None) => {
            let hint =
                "Copy the id of the account that pays from the provider's dashboard to funding.accountId.";
            checkup.fail("account", format!("There is no account {id}."), hint);
            return;
        }
        Ok(Some(account)) if account.status != "open" => {
            let message = format!("The account {id} is {}.", account.status);
            checkup.fail("account", message, "Set funding.accountId to an account that is open.");
            return;
        }
        Ok(Some(account)) => {
            checkup.pass("account", format!("The account {id} (“{}”) is open.", account.name));
        }
        Err(error) => {
            checkup.unanswered("account", &error, "Give the key permission to read accounts.");
            return;
        }
    }
    let Some(number) = checkup.provider().funding("accountNumberId") else {
        checkup.pass("account_number", "None is configured; only instant transfers need one.");
        return;
    };
    let call = get(api, "account_numbers.retrieve", "account_numbers", number);
    let found = checkup.ask(call, read::<AccountNumber>).await;
    match missing_is_none(found) {
        Ok(None) => {
            let hint = format!("Set funding.accountNumberId to the id of a number of the account {id}.");
            checkup.fail("account_number", format!("There is no account number {number}."), hint);
        }
        Ok(Some(found)) => account_number(checkup, id, number, &found),
        Err(error) => {
            checkup.unanswered("account_number", &error, "Give the key permission to read account numbers.");
        }
    }
}

fn account_number(checkup: &mut Checkup<'_>, account: &str, number: &str, found: &AccountNumber) {
    checkup.pass("account_number", format!("The account number {number} exists."));
    if found.account_id == account {
        checkup.pass("account_number_account", format!("It belongs to {account}."));
    } else {
        let message = format!("It belongs to {}, not to {account}.", found.account_id);
        let hint = "Set funding.accountNumberId and funding.accountId to a pair: instant transfers are paid from the \
                    number's account.";
        checkup.fail("account_number_account", message, hint);
    }
    if found.status == "active" {
        checkup.pass("account_number_status", "It is active.");
    } else {
        let message = format!("The account number is {}: instant transfers are rejected.", found.status);
        let hint = "Activate it in the provider's dashboard, or set funding.accountNumberId to another one.";
        checkup.fail("account_number_status", message, hint);
    }
}

impl From<Subscription> for WebhookEndpoint {
    fn from(subscription: Subscription) -> Self {
        let events = subscription
            .selected_event_categories
            .map(|selected| selected.into_iter().filter_map(|category| category.event_category).collect());
        let is_enabled = subscription.status == "active";
        Self { id: subscription.id, url: subscription.url, is_enabled, events }
    }
}

fn read<T: DeserializeOwned>(answer: &Answer) -> AttemptResult<T> {
    interpret(answer, |body| serde_json::from_slice(body))
}

fn get(api: ApiClient<'_>, operation: &'static str, path: &str, id: &str) -> Result<ApiCall, CallError> {
    // An id that cannot stand in a path is nobody's.
    let id = if is_id(id) { id } else { "unusable" };
    api.get(operation, &format!("{path}/{id}"))
}

fn list(api: ApiClient<'_>) -> Result<ApiCall, CallError> {
    api.get("event_subscriptions.list", "event_subscriptions?limit=100")
}

pub(super) async fn register(
    mut calls: CallSession<'_>,
    provider: &Provider,
    new: NewWebhook<'_>,
) -> Call<RegisteredWebhook> {
    let outcome = find_or_create(&mut calls, ApiClient { provider }, new).await;
    calls.finish(outcome)
}

/// We choose the secret, and it is derived from the key: a subscription that was made under this key signs with it.
async fn find_or_create(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    new: NewWebhook<'_>,
) -> Result<RegisteredWebhook, CallError> {
    let listed = calls.run(&list(api)?, read::<List<Subscription>>).await?.data;
    let found = listed.into_iter().find(|known| known.url == new.url && known.status != "deleted");
    if let Some(found) = found {
        let is_ours = found.idempotency_key.as_deref() == Some(new.key);
        let secret = is_ours.then(|| new.secret.clone());
        return Ok(RegisteredWebhook { id: found.id, is_new: false, secret });
    }
    let categories: Vec<_> = NEEDED_EVENTS.iter().map(|event| json!({ "event_category": event })).collect();
    let body = json!({
        "url": new.url,
        "shared_secret": new.secret.expose(),
        "selected_event_categories": categories,
    });
    let path = "event_subscriptions";
    let call = api.create("event_subscriptions.create", path, &body, new.key.to_owned())?;
    let made = calls.run(&call, read::<Subscription>).await?;
    Ok(RegisteredWebhook { id: made.id, is_new: true, secret: Some(new.secret.clone()) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::webhook::translate, NEEDED_EVENTS};

    #[test]
    fn every_event_that_is_asked_for_is_read() {
        for event in NEEDED_EVENTS {
            let body = json!({"id": "event_1", "category": event, "associated_object_id": "ach_transfer_1"});
            assert!(translate(body.to_string().as_bytes()).unwrap().relevant, "{event}");
        }
    }
}
