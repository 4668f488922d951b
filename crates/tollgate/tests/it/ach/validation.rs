//! Every field of a transfer, rightly and wrongly.

use serde_json::{Value, json};

use crate::support::{BankWorld, Desk, On, SLOW_BANK, on_each_store};

const REQUIRED: [&str; 9] = [
    "accountName",
    "accountNumber",
    "amountMinor",
    "bankAccountType",
    "bankName",
    "currency",
    "customerToken",
    "idempotencyKey",
    "routingNumber",
];

fn long(count: usize) -> String {
    "x".repeat(count)
}

fn wrong_values(desk: &Desk) -> Vec<(&'static str, Vec<Value>)> {
    vec![
        (
            "idempotencyKey",
            vec![json!("1234567"), json!(long(161)), json!(12_345_678), json!("tab\tin the key")],
        ),
        (
            "amountMinor",
            ["0", "-1", "+1", "1.0", "1e3", "01", " 1", "", "1000000000000000001", "1_000", "ten"]
                .into_iter()
                .map(Value::from)
                .chain([
                    json!(0),
                    json!(-5),
                    json!(1.5),
                    json!(true),
                    json!({}),
                    json!(1_000_000_000_000_000_001_u64),
                ])
                .collect(),
        ),
        ("currency", vec![json!("EUR"), json!("US"), json!("USDX"), json!("XXX"), json!(840)]),
        ("customerToken", vec![json!(""), json!("x"), json!(5)]),
        (
            "routingNumber",
            // The last one has a wrong check digit.
            vec![
                json!("02100002"),
                json!("0210000210"),
                json!("02100002a"),
                json!(21_000_021),
                json!("021000022"),
            ],
        ),
        (
            "accountNumber",
            vec![
                json!("123"),
                json!("1".repeat(18)),
                json!("12 34"),
                json!("12-34"),
                json!(1234),
                json!("１２３４"),
            ],
        ),
        ("bankAccountType", vec![json!("Checking"), json!("loan"), json!(""), json!(1)]),
        ("bankName", vec![json!(""), json!(long(121)), json!("  "), json!(1), json!("a\u{0}b")]),
        ("accountName", vec![json!(""), json!(long(121)), json!("\n"), json!([])]),
        (
            "description",
            vec![json!(long(501)), json!(5), json!("a\u{0}b"), json!(format!("key {}", desk.secret))],
        ),
        (
            "metadata",
            vec![json!([]), json!("x"), json!({"big": long(17_000)}), json!({"deep": [desk.secret]})],
        ),
        ("recipientKind", vec![json!("company"), json!(""), json!(1)]),
        ("purpose", vec![json!("rent"), json!(""), json!({})]),
        ("statementDescriptor", vec![json!("elevenchars"), json!(""), json!(" "), json!("Café"), json!(1)]),
        (
            "remittanceData",
            vec![
                json!(long(1_001)),
                json!({"big": long(4_200)}),
                // As it would be sent, it is longer than what an ACH entry has room for.
                json!(long(81)),
                json!({"invoice": long(70)}),
                json!("paid \u{1f980}"),
                json!(5),
                json!([]),
                json!(format!("key {}", desk.secret)),
                json!({"deep": [{"key": desk.secret}]}),
            ],
        ),
    ]
}

fn every_field_is_checked(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    let mut all = desk.body("all wrong at once", 10_000);
    let mut names = Vec::new();
    for (field, wrong) in wrong_values(desk) {
        for value in wrong {
            let mut body = desk.body("wrong in one field", 10_000);
            body[field] = value.clone();
            let answer = desk.transfer(&body);
            assert_eq!(answer.faulty_fields(), [field], "{field} {value}");
            // What was sent as a bank's or an account's number is not sent back.
            let said = String::from_utf8(answer.body.clone()).unwrap();
            let text = value.as_str().unwrap_or_default();
            if field.ends_with("Number") && text.len() > 8 {
                assert!(!said.contains(text), "{said}");
            }
            all[field] = value;
        }
        names.push(field);
    }
    let mut faulty = desk.transfer(&all).faulty_fields();
    faulty.sort();
    names.sort_unstable();
    assert_eq!(faulty, names, "all faults at once");
    for field in REQUIRED {
        let mut body = desk.body("lacking one field", 10_000);
        body.as_object_mut().unwrap().remove(field);
        assert_eq!(desk.transfer(&body).faulty_fields(), [field], "{field} left out");
        body[field] = Value::Null;
        assert_eq!(desk.transfer(&body).faulty_fields(), [field], "{field} null");
    }
    let mut faulty = desk.transfer(&json!({})).faulty_fields();
    faulty.sort();
    assert_eq!(faulty, REQUIRED);
    for body in ["", "[]", "5", "{", "\"x\""] {
        let answer = desk.client().send(
            "POST",
            crate::support::TRANSFERS,
            &[("content-type", "application/json")],
            body.as_bytes(),
        );
        assert_eq!(answer.failure(400), "invalid_body", "{body}");
    }
    let answer =
        desk.client().send("POST", crate::support::TRANSFERS, &[("content-type", "text/plain")], b"{}");
    assert_eq!(answer.failure(415), "unsupported_media_type");
    assert_eq!(desk.listed("transactions"), Vec::<Value>::new());
    assert_eq!(desk.wallet().available, Desk::FUNDS);
    assert_eq!(world.simulator.calls("ach_transfers.create"), 0);
}

/// What cannot be given back as it came is not taken.
fn json_that_cannot_be_kept_is_refused_by_its_field(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    for field in ["remittanceData", "metadata"] {
        for (json, said) in [
            (r#"{"a":"\ud800"}"#, "invalid Unicode"),
            (r#"{"a":["x \udc00\ud800"]}"#, "invalid Unicode"),
            (r#"{"a":1,"b":2,"a":3}"#, "same key twice"),
            (r#"{"a":{"b":1,"\u0062":2}}"#, "same key twice"),
            (r#"{"a":1e400}"#, "out of range"),
            (r#"{"a":[-1e400]}"#, "out of range"),
        ] {
            let mut body = desk.body("kept as it came", 10_000);
            body[field] = json!("PLACE");
            let body = body.to_string().replace("\"PLACE\"", json);
            let answer = desk.client().send(
                "POST",
                crate::support::TRANSFERS,
                &[("content-type", "application/json")],
                body.as_bytes(),
            );
            assert_eq!(answer.faulty_fields(), [field], "{json}");
            let message = answer.json()["error"]["details"][0]["message"].as_str().unwrap().to_owned();
            assert!(message.contains(said), "{field} {json}: {message}");
        }
    }
    // The same in a text of its own.
    let mut body = desk.body("kept as it came", 10_000);
    body["remittanceData"] = json!("PLACE");
    let body = body.to_string().replace("PLACE", r"half \ud800 of a pair");
    let headers = [("content-type", "application/json")];
    let answer = desk.client().send("POST", crate::support::TRANSFERS, &headers, body.as_bytes());
    assert_eq!(answer.faulty_fields(), ["remittanceData"]);
    // What has two spellings is kept.
    let mut body = desk.body("kept as it came", 10_000);
    body["remittanceData"] = json!("PLACE");
    let body = body.to_string().replace("\"PLACE\"", r#"{"a":"\u00fc \u00e9","n":1.50}"#);
    let answer = desk.client().send("POST", crate::support::TRANSFERS, &headers, body.as_bytes());
    let reference = answer.data(201)["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    let text = String::from_utf8(desk.read(&reference).body).unwrap();
    assert!(text.contains(r#""remittanceData":{"a":"ü é","n":1.50}"#), "{text}");
}

fn the_longest_and_the_shortest_are_taken(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    for (number, (field, right)) in [
        ("idempotencyKey", json!("12345678")),
        ("idempotencyKey", json!("ü".repeat(160))),
        ("amountMinor", json!(1)),
        ("amountMinor", json!("9999999999")),
        ("currency", json!("usd")),
        ("routingNumber", json!(SLOW_BANK)),
        ("accountNumber", json!("1234")),
        ("accountNumber", json!("1".repeat(17))),
        ("bankAccountType", json!("savings")),
        ("bankName", json!("é".repeat(120))),
        ("accountName", json!(long(120))),
        ("accountName", json!("株式会社")),
        ("description", json!("ö".repeat(500))),
        ("description", json!("")),
        ("description", Value::Null),
        ("metadata", json!({"a": {"b": [1, 2.50, null, "é"]}})),
        ("remittanceData", json!("x".repeat(80))),
        ("remittanceData", json!({"invoice": "F-1", "lines": [1, 2, 3]})),
        ("unknownField", json!("ignored")),
    ]
    .into_iter()
    .enumerate()
    {
        let mut body = desk.body(&format!("right at the edge {number}"), 10_000);
        body[field] = right.clone();
        let data = desk.transfer(&body).data(201);
        assert_eq!(data["transaction"]["status"], "processing", "{field} {right}: {data:#}");
    }
    desk.assert_books(Desk::FUNDS);
}

on_each_store! {
    every_field_is_checked
    json_that_cannot_be_kept_is_refused_by_its_field
    the_longest_and_the_shortest_are_taken
}
