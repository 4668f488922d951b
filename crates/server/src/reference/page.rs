//! `GET /openapi.json`, and `GET /docs`: the document as a page to read and to try things on. The page's script is
//! part of the program, and the page's policy lets it ask no other host for anything.

use std::sync::OnceLock;

use axum::{body::Body, extract::State, response::Response};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use serde_json::{Value, json};
use tollgate_vault::Secret;

use super::Reference;
use crate::{app::SharedApp, error::ApiError, respond::ApiResult};

/// Styles are set on elements by the page's script, pictures and fonts are within it; everything else is this host's.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Tollgate API reference</title></head>
<body><script id="api-reference" type="application/json" data-url="/openapi.json" data-configuration="CONFIGURATION"></script>
<script src="/docs/reference.js?of=VERSION"></script></body></html>"#;

/// The document.
pub(crate) async fn openapi() -> ApiResult {
    Ok(served("application/json", Reference::document()))
}

/// The page.
pub(crate) async fn docs(State(app): State<SharedApp>) -> ApiResult {
    let mut response = served("text/html; charset=utf-8", app.reference().page.clone());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

/// The page's script: large, and the same for as long as the version is, which the page asks for it by.
pub(crate) async fn docs_script() -> ApiResult {
    static SCRIPT: OnceLock<Option<Bytes>> = OnceLock::new();
    let script = SCRIPT.get_or_init(|| scalar_api_reference::get_asset("scalar.js").map(Bytes::from));
    let script = script.clone().ok_or_else(|| ApiError::internal("the reference's script is missing"))?;
    let mut response = served("text/javascript; charset=utf-8", script);
    let kept = HeaderValue::from_static("public, max-age=86400");
    response.headers_mut().insert(header::CACHE_CONTROL, kept);
    Ok(response)
}

fn served(content_type: &'static str, body: Bytes) -> Response {
    const NO_SNIFFING: HeaderName = header::X_CONTENT_TYPE_OPTIONS;
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(NO_SNIFFING, HeaderValue::from_static("nosniff"));
    response
}

/// The page, with a key filled in if there is one.
pub(crate) fn html(key: Option<&Secret>) -> String {
    PAGE.replace("VERSION", env!("CARGO_PKG_VERSION"))
        .replace("CONFIGURATION", &escaped(&configuration(key).to_string()))
}

fn configuration(key: Option<&Secret>) -> Value {
    let preferred = "secretKey";
    let authentication = match key {
        None => json!({"preferredSecurityScheme": preferred}),
        Some(key) => json!({
            "preferredSecurityScheme": preferred,
            "securitySchemes": {preferred: {"token": key.expose()}},
        }),
    };
    json!({
        "authentication": authentication,
        "withDefaultFonts": false,
        "telemetry": false,
        "agent": {"disabled": true},
        "mcp": {"disabled": true},
        "hideClientButton": true,
        "showDeveloperTools": "never",
        "persistAuth": false,
        "metaData": {"title": "Tollgate API reference"},
    })
}

/// For an attribute's value.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}
