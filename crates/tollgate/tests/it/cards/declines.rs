//! Cards that do not go through, and customers who try again; bodies of the wrong shape.

use serde_json::{Value, json};

use crate::support::{DECLINED_CARD, Flow, GOOD_CARD, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    a_declined_token_is_a_failed_transaction_and_another_may_be_tried
    a_declined_element_is_a_failed_transaction_and_another_card_may_be_tried
    a_declined_page_is_a_failed_transaction_and_the_customer_may_try_again
    the_wrong_shape_of_confirm_names_the_field
    after_thirty_cards_a_payment_takes_no_more
}

/// Tokens the provider declines, and our code for each.
const DECLINED_TOKENS: [(&str, &str); 6] = [
    ("cnon:card-nonce-declined", "card_declined"),
    ("cnon:card-nonce-insufficient-funds", "insufficient_funds"),
    ("cnon:card-nonce-rejected-cvv", "incorrect_cvc"),
    ("cnon:card-nonce-rejected-expiration", "invalid_expiry"),
    ("cnon:card-nonce-already-used", "card_token_used"),
    ("cnon:nobody-has-heard-of-it", "invalid_card"),
];

fn a_declined_token_is_a_failed_transaction_and_another_may_be_tried(kind: StoreKind) {
    let world = World::start(kind);
    let prepared = world.shop.prepare(Flow::Component, Wire::Square);
    let reference = prepared.reference.as_str();
    for (token, code) in DECLINED_TOKENS {
        let answer = world.shop.confirm(reference, &json!({"sourceId": token}));
        assert!(!answer.headers.contains_key("idempotent-replayed"), "{token}");
        let mut data = answer.data(200);
        let transaction = &mut data["transaction"];
        transaction["revision"] = Value::Null;
        let transaction = &data["transaction"];
        assert_eq!(
            (&transaction["status"], &data["replayed"]),
            (&json!("failed"), &json!(false)),
            "{token}: {data:#}"
        );
        let failure = &transaction["failure"];
        let message = failure["message"].as_str().unwrap();
        assert_eq!(*failure, json!({"code": code, "kind": "failure", "message": message}), "{token}");
        assert!(message.ends_with('.') && !message.contains("cnon"), "{message}");
        // The same token again is the same decline, and the provider does not hear of it.
        let calls = world.simulator.calls(Wire::Square, "payments.create");
        let again = world.shop.confirm(reference, &json!({"sourceId": token}));
        assert_eq!(again.headers.get("idempotent-replayed").map(String::as_str), Some("true"));
        // The webhook about it may have come meanwhile.
        let mut again = again.data(200);
        again["transaction"]["revision"] = Value::Null;
        assert_eq!(again, json!({"transaction": transaction, "replayed": true}));
        assert_eq!(world.simulator.calls(Wire::Square, "payments.create"), calls);
        let mut read = world.shop.read_transaction(reference).data(200);
        read["revision"] = Value::Null;
        assert_eq!(read, *transaction);
    }
    assert_eq!(world.simulator.truth(reference).charged, 0);
    let token = world.simulator.card_token("4242424242424242");
    let paid = world.shop.confirm(reference, &json!({"sourceId": token})).data(200);
    assert_eq!((&paid["transaction"]["status"], &paid["replayed"]), (&json!("succeeded"), &json!(false)));
    assert_eq!(paid["transaction"]["failure"], Value::Null);
    // A declined token now finds the payment paid.
    let late = world.shop.confirm(reference, &json!({"sourceId": "cnon:card-nonce-declined"})).data(200);
    assert_eq!((&late["transaction"]["status"], &late["replayed"]), (&json!("succeeded"), &json!(true)));
    let mut moves = vec!["failed"; DECLINED_TOKENS.len()];
    moves.push("succeeded");
    assert_eq!(world.shop.moves(reference), moves);
    let events = world.shop.listed(&format!("events?reference={reference}"));
    let failed = events.iter().filter(|event| event["type"] == "transaction.failed").count();
    assert_eq!(failed, DECLINED_TOKENS.len(), "every decline is reported");
    assert_eq!(world.simulator.truth(reference).charged, 1);
}

fn a_declined_element_is_a_failed_transaction_and_another_card_may_be_tried(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (method, code) in [
        ("pm_card_chargeDeclined", "card_declined"),
        ("pm_card_chargeDeclinedInsufficientFunds", "insufficient_funds"),
        ("pm_card_chargeDeclinedExpiredCard", "expired_card"),
        ("pm_card_chargeDeclinedIncorrectCvc", "incorrect_cvc"),
        ("pm_card_chargeDeclinedProcessingError", "processing_error"),
    ] {
        let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
        let reference = prepared.reference.as_str();
        assert_eq!(world.simulator.confirm_intent(prepared.component(), method).status, 402);
        // What the browser says of it is recorded and not believed.
        let data = world.shop.confirm(reference, &prepared.confirm_body()).data(200);
        let transaction = &data["transaction"];
        assert_eq!(
            (&transaction["status"], &transaction["failure"]["code"]),
            (&json!("failed"), &json!(code))
        );
        world.simulator.pay_intent(prepared.component());
        let paid = world.shop.confirm(reference, &prepared.confirm_body()).data(200);
        assert_eq!(
            (&paid["transaction"]["status"], &paid["transaction"]["failure"]),
            (&json!("succeeded"), &Value::Null)
        );
        assert_eq!(world.simulator.truth(reference).charged, 1);
    }
}

fn a_declined_page_is_a_failed_transaction_and_the_customer_may_try_again(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for wire in Wire::BOTH {
        let prepared = world.shop.prepare(Flow::Hosted, wire);
        let reference = prepared.reference.as_str();
        for _ in 0..2 {
            assert_eq!(world.simulator.submit(prepared.checkout_url(), DECLINED_CARD).status, 402);
        }
        world.shop.wait_status(reference, "failed");
        let failed = world.shop.read_transaction(reference).data(200);
        assert_eq!(failed["failure"]["code"], "card_declined");
        assert_eq!(world.simulator.submit(prepared.checkout_url(), GOOD_CARD).status, 303);
        world.shop.wait_status(reference, "succeeded");
        world.shop.wait_events(&world.simulator);
        assert_eq!(
            world.shop.status(reference).as_deref(),
            Some("succeeded"),
            "the late decline changes nothing"
        );
        assert_eq!(world.simulator.truth(reference).charged, 1);
    }
}

fn the_wrong_shape_of_confirm_names_the_field(kind: StoreKind) {
    let world = World::start(kind);
    let (a, b) = (
        world.shop.prepare(Flow::Component, Wire::Stripe),
        world.shop.prepare(Flow::Component, Wire::Square),
    );
    let (shape_a, shape_b) = (a.confirm_body(), b.confirm_body());
    for (reference, body, fields) in [
        (&a.reference, &shape_b, vec!["paymentIntentId"]),
        (&b.reference, &shape_a, vec!["sourceId"]),
        (&a.reference, &json!({}), vec!["paymentIntentId"]),
        (&b.reference, &json!({}), vec!["sourceId"]),
        (&a.reference, &json!({"paymentIntentId": "pi_another"}), vec!["paymentIntentId"]),
        (&a.reference, &json!({"paymentIntentId": ""}), vec!["paymentIntentId"]),
        (
            &a.reference,
            &json!({"paymentIntentId": 5, "clientStatus": []}),
            vec!["paymentIntentId", "clientStatus"],
        ),
        (
            &b.reference,
            &json!({"sourceId": {}, "verificationToken": 1, "buyerEmail": "nobody"}),
            vec!["sourceId", "verificationToken", "buyerEmail"],
        ),
        (&b.reference, &json!({"sourceId": "x".repeat(4_097)}), vec!["sourceId"]),
        (&b.reference, &json!({"sourceId": "cnon:card-nonce-ok", "buyerEmail": "a@"}), vec!["buyerEmail"]),
    ] {
        assert_eq!(world.shop.confirm(reference, body).faulty_fields(), fields, "{body}");
        assert_eq!(world.shop.status(reference), None, "{body}");
    }
    // The intent of another payment is not this one's.
    let other = world.shop.prepare(Flow::Component, Wire::Stripe);
    world.simulator.pay_intent(other.component());
    assert_eq!(world.shop.confirm(&a.reference, &other.confirm_body()).faulty_fields(), ["paymentIntentId"]);
    // Both shapes at once: the payment's own counts.
    let mut both = shape_a.clone();
    both["sourceId"] = json!("cnon:card-nonce-ok");
    world.shop.confirm(&a.reference, &both).data(200);
    both["paymentIntentId"] = json!("pi_x");
    let paid = world.shop.confirm(&b.reference, &both).data(200);
    assert_eq!(paid["transaction"]["status"], "succeeded");
    for wire in Wire::BOTH {
        let hosted = world.shop.prepare(Flow::Hosted, wire);
        for body in [&shape_a, &shape_b] {
            let answer = world.shop.confirm(&hosted.reference, body);
            assert_eq!(answer.failure(409), "payment_not_confirmable");
        }
    }
}

fn after_thirty_cards_a_payment_takes_no_more(kind: StoreKind) {
    let world = World::start(kind);
    let prepared = world.shop.prepare(Flow::Component, Wire::Square);
    for number in 0..30 {
        let body = json!({"sourceId": format!("cnon:stolen-{number}")});
        assert_eq!(
            world.shop.confirm(&prepared.reference, &body).data(200)["transaction"]["status"],
            "failed"
        );
    }
    let answer = world.shop.confirm(&prepared.reference, &json!({"sourceId": "cnon:card-nonce-ok"}));
    assert_eq!(answer.failure(409), "payment_not_confirmable");
    assert_eq!(world.simulator.calls(Wire::Square, "payments.create"), 30);
}
