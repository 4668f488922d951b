//! Several nodes on one database share the deliveries.

use std::{collections::BTreeSet, time::Duration};

use super::{happen, serve, serve_hastily, subscribe, world};
use crate::support::{Flow, Receiver, Reply, StoreKind, WAIT_TIMEOUT, Wire, World, wait_until};

fn ids(receiver: &Receiver) -> BTreeSet<String> {
    receiver.parcels().iter().map(|parcel| parcel.id().to_owned()).collect()
}

fn nothing_waits(world: &World) -> bool {
    world.shop.listed("deliveries?state=waiting").is_empty()
}

#[test]
fn two_nodes_deliver_each_event_once() {
    let world = world(StoreKind::Postgres);
    let other = serve(&world.store).run();
    let elsewhere = world.shop.at(&other);
    let receiver = Receiver::answering(|_| Reply::status(200).after(Duration::from_millis(20)));
    subscribe(&world, &receiver);
    for _ in 0..60 {
        happen(&world);
        elsewhere.prepare(Flow::Component, Wire::Square);
    }
    wait_until("all of it is delivered", WAIT_TIMEOUT, || nothing_waits(&world));
    assert_eq!((ids(&receiver).len(), receiver.count()), (120, 120));
    let by = |server: &crate::support::Server| {
        let text = String::from_utf8(server.client("").get("/metrics").body).unwrap();
        let line = text.lines().find(|line| line.contains("outcome=\"delivered\"")).unwrap().to_owned();
        line.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap()
    };
    assert_eq!(by(&world.server) + by(&other), 120);
}

#[test]
fn what_a_node_took_and_did_not_deliver_another_delivers() {
    let mut world = World::start_with(StoreKind::Postgres, serve_hastily);
    // Nobody gets an answer while the first node lives.
    let receiver = Receiver::answering(|_| Reply::status(200).after(Duration::from_millis(900)));
    subscribe(&world, &receiver);
    let references: Vec<_> = (0..20).map(|_| happen(&world)).collect();
    receiver.wait_count(4);
    world.server.kill();
    receiver.answer(|_| Reply::status(200));
    world.server = serve_hastily(&world.store).run();
    world.shop = world.shop.at(&world.server);
    wait_until("all of it is delivered", WAIT_TIMEOUT, || nothing_waits(&world));
    assert_eq!(world.shop.listed("deliveries?state=delivered").len(), references.len());
    assert_eq!(ids(&receiver).len(), references.len());
}
