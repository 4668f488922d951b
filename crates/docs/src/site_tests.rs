use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt as _;

use crate::{documents, site::respond};

fn get(path: &str) -> Response {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    respond(path, query, &HeaderMap::new())
}

async fn text(response: Response) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn every_document_is_a_page_and_markdown() {
    for document in documents::all() {
        let response = get(&document.path());
        assert_eq!(response.status(), 200, "{}", document.name);
        let headers = response.headers();
        assert_eq!(headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert_eq!(headers[header::CACHE_CONTROL], "no-cache");
        assert!(headers.contains_key(header::ETAG) && headers.contains_key(header::CONTENT_SECURITY_POLICY));
        let page = text(response).await;
        let here = format!(r#"<a href="{}" aria-current="page">"#, document.path());
        assert_eq!(page.matches(&here).count(), 1, "{}", document.name);
        assert_eq!(page.matches("<h1").count(), 1, "{}", document.name);
        assert!(!page.contains("src=\"http") && !page.contains(" style="), "{}", document.name);

        let response = get(&format!("{}.md", document.path()));
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/markdown; charset=utf-8");
        assert_eq!(text(response).await, document.text);
    }
}

#[tokio::test]
async fn the_list_names_every_page_with_a_sentence() {
    let response = get("/llms.txt");
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/plain; charset=utf-8");
    let list = text(response).await;
    assert!(list.starts_with("# Tollgate\n\n> "), "{list}");
    for document in documents::all() {
        assert!(list.contains(&format!("]({}.md): {}", document.path(), document.summary)), "{list}");
    }
    assert_eq!(text(get("/docs/overview.md")).await, list);
    let page = text(get("/docs/overview")).await;
    assert!(page.contains(r#"<a href="/docs/webhooks">Receiving events</a>"#), "{page}");
}

#[tokio::test]
async fn search_finds_sections_and_shows_what_was_typed_as_text() {
    let response = get("/docs/search?q=rotating+a+webhook+secret");
    assert_eq!(
        (response.status().as_u16(), &response.headers()[header::CACHE_CONTROL]),
        (200, &HeaderValue::from_static("no-store"))
    );
    let page = text(response).await;
    assert!(
        page.contains(r#"<li><a href="/docs/webhooks#rotating-a-secret">Rotating a secret</a>"#),
        "{page}"
    );
    let page = text(get("/docs/search?q=%22%3E%3Cxyzzy%3E")).await;
    assert!(page.contains("No section has a word of") && !page.contains("<xyzzy"), "{page}");
    let page = text(get("/docs/search")).await;
    assert!(page.contains("Enter words"), "{page}");
    let long = text(get(&format!("/docs/search?q={}", "word+".repeat(5_000)))).await;
    assert!(long.len() < 30_000, "{}", long.len());
}

#[tokio::test]
async fn what_is_not_there_is_a_page_too() {
    for path in ["/docs/nothing", "/docs/guides/nothing.md", "/docs/assets/../docs.css"] {
        let response = get(path);
        assert_eq!(response.status(), 404, "{path}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert!(text(response).await.contains("Page not found"));
    }
    let moved = get("/docs/openapi.json");
    assert_eq!(moved.status(), 308);
    assert_eq!(moved.headers()[header::LOCATION], "/openapi.json");
    assert_eq!(get("/docs/guides/first-payment/").headers()[header::LOCATION], "/docs/guides/first-payment");
}

#[tokio::test]
async fn the_references_script_is_small_on_the_wire_and_whole_for_those_without_gzip() {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    let small = respond("/docs/reference.js", None, &headers);
    assert_eq!(small.headers()[header::CONTENT_ENCODING], "gzip");
    assert_eq!(small.headers()[header::CACHE_CONTROL], "public, max-age=86400");
    let small = small.into_body().collect().await.unwrap().to_bytes();
    let whole = text(get("/docs/reference.js")).await;
    assert!(small.len() * 3 < whole.len(), "{} of {}", small.len(), whole.len());
    assert!(whole.len() > 1_000_000 && whole.contains("api-reference"));
}
