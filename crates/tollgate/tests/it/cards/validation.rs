//! Faulty preparations: every fault of a body is named at once, and nothing is recorded.

use serde_json::{Value, json};

use crate::support::{BankWorld, Flow, On, Shop, StoreKind, World, on_both_stores};

on_both_stores! {
    a_bank_transfer_is_not_confirmed
    every_faulty_field_is_named_at_once
    each_rule_has_its_edge_where_the_contract_says
}

fn every_faulty_field_is_named_at_once(kind: StoreKind) {
    let world = World::start(kind);
    let body = json!({
        "amountMinor": "0", "currency": "XXXX", "paymentMethod": "ach", "description": "x".repeat(501),
        "customer": {"name": "n".repeat(161), "email": "nobody"}, "metadata": [],
        "successUrl": "http://shop.example/", "cancelUrl": "javascript:alert(1)",
    });
    let common = [
        "amountMinor",
        "paymentMethod",
        "currency",
        "description",
        "customer.name",
        "customer.email",
        "metadata",
    ];
    let component = world.shop.client().post(Flow::Component.path(), &body);
    assert_eq!(component.faulty_fields(), common);
    let hosted = world.shop.client().post(Flow::Hosted.path(), &body);
    let urls = ["successUrl", "cancelUrl"];
    assert_eq!(hosted.faulty_fields(), common.into_iter().chain(urls).collect::<Vec<_>>());
    for detail in hosted.json()["error"]["details"].as_array().unwrap() {
        assert!(detail["message"].as_str().is_some_and(|message| !message.is_empty()), "{detail}");
    }
    assert_eq!(
        world.shop.client().post(Flow::Hosted.path(), &json!({})).faulty_fields(),
        ["amountMinor", "currency"]
    );
    assert_eq!(world.shop.listed("payments").len(), 0, "nothing was recorded");
    assert_eq!(world.simulator.state()["calls"], json!({}), "and nobody was asked");
}

fn each_rule_has_its_edge_where_the_contract_says(kind: StoreKind) {
    let world = World::start(kind);
    let mut client = world.shop.client();
    let mut check = |change: Value, field: Option<&str>| {
        let mut body = json!({"amountMinor": "500", "currency": "USD"});
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        let answer = client.post(Flow::Hosted.path(), &body);
        match field {
            None => drop(answer.data(201)),
            Some(field) => assert_eq!(answer.faulty_fields(), [field], "{change}"),
        }
    };
    // An emoji is one character of four bytes.
    check(json!({"description": "\u{1f370}".repeat(500)}), None);
    check(json!({"description": "\u{1f370}".repeat(501)}), Some("description"));
    check(json!({"description": "two\nlines\t"}), None);
    check(json!({"description": "a\u{0}b"}), Some("description"));
    check(json!({"description": 5}), Some("description"));
    check(json!({"description": null, "customer": null, "metadata": null, "paymentMethod": null}), None);
    check(json!({"customer": {"name": "\u{e9}".repeat(160)}}), None);
    check(json!({"customer": {"name": "\u{e9}".repeat(161)}}), Some("customer.name"));
    check(json!({"customer": {}}), None);
    check(json!({"customer": "Jo"}), Some("customer"));
    check(json!({"customer": {"email": "jo@shop.example"}}), None);
    let local = "l".repeat(64);
    let domain = format!("{}.{}.{}.example", "d".repeat(60), "e".repeat(60), "f".repeat(59));
    let longest = format!("{local}@{domain}");
    assert_eq!(longest.len(), 254);
    check(json!({"customer": {"email": longest}}), None);
    check(json!({"customer": {"email": format!("{local}@d{domain}")}}), Some("customer.email"));
    check(json!({"customer": {"email": "jo shop@shop.example"}}), Some("customer.email"));
    let filled = |bytes: usize| json!({"metadata": {"k": "v".repeat(bytes - r#"{"k":""}"#.len())}});
    check(filled(16 * 1024), None);
    check(filled(16 * 1024 + 1), Some("metadata"));
    check(json!({"metadata": {"note": world.shop.secret}}), Some("metadata"));
    check(json!({"successUrl": format!("https://shop.example/{}", "x".repeat(1_979))}), None);
    check(json!({"successUrl": format!("https://shop.example/{}", "x".repeat(1_980))}), Some("successUrl"));
    check(json!({"cancelUrl": "https://user@shop.example/"}), Some("cancelUrl"));
    check(json!({"cancelUrl": 1}), Some("cancelUrl"));
    check(json!({"paymentMethod": "web_card"}), None);
    check(json!({"paymentMethod": "card"}), Some("paymentMethod"));
    for amount in [json!(0), json!(-1), json!("1.0"), json!("01"), json!(" 1"), json!("1e3"), json!(true)] {
        check(json!({"amountMinor": amount}), Some("amountMinor"));
    }
    check(json!({"currency": "usd", "amountMinor": 500}), None);
    check(json!({"currency": "ZZZ"}), Some("currency"));
}

fn a_bank_transfer_is_not_confirmed(kind: StoreKind) {
    let on = match kind {
        StoreKind::Sqlite => On::Sqlite,
        StoreKind::Postgres => On::Postgres,
    };
    let world = BankWorld::start_without_looks(on);
    let (reference, _) = world.taken("a transfer that is no card payment");
    let confirm = |reference: &str| {
        world.desk.client().post(&Shop::confirm_path(reference), &json!({"sourceId": "cnon:card-nonce-ok"}))
    };
    let answer = confirm(&reference);
    assert_eq!(answer.failure(409), "payment_not_confirmable");
    // One that is not there, or not here, is not found.
    let nothing = format!("{}{}", &reference[..reference.len() - 4], "0000");
    assert_eq!(confirm(&nothing).failure(404), "not_found");
    let elsewhere = world.another_desk();
    let answer = elsewhere.client().post(&Shop::confirm_path(&reference), &json!({"sourceId": "x"}));
    assert_eq!(answer.failure(404), "not_found");
}
