//! The background work under load: many payments in doubt and many webhooks at once hold up nobody else for long.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::support::{
    Flow, Inbox, Proxy, Shop, Simulator, Store, StoreKind, WAIT_TIMEOUT, Weather, Wire, World,
    on_both_stores, wait_agreement, wait_until,
};

on_both_stores! {
    a_provider_that_hangs_does_not_hold_up_the_others
    a_burst_of_webhooks_is_applied_without_delay
}

/// Payments in doubt at the provider that hangs.
const IN_DOUBT: usize = 64;

/// One shop's provider takes connections and says nothing. Another shop's payments are looked after all the same.
fn a_provider_that_hangs_does_not_hold_up_the_others(kind: StoreKind) {
    let store = Store::new(kind);
    let server = store.serve().run();
    let (hanging, healthy) = (Simulator::start(), Simulator::start());
    let network = Proxy::start(hanging.address());
    let (stuck, shop) = (Shop::open_at(&server, &hanging, network.address), Shop::open(&server, &healthy));
    healthy.send_no_webhooks();
    let prepared: Vec<_> = (0..IN_DOUBT).map(|_| stuck.prepare(Flow::Component, Wire::Square)).collect();
    network.set(Weather::Silent);
    thread::scope(|scope| {
        for prepared in &prepared {
            scope.spawn(|| stuck.confirm(&prepared.reference, &prepared.confirm_body()).data(200));
        }
    });
    let mut slowest = Duration::ZERO;
    for wire in [Wire::Stripe, Wire::Square, Wire::Stripe, Wire::Square] {
        let paid = shop.prepare(Flow::Hosted, wire);
        healthy.pay_page(paid.checkout_url());
        let began = Instant::now();
        shop.wait_status(&paid.reference, "succeeded");
        slowest = slowest.max(began.elapsed());
    }
    println!("found out after {slowest:?} at most");
    assert!(slowest < Duration::from_secs(20), "another shop's provider held it up for {slowest:?}");
    network.set(Weather::Clear);
    let audit = wait_agreement(&stuck, &hanging, Duration::from_secs(120));
    assert_eq!((audit.payments, audit.charged), (IN_DOUBT, IN_DOUBT), "{audit:?}");
}

/// Whatever does not get its turn at once is applied soon after, and not when a lease has run out.
fn a_burst_of_webhooks_is_applied_without_delay(kind: StoreKind) {
    const BURST: usize = 150;
    let world = World::start_with(kind, |store| {
        store.serve_without_looks().with("TOLLGATE_RESOLVER_LEASE_MS", "60000")
    });
    let inbox = Inbox::of(&world.simulator);
    let prepared: Vec<_> = (0..BURST).map(|_| world.shop.prepare(Flow::Component, Wire::Stripe)).collect();
    for prepared in &prepared {
        world.simulator.pay_intent(prepared.component());
    }
    let letters = inbox.take(&world.simulator);
    let succeeded: Vec<_> =
        letters.iter().filter(|letter| letter.kind() == "payment_intent.succeeded").collect();
    assert_eq!(succeeded.len(), BURST);
    // Each look takes a while, so that all turns are taken.
    world.simulator.fault(Wire::Stripe, "payment_intents.retrieve", "slow", 1_000, 300);
    let began = Instant::now();
    thread::scope(|scope| {
        for letter in succeeded {
            scope.spawn(|| world.shop.forward(letter));
        }
    });
    let answered = began.elapsed();
    wait_until("every event is applied", WAIT_TIMEOUT, || {
        world.shop.listed("provider-events?state=waiting").is_empty()
    });
    println!("answered after {answered:?}, applied after {:?}", began.elapsed());
    let paid = world.shop.listed("transactions?status=succeeded");
    assert_eq!(paid.len(), BURST);
}
