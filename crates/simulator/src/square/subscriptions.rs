//! `/v2/webhooks/subscriptions`. The signature key is in the answer about one subscription, not in the list.

use super::prelude::*;
use crate::fields::FieldError as _;
use crate::webhooks::Endpoint;

/// The event types of this simulator; the provider has many more.
const EVENT_TYPES: &str = "dispute.created dispute.state.updated order.created order.updated payment.created payment.updated \
    refund.created refund.updated";

fn shown(endpoint: &Endpoint) -> Value {
    let (created, target) = (endpoint.created_rfc3339(), &endpoint.target);
    let events: Vec<&str> = match target.events.as_slice() {
        [] => EVENT_TYPES.split_whitespace().collect(),
        events => events.iter().map(String::as_str).collect(),
    };
    let shown = json!({
        "id": endpoint.id, "enabled": endpoint.is_enabled, "event_types": events,
        "notification_url": target.url, "created_at": created, "updated_at": created,
    });
    let given = [("name", json!(endpoint.name)), ("api_version", json!(endpoint.api_version))];
    with_given(shown, given)
}

fn alone(endpoint: &Endpoint) -> Value {
    let secret = endpoint.target.secret.as_str().into();
    json!({ "subscription": with(shown(endpoint), [("signature_key", secret)]) })
}

fn find(call: &Call) -> Answer<Endpoint> {
    let found = call.context.services.endpoint(Wire::Square, &call.id);
    found.ok_or_else(|| Error::not_found("webhook subscription", &call.id))
}

fn events_of(fields: &Fields<'_>) -> Answer<Option<Vec<String>>> {
    let Some(value) = fields.value("event_types") else { return Ok(None) };
    let known =
        |event: &Value| event.as_str().filter(|event| is_listed(event, &[EVENT_TYPES])).map(str::to_owned);
    let events: Option<Vec<String>> = value.as_array().and_then(|events| events.iter().map(known).collect());
    let detail = "An event type is not known.";
    let wrong = || Error::invalid("INVALID_VALUE", "subscription.event_types", detail);
    events.map(Some).ok_or_else(wrong)
}

pub(super) fn create(_: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["idempotency_key subscription"])?;
    fields.text("idempotency_key", 45)?;
    let given = fields.object("subscription")?.ok_or_else(|| Error::missing("subscription"))?;
    given.allow(&["name enabled event_types notification_url api_version"])?;
    let events = events_of(&given)?.ok_or_else(|| Error::missing("subscription.event_types"))?;
    let url = given.required("notification_url", 2_048)?.to_owned();
    let services = &call.context.services;
    let secret = services.ids.letters(22);
    let mut endpoint =
        Endpoint::new(&services.ids, WebhookTarget { wire: Wire::Square, url, secret, events });
    endpoint.name = Some(given.required("name", 64)?.to_owned());
    endpoint.api_version = given.owned("api_version", 20)?;
    endpoint.is_enabled = given.boolean("enabled")?.unwrap_or(true);
    if !services.add_endpoint(endpoint.clone()) {
        return Err(Error::bad_request("There are too many webhook subscriptions."));
    }
    Ok(alone(&endpoint))
}

pub(super) fn list(_: &mut State, call: &Call) -> Answer {
    let listed = call.context.services.listed_endpoints(Wire::Square, |_| true);
    let with_disabled = call.query.get("include_disabled") == Some("true");
    list::page(&listed, call, "subscriptions", "include_disabled", |endpoint| {
        let created = endpoint.created_rfc3339();
        (endpoint.is_enabled || with_disabled)
            .then(|| (endpoint.id.clone(), created.clone(), created, shown(endpoint)))
    })
}

pub(super) fn retrieve(_: &mut State, call: &Call) -> Answer {
    find(call).map(|found| alone(&found))
}

pub(super) fn update(_: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["subscription"])?;
    let given = fields.object("subscription")?.ok_or_else(|| Error::missing("subscription"))?;
    given.allow(&["name enabled event_types notification_url api_version"])?;
    let mut endpoint = find(call)?;
    if let Some(events) = events_of(&given)? {
        endpoint.target.events = events;
    }
    if let Some(url) = given.owned("notification_url", 2_048)? {
        endpoint.target.url = url;
    }
    endpoint.is_enabled = given.boolean("enabled")?.unwrap_or(endpoint.is_enabled);
    call.context.services.replace_endpoint(&endpoint);
    Ok(json!({ "subscription": shown(&endpoint) }))
}

pub(super) fn delete(_: &mut State, call: &Call) -> Answer {
    let found = find(call)?;
    call.context.services.remove_endpoint(&found.id);
    Ok(json!({}))
}
