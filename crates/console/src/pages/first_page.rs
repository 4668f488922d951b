//! The page at `/`: in the sandbox the way to everything else, with the keys to copy; in production the product's name and
//! version, for those who want it.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    response::{Html, IntoResponse as _, Response},
    routing::get,
};
use http::{HeaderValue, StatusCode, header};
use tollgate_vault::Secret;

/// The guides, as the repository has them.
const GUIDES: [(&str, &str); 6] = [
    ("first-payment.md", include_str!("../../../../docs/guides/first-payment.md")),
    ("hosted-checkout.md", include_str!("../../../../docs/guides/hosted-checkout.md")),
    ("stripe-elements.md", include_str!("../../../../docs/guides/stripe-elements.md")),
    ("square-web-payments.md", include_str!("../../../../docs/guides/square-web-payments.md")),
    ("capture-later.md", include_str!("../../../../docs/guides/capture-later.md")),
    ("bank-transfer.md", include_str!("../../../../docs/guides/bank-transfer.md")),
];

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

/// The sandbox's first page at `/`, and the guides below `/guides`.
pub fn sandbox_page(keys: SandboxKeys) -> Router {
    Router::new().route("/", get(show_sandbox)).route("/guides/{name}", get(guide)).with_state(Arc::new(keys))
}

/// Production's first page at `/`: a name and a version, and nothing else.
pub fn product_page() -> Router {
    Router::new().route("/", get(async || page(&ProductPage { version: env!("CARGO_PKG_VERSION") })))
}

async fn show_sandbox(State(keys): State<Arc<SandboxKeys>>) -> Response {
    let guide = |(name, text): (&str, &'static str)| Guide {
        link: format!("/guides/{name}"),
        title: text.lines().next().unwrap_or_default().trim_start_matches("# "),
    };
    page(&SandboxPage {
        version: env!("CARGO_PKG_VERSION"),
        base_url: keys.base_url.clone(),
        secret_key: keys.secret_key.expose().to_owned(),
        publishable_key: keys.publishable_key.expose().to_owned(),
        guides: GUIDES.into_iter().map(guide).collect(),
    })
}

async fn guide(Path(name): Path<String>) -> Response {
    let Some((_, text)) = GUIDES.iter().find(|(known, _)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = Response::new(Body::from(*text));
    // As text, so that a browser shows it instead of saving it.
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guide_has_a_title() {
        for (name, text) in GUIDES {
            assert!(text.starts_with("# "), "{name}");
        }
    }
}
