//! The live check: what the credentials may do, whose they are, and what the account's webhooks send.

use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_engine::ports::{Call, CallError, NewWebhook, RegisteredWebhook};
use tollgate_vault::Secret;

use super::{
    call::{ApiClient, interpret},
    types::{HmacKey, Me, Webhook, Webhooks},
    webhook::{NEEDED_EVENTS, USER},
};
use crate::{
    check::{Checkup, WebhookEndpoint},
    failure::unknown,
    retry::{ApiCall, CallSession},
    text::is_id,
};

/// What the credential has to be allowed, by a part of the role's name.
const ROLES: [&str; 2] = ["checkout webservice", "merchant pal webservice"];

/// A question that moves nothing, and that only the right key of the right merchant account is answered.
pub(super) fn access(api: ApiClient<'_>) -> Result<ApiCall, CallError> {
    let body = json!({ "merchantAccount": api.merchant()?, "channel": "Web" });
    api.ask("payment_methods.list", "paymentMethods", &body)
}

pub(super) async fn check(checkup: &mut Checkup<'_>) {
    let provider = checkup.provider();
    let api = ApiClient { provider };
    let first = checkup.ask(access(api), interpret::<serde_json::Value>).await;
    if !checkup.connected(&first) {
        return;
    }
    checkup.mode(provider.mode());
    let account = provider.field("merchantAccount").unwrap_or_default().to_owned();
    checkup.pass("merchant_account", format!("The merchant account is {account}."));
    match checkup.ask(api.manage("me.get", "me", None), interpret::<Me>).await {
        Ok(me) => credential(checkup, &me),
        Err(error) => {
            let hint = "Give the API credential the role Management API—Webhooks read and write, or look these up in the \
                        Customer Area.";
            checkup.unanswered("client_key", &error, hint);
            return;
        }
    }
    match checkup.ask(list(api), interpret::<Webhooks>).await {
        Ok(listed) => {
            let endpoints: Vec<_> = listed.data.into_iter().map(WebhookEndpoint::from).collect();
            if checkup.webhooks(&endpoints, &NEEDED_EVENTS).is_some() {
                // Of a key the provider shows no more than a check value.
                checkup.webhook_secret(None);
            }
        }
        Err(error) => {
            let hint = "Give the API credential the role Management API—Webhooks read and write, or look the webhook up in \
                        the Customer Area.";
            checkup.unanswered("webhook_endpoint", &error, hint);
        }
    }
}

fn credential(checkup: &mut Checkup<'_>, me: &Me) {
    let configured = checkup.provider().credential("clientKey").map(str::to_owned);
    if me.client_key.is_some() && me.client_key != configured {
        let hint = "Copy the client key of the same API credential from the Customer Area, and allow your pages' origins \
                    there.";
        checkup.fail("client_key", "The configured client key is not this API credential's.", hint);
    } else {
        checkup.pass("client_key", "The client key is this API credential's.");
    }
    let has = |role: &&str| me.roles.iter().any(|known| known.to_lowercase().contains(role));
    let lacking: Vec<_> = ROLES.into_iter().filter(|role| !has(role)).collect();
    if lacking.is_empty() {
        checkup.pass("roles", "The API credential has the roles for payments and what follows them.");
    } else {
        let message = format!("The API credential does not show the roles {}.", lacking.join(", "));
        checkup.fail("roles", message, "Add them in the Customer Area, under Developers, API credentials.");
    }
}

impl From<Webhook> for WebhookEndpoint {
    fn from(webhook: Webhook) -> Self {
        let events = webhook.additional_settings.and_then(|settings| settings.include_event_codes);
        Self { id: webhook.id, url: webhook.url, is_enabled: webhook.active, events }
    }
}

fn list(api: ApiClient<'_>) -> Result<ApiCall, CallError> {
    api.manage("webhooks.list", &format!("merchants/{}/webhooks?pageSize=100", api.merchant()?), None)
}

pub(super) async fn register(
    mut calls: CallSession<'_>,
    provider: &Provider,
    new: NewWebhook<'_>,
) -> Call<RegisteredWebhook> {
    let outcome = find_or_create(&mut calls, ApiClient { provider }, new).await;
    calls.finish(outcome)
}

/// The provider chooses the key and shows it once. Where the answer was lost another is made, and the webhook signs with that.
async fn find_or_create(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    new: NewWebhook<'_>,
) -> Result<RegisteredWebhook, CallError> {
    let listed = calls.run(&list(api)?, interpret::<Webhooks>).await?.data;
    let found = listed.into_iter().find(|known| known.url == new.url);
    let is_new = found.is_none();
    let webhook = match found {
        Some(found) => found,
        None => create(calls, api, new.url).await?,
    };
    if !is_new && api.provider.credential("hmacKey").is_some() {
        return Ok(RegisteredWebhook { id: webhook.id, is_new, secret: None });
    }
    if !is_id(&webhook.id) {
        return Err(unknown("the webhook's id cannot be used"));
    }
    let path = format!("merchants/{}/webhooks/{}/generateHmac", api.merchant()?, webhook.id);
    let call = api.manage("webhooks.generate_hmac", &path, Some(&json!({})))?;
    let key = calls.run(&call, interpret::<HmacKey>).await?.hmac_key;
    Ok(RegisteredWebhook { id: webhook.id, is_new, secret: Some(Secret::new(key)) })
}

async fn create(calls: &mut CallSession<'_>, api: ApiClient<'_>, url: &str) -> Result<Webhook, CallError> {
    let mut body = json!({
        "type": "standard",
        "url": url,
        "active": true,
        "communicationFormat": "json",
        "description": "Tollgate",
        "additionalSettings": { "includeEventCodes": NEEDED_EVENTS },
    });
    if let (Some(password), Some(fields)) = (api.provider.credential("webhookPassword"), body.as_object_mut())
    {
        fields.extend([("username".to_owned(), USER.into()), ("password".to_owned(), password.into())]);
    }
    let path = format!("merchants/{}/webhooks", api.merchant()?);
    let call = api.manage("webhooks.create", &path, Some(&body))?;
    calls.run(&call, interpret::<Webhook>).await
}
