//! Addresses of this machine are told nothing unless the operator allows it.

use serde_json::json;

use super::{happen, sole_event, subscribe, world};
use crate::support::{Receiver, Store, StoreKind, WAIT_TIMEOUT, World, on_both_stores, wait_until};

on_both_stores! {
    private_addresses_are_refused_where_they_are_not_allowed
    an_endpoint_allowed_before_is_not_connected_to_any_more
}

fn private_addresses_are_refused_where_they_are_not_allowed(kind: StoreKind) {
    let world = World::start_with(kind, Store::serve_without_looks);
    let (mut admin, list) = (world.shop.admin(), world.shop.path("/event-endpoints"));
    for url in [
        "http://shop.example/",
        "http://127.0.0.1:8080/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://[::1]/",
        "https://0x7f.1/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:192.168.0.1]/",
    ] {
        assert_eq!(
            admin.post(&list, &json!({"url": url, "events": ["*"]})).faulty_fields(),
            ["url"],
            "{url}"
        );
    }
    admin.post(&list, &json!({"url": "https://shop.example/", "events": ["*"]})).data(201);
}

fn an_endpoint_allowed_before_is_not_connected_to_any_more(kind: StoreKind) {
    let mut world = world(kind);
    let receiver = Receiver::open();
    subscribe(&world, &receiver);
    let address = world.server.address().to_string();
    world.server.kill();
    let start = super::serve(&world.store).with("TOLLGATE_ALLOW_PRIVATE_ENDPOINTS", "false");
    world.server = start.with("TOLLGATE_LISTEN", &address).run();
    let reference = happen(&world);
    let last = || sole_event(&world, &reference)["deliveries"][0]["lastTry"].clone();
    wait_until("a try is recorded", WAIT_TIMEOUT, || !last().is_null());
    assert_eq!(last()["note"], "refused: the URL is not https");
    assert_eq!(receiver.count(), 0);
}
