//! Preparations under an idempotency key: made once, whoever asks how often.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Answer, Flow, Shop, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    a_key_prepares_one_payment
    many_at_once_prepare_one_payment
    a_key_that_was_answered_with_trouble_prepares_anew
}

fn path(flow: Flow) -> &'static str {
    match flow {
        Flow::Hosted => "/client/v1/payments",
        Flow::Component => "/client/v1/payments/component",
    }
}

fn prepare(shop: &Shop, flow: Flow, key: &str, order: &Value) -> Answer {
    shop.client().post_with(("idempotency-key", key), path(flow), order)
}

fn a_key_prepares_one_payment(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (flow, wire) in Flow::BOTH.into_iter().flat_map(|flow| Wire::BOTH.map(|wire| (flow, wire))) {
        let (mut order, key) = (Shop::order(wire), format!("prepare-{flow:?}-{wire:?}"));
        order["payer"] = json!({"country": "US", "state": "GA"});
        let first = prepare(&world.shop, flow, &key, &order).data(201);
        let again = prepare(&world.shop, flow, &key, &order);
        assert_eq!(again.headers["idempotent-replayed"], "true");
        assert_eq!(again.data(200), first, "the first answer again, {flow:?} {wire:?}");
        let mut other = order.clone();
        other["amountMinor"] = json!("10001");
        other["customer"] = json!({"name": "Grace"});
        other["payer"]["state"] = json!("CO");
        other["recurring"] = json!(true);
        let conflict = prepare(&world.shop, flow, &key, &other);
        assert_eq!(conflict.failure(409), "idempotency_conflict");
        assert_eq!(conflict.detailed_fields(), ["amountMinor", "customer.name", "payer", "recurring"]);
        assert_eq!(world.simulator.truth(first["serviceReference"].as_str().unwrap()).charged, 0);
    }
    assert_eq!(world.shop.listed("payments").len(), 4);
    for key in ["short", &"k".repeat(161), "with space"] {
        let faulty = prepare(&world.shop, Flow::Hosted, key, &Shop::order(Wire::Stripe));
        assert_eq!(faulty.faulty_fields(), ["idempotency-key"], "{key}");
    }
    // Another environment's key is another key.
    let other = Shop::open(&world.server, &world.simulator);
    let elsewhere = prepare(&other, Flow::Hosted, "prepare-Hosted-Stripe", &Shop::order(Wire::Stripe));
    elsewhere.data(201);
}

fn many_at_once_prepare_one_payment(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (flow, wire) in Flow::BOTH.into_iter().flat_map(|flow| Wire::BOTH.map(|wire| (flow, wire))) {
        let (order, key) = (Shop::order(wire), format!("at-once-{flow:?}-{wire:?}"));
        let answers: Vec<Answer> = thread::scope(|scope| {
            let asking: Vec<_> =
                (0..12).map(|_| scope.spawn(|| prepare(&world.shop, flow, &key, &order))).collect();
            asking.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let made = answers.iter().filter(|answer| answer.status == 201).count();
        assert_eq!(made, 1, "{flow:?} {wire:?}");
        let mut references: Vec<_> = answers
            .iter()
            .map(|answer| answer.data(answer.status)["serviceReference"].as_str().unwrap().to_owned())
            .collect();
        references.dedup();
        assert_eq!(references.len(), 1, "{flow:?} {wire:?}");
    }
    assert_eq!(world.shop.listed("payments").len(), 4);
}

fn a_key_that_was_answered_with_trouble_prepares_anew(kind: StoreKind) {
    let world = World::start(kind);
    let order = Shop::order(Wire::Stripe);
    world.simulator.fault(Wire::Stripe, "checkout.sessions.create", "error_before", 100, 0);
    let trouble = prepare(&world.shop, Flow::Hosted, "trouble-0001", &order);
    assert_eq!(trouble.failure(503), "provider_unavailable");
    // The reference that the failure names can be read, while it is being withdrawn and afterwards.
    let first = trouble.json()["error"]["serviceReference"].as_str().unwrap().to_owned();
    assert_eq!(world.shop.read_payment(&first).data(200)["status"], "preparing");
    world.simulator.clear_faults();
    world.shop.wait_preparation(&first, "withdrawn");
    let read = world.shop.read_payment(&first).data(200);
    assert_eq!((&read["status"], &read["preparation"]["status"]), (&json!("withdrawn"), &json!("withdrawn")));
    assert_eq!(world.shop.read_transaction(&first).failure(404), "not_paid_yet");
    let made = prepare(&world.shop, Flow::Hosted, "trouble-0001", &order).data(201);
    assert_ne!(made["serviceReference"], first.as_str());
    // What the provider refuses for good stays refused.
    world.simulator.fault(Wire::Stripe, "checkout.sessions.create", "refuse", 1, 0);
    let refused = prepare(&world.shop, Flow::Hosted, "refused-0001", &order);
    assert_eq!(refused.failure(422), "provider_rejected");
    let again = prepare(&world.shop, Flow::Hosted, "refused-0001", &order);
    assert_eq!(again.failure(422), "provider_rejected");
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert_eq!(again.json()["message"], refused.json()["message"]);
}
