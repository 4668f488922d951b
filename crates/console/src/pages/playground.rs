//! The sandbox's playground: every client flow with a click, and its result as it happens.
//!
//! Its page holds the sandbox's keys, so it is mounted by the sandbox alone.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::{Path, RawQuery, State},
    response::{Html, IntoResponse as _, Response},
    routing::get,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use tollgate_configuration::{Provider, Providers};
use tollgate_docs::Keep;
use tollgate_domain::id::{EnvironmentId, EventId};
use tollgate_engine::{
    Engine, ReadError,
    ports::{EventQuery, EventsFrom},
};
use tollgate_vault::Secret;

use crate::layout::{assets::Assets, format::rfc3339};

const SLICE: u32 = 50;

static FILES: LazyLock<Assets<2>> = LazyLock::new(|| {
    Assets::new(
        Keep::Validate,
        [
            ("playground.js", "text/javascript; charset=utf-8", include_str!("../../assets/playground.js")),
            ("playground.css", "text/css; charset=utf-8", include_str!("../../assets/playground.css")),
        ],
    )
});

/// What the playground plays with.
pub struct Playground {
    /// The engine behind the sandbox.
    pub engine: Arc<Engine>,
    /// The sandbox's environment.
    pub environment: EnvironmentId,
    /// Opens it.
    pub secret_key: Secret,
    /// Opens what a browser may do.
    pub publishable_key: Secret,
    /// Opens the simulated bank, to let transfers arrive or come back.
    pub bank_key: Secret,
}

#[derive(Template)]
#[template(path = "playground.html")]
struct PlaygroundPage {
    notes: String,
}

/// The page and what it asks for, below `/playground`.
pub fn playground(playground: Playground) -> Router {
    Router::new()
        .route("/playground", get(page))
        .route("/playground/", get(page))
        .route("/playground/feed", get(feed))
        .route("/playground/assets/{name}", get(asset))
        .with_state(Arc::new(playground))
}

async fn page(State(playground): State<Arc<Playground>>) -> Response {
    let notes = json!({
        "secretKey": playground.secret_key.expose(),
        "publishableKey": playground.publishable_key.expose(),
        "bankKey": playground.bank_key.expose(),
        "environmentId": playground.environment.to_string(),
    });
    // Keys and ids have no letters that mean anything in HTML.
    let Ok(text) = (PlaygroundPage { notes: notes.to_string() }).render() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = Html(text).into_response();
    let Ok(policy) = HeaderValue::from_str(&policy(&provider_sources(&playground))) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// What the scripts of the providers that are configured now need.
fn provider_sources(playground: &Playground) -> Vec<(&'static str, String)> {
    let snapshot = playground.engine.directory().snapshot();
    let providers = snapshot.environment(playground.environment).map(|view| &view.configuration.providers);
    providers.into_iter().flat_map(Providers::iter).flat_map(Provider::script_sources).collect()
}

/// The page's own files, the simulators beside it, and what the providers need: nothing else.
fn policy(sources: &[(&'static str, String)]) -> String {
    let plain =
        |source: &&str| source.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":/.-[]*".contains(&byte));
    let own = [
        ("style-src", "'self' 'unsafe-inline'"),
        ("script-src", "'self'"),
        ("connect-src", "'self'"),
        ("frame-src", "'self'"),
        ("font-src", "'self'"),
        ("img-src", "'self' data:"),
    ];
    let directives = own.map(|(directive, own)| {
        let theirs = sources.iter().filter(|(of, _)| *of == directive);
        let theirs: BTreeSet<_> = theirs.flat_map(|(_, hosts)| hosts.split(' ')).filter(plain).collect();
        let theirs: Vec<_> = theirs.into_iter().collect();
        format!("{directive} {own} {}", theirs.join(" ")).trim_end().to_owned()
    });
    format!(
        "default-src 'none'; {}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        directives.join("; ")
    )
}

/// What happened after the event named, oldest first; without one, the latest few.
async fn feed(State(playground): State<Arc<Playground>>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let after = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "after");
    match read_feed(&playground, after.map(|(_, value)| value).as_deref()).await {
        Ok(value) => {
            let mut response = Response::new(Body::from(value.to_string()));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn read_feed(playground: &Playground, after: Option<&str>) -> Result<Value, ReadError> {
    let (engine, environment) = (&playground.engine, playground.environment);
    let after = after.and_then(|text| text.parse::<EventId>().ok());
    let newest = async || {
        let newest =
            engine.list_events(environment, EventQuery::default(), EventsFrom::Newest, SLICE).await?;
        Ok::<_, ReadError>(newest.into_iter().rev().collect())
    };
    let events: Vec<_> = match after.map(EventsFrom::after) {
        Some(from) => match engine.list_events(environment, EventQuery::default(), from, SLICE).await {
            // The page was opened on another sandbox's data.
            Err(ReadError::Missing) => newest().await?,
            read => read?,
        },
        None => newest().await?,
    };
    let webhooks = engine.provider_events(environment, None, None, SLICE).await.unwrap_or_default();
    Ok(json!({
        "events": events.iter().map(|event| json!({
            "id": event.id.to_string(),
            "type": event.kind.as_str(),
            "at": rfc3339(event.at),
            "reference": event.reference.map(|reference| reference.to_string()),
        })).collect::<Vec<_>>(),
        "webhooks": webhooks.iter().rev().map(|stored| json!({
            "id": format!("{} {}", stored.event.provider, stored.event.id),
            "type": stored.event.kind,
            "provider": stored.event.provider,
            "at": rfc3339(stored.event.received_at),
            "state": stored.state.as_str(),
        })).collect::<Vec<_>>(),
    }))
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    FILES.respond(&name, &headers)
}

#[cfg(test)]
mod tests {
    use super::policy;

    #[test]
    fn the_page_allows_itself_and_the_configured_providers() {
        let alone = policy(&[]);
        assert!(alone.contains("script-src 'self';") && alone.contains("connect-src 'self';"), "{alone}");
        let both = policy(&[
            ("script-src", "https://js.stripe.com https://*.js.stripe.com".to_owned()),
            ("script-src", "https://js.stripe.com".to_owned()),
            ("connect-src", "https://api.stripe.com".to_owned()),
            ("script-src", "https://a;default-src".to_owned()),
        ]);
        assert!(both.contains("script-src 'self' https://*.js.stripe.com https://js.stripe.com;"), "{both}");
        assert!(both.contains("connect-src 'self' https://api.stripe.com;"), "{both}");
        assert!(both.contains("frame-src 'self';") && !both.contains("https://a;"), "{both}");
    }
}
