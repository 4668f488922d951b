//! What is particular about Square: the order behind a link, its payments, and the location's one currency.

use serde_json::{Value, json};

use crate::support::{
    Answer, Flow, Prepared, SQUARE_TOKEN, Shop, StoreKind, WAIT_TIMEOUT, Wire, World, on_both_stores,
    wait_until,
};

on_both_stores! {
    a_deleted_link_that_was_paid_is_found_by_its_order
    several_payments_for_one_order_are_added_up
    another_currency_than_the_locations_is_refused_before_anything_is_made
}

/// The row of a payment's link.
fn link(world: &World, prepared: &Prepared) -> Value {
    let key = format!("{}-prepare", prepared.reference);
    let state = world.simulator.state();
    let links = state["square"]["payment_links"].as_array().unwrap();
    links.iter().find(|link| link["idempotency_key"] == key.as_str()).unwrap().clone()
}

/// A customer pays while the link is being deleted, and no webhook comes: the order knows of the payment.
fn a_deleted_link_that_was_paid_is_found_by_its_order(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    world.simulator.send_no_webhooks();
    let (paid, unpaid) =
        (world.shop.prepare(Flow::Hosted, Wire::Square), world.shop.prepare(Flow::Hosted, Wire::Square));
    let links = [link(&world, &paid), link(&world, &unpaid)];
    world.simulator.pay_page(paid.checkout_url());
    world.restart(|world| {
        for link in &links {
            let path = format!("/square/v2/online-checkout/payment-links/{}", link["id"].as_str().unwrap());
            assert_eq!(world.simulator.client(SQUARE_TOKEN).delete(&path).status, 200);
        }
        let overdue =
            "UPDATE card_payments SET expires_at = created_at + 1, due_at = 1 WHERE due_at IS NOT NULL";
        world.store.execute(overdue);
    });
    world.shop.wait_status(&paid.reference, "succeeded");
    let payment = world.simulator.state()["square"]["payments"][0].clone();
    assert_eq!(payment["reference_id"], Value::Null, "a payment on a link has no reference of ours");
    let story = world.shop.story(&paid.reference);
    assert_eq!(story["transaction"]["providerReference"], payment["id"], "{story:#}");
    world.shop.wait_preparation(&unpaid.reference, "expired");
    assert_eq!(world.shop.status(&unpaid.reference), None);
    assert_eq!(world.shop.listed("exceptions"), Vec::<Value>::new());
}

fn several_payments_for_one_order_are_added_up(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let shop = &world.shop;
    let prepared = shop.prepare(Flow::Hosted, Wire::Square);
    let reference = prepared.reference.as_str();
    let link = link(&world, &prepared);
    let options = &link["checkout_options"];
    for switch in ["allow_tipping", "enable_coupon", "enable_loyalty"] {
        assert_eq!(options[switch], json!(false), "{switch}: the customer pays what was prepared");
    }
    let pay = |body: &Value| {
        let path = format!("square/payment_links/{}/pay", link["id"].as_str().unwrap());
        world.simulator.drive(&path, body)["id"].as_str().unwrap().to_owned()
    };
    // A gift card with some of it, then a card for the rest.
    let first = pay(&json!({"amount": 4_000}));
    shop.wait_status(reference, "processing");
    let second = pay(&json!({}));
    shop.wait_status(reference, "succeeded");
    shop.wait_events(&world.simulator);
    assert_eq!(shop.story(reference)["transaction"]["providerReference"], first.as_str());

    let refund = |payment: &str, body: Value| {
        world.simulator.drive(&format!("square/payments/{payment}/refund"), &body);
    };
    let wait_refunded = |minor: &str| {
        shop.wait(reference, minor, || shop.read_transaction(reference).data(200)["refundedMinor"] == minor);
    };
    refund(&second, json!({"amount": 1_000}));
    wait_refunded("1000");
    refund(&first, json!({}));
    wait_refunded("5000");
    refund(&second, json!({}));
    shop.wait_status(reference, "refunded");
    assert_eq!(shop.listed("exceptions"), Vec::<Value>::new());
    shop.wait_events(&world.simulator);
}

fn in_euros(shop: &Shop, flow: Flow) -> Answer {
    let mut order = Shop::order(Wire::Square);
    order["currency"] = json!("EUR");
    shop.client().post(flow.path(), &order)
}

fn another_currency_than_the_locations_is_refused_before_anything_is_made(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let shop = &world.shop;
    for flow in Flow::BOTH {
        let refused = in_euros(shop, flow);
        assert_eq!(refused.failure(422), "provider_rejected");
        let said = refused.json()["message"].as_str().unwrap().to_owned();
        assert!(said.starts_with("currency must be USD") && said.contains("route EUR"), "{said}");
        assert_eq!(refused.json()["error"]["details"][0]["field"], "currency");
        shop.prepare(flow, Wire::Square);
    }
    assert_eq!(shop.listed("payments").len(), 2, "nothing is recorded of what was refused");
    assert_eq!(world.simulator.calls(Wire::Square, "payment_links.create"), 1);
    assert_eq!(world.simulator.calls(Wire::Square, "locations.get"), 1, "asked once, and known from then on");

    // A location that cannot be read holds nobody up: the provider decides.
    let another = world.another_shop();
    let mut document = another.document(world.simulator.address());
    document["providers"]["card_provider_b"]["credentials"]["locationId"] = json!("LUNKNOWN");
    another.configure(&document);
    another.prepare(Flow::Component, Wire::Square);
    assert_eq!(in_euros(&another, Flow::Hosted).failure(503), "provider_not_configured");
    wait_until("the location is left alone", WAIT_TIMEOUT, || {
        world.simulator.calls(Wire::Square, "locations.get") == 2
    });
}
