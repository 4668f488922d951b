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
    server.ignore_unknown_fields();
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
fn a_body_that_is_announced_too_large_is_refused_before_it_comes() {
    let server = Start::sandbox().run();
    let key = server.sandbox_client("secretKey").credential;
    let head = |length: &str| {
        format!(
            "POST {QUOTE} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\n{length}\r\n\r\n"
        )
    };
    for length in ["content-length: 65537", "content-length: 100000000"] {
        let answer = server.client("").exchange(head(length).as_bytes()).unwrap();
        assert_eq!(answer.failure(413), "body_too_large", "{length}");
    }
    let mut endless = head("transfer-encoding: chunked");
    endless.push_str(&format!("12000\r\n{}", "x".repeat(0x12000)));
    let answer = server.client("").exchange(endless.as_bytes()).unwrap();
    assert_eq!(answer.failure(413), "body_too_large", "without a length and without an end");
}

#[test]
fn a_request_whose_head_cannot_be_read_is_answered_in_the_envelope() {
    let server = Start::sandbox().run();
    let (long, longer) = ("x".repeat(40_000), "x".repeat(100_000));
    let many = (0..101).map(|number| format!("x-{number}: 1\r\n")).collect::<Vec<_>>().concat();
    for (request, status, code) in [
        ("NONSENSE\r\n\r\n".to_owned(), 400, "malformed_request"),
        ("GET /healthz HTTP/7.1\r\n\r\n".to_owned(), 400, "malformed_request"),
        ("GET /healthz HTTP/1.1\r\nno colon\r\n\r\n".to_owned(), 400, "malformed_request"),
        ("GET /healthz HTTP/1.1\r\ncontent-length: many\r\n\r\n".to_owned(), 400, "malformed_request"),
        ("GET /a\u{1}b HTTP/1.1\r\nhost: test\r\n\r\n".to_owned(), 400, "malformed_request"),
        (format!("GET /{longer} HTTP/1.1\r\nhost: test\r\n\r\n"), 414, "uri_too_long"),
        (format!("GET / HTTP/1.1\r\nx: {long}\r\n\r\n"), 431, "headers_too_large"),
        (format!("GET / HTTP/1.1\r\n{many}\r\n"), 431, "headers_too_large"),
        (format!("GET / HTTP/1.1\r\nx: {}", long.repeat(20)), 431, "headers_too_large"),
    ] {
        let shown: String = request.chars().take(60).collect();
        let fresh = server.client("").exchange(request.as_bytes()).unwrap();
        assert_eq!(fresh.failure(status), code, "{shown}");
        assert_eq!(fresh.headers["connection"], "close", "{shown}");
        assert_eq!(fresh.headers["content-type"], "application/json", "{shown}");
        // Behind a request that was in order, on the same connection.
        let mut kept = server.client("");
        kept.get("/healthz").data(200);
        kept.get("/nowhere").failure(404);
        assert_eq!(kept.exchange(request.as_bytes()).unwrap().failure(status), code, "{shown}");
        // And in one piece with it: the answers come in order.
        let mut piped = server.client("");
        let both = format!("GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n{request}");
        piped.exchange(both.as_bytes()).unwrap().data(200);
        // Where its head began was not looked at, so that a long first line is a long head.
        let (status, code) = if status == 414 { (431, "headers_too_large") } else { (status, code) };
        assert_eq!(piped.exchange(b"").unwrap().failure(status), code, "{shown}");
    }
    let request = format!("GET /{long} HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_eq!(server.client("").exchange(request.as_bytes()).unwrap().failure(414), "uri_too_long");
    let text = String::from_utf8(server.client("").get("/metrics").body).unwrap();
    assert!(text.contains("tollgate_http_requests_total{operation=\"unknown\",status=\"431\"}"), "{text}");
}

#[test]
fn two_credentials_are_none() {
    let server = Start::sandbox().run();
    let key = server.sandbox_client("secretKey").credential;
    let body = br#"{"amountMinor":"1","currency":"USD"}"#;
    let ask = |second: &str| {
        let headers = [JSON, ("authorization", second)];
        server.client(&key).send("POST", QUOTE, &headers, body)
    };
    for second in [format!("Bearer {key}"), "Bearer sk_test_other".to_owned(), "Basic x".to_owned()] {
        let answer = ask(&second);
        assert_eq!(answer.failure(401), "unauthenticated");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("More than one Authorization header"), "{message}");
    }
    let token = server.sandbox_client("adminToken").credential;
    let twice = [("authorization", format!("Bearer {token}"))];
    let twice: Vec<_> = twice.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let answer = server.client(&token).send("GET", "/admin/v1/organizations", &twice, b"");
    assert_eq!(answer.failure(401), "unauthenticated");
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
    crate::support::wait_until("the request is logged", std::time::Duration::from_secs(120), || {
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
        ("{\"currency\":\"USD\",\"currency\":\"EUR\"}", "duplicated"),
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
    for (credential, path, status) in [
        ("adminToken", "/admin/v1/organizations", 200),
        ("adminToken", "/admin/v1/doctor", 200),
        ("adminToken", "/admin/v1/rekey", 405),
        ("secretKey", "/client/v1/transactions", 200),
        ("secretKey", "/admin/v1/organizations", 401),
    ] {
        let answer = server.sandbox_client(credential).send("HEAD", path, &[], b"");
        assert_eq!(answer.status, status, "{path}");
    }
    assert_eq!(client.get("/checkout/paid").headers["x-content-type-options"], "nosniff");
}

#[test]
fn metrics_are_not_for_whoever_a_proxy_asks_for() {
    const TOKEN: &str = "mtr-0w8kQ2ZcN5vB7xLsT1dY";
    let server = Start::sandbox().with("TOLLGATE_METRICS_TOKEN", TOKEN).run();
    let mut client = server.client("");
    let mut status = |headers: &[(&str, &str)]| client.send("GET", "/metrics", headers, b"").status;
    assert_eq!(status(&[]), 200, "from this machine");
    let proxied = ("x-forwarded-for", "203.0.113.9");
    assert_eq!(status(&[proxied]), 401);
    assert_eq!(status(&[proxied, ("authorization", "Bearer mtr-0w8kQ2ZcN5vB7xLsT1dX")]), 401);
    assert_eq!(status(&[proxied, ("authorization", &format!("Bearer {TOKEN}"))]), 200);
    let guesses: Vec<_> = (0..100)
        .map(|guess| status(&[proxied, ("authorization", &format!("Bearer mtr-{guess:020}"))]))
        .collect();
    assert!(guesses.contains(&429) && guesses.iter().all(|it| [401, 429].contains(it)), "{guesses:?}");
    assert_eq!(status(&[proxied, ("authorization", &format!("Bearer {TOKEN}"))]), 200, "whoever knows it");
    let behind = Start::sandbox().with("TOLLGATE_TRUSTED_PROXIES", "127.0.0.0/8").run();
    assert_eq!(behind.client("").get("/metrics").status, 401, "asked for by a proxy");
}
