//! A card fee that was charged to another card than the one it was agreed for: what is not lawful goes back by itself, once.

use serde_json::{Value, json};

use super::card_fees::{agreed, configure, decide, prepared_in, surcharging};
use crate::support::{COMPONENT, Prepared, StoreKind, World, on_both_stores};

on_both_stores! {
    a_fee_on_anything_but_credit_goes_back
    a_fee_that_a_browser_paid_alone_goes_back
    a_fee_on_another_network_goes_back_as_far_as_it_is_not_lawful
    a_report_counts_what_was_captured_and_says_what_is_not_recorded
    a_bank_debit_gets_a_service_fee_back
}

const DECLINED: &str = "4000000000000002";
/// Its bank asks its customer first.
const ASKED: &str = "4000000000003220";

/// A component whose payer agreed to 128.75 with a card that was declined: the browser still holds the intent over that total.
pub(super) fn declined_after_consent(world: &World) -> Prepared {
    let prepared = prepared_in(world, "GA");
    let declined = world.simulator.confirmation_token(DECLINED);
    decide(world, &prepared, &declined);
    let failed = world.shop.confirm(&prepared.reference, &agreed(&declined, "12875")).data(200);
    assert_eq!(failed["transaction"]["status"], "failed");
    prepared
}

/// The same where the bank asked its customer, who could not prove who they are.
fn asked_after_consent(world: &World) -> Prepared {
    let prepared = prepared_in(world, "GA");
    let asked = world.simulator.confirmation_token(ASKED);
    decide(world, &prepared, &asked);
    let pending = world.shop.confirm(&prepared.reference, &agreed(&asked, "12875")).data(200);
    assert_eq!(pending["transaction"]["status"], "pending");
    let intent = prepared.component()["paymentIntentId"].as_str().unwrap();
    world.simulator.drive(&format!("stripe/payment_intents/{intent}/fail_authentication"), &json!({}));
    prepared
}

/// Pays with another card than the one that was declined.
pub(super) fn pay_with(world: &World, prepared: &Prepared, method: &str) {
    assert_eq!(world.simulator.confirm_intent(prepared.component(), method).status, 200);
}

/// The fee went back once, as one refund of the service's own, and a person is shown why.
#[track_caller]
pub(super) fn check_returned(world: &World, reference: &str, fee: &str, found: &str) -> Value {
    let shop = &world.shop;
    let read = || shop.read_transaction(reference).data(200);
    shop.wait(reference, "given its fee back", || read()["refundedMinor"] == fee);
    let refunds = shop.client().get(&format!("/client/v1/transactions/{reference}/refunds")).data(200);
    let items = refunds["items"].as_array().unwrap();
    assert_eq!(
        (items.len(), &items[0]["origin"], &items[0]["feeMinor"], &items[0]["amountMinor"]),
        (1, &json!("service"), &json!(fee), &json!("0")),
        "{refunds:#}"
    );
    let truth = world.simulator.truth(reference);
    assert_eq!((truth.charged, truth.refunded), (1, fee.parse().unwrap()), "{truth:?}");
    let exceptions = shop.listed("exceptions");
    let ours: Vec<_> = exceptions.iter().filter(|one| one["serviceReference"] == reference).collect();
    assert_eq!((ours.len(), &ours[0]["kind"]), (1, &json!("surcharge_not_allowed")), "{ours:?}");
    assert!(ours[0].to_string().contains(found), "{ours:?}");
    read()
}

fn a_fee_on_anything_but_credit_goes_back(kind: StoreKind) {
    let world = surcharging(kind);
    let prepared = declined_after_consent(&world);
    pay_with(&world, &prepared, "pm_card_visa_debit");
    world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    let paid = check_returned(&world, &prepared.reference, "375", "375 USD charged to a Visa debit card");
    assert_eq!((&paid["status"], &paid["card"]["funding"]), (&json!("succeeded"), &json!("debit")));
    // The month's report says both, and that nothing was allowed.
    let report = world.shop.admin().get(&world.shop.path("/fee-report")).data(200);
    let sums = ["funding", "feeMinor", "refundedFeeMinor", "costMinor", "capMinor"]
        .map(|field| report["rows"][0][field].as_str().unwrap_or_default());
    assert_eq!(sums, ["debit", "375", "375", "392", "0"], "{report:#}");
}

/// The intent keeps the total that was agreed to for the card that was declined. Whoever then pays it without us was shown nothing.
fn a_fee_that_a_browser_paid_alone_goes_back(kind: StoreKind) {
    let world = surcharging(kind);
    let prepared = declined_after_consent(&world);
    pay_with(&world, &prepared, "pm_card_visa");
    world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    let paid = check_returned(&world, &prepared.reference, "375", "at most 0 USD: card_unknown");
    assert_eq!((&paid["status"], &paid["card"]["funding"]), (&json!("succeeded"), &json!("credit")));
}

fn a_report_counts_what_was_captured_and_says_what_is_not_recorded(kind: StoreKind) {
    let world = surcharging(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    let rows = || shop.admin().get(&shop.path("/fee-report")).data(200)["rows"].clone();
    let sums = |row: &Value| {
        ["kind", "principalMinor", "feeMinor", "refundedFeeMinor", "costMinor", "capMinor"]
            .map(|field| row[field].as_str().unwrap_or("null").to_owned())
    };
    // 25.00 of 125.00: a fifth of the fee, and of what it is compared with.
    let order = json!({"amountMinor": "12500", "currency": "USD", "payer": {"country": "US", "state": "GA"},
                       "metadata": {"wire": "stripe"}, "capture": "manual"});
    let held = Prepared::of(&shop.client().post(COMPONENT, &order));
    let token = simulator.confirmation_token("4242424242424242");
    decide(&world, &held, &token);
    shop.confirm(&held.reference, &agreed(&token, "12875")).data(200);
    let capture = json!({"idempotencyKey": "one-fifth-of-it", "amountMinor": "2500"});
    let path = format!("/client/v1/transactions/{}/capture", held.reference);
    let captured = shop.client().post(&path, &capture).json();
    shop.wait_status(&held.reference, "succeeded");
    assert_eq!(sums(&rows()[0]), ["surcharge", "2500", "75", "0", "78", "75"], "{captured:#}");
    // A neutral fee has no limit, and here no cost.
    let mut document = configure(shop, &world);
    for fee in document["fees"].as_array_mut().unwrap().iter_mut().filter(|fee| fee["currency"] == "USD") {
        for layer in ["platform", "organization"] {
            fee[layer]["feeKind"] = json!("neutral");
        }
    }
    document["settings"]["feeProgram"] = Value::Null;
    shop.configure(&document);
    let prepared = prepared_in(&world, "GA");
    simulator.pay_intent(prepared.component());
    shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    let rows = rows();
    let neutral = rows.as_array().unwrap().iter().find(|row| row["kind"] == "neutral").unwrap();
    assert_eq!(sums(neutral)[3..], ["0", "null", "null"], "{neutral:#}");
}

fn a_fee_on_another_network_goes_back_as_far_as_it_is_not_lawful(kind: StoreKind) {
    let world = surcharging(kind);
    let shop = &world.shop;
    // A network that the rules do not know here: nothing is lawful.
    let prepared = asked_after_consent(&world);
    pay_with(&world, &prepared, "pm_card_jcb");
    shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    check_returned(&world, &prepared.reference, "375", "375 USD charged to a JCB credit card");
    // One that gets what the others get.
    let lawful = asked_after_consent(&world);
    pay_with(&world, &lawful, "pm_card_mastercard");
    let paid = shop.confirm(&lawful.reference, &lawful.confirm_body()).data(200);
    assert_eq!(paid["transaction"]["card"]["brand"], "mastercard");
    assert_eq!(shop.listed("exceptions").len(), 1);
    // One whose payments cost less by now: what is beyond that goes back.
    let prepared = asked_after_consent(&world);
    let mut document = configure(shop, &world);
    let cost = json!({"percentBps": 100, "fixedMinor": "0"});
    document["settings"]["feeProgram"]["cost"]["card_provider_a"] = cost;
    shop.configure(&document);
    pay_with(&world, &prepared, "pm_card_mastercard");
    shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    check_returned(&world, &prepared.reference, "250", "at most 125 USD: cost_cap");
    // What was lawful when it was charged stays lawful, whoever looks at it again.
    shop.confirm(&lawful.reference, &lawful.confirm_body()).data(200);
    let refund = json!({"idempotencyKey": "a-part-of-it", "amountMinor": "1250"});
    let path = format!("/client/v1/transactions/{}/refunds", lawful.reference);
    assert_eq!(shop.client().post(&path, &refund).data(201)["refund"]["feeMinor"], "38");
    shop.wait_events(&world.simulator);
    assert_eq!(shop.listed("exceptions").len(), 2);
    assert_eq!(shop.read_transaction(&lawful.reference).data(200)["refundedMinor"], "1288");
}

/// A service fee does not depend on the card, so that the component is prepared with it, whatever is paid with.
fn a_bank_debit_gets_a_service_fee_back(kind: StoreKind) {
    let world = World::start(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    let mut document = configure(shop, &world);
    for fee in document["fees"].as_array_mut().unwrap() {
        fee["platform"] = json!({"feeKind": "service", "percentFeeBps": 200});
        fee["organization"] = json!({"enabled": false});
    }
    document["settings"]["feeProgram"]["merchant"]["mcc"] = json!("9399");
    let saved = shop.admin().put(&shop.path("/config"), &document).data(200);
    assert!(
        saved["warnings"].to_string().contains("is a service fee, and card_provider_a takes us_bank_account"),
        "{saved:#}"
    );
    let pay = |declined: Option<&str>, method: &str| {
        let prepared = prepared_in(&world, "GA");
        assert_eq!(prepared.data["totalDebitMinor"], "12750");
        if let Some(declined) = declined {
            assert_eq!(simulator.confirm_intent(prepared.component(), declined).status, 402);
            let tried = shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
            assert_eq!(tried["transaction"]["card"]["brand"], "visa", "{tried:#}");
        }
        pay_with(&world, &prepared, method);
        let confirmed = shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
        if confirmed["transaction"]["status"] == "processing" {
            let intent = prepared.component()["paymentIntentId"].as_str().unwrap();
            simulator.drive(&format!("stripe/payment_intents/{intent}/settle"), &json!({}));
        }
        shop.wait_status(&prepared.reference, "succeeded");
        prepared.reference
    };
    let debit_card = pay(None, "pm_card_visa_debit");
    for declined in [None, Some("pm_card_chargeDeclined")] {
        let bank_debit = pay(declined, "pm_usBankAccount_success");
        let paid = check_returned(&world, &bank_debit, "250", "250 USD charged to no card");
        assert_eq!(paid["card"], Value::Null, "{declined:?}");
    }
    assert_eq!(shop.read_transaction(&debit_card).data(200)["refundedMinor"], "0");
    // The quote says it beforehand.
    let asked = json!({"amountMinor": "12500", "currency": "USD", "paymentMethodType": "us_bank_account",
                       "metadata": {"wire": "stripe"}});
    let quote = shop.client().post("/client/v1/fees/quote", &asked).data(200);
    assert_eq!(
        (&quote["feeMinor"], &quote["feeDecision"]["reasons"][0]["code"]),
        (&json!("0"), &json!("not_a_card"))
    );
}
