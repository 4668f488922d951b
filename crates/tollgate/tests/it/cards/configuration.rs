//! What an environment's configuration decides: routes, credentials, where customers may be sent.

use serde_json::json;

use crate::support::{Answer, Flow, Shop, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    without_a_route_nothing_is_prepared
    a_provider_without_its_credentials_is_not_asked
    a_provider_that_refuses_our_credentials_is_told_from_one_that_is_away
    a_card_is_not_used_up_while_the_provider_does_not_let_us_in
    what_the_provider_refuses_is_422_and_recorded_as_refused
    customers_return_only_to_origins_the_environment_allows
    a_provider_that_was_replaced_does_not_get_the_old_ones_payments
}

fn without_a_route_nothing_is_prepared(kind: StoreKind) {
    let world = World::start(kind);
    let document = world.shop.document(world.simulator.address());
    let mut disabled = document.clone();
    disabled["routing"]["web_card"]["enabled"] = json!(false);
    let mut incomplete = document.clone();
    incomplete["routing"]["web_card"].as_object_mut().unwrap().remove("default");
    let mut none = document.clone();
    none["routing"] = json!({});
    for (document, wire) in [(disabled, Wire::Square), (incomplete, Wire::Stripe), (none, Wire::Stripe)] {
        world.shop.configure(&document);
        for flow in Flow::BOTH {
            assert_eq!(world.shop.try_prepare(flow, wire).failure(409), "routing_unavailable");
        }
    }
    assert_eq!(world.shop.listed("payments").len(), 0, "nothing was recorded");
    assert_eq!(world.simulator.state()["calls"], json!({}));
}

fn a_provider_without_its_credentials_is_not_asked(kind: StoreKind) {
    let world = World::start(kind);
    let document = world.shop.document(world.simulator.address());
    for (wire, credential) in [
        (Wire::Stripe, "secretKey"),
        (Wire::Stripe, "publishableKey"),
        (Wire::Square, "accessToken"),
        (Wire::Square, "applicationId"),
        (Wire::Square, "locationId"),
    ] {
        let mut document = document.clone();
        document["providers"][wire.provider()]["credentials"].as_object_mut().unwrap().remove(credential);
        world.shop.configure(&document);
        for flow in Flow::BOTH {
            let answer = world.shop.try_prepare(flow, wire);
            assert_eq!(answer.failure(503), "provider_not_configured", "{wire:?} without {credential}");
            let message = answer.json()["message"].as_str().unwrap().to_owned();
            let place = format!("providers.{}.credentials.{credential}", wire.provider());
            assert!(message.contains(&place), "{message}");
        }
    }
    assert_eq!(world.shop.listed("payments").len(), 0, "nothing was recorded");
    assert_eq!(world.simulator.state()["calls"], json!({}));
    // Without the webhook secret payments work; only what the provider sends cannot be checked.
    let mut document = document.clone();
    document["providers"]["card_provider_a"]["credentials"].as_object_mut().unwrap().remove("webhookSecret");
    world.shop.configure(&document);
    let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
    world.simulator.pay_intent(prepared.component());
    let confirmed = world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    assert_eq!(confirmed["transaction"]["status"], "succeeded");
    let headers = [("stripe-signature", "t=1,v1=00")];
    let answer = world.shop.post_webhook(Wire::Stripe, &headers, b"{}");
    assert_eq!(answer.failure(401), "unauthenticated");
}

fn a_provider_that_refuses_our_credentials_is_told_from_one_that_is_away(kind: StoreKind) {
    let world = World::start(kind);
    let shop = &world.shop;
    let good = shop.document(world.simulator.address());
    let mut wrong = good.clone();
    wrong["providers"]["card_provider_a"]["credentials"]["secretKey"] = json!("sk_test_revoked");
    wrong["providers"]["card_provider_b"]["credentials"]["accessToken"] = json!("revoked");
    let element = shop.prepare(Flow::Component, Wire::Stripe);
    let card = shop.prepare(Flow::Component, Wire::Square);
    world.simulator.pay_intent(element.component());
    shop.wait_status(&element.reference, "succeeded");
    let unpaid = shop.prepare(Flow::Component, Wire::Stripe);

    shop.configure(&wrong);
    let refused = |answer: &Answer| {
        assert_eq!(answer.failure(503), "provider_not_configured");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("rejected its configured credentials"), "{message}");
        assert!(!message.contains("revoked"), "{message}");
    };
    for (flow, wire) in
        [(Flow::Hosted, Wire::Stripe), (Flow::Hosted, Wire::Square), (Flow::Component, Wire::Stripe)]
    {
        refused(&shop.try_prepare(flow, wire));
        assert_eq!(shop.listed("payments")[0]["status"], "withdrawn");
    }
    refused(&shop.confirm(&unpaid.reference, &unpaid.confirm_body()));
    refused(&shop.confirm(&card.reference, &card.confirm_body()));

    shop.configure(&good);
    let paid = shop.confirm(&card.reference, &card.confirm_body()).data(200);
    assert_eq!(paid["transaction"]["status"], "succeeded");
    assert_eq!(world.simulator.truth(&card.reference).charged, 1);
    let look = shop.confirm(&unpaid.reference, &unpaid.confirm_body()).data(200);
    assert_eq!((&look["transaction"]["status"], &look["replayed"]), (&json!("pending"), &json!(false)));
    // Nobody listens at this address.
    let away = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    shop.configure(&shop.document(away));
    let answer = shop.try_prepare(Flow::Hosted, Wire::Stripe);
    assert_eq!(answer.failure(503), "provider_unavailable");
    assert!(answer.headers["retry-after"].parse::<u64>().unwrap() >= 1);
}

/// A wrong token, and a location that is not the token's: an operator corrects either, and the same call succeeds.
fn a_card_is_not_used_up_while_the_provider_does_not_let_us_in(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let shop = &world.shop;
    let good = shop.document(world.simulator.address());
    let events = |reference: &str| -> Vec<String> {
        let events = shop.listed(&format!("events?reference={reference}"));
        events.iter().rev().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    for (credential, value) in [("accessToken", "revoked"), ("locationId", "LELSEWHERE")] {
        let mut wrong = good.clone();
        wrong["providers"]["card_provider_b"]["credentials"][credential] = json!(value);
        let fresh = shop.prepare(Flow::Component, Wire::Square);
        let declined = shop.prepare(Flow::Component, Wire::Square);
        shop.confirm(&declined.reference, &json!({"sourceId": "cnon:card-nonce-declined"})).data(200);
        let before = [events(&fresh.reference), events(&declined.reference)];
        let failed = shop.read_transaction(&declined.reference).data(200);

        shop.configure(&wrong);
        let token = world.simulator.card_token("4242424242424242");
        let body = json!({ "sourceId": token });
        for reference in [&fresh.reference, &declined.reference] {
            for _ in 0..3 {
                let answer = shop.confirm(reference, &body);
                assert_eq!(answer.failure(503), "provider_not_configured", "{credential}");
            }
            // Another card meets the same, and takes nothing away from the first.
            let other = json!({"sourceId": world.simulator.card_token("4242424242424242")});
            assert_eq!(shop.confirm(reference, &other).failure(503), "provider_not_configured");
            let attempts = shop.story(reference)["attempts"].clone();
            let unsent = attempts.as_array().unwrap().iter().filter(|it| it["state"] == "unsent").count();
            // What the provider has answered is never repeated under its key.
            assert_eq!(unsent, 4, "{attempts:#}");
        }
        assert_eq!(shop.status(&fresh.reference), None, "{credential}");
        let mut read = shop.read_transaction(&declined.reference).data(200);
        read["revision"] = failed["revision"].clone();
        assert_eq!(read, failed);
        assert_eq!([events(&fresh.reference), events(&declined.reference)], before);
        assert_eq!(shop.listed("payments?waiting=true").len(), 0);

        shop.configure(&good);
        let again = shop.confirm(&fresh.reference, &body).data(200);
        assert_eq!(
            (&again["transaction"]["status"], &again["replayed"]),
            (&json!("succeeded"), &json!(false)),
            "{credential}"
        );
        let token = world.simulator.card_token("4242424242424242");
        let paid = shop.confirm(&declined.reference, &json!({ "sourceId": token })).data(200);
        assert_eq!(paid["transaction"]["status"], "succeeded");
        for prepared in [&fresh, &declined] {
            assert_eq!(world.simulator.truth(&prepared.reference).charged, 1);
            assert_eq!(events(&prepared.reference).last().unwrap(), "transaction.succeeded");
        }
        // A hosted page cannot be prepared there either, and nothing is left to pay.
        shop.configure(&wrong);
        let answer = shop.try_prepare(Flow::Hosted, Wire::Square);
        assert_eq!(answer.failure(503), "provider_not_configured", "{credential}");
        shop.configure(&good);
        shop.prepare(Flow::Hosted, Wire::Square);
    }
    let waiting = world.simulator.state();
    assert_eq!(waiting["square"]["payments"].as_array().unwrap().len(), 6, "four paid and two declined");
}

fn what_the_provider_refuses_is_422_and_recorded_as_refused(kind: StoreKind) {
    let world = World::start(kind);
    // Less than the first provider takes at all, and more than it takes at once.
    let mut document = world.shop.document(world.simulator.address());
    document["fees"] = json!([]);
    world.shop.configure(&document);
    for amount in ["49", "100000000"] {
        for flow in Flow::BOTH {
            let body = json!({"amountMinor": amount, "currency": "USD"});
            let answer = world.shop.client().post(flow.path(), &body);
            assert_eq!(answer.failure(422), "provider_rejected", "{amount}");
            let newest = &world.shop.listed("payments")[0];
            assert_eq!((&newest["status"], &newest["nextCheckAt"]), (&json!("refused"), &json!(null)));
            let reference = newest["serviceReference"].as_str().unwrap();
            assert_eq!(world.shop.read_payment(reference).data(200)["status"], "refused");
        }
    }
    // A total that Stripe would misread or reject is refused before anything is created.
    let before = world.shop.listed("payments").len();
    for (amount, currency, field, words) in [
        ("1000", "ISK", "currency", "different units"),
        ("12345", "KWD", "amountMinor", "multiples of 10"),
        ("12345", "TND", "amountMinor", "total debit of 12345"),
    ] {
        for flow in Flow::BOTH {
            let body = json!({"amountMinor": amount, "currency": currency});
            let answer = world.shop.client().post(flow.path(), &body);
            assert_eq!(answer.failure(422), "provider_rejected", "{currency}");
            let fault = answer.json()["error"]["details"][0].clone();
            assert_eq!(fault["field"], field, "{currency}");
            assert!(fault["message"].as_str().unwrap().contains(words), "{fault}");
        }
    }
    assert_eq!(world.shop.listed("payments").len(), before);
    assert_eq!(world.simulator.calls(Wire::Stripe, "payment_intents.create"), 2);
    let body = json!({"amountMinor": "12340", "currency": "KWD"});
    let made = world.shop.client().post(Flow::Component.path(), &body).data(201);
    assert_eq!(made["component"]["amount"], "12.340");
}

fn customers_return_only_to_origins_the_environment_allows(kind: StoreKind) {
    let world = World::start(kind);
    let mut document = world.shop.document(world.simulator.address());
    document["settings"] = json!({
        "returnOrigins": ["https://shop.example", "https://other.example:443", "http://localhost:3000"]
    });
    world.shop.configure(&document);
    let ask = |success: &str, cancel: &str| {
        let mut body = Shop::order(Wire::Stripe);
        body["successUrl"] = json!(success);
        body["cancelUrl"] = json!(cancel);
        world.shop.browser().post(Flow::Hosted.path(), &body)
    };
    for good in [
        "https://shop.example/thanks",
        "https://SHOP.example",
        "https://shop.example:443/thanks",
        "https://other.example/thanks",
        "https://other.example:443",
        "http://localhost:3000/x?y#z",
    ] {
        ask(good, good).data(201);
    }
    for bad in [
        "https://shop.example.evil.example/",
        "https://evil.example/?https://shop.example",
        "https://shop.example:444/",
        "https://sub.shop.example/",
        "http://shop.example/",
        "http://localhost/",
    ] {
        assert_eq!(ask(bad, bad).faulty_fields(), ["successUrl", "cancelUrl"], "{bad}");
        assert_eq!(ask("https://shop.example/", bad).faulty_fields(), ["cancelUrl"], "{bad}");
    }
    // An embedded component sends nobody anywhere, and does not look at them.
    let mut body = Shop::order(Wire::Stripe);
    body["successUrl"] = json!("https://evil.example/");
    world.shop.client().post(Flow::Component.path(), &body).data(201);
}

fn a_provider_that_was_replaced_does_not_get_the_old_ones_payments(kind: StoreKind) {
    let world = World::start(kind);
    let shop = &world.shop;
    let prepared = shop.prepare(Flow::Component, Wire::Square);
    let good = shop.document(world.simulator.address());
    // The same name now stands for another wire.
    let mut other = good.clone();
    other["providers"]["card_provider_b"] = good["providers"]["card_provider_a"].clone();
    shop.configure(&other);
    let answer = shop.confirm(&prepared.reference, &prepared.confirm_body());
    assert_eq!(answer.failure(503), "provider_not_configured");
    // Or for nothing at all.
    let mut gone = good.clone();
    gone["providers"].as_object_mut().unwrap().remove("card_provider_b");
    gone["routing"]["web_card"]["rules"] = json!([]);
    gone["fees"].as_array_mut().unwrap().retain(|fee| fee["provider"] != "card_provider_b");
    shop.configure(&gone);
    let answer = shop.confirm(&prepared.reference, &prepared.confirm_body());
    assert_eq!(answer.failure(503), "provider_not_configured");
    assert_eq!(shop.status(&prepared.reference), None);
    shop.configure(&good);
    let confirmed = shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    assert_eq!(confirmed["transaction"]["status"], "succeeded");
}
