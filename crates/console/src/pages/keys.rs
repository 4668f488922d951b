//! API keys: issued, rotated and revoked; a key is shown once.

use std::time::Duration;

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    key_scope::{Endpoint, KeyScope},
    tenant::{KeyKind, KeyRecord},
};
use tollgate_engine::{KeyRequest, NewKey, ports::Page as Slice};

use crate::{
    layout::{
        format::second,
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
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
    show(&signed_in, environment, None, "").await
}

async fn show(signed_in: &SignedIn, environment: EnvironmentId, issued: Option<&NewKey>, said: &str) -> Page {
    let mut frame = signed_in.frame("Keys", "keys").await?;
    if issued.is_some() {
        frame.said = Some(said.to_owned());
        frame.entry = signed_in.audit_entry().await;
    }
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
            (None, true) => ("active", "good"),
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
    if ["rotate", "revoke"].contains(&form.field("do")) && !form.is_confirmed() {
        let record = find(signed_in, environment, key()?).await?;
        let title = if form.field("do") == "rotate" { "Rotate a key" } else { "Revoke a key" };
        return review(&form, environment, &record).page(signed_in.frame(title, "keys").await?);
    }
    match form.field("do") {
        "issue" => {
            let request = key_request(&form, engine.clock().now())?;
            let new = engine.issue_key(environment, request, signed_in.origin()).await?;
            show(signed_in, environment, Some(&new), "Key issued.").await
        }
        "rotate" => {
            let new = engine.rotate_key(environment, key()?, GRACE, signed_in.origin()).await?;
            show(
                signed_in,
                environment,
                Some(&new),
                "Key rotated; the old one is valid for another 24 hours.",
            )
            .await
        }
        "revoke" => {
            engine.revoke_key(environment, key()?, signed_in.origin()).await?;
            let to = format!("/console/{environment}/keys");
            Ok(signed_in.done(&to, "Key revoked; it is no longer valid.").await)
        }
        _ => Err(PageError::Refused("Unknown action.".to_owned())),
    }
}

async fn find(signed_in: &SignedIn, environment: EnvironmentId, key: KeyId) -> Result<KeyRecord, PageError> {
    let keys = signed_in.console.engine.keys(environment, Slice { after: None, limit: SLICE }).await?;
    keys.into_iter().find(|record| record.id == key).ok_or(PageError::Missing)
}

/// Whom a rotation or revocation shuts out, and when.
fn review(form: &Submitted, environment: EnvironmentId, key: &KeyRecord) -> Review {
    let hint = format!("{}_…{}", key.kind.prefix(), key.last_four);
    let is_rotation = form.field("do") == "rotate";
    let mut review = if is_rotation {
        Review::of(form, "A new key will take the place of this one")
    } else {
        Review::of(form, "This key will no longer be valid")
    };
    let name = key.name.iter().map(|name| ("Name", name.clone()));
    review.facts = name.collect();
    review.facts.extend([
        ("Key", format!("{hint}, {}", key.kind.as_str())),
        ("Last used (UTC)", key.last_used_at.map_or_else(|| "never".to_owned(), second)),
    ]);
    review.affected = if is_rotation {
        "Whoever uses this key: it is valid for another 24 hours. The new one has the same name and limits."
    } else {
        "Whoever uses this key: they are refused within a second, on every node."
    }
    .into();
    review.permanent = if is_rotation {
        "The end of this key in 24 hours. The new key is shown once."
    } else {
        "A revoked key never becomes valid again; issue a new one instead."
    }
    .into();
    let verb = if is_rotation { "Rotate" } else { "Revoke" };
    let title = format!("{verb} {hint}");
    review.choices = vec![if is_rotation { Choice::plain(title) } else { Choice::danger(title) }];
    review.back = ("Back".to_owned(), format!("/console/{environment}/keys"));
    review
}
