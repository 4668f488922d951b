//! The page at `/`: in the sandbox the way to everything else, with the keys to copy; in production the product's name and
//! version, for those who want it.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    extract::State,
    response::{Html, IntoResponse as _, Response},
    routing::get,
};
use http::{HeaderValue, StatusCode, header};
use tollgate_vault::Secret;

/// What the sandbox's first page shows.
pub struct SandboxKeys {
    /// Where the sandbox is reached.
    pub base_url: String,
    pub secret_key: Secret,
    pub publishable_key: Secret,
}

struct Guide {
    link: String,
    title: &'static str,
}

#[derive(Template)]
#[template(path = "first_page.html")]
struct SandboxPage {
    version: &'static str,
    base_url: String,
    secret_key: String,
    publishable_key: String,
    guides: Vec<Guide>,
}

#[derive(Template)]
#[template(path = "product_page.html")]
struct ProductPage {
    version: &'static str,
}

/// The sandbox's first page at `/`.
pub fn sandbox_page(keys: SandboxKeys) -> Router {
    Router::new().route("/", get(show_sandbox)).with_state(Arc::new(keys))
}

/// Production's first page at `/`: a name and a version, and nothing else.
pub fn product_page() -> Router {
    Router::new().route("/", get(async || page(&ProductPage { version: env!("CARGO_PKG_VERSION") })))
}

async fn show_sandbox(State(keys): State<Arc<SandboxKeys>>) -> Response {
    page(&SandboxPage {
        version: env!("CARGO_PKG_VERSION"),
        base_url: keys.base_url.clone(),
        secret_key: keys.secret_key.expose().to_owned(),
        publishable_key: keys.publishable_key.expose().to_owned(),
        guides: tollgate_docs::guides().map(|(link, title)| Guide { link, title }).collect(),
    })
}

fn page(template: &impl Template) -> Response {
    let Ok(text) = template.render() else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let mut response = Html(text).into_response();
    let policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; \
                  base-uri 'none'; frame-ancestors 'none'";
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}
