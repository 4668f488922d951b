//! Customer tokens: sealed, bound to their environment, and as long-lived as its settings say.

use std::{thread, time::Duration};

use rand::RngExt;
use serde_json::{Value, json};
use tollgate_vault::{MasterKey, Secret};

use crate::support::{Answer, BankWorld, Desk, MASTER_KEY, On, TOKENS, on_each_store, randomness, seed};

/// What is said of a customer token, after checking that nothing else is wrong.
#[track_caller]
fn said_of_token(answer: &Answer) -> String {
    assert_eq!(answer.faulty_fields(), ["customerToken"]);
    answer.json()["error"]["details"][0]["message"].as_str().unwrap().to_owned()
}

/// A transfer with this token.
fn with_token(desk: &Desk, key: &str, token: &str) -> Answer {
    let mut body = desk.body(key, 10_000);
    body["customerToken"] = json!(token);
    desk.transfer(&body)
}

fn settings(world: &BankWorld, settings: &Value) {
    let mut document = world.desk.document(world.simulator.address());
    document["settings"] = settings.clone();
    world.desk.configure(&document);
}

fn a_token_is_a_compact_jwe_without_an_end(on: On) {
    let world = BankWorld::start(on);
    let data = world.desk.client().post(TOKENS, &Desk::customer("customer-1")).data(201);
    assert_eq!(data["tokenType"], "JWE");
    assert_eq!(data["expiresAt"], Value::Null);
    assert_eq!(data.as_object().unwrap().len(), 3);
    let token = data["customerToken"].as_str().unwrap();
    // Header, no encrypted key (`dir`), nonce, ciphertext, tag.
    let parts: Vec<_> = token.split('.').collect();
    assert_eq!(
        parts.iter().map(|part| part.is_empty()).collect::<Vec<_>>(),
        [false, true, false, false, false]
    );
    assert!(!token.contains("ada") && !token.contains("customer-1"));
    assert_ne!(world.desk.new_token("customer-1"), token, "no two tokens are alike");
    // Only what is needed.
    let least = json!({"externalCustomerId": "c", "email": "a@b.example", "firstName": "A", "lastName": "B"});
    world.desk.client().post(TOKENS, &least).data(201);
}

fn tokens_open_only_where_they_were_made(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    let elsewhere = world.another_desk();
    let mut altered = desk.token.clone().into_bytes();
    let middle = altered.len() / 2;
    altered[middle] = if altered[middle] == b'A' { b'B' } else { b'A' };
    let altered = String::from_utf8(altered).unwrap();
    // Another environment of the same application.
    let application =
        desk.admin().get(&desk.path("")).data(200)["applicationId"].as_str().unwrap().to_owned();
    let made = desk
        .admin()
        .post(&format!("/admin/v1/applications/{application}/environments"), &json!({"name": "live"}))
        .data(201);
    let mut live = desk.clone();
    made["id"].as_str().unwrap().clone_into(&mut live.environment);
    let key = live.admin().post(&live.path("/keys"), &json!({"kind": "secret"})).data(201);
    key["key"].as_str().unwrap().clone_into(&mut live.secret);
    live.configure(&live.document(world.simulator.address()));
    live.fund(Desk::FUNDS, "opening");
    let live_token = live.new_token("customer-1");
    let messages: Vec<_> =
        [altered.as_str(), &elsewhere.token, &live_token, "a.b.c.d.e", "no token at all", ""]
            .into_iter()
            .map(|token| said_of_token(&with_token(desk, "with a token from elsewhere", token)))
            .collect();
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:#?}");
    // And each opens at home; the same key is another transfer there.
    let here = desk.made(&desk.body("the same key everywhere", 10_000));
    live.token = live_token;
    let there = live.made(&live.body("the same key everywhere", 10_000));
    let far = elsewhere.made(&elsewhere.body("the same key everywhere", 10_000));
    assert!(here != there && here != far && there != far);
    // Another environment's transfer looks like one that never was.
    assert_eq!(desk.read(&there).failure(404), "not_found");
    assert_eq!(live.read(&here).failure(404), "not_found");
}

fn tokens_end_when_their_settings_say(on: On) {
    let world = BankWorld::start(on);
    settings(&world, &json!({"customerTokenLifetimeSeconds": 1}));
    let data = world.desk.client().post(TOKENS, &Desk::customer("customer-1")).data(201);
    let ends = data["expiresAt"].as_str().unwrap();
    assert!(ends.ends_with('Z') && ends.len() == 24, "{ends}");
    let token = data["customerToken"].as_str().unwrap();
    thread::sleep(Duration::from_millis(1_100));
    let said = said_of_token(&with_token(&world.desk, "with a token of yesterday", token));
    assert!(said.contains("expired"), "{said}");
    // One without an end is not ended by the new setting.
    with_token(&world.desk, "with an old token", &world.desk.token).data(201);
}

fn keys_of_tokens_rotate(on: On) {
    let world = BankWorld::start(on);
    let first = world.desk.token.clone();
    settings(&world, &json!({"customerTokenKey": 2}));
    let second = world.desk.new_token("customer-1");
    assert_ne!(first.split('.').next(), second.split('.').next(), "the header names the key");
    for (number, token) in [&first, &second].into_iter().enumerate() {
        with_token(&world.desk, &format!("after rotation {number}"), token).data(201);
    }
    settings(&world, &json!({"customerTokenKey": 2, "customerTokenOldestKey": 2}));
    let retired = said_of_token(&with_token(&world.desk, "with a retired token", &first));
    assert_eq!(retired, said_of_token(&with_token(&world.desk, "with no token", "x.y.z")));
    with_token(&world.desk, "with a token in force", &second).data(201);
    // A generation that was never in force opens nothing.
    settings(&world, &json!({}));
    assert_eq!(said_of_token(&with_token(&world.desk, "from the future", &second)), retired);
}

fn a_customer_is_checked_field_by_field(on: On) {
    let world = BankWorld::start(on);
    let mut client = world.desk.client();
    let long = |count: usize| "x".repeat(count);
    for (field, wrong) in [
        ("externalCustomerId", vec![json!(""), json!(long(161)), json!(5), Value::Null, json!("  ")]),
        (
            "email",
            vec![
                json!("nobody"),
                json!("Ada <ada@example.com>"),
                json!(""),
                json!(format!("{}@example.com", long(250))),
                Value::Null,
            ],
        ),
        ("firstName", vec![json!(""), json!(long(81)), json!([]), Value::Null]),
        ("lastName", vec![json!(""), json!(long(81)), json!({}), Value::Null]),
        ("phone", vec![json!("call me"), json!("1".repeat(33)), json!(5), json!("+")]),
        (
            "metadata",
            vec![json!([]), json!("x"), json!({"big": long(17_000)}), json!({"key": world.desk.secret})],
        ),
    ] {
        for value in wrong {
            let mut body = Desk::customer("customer-1");
            body[field] = value.clone();
            assert_eq!(client.post(TOKENS, &body).faulty_fields(), [field], "{field} {value}");
        }
        if field != "phone" && field != "metadata" {
            let mut body = Desk::customer("customer-1");
            body.as_object_mut().unwrap().remove(field);
            assert_eq!(client.post(TOKENS, &body).faulty_fields(), [field], "{field} left out");
        }
    }
    let mut all = client.post(TOKENS, &json!({"phone": 1, "metadata": 1})).faulty_fields();
    all.sort();
    assert_eq!(all, ["email", "externalCustomerId", "firstName", "lastName", "metadata", "phone"]);
    for (field, right) in [
        ("externalCustomerId", json!(long(160))),
        ("firstName", json!("ß".repeat(80))),
        ("phone", json!("4155550100")),
        ("phone", json!("+14155550100")),
        ("metadata", json!({"nested": {"a": [1, 2.5, null]}})),
    ] {
        let mut body = Desk::customer("customer-1");
        body[field] = right;
        client.post(TOKENS, &body).data(201);
    }
}

/// Metadata of as many bytes as are allowed, of one kind of letter.
fn full_metadata(letter: &str) -> Value {
    let frame = json!({"a": ""}).to_string().len();
    let each = json!(letter).to_string().len() - 2;
    json!({"a": letter.repeat((16 * 1024 - frame) / each)})
}

/// A token of this customer, after checking that a transfer with it, and with everything else as large as it may be, is
/// made.
fn check_token_opens(desk: &Desk, number: usize, customer: &str) {
    let headers = [("content-type", "application/json")];
    let answer = desk.client().send("POST", TOKENS, &headers, customer.as_bytes());
    let data = answer.data(201);
    let mut body = desk.body(&format!("with a full token {number}"), 10_000);
    body["customerToken"] = data["customerToken"].clone();
    body["metadata"] = full_metadata("\"");
    body["remittanceData"] = json!({"a": "\\".repeat(36)});
    body["description"] = json!("😀".repeat(500));
    let length = body.to_string().len();
    assert!(
        length <= 64 * 1024,
        "{length} bytes with a token of {}",
        data["customerToken"].to_string().len()
    );
    desk.transfer(&body).data(201);
}

fn every_token_that_is_issued_opens(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    let mut number = 0;
    for letter in ["x", "\"", "\\", "\n", "\u{1}", "ß", "\u{2028}", "株", "😀", "\\\"/"] {
        let customer = json!({
            "externalCustomerId": "😀".repeat(160), "email": format!("{}@example.com", "a".repeat(60)),
            "firstName": "\"".repeat(80), "lastName": "株".repeat(80), "phone": "1".repeat(32),
            "metadata": full_metadata(letter),
        });
        number += 1;
        check_token_opens(desk, number, &customer.to_string());
        // The same, with every letter of the metadata written as an escape, which some writers of JSON do.
        let text = customer["metadata"]["a"].as_str().unwrap();
        let units = text.encode_utf16().take(9_000).map(|unit| format!("\\u{unit:04x}"));
        let escaped = units.collect::<Vec<_>>().concat();
        let mut customer = Desk::customer("escaped");
        customer["metadata"] = json!({"a": "PLACE"});
        let escaped = escaped.trim_end_matches("\\ud83d");
        number += 1;
        check_token_opens(desk, number, &customer.to_string().replace("PLACE", escaped));
    }
    // And whatever else is taken.
    let mut random = randomness(seed(), 1);
    for _ in 0..30 {
        let letters = ["\"", "\\", "a", "é", "😀", "\u{7}", "\t", "{", "]"];
        let mut metadata = serde_json::Map::new();
        for key in 0..random.random_range(1..40) {
            let text: String = (0..random.random_range(0..120))
                .map(|_| letters[random.random_range(0..letters.len())])
                .collect();
            metadata.insert(format!("{key}{}", letters[random.random_range(0..letters.len())]), json!(text));
        }
        let mut customer = Desk::customer("random");
        customer["metadata"] = metadata.into();
        number += 1;
        check_token_opens(desk, number, &customer.to_string());
    }
}

/// As an earlier version made them: the metadata as a text within the text.
fn a_token_of_an_earlier_version_still_opens(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    let organization = desk.admin().get(&desk.path("")).data(200)["organizationId"].clone();
    let metadata = full_metadata("\"").to_string();
    let content = json!({
        "v": 1, "org": organization, "env": desk.environment, "iat": 1_700_000_000_000_i64, "exp": null,
        "customer": {"externalCustomerId": "customer-1", "email": "ada@example.com", "firstName": "Ada",
                     "lastName": "Example", "phone": null, "metadata": metadata},
    });
    let master = MasterKey::from_setting(&Secret::new(MASTER_KEY)).unwrap();
    let token = master.token_key(&desk.environment, 1).seal(content.to_string().as_bytes()).unwrap();
    assert!(token.len() > 40_000, "{}", token.len());
    with_token(desk, "with a token of old", &token).data(201);
}

on_each_store! {
    every_token_that_is_issued_opens
    a_token_of_an_earlier_version_still_opens
    a_token_is_a_compact_jwe_without_an_end
    tokens_open_only_where_they_were_made
    tokens_end_when_their_settings_say
    keys_of_tokens_rotate
    a_customer_is_checked_field_by_field
}
