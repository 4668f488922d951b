//! A follower keeps the last event it has read and asks for what comes after: it misses none, however many write at once.

use std::{
    collections::BTreeSet,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::Value;

use super::id;
use crate::support::{BankWorld, Client, Desk, On, StopOnDrop, on_each_store};

on_each_store! {
    a_follower_reads_every_event_once_while_many_write
}

const WRITERS: usize = 8;
const TRANSFERS_EACH: usize = 12;
const BEGINNING: &str = "evt_00000000000000000000000000";

/// One slice of what comes after an event.
fn slice(admin: &mut Client, desk: &Desk, after: &str, limit: usize) -> Vec<String> {
    let data = admin.get(&desk.path(&format!("/events?after={after}&limit={limit}"))).data(200);
    data["items"].as_array().unwrap().iter().map(id).collect()
}

/// Reads on until everything was written, and then to the end.
fn follow(desk: &Desk, is_done: &AtomicBool) -> Vec<String> {
    let mut admin = desk.admin();
    let mut read = Vec::new();
    loop {
        let was_done = is_done.load(Ordering::SeqCst);
        let after = read.last().map_or(BEGINNING, String::as_str);
        let next = slice(&mut admin, desk, after, 5);
        if next.is_empty() && was_done {
            return read;
        }
        read.extend(next);
    }
}

fn a_follower_reads_every_event_once_while_many_write(on: On) {
    let world = BankWorld::start_without_looks(on);
    // On PostgreSQL, a second node writes and is followed, too.
    let second = (on == On::Postgres).then(|| world.store.serve_without_looks().run());
    let other = second.as_ref().map_or_else(|| world.desk.clone(), |server| world.desk.at(server));
    let desks = [&world.desk, &other];
    let is_done = AtomicBool::new(false);
    let start = Barrier::new(WRITERS);
    let (references, followed) = thread::scope(|scope| {
        let stop = StopOnDrop(&is_done);
        let followers: Vec<_> =
            desks.map(|desk| scope.spawn(|| follow(desk, &is_done))).into_iter().collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (desk, start) = (desks[writer % 2], &start);
                scope.spawn(move || {
                    start.wait();
                    let made = |number| desk.made(&desk.body(&format!("writer {writer}, {number}"), 100));
                    (0..TRANSFERS_EACH).map(made).collect::<Vec<String>>()
                })
            })
            .collect();
        let references: Vec<String> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        drop(stop);
        let followed: Vec<_> = followers.into_iter().map(|follower| follower.join().unwrap()).collect();
        (references, followed)
    });

    // The answers came after the commits, so that everything is there: pending and processing of each.
    let mut admin = world.desk.admin();
    let (mut all, mut told) = (Vec::new(), BTreeSet::new());
    loop {
        let after = all.last().map_or(BEGINNING, String::as_str);
        let data = admin.get(&world.desk.path(&format!("/events?after={after}&limit=100"))).data(200);
        let items: Vec<Value> = data["items"].as_array().unwrap().clone();
        let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
        told.extend(items.iter().map(|event| (text(event, "serviceReference"), text(event, "type"))));
        all.extend(items.iter().map(id));
        if data["nextCursor"].is_null() {
            break;
        }
    }
    for reference in &references {
        for kind in ["transaction.pending", "transaction.processing"] {
            assert!(told.contains(&(reference.clone(), kind.to_owned())), "{reference} {kind}");
        }
    }
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "none comes twice");
    for followed in followed {
        let missed = all.iter().filter(|id| !followed.contains(id)).count();
        assert_eq!(missed, 0, "of {} events", all.len());
        assert_eq!(followed, all, "each once, in the order of a later reading");
    }
    // A place that is lost is an error, never silence.
    let unknown =
        world.another_desk().admin().get(&world.desk.path("/events?after=evt_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"));
    assert_eq!(unknown.faulty_fields(), ["after"]);
}
