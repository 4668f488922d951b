//! `GET /openapi.json`, and `GET /docs`: the document as a page to read and to try things on. The page's policy lets it
//! ask no other host for anything.

use std::sync::OnceLock;

use axum::{body::Body, extract::State, response::Response};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};

use crate::{
    app::SharedApp,
    response::{error::ApiError, respond::ApiResult},
};

/// Styles are set on elements by the page's script, pictures and fonts are within it; everything else is this host's.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The document.
pub(crate) async fn openapi(State(app): State<SharedApp>) -> ApiResult {
    Ok(served("application/json", app.reference.document()))
}

/// The page.
pub(crate) async fn docs(State(app): State<SharedApp>) -> ApiResult {
    let mut response = served("text/html; charset=utf-8", app.reference.page.clone());
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
