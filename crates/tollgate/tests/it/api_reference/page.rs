//! `/docs` and `/openapi.json` themselves.

use crate::{
    browser,
    support::{Start, alone},
};

#[test]
fn developers_read_and_try_the_reference_in_a_real_browser() {
    let _turn = alone();
    browser::drive("docs.mjs", &Start::sandbox().run(), "docs-screenshots");
}

#[test]
fn a_production_server_fills_no_key_in() {
    let server = Start::serve().run();
    let page = server.client("").get("/docs");
    assert_eq!(page.status, 200);
    let text = String::from_utf8(page.body).unwrap();
    assert!(text.contains("/openapi.json") && !text.contains("token"), "{text}");
    let policy = &page.headers["content-security-policy"];
    assert!(policy.starts_with("default-src 'self';") && !policy.contains("http"), "{policy}");
    let sandbox = Start::sandbox().run();
    let text = String::from_utf8(sandbox.client("").get("/docs").body).unwrap();
    assert!(text.contains(&sandbox.sandbox_client("secretKey").credential), "{text}");
}

#[test]
fn the_document_is_the_one_in_the_repository() {
    let server = Start::serve().run();
    let answer = server.client("").get("/openapi.json");
    assert_eq!(answer.headers["content-type"], "application/json");
    let kept = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(answer.json(), kept);

    let mut browser = server.client("");
    let mut ask = |path| browser.send("GET", path, &[("Accept-Encoding", "gzip, br")], b"");
    let packed = ask("/openapi.json");
    assert_eq!(packed.headers["content-encoding"], "gzip");
    assert!(packed.body.len() * 5 < answer.body.len(), "{} of {}", packed.body.len(), answer.body.len());
    // What may hold a key, or answers what its caller chose, is never compressed.
    for path in ["/docs", "/docs/search?q=refund", "/client/v1/transactions"] {
        assert!(!ask(path).headers.contains_key("content-encoding"), "{path}");
    }
}
