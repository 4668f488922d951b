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
    format::second,
    page::{self, Page, PageError},
    submitted::Submitted,
    visitor::{Frame, Visitor, back},
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
    is_live: bool,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    frame: Frame,
    keys: Vec<Row>,
    /// Shown this once.
    issued: Option<String>,
}

pub(crate) async fn list(visitor: Visitor) -> Page {
    let environment = visitor.environment()?;
    show(&visitor, environment, None).await
}

async fn show(visitor: &Visitor, environment: EnvironmentId, issued: Option<&NewKey>) -> Page {
    let frame = visitor.frame("Keys", "keys").await?;
    let engine = &visitor.console.engine;
    let now = engine.clock().now();
    let keys = engine.keys(environment, Slice { after: None, limit: SLICE }).await?;
    let keys = keys.iter().rev().map(|record| {
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
            is_live: is_live && record.replaced_by.is_none(),
        }
    });
    let keys = keys.collect();
    page::render(&KeysPage { frame, keys, issued: issued.map(|new| new.key.expose().to_owned()) })
}

pub(crate) async fn change(form: Submitted) -> Result<Response, PageError> {
    let visitor = &form.visitor;
    let environment = visitor.environment()?;
    let engine = &visitor.console.engine;
    let key = || form.field("key").parse::<KeyId>().map_err(|_| PageError::Missing);
    match form.field("do") {
        "issue" => {
            let kind = KeyKind::parse(form.field("kind"))
                .ok_or_else(|| PageError::Refused("Choose which kind of key.".to_owned()))?;
            let new = engine.issue_key(environment, kind).await?;
            show(visitor, environment, Some(&new)).await
        }
        "rotate" => {
            let new = engine.rotate_key(environment, key()?, GRACE).await?;
            show(visitor, environment, Some(&new)).await
        }
        "revoke" => {
            engine.revoke_key(environment, key()?).await?;
            Ok(back(
                &format!("/console/{environment}/keys"),
                "The key is revoked and opens nothing any more.",
            ))
        }
        _ => Err(PageError::Refused("There is no such thing to do.".to_owned())),
    }
}
