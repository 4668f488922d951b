//! What is at which address.

use std::{collections::HashMap, sync::LazyLock};

use axum::{
    body::Body,
    response::{IntoResponse as _, Redirect, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::{
    documents,
    markdown::{self, Rendered},
    page::{self, Frame},
    search,
    static_file::{Keep, StaticFile},
};

/// A page asks nobody but this host for anything, and its forms go nowhere else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; \
                          base-uri 'none'; frame-ancestors 'none'";

const RESULTS_MAX: usize = 20;
const QUERY_CHARACTERS_MAX: usize = 200;
const HTML: &str = "text/html; charset=utf-8";

struct Site {
    files: HashMap<String, StaticFile>,
    version: String,
}

static SITE: LazyLock<Site> = LazyLock::new(Site::new);

/// The answer to `GET` of an address below `/docs/`, and of `/llms.txt`.
pub fn respond(path: &str, query: Option<&str>, headers: &HeaderMap) -> Response {
    match (path, SITE.files.get(path)) {
        (_, Some(file)) => with_policy(file.respond(headers)),
        ("/docs/search", None) => SITE.search(query.unwrap_or_default()),
        // Where a link in a page's Markdown leads.
        ("/docs/openapi.json", None) => Redirect::permanent("/openapi.json").into_response(),
        _ if path.strip_suffix('/').is_some_and(|page| SITE.files.contains_key(page)) => {
            Redirect::permanent(path.trim_end_matches('/')).into_response()
        }
        _ => {
            let frame = Frame::new("Page not found", path, &SITE.version);
            made(StatusCode::NOT_FOUND, page::not_found(frame))
        }
    }
}

impl Site {
    fn new() -> Self {
        let mut files = HashMap::new();
        let style =
            concat!(include_str!("../../console/assets/console.css"), include_str!("../assets/docs.css"));
        let assets = [
            ("docs.css", "text/css; charset=utf-8", style),
            ("docs.js", "text/javascript; charset=utf-8", include_str!("../assets/docs.js")),
            ("icon.svg", "image/svg+xml", include_str!("../../console/assets/icon.svg")),
        ];
        let mut version = String::new();
        for (name, content_type, text) in assets {
            let file = StaticFile::new(content_type, Keep::Day, text);
            version.extend(file.version().chars().take(6));
            files.insert(format!("/docs/assets/{name}"), file);
        }
        let script = include_bytes!(concat!(env!("OUT_DIR"), "/reference.js.gz"));
        let script = StaticFile::compressed("text/javascript; charset=utf-8", Keep::Day, script);
        files.insert("/docs/reference.js".to_owned(), script);

        let mut site = Self { files, version };
        for document in documents::all() {
            let rendered = markdown::render(document.name, document.text);
            site.add(&document.path(), document.title(), document.text.to_owned(), &rendered);
        }
        let list = documents::list();
        let rendered = markdown::render("overview", &list);
        let text = StaticFile::new("text/plain; charset=utf-8", Keep::Validate, list.clone());
        site.files.insert("/llms.txt".to_owned(), text);
        site.add("/docs/overview", "Documentation", list, &rendered);
        site
    }

    /// A page, and its Markdown beside it.
    fn add(&mut self, path: &str, title: &str, markdown: String, rendered: &Rendered) {
        let html = page::document(Frame::new(title, path, &self.version), rendered).unwrap_or_default();
        self.files.insert(path.to_owned(), StaticFile::new(HTML, Keep::Validate, html));
        let markdown = StaticFile::new("text/markdown; charset=utf-8", Keep::Validate, markdown);
        self.files.insert(format!("{path}.md"), markdown);
    }

    fn search(&self, query: &str) -> Response {
        let mut fields = form_urlencoded::parse(query.as_bytes());
        let words = fields.find_map(|(name, value)| (name == "q").then_some(value)).unwrap_or_default();
        let words: String = words.trim().chars().take(QUERY_CHARACTERS_MAX).collect();
        let frame = Frame::new("Search", "/docs/search", &self.version);
        let found = search::find(&words, RESULTS_MAX);
        made(StatusCode::OK, page::search(frame, &words, found))
    }
}

/// A page that was made for this request.
fn made(status: StatusCode, page: Result<String, askama::Error>) -> Response {
    let Ok(html) = page else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    with_policy(response)
}

fn with_policy(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Every page with its HTML, for tests.
#[cfg(test)]
pub(crate) fn paths() -> Vec<&'static str> {
    SITE.files.keys().map(String::as_str).collect()
}
