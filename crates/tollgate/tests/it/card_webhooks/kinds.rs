//! Events of every kind the provider can be told to send: with their object as it was, with its name alone, in an older
//! version, or about nothing.

use serde_json::{Value, json};

use super::wait_event;
use crate::support::{Flow, StoreKind, WAIT_TIMEOUT, Wire, World, on_both_stores, wait_until};

on_both_stores! {
    events_that_only_name_their_object_tell_as_much
    a_ping_is_acknowledged_and_shown
    a_hosted_payment_in_the_buyers_currency_is_no_discrepancy
    a_dispute_over_what_the_payment_does_not_have_is_not_booked
}

const DESTINATION: &str = "stripe/event_destinations/ed_1";

fn events_that_only_name_their_object_tell_as_much(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    simulator.drive(&format!("{DESTINATION}/configure"), &json!({ "payload": "thin" }));

    let hosted = shop.prepare(Flow::Hosted, Wire::Stripe);
    simulator.pay_page(hosted.checkout_url());
    shop.wait_status(&hosted.reference, "succeeded");
    let intent = shop.read_transaction(&hosted.reference).data(200)["providerReference"].clone();
    let intent = format!("stripe/payment_intents/{}", intent.as_str().unwrap());
    simulator.drive(&format!("{intent}/refund"), &json!({}));
    shop.wait_status(&hosted.reference, "refunded");

    let embedded = shop.prepare(Flow::Component, Wire::Stripe);
    simulator.confirm_intent(embedded.component(), "pm_card_chargeDeclined");
    shop.wait_status(&embedded.reference, "failed");
    simulator.pay_intent(embedded.component());
    shop.wait_status(&embedded.reference, "succeeded");
    let intent = embedded.component()["paymentIntentId"].as_str().unwrap();
    let dispute = simulator.drive(&format!("stripe/payment_intents/{intent}/dispute"), &json!({}));
    let dispute = format!("stripe/disputes/{}", dispute["id"].as_str().unwrap());
    let read = || shop.read_transaction(&embedded.reference).data(200)["dispute"]["status"].clone();
    shop.wait(&embedded.reference, "disputed", || read() == "needs_response");
    simulator.drive(&format!("{dispute}/review"), &json!({}));
    shop.wait(&embedded.reference, "under review", || read() == "under_review");
    simulator.drive(&format!("{dispute}/close"), &json!({ "status": "won" }));
    shop.wait(&embedded.reference, "won", || read() == "won");

    wait_until("everything is delivered", WAIT_TIMEOUT, || simulator.webhooks_pending() == 0);
    let attempts = simulator.control("GET", "webhooks", &Value::Null)["attempts"].clone();
    let attempts =
        attempts.as_array().unwrap().iter().filter(|one| one["url"] == shop.webhook_url(Wire::Stripe));
    for attempt in attempts {
        assert_eq!(attempt["result"], "200", "{attempt}");
        assert!(attempt["type"].as_str().unwrap().starts_with("v1."), "{attempt}");
    }
    assert_eq!(shop.listed("exceptions").len(), 0);

    // What was sold without us on the same account is asked about once, and left alone.
    let key = [("content-type", "application/x-www-form-urlencoded")];
    let sold =
        b"amount=500&currency=usd&payment_method=pm_card_visa&confirm=true&allowed_payment_method_types[]=card";
    let sold =
        simulator.client(crate::support::STRIPE_KEY).send("POST", "/stripe/v1/payment_intents", &key, sold);
    assert_eq!(sold.status, 200);
    let foreign = || {
        let events = shop.listed("provider-events");
        events.into_iter().any(|event| event["note"] == "about a payment that was not made here")
    };
    wait_until("the foreign sale is ignored", WAIT_TIMEOUT, foreign);
}

fn a_ping_is_acknowledged_and_shown(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    world.simulator.drive(&format!("{DESTINATION}/ping"), &json!({}));
    let find = || {
        let events = world.shop.listed("provider-events");
        events.into_iter().find(|event| event["type"] == "v2.core.event_destination.ping")
    };
    wait_until("the ping is here", WAIT_TIMEOUT, || find().is_some());
    let ping = wait_event(&world.shop, find().unwrap()["eventId"].as_str().unwrap(), "applied");
    assert!(ping["note"].as_str().unwrap().contains("this webhook endpoint works"), "{ping}");
    let attempts = world.simulator.control("GET", "webhooks", &Value::Null)["attempts"].clone();
    assert_eq!(attempts[0]["result"], "200", "{attempts}");
}

fn a_hosted_payment_in_the_buyers_currency_is_no_discrepancy(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    // An endpoint that was made before the provider changed how it shows such payments.
    simulator.drive(&format!("{DESTINATION}/configure"), &json!({ "api_version": "2024-06-20" }));
    let hosted = shop.prepare(Flow::Hosted, Wire::Stripe);
    let session = shop.story(&hosted.reference)["providerObject"].as_str().unwrap().to_owned();
    let shown = json!({ "amount": 9_432, "currency": "eur" });
    simulator.drive(&format!("stripe/checkout_sessions/{session}/present"), &shown);
    simulator.pay_page(hosted.checkout_url());
    shop.wait_status(&hosted.reference, "succeeded");
    wait_until("everything is delivered", WAIT_TIMEOUT, || simulator.webhooks_pending() == 0);
    wait_until("everything is applied", WAIT_TIMEOUT, || {
        shop.listed("provider-events?state=waiting").is_empty()
    });
    let exceptions = shop.listed("exceptions");
    assert!(exceptions.is_empty(), "{exceptions:#?}");
    let transaction = shop.read_transaction(&hosted.reference).data(200);
    assert_eq!((&transaction["totalDebitMinor"], &transaction["currency"]), (&json!("10375"), &json!("USD")));
}

/// In another currency, or above the payment: the provider has withdrawn it, and a person decides what that is.
fn a_dispute_over_what_the_payment_does_not_have_is_not_booked(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    for (claim, exception, over) in [
        (json!({ "amount": 500, "currency": "eur" }), "currency_mismatch", "500 EUR"),
        (json!({ "amount": 999_999 }), "amount_mismatch", "999999 USD"),
    ] {
        let paid = shop.prepare(Flow::Component, Wire::Stripe);
        simulator.pay_intent(paid.component());
        shop.wait_status(&paid.reference, "succeeded");
        let before = shop.story(&paid.reference)["postings"].clone();
        assert_eq!(before.as_array().unwrap().len(), 1, "{before:#}");
        let intent = paid.component()["paymentIntentId"].as_str().unwrap();
        simulator.drive(&format!("stripe/payment_intents/{intent}/dispute"), &claim);
        let read = || shop.read_transaction(&paid.reference).data(200)["dispute"].clone();
        shop.wait(&paid.reference, "disputed", || read()["status"] == "needs_response");
        shop.wait_events(simulator);
        let shown = read();
        let (amount, currency) =
            (shown["amountMinor"].as_str().unwrap(), shown["currency"].as_str().unwrap());
        assert_eq!(format!("{amount} {currency}"), over, "as the provider says it");
        let story = shop.story(&paid.reference);
        assert_eq!(story["postings"], before, "{story:#}");
        let exceptions = story["exceptions"].as_array().unwrap();
        assert!(!exceptions.is_empty(), "{story:#}");
        for found in exceptions {
            assert_eq!(found["kind"], exception, "{story:#}");
            assert!(found["found"].as_str().unwrap().ends_with(&format!(" over {over}")), "{story:#}");
        }
    }
}
