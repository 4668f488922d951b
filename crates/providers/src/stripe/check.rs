//! The live check: whose key it is, for test or live, what it may do, and what its webhook endpoints send.

use serde::Deserialize;
use tollgate_configuration::Provider;
use tollgate_domain::{Currency, hold::CaptureMode, tenant::Mode};
use tollgate_engine::ports::{Call, CallError, NewWebhook, RegisteredWebhook};
use tollgate_vault::Secret;

use super::{
    call::{ApiClient, interpret},
    form::Form,
    request,
};
use crate::{
    check::{Checkup, WebhookEndpoint},
    failure::lacking,
    retry::{ApiCall, CallSession, now},
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

/// More than the least that any currency of an account can have, in its minor units.
const CHECKED_AMOUNT: &str = "50000";
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
    default_currency: Option<String>,
}

/// An intent that is canceled at once.
#[derive(Deserialize)]
struct Unpaid {
    id: String,
    #[serde(default)]
    payment_method_types: Vec<String>,
}

/// One page of anything.
#[derive(Deserialize)]
struct Page {}

/// What payments read, beside what is asked anyway.
const READ_PATHS: [(&str, &str); 5] = [
    ("payment_intents.list", "payment_intents"),
    ("checkout.sessions.list", "checkout/sessions"),
    ("charges.list", "charges"),
    ("refunds.list", "refunds"),
    ("disputes.list", "disputes"),
];

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
    /// The platform's application, on an endpoint for connected accounts.
    application: Option<String>,
}

impl Endpoint {
    /// Whether it receives events of connected accounts; otherwise those of its own account only.
    fn is_connect(&self) -> bool {
        self.application.is_some() || self.metadata.tollgate_connect.is_some()
    }
}

#[derive(Default, Deserialize)]
struct Metadata {
    tollgate_key: Option<String>,
    tollgate_connect: Option<String>,
}

pub(super) async fn check(checkup: &mut Checkup<'_>, version: &str) {
    let provider = checkup.provider();
    let api = ApiClient::new(provider, version);
    let balance =
        checkup.ask(api.get("balance.retrieve", "balance", Form::new()), interpret::<Balance>).await;
    if !checkup.connected(&balance) {
        return;
    }
    // A key that may not read the balance says itself what it is for.
    let is_live_key = provider.credential("secretKey").is_some_and(|key| key.contains("_live_"));
    let is_live = balance.map_or(is_live_key, |balance| balance.livemode);
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
            let hint = "Check options.account, and give a restricted key the permission to read the account: without it \
                        a key that replaces this one is not known for the same account's.";
            checkup.unanswered("account", error, hint);
        }
    }
    if let Ok(account) = &account
        && provider.options.account.is_none()
    {
        checkup.belongs_to(&account.id);
    }
    permissions(checkup, api).await;
    let currency =
        account.ok().and_then(|account| Currency::parse(&account.default_currency?.to_uppercase()));
    preparation(checkup, api, currency).await;
    let listed = checkup.ask(list(api), interpret::<Endpoints>).await;
    match listed {
        Ok(listed) => {
            let wanted = provider.options.account.is_some();
            let mut ours =
                listed.data.iter().filter(|endpoint| endpoint.url == checkup.subject().webhook_url);
            if ours.any(|endpoint| endpoint.is_connect() != wanted) {
                scope(checkup, wanted);
            }
            let endpoints: Vec<_> = listed.data.into_iter().map(WebhookEndpoint::from).collect();
            if checkup.webhooks(&endpoints, &NEEDED_EVENTS).is_some() {
                checkup.webhook_secret(None);
            }
        }
        Err(error) => {
            let hint = "Give a restricted key the permission to read webhook endpoints.";
            checkup.unanswered("webhook_endpoint", &error, hint);
        }
    }
}

/// Whether the key may read everything that payments need. What it may write shows only when something is written.
async fn permissions(checkup: &mut Checkup<'_>, api: ApiClient<'_>) {
    let mut missing: Vec<String> = Vec::new();
    for (operation, path) in READ_PATHS {
        let page = api.get(operation, path, Form::new().with("limit", "1"));
        let asked = checkup.ask(page, interpret::<Page>).await;
        match (lacking(&asked), &asked) {
            (Some(permission), _) if missing.iter().all(|known| known != permission) => {
                missing.push(permission.to_owned());
            }
            (Some(_), _) | (None, Ok(_)) => {}
            (None, Err(error)) => {
                checkup.unanswered("permissions", error, "Run the check again.");
                return;
            }
        }
    }
    if missing.is_empty() {
        checkup.pass("permissions", "The key may read payments, charges, refunds and disputes.");
    } else {
        let hint = "Add them to the key in the provider's dashboard, or use a key that has them.";
        checkup.fail("permissions", format!("The key lacks the permissions {}.", missing.join(", ")), hint);
    }
}

/// Whether a payment can be prepared: only that tells whether this version of the API takes what is sent, which methods the
/// account takes, and whether the key may write. The intent is canceled at once, and nothing is charged.
async fn preparation(checkup: &mut Checkup<'_>, api: ApiClient<'_>, default_currency: Option<Currency>) {
    let options = &checkup.provider().options;
    let candidates =
        checkup.subject().currencies.iter().copied().chain(default_currency).chain([Currency::USD]);
    let methods = |currency| request::methods(options, currency, CaptureMode::Automatic).collect::<Vec<_>>();
    let Some((currency, methods)) =
        candidates.map(|currency| (currency, methods(currency))).find(|(_, methods)| !methods.is_empty())
    else {
        return;
    };
    let hint = "Correct what the provider names. If it refuses a parameter or the API version, set options.apiVersion to \
                null, or update this service.";
    let form = Form::new()
        .with("amount", CHECKED_AMOUNT)
        .with("currency", &currency.code().to_ascii_lowercase())
        .with("description", "Tollgate: check of the configuration, canceled at once")
        .with("metadata[tollgate_check]", "true");
    let form = request::with_methods(form, api.version, methods.iter().copied());
    let key = format!("tollgate-check-{}", now().unix_millis());
    let call = api.post("payment_intents.create", "payment_intents", form, Some(key.clone()));
    let made = match checkup.ask(call, interpret::<Unpaid>).await {
        Ok(made) => made,
        Err(error) => return checkup.unanswered("preparation", &error, hint),
    };
    let path = format!("payment_intents/{}/cancel", made.id);
    let form = Form::new().with("cancellation_reason", "abandoned");
    let cancel = api.post("payment_intents.cancel", &path, form, Some(format!("{key}-cancel")));
    if let Err(error) = checkup.ask(cancel, interpret::<Unpaid>).await {
        return checkup.unanswered("preparation", &error, hint);
    }
    match request::untaken(methods.into_iter(), &made.payment_method_types) {
        Some(reason) => {
            checkup.fail("preparation", reason, "Switch the method on, then run the check again.");
        }
        None => checkup.pass("preparation", "The provider prepares payments as this service asks for them."),
    }
}

/// Events of connected accounts and of one's own go to endpoints of different kinds.
fn scope(checkup: &mut Checkup<'_>, is_connected: bool) {
    let name = "webhook_scope";
    let register = format!("run `tollgate providers test {} --register-webhook`", checkup.provider().name);
    if is_connected {
        let message =
            "An endpoint sends events of your own account, none of the connected one in options.account.";
        checkup.fail(
            name,
            message,
            format!("Delete it and {register}, which makes one for connected accounts."),
        );
    } else {
        let message = "An endpoint sends events of connected accounts, none of your own.";
        checkup.fail(name, message, format!("Delete it and {register}, or set options.account."));
    }
}

impl From<Endpoint> for WebhookEndpoint {
    fn from(endpoint: Endpoint) -> Self {
        let is_enabled = endpoint.status == "enabled";
        Self { id: endpoint.id, url: endpoint.url, is_enabled, events: Some(endpoint.enabled_events) }
    }
}

/// A platform's endpoints can receive events of connected accounts; it cannot have endpoints on those.
fn list(api: ApiClient<'_>) -> Result<ApiCall, CallError> {
    api.of_own_account().get("webhook_endpoints.list", "webhook_endpoints", Form::new().with("limit", PAGE))
}

pub(super) async fn register(
    mut calls: CallSession<'_>,
    provider: &Provider,
    version: &str,
    new: NewWebhook<'_>,
    now_seconds: i64,
) -> Call<RegisteredWebhook> {
    let api = ApiClient::new(provider, version);
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
    let is_connect = api.provider.options.account.is_some();
    let is_ours = |endpoint: &Endpoint| endpoint.url == new.url && endpoint.is_connect() == is_connect;
    let found = listed.data.into_iter().find(is_ours);
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
    if api.provider.options.account.is_some() {
        form = form.with("connect", "true").with("metadata[tollgate_connect]", "true");
    }
    for (number, event) in NEEDED_EVENTS.iter().enumerate() {
        form = form.with(&format!("enabled_events[{number}]"), event);
    }
    let api = api.of_own_account();
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
