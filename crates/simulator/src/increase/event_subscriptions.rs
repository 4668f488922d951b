//! `/event_subscriptions`. The secret is the caller's choice and is never shown.

use super::prelude::*;
use crate::webhooks::Endpoint;

fn shown(endpoint: &Endpoint) -> Value {
    let selected = (!endpoint.target.events.is_empty()).then(|| {
        let events = endpoint.target.events.iter();
        events.map(|event| json!({ "event_category": event })).collect::<Vec<_>>()
    });
    let status = match (endpoint.is_deleted, endpoint.is_enabled) {
        (true, _) => "deleted",
        (false, true) => "active",
        (false, false) => "disabled",
    };
    json!({
        "created_at": endpoint.created_rfc3339(), "id": endpoint.id,
        "idempotency_key": endpoint.idempotency_key, "oauth_connection_id": null,
        "selected_event_categories": selected, "status": status, "type": "event_subscription",
        "url": endpoint.target.url,
    })
}

fn find(call: &Call) -> Answer<Endpoint> {
    let found = call.context.services.endpoint(Wire::Increase, &call.id);
    found.ok_or_else(|| Error::not_found("Event Subscription", &call.id))
}

pub(super) fn create(_: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["url shared_secret selected_event_categories status oauth_connection_id"])?;
    let url = fields.required("url", 2_000, Letters::Printable)?;
    let services = &call.context.services;
    let secret = fields.text("shared_secret", 100, Letters::Any)?;
    let secret = secret.unwrap_or_else(|| services.ids.letters(32));
    let selected = fields.raw("selected_event_categories");
    let wrong = || fields.invalid("selected_event_categories", "must be a list of event categories");
    let category = |one: &Value| one.get("event_category").and_then(Value::as_str).map(str::to_owned);
    let events = match &selected {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(category).collect::<Option<_>>().ok_or_else(wrong)?,
        _ => return Err(wrong()),
    };
    let target = WebhookTarget { wire: Wire::Increase, url, secret, events };
    let mut endpoint = Endpoint::new(&services.ids, target);
    endpoint.idempotency_key.clone_from(&call.key);
    endpoint.is_enabled = fields.word("status", "active disabled")? != Some("disabled");
    if !services.add_endpoint(endpoint.clone()) {
        return Err(Error::conflict("There are too many event subscriptions."));
    }
    Ok(shown(&endpoint))
}

pub(super) fn list(_: &mut State, call: &Call) -> Answer {
    let listed = call.context.services.listed_endpoints(Wire::Increase, |_| true);
    let known = Known { parameters: "idempotency_key", label: None };
    list::page(&listed, call, known, false, |endpoint| {
        let row = || (endpoint.id.clone(), endpoint.created_rfc3339(), shown(endpoint));
        call.query.is("idempotency_key", endpoint.idempotency_key.as_deref()).then(row)
    })
}

pub(super) fn retrieve(_: &mut State, call: &Call) -> Answer {
    find(call).map(|found| shown(&found))
}

pub(super) fn update(_: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["status"])?;
    let mut endpoint = find(call)?;
    if endpoint.is_deleted {
        return Err(Error::conflict("The event subscription is deleted."));
    }
    match fields.word("status", "active disabled deleted")? {
        Some("active") => endpoint.is_enabled = true,
        Some("disabled") => endpoint.is_enabled = false,
        Some(_) => (endpoint.is_enabled, endpoint.is_deleted) = (false, true),
        None => {}
    }
    call.context.services.replace_endpoint(&endpoint);
    Ok(shown(&endpoint))
}
