//! The same seeds in every run of the tests, and the promise that a seed tells the same story twice.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::{
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use tollgate_simulation::run;

/// How many seeds are run, unless `TOLLGATE_SIMULATION_SEEDS` says otherwise; `TOLLGATE_SIMULATION_FROM` is the first.
const SEEDS: u64 = 200;
/// The first of the seeds that are known to find nothing.
const FROM: u64 = 40_000;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn known_seeds_find_nothing() {
    let from = setting("TOLLGATE_SIMULATION_FROM").unwrap_or(FROM);
    let seeds = setting("TOLLGATE_SIMULATION_SEEDS").unwrap_or(SEEDS);
    eprintln!("simulating {seeds} seeds from {from}");
    let next = AtomicU64::new(from);
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let found: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| work(&next, from + seeds))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(found.is_empty(), "replay one with `cargo xtask simulate -- --seed N`:\n{}", found.join("\n"));
}

fn work(next: &AtomicU64, end: u64) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            return found;
        }
        for violation in run(seed, None, false).violations {
            found.push(format!("seed {seed}: {}: {}", violation.rule, violation.what));
        }
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
