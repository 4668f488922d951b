//! What a provider has ends, and tells of it, while a preparation whose answer was lost is being taken back.
//!
//! A node takes such a preparation over, learns the page's name, and vanishes before it hears that the page is closed.
//! The tests put the rows into that state while the server is stopped: many checks used up, the next one far away.

use serde_json::json;

use crate::support::{Flow, Prepared, STRIPE_KEY, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    a_preparation_ends_with_what_its_provider_has
    a_payment_on_a_page_that_was_to_be_taken_back_counts
}

fn taken_over(world: &mut World) {
    world.restart(|world| {
        world.store.execute(
            "UPDATE card_payments SET preparation = 'preparing', checkout_url = NULL, prepared_at = NULL, tries = 9,
                 due_at = 99999999999999",
        );
    });
}

fn object(world: &World, prepared: &Prepared) -> String {
    world.shop.story(&prepared.reference)["providerObject"].as_str().unwrap().to_owned()
}

fn a_preparation_ends_with_what_its_provider_has(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let session = world.shop.prepare(Flow::Hosted, Wire::Stripe);
    let intent = world.shop.prepare(Flow::Component, Wire::Stripe);
    taken_over(&mut world);
    for (path, prepared) in [
        (format!("/stripe/v1/checkout/sessions/{}/expire", object(&world, &session)), &session),
        (format!("/stripe/v1/payment_intents/{}/cancel", object(&world, &intent)), &intent),
    ] {
        assert_eq!(world.simulator.client(STRIPE_KEY).send("POST", &path, &[], b"").status, 200);
        world.shop.wait_preparation(&prepared.reference, "withdrawn");
        let story = world.shop.story(&prepared.reference);
        assert_eq!(story["nextCheckAt"], json!(null), "there is nothing left to do");
        assert_eq!(world.shop.status(&prepared.reference), None);
    }
}

fn a_payment_on_a_page_that_was_to_be_taken_back_counts(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let pages = Wire::BOTH.map(|wire| world.shop.prepare(Flow::Hosted, wire));
    taken_over(&mut world);
    for prepared in &pages {
        world.simulator.pay_page(prepared.checkout_url());
        world.shop.wait_status(&prepared.reference, "succeeded");
        world.shop.wait_preparation(&prepared.reference, "prepared");
        let read = world.shop.read_payment(&prepared.reference).data(200);
        assert_eq!(read["transaction"]["status"], "succeeded");
    }
}
