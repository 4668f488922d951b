//! Payments for a connected account, and with a key that may do only some things, through the whole service.

use serde_json::{Value, json};

use super::{STRIPE, Scene, failed};
use crate::support::{Flow, WAIT_TIMEOUT, Wire, wait_until};

const SHOP: &str = "acct_1SimulatedShop";

#[test]
fn a_payment_for_a_connected_account_from_registration_to_webhook() {
    let scene = Scene::open();
    scene.simulator.send_no_webhooks();
    let mut document = scene.document();
    document["providers"][STRIPE]["options"] = json!({"account": SHOP});
    document["providers"][STRIPE]["credentials"]["webhookSecret"] = Value::Null;
    scene.shop.configure(&document);
    let tested = scene.test(STRIPE, &json!({"registerWebhook": true}));
    assert_eq!(failed(&tested), Vec::<&str>::new(), "{tested:#}");

    let prepared = scene.shop.prepare(Flow::Component, Wire::Stripe);
    let component = prepared.component();
    assert_eq!(component["account"], SHOP, "{component}");
    let mut without = component.clone();
    without.as_object_mut().unwrap().remove("account");
    let refused = scene.simulator.confirm_intent(&without, "pm_card_visa");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (404, &json!("resource_missing")));
    scene.simulator.pay_intent(component);
    scene.shop.wait_status(&prepared.reference, "succeeded");
    assert!(
        !scene.shop.lines(&prepared.reference, "webhook").is_empty(),
        "its events come from the platform's endpoint"
    );

    // The same endpoint receives events of every account that is connected to the platform.
    let form = "amount=700&currency=usd&confirm=true&payment_method=pm_card_visa\
                &automatic_payment_methods[enabled]=true";
    let headers =
        [("content-type", "application/x-www-form-urlencoded"), ("stripe-account", "acct_1SimulatedKiosk")];
    let mut kiosk = scene.simulator.client("sk_test_simulator");
    let paid = kiosk.send("POST", "/stripe/v1/payment_intents", &headers, form.as_bytes());
    assert_eq!(paid.status, 200, "{}", paid.json());
    let find = || {
        let events = scene.shop.listed("provider-events?state=ignored").into_iter();
        events.filter(|event| event["type"] == "payment_intent.succeeded").collect::<Vec<_>>()
    };
    wait_until("the kiosk's event", WAIT_TIMEOUT, || !find().is_empty());
    let note = find()[0]["note"].as_str().unwrap().to_owned();
    assert!(note.contains("acct_1SimulatedKiosk") && note.contains(SHOP), "{note}");
}

#[test]
fn a_preparation_says_which_permission_the_key_lacks() {
    let scene = Scene::open();
    scene.use_restricted_key(&["rak_charge_write", "rak_checkout_session_write"]);
    let answer = scene.shop.try_prepare(Flow::Component, Wire::Stripe);
    assert_eq!(answer.failure(503), "provider_not_configured");
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("an operator must add `permission rak_payment_intent_write"), "{message}");
    // A hosted page needs no more than sessions.
    let prepared = scene.shop.prepare(Flow::Hosted, Wire::Stripe);
    scene.simulator.pay_page(prepared.checkout_url());
    scene.shop.wait_status(&prepared.reference, "succeeded");
}
