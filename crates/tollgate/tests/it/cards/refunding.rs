//! Refunds that a caller or an operator asks for, on both providers and in both flows.

use serde_json::{Value, json};

use crate::support::{Answer, Flow, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    a_refund_gives_back_principal_and_fee_and_repeats_its_answer
    what_cannot_be_refunded_is_refused_and_says_why
    a_refund_that_the_provider_refuses_is_recorded_as_failed
    an_operator_refunds_and_is_named
    events_of_refunds_carry_them
}

fn path(reference: &str) -> String {
    format!("/client/v1/transactions/{reference}/refunds")
}

fn refund(world: &World, reference: &str, body: &Value) -> Answer {
    world.shop.client().post(&path(reference), body)
}

fn a_refund_gives_back_principal_and_fee_and_repeats_its_answer(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (flow, wire) in Flow::BOTH.into_iter().flat_map(|flow| Wire::BOTH.map(|wire| (flow, wire))) {
        let prepared = world.paid(flow, wire);
        let reference = prepared.reference.as_str();
        // 100.00 and 3.75 of fees: a third of it is 1.25.
        let key = format!("refund-{reference}-1");
        let body = json!({"idempotencyKey": key, "amountMinor": "3333", "reason": "requested_by_customer",
            "description": "a third", "metadata": {"case": 7}});
        let made = refund(&world, reference, &body).data(201);
        let first = &made["refund"];
        assert_eq!(made["replayed"], false);
        let amounts =
            ["amountMinor", "feeMinor", "totalRefundMinor", "currency", "serviceReference", "origin"]
                .map(|field| first[field].as_str().unwrap());
        assert_eq!(amounts, ["3333", "125", "3458", "USD", reference, "api"], "{first:#}");
        assert!(matches!(first["status"].as_str(), Some("succeeded" | "processing")), "{first:#}");
        let again = refund(&world, reference, &body);
        assert_eq!(again.headers["idempotent-replayed"], "true");
        assert_eq!(again.data(200)["refund"]["refundReference"], first["refundReference"]);
        // The key may come in the header as well.
        let headed = json!({"amountMinor": "3333", "reason": "requested_by_customer",
            "description": "a third", "metadata": {"case": 7}});
        let again = world.shop.client().post_with(("idempotency-key", &key), &path(reference), &headed);
        assert_eq!(again.data(200)["refund"]["refundReference"], first["refundReference"]);

        let rest = refund(&world, reference, &json!({"idempotencyKey": format!("{key}-rest")})).data(201);
        assert_eq!(
            (&rest["refund"]["amountMinor"], &rest["refund"]["feeMinor"]),
            (&json!("6667"), &json!("250"))
        );
        world.shop.wait_status(reference, "refunded");
        assert_eq!(world.shop.read_transaction(reference).data(200)["refundedMinor"], "10375");
        let listed = world.shop.client().get(&path(reference)).data(200);
        assert_eq!(listed["items"].as_array().unwrap().len(), 2);
        assert_eq!(listed["nextCursor"], Value::Null);
        let id = first["refundReference"].as_str().unwrap();
        let read = world.shop.client().get(&format!("/client/v1/refunds/{id}")).data(200);
        assert_eq!((&read["status"], &read["metadata"]), (&json!("succeeded"), &json!({"case": 7})));
        assert_eq!(world.simulator.truth(reference).refunded, 10_375, "{flow:?} {wire:?}");
        world.shop.wait_events(&world.simulator);
        assert_eq!(world.shop.listed("exceptions").len(), 0);
    }
}

fn what_cannot_be_refunded_is_refused_and_says_why(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let prepared = world.paid(Flow::Component, Wire::Stripe);
    let reference = prepared.reference.as_str();
    let faulty = json!({"idempotencyKey": "short", "amountMinor": "1.5", "feeRefund": "half", "reason": "why",
        "description": 7, "metadata": []});
    assert_eq!(
        refund(&world, reference, &faulty).faulty_fields(),
        ["idempotencyKey", "amountMinor", "feeRefund", "reason", "description", "metadata"]
    );
    assert_eq!(refund(&world, reference, &json!({})).faulty_fields(), ["idempotencyKey"]);
    let too_much =
        refund(&world, reference, &json!({"idempotencyKey": "refund-too-much", "amountMinor": 10_001}));
    assert_eq!(too_much.failure(409), "refund_exceeds_remaining");
    assert_eq!(too_much.detailed_fields(), ["amountMinor", "feeMinor"]);
    let key = json!({"idempotencyKey": "refund-key-0001", "amountMinor": "100"});
    refund(&world, reference, &key).data(201);
    let other = json!({"idempotencyKey": "refund-key-0001", "amountMinor": "101", "reason": "other"});
    let conflict = refund(&world, reference, &other);
    assert_eq!(conflict.failure(409), "idempotency_conflict");
    assert_eq!(conflict.detailed_fields(), ["amountMinor", "reason"]);
    let another = world.paid(Flow::Component, Wire::Square);
    let elsewhere = refund(&world, &another.reference, &key);
    assert_eq!(elsewhere.failure(409), "idempotency_conflict");
    assert_eq!(elsewhere.detailed_fields(), ["serviceReference"]);

    let key = json!({"idempotencyKey": "refund-key-0002", "amountMinor": "100"});
    let unpaid = world.shop.prepare(Flow::Hosted, Wire::Stripe);
    let refused = refund(&world, &unpaid.reference, &key);
    assert_eq!(refused.failure(409), "not_refundable");
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("has not been paid"), "{message}");
    let transfer = format!("ach_{}", "0".repeat(26));
    assert_eq!(refund(&world, &transfer, &key).failure(409), "not_refundable");
    let nobody = format!("/client/v1/refunds/re_{}", "0".repeat(26));
    assert_eq!(world.shop.client().get(&nobody).failure(404), "not_found");
    assert_eq!(world.shop.browser().post(&path(reference), &key).failure(403), "secret_key_required");
}

fn a_refund_that_the_provider_refuses_is_recorded_as_failed(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for wire in Wire::BOTH {
        let prepared = world.paid(Flow::Component, wire);
        let reference = prepared.reference.as_str();
        world.simulator.fault(wire, "refunds.create", "refuse", 1, 0);
        let body = json!({"idempotencyKey": format!("refused-{reference}"), "amountMinor": "100"});
        let refused = refund(&world, reference, &body);
        assert_eq!(refused.failure(422), "provider_rejected", "{wire:?}");
        let again = refund(&world, reference, &body);
        assert_eq!(again.failure(422), "provider_rejected");
        assert_eq!(again.headers["idempotent-replayed"], "true");
        let listed = world.shop.client().get(&path(reference)).data(200);
        assert_eq!(listed["items"][0]["status"], "failed");
        assert!(!listed["items"][0]["failure"]["message"].is_null());
        assert_eq!(world.simulator.truth(reference).refunded, 0);
        // What failed is not missing from what is left.
        let all = json!({"idempotencyKey": format!("all-{reference}")});
        assert_eq!(refund(&world, reference, &all).data(201)["refund"]["totalRefundMinor"], "10375");
        world.shop.wait_status(reference, "refunded");
    }
}

fn an_operator_refunds_and_is_named(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let prepared = world.paid(Flow::Hosted, Wire::Stripe);
    let reference = prepared.reference.as_str();
    let path = world.shop.path(&format!("/transactions/{reference}/refunds"));
    let body = json!({"idempotencyKey": "operator-0001", "amountMinor": "500", "feeRefund": "none"});
    let made = world.shop.admin().post_with(("tollgate-actor", "Grace"), &path, &body).data(201);
    assert_eq!((&made["refund"]["origin"], &made["refund"]["feeMinor"]), (&json!("operator"), &json!("0")));
    let lines = world.shop.lines(reference, "refund_requested");
    assert_eq!(lines[0]["detail"]["actor"], "Grace");
    assert_eq!(world.shop.story(reference)["refunds"].as_array().unwrap().len(), 1);
}

fn events_of_refunds_carry_them(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let prepared = world.paid(Flow::Component, Wire::Stripe);
    let reference = prepared.reference.as_str();
    let made = refund(&world, reference, &json!({"idempotencyKey": "refund-events"})).data(201);
    world.shop.wait_status(reference, "refunded");
    let mut events = world.shop.listed(&format!("events?reference={reference}"));
    events.reverse();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let expected = [
        "payment.prepared",
        "transaction.succeeded",
        "refund.pending",
        "refund.succeeded",
        "transaction.refunded",
    ];
    assert_eq!(kinds, expected);
    for (place, status) in [(2, "pending"), (3, "succeeded")] {
        let path = world.shop.path(&format!("/events/{}", events[place]["id"].as_str().unwrap()));
        let body = &world.shop.admin().get(&path).data(200)["body"];
        let refund = &body["data"]["refund"];
        assert_eq!(
            (&refund["status"], &refund["refundReference"]),
            (&json!(status), &made["refund"]["refundReference"])
        );
        assert_eq!(body["data"]["transaction"]["serviceReference"], reference);
    }
}
