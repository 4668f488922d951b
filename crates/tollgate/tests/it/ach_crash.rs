//! `kill -9` in the midst of transfers: what was acknowledged is there, the provider takes each transfer once, and the
//! books balance. Before that is believed, the world is tampered with, and the same checks have to notice it.
//!
//! `TOLLGATE_CRASH_KILLS` says how often each store's server is killed; `make crash` is the long run.

#[cfg(feature = "failpoints")]
mod cards;
mod load;

use std::{
    env, fs,
    path::Path,
    time::{Duration, Instant},
};

use rand::RngExt;
use serde_json::json;

use crate::support::{
    BankRail, BankStore, BankWorld, Desk, Knowledge, On, REFUSED_BANK, Start, TRANSFERS, bank_complaints,
    is_long_run, on_each_rail, on_each_store, randomness, seed, settle_down, wait_until,
};
use load::{Load, round};

const DEFAULT_KILLS: u64 = 22;
/// The same where the provider is not the first.
const SECOND_RAIL_KILLS: u64 = 8;
/// After so many kills everything is left alone until nothing is in flight, and all of it is checked.
const KILLS_BETWEEN_CHECKS: u64 = 11;
/// Everything that was in flight is known by then, also on a machine so busy that most calls are given up.
const RESOLVED_WITHIN: Duration = Duration::from_secs(180);

/// A server that gives up calls and takes over work quickly, so that a test sees what happens after.
fn impatient(store: &BankStore) -> Start {
    store
        .serve()
        .with("TOLLGATE_PROVIDER_TIMEOUT_MS", "300")
        .with("TOLLGATE_PROVIDER_DEADLINE_MS", "800")
        .with("TOLLGATE_RESOLVER_LEASE_MS", "1800")
}

fn kills(rail: BankRail) -> u64 {
    let given = env::var("TOLLGATE_CRASH_KILLS").ok();
    let default = if rail == BankRail::Increase { DEFAULT_KILLS } else { SECOND_RAIL_KILLS };
    given.map_or(default, |text| text.parse().expect("TOLLGATE_CRASH_KILLS is not a number"))
}

/// Leaves the world alone until nothing is in flight, and checks all of it.
#[track_caller]
fn check_everything(world: &BankWorld, load: &Load, trigger: &str) -> Duration {
    world.simulator.clear_faults();
    let began = Instant::now();
    let open = settle_down(&world.desk, &world.simulator, RESOLVED_WITHIN);
    assert!(open.is_empty(), "{trigger}: not resolved within {RESOLVED_WITHIN:?}:\n{}", shown(&open));
    let took = began.elapsed();
    let known = load.known.lock().unwrap();
    let found = bank_complaints(&world.desk, &world.simulator, &known, Desk::FUNDS);
    assert!(found.is_empty(), "{trigger}:\n{}", shown(&found));
    took
}

fn shown(lines: &[String]) -> String {
    lines.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
}

/// Checks what can be checked while work is in flight.
#[track_caller]
fn check_at_once(world: &BankWorld, load: &Load, trigger: &str) {
    let known = load.known.lock().unwrap();
    let mut found = known.surprises.clone();
    let recent = std::mem::take(&mut *load.recent.lock().unwrap());
    found.extend(known.broken_promises(&world.desk, recent.iter()));
    found.extend(world.desk.audit());
    let wallet = world.desk.wallet();
    if wallet.sum() != Desk::FUNDS {
        found.push(format!("the wallet does not add up: {wallet:?}"));
    }
    for (key, taken) in world.simulator.accepted(3_000) {
        if taken.len() > 1 {
            found.push(format!("the provider took {key} {} times", taken.len()));
        }
    }
    assert!(found.is_empty(), "{trigger}:\n{}", shown(&found));
}

/// Mishaps at the provider, of which the next calls meet a few.
fn mishaps(world: &BankWorld, random: &mut impl RngExt) {
    const KINDS: [&str; 13] = [
        "timeout_before",
        "timeout_after",
        "error_before",
        "error_after",
        "reset",
        "rate_limited",
        "slow",
        "malformed",
        "torn",
        "unknown_status",
        "webhook_never",
        "webhook_twice",
        "webhook_late",
    ];
    world.simulator.clear_faults();
    for _ in 0..random.random_range(0..5) {
        let kind = KINDS[random.random_range(0..KINDS.len())];
        let rail = world.simulator.rail;
        let create = rail.operation("create");
        let instant = format!("{}.create", rail.kinds().get(1).unwrap_or(&rail.kinds()[0]));
        let operations = [create.as_str(), &create, &instant, "*"];
        let operation = operations[random.random_range(0..operations.len())];
        // A return of which no webhook comes is only found by the daily check, for which no test waits.
        let operation = if kind == "webhook_never" { &create } else { operation };
        world.simulator.fault(operation, kind, random.random_range(1..4), 500);
    }
}

fn the_account_survives_kills(on: On, rail: BankRail) {
    let (kills, seed, began) = (kills(rail), seed(), Instant::now());
    let mut random = randomness(seed, 0);
    let mut world = BankWorld::start_as(on, rail, impatient);
    let load = Load::new(seed);
    let mut slowest = Duration::ZERO;
    for kill in 1..=kills {
        mishaps(&world, &mut random);
        let pause = Duration::from_millis(random.random_range(20..700));
        round(&mut world, &load, |world| {
            std::thread::sleep(pause);
            world.server.kill();
        });
        world.serve_again(impatient);
        let trigger = format!("after kill {kill}, {pause:?} into the work, seed {seed}");
        check_at_once(&world, &load, &trigger);
        if kill % KILLS_BETWEEN_CHECKS == 0 || kill == kills {
            slowest = slowest.max(check_everything(&world, &load, &trigger));
        }
    }
    let known = load.known.lock().unwrap();
    let (lost, answers) =
        known.keys.values().fold((0, 0), |sum, told| (sum.0 + told.lost, sum.1 + told.answers));
    println!(
        "{on:?}, {rail:?}: {kills} kills in {:?}: {} keys, {answers} answers, {lost} calls without an answer; all resolved within {slowest:?}",
        began.elapsed(),
        known.keys.len(),
    );
    assert!(lost > 0, "no kill came in the midst of a call");
    assert!(known.keys.values().any(|told| told.lost > 0 && told.promise.is_some()), "no caller tried again");
}

/// Every place at which a test can make the server die while it makes or looks after transfers.
#[cfg(feature = "failpoints")]
const PLACES: [&str; 7] = [
    "transfer.before_reserve",
    "transfer.before_send",
    "transfer.after_send",
    "transfer.before_change",
    "transfer.after_change",
    "resolver.before_send",
    "resolver.after_send",
];

#[cfg(feature = "failpoints")]
fn the_account_survives_dying_at_every_place(on: On, rail: BankRail) {
    let (seed, began) = (seed(), Instant::now());
    let mut world = BankWorld::start_as(on, rail, impatient);
    let load = Load::new(seed);
    world.server.kill();
    let mut deaths = 0;
    // In short, the second provider has the places at which it may know more than we do.
    let is_short = rail != BankRail::Increase && !is_long_run();
    for place in PLACES.into_iter().filter(|place| !is_short || place.ends_with("_send")) {
        for count in if is_short { &[4][..] } else { &[1, 4] }.iter().copied() {
            let failpoint = format!("{place}:{count}");
            world.begin_again(|store| impatient(store).with("TOLLGATE_FAILPOINT", &failpoint));
            if place.starts_with("resolver.") {
                // Only what got no answer is looked after.
                world.simulator.fault(&rail.operation("create"), "error_before", 30, 0);
            }
            round(&mut world, &load, |world| {
                let ended = world.server.wait_end(Duration::from_secs(120));
                assert!(!ended.success(), "{failpoint}: ended as if nothing had happened");
            });
            deaths += 1;
            world.simulator.clear_faults();
            world.serve_again(impatient);
            let trigger = format!("after dying at {failpoint}, seed {seed}");
            check_at_once(&world, &load, &trigger);
            if count == 4 {
                check_everything(&world, &load, &trigger);
            }
            world.server.kill();
        }
    }
    println!("{on:?}, {rail:?}: {deaths} deaths in {:?}", began.elapsed());
}

/// The names of the places as the engine's own source has them.
#[cfg(feature = "failpoints")]
#[test]
fn every_place_of_the_engine_is_died_at() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src");
    let mut places = Vec::new();
    for folder in [source.clone(), source.join("ach"), source.join("card")] {
        for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let named =
                text.split("failpoint!(\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
            places.extend(named);
        }
    }
    places.sort();
    let of_fees = &crate::cards::unlawful_fees_crash::PLACES;
    let mut known = [PLACES.as_slice(), &cards::PLACES, of_fees].concat();
    known.sort_unstable();
    assert_eq!(places, known);
}

/// What the checks say of a world in which something was made untrue.
#[track_caller]
fn notices(world: &BankWorld, known: &Knowledge, expected: &str) {
    settle_down(&world.desk, &world.simulator, Duration::from_secs(5));
    let found = bank_complaints(&world.desk, &world.simulator, known, Desk::FUNDS);
    let is_noticed = found.iter().any(|complaint| complaint.contains(expected));
    assert!(is_noticed, "nobody noticed that \"{expected}\": {}", shown(&found));
}

/// As if the server had answered before the commit, and died: what it says is not on the disk after the restart. The
/// checks only ask over HTTP, so that one store is as good as the other.
#[test]
fn an_acknowledged_transfer_that_is_lost_is_noticed() {
    let mut world = BankWorld::start_with(On::Sqlite, impatient);
    assert!(world.server.terminate().success());
    let BankStore::Sqlite(folder) = &world.store else { panic!("it was started on SQLite") };
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    copy_folder(&data, &copy);
    world.serve_again(impatient);
    let (key, mut known) = ("acknowledged and lost", Knowledge::default());
    let answer = world.desk.transfer(&world.desk.body(key, 10_000));
    known.note(key, answer.status, &answer.json());
    let reference = answer.data(201)["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    world.desk.wait_status(&reference, "processing");
    assert_eq!(bank_complaints(&world.desk, &world.simulator, &known, Desk::FUNDS), [""; 0]);
    world.server.kill();
    copy_folder(&copy, &data);
    world.serve_again(impatient);
    notices(&world, &known, "is not there");
}

/// One folder in the place of another.
fn copy_folder(from: &Path, to: &Path) {
    drop(fs::remove_dir_all(to));
    fs::create_dir(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// As if the resolver had sent a transfer again under another key.
fn a_transfer_under_another_key_is_noticed(on: On) {
    let world = BankWorld::start_with(on, impatient);
    world.taken("sent once by us");
    world.simulator.take("a key of nobody", 10_000);
    notices(&world, &Knowledge::default(), "which nobody asked for");
}

/// As if a time-out had counted as a refusal: the funds are released, and the provider has it.
fn released_funds_of_a_transfer_that_was_sent_are_noticed(on: On) {
    let world = BankWorld::start_with(on, BankStore::serve_plainly);
    let mut body = world.desk.body("refused by the provider", 10_000);
    body["routingNumber"] = json!(REFUSED_BANK);
    assert_eq!(world.desk.transfer(&body).status, 422);
    let listed = world.desk.listed("transactions");
    world.simulator.take(listed[0]["serviceReference"].as_str().unwrap(), 10_000);
    notices(&world, &Knowledge::default(), "it is failed, and the provider has it");
}

/// Of two servers on one database one dies with a transfer in its hands: the other finds out its outcome.
#[cfg(feature = "failpoints")]
#[test]
fn another_server_takes_over() {
    for (place, rail) in [
        ("transfer.before_send", BankRail::Increase),
        ("transfer.after_send", BankRail::Increase),
        ("transfer.before_change", BankRail::Increase),
        ("transfer.before_send", BankRail::ModernTreasury),
        ("transfer.after_send", BankRail::ModernTreasury),
    ] {
        let mut world = BankWorld::start_as(On::Postgres, rail, |store| {
            impatient(store).with("TOLLGATE_FAILPOINT", &format!("{place}:1"))
        });
        world.simulator.send_no_webhooks();
        let other = impatient(&world.store).run();
        let there = world.desk.at(&other);
        let body = world.desk.body("in the hands of a dying server", 10_000);
        let json = [("content-type", "application/json")];
        let sent = world.desk.client().try_send("POST", TRANSFERS, &json, body.to_string().as_bytes());
        assert!(sent.is_err(), "{place}: the server died in the midst of it");
        world.server.wait_end(Duration::from_secs(120));
        // The caller turns to the other server, which knows of it already.
        let told = there.transfer(&body).data(200);
        assert_eq!(told["replayed"], true, "{place}");
        let reference = told["transaction"]["serviceReference"].as_str().unwrap();
        there.wait_status(reference, "processing");
        world.simulator.sole(reference);
        there.assert_books(Desk::FUNDS);
    }
}

/// With the settings of production: whatever was in flight is known a minute after the restart.
#[cfg(feature = "failpoints")]
fn resolved_with_production_settings(on: On, rail: BankRail) {
    let mut world = BankWorld::start_as(on, rail, |store| {
        store.serve_plainly().with("TOLLGATE_FAILPOINT", "transfer.after_send:1")
    });
    // Without webhooks, so that only the resolver can tell.
    world.simulator.send_no_webhooks();
    let body = world.desk.body("in flight at the crash", 10_000);
    let json = [("content-type", "application/json")];
    let sent = world.desk.client().try_send("POST", TRANSFERS, &json, body.to_string().as_bytes());
    assert!(sent.is_err(), "the server died in the midst of it");
    world.server.wait_end(Duration::from_secs(120));
    world.serve_again(BankStore::serve_plainly);
    let restarted = Instant::now();
    let pending = world.desk.listed("transactions?status=pending");
    assert_eq!(pending.len(), 1, "{pending:?}");
    // A short run shares its machine with other tests.
    let most = Duration::from_secs(if is_long_run() { 60 } else { 120 });
    wait_until("it is resolved", most, || world.desk.listed("transactions?status=pending").is_empty());
    println!("{on:?}, {rail:?}: resolved {:?} after the restart", restarted.elapsed());
    let again = world.desk.transfer(&body).data(200);
    assert_eq!(again["transaction"]["status"], "processing");
    assert_eq!(again["replayed"], json!(true));
    world.desk.assert_books(Desk::FUNDS);
}

on_each_rail! { the_account_survives_kills }

mod tampered {
    use super::{
        a_transfer_under_another_key_is_noticed, on_each_store,
        released_funds_of_a_transfer_that_was_sent_are_noticed,
    };

    on_each_store! {
    a_transfer_under_another_key_is_noticed
    released_funds_of_a_transfer_that_was_sent_are_noticed
    }
}

#[cfg(feature = "failpoints")]
mod places {
    use super::{
        BankRail, On, on_each_rail, resolved_with_production_settings,
        the_account_survives_dying_at_every_place,
    };

    on_each_rail! { the_account_survives_dying_at_every_place }

    /// All at once: all it does is wait.
    #[test]
    fn production_settings_resolve_within_a_minute() {
        std::thread::scope(|scope| {
            for (on, rail) in [
                (On::Sqlite, BankRail::Increase),
                (On::Postgres, BankRail::Increase),
                (On::Sqlite, BankRail::ModernTreasury),
            ] {
                scope.spawn(move || resolved_with_production_settings(on, rail));
            }
        });
    }
}
