//! Every event of every flow arrives, says what the API says, and is accepted by the published library.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{happen, subscribe, subscribe_to, telling, world};
use crate::support::{
    BankStore, BankWorld, DECLINED_CARD, Flow, On, Prepared, REFUSED_BANK, Receiver, StoreKind, Subscription,
    WAIT_TIMEOUT, Wire, World, on_both_stores, python, wait_until,
};

on_both_stores! {
    every_move_of_a_card_payment_is_told
    every_move_of_a_transfer_is_told
    the_published_library_accepts_what_is_sent
    an_endpoint_gets_what_it_asked_for
}

/// What was told is what happened, in its order.
#[track_caller]
fn check_told(world: &World, receiver: &Receiver, reference: &str) {
    let mut expected = vec!["payment.prepared".to_owned()];
    for status in world.shop.moves(reference) {
        if status == "refunded" {
            expected.push("refund.succeeded".to_owned());
        }
        expected.push(format!("transaction.{status}"));
    }
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    receiver.wait_told(reference, &expected);
}

fn every_move_of_a_card_payment_is_told(kind: StoreKind) {
    let world = world(kind);
    let receiver = Receiver::open();
    let subscription = subscribe(&world, &receiver);
    let shop = &world.shop;
    let mut payments: Vec<Prepared> = Vec::new();
    for (flow, wire) in Flow::BOTH.into_iter().flat_map(|flow| Wire::BOTH.map(|wire| (flow, wire))) {
        let paid = world.paid(flow, wire);
        let transaction = shop.read_transaction(&paid.reference).data(200);
        let id = transaction["providerReference"].as_str().unwrap();
        let place = match wire {
            Wire::Stripe => format!("stripe/payment_intents/{id}/refund"),
            Wire::Adyen => panic!("not played here"),
            Wire::Square => format!("square/payments/{id}/refund"),
        };
        world.simulator.drive(&place, &json!({}));
        shop.wait_status(&paid.reference, "refunded");
        payments.push(paid);
    }
    let declined = shop.prepare(Flow::Component, Wire::Square);
    shop.confirm(&declined.reference, &json!({"sourceId": "cnon:card-nonce-declined"})).data(200);
    shop.confirm(&declined.reference, &json!({"sourceId": "cnon:card-nonce-ok"})).data(200);
    payments.push(declined);
    let on_page = shop.prepare(Flow::Hosted, Wire::Stripe);
    world.simulator.submit(on_page.checkout_url(), DECLINED_CARD);
    shop.wait_status(&on_page.reference, "failed");
    payments.push(on_page);
    payments.push(shop.prepare(Flow::Hosted, Wire::Square));

    for prepared in &payments {
        check_told(&world, &receiver, &prepared.reference);
    }
    let last_of = |reference: &str| {
        let mut parcels = receiver.parcels();
        parcels.retain(|parcel| parcel.reference() == reference);
        parcels.sort_by(|one, other| one.id().cmp(other.id()));
        parcels
    };
    for prepared in &payments {
        let parcels = last_of(&prepared.reference);
        let first = parcels.first().unwrap().json();
        let mut read = shop.read_payment(&prepared.reference).data(200);
        let transaction = without_revision(read["transaction"].take());
        // As it was then.
        read["status"] = json!("prepared");
        assert_eq!(first["data"], json!({ "revision": first["data"]["revision"], "payment": read }));
        assert_eq!(first["timestamp"], read["preparedAt"]);
        if transaction.is_null() {
            continue;
        }
        let last = parcels.last().unwrap().json()["data"].take();
        assert_eq!(last["revision"], last["transaction"]["revision"]);
        assert_eq!(without_revision(last["transaction"].clone()), transaction);
        for parcel in &parcels[1..] {
            let told = parcel.json();
            let shown = &told["data"]["transaction"];
            if told["type"] == "refund.succeeded" {
                assert_eq!(shown["refundedMinor"], shown["totalDebitMinor"]);
            } else {
                assert_eq!(told["type"], format!("transaction.{}", shown["status"].as_str().unwrap()));
            }
            assert_eq!(
                (&told["timestamp"], &shown["createdAt"]),
                (&shown["updatedAt"], &transaction["createdAt"])
            );
            assert_eq!(shown["failure"].is_null(), shown["status"] != "failed", "{told:#}");
        }
    }
    for parcel in receiver.parcels() {
        assert!(parcel.is_signed_with(&subscription.secret));
        assert_eq!(parcel.path, "/events?from=tollgate");
        assert_eq!(parcel.headers["content-type"], "application/json");
        let text = String::from_utf8(parcel.body).unwrap();
        assert!(!text.contains("component\":{") && !text.contains("clientSecret"), "{text}");
    }
    // Nothing is told that did not happen: the operator's list has the same ids.
    let mut listed: Vec<_> = shop.listed("events").iter().map(super::id).collect();
    let mut came: Vec<_> = receiver.parcels().iter().map(|parcel| parcel.id().to_owned()).collect();
    listed.sort();
    came.sort();
    assert_eq!(came, listed);
}

/// It also rises with what a caller does not see.
fn without_revision(mut transaction: Value) -> Value {
    if let Some(fields) = transaction.as_object_mut() {
        fields.shift_remove("revision");
    }
    transaction
}

fn serve_bank(store: &BankStore) -> crate::support::Start {
    telling(store.serve_without_looks())
}

fn every_move_of_a_transfer_is_told(kind: StoreKind) {
    let on = match kind {
        StoreKind::Sqlite => On::Sqlite,
        StoreKind::Postgres => On::Postgres,
    };
    let world = BankWorld::start_with(on, serve_bank);
    let (desk, receiver) = (&world.desk, Receiver::open());
    let subscription = Subscription::create(&mut desk.admin(), &desk.path(""), &receiver.url("/"), &["*"]);
    let (settled, settled_id) = world.taken("a transfer that settles");
    world.simulator.simulate(&settled_id, "settle", &json!({}));
    desk.wait_status(&settled, "succeeded");
    let (returned, returned_id) = world.taken("a transfer that comes back");
    world.simulator.simulate(&returned_id, "settle", &json!({}));
    desk.wait_status(&returned, "succeeded");
    world.simulator.simulate(&returned_id, "return", &json!({"reason": "no_account"}));
    desk.wait_status(&returned, "failed");
    let mut refused = desk.body("a transfer that is refused", 10_000);
    refused["routingNumber"] = json!(REFUSED_BANK);
    assert_eq!(desk.transfer(&refused).failure(422), "provider_rejected");
    receiver.wait_told(&settled, &["transaction.pending", "transaction.processing", "transaction.succeeded"]);
    let all =
        ["transaction.pending", "transaction.processing", "transaction.succeeded", "transaction.failed"];
    receiver.wait_told(&returned, &all);
    let parcels = receiver.wait_count(9);
    let ids: std::collections::BTreeSet<_> = parcels.iter().map(super::super::support::Parcel::id).collect();
    assert_eq!(ids.len(), 9, "two of the refused transfer, and none twice");
    for reference in [&settled, &returned] {
        let mut told: Vec<_> =
            parcels.iter().filter(|parcel| parcel.reference() == **reference).cloned().collect();
        told.sort_by(|one, other| one.id().cmp(other.id()));
        let last = told.last().unwrap().json()["data"]["transaction"].clone();
        let mut read = desk.transaction(reference);
        read.as_object_mut().unwrap().remove("transfer");
        assert!(last["revision"].as_u64() <= read["revision"].as_u64(), "{last} {read}");
        assert_eq!(without_revision(last), without_revision(read));
        let first = told.first().unwrap().json()["data"]["transaction"].clone();
        assert_eq!((&first["status"], &first["providerReference"]), (&json!("pending"), &Value::Null));
    }
    for parcel in &parcels {
        assert!(parcel.is_signed_with(&subscription.secret));
        let text = String::from_utf8_lossy(&parcel.body);
        assert!(!text.contains("000123456789") && !text.contains("021000021"), "{text}");
    }
}

/// What the library says of each delivery.
fn judged(deliveries: &[Value]) -> Vec<bool> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/webhooks/verify.py");
    let mut command = Command::new(python("webhooks"));
    let mut child = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(json!(deliveries).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn the_published_library_accepts_what_is_sent(kind: StoreKind) {
    let world = world(kind);
    let receiver = Receiver::open();
    let subscription = subscribe(&world, &receiver);
    let order = json!({"amountMinor": "10000", "currency": "USD", "description": "Grüße ✓ \u{1f4b8}",
                       "metadata": {"wire": "square", "note": "\"quoted\" / \\ and é", "n": 9_007_199_254_740_993_u64}});
    world.shop.client().post(crate::support::COMPONENT, &order).data(201);
    world.paid(Flow::Component, Wire::Square);
    world.paid(Flow::Hosted, Wire::Stripe);
    wait_until("everything is delivered", WAIT_TIMEOUT, || {
        world.shop.listed("deliveries?state=waiting").is_empty()
    });
    let parcels = receiver.parcels();
    let delivery = |parcel: &crate::support::Parcel, secret: &str, body: String| json!({"secret": secret, "headers": parcel.headers, "body": body});
    let text = |parcel: &crate::support::Parcel| String::from_utf8(parcel.body.clone()).unwrap();
    let good: Vec<_> = parcels.iter().map(|it| delivery(it, &subscription.secret, text(it))).collect();
    assert!(good.len() >= 5, "{}", good.len());
    assert_eq!(judged(&good), vec![true; good.len()]);
    let other = subscribe(&world, &receiver).secret;
    let altered = |it: &crate::support::Parcel| text(it).replacen("10000", "10001", 1);
    let mut bad: Vec<_> = parcels.iter().map(|it| delivery(it, &subscription.secret, altered(it))).collect();
    bad.extend(parcels.iter().map(|it| delivery(it, &other, text(it))));
    assert_eq!(judged(&bad), vec![false; bad.len()]);
}

fn an_endpoint_gets_what_it_asked_for(kind: StoreKind) {
    let world = world(kind);
    let [all, some, one] = [(); 3].map(|()| Receiver::open());
    let subscriptions = [
        subscribe_to(&world, &all, &["*"]),
        subscribe_to(&world, &some, &["transaction.succeeded", "transaction.failed"]),
        subscribe_to(&world, &one, &["payment.prepared"]),
    ];
    assert_eq!(subscriptions[0].read(&mut world.shop.admin())["events"], json!(["*"]));
    let paid = world.paid(Flow::Component, Wire::Square).reference;
    check_told(&world, &all, &paid);
    some.wait_told(&paid, &["transaction.succeeded"]);
    one.wait_told(&paid, &["payment.prepared"]);
    // The same event has the same id and body wherever it goes, and each endpoint's own signature.
    let other = &one.parcels()[0];
    let same = all.parcels().into_iter().find(|parcel| parcel.id() == other.id()).unwrap();
    assert_eq!(same.body, other.body);
    for (place, receiver) in [&all, &some, &one].into_iter().enumerate() {
        for parcel in receiver.parcels() {
            for (number, subscription) in subscriptions.iter().enumerate() {
                assert_eq!(parcel.is_signed_with(&subscription.secret), number == place);
            }
        }
    }
    // What is changed counts for what happens from then on.
    subscriptions[2].change(&mut world.shop.admin(), &json!({"events": ["transaction.pending"]}));
    let count = one.count();
    let reference = happen(&world);
    all.wait_told(&reference, &["payment.prepared"]);
    assert_eq!(one.count(), count);
}
