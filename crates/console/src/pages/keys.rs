//! API keys: issued, rotated and revoked; a key is shown once.

use std::time::Duration;

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    key_scope::{Endpoint, KeyScope},
    tenant::KeyKind,
};
use tollgate_engine::{KeyRequest, NewKey, ports::Page as Slice};

use crate::{
    layout::{
        format::second,
        frame::Frame,
        page::{self, Page, PageError},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

const SLICE: u32 = 200;
const GRACE: Duration = Duration::from_hours(24);
const MAX_NAME_LENGTH: usize = 80;
const MAX_RANGES: usize = 50;
const MAX_DAYS: u64 = 3_650;

struct Row {
    id: String,
    kind: &'static str,
    name: String,
    /// What it is limited to.
    limits: Vec<String>,
    last_used: String,
    hint: String,
    status: &'static str,
    tone: &'static str,
    created: String,
    ends: String,
    /// Who issued, rotated and revoked it.
    changes: Vec<String>,
    can_rotate: bool,
    can_revoke: bool,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    frame: Frame,
    keys: Vec<Row>,
    endpoints: Vec<&'static str>,
    /// Shown this once.
    issued: Option<String>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    show(&signed_in, environment, None).await
}

async fn show(signed_in: &SignedIn, environment: EnvironmentId, issued: Option<&NewKey>) -> Page {
    let frame = signed_in.frame("Keys", "keys").await?;
    let engine = &signed_in.console.engine;
    let now = engine.clock().now();
    let keys = engine.keys(environment, Slice { after: None, limit: SLICE }).await?;
    let changes = engine.key_changes(environment, &keys).await?;
    let keys = keys.iter().rev().map(|record| {
        let own = changes.iter().filter(|change| change.key == record.id);
        let own = own
            .map(|change| format!("{} by {}, {}", change.action.as_str(), change.actor, second(change.at)));
        let is_live = record.revoked_at.is_none() && record.is_live(now);
        let (status, tone) = match (record.revoked_at, is_live) {
            (Some(_), _) => ("revoked", "bad"),
            (None, true) => ("live", "good"),
            (None, false) => ("expired", ""),
        };
        Row {
            id: record.id.to_string(),
            kind: record.kind.as_str(),
            name: record.name.clone().unwrap_or_default(),
            limits: limits(&record.scope),
            last_used: record.last_used_at.map_or_else(|| "never".to_owned(), second),
            hint: format!("{}_…{}", record.kind.prefix(), record.last_four),
            status,
            tone,
            created: second(record.created_at),
            ends: record.revoked_at.or(record.expires_at).map_or_else(String::new, second),
            changes: own.collect(),
            can_rotate: is_live && record.replaced_by.is_none(),
            // One that was rotated is good for another day, unless somebody has it who should not.
            can_revoke: is_live,
        }
    });
    let keys = keys.collect();
    let endpoints = Endpoint::ALL.map(Endpoint::as_str).into();
    let issued = issued.map(|new| new.key.expose().to_owned());
    page::render(&KeysPage { frame, keys, endpoints, issued })
}

fn limits(scope: &KeyScope) -> Vec<String> {
    let endpoints = scope.endpoints.iter().flatten().map(|endpoint| endpoint.as_str().to_owned());
    let addresses = scope.addresses.iter().flatten().map(|range| format!("from {range}"));
    endpoints.chain(addresses).collect()
}

/// What the form asks for. Fields that are left empty limit nothing.
fn key_request(form: &Submitted, now: Timestamp) -> Result<KeyRequest, PageError> {
    let refused = |message: &str| PageError::Refused(message.to_owned());
    let kind = KeyKind::parse(form.field("kind")).ok_or_else(|| refused("Choose a kind of key."))?;
    let name: String = form.field("name").trim().to_owned();
    if name.chars().count() > MAX_NAME_LENGTH || name.contains(char::is_control) {
        return Err(refused("A name has at most 80 characters, all on one line."));
    }
    let endpoints: Option<Vec<_>> = form.all("endpoint").map(Endpoint::parse).collect();
    let endpoints = endpoints.ok_or_else(|| refused("Choose endpoints from the list."))?;
    if endpoints.iter().any(|endpoint| !endpoint.opens_for(kind)) {
        return Err(refused("A publishable key can only prepare card payments; choose other endpoints."));
    }
    let texts = form.field("addresses").split([',', ' ', '\r', '\n']).filter(|text| !text.is_empty());
    let addresses: Option<Vec<_>> = texts.map(|text| text.parse().ok()).collect();
    let addresses = addresses.filter(|ranges| ranges.len() <= MAX_RANGES);
    let addresses = addresses.ok_or_else(|| {
        refused("Write up to 50 IP addresses or ranges, such as 203.0.113.7 or 10.0.0.0/8.")
    })?;
    let days = match form.field("days").trim() {
        "" => None,
        text => {
            let days = text.parse::<u64>().ok().filter(|days| (1..=MAX_DAYS).contains(days));
            Some(days.ok_or_else(|| refused("A key expires after 1 to 3650 days."))?)
        }
    };
    Ok(KeyRequest {
        kind,
        name: Some(name).filter(|name| !name.is_empty()),
        scope: KeyScope {
            endpoints: Some(endpoints).filter(|list| !list.is_empty()),
            addresses: Some(addresses).filter(|list| !list.is_empty()),
        },
        expires_at: days.map(|days| now.saturating_add(Duration::from_hours(days.saturating_mul(24)))),
    })
}

pub(crate) async fn change(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let engine = &signed_in.console.engine;
    let key = || form.field("key").parse::<KeyId>().map_err(|_| PageError::Missing);
    match form.field("do") {
        "issue" => {
            let request = key_request(&form, engine.clock().now())?;
            let new = engine.issue_key(environment, request, signed_in.origin()).await?;
            show(signed_in, environment, Some(&new)).await
        }
        "rotate" => {
            let new = engine.rotate_key(environment, key()?, GRACE, signed_in.origin()).await?;
            show(signed_in, environment, Some(&new)).await
        }
        "revoke" => {
            engine.revoke_key(environment, key()?, signed_in.origin()).await?;
            Ok(signed_in.back(&format!("/console/{environment}/keys"), "Key revoked; it is no longer valid."))
        }
        _ => Err(PageError::Refused("Unknown action.".to_owned())),
    }
}
