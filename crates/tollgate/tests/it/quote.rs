//! `POST /client/v1/fees/quote`: exact, explained, and the same numbers everywhere.

use serde_json::{Value, json};

use crate::support::{Client, Server, Start};

const PATH: &str = "/client/v1/fees/quote";

fn sandbox() -> (Server, Client) {
    let server = Start::sandbox().run();
    let client = server.sandbox_client("secretKey");
    (server, client)
}

#[test]
fn a_quote_has_every_field_in_its_place() {
    let (_server, mut client) = sandbox();
    let answer =
        client.post(PATH, &json!({"amountMinor": "12500", "currency": "usd", "paymentMethod": "web_card"}));
    assert_eq!(answer.headers["content-type"], "application/json");
    assert!(answer.headers["request-id"].starts_with("req_"));
    assert_eq!(
        answer.data(200),
        json!({
            "amountMinor": "12500",
            "currency": "USD",
            "platformFeeMinor": "393",
            "organizationFeeMinor": "63",
            "feeMinor": "456",
            "totalDebitMinor": "12956",
            "breakdown": {
                "version": 1,
                "provider": "card_provider_a",
                "paymentMethod": "web_card",
                "currency": "USD",
                "channel": "none",
                "layers": [
                    {"scope": "platform", "enabled": true, "fixedFeeMinor": "30", "percentFeeBps": 290,
                     "minimumFeeMinor": null, "capFeeMinor": null, "feeMinor": "393"},
                    {"scope": "organization", "enabled": true, "fixedFeeMinor": "0", "percentFeeBps": 50,
                     "minimumFeeMinor": "10", "capFeeMinor": "500", "feeMinor": "63"}
                ]
            },
            "routing": {
                "provider": "card_provider_a",
                "channel": "web_card",
                "matchedRuleId": null,
                "matchedConditionIds": [],
                "fallback": true
            }
        })
    );
    let matched = client
        .post(PATH, &json!({"amountMinor": 100_000, "currency": "USD", "flow": "hosted_checkout"}))
        .data(200);
    assert_eq!(
        matched["routing"],
        json!({"provider": "card_provider_b", "channel": "web_card", "matchedRuleId": "rule_large",
               "matchedConditionIds": ["cond_amount"], "fallback": false})
    );
    let ach = client
        .post(PATH, &json!({"amountMinor": "10000", "currency": "USD", "paymentMethod": "ach"}))
        .data(200);
    assert_eq!(ach["breakdown"]["channel"], "standard_ach");
    assert_eq!(ach["breakdown"]["paymentMethod"], "ach");
    assert_eq!((&ach["platformFeeMinor"], &ach["organizationFeeMinor"]), (&json!("25"), &json!("10")));
}

#[test]
fn large_amounts_survive_digit_by_digit_in_both_forms() {
    let (_server, mut client) = sandbox();
    for (amount, platform) in [
        ("9007199254740993", "234187180623281"),
        ("1000000000000000000", "26000000000000015"),
        ("999999999999999999", "26000000000000015"),
    ] {
        let as_text = format!(r#"{{"amountMinor":"{amount}","currency":"USD"}}"#);
        let as_number = format!(r#"{{"amountMinor":{amount},"currency":"USD"}}"#);
        for body in [as_text, as_number] {
            let answer = client.send("POST", PATH, &[("content-type", "application/json")], body.as_bytes());
            let data = answer.data(200);
            assert_eq!((&data["amountMinor"], &data["platformFeeMinor"]), (&json!(amount), &json!(platform)));
            let total = amount.parse::<u128>().unwrap() + platform.parse::<u128>().unwrap() + 500;
            assert_eq!(data["totalDebitMinor"], json!(total.to_string()));
        }
    }
}

#[test]
fn every_faulty_field_is_named_at_once() {
    let (_server, mut client) = sandbox();
    for (body, fields) in [
        (json!({}), vec!["amountMinor", "currency"]),
        (json!({"amountMinor": null, "currency": null}), vec!["amountMinor", "currency"]),
        (
            json!({"amountMinor": 0, "currency": "XXX", "paymentMethod": "cash", "flow": "x", "metadata": 5}),
            vec!["amountMinor", "paymentMethod", "currency", "flow", "metadata"],
        ),
        (json!({"amountMinor": "1", "currency": "EUR", "paymentMethod": "ach"}), vec!["currency"]),
        (
            json!({"amountMinor": "1", "currency": "USD", "paymentMethod": "ach", "flow": "hosted_checkout"}),
            vec!["flow"],
        ),
        (json!({"amountMinor": "1", "currency": "USD", "metadata": []}), vec!["metadata"]),
        (
            json!({"amountMinor": "1", "currency": "USD", "metadata": {"a": "x".repeat(17_000)}}),
            vec!["metadata"],
        ),
    ] {
        let answer = client.post(PATH, &body);
        assert_eq!(answer.faulty_fields(), fields, "{body}");
    }
    for amount in [
        json!(-1),
        json!("-1"),
        json!(1.0),
        json!(1.5),
        json!("1.0"),
        json!("1e3"),
        json!("+1"),
        json!(" 1"),
        json!("01"),
        json!(""),
        json!("1000000000000000001"),
        json!(true),
        json!([]),
        json!({}),
    ] {
        let answer = client.post(PATH, &json!({"amountMinor": amount, "currency": "USD"}));
        assert_eq!(answer.faulty_fields(), ["amountMinor"], "{amount}");
    }
    for currency in ["US", "USDT", "BGN", "ZZZ", "XTS", "$$$", ""] {
        let answer = client.post(PATH, &json!({"amountMinor": "1", "currency": currency}));
        assert_eq!(answer.faulty_fields(), ["currency"], "{currency}");
    }
}

#[test]
fn unknown_fields_are_ignored_and_defaults_hold() {
    let (server, mut client) = sandbox();
    server.ignore_unknown_fields();
    let plain = client.post(PATH, &json!({"amountMinor": "500", "currency": "USD"})).data(200);
    let spelled_out = json!({
        "amountMinor": 500, "currency": "usd", "paymentMethod": "web_card", "flow": "payment_component",
        "metadata": {}, "surprise": {"deep": [1, 2, 3]}
    });
    assert_eq!(client.post(PATH, &spelled_out).data(200), plain);
}

#[test]
fn routing_that_is_off_or_incomplete_is_409() {
    let (server, mut client) = sandbox();
    let mut admin = server.sandbox_client("adminToken");
    let path = server.sandbox_path("/config");
    let original = admin.get(&path).data(200);
    let mut off = original.clone();
    off["routing"]["web_card"]["enabled"] = json!(false);
    admin.put(&path, &off).data(200);
    let quote = json!({"amountMinor": "1", "currency": "USD"});
    assert_eq!(client.post(PATH, &quote).failure(409), "routing_unavailable");
    let mut incomplete = original.clone();
    incomplete["routing"]["web_card"]["default"] = Value::Null;
    admin.put(&path, &incomplete).data(200);
    assert_eq!(client.post(PATH, &quote).failure(409), "routing_unavailable");
    client.post(PATH, &json!({"amountMinor": "100000", "currency": "USD"})).data(200);
    admin.put(&path, &json!({})).data(200);
    assert_eq!(client.post(PATH, &quote).failure(409), "routing_unavailable");
}

#[test]
fn a_secret_key_in_the_metadata_is_refused_and_not_repeated() {
    let (server, mut client) = sandbox();
    let key = client.credential.clone();
    let answer =
        client.post(PATH, &json!({"amountMinor": "1", "currency": "USD", "metadata": {"note": key}}));
    assert_eq!(answer.faulty_fields(), ["metadata"]);
    assert!(!String::from_utf8_lossy(&answer.body).contains(&key));
    assert!(!server.log().contains(&key));
}

#[test]
fn an_explanation_shows_every_rule_condition_and_step() {
    let (server, _) = sandbox();
    let mut admin = server.sandbox_client("adminToken");
    let explain = server.sandbox_path("/explain");
    let data = admin.post(&explain, &json!({"amountMinor": "500", "currency": "USD"})).data(200);
    assert_eq!(data["configVersion"], 1);
    assert_eq!(
        data["rules"],
        json!([{"id": "rule_large", "outcome": "failed", "conditions": [
            {"id": "cond_amount", "field": "amountMinor", "op": "gte", "holds": false, "found": "500"}]},
            {"id": "rule_acquirer_c", "outcome": "failed", "conditions": [
            {"id": "cond_acquirer", "field": "metadata.acquirer", "op": "eq", "holds": false, "found": null}]}])
    );
    assert_eq!(
        data["feeSteps"][1],
        json!({"scope": "organization", "enabled": true, "fixedFeeMinor": "0", "percentPartMinor": "3",
               "beforeBoundsMinor": "3", "bound": "minimum", "feeMinor": "10"})
    );
    let quoted = server
        .sandbox_client("secretKey")
        .post(PATH, &json!({"amountMinor": "500", "currency": "USD"}))
        .data(200);
    assert_eq!(data["quote"], quoted);
    let matched = admin.post(&explain, &json!({"amountMinor": "100000", "currency": "USD"})).data(200);
    assert_eq!(matched["rules"][0]["outcome"], "matched");
}
