//! `GET /openapi.json`, and `GET /docs`: the document as a page to read and to try things on. The page's policy lets it
//! ask no other host for anything. Below `/docs/` is the documentation.

use axum::{
    body::Body,
    extract::{Request, State},
    response::Response,
};
use http::{HeaderMap, HeaderValue, header};

use crate::app::SharedApp;

/// Styles are set on elements by the page's script, pictures and fonts are within it; everything else is this host's.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn openapi(State(app): State<SharedApp>, headers: HeaderMap) -> Response {
    app.reference.document().respond(&headers)
}

/// The page. It may hold a key, so it is not compressed.
pub(crate) async fn docs(State(app): State<SharedApp>) -> Response {
    let mut response = Response::new(Body::from(app.reference.page.clone()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// The documentation: its pages, their files, and the script of the page above.
pub(crate) async fn site(request: Request) -> Response {
    tollgate_docs::respond(request.uri().path(), request.uri().query(), request.headers())
}
