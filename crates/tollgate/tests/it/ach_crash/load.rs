//! Callers at full load: new transfers, calls repeated after an error, and several callers with one key.

use std::{
    io::ErrorKind,
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};

use crate::support::{
    BankRail, BankWorld, Client, Desk, Knowledge, REFUSED_BANK, StopOnDrop, TRANSFERS, Told, randomness,
};

const CALLERS: u64 = 16;
const JSON: (&str, &str) = ("content-type", "application/json");

/// What the callers of a whole test share.
pub(super) struct Load {
    pub(super) known: Mutex<Knowledge>,
    /// Keys that were answered since the last look.
    pub(super) recent: Mutex<Vec<String>>,
    /// Keys whose callers got no answer and try again.
    again: Mutex<Vec<u64>>,
    next: AtomicU64,
    rounds: AtomicU64,
    seed: u64,
}

impl Load {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            known: Mutex::default(),
            recent: Mutex::default(),
            again: Mutex::default(),
            next: AtomicU64::new(1),
            rounds: AtomicU64::new(0),
            seed,
        }
    }

    /// Which transfer to ask for next: one that got no answer, one that another caller asks for just now, or a new one.
    fn pick(&self, random: &mut StdRng) -> u64 {
        if random.random_ratio(1, 2)
            && let Some(number) = self.again.lock().unwrap().pop()
        {
            return number;
        }
        match self.next.load(Ordering::Relaxed) {
            next if next > 3 && random.random_ratio(1, 6) => next - random.random_range(1..3),
            _ => self.next.fetch_add(1, Ordering::Relaxed),
        }
    }
}

fn key(number: u64) -> String {
    format!("transfer number {number}")
}

/// The same body for the same number, whoever asks.
fn body(desk: &Desk, number: u64) -> (Value, Told) {
    let mut body = desk.body(&key(number), 100 + number % 5_000);
    let to_be_refused = number.is_multiple_of(13);
    if to_be_refused {
        body["routingNumber"] = json!(REFUSED_BANK);
    } else if number.is_multiple_of(7) {
        body["metadata"] = json!({"speed": "instant"});
    } else if number.is_multiple_of(5) {
        body["metadata"] = json!({"speed": "same_day"});
    }
    (body, Told { to_be_refused, ..Told::default() })
}

/// Runs callers, and somebody who settles and returns transfers at the provider, until `end` has ended the server.
pub(super) fn round(world: &mut BankWorld, load: &Load, end: impl FnOnce(&mut BankWorld)) {
    let round = load.rounds.fetch_add(1, Ordering::Relaxed);
    let (desk, over) = (world.desk.clone(), AtomicBool::new(false));
    let (simulator, rail) = (world.simulator.address(), world.simulator.rail);
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (desk, over) = (&desk, &over);
            let random = randomness(load.seed, 1_000 * (round + 1) + caller);
            scope.spawn(move || call(desk, load, random, over));
        }
        let (random, over_at) = (randomness(load.seed, 1_000 * (round + 1) + 999), &over);
        scope.spawn(move || move_transfers(simulator, rail, random, over_at));
        let _stop = StopOnDrop(&over);
        end(world);
    });
}

/// Asks for transfers until the round is over.
fn call(desk: &Desk, load: &Load, mut random: StdRng, over: &AtomicBool) {
    let mut client = desk.client();
    while !over.load(Ordering::Relaxed) {
        let number = load.pick(&mut random);
        let (body, told) = body(desk, number);
        let key = key(number);
        load.known.lock().unwrap().keys.entry(key.clone()).or_insert(told);
        let sent = client.try_send("POST", TRANSFERS, &[JSON], body.to_string().as_bytes());
        match sent {
            Ok(answer) => {
                let json = answer.json();
                load.known.lock().unwrap().note(&key, answer.status, &json);
                load.recent.lock().unwrap().push(key);
            }
            Err(error) => {
                load.again.lock().unwrap().push(number);
                if error.kind() == ErrorKind::ConnectionRefused {
                    // It does not listen yet, or not anymore.
                    thread::sleep(Duration::from_millis(5));
                } else {
                    load.known.lock().unwrap().keys.entry(key).or_default().lost += 1;
                }
            }
        }
    }
}

/// Plays the networks: transfers settle, arrive at once, and come back.
fn move_transfers(simulator: SocketAddr, rail: BankRail, mut random: StdRng, over: &AtomicBool) {
    let mut wire = Client::new(simulator, crate::support::BANK_API_KEY);
    while !over.load(Ordering::Relaxed) {
        let state = Client::new(simulator, "").get("/control/state?limit=30").json();
        let rows = rail.kinds().iter().flat_map(|kind| state[rail.name()][*kind].as_array().unwrap());
        for row in rows {
            let id = row["id"].as_str().unwrap();
            let action = match random.random_range(0..8) {
                0..=2 if id.starts_with("real_time") => "complete",
                0 | 1 => "settle",
                2 => "return",
                _ => continue,
            };
            // Out of turn, it is refused; and the provider's mishaps strike here too.
            drop(wire.try_send("POST", &rail.step(id, action), &[JSON], b"{}"));
        }
        thread::sleep(Duration::from_millis(40));
    }
}
