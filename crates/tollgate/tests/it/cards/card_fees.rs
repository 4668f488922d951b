//! A surcharge in the component: the card is looked at, the payer is shown its fee and agrees, and only that is charged.

use serde_json::{Value, json};

use crate::support::{COMPONENT, Flow, Prepared, Shop, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    the_fee_is_decided_for_each_card_and_charged_once_it_is_agreed_to
    who_confirms_alone_pays_no_fee_and_that_is_no_discrepancy
    a_billing_address_without_a_state_names_no_other_place
    a_charge_whose_answer_was_lost_is_found
    what_may_not_be_surcharged_is_not
    a_fee_with_a_kind_has_its_own_line_on_hosted_pages
    a_payment_at_another_provider_is_judged_by_the_same
    a_version_that_cannot_report_a_surcharge_promises_none
    a_surcharge_that_the_provider_refuses_is_decided_again
    a_refund_gives_its_share_back
}

const CREDIT: &str = "4242424242424242";
const DEBIT: &str = "4000056655665556";

/// 125.00 in Georgia: cards cost 2.9 % and 0.30, of which Visa lets 3 % be charged.
pub(super) fn configure(shop: &Shop, world: &World) -> Value {
    let mut document = shop.document(world.simulator.address());
    for fee in document["fees"].as_array_mut().unwrap() {
        fee["platform"]["feeKind"] = json!("surcharge");
        fee["organization"]["feeKind"] = json!("surcharge");
    }
    let cost = json!({"percentBps": 290, "fixedMinor": "30"});
    document["settings"]["feeProgram"] = json!({
        "merchant": {"country": "US", "state": "GA", "mcc": "5999"},
        "acceptedBrands": ["visa", "mastercard", "discover"],
        "cost": {"card_provider_a": cost, "card_provider_b": cost},
        "noticeGivenOn": "2026-06-01", "entryNoticeAttested": true, "amexParityConfirmed": true,
    });
    document["providers"]["card_provider_a"]["options"] =
        json!({"paymentMethods": ["card", "us_bank_account"]});
    shop.configure(&document);
    document
}

pub(super) fn surcharging(kind: StoreKind) -> World {
    let world = World::start(kind);
    configure(&world.shop, &world);
    world
}

fn order(state: &str) -> Value {
    let payer = json!({"country": "US", "state": state});
    json!({"amountMinor": "12500", "currency": "USD", "payer": payer, "metadata": {"wire": "stripe"}})
}

pub(super) fn prepared_in(world: &World, state: &str) -> Prepared {
    Prepared::of(&world.shop.client().post(COMPONENT, &order(state)))
}

#[track_caller]
pub(super) fn decide(world: &World, prepared: &Prepared, token: &str) -> Value {
    let path = format!("{COMPONENT}/{}/card", prepared.reference);
    world.shop.client().post(&path, &json!({ "confirmationToken": token })).data(200)
}

pub(super) fn agreed(token: &str, total: &str) -> Value {
    json!({"confirmationToken": token, "acceptedTotalDebitMinor": total})
}

pub(super) fn amounts(data: &Value) -> (&str, &str) {
    (data["feeMinor"].as_str().unwrap(), data["totalDebitMinor"].as_str().unwrap())
}

fn the_fee_is_decided_for_each_card_and_charged_once_it_is_agreed_to(kind: StoreKind) {
    let world = surcharging(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    let prepared = prepared_in(&world, "GA");
    let data = &prepared.data;
    assert_eq!(amounts(data), ("0", "12500"));
    // Mastercard lets 4 % be charged, which is more than cards cost.
    assert_eq!(data["feeDecision"]["range"], json!({"minMinor": "0", "maxMinor": "392"}), "{data:#}");
    let component = prepared.component();
    assert_eq!(component["paymentMethods"], json!(["card", "us_bank_account"]));
    assert_eq!(component["amountMinor"], "12500");

    let credit = simulator.confirmation_token(CREDIT);
    let decided = decide(&world, &prepared, &credit);
    assert_eq!(amounts(&decided), ("375", "12875"));
    let disclosure = decided["feeDecision"]["disclosure"].as_str().unwrap();
    assert!(disclosure.contains("3.75 USD") && disclosure.contains("128.75 USD"), "{disclosure}");
    // The payer goes back and takes another card.
    let debit = simulator.confirmation_token(DEBIT);
    let decided = decide(&world, &prepared, &debit);
    assert_eq!(amounts(&decided), ("0", "12500"));
    assert_eq!(decided["feeDecision"]["reasons"][0]["code"], "funding_not_credit");
    // What was agreed to for one card is not charged to another.
    let refused = shop.confirm(&prepared.reference, &agreed(&credit, "12500"));
    assert_eq!(refused.failure(409), "fee_changed");
    let error = &refused.json()["error"];
    assert_eq!(
        (&error["totalDebitMinor"], &error["feeDecision"]["feeMinor"]),
        (&json!("12875"), &json!("375"))
    );
    assert_eq!(simulator.truth(&prepared.reference).charged, 0);

    let confirmed = shop.confirm(&prepared.reference, &agreed(&credit, "12875")).data(200);
    let transaction = &confirmed["transaction"];
    assert_eq!((&transaction["status"], &transaction["feeKind"]), (&json!("succeeded"), &json!("surcharge")));
    assert_eq!(amounts(transaction), ("375", "12875"));
    assert_eq!(transaction["card"]["funding"], "credit");
    let again = shop.confirm(&prepared.reference, &agreed(&credit, "12875"));
    assert_eq!(again.data(200)["replayed"], true);
    assert_eq!(simulator.truth(&prepared.reference).charged, 1);
    let consent = shop.lines(&prepared.reference, "consent");
    assert_eq!(consent.len(), 1);
    assert_eq!(consent[0]["detail"]["totalDebitMinor"], "12875");
    assert!(consent[0]["detail"]["text"].as_str().unwrap().contains("3.75 USD"), "{consent:?}");

    // A partial refund gives its share back, and none may keep it.
    let refunds = format!("/client/v1/transactions/{}/refunds", prepared.reference);
    let keep = json!({"idempotencyKey": "keep-the-fee", "amountMinor": "1000", "feeRefund": "none"});
    let kept = shop.client().post(&refunds, &keep);
    assert_eq!(kept.failure(400), "invalid_body");
    let part = json!({"idempotencyKey": "half-of-it-all", "amountMinor": "6250"});
    let refund = shop.client().post(&refunds, &part).data(201);
    assert_eq!(
        (&refund["refund"]["feeMinor"], &refund["refund"]["status"]),
        (&json!("188"), &json!("succeeded"))
    );
    assert!(shop.listed("exceptions").is_empty(), "{:?}", shop.listed("exceptions"));
}

fn who_confirms_alone_pays_no_fee_and_that_is_no_discrepancy(kind: StoreKind) {
    let world = surcharging(kind);
    let prepared = prepared_in(&world, "GA");
    let credit = world.simulator.confirmation_token(CREDIT);
    decide(&world, &prepared, &credit);
    world.simulator.pay_intent(prepared.component());
    let confirmed = world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    assert_eq!(confirmed["transaction"]["status"], "succeeded");
    assert_eq!(amounts(&confirmed["transaction"]), ("0", "12500"));
    assert!(world.shop.listed("exceptions").is_empty());
}

/// The provider's form collects country and postal code of a card in the United States.
fn a_billing_address_without_a_state_names_no_other_place(kind: StoreKind) {
    let world = surcharging(kind);
    let country = ("country", "US");
    for (address, expected) in [
        (&[country, ("postal_code", "30303")][..], ("375", "12875")),
        (&[country, ("state", "CT")], ("0", "12500")),
        (&[country, ("state", "Connecticut")], ("0", "12500")),
    ] {
        let prepared = prepared_in(&world, "GA");
        let token = world.simulator.confirmation_token_at(CREDIT, address);
        assert_eq!(amounts(&decide(&world, &prepared, &token)), expected, "{address:?}");
        let paid = world.shop.confirm(&prepared.reference, &agreed(&token, expected.1)).data(200);
        assert_eq!(amounts(&paid["transaction"]), expected, "{address:?}");
    }
    // What the preparation said does not end with what is said later.
    let prepared = prepared_in(&world, "CT");
    let path = format!("{COMPONENT}/{}/card", prepared.reference);
    let token = world.simulator.confirmation_token_at(CREDIT, &[country]);
    let body = json!({"confirmationToken": token, "payer": {"country": "US", "state": "GA"}});
    assert_eq!(amounts(&world.shop.client().post(&path, &body).data(200)), ("0", "12500"));
    assert!(world.shop.listed("exceptions").is_empty());
}

fn a_charge_whose_answer_was_lost_is_found(kind: StoreKind) {
    let world = surcharging(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    for fault in ["timeout_after", "error_after"] {
        let prepared = prepared_in(&world, "GA");
        let credit = simulator.confirmation_token(CREDIT);
        decide(&world, &prepared, &credit);
        simulator.fault(Wire::Stripe, "payment_intents.confirm", fault, 20, 0);
        let confirmed = shop.confirm(&prepared.reference, &agreed(&credit, "12875")).data(200);
        assert_eq!(amounts(&confirmed["transaction"]), ("375", "12875"), "{confirmed:#}");
        simulator.clear_faults();
        shop.wait_status(&prepared.reference, "succeeded");
        let transaction = shop.read_transaction(&prepared.reference).data(200);
        assert_eq!(amounts(&transaction), ("375", "12875"));
        assert_eq!(simulator.truth(&prepared.reference).charged, 1);
    }
    assert!(shop.listed("exceptions").is_empty());
}

fn what_may_not_be_surcharged_is_not(kind: StoreKind) {
    let world = surcharging(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    let credit = |state: &str| {
        let prepared = prepared_in(&world, state);
        let token = simulator.confirmation_token(CREDIT);
        let decided = decide(&world, &prepared, &token);
        let paid = shop.confirm(&prepared.reference, &agreed(&token, "12500")).data(200);
        assert_eq!(amounts(&paid["transaction"]), ("0", "12500"), "{state}");
        decided
    };
    assert_eq!(credit("CT")["feeDecision"]["reasons"][0]["code"], "prohibited");
    // Prepaid cards of each network, and one of which the provider does not say whose money it spends.
    for (number, search) in [
        ("4000007700000000", "visa prepaid"),
        ("370000770000000", "brand=amex"),
        ("5105105105105100", "brand=mastercard country=US"),
        ("4000008800000007", "0007"),
    ] {
        let prepared = prepared_in(&world, "GA");
        let token = simulator.confirmation_token(number);
        let decided = decide(&world, &prepared, &token);
        assert_eq!(decided["feeDecision"]["reasons"][0]["code"], "funding_not_credit", "{number}");
        let paid = shop.confirm(&prepared.reference, &agreed(&token, "12500")).data(200);
        assert_eq!(
            (amounts(&paid["transaction"]), &paid["transaction"]["status"]),
            (("0", "12500"), &json!("succeeded"))
        );
        // A few seconds later it is found by that.
        let path = format!("/transactions?search={}", search.replace(' ', "%20").replace('=', "%3D"));
        let found = || shop.admin().get(&shop.path(&path)).data(200)["items"].as_array().unwrap().clone();
        shop.wait(&prepared.reference, &format!("found by {search}"), || !found().is_empty());
        let found: Vec<_> = found().iter().map(|one| one["serviceReference"].clone()).collect();
        assert_eq!(found, [json!(prepared.reference)], "{search}");
    }
    // A bank debit in the same component.
    let prepared = prepared_in(&world, "GA");
    let bank = simulator.confirmation_token_of("pm_usBankAccount_success");
    let decided = decide(&world, &prepared, &bank);
    assert_eq!(
        (amounts(&decided).0, &decided["feeDecision"]["reasons"][0]["code"]),
        ("0", &json!("not_a_card"))
    );
    // Tokens that are none, or no longer.
    for (token, path) in [("ctoken_unknown", "card"), ("ctoken_unknown", "confirm")] {
        let body = agreed(token, "12500");
        let path = format!("{COMPONENT}/{}/{path}", prepared.reference);
        assert_eq!(shop.client().post(&path, &body).failure(400), "invalid_body");
    }
    simulator.drive(&format!("stripe/confirmation_tokens/{bank}/expire"), &json!({}));
    let path = format!("{COMPONENT}/{}/card", prepared.reference);
    assert_eq!(shop.client().post(&path, &json!({ "confirmationToken": bank })).failure(400), "invalid_body");
    // A hosted page and the other provider's component know no card before they charge it.
    for (flow, wire) in
        [(Flow::Hosted, Wire::Stripe), (Flow::Hosted, Wire::Square), (Flow::Component, Wire::Square)]
    {
        let prepared = shop.prepare(flow, wire);
        assert_eq!(amounts(&prepared.data), ("0", "10000"), "{flow:?} {wire:?}");
    }
    let other = shop.prepare(Flow::Component, Wire::Square);
    let path = format!("{COMPONENT}/{}/card", other.reference);
    let refused = shop.client().post(&path, &json!({ "confirmationToken": "ctoken_1" }));
    assert_eq!(refused.failure(409), "payment_not_confirmable");
}

fn a_fee_with_a_kind_has_its_own_line_on_hosted_pages(kind: StoreKind) {
    let world = World::start(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    let address = format!("http://{}", simulator.address());
    let page = |prepared: &Prepared| {
        let path = prepared.checkout_url().strip_prefix(&address).unwrap();
        String::from_utf8(simulator.client("").send("GET", path, &[], b"").body).unwrap()
    };
    let mut document = shop.document(simulator.address());
    document["settings"]["feeProgram"] = json!({"merchant": {"country": "US", "state": "GA", "mcc": "9399"}});
    for (fee_kind, label) in [("service", "Service fee"), ("neutral", "Fee")] {
        for fee in document["fees"].as_array_mut().unwrap().iter_mut().filter(|fee| fee["currency"] == "USD")
        {
            fee["platform"]["feeKind"] = json!(fee_kind);
            fee["organization"]["feeKind"] = json!(fee_kind);
        }
        shop.configure(&document);
        for wire in Wire::ALL {
            let prepared = shop.prepare(Flow::Hosted, wire);
            assert_eq!(amounts(&prepared.data), ("375", "10375"), "{fee_kind} {wire:?}");
            let shown = page(&prepared);
            for said in ["100.00 USD", &format!("{label}: 3.75 USD"), "103.75 USD"] {
                assert!(shown.contains(said), "{fee_kind} {wire:?}: {said} is not in {shown}");
            }
            simulator.pay_page(prepared.checkout_url());
            shop.wait_status(&prepared.reference, "succeeded");
            let transaction = shop.read_transaction(&prepared.reference).data(200);
            assert_eq!(
                (amounts(&transaction), &transaction["feeKind"]),
                (("375", "10375"), &json!(fee_kind))
            );
        }
    }
    // Without a kind, the total is all there is.
    shop.configure(&shop.document(simulator.address()));
    for wire in Wire::ALL {
        let shown = page(&shop.prepare(Flow::Hosted, wire));
        assert!(shown.contains("103.75 USD") && !shown.contains(": 3.75 USD"), "{wire:?}: {shown}");
    }
    assert!(shop.listed("exceptions").is_empty(), "{:?}", shop.listed("exceptions"));
}

fn a_payment_at_another_provider_is_judged_by_the_same(kind: StoreKind) {
    let world = surcharging(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    let switch = |prepared: &Prepared, from: &str| {
        let path = format!("{COMPONENT}/{}/switch", prepared.reference);
        Prepared::of(&shop.client().post(&path, &json!({ "from": from })))
    };
    let declined_at_second = |order: &Value| {
        let prepared = Prepared::of(&shop.client().post(COMPONENT, order));
        let refused = shop.confirm(&prepared.reference, &json!({"sourceId": "cnon:card-nonce-declined"}));
        assert_eq!(refused.data(200)["transaction"]["status"], "failed");
        switch(&prepared, "card_provider_b")
    };
    let target = |provider: &str| json!({"provider": provider, "channel": "web_card"});
    let route = |first: &str, then: &str| {
        let mut default = target(first);
        default["fallbacks"] = json!([target(then)]);
        default
    };

    // From a provider whose fee depends on the card to one that cannot report it.
    let mut document = configure(shop, &world);
    document["routing"]["web_card"]["default"] = route("card_provider_a", "card_provider_b");
    shop.configure(&document);
    let prepared = prepared_in(&world, "GA");
    let declined = simulator.confirmation_token("4000000000000002");
    assert_eq!(amounts(&decide(&world, &prepared, &declined)), ("375", "12875"));
    shop.confirm(&prepared.reference, &agreed(&declined, "12875")).data(200);
    let moved = switch(&prepared, "card_provider_a");
    assert_eq!(amounts(&moved.data), ("0", "12500"));
    assert_eq!(moved.data["feeDecision"]["reasons"][0]["code"], "provider_cannot_report");
    let paid = shop.confirm(&moved.reference, &moved.confirm_body()).data(200);
    assert_eq!(amounts(&paid["transaction"]), ("0", "12500"));

    // From one whose fee has no kind to one that asks where the payer is, and whether the payment repeats.
    document["routing"]["web_card"]["default"] = route("card_provider_b", "card_provider_a");
    for fee in document["fees"].as_array_mut().unwrap().iter_mut() {
        if fee["provider"] == "card_provider_b" {
            fee["platform"]["feeKind"] = Value::Null;
            fee["organization"]["feeKind"] = Value::Null;
        }
    }
    shop.configure(&document);
    let moved = declined_at_second(&order("GA"));
    assert_eq!(amounts(&moved.data), ("0", "12500"));
    let credit = simulator.confirmation_token(CREDIT);
    assert_eq!(amounts(&decide(&world, &moved, &credit)), ("375", "12875"));
    shop.confirm(&moved.reference, &agreed(&credit, "12875")).data(200);
    let fee = &mut document["fees"][0];
    fee["platform"] = json!({"enabled": false});
    fee["organization"] = json!({"feeKind": "convenience", "fixedFeeMinor": "250"});
    document["settings"]["feeProgram"]["onlineOnly"] = json!(false);
    shop.configure(&document);
    let mut series = order("GA");
    series["recurring"] = json!(true);
    let moved = declined_at_second(&series);
    assert_eq!(moved.data["feeDecision"]["reasons"][0]["code"], "convenience_recurring");
    assert_eq!(amounts(&declined_at_second(&order("GA")).data), ("250", "12750"));
    assert!(shop.listed("exceptions").is_empty(), "{:?}", shop.listed("exceptions"));
}

/// Asks Stripe for a version of its API.
fn ask_for(world: &World, version: &str, change: impl FnOnce(&mut Value)) {
    let mut document = configure(&world.shop, world);
    document["providers"]["card_provider_a"]["options"]["apiVersion"] = json!(version);
    change(&mut document);
    world.shop.configure(&document);
}

fn a_version_that_cannot_report_a_surcharge_promises_none(kind: StoreKind) {
    let world = World::start(kind);
    ask_for(&world, "2026-03-25.dahlia", |_| {});
    let prepared = prepared_in(&world, "GA");
    let decision = &prepared.data["feeDecision"];
    assert_eq!(decision["range"], json!({"minMinor": "0", "maxMinor": "0"}), "{decision:#}");
    assert_eq!(decision["reasons"][0]["code"], "provider_cannot_report");
    let mut asked = order("GA");
    asked["card"] = json!({"brand": "visa", "funding": "credit"});
    let quote = world.shop.client().post("/client/v1/fees/quote", &asked).data(200);
    assert_eq!((amounts(&quote), &quote["feeDecision"]["reasons"]), (("0", "12500"), &decision["reasons"]));
    world.simulator.pay_intent(prepared.component());
    let paid = world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    assert_eq!(amounts(&paid["transaction"]), ("0", "12500"));
}

fn a_surcharge_that_the_provider_refuses_is_decided_again(kind: StoreKind) {
    const MASTERCARD: &str = "5555555555554444";
    let world = World::start(kind);
    let (shop, simulator) = (&world.shop, &world.simulator);
    // 4 %, which Mastercard allows and the provider does not.
    ask_for(&world, "2026-09-30.preview", |document| {
        for fee in document["fees"].as_array_mut().unwrap() {
            fee["platform"] = json!({"feeKind": "surcharge", "percentFeeBps": 400});
            fee["organization"] = json!({"enabled": false});
        }
        document["settings"]["feeProgram"]["cost"]["card_provider_a"] = json!({"percentBps": 500});
    });
    let prepared = prepared_in(&world, "GA");
    let token = simulator.confirmation_token(MASTERCARD);
    assert_eq!(amounts(&decide(&world, &prepared, &token)), ("500", "13000"));
    let refused = shop.confirm(&prepared.reference, &agreed(&token, "13000"));
    assert_eq!(refused.failure(409), "fee_changed");
    let error = &refused.json()["error"];
    assert_eq!(
        (&error["totalDebitMinor"], &error["feeDecision"]["reasons"][0]["code"]),
        (&json!("12500"), &json!("provider_cannot_report"))
    );
    assert_eq!(simulator.truth(&prepared.reference).charged, 0);
    // Whoever asks again for this card hears the same; the payment has not failed.
    assert_eq!(amounts(&decide(&world, &prepared, &token)), ("0", "12500"));
    assert_eq!(shop.confirm(&prepared.reference, &agreed(&token, "13000")).failure(409), "fee_changed");
    let paid = shop.confirm(&prepared.reference, &agreed(&token, "12500")).data(200);
    assert_eq!(
        (amounts(&paid["transaction"]), &paid["transaction"]["status"]),
        (("0", "12500"), &json!("succeeded"))
    );
    assert_eq!(shop.lines(&prepared.reference, "consent").len(), 2);

    // What the provider allows it is told, and checks.
    let prepared = prepared_in(&world, "GA");
    let credit = simulator.confirmation_token(CREDIT);
    assert_eq!(amounts(&decide(&world, &prepared, &credit)), ("375", "12875"));
    let paid = shop.confirm(&prepared.reference, &agreed(&credit, "12875")).data(200);
    assert_eq!(
        (amounts(&paid["transaction"]), &paid["transaction"]["status"]),
        (("375", "12875"), &json!("succeeded"))
    );
    // A refusal whose answer was lost is found by the resolver.
    let prepared = prepared_in(&world, "GA");
    let token = simulator.confirmation_token(MASTERCARD);
    decide(&world, &prepared, &token);
    simulator.fault(Wire::Stripe, "payment_intents.confirm", "timeout_after", 20, 0);
    shop.confirm(&prepared.reference, &agreed(&token, "13000")).data(200);
    simulator.clear_faults();
    shop.wait_status(&prepared.reference, "failed");
    let token = simulator.confirmation_token(CREDIT);
    assert_eq!(amounts(&decide(&world, &prepared, &token)), ("375", "12875"));
    shop.confirm(&prepared.reference, &agreed(&token, "12875")).data(200);
    assert_eq!(simulator.truth(&prepared.reference).charged, 1);
    assert!(shop.listed("exceptions").is_empty(), "{:?}", shop.listed("exceptions"));
}

/// The worked cases about refunds: 60.00 of 100.00 with a surcharge of 1.50, and all of it without.
fn a_refund_gives_its_share_back(kind: StoreKind) {
    let world = World::start(kind);
    let mut document = configure(&world.shop, &world);
    for fee in document["fees"].as_array_mut().unwrap() {
        fee["platform"] = json!({"feeKind": "surcharge", "percentFeeBps": 150});
        fee["organization"] = json!({"enabled": false});
    }
    world.shop.configure(&document);
    let (shop, mut order) = (&world.shop, order("GA"));
    order["amountMinor"] = json!("10000");
    let prepared = Prepared::of(&shop.client().post(COMPONENT, &order));
    let token = world.simulator.confirmation_token(CREDIT);
    assert_eq!(amounts(&decide(&world, &prepared, &token)), ("150", "10150"));
    shop.confirm(&prepared.reference, &agreed(&token, "10150")).data(200);
    let path = format!("/client/v1/transactions/{}/refunds", prepared.reference);
    let keep = json!({"idempotencyKey": "keep-the-surcharge", "amountMinor": "10000", "feeRefund": "none"});
    let refused = shop.client().post(&path, &keep);
    assert_eq!(refused.faulty_fields(), ["feeRefund"]);
    assert!(refused.json()["error"]["details"].to_string().contains("refund_none"), "{:#}", refused.json());
    let part =
        json!({"idempotencyKey": "most-of-it-all", "amountMinor": "6000", "feeRefund": "proportional"});
    let refund = shop.client().post(&path, &part).data(201)["refund"].clone();
    assert_eq!(
        (&refund["feeMinor"], &refund["totalRefundMinor"]),
        (&json!("90"), &json!("6090")),
        "{refund:#}"
    );
}
