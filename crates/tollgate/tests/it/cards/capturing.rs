//! Authorize, capture, void: as callers and operators ask for it, on both providers and in every flow that can.

use serde_json::{Value, json};

use super::is_time;
use crate::support::{Answer, Flow, Prepared, Shop, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    what_is_authorized_is_captured_or_voided_once
    what_is_done_at_the_provider_is_recorded
}

fn held(world: &World, flow: Flow, wire: Wire) -> Prepared {
    let mut order = Shop::order(wire);
    order["capture"] = json!("manual");
    let prepared = Prepared::of(&world.shop.client().post(flow.path(), &order));
    match (flow, wire) {
        (Flow::Hosted, _) => world.simulator.pay_page(prepared.checkout_url()),
        (Flow::Component, Wire::Stripe) => world.simulator.pay_intent(prepared.component()),
        (Flow::Component, Wire::Square) => {
            world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
        }
        (Flow::Component, Wire::Adyen) => drop(world.simulator.pay_session(prepared.component())),
    }
    world.shop.wait_status(&prepared.reference, "authorized");
    prepared
}

fn act(world: &World, reference: &str, action: &str, body: &Value) -> Answer {
    world.shop.client().post(&format!("/client/v1/transactions/{reference}/{action}"), body)
}

fn kinds_of(world: &World, reference: &str) -> Vec<String> {
    let mut events = world.shop.listed(&format!("events?reference={reference}"));
    events.reverse();
    events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

fn what_is_authorized_is_captured_or_voided_once(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (flow, wire) in
        [(Flow::Hosted, Wire::Stripe), (Flow::Component, Wire::Stripe), (Flow::Component, Wire::Square)]
    {
        let prepared = held(&world, flow, wire);
        let reference = prepared.reference.as_str();
        let authorized = world.shop.read_transaction(reference).data(200);
        assert!(is_time(&authorized["captureBefore"]), "{authorized:#}");
        assert_eq!(authorized["authorized"]["totalDebitMinor"], authorized["totalDebitMinor"]);
        assert_eq!((&authorized["pendingAction"], &authorized["failure"]), (&Value::Null, &Value::Null));
        let refund =
            act(&world, reference, "refunds", &json!({"idempotencyKey": format!("early-{reference}")}));
        assert_eq!(refund.failure(409), "not_refundable");
        let too_much = json!({"idempotencyKey": format!("more-{reference}"), "amountMinor": "10001"});
        let too_much = act(&world, reference, "capture", &too_much);
        assert_eq!(too_much.failure(409), "not_capturable");
        assert_eq!(too_much.detailed_fields(), ["amountMinor"]);
        let key = format!("capture-{reference}");
        let body = json!({"idempotencyKey": key, "amountMinor": "4000"});
        let captured = act(&world, reference, "capture", &body).data(200);
        let transaction = &captured["transaction"];
        assert_eq!((&captured["replayed"], &transaction["status"]), (&json!(false), &json!("succeeded")));
        assert_eq!((&transaction["amountMinor"], &transaction["feeMinor"]), (&json!("4000"), &json!("171")));
        assert_eq!(transaction["authorized"], authorized["authorized"]);
        let truth = world.simulator.truth(reference);
        assert_eq!((truth.charged, truth.held, truth.taken, truth.refunded), (1, 0, 4_171, 0), "{truth:?}");
        let again = world.shop.client().post_with(
            ("idempotency-key", &key),
            &format!("/client/v1/transactions/{reference}/capture"),
            &json!({"amountMinor": "4000"}),
        );
        assert_eq!(again.headers["idempotent-replayed"], "true");
        let mut replayed = again.data(200);
        // The provider's webhooks about it may have come meanwhile.
        replayed["transaction"]["revision"] = transaction["revision"].clone();
        assert_eq!(replayed["transaction"], *transaction);
        let conflict = act(&world, reference, "capture", &json!({"idempotencyKey": key}));
        assert_eq!(conflict.failure(409), "idempotency_conflict");
        assert_eq!(conflict.detailed_fields(), ["amountMinor"]);
        let other = json!({"idempotencyKey": format!("other-{reference}")});
        assert_eq!(act(&world, reference, "capture", &other).failure(409), "not_capturable");
        assert_eq!(act(&world, reference, "void", &other).failure(409), "not_voidable");
        // What was captured is all that can go back.
        act(&world, reference, "refunds", &json!({"idempotencyKey": format!("all-{reference}")})).data(201);
        world.shop.wait_status(reference, "refunded");
        assert_eq!(world.simulator.truth(reference).refunded, 4_171);
        let kinds = kinds_of(&world, reference);
        assert_eq!(kinds[..3], ["payment.prepared", "transaction.authorized", "transaction.succeeded"]);

        let voided = held(&world, flow, wire);
        let reference = voided.reference.as_str();
        let path = world.shop.path(&format!("/transactions/{reference}/void"));
        let body = json!({"idempotencyKey": format!("void-{reference}")});
        let answer = world.shop.admin().post_with(("tollgate-actor", "Grace"), &path, &body).data(200);
        assert_eq!(answer["transaction"]["status"], "canceled");
        assert_eq!(world.shop.lines(reference, "hold_requested")[0]["detail"]["actor"], "Grace");
        let truth = world.simulator.truth(reference);
        assert_eq!((truth.charged, truth.held, truth.payable), (0, 0, 0), "{truth:?}");
        assert_eq!(kinds_of(&world, reference).last().unwrap(), "transaction.canceled");
        world.shop.wait_events(&world.simulator);
        let read = world.shop.read_payment(reference).data(200);
        assert_eq!(
            (&read["status"], &read["preparation"]["status"]),
            (&json!("canceled"), &json!("prepared"))
        );
    }
    let mut order = Shop::order(Wire::Square);
    order["capture"] = json!("manual");
    let refused = world.shop.client().post(Flow::Hosted.path(), &order);
    assert_eq!(
        (refused.failure(400), refused.detailed_fields()),
        ("invalid_body".to_owned(), vec!["capture".to_owned()])
    );
    order["capture"] = json!("later");
    assert_eq!(world.shop.client().post(Flow::Component.path(), &order).faulty_fields(), ["capture"]);
    let nobody = format!("/client/v1/transactions/pay_{}/capture", "0".repeat(26));
    let key = json!({"idempotencyKey": "capture-nobody"});
    assert_eq!(world.shop.client().post(&nobody, &key).failure(404), "not_found");
    assert_eq!(world.shop.browser().post(&nobody, &key).failure(403), "secret_key_required");
    assert_eq!(world.shop.listed("exceptions").len(), 0);
}

fn what_is_done_at_the_provider_is_recorded(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (wire, place, capture) in
        [(Wire::Stripe, "stripe/payment_intents", "capture"), (Wire::Square, "square/payments", "complete")]
    {
        for (action, body, status) in [
            (capture, json!({"amount": 700}), "succeeded"),
            ("cancel", json!({}), "canceled"),
            ("lapse", json!({}), "canceled"),
        ] {
            let prepared = held(&world, Flow::Component, wire);
            let reference = prepared.reference.as_str();
            let id = world.shop.read_transaction(reference).data(200)["providerReference"].clone();
            world.simulator.control("POST", &format!("{place}/{}/{action}", id.as_str().unwrap()), &body);
            world.shop.wait_status(reference, status);
            let transaction = world.shop.read_transaction(reference).data(200);
            let failure = transaction["failure"]["code"].as_str();
            assert_eq!(failure, (action == "lapse").then_some("authorization_expired"), "{wire:?} {action}");
            if status == "succeeded" {
                assert_eq!(transaction["totalDebitMinor"], "700");
            }
            let late = json!({"idempotencyKey": format!("late-{reference}")});
            assert_eq!(act(&world, reference, "capture", &late).failure(409), "not_capturable");
        }
    }
    world.shop.wait_events(&world.simulator);
    assert_eq!(world.shop.listed("exceptions").len(), 0);
}
