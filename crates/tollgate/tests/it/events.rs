//! Events out: what happens is told, signed, to whoever wants it, until they have it.

mod addresses;
mod audit_head;
mod deliveries;
mod endpoints;
mod flows;
mod following;
mod lists;
mod nodes;
mod privacy;
mod proposals;
mod resending;

use serde_json::{Value, json};

use crate::support::{Flow, Receiver, Start, Store, StoreKind, Subscription, Wire, World, wait_until};

/// A server that may tell this machine, and whose pauses a test can wait for. On a machine that is busy with other things a
/// receiver answers late, and is not told twice for that.
pub fn telling(start: Start) -> Start {
    start
        .with("TOLLGATE_ALLOW_PRIVATE_ENDPOINTS", "true")
        .with("TOLLGATE_EVENTS_POLL_MS", "50")
        .with("TOLLGATE_EVENTS_LEASE_MS", "120000")
        .with("TOLLGATE_EVENTS_TIMEOUT_MS", "60000")
        .with("TOLLGATE_EVENTS_FIRST_RETRY_MS", "100")
}

fn serve(store: &Store) -> Start {
    telling(store.serve_without_looks())
}

/// The same, where a receiver that says nothing is given up on soon, and what a node took is soon another's.
fn serve_hastily(store: &Store) -> Start {
    serve(store).with("TOLLGATE_EVENTS_TIMEOUT_MS", "1000").with("TOLLGATE_EVENTS_LEASE_MS", "3000")
}

fn world(kind: StoreKind) -> World {
    World::start_with(kind, serve)
}

/// An endpoint of the world's shop for all events.
#[track_caller]
fn subscribe(world: &World, receiver: &Receiver) -> Subscription {
    subscribe_to(world, receiver, &["*"])
}

#[track_caller]
fn subscribe_to(world: &World, receiver: &Receiver, events: &[&str]) -> Subscription {
    let shop = &world.shop;
    Subscription::create(&mut shop.admin(), &shop.path(""), &receiver.url("/events?from=tollgate"), events)
}

/// One event: a payment that is prepared without asking its provider.
#[track_caller]
fn happen(world: &World) -> String {
    world.shop.prepare(Flow::Component, Wire::Square).reference
}

/// The only event about a payment, as the operator sees it.
#[track_caller]
fn sole_event(world: &World, reference: &str) -> Value {
    let events = world.shop.listed(&format!("events?reference={reference}"));
    assert_eq!(events.len(), 1, "{events:?}");
    let id = events[0]["id"].as_str().unwrap();
    world.shop.admin().get(&world.shop.path(&format!("/events/{id}"))).data(200)
}

/// The only delivery of the only event about a payment.
#[track_caller]
fn delivery(world: &World, reference: &str) -> Value {
    let event = sole_event(world, reference);
    let deliveries = event["deliveries"].as_array().unwrap();
    assert_eq!(deliveries.len(), 1, "{event:#}");
    deliveries[0].clone()
}

#[track_caller]
fn wait_state(world: &World, reference: &str, state: &str) -> Value {
    let what = format!("the delivery is {state}");
    wait_until(&what, crate::support::WAIT_TIMEOUT, || delivery(world, reference)["state"] == state);
    delivery(world, reference)
}

#[track_caller]
fn resend(world: &World, event: &str, body: &Value) -> Value {
    let path = world.shop.path(&format!("/events/{event}/resend"));
    world.shop.admin().post(&path, body).data(200)
}

/// The id of an event in an answer.
fn id(event: &Value) -> String {
    event["id"].as_str().unwrap().to_owned()
}

/// A body that no endpoint takes.
fn nothing() -> Value {
    json!({})
}
