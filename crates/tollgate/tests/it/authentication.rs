//! Who may ask, and what everybody else is told.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, Server, Start};

const QUOTE: &str = "/client/v1/fees/quote";

fn quote(client: &mut Client) -> crate::support::Answer {
    client.post(QUOTE, &json!({"amountMinor": "1", "currency": "USD"}))
}

fn keys(server: &Server) -> (Client, String) {
    (server.sandbox_client("adminToken"), server.sandbox_path("/keys"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn each_kind_of_credential_gets_the_answer_it_deserves() {
    let server = Start::sandbox().run();
    let secret = server.sandbox_client("secretKey").credential;
    let publishable = server.sandbox_client("publishableKey").credential;
    let cut_off = &secret[..secret.len() - 1];
    let unknown = "sk_test_0000000000000000000000000000000000000000";
    for (credential, status, code, words) in [
        ("", 401, "unauthenticated", "No credential"),
        ("nonsense", 401, "unauthenticated", "does not look like"),
        (cut_off, 401, "unauthenticated", "mistyped"),
        (unknown, 401, "unauthenticated", "mistyped"),
        (publishable.as_str(), 403, "secret_key_required", "secret key"),
    ] {
        let answer = quote(&mut server.client(credential));
        assert_eq!(answer.failure(status), code, "{credential}");
        let message = text(&answer.json()["message"]);
        assert!(message.contains(words), "{credential}: {message}");
        assert_eq!(answer.headers.contains_key("www-authenticate"), status == 401);
    }
    quote(&mut server.client(&secret)).data(200);
    for header in ["", "Basic abc", "Bearer", "Bearer ", "bearer\tx"] {
        let answer = server.client("").send(
            "POST",
            QUOTE,
            &[("authorization", header), ("content-type", "application/json")],
            b"{}",
        );
        assert_eq!(answer.failure(401), "unauthenticated", "{header:?}");
    }
    let lower_case = format!("bearer {secret}");
    let body = br#"{"amountMinor":"1","currency":"USD"}"#;
    server
        .client("")
        .send("POST", QUOTE, &[("authorization", &lower_case), ("content-type", "application/json")], body)
        .data(200);
}

#[test]
fn the_admin_api_takes_the_admin_token_only() {
    let server = Start::sandbox().run();
    for (credential, words) in [
        ("", "No credential"),
        ("secretKey", "not the admin token"),
        ("publishableKey", "not the admin token"),
    ] {
        let mut client =
            if credential.is_empty() { server.client("") } else { server.sandbox_client(credential) };
        let answer = client.get("/admin/v1/organizations");
        assert_eq!(answer.failure(401), "unauthenticated");
        assert!(text(&answer.json()["message"]).contains(words));
    }
    let token = server.sandbox_client("adminToken").credential;
    let answer = server.client(&token[..token.len() - 1]).get("/admin/v1/organizations");
    assert!(text(&answer.json()["message"]).contains("mistyped"));
    assert_eq!(quote(&mut server.client(&token)).failure(401), "unauthenticated");
}

#[test]
fn keys_are_shown_once_listed_without_their_text_and_all_live_at_once() {
    let server = Start::sandbox().run();
    let (mut admin, path) = keys(&server);
    let issued: Vec<_> = (0..3).map(|_| admin.post(&path, &json!({"kind": "secret"})).data(201)).collect();
    for key in &issued {
        assert!(text(&key["key"]).starts_with("sk_test_"));
        quote(&mut server.client(&text(&key["key"]))).data(200);
    }
    let listed = admin.get(&path);
    for key in &issued {
        assert!(!String::from_utf8_lossy(&listed.body).contains(&text(&key["key"])));
        let items = listed.data(200)["items"].as_array().unwrap().clone();
        let found = items.iter().find(|item| item["id"] == key["id"]).unwrap();
        assert_eq!((&found["status"], &found["kind"]), (&json!("live"), &json!("secret")));
        assert!(text(&key["key"]).ends_with(&text(&found["lastFour"])));
    }
    assert_eq!(admin.post(&path, &json!({"kind": "other"})).faulty_fields(), ["kind"]);
    assert_eq!(admin.post(&path, &json!({})).faulty_fields(), ["kind"]);
}

#[test]
fn a_revoked_key_is_refused_at_once_and_stays_refused() {
    let server = Start::sandbox().run();
    let (mut admin, path) = keys(&server);
    let key = admin.post(&path, &json!({"kind": "secret"})).data(201);
    let mut client = server.client(&text(&key["key"]));
    quote(&mut client).data(200);
    let one = format!("{path}/{}", text(&key["id"]));
    let revoked = admin.delete(&one).data(200);
    assert_eq!(revoked["status"], "revoked");
    assert_eq!(quote(&mut client).failure(401), "unauthenticated");
    assert_eq!(admin.delete(&one).data(200)["revokedAt"], revoked["revokedAt"], "the first revocation stays");
    assert_eq!(admin.post(&format!("{one}/rotate"), &json!({})).failure(409), "key_not_live");
    for id in ["key_00000000000000000000000000", "nonsense", "env_00000000000000000000000000"] {
        assert_eq!(admin.delete(&format!("{path}/{id}")).failure(404), "not_found", "{id}");
    }
}

#[test]
fn a_rotated_key_lives_for_its_grace_and_not_longer() {
    let server = Start::sandbox().run();
    let (mut admin, path) = keys(&server);
    let old = admin.post(&path, &json!({"kind": "secret"})).data(201);
    let rotate = format!("{path}/{}/rotate", text(&old["id"]));
    assert_eq!(admin.post(&rotate, &json!({"graceSeconds": -1})).faulty_fields(), ["graceSeconds"]);
    let asked_at = Instant::now();
    let new = admin.post(&rotate, &json!({"graceSeconds": 1})).data(201);
    quote(&mut server.client(&text(&new["key"]))).data(200);
    let answer = quote(&mut server.client(&text(&old["key"])));
    if asked_at.elapsed() < Duration::from_secs(1) {
        answer.data(200);
    }
    assert_eq!(admin.post(&rotate, &json!({})).failure(409), "key_not_live", "a key is rotated once");
    std::thread::sleep(Duration::from_millis(1_100));
    let answer = quote(&mut server.client(&text(&old["key"])));
    assert_eq!(answer.failure(401), "unauthenticated");
    assert!(text(&answer.json()["message"]).contains("expired"));
    quote(&mut server.client(&text(&new["key"]))).data(200);
    let listed = admin.get(&path).data(200)["items"].as_array().unwrap().clone();
    let old_listed = listed.iter().find(|item| item["id"] == old["id"]).unwrap();
    assert_eq!((&old_listed["status"], &old_listed["replacedBy"]), (&json!("expired"), &new["id"]));
    let without_body = admin.send("POST", &format!("{path}/{}/rotate", text(&new["id"])), &[], b"");
    assert!(without_body.data(201)["key"].is_string());
}

#[test]
fn whoever_keeps_guessing_is_slowed_down_and_nobody_else() {
    let server = Start::sandbox().run();
    let mut guessing = server.client("sk_test_0000000000000000000000000000000000000000");
    // More are let through the longer it takes.
    let mut refused = 0;
    let limited = loop {
        let answer = quote(&mut guessing);
        if answer.status == 429 {
            break answer;
        }
        assert_eq!(answer.status, 401);
        refused += 1;
        assert!(refused < 20_000, "never limited");
    };
    assert!(refused >= 1_000, "{refused}");
    assert_eq!(limited.failure(429), "rate_limited");
    assert!(limited.headers["retry-after"].parse::<u64>().unwrap() >= 1);
    quote(&mut server.sandbox_client("secretKey")).data(200);
}

#[test]
fn an_environment_can_limit_each_keys_rate() {
    let server = Start::sandbox().run();
    let mut admin = server.sandbox_client("adminToken");
    let path = server.sandbox_path("/config");
    let mut config = admin.get(&path).data(200);
    config["settings"]["rateLimitPerSecond"] = json!(5);
    admin.put(&path, &config).data(200);
    let mut client = server.sandbox_client("secretKey");
    let began = std::time::Instant::now();
    let answers: Vec<_> = (0..400).map(|_| quote(&mut client)).collect();
    let passed = answers.iter().filter(|answer| answer.status == 200).count();
    let allowed = 10 + 5 * (began.elapsed().as_secs() + 1);
    assert!(passed >= 5 && passed as u64 <= allowed, "{passed} of {allowed}");
    let answer = answers.iter().find(|answer| answer.status == 429).expect("none was limited");
    assert_eq!(answer.failure(429), "rate_limited");
    assert_eq!(answer.headers["retry-after"], "1");
    let (mut admin, keys_path) = keys(&server);
    let other = admin.post(&keys_path, &json!({"kind": "secret"})).data(201);
    quote(&mut server.client(&text(&other["key"]))).data(200);
}
