//! Who may do what: kinds of keys, tenants, methods, content types.

use serde_json::json;

use crate::support::{
    COMPONENT, Client, Flow, HOSTED, Prepared, Shop, StoreKind, Wire, World, on_both_stores,
};

on_both_stores! {
    either_key_prepares_and_only_a_secret_one_confirms_and_reads
    an_environment_can_demand_a_secret_key_for_preparations
    another_tenants_payment_looks_like_one_that_never_was
    paths_answer_their_own_methods_and_json_only
}

/// Every endpoint that has to do with card payments, as method and path.
fn endpoints(reference: &str) -> Vec<(&'static str, String)> {
    vec![
        ("POST", HOSTED.to_owned()),
        ("POST", COMPONENT.to_owned()),
        ("POST", Shop::confirm_path(reference)),
        ("GET", format!("{HOSTED}/{reference}")),
        ("GET", "/client/v1/transactions".to_owned()),
        ("GET", format!("/client/v1/transactions/{reference}")),
    ]
}

fn either_key_prepares_and_only_a_secret_one_confirms_and_reads(kind: StoreKind) {
    let world = World::start(kind);
    let shop = &world.shop;
    let json = [("content-type", "application/json")];
    let paid = world.paid(Flow::Component, Wire::Square);
    for flow in Flow::BOTH {
        for wire in Wire::BOTH {
            Prepared::of(&shop.browser().post(flow.path(), &Shop::order(wire)));
        }
    }
    for (method, path) in endpoints(&paid.reference).into_iter().skip(2) {
        let body = if method == "POST" { paid.confirm_body().to_string() } else { String::new() };
        let answer = shop.browser().send(method, &path, &json, body.as_bytes());
        assert_eq!(answer.failure(403), "secret_key_required", "{method} {path}");
        assert_eq!(shop.client().send(method, &path, &json, body.as_bytes()).status, 200, "{method} {path}");
    }
    let revoked = shop.admin().post(&shop.path("/keys"), &json!({"kind": "secret"}));
    let revoked = crate::support::Key::of(&revoked);
    shop.admin().delete(&shop.path(&format!("/keys/{}", revoked.id))).data(200);
    let body = Shop::order(Wire::Stripe).to_string();
    for credential in ["", "sk_test_nonsense", crate::support::ADMIN_TOKEN, revoked.key.as_str()] {
        for (method, path) in endpoints(&paid.reference) {
            let mut client = Client::new(shop.address(), credential);
            let sent = if method == "POST" { body.as_bytes() } else { b"" };
            let answer = client.send(method, &path, &json, sent);
            assert_eq!(answer.failure(401), "unauthenticated", "{method} {path}");
        }
    }
}

fn an_environment_can_demand_a_secret_key_for_preparations(kind: StoreKind) {
    let world = World::start(kind);
    let mut document = world.shop.document(world.simulator.address());
    document["settings"] = json!({"secretKeyForPreparation": true});
    world.shop.configure(&document);
    for flow in Flow::BOTH {
        let answer = world.shop.browser().post(flow.path(), &Shop::order(Wire::Stripe));
        assert_eq!(answer.failure(403), "secret_key_required");
        world.shop.prepare(flow, Wire::Stripe);
    }
}

/// Another organization's reference, one of this organization's other environment, one that never was, and one that is
/// no reference at all: nobody can tell them apart.
fn another_tenants_payment_looks_like_one_that_never_was(kind: StoreKind) {
    let world = World::start(kind);
    let (mine, theirs) = (&world.shop, world.another_shop());
    for wire in Wire::BOTH {
        let prepared = mine.prepare(Flow::Component, wire);
        let hosted = mine.prepare(Flow::Hosted, wire);
        let paid = world.paid(Flow::Component, wire);
        let references = [
            prepared.reference.clone(),
            hosted.reference.clone(),
            paid.reference.clone(),
            "pay_00000000000000000000000000".to_owned(),
            flipped(&paid.reference),
            "pay_short".to_owned(),
            "ach_00000000000000000000000000".to_owned(),
            "%70ay_x".to_owned(),
        ];
        for (method, path) in
            endpoints("REFERENCE").into_iter().filter(|(_, path)| path.contains("REFERENCE"))
        {
            let mut seen = Vec::new();
            for reference in &references {
                let path = path.replace("REFERENCE", reference);
                let body = if method == "POST" { prepared.confirm_body().to_string() } else { String::new() };
                let json = [("content-type", "application/json")];
                let answer = theirs.client().send(method, &path, &json, body.as_bytes());
                assert_eq!(answer.failure(404), "not_found", "{method} {path}");
                let mut headers = answer.headers.clone();
                headers.remove("request-id");
                headers.remove("date");
                let id = answer.json()["error"]["requestId"].as_str().unwrap().to_owned();
                let text = String::from_utf8(answer.body.clone()).unwrap().replace(&id, "ID");
                seen.push((text, headers));
            }
            assert!(seen.iter().all(|answer| *answer == seen[0]), "{method} {path}: {seen:#?}");
        }
        // What they tried changed nothing, and the right key still works.
        assert_eq!(world.simulator.truth(&prepared.reference).charged, 0);
        assert_eq!(mine.read_payment(&prepared.reference).data(200)["transaction"], json!(null));
        assert_eq!(mine.status(&paid.reference).as_deref(), Some("succeeded"));
    }
    assert_eq!(theirs.client().get("/client/v1/transactions").data(200)["items"], json!([]));
    assert_eq!(theirs.listed("payments").len() + theirs.listed("transactions").len(), 0);
}

/// A reference of the same form that belongs to nothing.
fn flipped(reference: &str) -> String {
    let (rest, last) = reference.split_at(reference.len() - 1);
    format!("{rest}{}", if last == "0" { "1" } else { "0" })
}

fn paths_answer_their_own_methods_and_json_only(kind: StoreKind) {
    let world = World::start(kind);
    let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
    let json = [("content-type", "application/json")];
    for (method, path, allowed) in [
        ("GET", HOSTED, "POST"),
        ("PUT", HOSTED, "POST"),
        ("DELETE", COMPONENT, "POST"),
        ("GET", &Shop::confirm_path(&prepared.reference), "POST"),
        ("POST", &format!("{HOSTED}/{}", prepared.reference), "GET"),
        ("POST", "/client/v1/transactions", "GET"),
        ("DELETE", &format!("/client/v1/transactions/{}", prepared.reference), "GET"),
        ("GET", &world.shop.webhook_path(Wire::Stripe), "POST"),
    ] {
        let answer = world.shop.client().send(method, path, &json, b"");
        assert_eq!(answer.failure(405), "method_not_allowed", "{method} {path}");
        assert_eq!(answer.headers.get("allow").map(String::as_str), Some(allowed), "{method} {path}");
    }
    let body = Shop::order(Wire::Stripe).to_string();
    for path in [HOSTED, COMPONENT, &Shop::confirm_path(&prepared.reference)] {
        for content_type in ["text/plain", "application/x-www-form-urlencoded", "text/json"] {
            let mut client = world.shop.client();
            let answer = client.send("POST", path, &[("content-type", content_type)], body.as_bytes());
            assert_eq!(answer.failure(415), "unsupported_media_type", "{path} {content_type}");
        }
        assert_eq!(
            world.shop.client().send("POST", path, &[], body.as_bytes()).failure(415),
            "unsupported_media_type"
        );
        let large = json!({"description": "x".repeat(70_000)}).to_string();
        let answer = world.shop.client().send("POST", path, &json, large.as_bytes());
        assert_eq!(answer.failure(413), "body_too_large", "{path}");
        for broken in ["", "[]", "{", "{\"amountMinor\":1,\"amountMinor\":2}", "\u{1}"] {
            let answer = world.shop.client().send("POST", path, &json, broken.as_bytes());
            assert_eq!(answer.failure(400), "invalid_body", "{path} {broken}");
        }
    }
    for path in ["/client/v1/payments/component/x", "/client/v1/payment", "/client/v1/payments/a/b"] {
        assert_eq!(world.shop.client().post(path, &json!({})).failure(404), "not_found", "{path}");
    }
}
