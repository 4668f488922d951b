//! How far a genuine webhook is believed: the provider itself is asked, and what it says is compared with the books.

use serde_json::json;

use super::{about, altered, letter, object, wait_event};
use crate::support::{Flow, Inbox, Prepared, STRIPE_KEY, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    what_a_webhook_says_of_amounts_is_read_at_the_provider
    a_payment_that_the_provider_shows_with_another_amount_is_shown_to_a_person
    a_webhook_is_a_hint_and_the_provider_has_the_word
}

fn what_a_webhook_says_of_amounts_is_read_at_the_provider(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let (shop, inbox) = (&world.shop, Inbox::of(&world.simulator));
    for wire in Wire::BOTH {
        let prepared = shop.prepare(Flow::Hosted, wire);
        let reference = prepared.reference.as_str();
        world.simulator.pay_page(prepared.checkout_url());
        let letters = inbox.take(&world.simulator);
        let kind = if wire == Wire::Stripe { "payment_intent.succeeded" } else { "payment.updated" };
        let genuine = letter(&world, &letters, kind, reference);
        let (amount, currency) = match wire {
            Wire::Stripe => ("/amount", "/currency"),
            Wire::Adyen => panic!("not played here"),
            Wire::Square => ("/amount_money/amount", "/amount_money/currency"),
        };
        // An event can show the buyer's currency, or a part of the payment.
        let id = format!("evt_{}_converted", wire.name());
        let body = altered(genuine, &id, |body| {
            *object(body, wire).pointer_mut(amount).unwrap() = json!(9_500);
            *object(body, wire).pointer_mut(currency).unwrap() = json!("EUR");
        });
        assert_eq!(shop.deliver(wire, &body).data(200), json!({"received": true}));
        wait_event(shop, &id, "applied");
        shop.wait_status(reference, "succeeded");
        let transaction = shop.read_transaction(reference).data(200);
        assert_eq!(
            (&transaction["totalDebitMinor"], &transaction["currency"]),
            (&json!("10375"), &json!("USD"))
        );
    }
    assert_eq!(shop.listed("exceptions").len(), 0);
}

fn a_payment_that_the_provider_shows_with_another_amount_is_shown_to_a_person(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let (shop, inbox) = (&world.shop, Inbox::of(&world.simulator));
    let prepared = shop.prepare(Flow::Component, Wire::Stripe);
    let reference = prepared.reference.as_str();
    world.simulator.change_intent(prepared.component(), "amount=10376");
    world.simulator.pay_intent(prepared.component());
    let letters = inbox.take(&world.simulator);
    let genuine = letter(&world, &letters, "payment_intent.succeeded", reference);
    for id in ["evt_more", "evt_more_again"] {
        // The event claims what was prepared; the provider shows otherwise.
        let body = altered(genuine, id, |body| object(body, Wire::Stripe)["amount"] = json!(10_375));
        shop.deliver(Wire::Stripe, &body).data(200);
        wait_event(shop, id, "applied");
        let exceptions = shop.listed("exceptions?open=true");
        assert_eq!(exceptions.len(), 1, "the same discrepancy is shown once");
        let shown = ["kind", "expected", "found", "serviceReference"].map(|name| exceptions[0][name].clone());
        assert_eq!(json!(shown), json!(["amount_mismatch", "10375", "10376", reference]));
    }
    assert_eq!(shop.status(reference), None, "nothing moved");
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
    assert_eq!(
        shop.story(&intents[2].reference)["preparation"]["status"],
        "expired",
        "that is what the provider said"
    );

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
