//! Sending again: one event, or those of a span of time.

use serde_json::json;

use super::{happen, id, resend, sole_event, subscribe, subscribe_to, wait_state, world};
use crate::support::{Receiver, StoreKind, WAIT_TIMEOUT, on_both_stores, wait_until};

on_both_stores! {
    one_event_is_sent_again
    events_of_a_span_are_sent_again
}

fn one_event_is_sent_again(kind: StoreKind) {
    let world = world(kind);
    let (all, none) = (Receiver::open(), Receiver::open());
    let to_all = subscribe(&world, &all);
    let to_none = subscribe_to(&world, &none, &["transaction.refunded"]);
    let reference = happen(&world);
    wait_state(&world, &reference, "delivered");
    let event = id(&sole_event(&world, &reference));
    let resent = resend(&world, &event, &json!({}));
    assert_eq!(resent, json!({"deliveries": 1, "hasMore": false, "nextAfter": null}));
    let parcels = all.wait_count(2);
    assert_eq!((parcels[0].id(), &parcels[0].body), (parcels[1].id(), &parcels[1].body));
    // To an endpoint that usually does not want it, and to one that was not there yet.
    let late = Receiver::open();
    let to_late = subscribe(&world, &late);
    for (receiver, endpoint) in [(&none, &to_none), (&late, &to_late)] {
        assert_eq!(resend(&world, &event, &json!({"endpointId": endpoint.id}))["deliveries"], 1);
        assert_eq!(receiver.wait_count(1)[0].id(), event);
    }
    assert_eq!(all.count(), 2, "{}", to_all.id);
    let log = world.server.log();
    assert!(log.contains("events resent"));
    let unknown = world.shop.path("/events/evt_01jz0000000000000000000000/resend");
    assert_eq!(world.shop.admin().post(&unknown, &json!({})).failure(404), "not_found");
}

fn events_of_a_span_are_sent_again(kind: StoreKind) {
    let world = world(kind);
    let receiver = Receiver::open();
    let subscription = subscribe(&world, &receiver);
    for _ in 0..10 {
        happen(&world);
        // Each at a moment of its own.
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    receiver.wait_count(10);
    let settled = || world.shop.listed("deliveries?state=delivered").len() == 10;
    wait_until("all is delivered", WAIT_TIMEOUT, settled);
    receiver.forget();
    let mut events = world.shop.listed("events");
    events.reverse();
    let (from, until) = (&events[3]["timestamp"], &events[7]["timestamp"]);
    let mut admin = world.shop.admin();
    let path = world.shop.path("/events/resend");
    let parked = json!({"from": from, "until": until, "parkedOnly": true});
    assert_eq!(admin.post(&path, &parked).data(200)["deliveries"], 0);
    let range = json!({"from": from, "until": until, "endpointId": subscription.id});
    let resent = admin.post(&path, &range).data(200);
    assert_eq!(resent, json!({"deliveries": 4, "hasMore": false, "nextAfter": null}));
    receiver.wait_count(4);
    wait_until("all is delivered", WAIT_TIMEOUT, settled);
    let mut came: Vec<_> = receiver.parcels().iter().map(|parcel| parcel.id().to_owned()).collect();
    came.sort();
    assert_eq!(came, events[3..7].iter().map(id).collect::<Vec<_>>(), "the end is not included");
    assert_eq!(admin.post(&path, &json!({"from": events[9]["timestamp"]})).data(200)["deliveries"], 1);
    let unknown = json!({"from": from, "endpointId": "ep_01jz0000000000000000000000"});
    assert_eq!(admin.post(&path, &unknown).failure(404), "not_found");
}
