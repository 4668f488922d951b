//! How far a genuine webhook is believed: it is compared with the books, and then the provider itself is asked.

use serde_json::{Value, json};

use super::{about, altered, letter, object, wait_event};
use crate::support::{Flow, Inbox, Prepared, STRIPE_KEY, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    a_webhook_that_disagrees_with_the_books_is_shown_to_a_person
    a_webhook_is_a_hint_and_the_provider_has_the_word
}

fn a_webhook_that_disagrees_with_the_books_is_shown_to_a_person(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let (shop, inbox) = (&world.shop, Inbox::of(&world.simulator));
    for wire in Wire::BOTH {
        let prepared = shop.prepare(Flow::Hosted, wire);
        let reference = prepared.reference.as_str();
        world.simulator.pay_page(prepared.checkout_url());
        let letters = inbox.take(&world.simulator);
        let kind = if wire == Wire::Stripe { "payment_intent.succeeded" } else { "payment.updated" };
        let genuine = letter(&world, &letters, kind, reference);
        let set = |object: &mut Value, amount: Option<i64>, currency: Option<&str>, other: Option<&str>| {
            let (amount_at, currency_at, reference_at) = match wire {
                Wire::Stripe => ("/amount", "/currency", "/metadata/tollgate_reference"),
                Wire::Square => ("/amount_money/amount", "/amount_money/currency", "/reference_id"),
            };
            if wire == Wire::Square {
                // What is paid through a link has no reference of ours; with one, its amount counts as well.
                object["reference_id"] = json!(reference);
            }
            let written =
                |code: &str| if wire == Wire::Stripe { code.to_lowercase() } else { code.to_owned() };
            for (place, value) in [
                (amount_at, amount.map(Value::from)),
                (currency_at, currency.map(written).map(Value::from)),
                (reference_at, other.map(Value::from)),
            ] {
                if let Some(value) = value {
                    *object.pointer_mut(place).unwrap() = value;
                }
            }
        };
        let other = "pay_00000000000000000000000000";
        let before = shop.listed("exceptions").len();
        for (id, kind, expected, found, amount, currency, reference_of_other) in [
            ("more", "amount_mismatch", "10375", "10376", Some(10_376), None, None),
            ("principal", "amount_mismatch", "10375", "10000", Some(10_000), None, None),
            ("currency", "currency_mismatch", "USD", "EUR", None, Some("EUR"), None),
            ("reference", "reference_mismatch", reference, other, None, None, Some(other)),
        ] {
            let id = format!("evt_{}_{id}", wire.name());
            let body = altered(genuine, &id, |body| {
                set(object(body, wire), amount, currency, reference_of_other);
            });
            // The object's own name still leads to the payment, once that is known.
            if kind == "reference_mismatch" && wire == Wire::Square {
                let order = genuine.json()["data"]["object"]["payment"]["order_id"].clone();
                assert!(order.is_string(), "the order leads to the payment");
            }
            assert_eq!(shop.deliver(wire, &body).data(200), json!({"received": true}));
            if kind == "reference_mismatch" && wire == Wire::Stripe {
                // Nothing here knows this intent yet, and it names another payment: it is about nothing of ours.
                wait_event(shop, &id, "ignored");
                continue;
            }
            let event = wait_event(shop, &id, "applied");
            assert!(event["note"].as_str().unwrap().contains("does not match"), "{event}");
            let exceptions = shop.listed("exceptions?open=true");
            let exception = exceptions.iter().find(|exception| exception["source"] == id.as_str()).unwrap();
            assert_eq!(
                (
                    &exception["kind"],
                    &exception["expected"],
                    &exception["found"],
                    &exception["serviceReference"]
                ),
                (&json!(kind), &json!(expected), &json!(found), &json!(reference))
            );
            // Again under another name: the same discrepancy is shown once.
            let body = altered(genuine, &format!("{id}_again"), |body| {
                set(object(body, wire), amount, currency, reference_of_other);
            });
            shop.deliver(wire, &body).data(200);
            wait_event(shop, &format!("{id}_again"), "applied");
            assert_eq!(shop.listed("exceptions").len(), exceptions.len());
        }
        assert_eq!(shop.status(reference), None, "{wire:?}: nothing moved");
        let count = if wire == Wire::Stripe { 3 } else { 4 };
        assert_eq!(shop.listed("exceptions").len(), before + count);
        shop.forward(genuine);
        shop.wait_status(reference, "succeeded");
    }
}

fn a_webhook_is_a_hint_and_the_provider_has_the_word(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let (shop, inbox) = (&world.shop, Inbox::of(&world.simulator));
    // A paid payment's letters are the pattern for lies about unpaid ones.
    let paid: Vec<_> = Wire::BOTH.map(|wire| (wire, shop.prepare(Flow::Hosted, wire))).into();
    for (_, prepared) in &paid {
        world.simulator.pay_page(prepared.checkout_url());
    }
    let letters = inbox.take(&world.simulator);
    let succeeded = letter(&world, &letters, "payment_intent.succeeded", &paid[0].1.reference);
    let completed = letter(&world, &letters, "payment.updated", &paid[1].1.reference);

    // An intent nobody has paid, one that was declined, one that was canceled.
    let intents: Vec<Prepared> = (0..3).map(|_| shop.prepare(Flow::Component, Wire::Stripe)).collect();
    world.simulator.confirm_intent(intents[1].component(), "pm_card_chargeDeclined");
    let path = format!(
        "/stripe/v1/payment_intents/{}/cancel",
        intents[2].component()["paymentIntentId"].as_str().unwrap()
    );
    world.simulator.client(STRIPE_KEY).send("POST", &path, &[], b"");
    for (prepared, status) in intents.iter().zip([None, Some("failed"), None]) {
        let id = format!("evt_lie_{}", prepared.reference);
        let body = altered(succeeded, &id, |body| {
            let object = object(body, Wire::Stripe);
            object["id"] = prepared.component()["paymentIntentId"].clone();
            object["metadata"]["tollgate_reference"] = json!(prepared.reference);
        });
        shop.deliver(Wire::Stripe, &body).data(200);
        wait_event(shop, &id, "applied");
        assert_eq!(
            shop.status(&prepared.reference).as_deref(),
            status,
            "{:#}",
            shop.story(&prepared.reference)
        );
    }
    assert_eq!(shop.story(&intents[2].reference)["status"], "expired", "that is what the provider said");

    // A payment that failed, one that never was, and one that is somebody else's.
    let declined = shop.prepare(Flow::Component, Wire::Square);
    shop.confirm(&declined.reference, &json!({"sourceId": "cnon:card-nonce-declined"})).data(200);
    let failed = world.simulator.state()["square"]["payments"][0]["id"].clone();
    let unpaid = shop.prepare(Flow::Component, Wire::Square);
    let theirs = completed.json()["data"]["object"]["payment"]["id"].clone();
    for (prepared, payment, status, exceptions) in [
        (&declined, failed, Some("failed"), 0),
        (&unpaid, json!("no-such-payment-0000000000000000"), None, 0),
        (&unpaid, theirs, None, 1),
    ] {
        let id = format!("evt_lie_{}_{exceptions}", prepared.reference);
        let body = altered(completed, &id, |body| {
            let object = object(body, Wire::Square);
            object["id"] = payment;
            object["reference_id"] = json!(prepared.reference);
            object["order_id"] = json!("no-such-order");
        });
        shop.deliver(Wire::Square, &body).data(200);
        wait_event(shop, &id, "applied");
        assert_eq!(
            shop.status(&prepared.reference).as_deref(),
            status,
            "{:#}",
            shop.story(&prepared.reference)
        );
        let found = shop.listed("exceptions");
        assert_eq!(found.len(), exceptions, "{found:#?}");
    }
    assert_eq!(shop.listed("exceptions")[0]["kind"], "reference_mismatch");
    // And the truth is taken as it comes.
    for (_, prepared) in &paid {
        for it in about(&world, &letters, &prepared.reference) {
            shop.forward(it);
        }
        shop.wait_status(&prepared.reference, "succeeded");
    }
}
