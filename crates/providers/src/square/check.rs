//! The live check: which locations a token sees, in which currency, and what its webhook subscriptions send.

use serde::Deserialize;
use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_domain::Currency;
use tollgate_engine::ports::{Call, CallError, NewWebhook, RegisteredWebhook};
use tollgate_vault::Secret;

use super::{
    call::{ApiClient, interpret},
    dispute,
    types::DisputeList,
};
use crate::{
    check::{Checkup, WebhookEndpoint},
    failure::unknown,
    retry::{ApiCall, CallSession},
    text::{fit, is_id},
};

/// What a subscription has to send, so that nothing is learned late.
const NEEDED_EVENTS: [&str; 6] = [
    "payment.created",
    "payment.updated",
    "refund.created",
    "refund.updated",
    "dispute.created",
    "dispute.state.updated",
];

/// An idempotency key's length at most.
const KEY_LENGTH_MAX: usize = 45;

#[derive(Deserialize)]
struct Locations {
    #[serde(default)]
    locations: Vec<Location>,
}

#[derive(Deserialize)]
struct Location {
    id: String,
    status: Option<String>,
    currency: Option<String>,
}

#[derive(Deserialize)]
struct Subscriptions {
    #[serde(default)]
    subscriptions: Vec<Subscription>,
}

#[derive(Deserialize)]
struct SubscriptionBody {
    subscription: Subscription,
}

#[derive(Deserialize)]
struct Subscription {
    id: String,
    notification_url: Option<String>,
    enabled: Option<bool>,
    event_types: Option<Vec<String>>,
    signature_key: Option<String>,
}

pub(super) async fn check(checkup: &mut Checkup<'_>, version: &str) {
    let api = ApiClient { provider: checkup.provider(), version };
    let listed = checkup.ask(api.get("locations.list", "locations"), interpret::<Locations>).await;
    if !checkup.connected(&listed) {
        return;
    }
    checkup.mode(checkup.provider().mode());
    location(checkup, &listed.map(|listed| listed.locations).unwrap_or_default());
    let call = dispute::list_call(api, "EVIDENCE_REQUIRED", None);
    match checkup.ask(call, interpret::<DisputeList>).await {
        Ok(_) => checkup.pass("disputes", "The access token can list disputes."),
        Err(error) => {
            let hint = "Give the token the permission DISPUTES_READ: disputes whose webhook is lost are found by a daily list.";
            checkup.unanswered("disputes", &error, hint);
        }
    }
    let listed = checkup.ask(list(api), interpret::<Subscriptions>).await;
    match listed {
        Ok(listed) => {
            let endpoints: Vec<_> = listed.subscriptions.into_iter().map(WebhookEndpoint::from).collect();
            if let Some(id) = checkup.webhooks(&endpoints, &NEEDED_EVENTS) {
                let read = checkup.ask(read(api, &id), interpret::<SubscriptionBody>).await;
                let key = read.ok().and_then(|read| read.subscription.signature_key);
                checkup.webhook_secret(key.as_deref());
            }
        }
        Err(error) => {
            let hint = "Webhook subscriptions belong to the application: use its personal access token, not a token of \
                        OAuth, or look them up in the developer console.";
            checkup.unanswered("webhook_endpoint", &error, hint);
        }
    }
}

fn location(checkup: &mut Checkup<'_>, locations: &[Location]) {
    let wanted = checkup.provider().credential("locationId").unwrap_or_default();
    let Some(found) = locations.iter().find(|location| location.id == wanted) else {
        let known: Vec<_> = locations.iter().take(10).map(|location| location.id.as_str()).collect();
        let message = format!("This access token sees no location {wanted}; it sees {}.", known.join(", "));
        checkup.fail("location", message, "Set credentials.locationId to one of them.");
        return;
    };
    checkup.pass("location", format!("The location is {wanted}."));
    match found.status.as_deref() {
        Some("ACTIVE") | None => checkup.pass("location_status", "The location is active."),
        Some(_) => {
            let message = format!("The location {wanted} is closed and takes no payments.");
            let hint = "Reopen it in the seller dashboard, or set credentials.locationId to another one.";
            checkup.fail("location_status", message, hint);
        }
    }
    let Some(currency) = found.currency.as_deref() else { return };
    let currencies = checkup.subject().currencies;
    if currencies.is_empty() || currencies.iter().any(|known| known.code() == currency) {
        checkup.pass("location_currency", format!("The location takes payments in {currency} only."));
    } else {
        let known: Vec<_> = currencies.iter().map(Currency::code).collect();
        let message = format!(
            "The location takes payments in {currency} only, and the fees configured for it are in {}.",
            known.join(", ")
        );
        let hint = format!(
            "Route other currencies elsewhere and add a fee for {currency}, or use a location of the right currency."
        );
        checkup.fail("location_currency", message, hint);
    }
}

impl From<Subscription> for WebhookEndpoint {
    fn from(subscription: Subscription) -> Self {
        Self {
            id: subscription.id,
            url: subscription.notification_url.unwrap_or_default(),
            is_enabled: subscription.enabled.unwrap_or_default(),
            events: Some(subscription.event_types.unwrap_or_default()),
        }
    }
}

fn list(api: ApiClient<'_>) -> Result<ApiCall, CallError> {
    api.get("webhook_subscriptions.list", "webhooks/subscriptions?include_disabled=true&limit=100")
}

fn read(api: ApiClient<'_>, id: &str) -> Result<ApiCall, CallError> {
    if !is_id(id) {
        return Err(unknown("the subscription's id cannot be used"));
    }
    api.get("webhook_subscriptions.get", &format!("webhooks/subscriptions/{id}"))
}

pub(super) async fn register(
    mut calls: CallSession<'_>,
    provider: &Provider,
    version: &str,
    new: NewWebhook<'_>,
) -> Call<RegisteredWebhook> {
    let outcome = find_or_create(&mut calls, ApiClient { provider, version }, new).await;
    calls.finish(outcome)
}

/// Here a subscription's key can be read at any time.
async fn find_or_create(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    new: NewWebhook<'_>,
) -> Result<RegisteredWebhook, CallError> {
    let listed = calls.run(&list(api)?, interpret::<Subscriptions>).await?.subscriptions;
    let found = listed.into_iter().find(|known| known.notification_url.as_deref() == Some(new.url));
    let (subscription, is_new) = match found {
        Some(found) => (calls.run(&read(api, &found.id)?, interpret::<SubscriptionBody>).await?, false),
        None => (create(calls, api, new).await?, true),
    };
    let Subscription { id, signature_key, .. } = subscription.subscription;
    Ok(RegisteredWebhook { id, is_new, secret: signature_key.map(Secret::new) })
}

async fn create(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    new: NewWebhook<'_>,
) -> Result<SubscriptionBody, CallError> {
    let key = short_key(new.key);
    let body = json!({
        "idempotency_key": key,
        "subscription": {
            "name": "Tollgate",
            "event_types": NEEDED_EVENTS,
            "notification_url": new.url,
            "api_version": api.version,
        },
    });
    let call = api.create("webhook_subscriptions.create", "webhooks/subscriptions", &body, key)?;
    calls.run(&call, interpret::<SubscriptionBody>).await
}

/// The same for the same key, and short enough.
fn short_key(key: &str) -> String {
    use sha2::{Digest as _, Sha256};
    fit(&data_encoding::HEXLOWER.encode(&Sha256::digest(key)), KEY_LENGTH_MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::webhook::translate, *};

    #[test]
    fn every_event_that_is_asked_for_is_read() {
        for event in NEEDED_EVENTS {
            let object = json!({"payment": {"id": "p"}, "refund": {"id": "r"}, "dispute": {"id": "d"}});
            let body =
                json!({"event_id": "e", "type": event, "data": {"id": "x", "object": object}}).to_string();
            assert!(translate(body.as_bytes()).unwrap().relevant, "{event}");
        }
    }

    #[test]
    fn keys_fit() {
        let key = short_key(&"x".repeat(300));
        assert!(key.len() == KEY_LENGTH_MAX && key != short_key("y"));
    }
}
