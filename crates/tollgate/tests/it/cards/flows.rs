//! Each way to pay, from the preparation to the transaction, with every answer compared whole.

use serde_json::{Value, json};

use super::{check_prepared, check_transaction, merged};
use crate::support::{Flow, Prepared, QUOTE, Shop, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    an_element_is_paid_in_the_browser_and_confirmed
    a_card_token_is_charged_at_confirm
    a_hosted_checkout_is_paid_on_the_providers_page
    quote_preparation_and_transaction_agree_after_the_configuration_changed
    a_customer_who_proves_who_they_are_later_is_waited_for
    what_the_caller_said_reaches_the_provider_and_comes_back
}

/// What reading a preparation back adds to what preparing answered.
fn read_back(prepared: &Value, flow: &str, wire: Wire, transaction: &Value) -> Value {
    let mut expected = prepared.clone();
    expected.as_object_mut().unwrap().remove("component");
    let status = if transaction.is_null() { &prepared["status"] } else { &transaction["status"] };
    let more = json!({
        "status": status, "preparation": {"status": prepared["status"]}, "flow": flow, "description": null,
        "metadata": {"wire": wire.name()}, "transaction": transaction,
    });
    merged(&[expected, more])
}

fn an_element_is_paid_in_the_browser_and_confirmed(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    // Nothing is told by webhook here, so that confirm alone records the transaction.
    world.simulator.send_no_webhooks();
    let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
    let component = prepared.component();
    let intent = component["paymentIntentId"].as_str().unwrap();
    assert!(intent.starts_with("pi_"), "{component}");
    assert!(component["clientSecret"].as_str().unwrap().starts_with(&format!("{intent}_secret_")));
    let expected = json!({
        "type": "card_provider_a_payment_element", "publishableKey": "pk_test_simulator",
        "clientSecret": component["clientSecret"], "paymentIntentId": intent,
        "scriptUrl": format!("{}/v3.js", world.simulator.base_url(Wire::Stripe)),
        "amountMinor": "10375", "amount": "103.75", "currency": "USD",
    });
    check_prepared(&prepared, Wire::Stripe, &json!({ "component": expected }));

    let reference = prepared.reference.as_str();
    assert_eq!(world.shop.read_transaction(reference).failure(404), "not_paid_yet");
    let unpaid = world.shop.read_payment(reference).data(200);
    assert_eq!(unpaid, read_back(&prepared.data, "payment_component", Wire::Stripe, &Value::Null));

    world.simulator.pay_intent(component);
    let answer = world.shop.confirm(reference, &prepared.confirm_body());
    assert!(!answer.headers.contains_key("idempotent-replayed"), "{:?}", answer.headers);
    let confirmed = answer.data(200);
    assert_eq!(confirmed, json!({"transaction": confirmed["transaction"], "replayed": false}));
    let transaction = &confirmed["transaction"];
    check_transaction(transaction, &prepared, Wire::Stripe, "succeeded");
    assert_eq!(transaction["providerReference"], intent);
    assert_eq!(world.shop.read_transaction(reference).data(200), *transaction);
    let paid = world.shop.read_payment(reference).data(200);
    assert_eq!(paid, read_back(&prepared.data, "payment_component", Wire::Stripe, transaction));

    let again = world.shop.confirm(reference, &prepared.confirm_body());
    assert_eq!(again.headers.get("idempotent-replayed").map(String::as_str), Some("true"));
    assert_eq!(again.data(200), json!({"transaction": transaction, "replayed": true}));
    let truth = world.simulator.truth(reference);
    assert_eq!((truth.charged, truth.objects, truth.payable), (1, 1, 0), "{truth:?}");
}

fn a_card_token_is_charged_at_confirm(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    world.simulator.send_no_webhooks();
    let prepared = world.shop.prepare(Flow::Component, Wire::Square);
    let component = json!({
        "type": "card_provider_b_web_payments", "applicationId": "sandbox-sq0idb-simulator",
        "locationId": "LSIMULATOR001", "environment": "sandbox",
        "scriptUrl": format!("{}/web-payments.js", world.simulator.base_url(Wire::Square)),
        "amountMinor": "10375", "amount": "103.75", "currency": "USD",
    });
    check_prepared(&prepared, Wire::Square, &json!({ "component": component }));
    let reference = prepared.reference.as_str();
    assert_eq!(
        world.simulator.truth(reference).objects,
        0,
        "the provider hears of it when the card is charged"
    );

    let body = json!({
        "sourceId": world.simulator.card_token("4242424242424242"), "verificationToken": "verified",
        "buyerEmail": "buyer@shop.example",
    });
    let answer = world.shop.confirm(reference, &body);
    assert!(!answer.headers.contains_key("idempotent-replayed"), "{:?}", answer.headers);
    let confirmed = answer.data(200);
    assert_eq!(confirmed, json!({"transaction": confirmed["transaction"], "replayed": false}));
    let transaction = &confirmed["transaction"];
    check_transaction(transaction, &prepared, Wire::Square, "succeeded");
    assert_eq!(world.shop.read_transaction(reference).data(200), *transaction);
    let paid = world.shop.read_payment(reference).data(200);
    assert_eq!(paid, read_back(&prepared.data, "payment_component", Wire::Square, transaction));

    // The same token again, and another one: the payment is paid, and stays so.
    let other = json!({"sourceId": world.simulator.card_token("4242424242424242")});
    for body in [&body, &other] {
        let again = world.shop.confirm(reference, body);
        assert_eq!(again.headers.get("idempotent-replayed").map(String::as_str), Some("true"));
        assert_eq!(again.data(200), json!({"transaction": transaction, "replayed": true}));
    }
    let payments = world.simulator.state()["square"]["payments"].clone();
    assert_eq!(payments.as_array().unwrap().len(), 1, "{payments:#}");
    assert_eq!((&payments[0]["amount"], &payments[0]["reference_id"]), (&json!(10375), &json!(reference)));
}

fn a_hosted_checkout_is_paid_on_the_providers_page(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for wire in Wire::BOTH {
        let prepared = world.shop.prepare(Flow::Hosted, wire);
        let reference = prepared.reference.as_str();
        let url = prepared.checkout_url().to_owned();
        assert!(url.starts_with(&format!("{}/pay/", world.simulator.base_url(wire))), "{url}");
        check_prepared(&prepared, wire, &json!({ "checkoutUrl": url }));
        assert_eq!(world.shop.read_transaction(reference).failure(404), "not_paid_yet");

        world.simulator.pay_page(&url);
        // Only the webhook tells: nobody confirms, and the resolver does not look.
        world.shop.wait_status(reference, "succeeded");
        let transaction = world.shop.read_transaction(reference).data(200);
        check_transaction(&transaction, &prepared, wire, "succeeded");
        let mut paid = world.shop.read_payment(reference).data(200);
        // Other webhooks about it may have come meanwhile.
        paid["transaction"]["revision"] = transaction["revision"].clone();
        assert_eq!(paid, read_back(&prepared.data, "hosted_checkout", wire, &transaction));
        assert_eq!(world.shop.confirm(reference, &json!({})).failure(409), "payment_not_confirmable");
        let truth = world.simulator.truth(reference);
        assert_eq!((truth.charged, truth.objects, truth.payable), (1, 1, 0), "{wire:?}: {truth:?}");
    }
    // Customers whose caller named no place of their own come to a page here.
    let prepared = world.shop.prepare(Flow::Hosted, Wire::Stripe);
    let paid = world.simulator.submit(prepared.checkout_url(), crate::support::GOOD_CARD);
    let place = format!("http://{}", world.server.address());
    let location = paid.headers.get("location").and_then(|url| url.strip_prefix(&place)).unwrap();
    check_receipt(&world, location, &prepared);
}

/// Whoever has the address sees what was paid, and nobody else anything.
fn check_receipt(world: &World, location: &str, prepared: &Prepared) {
    let reference = prepared.reference.as_str();
    let read = |path: &str| {
        let answer = world.server.client("").get(path);
        assert_eq!((answer.status, answer.headers["referrer-policy"].as_str()), (200, "no-referrer"));
        String::from_utf8(answer.body).unwrap()
    };
    assert!(location.starts_with("/checkout/paid?"), "{location}");
    world.shop.wait_status(reference, "succeeded");
    let page = read(location);
    for part in ["<dt>Amount</dt>", "<dt>Fee</dt>", "<dt>Total</dt>", "<dd>Paid</dd>", reference, "USD"] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("<script"), "what is final is not looked at again");
    let (start, token) = location.rsplit_once('=').unwrap();
    let guessed: String = token.chars().map(|letter| if letter == '0' { '1' } else { '0' }).collect();
    for stranger in [format!("{start}={guessed}"), format!("{start}="), "/checkout/paid".to_owned()] {
        let page = read(&stranger);
        assert!(!page.contains(reference) && !page.contains("<dl>") && page.contains("Thank you"), "{page}");
    }
    let open = world.shop.prepare(Flow::Hosted, Wire::Stripe);
    assert_ne!(open.reference, reference);
    let elsewhere = location.replace(reference, &open.reference);
    assert!(!read(&elsewhere).contains("<dl>"), "a token is one payment's");
}

fn quote_preparation_and_transaction_agree_after_the_configuration_changed(kind: StoreKind) {
    const NUMBERS: [&str; 5] =
        ["amountMinor", "platformFeeMinor", "organizationFeeMinor", "feeMinor", "totalDebitMinor"];
    let world = World::start(kind);
    let numbers = |value: &Value| NUMBERS.map(|name| value[name].clone());
    let mut document = world.shop.document(world.simulator.address());
    for (flow, wire) in Flow::BOTH.into_iter().flat_map(|flow| Wire::BOTH.map(|wire| (flow, wire))) {
        let mut body = Shop::order(wire);
        // An amount whose fees round.
        body["amountMinor"] = json!("87654321");
        let mut quoted = body.clone();
        quoted["flow"] = json!(if flow == Flow::Hosted { "hosted_checkout" } else { "payment_component" });
        let quote = world.shop.client().post(QUOTE, &quoted).data(200);
        let prepared = crate::support::Prepared::of(&world.shop.client().post(flow.path(), &body));
        assert_eq!(numbers(&prepared.data), numbers(&quote), "{flow:?} {wire:?}");
        assert_eq!(prepared.data["routing"], quote["routing"]);

        // Every fee changes, and new payments of this kind go to the other provider.
        let mut changed = document.clone();
        for fee in changed["fees"].as_array_mut().unwrap() {
            fee["platform"]["fixedFeeMinor"] = json!("777");
        }
        changed["routing"]["web_card"]["rules"] = json!([]);
        changed["routing"]["web_card"]["default"]["provider"] = json!(match wire {
            Wire::Stripe => "card_provider_b",
            Wire::Adyen => panic!("not played here"),
            Wire::Square => "card_provider_a",
        });
        world.shop.configure(&changed);
        assert_ne!(numbers(&world.shop.client().post(QUOTE, &quoted).data(200)), numbers(&quote));

        match (flow, wire) {
            (Flow::Hosted, _) => world.simulator.pay_page(prepared.checkout_url()),
            (Flow::Component, Wire::Stripe) => world.simulator.pay_intent(prepared.component()),
            (Flow::Component, Wire::Square) => {
                world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
            }
            (Flow::Component, Wire::Adyen) => drop(world.simulator.pay_session(prepared.component())),
        }
        world.shop.wait_status(&prepared.reference, "succeeded");
        let transaction = world.shop.read_transaction(&prepared.reference).data(200);
        assert_eq!(numbers(&transaction), numbers(&quote), "{flow:?} {wire:?}");
        assert_eq!(transaction["provider"], wire.provider());
        let read = world.shop.read_payment(&prepared.reference).data(200);
        assert_eq!((numbers(&read), &read["routing"]), (numbers(&quote), &quote["routing"]));
        document["fees"][0]["organization"]["fixedFeeMinor"] = json!("6");
        world.shop.configure(&document);
    }
}

fn a_customer_who_proves_who_they_are_later_is_waited_for(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
    let reference = prepared.reference.as_str();
    let asked = world.simulator.confirm_intent(prepared.component(), "pm_card_authenticationRequired");
    assert_eq!(asked.json()["status"], "requires_action");
    let confirmed = world.shop.confirm(reference, &prepared.confirm_body()).data(200);
    assert_eq!(confirmed["transaction"]["status"], "pending", "the browser's word is not trusted");
    let intent = prepared.component()["paymentIntentId"].as_str().unwrap();
    world.simulator.drive(&format!("stripe/payment_intents/{intent}/authenticate"), &json!({}));
    world.shop.wait_status(reference, "succeeded");

    // A method that settles later is processing, then paid or not; it is taken where it is configured.
    let mut document = world.shop.document(world.simulator.address());
    document["providers"]["card_provider_a"]["options"] =
        json!({"paymentMethods": ["card", "us_bank_account"]});
    world.shop.configure(&document);
    for (action, end) in [("settle", "succeeded"), ("fail", "failed")] {
        let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
        world.simulator.confirm_intent(prepared.component(), "pm_usBankAccount_success");
        let confirmed = world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
        assert_eq!(confirmed["transaction"]["status"], "processing", "{confirmed:#}");
        let intent = prepared.component()["paymentIntentId"].as_str().unwrap();
        world.simulator.drive(&format!("stripe/payment_intents/{intent}/{action}"), &json!({}));
        world.shop.wait_status(&prepared.reference, end);
    }
}

fn what_the_caller_said_reaches_the_provider_and_comes_back(kind: StoreKind) {
    let world = World::start(kind);
    let metadata = json!({"wire": "square", "deep": {"list": [1, 2.50, null, "ä\u{1f600}"]}, "a": true});
    let description = format!("Tea & cake \u{1f370} {}", "x".repeat(487));
    assert_eq!(description.chars().count(), 500);
    for flow in Flow::BOTH {
        let body = json!({
            "amountMinor": 10000, "currency": "usd", "description": description, "metadata": metadata,
            "customer": {"name": "N".repeat(160), "email": "buyer@shop.example"},
            "successUrl": "https://shop.example/thanks?o=1", "cancelUrl": "http://127.0.0.1:3000/back", "unknown": 1,
        });
        let prepared = crate::support::Prepared::of(&world.shop.browser().post(flow.path(), &body));
        assert_eq!(prepared.data["currency"], "USD");
        let read = world.shop.read_payment(&prepared.reference).data(200);
        assert_eq!((&read["description"], &read["metadata"]), (&json!(description), &metadata));
        if flow == Flow::Hosted {
            let paid = world.simulator.submit(prepared.checkout_url(), crate::support::GOOD_CARD);
            let to = paid.headers.get("location").unwrap();
            assert!(to.starts_with("https://shop.example/thanks?o=1"), "{to}");
        } else {
            world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
        }
        world.shop.wait_status(&prepared.reference, "succeeded");
        let transaction = world.shop.read_transaction(&prepared.reference).data(200);
        assert_eq!((&transaction["description"], &transaction["metadata"]), (&json!(description), &metadata));
    }
}
