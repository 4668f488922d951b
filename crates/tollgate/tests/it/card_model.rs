//! Card payments at random: prepared, paid, captured, voided, refunded by callers and at the provider, disputed, with
//! refunds that fail late, webhooks that get lost, doubled or reordered, calls that fail in every way, and servers
//! killed in the midst of it. After every round the provider's record, the payments, their refunds, the events and the
//! ledger have to tell the same.
//!
//! `TOLLGATE_CARD_STEPS` says how many steps; `make model` takes many more than `make test`.

mod agreement;
mod lane;

use std::{
    env,
    sync::atomic::AtomicBool,
    thread,
    time::{Duration, Instant},
};

use rand::RngExt;
use serde_json::json;

use crate::support::{Start, StopOnDrop, Store, StoreKind, on_both_stores, randomness, seed};
use lane::{Lane, Tally};

const DEFAULT_STEPS: u64 = 400;

/// Until everything is left alone and checked.
struct Round {
    lanes: u64,
    steps_per_lane: u64,
    kills_max: u64,
}

const SHORT: Round = Round { lanes: 4, steps_per_lane: 50, kills_max: 2 };
const LONG: Round = Round { lanes: 16, steps_per_lane: 300, kills_max: 8 };

/// Gives up calls and takes over work quickly: a kill costs its lease.
fn start(store: &Store) -> Start {
    store
        .serve()
        .with("TOLLGATE_PROVIDER_TIMEOUT_MS", "300")
        .with("TOLLGATE_PROVIDER_DEADLINE_MS", "900")
        .with("TOLLGATE_RESOLVER_LEASE_MS", "2000")
}

fn everybody_tells_the_same(kind: StoreKind) {
    let given = env::var("TOLLGATE_CARD_STEPS").ok();
    let steps =
        given.map_or(DEFAULT_STEPS, |text| text.parse().expect("TOLLGATE_CARD_STEPS is not a number"));
    let (seed, began) = (seed(), Instant::now());
    let mut random = randomness(seed, 0);
    let store = Store::new(kind);
    let mut server = start(&store).run();
    let (mut tally, mut kills) = (Tally::default(), 0);
    let Round { lanes: count, steps_per_lane, kills_max } = if steps > DEFAULT_STEPS { LONG } else { SHORT };
    let rounds = steps.div_ceil(count * steps_per_lane);
    for round in 0..rounds {
        let lanes: Vec<_> = (round * count..(round + 1) * count)
            .map(|number| Lane::open(&server, randomness(seed, 1 + number), number))
            .collect();
        let is_over = AtomicBool::new(false);
        let kills_this_round = random.random_range(0..=kills_max);
        let pauses: Vec<_> = (0..kills_this_round)
            .map(|_| Duration::from_millis(random.random_range(50..steps_per_lane * 20)))
            .collect();
        thread::scope(|scope| {
            let stop = StopOnDrop(&is_over);
            let working: Vec<_> = lanes
                .into_iter()
                .map(|mut lane| {
                    let is_over = &is_over;
                    scope.spawn(move || {
                        lane.work(steps_per_lane, is_over);
                        lane
                    })
                })
                .collect();
            for pause in pauses {
                thread::sleep(pause);
                let address = server.address().to_string();
                server.kill();
                server = start(&store).with("TOLLGATE_LISTEN", &address).run();
                kills += 1;
            }
            drop(stop);
            let checking: Vec<_> = working
                .into_iter()
                .map(|lane| {
                    let lane = lane.join().unwrap();
                    scope.spawn(move || agreement::check(&lane, &format!("round {round}, seed {seed}")))
                })
                .collect();
            for lane in checking {
                tally.add(&lane.join().unwrap());
            }
        });
        if steps > DEFAULT_STEPS {
            println!(
                "{kind:?}: round {round} of {rounds}, {kills} kills in {:?}: {tally:?}",
                began.elapsed()
            );
        }
        let audit = server.admin().get("/admin/v1/audit").data(200);
        assert_eq!(audit["findings"], json!([]), "round {round}, seed {seed}");
    }
    println!("{kind:?}: {} kills in {:?}: {tally:?}", kills, began.elapsed());
    assert!(tally.payments > 0 && tally.refunds > 0, "{tally:?}");
}

on_both_stores! { everybody_tells_the_same }
