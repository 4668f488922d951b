//! A surcharge that was agreed to is charged once, wherever the server dies between the consent and its answer.

use std::time::Duration;

use super::card_fees::{agreed, amounts, configure, decide, prepared_in};
use crate::support::{Shop, Start, Store, StoreKind, World, on_both_stores};

on_both_stores! { what_was_agreed_to_is_charged_once_wherever_the_server_dies }

/// The consent is recorded with the attempt, the card charged, and what became of it recorded.
const DEATHS: [&str; 6] = [
    "payment.before_change:1",
    "payment.after_change:1",
    "payment.before_charge:1",
    "payment.after_charge:1",
    "payment.before_change:2",
    "payment.after_change:2",
];

fn start(store: &Store) -> Start {
    let start = store.serve_without_looks().with("TOLLGATE_PROVIDER_TIMEOUT_MS", "8000");
    start.with("TOLLGATE_PROVIDER_DEADLINE_MS", "8000").with("TOLLGATE_RESOLVER_LEASE_MS", "16200")
}

fn what_was_agreed_to_is_charged_once_wherever_the_server_dies(kind: StoreKind) {
    let mut world = World::start_with(kind, start);
    configure(&world.shop, &world);
    // Nobody else tells what became of a payment.
    world.simulator.send_no_webhooks();
    for death in DEATHS {
        let prepared = prepared_in(&world, "GA");
        let token = world.simulator.confirmation_token("4242424242424242");
        assert_eq!(amounts(&decide(&world, &prepared, &token)), ("375", "12875"));
        let body = agreed(&token, "12875");
        let address = world.server.address().to_string();
        let serve = |store: &Store| start(store).with("TOLLGATE_LISTEN", &address);
        world.server.kill();
        world.server = serve(&world.store).with("TOLLGATE_FAILPOINT", death).run();
        let json = [("content-type", "application/json")];
        let path = Shop::confirm_path(&prepared.reference);
        drop(world.shop.client().try_send("POST", &path, &json, body.to_string().as_bytes()));
        let ended = world.server.wait_end(Duration::from_secs(180));
        assert!(!ended.success(), "{death}: ended as if nothing had happened");
        world.store.end_leases();
        world.server = serve(&world.store).run();
        // Whoever got no answer asks again.
        world.shop.confirm(&prepared.reference, &body).data(200);
        world.shop.wait_status(&prepared.reference, "succeeded");
        let paid = world.shop.read_transaction(&prepared.reference).data(200);
        assert_eq!(amounts(&paid), ("375", "12875"), "{death}");
        assert_eq!(world.simulator.truth(&prepared.reference).charged, 1, "{death}");
        assert_eq!(world.shop.lines(&prepared.reference, "consent").len(), 1, "{death}");
    }
    assert!(world.shop.listed("exceptions").is_empty(), "{:?}", world.shop.listed("exceptions"));
}
