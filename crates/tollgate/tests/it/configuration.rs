//! The configuration document through the admin API: whole or not at all, with its history.

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

use crate::support::{Client, Server, Start};

fn sandbox() -> (Server, Client, String) {
    let server = Start::sandbox().run();
    let admin = server.sandbox_client("adminToken");
    let path = server.sandbox_path("/config");
    (server, admin, path)
}

#[test]
fn what_is_read_can_be_sent_back_and_nothing_changes_but_the_version() {
    let (_server, mut admin, path) = sandbox();
    let first = admin.get(&path);
    assert_eq!(first.headers["etag"], "\"1\"");
    let document = first.data(200);
    assert_eq!(document["providers"]["card_provider_a"]["credentials"]["secretKey"], "********er_a");
    let put = admin.put(&path, &document);
    assert_eq!(put.headers["etag"], "\"2\"");
    assert_eq!(put.data(200)["version"], 2);
    assert_eq!(admin.get(&path).body, first.body);
}

#[test]
fn every_refusal_leaves_the_old_one_in_force_byte_for_byte() {
    let (server, mut admin, path) = sandbox();
    let before = admin.get(&path);
    let good = before.data(200);
    let change = |pointer: &str, value: Value| {
        let mut document = good.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        document.to_string()
    };
    let twice = good["fees"][0].clone();
    let refused = [
        change("/routing/web_card/default/provider", json!("nobody")),
        change("/fees", json!([twice, twice])),
        change("/fees/0/organization/capFeeMinor", json!("9")),
        change("/providers/card_provider_a/adapter", json!("paypal")),
        change("/routing/web_card/rules/0/conditions/0/op", json!("near")),
        change("/providers/card_provider_a/credentials/secretKey", json!("********zzzz")),
        change("/settings", json!({"surprise": 1})),
        "[]".to_owned(),
        "null".to_owned(),
        "{".to_owned(),
        r#"{"providers":{},"providers":{}}"#.to_owned(),
        String::new(),
    ];
    for body in refused {
        let answer = admin.send("PUT", &path, &[("content-type", "application/json")], body.as_bytes());
        assert_eq!(answer.failure(400), "invalid_body", "{body}");
        let after = admin.get(&path);
        assert_eq!((&after.body, &after.headers["etag"]), (&before.body, &before.headers["etag"]), "{body}");
    }
    assert_eq!(
        admin.send("PUT", &path, &[], good.to_string().as_bytes()).failure(415),
        "unsupported_media_type"
    );
    let quote = server
        .sandbox_client("secretKey")
        .post("/client/v1/fees/quote", &json!({"amountMinor": 1, "currency": "USD"}));
    assert_eq!(quote.data(200)["routing"]["provider"], "card_provider_a");
}

#[test]
fn all_faults_are_listed_in_one_answer() {
    let (_server, mut admin, path) = sandbox();
    let document = json!({
        "providers": {"a": {"adapter": "paypal"}, "b": {"adapter": "stripe", "credentials": {"password": "x"}}},
        "routing": {"web_card": {"default": {"provider": "c", "channel": "wire"}}, "cash": {}},
        "fees": [{"provider": "b", "paymentMethod": "web_card", "channel": "none", "currency": "ZZZ"}],
        "sundries": 1
    });
    let mut fields = admin.put(&path, &document).faulty_fields();
    fields.sort();
    assert_eq!(
        fields,
        [
            "fees[0].currency",
            "providers.a.adapter",
            "providers.b.credentials.password",
            "routing.cash",
            "routing.web_card.default.channel",
            "routing.web_card.default.provider",
            "sundries",
        ]
    );
}

#[test]
fn a_change_is_in_force_for_the_next_quote_and_kept_in_the_history() {
    let (server, mut admin, path) = sandbox();
    let mut client = server.sandbox_client("secretKey");
    let original = admin.get(&path).data(200);
    for fee in ["1", "2", "3"] {
        let mut document = original.clone();
        document["fees"][0]["platform"]["fixedFeeMinor"] = json!(fee);
        let actor = ("tollgate-actor", "Ada from finance");
        let body = document.to_string();
        admin.send("PUT", &path, &[actor, ("content-type", "application/json")], body.as_bytes()).data(200);
        let quote =
            client.post("/client/v1/fees/quote", &json!({"amountMinor": "1", "currency": "USD"})).data(200);
        assert_eq!(quote["platformFeeMinor"], json!(fee));
    }
    let history = admin.get(&format!("{path}/versions")).data(200);
    let versions: Vec<_> =
        history["items"].as_array().unwrap().iter().map(|item| item["version"].as_u64().unwrap()).collect();
    assert_eq!(versions, [4, 3, 2, 1]);
    let newest = &history["items"][0];
    assert_eq!(newest["changedBy"], "Ada from finance");
    assert!(newest["requestId"].as_str().unwrap().starts_with("req_"));
    assert!(newest["changedAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(history["items"][3]["changedBy"], "sandbox");
    let older = admin.get(&format!("{path}/versions?limit=2&before=4")).data(200);
    assert_eq!((&older["items"][0]["version"], &older["nextCursor"]), (&json!(3), &json!("2")));
    let second = admin.get(&format!("{path}/versions/2"));
    assert_eq!(second.data(200)["fees"][0]["platform"]["fixedFeeMinor"], "1");
    assert_eq!(admin.get(&format!("{path}/versions/1")).data(200), original);
    for version in ["5", "99", "x", "-1"] {
        assert_eq!(admin.get(&format!("{path}/versions/{version}")).failure(404), "not_found", "{version}");
    }
}

#[test]
fn a_change_can_be_made_conditional_on_the_version_that_was_read() {
    let (_server, mut admin, path) = sandbox();
    let document = admin.get(&path).data(200).to_string();
    let mut put = |tag: &str| {
        let headers = [("content-type", "application/json"), ("if-match", tag)];
        admin.send("PUT", &path, &headers, document.as_bytes())
    };
    assert_eq!(put("\"1\"").data(200)["version"], 2);
    assert_eq!(put("\"1\"").failure(409), "version_conflict");
    assert_eq!(put("nonsense").failure(400), "invalid_body");
    assert_eq!(put("*").data(200)["version"], 3);
}

#[test]
fn ten_thousand_rules_are_taken_and_still_decide_in_order() {
    let (server, mut admin, path) = sandbox();
    let mut document = admin.get(&path).data(200);
    let rules: Vec<_> = (0..10_000)
        .map(|number| {
            json!({"id": format!("rule_{number}"), "enabled": true,
                   "conditions": [{"id": "c", "field": "metadata.shop", "op": "eq", "value": format!("shop {}", number / 2)}],
                   "target": {"provider": "card_provider_b", "channel": "web_card"}})
        })
        .collect();
    document["routing"]["web_card"]["rules"] = json!(rules);
    admin.put(&path, &document).data(200);
    let mut client = server.sandbox_client("secretKey");
    let mut matched = |shop: &str| {
        let body = json!({"amountMinor": "1", "currency": "USD", "metadata": {"shop": shop}});
        client.post("/client/v1/fees/quote", &body).data(200)["routing"]["matchedRuleId"].clone()
    };
    assert_eq!(matched("shop 4999"), json!("rule_9998"));
    assert_eq!(matched("shop 0"), json!("rule_0"));
    assert_eq!(matched("shop 5000"), Value::Null);
}

#[test]
fn whatever_is_put_is_taken_whole_or_refused_whole() {
    let seed = std::env::var("TOLLGATE_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(rand::random);
    println!("replay with TOLLGATE_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let (_server, mut admin, path) = sandbox();
    // With secrets of its own, which every provider takes, so that no earlier round has taken away what a mask would keep.
    let mut original = admin.get(&path).data(200);
    for provider in original["providers"].as_object_mut().unwrap().values_mut() {
        for credential in provider["credentials"].as_object_mut().unwrap().values_mut() {
            *credential = json!("0123456789abcdef0123456789abcdef");
        }
    }
    let mut in_force = admin.get(&path).body;
    let (mut taken, mut refused) = (0, 0);
    for round in 0..1_500 {
        let mut document = original.clone();
        for _ in 0..random.random_range(1..=3) {
            disturb(&mut document, &mut random);
        }
        // From then on changes are only proposed, and this test has no second person to approve them.
        if document.pointer("/approvals/configuration") == Some(&json!(true)) {
            continue;
        }
        let answer = admin.put(&path, &document);
        if answer.status == 200 {
            taken += 1;
            in_force = admin.get(&path).body;
            let shown: Value = serde_json::from_slice::<Value>(&in_force).unwrap()["data"].clone();
            assert_eq!(
                admin.put(&path, &shown).status,
                200,
                "round {round}: what was shown is not taken back: {shown}"
            );
        } else {
            refused += 1;
            assert_eq!(answer.failure(400), "invalid_body", "round {round}: {document}");
        }
        assert_eq!(admin.get(&path).body, in_force, "round {round}: {document}");
    }
    assert!(
        taken > 50 && refused > 500,
        "{taken} taken, {refused} refused: the disturbances are not worth much"
    );
}

/// Replaces, removes or adds something at a random place.
fn disturb(value: &mut Value, random: &mut StdRng) {
    let deeper = random.random_bool(0.8);
    match value {
        Value::Object(map) if deeper && !map.is_empty() => {
            let place = random.random_range(0..map.len());
            let (_, inner) = map.iter_mut().nth(place).unwrap();
            disturb(inner, random);
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let place = random.random_range(0..items.len());
            disturb(&mut items[place], random);
        }
        Value::Object(map) if random.random_bool(0.5) => {
            let key = map.keys().nth(random.random_range(0..map.len().max(1))).cloned();
            match key {
                Some(key) if random.random_bool(0.7) => drop(map.remove(&key)),
                _ => drop(map.insert("surprise".to_owned(), json!(1))),
            }
        }
        Value::Array(items) if random.random_bool(0.5) => {
            let again = items.first().cloned().unwrap_or(Value::Null);
            items.push(again);
        }
        other => *other = odd_value(random),
    }
}

fn odd_value(random: &mut StdRng) -> Value {
    let odd = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!("x"),
        json!("ü\u{0}\n"),
        json!("x".repeat(5_000)),
        json!([]),
        json!([[[]]]),
        json!({}),
        json!({"a": {}}),
        json!("card_provider_a"),
        json!("web_card"),
        json!("none"),
        json!("eq"),
        json!("USD"),
        json!("********"),
        json!("1000000000000000000"),
        json!("metadata.x"),
        json!("exists"),
    ];
    odd[random.random_range(0..odd.len())].clone()
}
