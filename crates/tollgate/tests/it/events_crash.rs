//! `kill -9` in the midst of deliveries to a receiver that fails three times out of ten: every event arrives, under one id
//! and with one body, and none is told that did not happen.
//!
//! `TOLLGATE_CRASH_EVENTS` says how many events, `TOLLGATE_EVENT_KILLS` how often the server is killed; `make crash` is
//! the long run.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rand::RngExt as _;
use serde_json::Value;

use crate::{
    events::telling,
    support::{
        COMPONENT, Client, Receiver, Reply, Shop, Start, StopOnDrop, Store, StoreKind, Subscription, Wire,
        World, on_both_stores, randomness, seed, wait_until,
    },
};

on_both_stores! {
    every_event_survives_kills_and_a_failing_receiver
}

const DEFAULT_EVENTS: usize = 1_000;
const DEFAULT_KILLS: usize = 6;
const CALLERS: u64 = 6;
const JSON: (&str, &str) = ("content-type", "application/json");

/// A server that tries again and takes over quickly, so that a test sees what happens after.
fn impatient(store: &Store) -> Start {
    telling(store.serve_without_looks())
        .with("TOLLGATE_EVENTS_POLL_MS", "20")
        .with("TOLLGATE_EVENTS_TIMEOUT_MS", "500")
        .with("TOLLGATE_EVENTS_LEASE_MS", "2500")
        .with("TOLLGATE_EVENTS_FIRST_RETRY_MS", "4")
        .with("TOLLGATE_LOG", "warn,tollgate=info")
}

fn number(name: &str, usual: usize) -> usize {
    env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// What a receiver knows.
#[derive(Default)]
struct Told {
    /// The body each id came with first.
    bodies: BTreeMap<String, Vec<u8>>,
    /// Ids that were taken, and how often.
    taken: BTreeMap<String, usize>,
    attempts: usize,
    /// What must not be.
    surprises: Vec<String>,
}

fn failing_receiver(seed: u64) -> (Receiver, Arc<Mutex<Told>>) {
    let told = Arc::new(Mutex::new(Told::default()));
    let (noted, mut random) = (Arc::clone(&told), randomness(seed, 1));
    let receiver = Receiver::answering(move |parcel| {
        let mut told = noted.lock().unwrap();
        told.attempts += 1;
        let id = parcel.id().to_owned();
        let known = told.bodies.entry(id.clone()).or_insert_with(|| parcel.body.clone());
        if *known != parcel.body {
            told.surprises.push(format!("{id} came with another body"));
        }
        match random.random_range(0..100) {
            0..24 => Reply::status(500),
            24..28 => Reply::hang_up(),
            28..30 => Reply::status(200).after(Duration::from_mins(1)),
            _ => {
                *told.taken.entry(id).or_default() += 1;
                Reply::status(200)
            }
        }
    });
    (receiver, told)
}

/// Prepares payments until as many were acknowledged as are wanted, whatever happens to the server.
fn call(
    shop: &Shop,
    acknowledged: &Mutex<BTreeSet<String>>,
    made: &AtomicUsize,
    wanted: usize,
    over: &AtomicBool,
) {
    let mut client = shop.client();
    let body = Shop::order(Wire::Square).to_string();
    while made.load(Ordering::SeqCst) < wanted && !over.load(Ordering::SeqCst) {
        match client.try_send("POST", COMPONENT, &[JSON], body.as_bytes()) {
            Ok(answer) if answer.status == 201 => {
                let reference = answer.json()["data"]["serviceReference"].as_str().unwrap().to_owned();
                acknowledged.lock().unwrap().insert(reference);
                made.fetch_add(1, Ordering::SeqCst);
            }
            Ok(answer) => assert!(answer.status >= 500, "{}", answer.json()),
            Err(_) => {
                // It does not listen yet, or not anymore.
                client = shop.client();
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Every item of a list, oldest first.
fn followed(admin: &mut Client, path: &str) -> Vec<Value> {
    let (mut items, mut last): (Vec<Value>, _) = (Vec::new(), "evt_00000000000000000000000000".to_owned());
    loop {
        let data = admin.get(&format!("{path}?limit=200&after={last}")).data(200);
        let slice = data["items"].as_array().unwrap();
        let Some(end) = slice.last() else { return items };
        end["id"].as_str().unwrap().clone_into(&mut last);
        items.extend(slice.iter().cloned());
    }
}

fn every_event_survives_kills_and_a_failing_receiver(kind: StoreKind) {
    let (events, kills) =
        (number("TOLLGATE_CRASH_EVENTS", DEFAULT_EVENTS), number("TOLLGATE_EVENT_KILLS", DEFAULT_KILLS));
    let _alone = crate::support::alone();
    // Everything that was not taken at first is delivered by then, also by a machine that is busy with other things.
    let patience = Duration::from_secs(120) + Duration::from_millis(30) * u32::try_from(events).unwrap();
    let began = Instant::now();
    let mut world = World::start_with(kind, impatient);
    let shop = world.shop.clone();
    let (receiver, told) = failing_receiver(seed());
    Subscription::create(&mut shop.admin(), &shop.path(""), &receiver.url("/"), &["*"]);
    let (acknowledged, made, over) = (Mutex::default(), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| call(&shop, &acknowledged, &made, events, &over));
        }
        let _stop = StopOnDrop(&over);
        // Half of the kills while events are written, the other half while only deliveries are left.
        for kill in 1..=kills / 2 {
            let due = events * kill / (kills / 2 + 1);
            wait_until("more is written", patience, || made.load(Ordering::SeqCst) >= due);
            world.restart(|_| {});
        }
        wait_until("all is written", patience, || made.load(Ordering::SeqCst) >= events);
    });
    let written = began.elapsed();
    for _ in kills / 2..kills {
        let attempts = told.lock().unwrap().attempts;
        // A little is delivered between two kills, where something is left to deliver.
        let until = Instant::now() + Duration::from_millis(400);
        while told.lock().unwrap().attempts < attempts + events / 50 && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        world.restart(|_| {});
    }
    let mut admin = shop.admin();
    let deadline = Instant::now() + patience;
    loop {
        let waiting = admin.get(&shop.path("/deliveries?state=waiting&limit=3")).data(200)["items"].clone();
        if waiting.as_array().unwrap().is_empty() {
            break;
        }
        let mut endpoints = || admin.get(&shop.path("/event-endpoints")).data(200);
        assert!(
            Instant::now() < deadline,
            "not delivered within {patience:?}: {waiting:#}\n{:#}",
            endpoints()
        );
        thread::sleep(Duration::from_millis(100));
    }
    check(&shop, &acknowledged.into_inner().unwrap(), &told.lock().unwrap());
    let told = told.lock().unwrap();
    let twice = told.taken.values().filter(|times| **times > 1).count();
    println!(
        "{} events, {kills} kills, {} attempts, {twice} taken more than once, written within {written:?}, all within {:?}",
        told.taken.len(),
        told.attempts,
        began.elapsed()
    );
    assert!(told.attempts > events + events / 4, "the receiver did not fail");
}

/// What was acknowledged is told, what is told happened, and the books of both sides agree.
#[track_caller]
fn check(shop: &Shop, acknowledged: &BTreeSet<String>, told: &Told) {
    assert_eq!(told.surprises, Vec::<String>::new());
    let listed = followed(&mut shop.admin(), &shop.path("/events"));
    let ids: BTreeSet<_> = listed.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect();
    let references: BTreeSet<_> =
        listed.iter().map(|event| event["serviceReference"].as_str().unwrap().to_owned()).collect();
    assert_eq!((ids.len(), references.len()), (listed.len(), listed.len()), "an event is there twice");
    assert!(acknowledged.is_subset(&references), "a payment was acknowledged and never told");
    let delivered = shop.listed("deliveries?state=delivered");
    let parked = shop.listed("deliveries?state=parked");
    assert_eq!(parked, Vec::<Value>::new(), "three days are not over");
    let delivered: BTreeSet<_> =
        delivered.iter().map(|delivery| delivery["eventId"].as_str().unwrap().to_owned()).collect();
    assert_eq!(delivered, ids, "an event is lost");
    // An answer that came too late may count on one side and not on the other, but then another one came in time.
    let taken: BTreeSet<_> = told.taken.keys().cloned().collect();
    assert_eq!(taken, ids, "an event was never taken, or never happened");
    for (id, body) in &told.bodies {
        let body: Value = serde_json::from_slice(body).unwrap();
        assert!(references.contains(body["data"]["payment"]["serviceReference"].as_str().unwrap()), "{id}");
    }
}
