//! Fresh seeds in every run of the tests, and the promise that a seed tells the same story twice.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::process::Command;

use tollgate_simulation::{Plant, fresh_seed, run, run_all};

/// How many seeds are run, unless `TOLLGATE_SIMULATION_SEEDS` says otherwise; `TOLLGATE_SIMULATION_FROM` is the first.
const SEEDS: u64 = 40;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn fresh_seeds_find_nothing() {
    let from = setting("TOLLGATE_SIMULATION_FROM").unwrap_or_else(fresh_seed);
    let seeds = setting("TOLLGATE_SIMULATION_SEEDS").unwrap_or(SEEDS);
    println!("simulating {seeds} seeds from {from}");
    let mut found = Vec::new();
    run_all(from..from + seeds, None, |seed, run| {
        let violations = run.violations.iter();
        found.extend(violations.map(|it| format!("seed {seed}: {}: {}", it.rule, it.what)));
    });
    assert!(found.is_empty(), "replay one with `cargo xtask simulate -- --seed N`:\n{}", found.join("\n"));
}

/// The other planted faults are found by `cargo xtask simulate -- --table`, in minutes.
#[test]
fn faults_of_clocks_and_cancellations_are_found() {
    for plant in [Plant::WallClockDecides, Plant::EventOrderByTime, Plant::CancelForgotten] {
        let found = (1..=80).find(|seed| !run(*seed, Some(plant), false).violations.is_empty());
        println!("{}: found with seed {found:?}", plant.name());
        assert!(found.is_some(), "{} was not found", plant.name());
    }
}

#[test]
fn a_seed_tells_the_same_story_twice() {
    for seed in [3, 1_001, 77_000_000] {
        let (one, other) = (run(seed, None, true), run(seed, None, true));
        let differing = one.lines.iter().zip(&other.lines).find(|(one, other)| one != other);
        assert_eq!(differing, None, "seed {seed}");
        assert_eq!((one.hash, one.steps), (other.hash, other.steps), "seed {seed}");
        let program = env!("CARGO_BIN_EXE_tollgate-simulation");
        let output = Command::new(program).args(["--seed", &seed.to_string()]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            text.contains(&format!("hash {:016x}", one.hash)),
            "another process tells another story of {seed}"
        );
    }
}
