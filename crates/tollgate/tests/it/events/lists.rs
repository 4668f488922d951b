//! Reading events and deliveries back.

use serde_json::{Value, json};

use super::{happen, id, sole_event, subscribe, wait_state, world};
use crate::support::{Flow, Receiver, Reply, StoreKind, Wire, on_both_stores};

on_both_stores! {
    events_are_listed_both_ways_and_by_filter
    deliveries_are_listed_by_filter_and_in_slices
    an_event_is_read_with_what_was_sent
}

fn events_are_listed_both_ways_and_by_filter(kind: StoreKind) {
    let world = world(kind);
    let shop = &world.shop;
    let mut references: Vec<_> = (0..7).map(|_| happen(&world)).collect();
    let paid = world.paid(Flow::Component, Wire::Square).reference;
    references.push(paid.clone());
    let newest_first = shop.listed("events");
    let told: Vec<_> =
        newest_first.iter().rev().map(|event| event["serviceReference"].as_str().unwrap()).collect();
    assert_eq!(&told[..8], references.iter().map(String::as_str).collect::<Vec<_>>());
    let ids: Vec<_> = newest_first.iter().rev().map(id).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    // A follower reads on from the last one it has seen.
    let mut admin = shop.admin();
    let (mut followed, mut last) = (vec![ids[0].clone()], ids[0].clone());
    loop {
        let data = admin.get(&shop.path(&format!("/events?after={last}&limit=3"))).data(200);
        let items = data["items"].as_array().unwrap().clone();
        followed.extend(items.iter().map(id));
        match items.last() {
            Some(item) => last = id(item),
            None => break,
        }
    }
    assert_eq!(followed, ids);
    let before = admin.get(&shop.path(&format!("/events?before={}&limit=2", ids[4]))).data(200);
    let before: Vec<_> = before["items"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(before, [ids[3].clone(), ids[2].clone()]);
    let of_paid = shop.listed(&format!("events?reference={paid}"));
    assert_eq!(of_paid.len(), 1 + shop.moves(&paid).len());
    assert_eq!(shop.listed("events?type=payment.prepared").len(), 8);
    let both = shop.listed(&format!("events?type=transaction.succeeded&reference={paid}"));
    assert_eq!(both.len(), 1);
    for (query, field) in [
        ("type=nothing", "type"),
        ("reference=x", "reference"),
        ("before=x", "before"),
        ("after=x", "after"),
        (format!("after={last}&before={last}").as_str(), "after"),
        ("limit=0", "limit"),
    ] {
        assert_eq!(admin.get(&shop.path(&format!("/events?{query}"))).faulty_fields(), [field], "{query}");
    }
}

fn deliveries_are_listed_by_filter_and_in_slices(kind: StoreKind) {
    let world = world(kind);
    let shop = &world.shop;
    let (good, bad) = (Receiver::open(), Receiver::answering(|_| Reply::status(500)));
    let (to_good, to_bad) = (subscribe(&world, &good), subscribe(&world, &bad));
    let references: Vec<_> = (0..6).map(|_| happen(&world)).collect();
    good.wait_count(6);
    crate::support::wait_until("all are recorded", crate::support::WAIT_TIMEOUT, || {
        shop.listed("deliveries?state=delivered").len() == 6
    });
    let all = shop.listed("deliveries");
    assert_eq!(all.len(), 12);
    let place = |delivery: &Value| {
        (
            delivery["eventId"].as_str().unwrap().to_owned(),
            delivery["endpointId"].as_str().unwrap().to_owned(),
        )
    };
    let places: Vec<_> = all.iter().map(place).collect();
    assert!(
        places
            .windows(2)
            .all(|pair| pair[0].0 > pair[1].0 || (pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1))
    );
    // In slices that end in the midst of an event.
    let (mut admin, mut sliced, mut cursor) = (shop.admin(), Vec::new(), String::new());
    loop {
        let data = admin.get(&shop.path(&format!("/deliveries?limit=5{cursor}"))).data(200);
        sliced.extend(data["items"].as_array().unwrap().iter().map(place));
        match data["nextCursor"].as_str() {
            Some(next) => cursor = format!("&before={next}"),
            None => break,
        }
    }
    assert_eq!(sliced, places);
    let of_good = shop.listed(&format!("deliveries?endpointId={}", to_good.id));
    assert!(of_good.len() == 6 && of_good.iter().all(|delivery| delivery["state"] == "delivered"));
    let of_bad = shop.listed(&format!("deliveries?endpointId={}&state=waiting", to_bad.id));
    assert_eq!(of_bad.len(), 6);
    let event = id(&sole_of(&world, &references[0]));
    assert_eq!(shop.listed(&format!("deliveries?eventId={event}")).len(), 2);
    for (query, field) in [("state=lost", "state"), ("endpointId=x", "endpointId"), ("before=x", "before")] {
        assert_eq!(admin.get(&shop.path(&format!("/deliveries?{query}"))).faulty_fields(), [field]);
    }
    // With the endpoint go its deliveries; the events stay.
    admin.delete(&to_bad.path).data(200);
    assert_eq!(shop.listed("deliveries").len(), 6);
    assert_eq!(shop.listed("events").len(), 6);
}

fn sole_of(world: &crate::support::World, reference: &str) -> Value {
    world.shop.listed(&format!("events?reference={reference}"))[0].clone()
}

fn an_event_is_read_with_what_was_sent(kind: StoreKind) {
    let world = world(kind);
    let receiver = Receiver::open();
    let subscription = subscribe(&world, &receiver);
    let reference = happen(&world);
    wait_state(&world, &reference, "delivered");
    let event = sole_event(&world, &reference);
    let parcel = receiver.parcels()[0].clone();
    assert_eq!((event["id"].as_str(), &event["body"]), (Some(parcel.id()), &parcel.json()));
    assert_eq!((&event["type"], &event["serviceReference"]), (&json!("payment.prepared"), &json!(reference)));
    assert_eq!(event["timestamp"], parcel.json()["timestamp"]);
    let delivery = &event["deliveries"][0];
    assert_eq!(delivery["endpointId"], subscription.id.as_str());
    assert_eq!((&delivery["state"], &delivery["lastTry"]["status"]), (&json!("delivered"), &json!(200)));
}
