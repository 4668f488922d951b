//! Receivers that fail, are slow, are gone or send us elsewhere.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{delivery, happen, serve_hastily, subscribe, telling, wait_state, world};
use crate::support::{
    Gate, Receiver, Reply, Start, Store, StoreKind, WAIT_TIMEOUT, World, on_both_stores, wait_until,
};

on_both_stores! {
    what_fails_is_tried_again_with_the_same_id_and_body
    redirects_are_failures_and_are_not_followed
    a_receiver_that_is_gone_is_told_nothing_more
    a_wish_for_patience_is_respected
    a_receiver_that_does_not_answer_is_given_up_on_in_time
    what_nobody_takes_is_parked_for_the_operator
    a_slow_receiver_keeps_no_other_waiting
    what_is_written_is_delivered_at_once
    a_server_that_stops_finishes_what_it_began
    attempts_are_counted
}

fn what_fails_is_tried_again_with_the_same_id_and_body(kind: StoreKind) {
    let world = world(kind);
    let mut statuses = [500, 400, 404, 200].into_iter();
    let receiver = Receiver::answering(move |_| Reply::status(statuses.next().unwrap_or(500)));
    let subscription = subscribe(&world, &receiver);
    let reference = happen(&world);
    let delivered = wait_state(&world, &reference, "delivered");
    let parcels = receiver.parcels();
    assert_eq!(parcels.len(), 4);
    for parcel in &parcels {
        assert_eq!((parcel.id(), &parcel.body), (parcels[0].id(), &parcels[0].body));
        assert!(parcel.is_signed_with(&subscription.secret));
    }
    let pauses: Vec<_> = parcels.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    // The pauses grow: 100 ms, six times as long, 24 times as long, each a tenth more or less. How much longer they
    // may be is not for a test to say, on a machine busy with others.
    for (pause, expected) in pauses.iter().zip([100, 600, 2_400]) {
        assert!(*pause >= Duration::from_millis(expected * 9 / 10), "{pauses:?}");
    }
    assert_eq!((&delivered["tries"], &delivered["lastTry"]["status"]), (&json!(4), &json!(200)));
    assert_eq!(
        (&delivered["nextTryAt"], &delivered["lastTry"]["note"]),
        (&Value::Null, &json!("answered 200"))
    );
    assert_eq!(subscription.read(&mut world.shop.admin())["failures"], 0);
}

fn redirects_are_failures_and_are_not_followed(kind: StoreKind) {
    let world = world(kind);
    let target = Receiver::open();
    let location = target.url("/");
    let receiver = Receiver::answering(move |_| Reply::status(307).with("location", &location));
    subscribe(&world, &receiver);
    let reference = happen(&world);
    receiver.wait_count(2);
    wait_until("it is recorded", WAIT_TIMEOUT, || delivery(&world, &reference)["lastTry"]["status"] == 307);
    let failed = delivery(&world, &reference);
    assert_eq!(failed["state"], "waiting");
    assert_eq!(failed["lastTry"]["note"], "answered 307; redirects are not followed");
    assert_eq!(target.count(), 0);
}

fn a_receiver_that_is_gone_is_told_nothing_more(kind: StoreKind) {
    let world = world(kind);
    let receiver = Receiver::answering(|_| Reply::status(410));
    let subscription = subscribe(&world, &receiver);
    let first = happen(&world);
    let parked = wait_state(&world, &first, "parked");
    assert_eq!((&parked["tries"], &parked["lastTry"]["status"]), (&json!(1), &json!(410)));
    let mut admin = world.shop.admin();
    let endpoint = subscription.read(&mut admin);
    assert_eq!(endpoint["enabled"], false);
    assert!(endpoint["disabledReason"].as_str().unwrap().contains("410"), "{endpoint:#}");
    let second = happen(&world);
    assert_eq!(super::sole_event(&world, &second)["deliveries"], json!([]));
    // Enabled again, it is told what happens; and what was parked, once that is asked for.
    receiver.answer(|_| Reply::status(204));
    let enabled = subscription.change(&mut admin, &json!({"enabled": true}));
    assert_eq!((&enabled["enabled"], &enabled["disabledReason"]), (&json!(true), &Value::Null));
    let third = happen(&world);
    wait_state(&world, &third, "delivered");
    assert_eq!(delivery(&world, &first)["state"], "parked");
    let range = json!({"from": "2020-01-01T00:00:00Z", "parkedOnly": true});
    let resent = admin.post(&world.shop.path("/events/resend"), &range).data(200);
    assert_eq!(resent, json!({"deliveries": 1, "hasMore": false, "nextAfter": null}));
    wait_state(&world, &first, "delivered");
}

fn a_wish_for_patience_is_respected(kind: StoreKind) {
    let world = world(kind);
    let mut is_first = true;
    let receiver = Receiver::answering(move |_| {
        if std::mem::take(&mut is_first) {
            return Reply::status(429).with("retry-after", "2");
        }
        Reply::status(200)
    });
    let subscription = subscribe(&world, &receiver);
    let reference = happen(&world);
    wait_until("it is recorded", WAIT_TIMEOUT, || delivery(&world, &reference)["lastTry"]["status"] == 429);
    assert_ne!(subscription.read(&mut world.shop.admin())["restsUntil"], Value::Null);
    wait_state(&world, &reference, "delivered");
    let parcels = receiver.parcels();
    assert_eq!(parcels.len(), 2);
    let pause = parcels[1].at - parcels[0].at;
    assert!(pause >= Duration::from_millis(1_990), "{pause:?}");
}

fn a_receiver_that_does_not_answer_is_given_up_on_in_time(kind: StoreKind) {
    let world = World::start_with(kind, serve_hastily);
    let receiver = Receiver::answering(|_| Reply::status(200).after(Duration::from_secs(60)));
    subscribe(&world, &receiver);
    let reference = happen(&world);
    wait_until("it is recorded", WAIT_TIMEOUT, || !delivery(&world, &reference)["lastTry"].is_null());
    let failed = delivery(&world, &reference);
    assert_eq!((&failed["state"], &failed["lastTry"]["status"]), (&json!("waiting"), &Value::Null));
    assert_eq!(failed["lastTry"]["note"], "no complete response within 1000 ms");
    assert!(failed["lastTry"]["tookMs"].as_u64().unwrap() >= 1_000);
    receiver.answer(|_| Reply::status(200));
    wait_state(&world, &reference, "delivered");
}

fn impatient(store: &Store) -> Start {
    telling(store.serve_without_looks()).with("TOLLGATE_EVENTS_SPAN_MS", "3000")
}

fn what_nobody_takes_is_parked_for_the_operator(kind: StoreKind) {
    let world = World::start_with(kind, impatient);
    let receiver = Receiver::answering(|_| Reply::status(503));
    subscribe(&world, &receiver);
    let began = Instant::now();
    let reference = happen(&world);
    let parked = wait_state(&world, &reference, "parked");
    let took = began.elapsed();
    let tries = parked["tries"].as_u64().unwrap();
    assert!((2..=6).contains(&tries), "{parked:#}");
    assert_eq!((&parked["nextTryAt"], &parked["lastTry"]["status"]), (&Value::Null, &json!(503)));
    let parcels = receiver.parcels();
    assert_eq!(u64::try_from(parcels.len()).unwrap(), tries);
    assert!(took >= Duration::from_millis(2_990), "it is not given up before the end: {took:?}");
    let listed = world.shop.listed("deliveries?state=parked");
    assert_eq!(listed, [parked]);
    // Sent again it has the whole span again.
    receiver.answer(|_| Reply::status(200));
    let event = super::sole_event(&world, &reference);
    super::resend(&world, &super::id(&event), &super::nothing());
    let delivered = wait_state(&world, &reference, "delivered");
    assert_eq!(delivered["tries"], 1);
    assert_eq!(receiver.parcels().last().unwrap().body, parcels[0].body);
}

/// How many deliveries an endpoint is given at a time.
const AT_ONCE: usize = 8;

fn a_slow_receiver_keeps_no_other_waiting(kind: StoreKind) {
    let world = world(kind);
    let gate = Arc::new(Gate::default());
    let held = Arc::clone(&gate);
    let slow = Receiver::answering(move |_| Reply::status(200).behind(&held));
    let quick = Receiver::open();
    subscribe(&world, &slow);
    subscribe(&world, &quick);
    let count = 60;
    for _ in 0..count {
        happen(&world);
    }
    quick.wait_count(count);
    assert!(slow.wait_count(1).len() <= AT_ONCE, "the slow one has more than it can have under way");
    gate.open();
    slow.wait_count(count);
    assert!(slow.most_at_once() <= AT_ONCE, "{} at once", slow.most_at_once());
    wait_until("all is recorded", WAIT_TIMEOUT, || world.shop.listed("deliveries?state=waiting").is_empty());
    let ids: std::collections::BTreeSet<_> =
        slow.parcels().iter().map(|parcel| parcel.id().to_owned()).collect();
    assert_eq!((ids.len(), slow.count()), (count, count), "each came once");
}

fn unhurried(store: &Store) -> Start {
    telling(store.serve_without_looks()).with("TOLLGATE_EVENTS_POLL_MS", "600000")
}

fn what_is_written_is_delivered_at_once(kind: StoreKind) {
    let world = World::start_with(kind, unhurried);
    let receiver = Receiver::open();
    subscribe(&world, &receiver);
    for number in 1..=5 {
        happen(&world);
        receiver.wait_count(number);
    }
    let paid = world.paid(crate::support::Flow::Hosted, crate::support::Wire::Stripe);
    wait_until("all of it is told", WAIT_TIMEOUT, || receiver.told_of(&paid.reference).len() >= 2);
}

fn a_server_that_stops_finishes_what_it_began(kind: StoreKind) {
    let mut world = world(kind);
    let receiver = Receiver::answering(|_| Reply::status(200).after(Duration::from_millis(600)));
    subscribe(&world, &receiver);
    let reference = happen(&world);
    receiver.wait_count(1);
    assert!(world.server.terminate().success());
    world.restart(|_| {});
    assert_eq!(delivery(&world, &reference)["state"], "delivered");
    assert_eq!(receiver.count(), 1, "it was not made twice");
}

fn attempts_are_counted(kind: StoreKind) {
    let world = world(kind);
    let mut statuses = [500].into_iter();
    let receiver = Receiver::answering(move |_| Reply::status(statuses.next().unwrap_or(200)));
    subscribe(&world, &receiver);
    let reference = happen(&world);
    wait_state(&world, &reference, "delivered");
    let answer = world.server.client("").get("/metrics");
    let text = String::from_utf8(answer.body).unwrap();
    for (outcome, count) in [("delivered", 1), ("failed", 1), ("parked", 0)] {
        let line = format!("tollgate_event_deliveries_total{{outcome=\"{outcome}\"}} {count}\n");
        assert!(text.contains(&line), "{line}");
    }
}
