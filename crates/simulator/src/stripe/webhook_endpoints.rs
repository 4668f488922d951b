//! `/v1/webhook_endpoints`. The secret is shown when an endpoint is made, and never again.

use super::prelude::*;
use crate::webhooks::Endpoint;

/// The platform's application, which endpoints for connected accounts belong to.
const APPLICATION: &str = "ca_SimulatedPlatform";

/// Only the account itself makes its endpoints: a platform receives events of connected accounts at endpoints of its own.
fn on_platform(call: &Call) -> Answer<()> {
    if call.context.account.is_none() {
        return Ok(());
    }
    let message = "You are not permitted to configure webhook endpoints on a connected account. Did you mean to \
                   create a Connect webhook on your account instead?";
    Err(Error { status: StatusCode::FORBIDDEN, ..Error::invalid(message) })
}

fn shown(endpoint: &Endpoint) -> Value {
    let events = match endpoint.target.events.as_slice() {
        [] => vec!["*".to_owned()],
        events => events.to_vec(),
    };
    object!(endpoint: id api_version application created metadata;
        "object": "webhook_endpoint", "description": endpoint.name, "enabled_events": events,
        "livemode": endpoint.is_live,
        "status": if endpoint.is_enabled { "enabled" } else { "disabled" }, "url": endpoint.target.url,
    )
}

fn checked_url(call: &Call, url: &str) -> Answer<String> {
    let schemes: &[&str] = if call.is_live { &["https://"] } else { &["https://", "http://"] };
    if schemes.iter().any(|scheme| url.starts_with(scheme)) {
        return Ok(url.to_owned());
    }
    let message = "Invalid URL: An explicit scheme (such as https) must be provided.";
    Err(Error::invalid(message).code("url_invalid").param("url"))
}

fn checked_events(call: &Call) -> Answer<Vec<String>> {
    let events = call.params.list("enabled_events");
    let is_event = |event: &str| {
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.');
        event == "*" || (event.contains('.') && event.bytes().all(plain))
    };
    match events.iter().find(|event| !is_event(event)) {
        Some(event) => {
            let message = format!("Invalid enabled_events: {event} is not an event.");
            Err(Error::invalid(message).param("enabled_events"))
        }
        None => Ok(events.into_iter().map(str::to_owned).collect()),
    }
}

fn find(call: &Call) -> Answer<Endpoint> {
    on_platform(call)?;
    let found = call.context.services.endpoint(Wire::Stripe, &call.id);
    found
        .filter(|found| found.is_live == call.is_live)
        .ok_or_else(|| Error::not_found("webhook endpoint", &call.id, "webhook_endpoint"))
}

pub(super) fn create(_: &mut State, call: &Call) -> Answer {
    on_platform(call)?;
    let params = &call.params;
    params.allow(&["url enabled_events[#] api_version connect description metadata[*] expand[#]"])?;
    let url = checked_url(call, params.required("url")?)?;
    let events = checked_events(call)?;
    if events.is_empty() {
        return Err(Error::missing("enabled_events"));
    }
    let services = &call.context.services;
    let secret = services.ids.with_prefix("whsec_");
    let target = WebhookTarget { wire: Wire::Stripe, url, secret: secret.clone(), events };
    let mut endpoint = Endpoint::new(&services.ids, target);
    endpoint.is_live = call.is_live;
    let is_connect = params.boolean("connect")?.unwrap_or(false);
    endpoint.application = is_connect.then(|| APPLICATION.to_owned());
    endpoint.name = params.owned("description");
    endpoint.api_version = params.owned("api_version");
    params.merge_metadata("metadata", &mut endpoint.metadata)?;
    if !services.add_endpoint(endpoint.clone()) {
        return Err(Error::invalid("You have reached the maximum number of webhook endpoints."));
    }
    Ok(with(shown(&endpoint), [("secret", secret.into())]))
}

pub(super) fn list(_: &mut State, call: &Call) -> Answer {
    on_platform(call)?;
    call.params.allow(&list::with(&[]))?;
    let listed =
        call.context.services.listed_endpoints(Wire::Stripe, |endpoint| endpoint.is_live == call.is_live);
    list::page(&listed, &call.params, "/v1/webhook_endpoints", shown, |_| true)
}

pub(super) fn retrieve(_: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    find(call).map(|found| shown(&found))
}

pub(super) fn update(_: &mut State, call: &Call) -> Answer {
    let params = &call.params;
    params.allow(&["url enabled_events[#] description disabled metadata[*] expand[#]"])?;
    let mut endpoint = find(call)?;
    if let Some(url) = params.text("url") {
        endpoint.target.url = checked_url(call, url)?;
    }
    let events = checked_events(call)?;
    if !events.is_empty() {
        endpoint.target.events = events;
    }
    if let Some(disabled) = params.boolean("disabled")? {
        endpoint.is_enabled = !disabled;
    }
    params.merge_metadata("metadata", &mut endpoint.metadata)?;
    call.context.services.replace_endpoint(&endpoint);
    Ok(shown(&endpoint))
}

pub(super) fn delete(_: &mut State, call: &Call) -> Answer {
    let found = find(call)?;
    call.context.services.remove_endpoint(&found.id);
    Ok(json!({ "id": found.id, "object": "webhook_endpoint", "deleted": true }))
}
