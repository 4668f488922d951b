//! The same where the server dies in the midst of it.

use std::time::Duration;

use super::{
    card_fees::configure,
    unlawful_fees::{check_returned, declined_after_consent, pay_with},
};
use crate::support::{Start, Store, StoreKind, World, on_both_stores};

on_both_stores! { a_fee_goes_back_once_wherever_the_server_dies }

/// Places that only the resolver comes to.
pub(crate) const PLACES: [&str; 2] = ["refund.before_resend", "refund.after_resend"];

/// From the confirmation, whose change records charge and refund, by way of the resolver's lease to what became of the refund.
const DEATHS: [&str; 8] = [
    "payment.before_change:1",
    "payment.after_change:1",
    "payment.before_change:2",
    "payment.after_change:2",
    "refund.before_resend:1",
    "refund.after_resend:1",
    "payment.before_change:3",
    "payment.after_change:3",
];

fn start(store: &Store) -> Start {
    let start = store.serve_without_looks().with("TOLLGATE_PROVIDER_TIMEOUT_MS", "8000");
    start.with("TOLLGATE_PROVIDER_DEADLINE_MS", "8000").with("TOLLGATE_RESOLVER_LEASE_MS", "16200")
}

fn a_fee_goes_back_once_wherever_the_server_dies(kind: StoreKind) {
    let mut world = World::start_with(kind, start);
    configure(&world.shop, &world);
    // Nobody else tells what became of a payment.
    world.simulator.send_no_webhooks();
    for death in DEATHS {
        let prepared = declined_after_consent(&world);
        pay_with(&world, &prepared, "pm_card_visa_debit");
        let address = world.server.address().to_string();
        let serve = |store: &Store| start(store).with("TOLLGATE_LISTEN", &address);
        world.server.kill();
        world.server = serve(&world.store).with("TOLLGATE_FAILPOINT", death).run();
        let body = prepared.confirm_body().to_string();
        let json = [("content-type", "application/json")];
        let path = crate::support::Shop::confirm_path(&prepared.reference);
        drop(world.shop.client().try_send("POST", &path, &json, body.as_bytes()));
        let ended = world.server.wait_end(Duration::from_secs(180));
        assert!(!ended.success(), "{death}: ended as if nothing had happened");
        world.store.end_leases();
        world.server = serve(&world.store).run();
        // Whoever got no answer asks again.
        world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
        check_returned(&world, &prepared.reference, "375", "375 USD charged to a Visa debit card");
    }
}
