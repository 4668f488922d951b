//! The Management API: webhooks with their HMAC keys, origins of pages, and who the key belongs to.
#![expect(clippy::unnecessary_wraps, reason = "the shape every endpoint has")]

use super::prelude::*;
use crate::call_handler::{json_response, read_request, refuse};
use crate::webhooks::{Delivery, Endpoint, Sender};
use axum::extract::{Path, State as Shared};
use data_encoding::HEXUPPER;
use sha2::{Digest as _, Sha256};

/// The events that a webhook is sent unless it says which it wants; `OFFER_CLOSED` has to be asked for.
const USUAL: &str = include_str!("events.txt");

fn fields_of(call: &Call) -> Answer<Fields<'_>> {
    call.fields().map_err(|error| Error::of("31_001").saying(error.message))
}

/// What never differs of an object, with the links to it and from it.
fn usual(call: &Call, text: &str, id: &str) -> Value {
    let base = call.context.services.base_url(Wire::Adyen) + "/v3";
    let text =
        text.replace("{base}", &base).replace("{id}", id).replace("{merchant}", call.context.merchant());
    serde_json::from_str(&text).unwrap_or_default()
}

pub(super) fn me(state: &mut State, call: &Call) -> Answer {
    let key = &call.context.services.config.adyen.client_key;
    let own = json!({ "clientKey": key, "allowedOrigins": origins(state, call) });
    Ok(merged(usual(call, include_str!("me.json"), ""), own))
}

pub(super) fn merchant(_: &mut State, call: &Call) -> Answer {
    let is_manual = call.context.services.config.adyen.captures_manually;
    let own = json!({ "captureDelay": if is_manual { "manual" } else { "immediate" } });
    Ok(merged(usual(call, include_str!("merchant.json"), ""), own))
}

pub(super) fn add_apple_pay_domains(_: &mut State, _: &Call) -> Answer {
    Ok(Value::Null)
}

fn origin(call: &Call, id: &str, domain: &str) -> Value {
    merged(usual(call, include_str!("origin.json"), id), json!({ "domain": domain }))
}

fn origins(state: &State, call: &Call) -> Vec<Value> {
    state.origins.iter().map(|(id, domain)| origin(call, id, domain)).collect()
}

pub(super) fn list_origins(state: &mut State, call: &Call) -> Answer {
    Ok(json!({ "data": origins(state, call) }))
}

pub(super) fn add_origin(state: &mut State, call: &Call) -> Answer {
    let domain = fields_of(call)?.text("domain")?;
    let host = domain.strip_prefix("http://").or_else(|| domain.strip_prefix("https://"));
    if host.is_none_or(|host| host.is_empty() || host.contains('/')) || state.origins.len() >= 200 {
        return Err(Error::of("31_001").saying("The domain must be an origin: https://www.example.com"));
    }
    let known = state.origins.iter().find(|(_, known)| **known == domain).map(|(id, _)| id.clone());
    let id = known.unwrap_or_else(|| format!("S2-{}", call.context.psp_reference()));
    state.origins.insert(id.clone(), domain.clone());
    Ok(origin(call, &id, &domain))
}

pub(super) fn remove_origin(state: &mut State, call: &Call) -> Answer {
    state.origins.remove(&call.id).map(|_| Value::Null).ok_or_else(|| Error::of("30_001"))
}

fn find(call: &Call) -> Answer<Endpoint> {
    call.context.services.endpoint(Wire::Adyen, &call.id).ok_or_else(|| Error::of("30_001"))
}

/// A webhook as it was set up. Its password is never shown, and of the key only the end of its digest.
fn shown(call: &Call, endpoint: &Endpoint) -> Value {
    let Endpoint { id, target, metadata, is_enabled, .. } = endpoint;
    let digest = || HEXUPPER.encode(&Sha256::digest(&target.secret)).chars().take(5).collect::<String>();
    let given = metadata.clone().into_iter().filter(|(name, _)| name != "password");
    let usual = with(usual(call, include_str!("webhook.json"), id), [("url", json!(target.url))]);
    let own = json!({
        "active": is_enabled, "hasPassword": metadata.contains_key("password"),
        "hmacKeyCheckValue": (!target.secret.is_empty()).then(digest),
        "additionalSettings": { "includeEventCodes": target.events },
    });
    merged(with(usual, given), own)
}

pub(super) fn list_webhooks(_: &mut State, call: &Call) -> Answer {
    let endpoints = call.context.services.endpoints(Wire::Adyen);
    let number = |name: &str, usual: &str| call.query.get(name).unwrap_or(usual).parse::<usize>().ok();
    let number = |name: &str, usual: &str| number(name, usual).filter(|number| (1..=100).contains(number));
    let (Some(page), Some(size)) = (number("pageNumber", "1"), number("pageSize", "10")) else {
        return Err(Error::of("31_001").saying("pageNumber and pageSize must be from 1 to 100"));
    };
    let rows = endpoints.iter().skip((page - 1) * size).take(size).map(|endpoint| shown(call, endpoint));
    Ok(json!({
        "itemsTotal": endpoints.len(), "pagesTotal": endpoints.len().div_ceil(size).max(1),
        "data": rows.collect::<Vec<_>>(), "accountReference": call.context.merchant(),
    }))
}

/// Sets a webhook up as the call says; what is not given stays as it is.
fn set_up(call: &Call, mut endpoint: Endpoint) -> Answer<Endpoint> {
    let fields = fields_of(call)?;
    let Endpoint { target, metadata, is_enabled, .. } = &mut endpoint;
    *is_enabled = fields.boolean("active")?.unwrap_or(*is_enabled);
    metadata.extend(call.body.clone());
    let text = |name: &str| metadata.get(name).and_then(Value::as_str);
    let (scheme, rest) = text("url").unwrap_or(&target.url).split_once("://").unwrap_or_default();
    let safe = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = text("username").zip(text("password"));
    let pair = pair.map(|(user, password)| format!("{}:{}@", safe(user), safe(password))).unwrap_or_default();
    target.url = format!("{scheme}://{pair}{rest}");
    let codes = metadata.get("additionalSettings").and_then(|settings| settings.get("includeEventCodes"));
    if let Some(codes) = codes.and_then(|codes| serde_json::from_value(codes.clone()).ok()) {
        target.events = codes;
    }
    Ok(endpoint)
}

pub(super) fn add_webhook(_: &mut State, call: &Call) -> Answer {
    let (url, secret, events) = (String::new(), String::new(), USUAL.lines().map(str::to_owned).collect());
    let target = WebhookTarget { wire: Wire::Adyen, url, secret, events };
    let endpoint = set_up(call, Endpoint::new(&call.context.services.ids, target))?;
    if !call.context.services.add_endpoint(endpoint.clone()) {
        return Err(Error::of("31_001").saying("There are too many webhooks."));
    }
    Ok(shown(call, &endpoint))
}

pub(super) fn webhook(_: &mut State, call: &Call) -> Answer {
    find(call).map(|found| shown(call, &found))
}

pub(super) fn change_webhook(_: &mut State, call: &Call) -> Answer {
    let changed = set_up(call, find(call)?)?;
    call.context.services.replace_endpoint(&changed);
    Ok(shown(call, &changed))
}

pub(super) fn remove_webhook(_: &mut State, call: &Call) -> Answer {
    find(call).map(|found| call.context.services.remove_endpoint(&found.id)).map(|()| Value::Null)
}

/// Makes a key, shown only now. What waits to be sent already is signed with the one before.
pub(super) fn new_key(_: &mut State, call: &Call) -> Answer {
    let mut found = find(call)?;
    let services = &call.context.services;
    found.target.secret = HEXUPPER.encode(&Sha256::digest(services.ids.letters(43)));
    services.replace_endpoint(&found);
    Ok(json!({ "hmacKey": found.target.secret }))
}

/// Sends samples of each event code that is asked for, or of the first usual one, and says what was answered.
pub(super) async fn test_webhook(
    Shared(api): Shared<Api<Adyen>>,
    Path((_, id)): Path<(String, String)>,
    request: Request,
) -> Response {
    api.services().count_call(Wire::Adyen, "webhooks.test");
    let request = read_request(&api, "webhooks.test", id, request).await;
    let read = Adyen::read(&api, &request).and_then(|read| Ok((find(&read.call)?.target, read.call)));
    let (target, Call { body, context, .. }) = match read {
        Ok(read) => read,
        Err(error) => return refuse(&error),
    };
    let asked = body.get("types").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let asked: Vec<&str> = asked.collect();
    let codes = if asked.is_empty() { vec!["AUTHORISATION"] } else { asked };
    let (sender, mut data) = (Sender::default(), Vec::new());
    for (code, number) in codes.iter().flat_map(|code| (1..=4).map(move |number| (code, number))) {
        let name = format!("test_{code}_{number}");
        let item = json!({
            "amount": { "value": 1_000, "currency": if number < 3 { "EUR" } else { "GBP" } },
            "merchantReference": name, "reason": name, "success": (number % 2 == 1).to_string(),
        });
        let notice = notification(&context, (code, &context.psp_reference()), item);
        let sent = notice.body.to_string();
        let delivery = Delivery { target: target.clone(), notice, attempts: 1, first_tried: None };
        let answered = sender.post(&delivery).await;
        let is_accepted = answered.as_ref().is_ok_and(|status| (200..300).contains(status));
        data.push(json!({
            "merchantId": context.merchant(), "status": if is_accepted { "success" } else { "failed" },
            "responseCode": answered.map_or_else(|problem| problem, |status| status.to_string()),
            "output": "", "requestSent": sent, "responseTime": "1 ms",
        }));
    }
    json_response(StatusCode::OK, &json!({ "data": data }))
}
