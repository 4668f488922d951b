//! The live check: whose key it is, for test or live, and what its webhook endpoints send.

use serde::Deserialize;
use tollgate_configuration::Provider;
use tollgate_domain::tenant::Mode;
use tollgate_engine::ports::{Call, CallError, NewWebhook, RegisteredWebhook};
use tollgate_vault::Secret;

use super::{
    call::{ApiClient, interpret},
    form::Form,
};
use crate::{
    check::{Checkup, WebhookEndpoint},
    retry::{ApiCall, CallSession},
};

/// What an endpoint has to send, so that nothing is learned late.
const NEEDED_EVENTS: [&str; 19] = [
    "payment_intent.succeeded",
    "payment_intent.processing",
    "payment_intent.requires_action",
    "payment_intent.amount_capturable_updated",
    "payment_intent.payment_failed",
    "payment_intent.canceled",
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "charge.refunded",
    "refund.created",
    "refund.updated",
    "refund.failed",
    "charge.dispute.created",
    "charge.dispute.updated",
    "charge.dispute.closed",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
];

/// An account has 16 endpoints at most, so one page is all of them.
const PAGE: &str = "100";
/// A replayed creation shows the secret again as long as the provider remembers the key, which is a day.
const KEY_KEPT_SECONDS: i64 = 23 * 3_600;

#[derive(Deserialize)]
struct Balance {
    livemode: bool,
}

#[derive(Deserialize)]
struct Account {
    id: String,
    #[serde(default)]
    charges_enabled: bool,
}

#[derive(Deserialize)]
struct Endpoints {
    data: Vec<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    id: String,
    url: String,
    status: String,
    enabled_events: Vec<String>,
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    created: i64,
    secret: Option<String>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    tollgate_key: Option<String>,
}

pub(super) async fn check(checkup: &mut Checkup<'_>, version: &str) {
    let api = ApiClient { provider: checkup.provider(), version };
    let balance =
        checkup.ask(api.get("balance.retrieve", "balance", Form::new()), interpret::<Balance>).await;
    if !checkup.connected(&balance) {
        return;
    }
    let is_live = balance.is_ok_and(|balance| balance.livemode);
    checkup.mode(Some(if is_live { Mode::Live } else { Mode::Test }));
    let account =
        checkup.ask(api.get("account.retrieve", "account", Form::new()), interpret::<Account>).await;
    match &account {
        // An account that was never activated takes test payments all the same.
        Ok(account) if is_live && !account.charges_enabled => {
            let message = format!("The account {} cannot take payments.", account.id);
            checkup.fail("account", message, "Complete the account's details in the provider's dashboard.");
        }
        Ok(account) => checkup.pass("account", format!("The account is {}.", account.id)),
        Err(error) => {
            let hint = "Check options.account, and give a restricted key permission to read the account.";
            checkup.unanswered("account", error, hint);
        }
    }
    let listed = checkup.ask(list(api), interpret::<Endpoints>).await;
    match listed {
        Ok(listed) => {
            let endpoints: Vec<_> = listed.data.into_iter().map(WebhookEndpoint::from).collect();
            if checkup.webhooks(&endpoints, &NEEDED_EVENTS).is_some() {
                checkup.webhook_secret(None);
            }
        }
        Err(error) => {
            let hint = "Give a restricted key permission to read webhook endpoints.";
            checkup.unanswered("webhook_endpoint", &error, hint);
        }
    }
}

impl From<Endpoint> for WebhookEndpoint {
    fn from(endpoint: Endpoint) -> Self {
        let is_enabled = endpoint.status == "enabled";
        Self { id: endpoint.id, url: endpoint.url, is_enabled, events: Some(endpoint.enabled_events) }
    }
}

fn list(api: ApiClient<'_>) -> Result<ApiCall, CallError> {
    api.get("webhook_endpoints.list", "webhook_endpoints", Form::new().with("limit", PAGE))
}

pub(super) async fn register(
    mut calls: CallSession<'_>,
    provider: &Provider,
    version: &str,
    new: NewWebhook<'_>,
    now_seconds: i64,
) -> Call<RegisteredWebhook> {
    let api = ApiClient { provider, version };
    let outcome = find_or_create(&mut calls, api, new, now_seconds).await;
    calls.finish(outcome)
}

/// The secret is shown at creation only. Where an earlier answer was lost, the same request under the same key repeats it;
/// an endpoint that was made otherwise keeps its secret to itself.
async fn find_or_create(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    new: NewWebhook<'_>,
    now_seconds: i64,
) -> Result<RegisteredWebhook, CallError> {
    let listed = calls.run(&list(api)?, interpret::<Endpoints>).await?;
    let found = listed.data.into_iter().find(|endpoint| endpoint.url == new.url);
    if let Some(found) = found {
        // Storing the secret changes the key, so one that has not changed says that the secret was never stored.
        let is_unfinished = found.metadata.tollgate_key.as_deref() == Some(new.key)
            && now_seconds.saturating_sub(found.created) < KEY_KEPT_SECONDS;
        if !is_unfinished {
            return Ok(RegisteredWebhook { id: found.id, is_new: false, secret: None });
        }
    }
    let made = create(calls, api, new).await?;
    Ok(RegisteredWebhook { id: made.id, is_new: true, secret: made.secret.map(Secret::new) })
}

async fn create(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    new: NewWebhook<'_>,
) -> Result<Endpoint, CallError> {
    calls.run(&creation(api, new)?, interpret::<Endpoint>).await
}

fn creation(api: ApiClient<'_>, new: NewWebhook<'_>) -> Result<ApiCall, CallError> {
    let mut form = Form::new()
        .with("url", new.url)
        .with("api_version", api.version)
        .with("description", "Tollgate")
        .with("metadata[tollgate_key]", new.key);
    for (number, event) in NEEDED_EVENTS.iter().enumerate() {
        form = form.with(&format!("enabled_events[{number}]"), event);
    }
    let call = api.post("webhook_endpoints.create", "webhook_endpoints", form, Some(new.key.to_owned()))?;
    Ok(ApiCall { makes: true, ..call })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::webhook::translate, NEEDED_EVENTS};

    #[test]
    fn every_event_that_is_asked_for_is_read() {
        for event in NEEDED_EVENTS {
            let body = json!({"id": "evt_1", "type": event, "data": {"object": {"id": "pi_1"}}}).to_string();
            assert!(translate(body.as_bytes()).unwrap().relevant, "{event}");
        }
    }
}
