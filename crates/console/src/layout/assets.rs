//! The style and the script, with the binary.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::LazyLock,
};

use axum::{body::Body, extract::Path, response::Response};
use http::{HeaderValue, StatusCode, header};

const FILES: [(&str, &str, &str); 3] = [
    ("console.css", "text/css; charset=utf-8", include_str!("../../assets/console.css")),
    ("console.js", "text/javascript; charset=utf-8", include_str!("../../assets/console.js")),
    ("icon.svg", "image/svg+xml", include_str!("../../assets/icon.svg")),
];

/// The pages ask for them with the version behind, so that a browser may keep them.
pub(crate) async fn serve(Path(name): Path<String>) -> Response {
    let Some((_, kind, text)) = FILES.iter().find(|(known, _, _)| *known == name) else {
        let mut response = Response::new(Body::from("Not found."));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    };
    let mut response = Response::new(Body::from(*text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400"));
    response
}

/// Stands for what the files hold: another binary with other files has another.
pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let mut hasher = DefaultHasher::new();
        FILES.hash(&mut hasher);
        format!("{:x}", hasher.finish())
    });
    &VERSION
}
