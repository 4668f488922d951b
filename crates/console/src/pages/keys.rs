//! API keys: issued, rotated and revoked; a key is shown once.

use std::time::Duration;

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    id::{EnvironmentId, KeyId},
    tenant::KeyKind,
};
use tollgate_engine::{NewKey, ports::Page as Slice};

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

struct Row {
    id: String,
    kind: &'static str,
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
        let own = own.map(|change| {
            format!("{} by {}, {}", change.action.as_str(), change.origin.actor, second(change.origin.at))
        });
        let is_live = record.revoked_at.is_none() && record.is_live(now);
        let (status, tone) = match (record.revoked_at, is_live) {
            (Some(_), _) => ("revoked", "bad"),
            (None, true) => ("live", "good"),
            (None, false) => ("expired", ""),
        };
        Row {
            id: record.id.to_string(),
            kind: record.kind.as_str(),
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
    page::render(&KeysPage { frame, keys, issued: issued.map(|new| new.key.expose().to_owned()) })
}

pub(crate) async fn change(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let engine = &signed_in.console.engine;
    let key = || form.field("key").parse::<KeyId>().map_err(|_| PageError::Missing);
    match form.field("do") {
        "issue" => {
            let kind = KeyKind::parse(form.field("kind"))
                .ok_or_else(|| PageError::Refused("Choose a kind of key.".to_owned()))?;
            let new = engine.issue_key(environment, kind, signed_in.origin()).await?;
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
