//! The rules of the transport, the same for every endpoint.

use serde_json::json;

use crate::support::Start;

const QUOTE: &str = "/client/v1/fees/quote";
const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn unknown_paths_and_methods_are_answered_in_the_envelope() {
    let server = Start::sandbox().run();
    let mut client = server.sandbox_client("secretKey");
    for path in [
        "/",
        "/nowhere",
        "/client/v1",
        "/client/v1/fees/quote/",
        "/client/v2/fees/quote",
        "/admin/v1/nothing",
        "/%ff",
    ] {
        assert_eq!(client.get(path).failure(404), "not_found", "{path}");
    }
    for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = client.send(method, QUOTE, &[], b"");
        assert_eq!(answer.failure(405), "method_not_allowed", "{method}");
        assert_eq!(answer.headers["allow"], "POST", "{method}");
    }
    let answer = client.send("DELETE", &server.sandbox_path("/config"), &[], b"");
    assert_eq!(answer.failure(405), "method_not_allowed");
    assert_eq!(answer.headers["allow"], "GET, PUT");
}

#[test]
fn only_json_is_taken() {
    let server = Start::sandbox().run();
    let mut client = server.sandbox_client("secretKey");
    let body = json!({"amountMinor": "1", "currency": "USD"}).to_string();
    for good in ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"] {
        client.send("POST", QUOTE, &[("content-type", good)], body.as_bytes()).data(200);
    }
    for bad in ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""] {
        let answer = client.send("POST", QUOTE, &[("content-type", bad)], body.as_bytes());
        assert_eq!(answer.failure(415), "unsupported_media_type", "{bad}");
    }
    assert_eq!(client.send("POST", QUOTE, &[], body.as_bytes()).failure(415), "unsupported_media_type");
}

#[test]
fn bodies_end_at_64_kib() {
    let server = Start::sandbox().run();
    let mut client = server.sandbox_client("secretKey");
    let body = |length: usize| {
        let head = r#"{"amountMinor":"1","currency":"USD","x":""#;
        format!(r#"{head}{}"}}"#, "x".repeat(length - head.len() - 2))
    };
    client.send("POST", QUOTE, &[JSON], body(65_536).as_bytes()).data(200);
    for length in [65_537, 100_000, 3_000_000] {
        let answer = client.send("POST", QUOTE, &[JSON], body(length).as_bytes());
        assert_eq!(answer.failure(413), "body_too_large", "{length}");
    }
}

#[test]
fn every_answer_has_a_request_id_of_its_own_and_the_callers_is_logged() {
    let server = Start::sandbox().with("TOLLGATE_LOG", "debug").run();
    let mut client = server.sandbox_client("secretKey");
    let mut ids = std::collections::HashSet::new();
    let mut last = String::new();
    for path in ["/healthz", "/readyz", "/metrics", "/nowhere", QUOTE] {
        let answer = client.send("GET", path, &[("x-request-id", "callers-own-7")], b"");
        last = answer.headers["request-id"].clone();
        assert!(ids.insert(last.clone()), "{last} came twice");
    }
    crate::support::wait_until("the request is logged", std::time::Duration::from_secs(5), || {
        server.log().lines().any(|line| line.contains(&last) && line.contains("callers-own-7"))
    });
}

#[test]
fn malformed_json_is_told_with_its_place_and_without_its_text() {
    let server = Start::sandbox().run();
    let mut client = server.sandbox_client("secretKey");
    for (body, words) in [
        ("", "empty"),
        ("[]", "JSON object"),
        ("nonsense-4111111111111111", "JSON object"),
        ("{\"amountMinor\":\"1\",\n\"currency\":", "line 2"),
        ("{\"currency\":\"USD\",\"currency\":\"EUR\"}", "twice"),
        ("{} trailing", "line 1"),
    ] {
        let answer = client.send("POST", QUOTE, &[JSON], body.as_bytes());
        assert_eq!(answer.failure(400), "invalid_body", "{body}");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{body}: {message}");
        assert!(!message.contains("4111"));
    }
}

#[test]
fn health_readiness_and_metrics_are_there_for_machines() {
    let server = Start::sandbox().run();
    let mut client = server.client("");
    assert_eq!(client.get("/healthz").data(200)["status"], "ok");
    assert_eq!(client.get("/readyz").data(200)["status"], "ready");
    let mut quoting = server.sandbox_client("secretKey");
    for amount in 1..=7 {
        quoting.post(QUOTE, &json!({"amountMinor": amount, "currency": "USD"})).data(200);
    }
    quoting.post(QUOTE, &json!({})).failure(400);
    let text = String::from_utf8(client.get("/metrics").body).unwrap();
    for line in [
        "tollgate_http_requests_total{operation=\"fee_quote\",status=\"200\"} 7",
        "tollgate_http_requests_total{operation=\"fee_quote\",status=\"400\"} 1",
        "tollgate_http_request_duration_seconds_count{operation=\"fee_quote\"} 8",
        "tollgate_directory_in_step 1",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn a_head_request_is_answered_without_a_body() {
    let server = Start::sandbox().run();
    let mut client = server.client("");
    let expected = client.get("/healthz").body.len().to_string();
    let answer = client.send("HEAD", "/healthz", &[], b"");
    assert_eq!((answer.status, answer.headers["content-length"].as_str()), (200, expected.as_str()));
    // A body would be taken for the next answer's head.
    assert_eq!(client.get("/healthz").data(200)["status"], "ok");
}
