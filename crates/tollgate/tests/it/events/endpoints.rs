//! Endpoints as the operator manages them.

use std::time::Duration;

use serde_json::{Value, json};

use super::{happen, subscribe, wait_state, world};
use crate::support::{Client, Receiver, StoreKind, Subscription, WAIT_TIMEOUT, on_both_stores, wait_until};

on_both_stores! {
    an_endpoint_is_added_read_changed_and_removed
    every_faulty_field_is_named
    there_are_at_most_sixteen
    while_a_secret_is_rotated_both_sign
    a_disabled_endpoint_is_told_nothing
    environments_do_not_see_each_other
}

const JSON: (&str, &str) = ("content-type", "application/json");

fn patch(admin: &mut Client, path: &str, body: &Value) -> crate::support::Answer {
    admin.send("PATCH", path, &[JSON], body.to_string().as_bytes())
}

fn an_endpoint_is_added_read_changed_and_removed(kind: StoreKind) {
    let world = world(kind);
    let (mut admin, list) = (world.shop.admin(), world.shop.path("/event-endpoints"));
    let body = json!({"url": "https://SHOP.example/events", "events": ["transaction.failed", "payment.prepared"],
                      "description": "The shop's own"});
    let made = admin.post(&list, &body).data(201);
    let secret = made["secret"].as_str().unwrap();
    assert!(made["id"].as_str().unwrap().starts_with("ep_") && secret.starts_with("whsec_"), "{made:#}");
    let mut expected = json!({
        "id": made["id"], "url": "https://shop.example/events", "description": "The shop's own",
        "events": ["payment.prepared", "transaction.failed"], "enabled": true, "disabledReason": null,
        "failures": 0, "restsUntil": null, "oldSecretsUntil": [],
        "createdAt": made["createdAt"], "updatedAt": made["createdAt"],
    });
    let path = format!("{list}/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).data(200), expected, "the secret is not shown again");
    assert_eq!(admin.get(&list).data(200), json!({"items": [expected], "nextCursor": null}));
    let change =
        json!({"url": "http://127.0.0.1:9/x", "events": ["*"], "description": null, "enabled": false});
    let changed = patch(&mut admin, &path, &change).data(200);
    for (name, value) in [
        ("url", json!("http://127.0.0.1:9/x")),
        ("events", json!(["*"])),
        ("description", Value::Null),
        ("enabled", json!(false)),
        ("disabledReason", json!("disabled by admin")),
        ("updatedAt", changed["updatedAt"].clone()),
    ] {
        expected[name] = value;
    }
    assert_eq!(changed, expected);
    assert_eq!(
        patch(&mut admin, &path, &json!({})).data(200)["url"],
        "http://127.0.0.1:9/x",
        "nothing given, nothing changed"
    );
    assert_eq!(admin.delete(&path).data(200), json!({"removed": true}));
    assert_eq!(admin.delete(&path).failure(404), "not_found");
    assert_eq!(admin.get(&path).failure(404), "not_found");
    assert_eq!(admin.get(&list).data(200)["items"], json!([]));
    for what in ["added", "changed", "removed"] {
        // Answered first and logged by a thread of its own.
        wait_until(what, WAIT_TIMEOUT, || world.server.log().contains(&format!("event endpoint {what}")));
    }
}

fn every_faulty_field_is_named(kind: StoreKind) {
    let world = world(kind);
    let (mut admin, list) = (world.shop.admin(), world.shop.path("/event-endpoints"));
    let long = "a".repeat(501);
    let url = "https://shop.example/";
    for (body, faulty) in [
        (json!({}), vec!["url", "events"]),
        (json!({"url": 7, "events": "*"}), vec!["url", "events"]),
        (json!({"url": "shop.example", "events": []}), vec!["url", "events"]),
        (
            json!({"url": "https://me@shop.example/", "events": ["transaction.paid"], "description": long}),
            vec!["url", "events", "description"],
        ),
        (json!({"url": "https://shop.example/#here", "events": ["*", 1]}), vec!["url", "events"]),
        (json!({"url": "ftp://shop.example/", "events": ["*"]}), vec!["url"]),
        (json!({"url": format!("{url}{}", "a".repeat(2_000)), "events": ["*"]}), vec!["url"]),
        (json!({"url": url, "events": null}), vec!["events"]),
    ] {
        assert_eq!(admin.post(&list, &body).faulty_fields(), faulty, "{body}");
    }
    assert_eq!(admin.get(&list).data(200)["items"], json!([]));
    let made = Subscription::create(&mut admin, &world.shop.path(""), url, &["*"]);
    for (body, faulty) in [
        (json!({"url": "nowhere"}), vec!["url"]),
        (json!({"enabled": "yes", "events": [], "url": "http://"}), vec!["enabled", "url", "events"]),
    ] {
        assert_eq!(patch(&mut admin, &made.path, &body).faulty_fields(), faulty, "{body}");
    }
    let rotate = format!("{}/rotate-secret", made.path);
    assert_eq!(admin.post(&rotate, &json!({"graceSeconds": -1})).faulty_fields(), ["graceSeconds"]);
    let resend = world.shop.path("/events/resend");
    for (body, faulty) in [
        (json!({}), vec!["from"]),
        (
            json!({"from": "yesterday", "until": 5, "endpointId": "x", "parkedOnly": "no"}),
            vec!["endpointId", "from", "until", "parkedOnly"],
        ),
        (json!({"from": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}), vec!["until"]),
    ] {
        assert_eq!(admin.post(&resend, &body).faulty_fields(), faulty, "{body}");
    }
}

fn there_are_at_most_sixteen(kind: StoreKind) {
    let world = world(kind);
    let mut admin = world.shop.admin();
    let create = |admin: &mut Client| {
        let body = json!({"url": "https://shop.example/", "events": ["*"]});
        admin.post(&world.shop.path("/event-endpoints"), &body)
    };
    for _ in 0..16 {
        create(&mut admin).data(201);
    }
    assert_eq!(create(&mut admin).failure(409), "too_many_endpoints");
    let items = admin.get(&world.shop.path("/event-endpoints")).data(200);
    let items = items["items"].as_array().unwrap();
    assert_eq!(items.len(), 16);
    let first = items[0]["id"].as_str().unwrap();
    admin.delete(&world.shop.path(&format!("/event-endpoints/{first}"))).data(200);
    create(&mut admin).data(201);
}

fn while_a_secret_is_rotated_both_sign(kind: StoreKind) {
    let world = world(kind);
    let receiver = Receiver::open();
    let subscription = subscribe(&world, &receiver);
    let mut admin = world.shop.admin();
    let rotate = format!("{}/rotate-secret", subscription.path);
    let rotated = admin.post(&rotate, &json!({})).data(201);
    let second = rotated["secret"].as_str().unwrap().to_owned();
    assert_ne!(second, subscription.secret);
    assert_eq!(rotated["oldSecretsUntil"].as_array().unwrap().len(), 1, "a day, unless told otherwise");
    happen(&world);
    let parcel = receiver.wait_count(1)[0].clone();
    assert_eq!(parcel.signatures().count(), 2);
    assert!(parcel.is_signed_with(&second) && parcel.is_signed_with(&subscription.secret));
    // A shorter grace also shortens the one before.
    let rotated = admin.post(&rotate, &json!({"graceSeconds": 1})).data(201);
    let third = rotated["secret"].as_str().unwrap().to_owned();
    happen(&world);
    let parcel = receiver.wait_count(2)[1].clone();
    assert!(parcel.is_signed_with(&third));
    std::thread::sleep(Duration::from_millis(1_200));
    happen(&world);
    let parcel = receiver.wait_count(3)[2].clone();
    assert_eq!(parcel.signatures().count(), 1);
    assert!(parcel.is_signed_with(&third) && !parcel.is_signed_with(&second));
    let rotated = admin.post(&rotate, &json!({"graceSeconds": 0})).data(201);
    assert_eq!(rotated["oldSecretsUntil"], json!([]));
    happen(&world);
    let parcel = receiver.wait_count(4)[3].clone();
    assert!(parcel.is_signed_with(rotated["secret"].as_str().unwrap()) && !parcel.is_signed_with(&third));
}

fn a_disabled_endpoint_is_told_nothing(kind: StoreKind) {
    let world = world(kind);
    let receiver = Receiver::answering(|_| crate::support::Reply::status(500));
    let subscription = subscribe(&world, &receiver);
    let mut admin = world.shop.admin();
    let reference = happen(&world);
    receiver.wait_count(1);
    subscription.change(&mut admin, &json!({"enabled": false}));
    let parked = wait_state(&world, &reference, "parked");
    let event = parked["eventId"].as_str().unwrap().to_owned();
    let resend = world.shop.path(&format!("/events/{event}/resend"));
    let to_it = json!({"endpointId": subscription.id});
    assert_eq!(admin.post(&resend, &to_it).failure(409), "endpoint_disabled");
    assert_eq!(admin.post(&resend, &json!({})).data(200)["deliveries"], 0);
    let second = happen(&world);
    std::thread::sleep(Duration::from_millis(300));
    // What was under way when it was disabled may still have come.
    assert!(receiver.parcels().iter().all(|parcel| parcel.reference() != second), "it was told of {second}");
    receiver.answer(|_| crate::support::Reply::status(200));
    subscription.change(&mut admin, &json!({"enabled": true}));
    assert_eq!(admin.post(&resend, &to_it).data(200)["deliveries"], 1);
    wait_state(&world, &reference, "delivered");
}

fn environments_do_not_see_each_other(kind: StoreKind) {
    let world = world(kind);
    let (ours, theirs) = (Receiver::open(), Receiver::open());
    let other = world.another_shop();
    let mut admin = world.shop.admin();
    let our_endpoint = subscribe(&world, &ours);
    let their_endpoint = Subscription::create(&mut admin, &other.path(""), &theirs.url("/"), &["*"]);
    let reference = happen(&world);
    ours.wait_told(&reference, &["payment.prepared"]);
    let event = super::sole_event(&world, &reference);
    let event = event["id"].as_str().unwrap();
    for path in [
        format!("/event-endpoints/{}", our_endpoint.id),
        format!("/events/{event}"),
        "/event-endpoints/nonsense".to_owned(),
        "/events/nonsense".to_owned(),
    ] {
        assert_eq!(admin.get(&other.path(&path)).failure(404), "not_found", "{path}");
    }
    let strange = other.path(&format!("/event-endpoints/{}", our_endpoint.id));
    assert_eq!(admin.delete(&strange).failure(404), "not_found");
    assert_eq!(patch(&mut admin, &strange, &json!({"enabled": false})).failure(404), "not_found");
    assert_eq!(admin.post(&format!("{strange}/rotate-secret"), &json!({})).failure(404), "not_found");
    let resend = format!("/events/{event}/resend");
    assert_eq!(admin.post(&other.path(&resend), &json!({})).failure(404), "not_found");
    let to_them = json!({"endpointId": their_endpoint.id});
    assert_eq!(admin.post(&world.shop.path(&resend), &to_them).failure(404), "not_found");
    assert_eq!(other.listed("events"), Vec::<Value>::new());
    assert_eq!(other.listed("deliveries"), Vec::<Value>::new());
    assert_eq!(other.listed(&format!("deliveries?eventId={event}")), Vec::<Value>::new());
    // Neither an API key nor nobody at all may look.
    for credential in ["", world.shop.secret.as_str()] {
        let mut client = Client::new(world.shop.address(), credential);
        for path in ["/event-endpoints", "/events", "/deliveries"] {
            assert_eq!(client.get(&world.shop.path(path)).failure(401), "unauthenticated");
        }
    }
    let unknown = "/admin/v1/environments/env_01jz0000000000000000000000/event-endpoints";
    assert_eq!(admin.get(unknown).failure(404), "not_found");
    assert_eq!(theirs.count(), 0);
}
