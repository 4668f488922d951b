//! Several nodes of the real service on one thread, in virtual time: real HTTP handlers, engine, loops and SQLite store;
//! model providers, callers, operators and receivers around them; every fault drawn from one seed.
//!
//! The models share no code with the engine's decisions. What they know is held against what the service answers, at every
//! answer, every few seconds, and once nothing can change anymore.

#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_imports,
    clippy::too_many_lines,
    clippy::significant_drop_tightening,
    reason = "it runs in tests alone, where what cannot be is to stop the run"
)]

mod actors;
mod book;
mod checks;
mod claims;
mod client;
mod history;
mod life;
mod node;
mod plants;
mod profile;
mod providers;
mod receivers;
mod rng;
mod scenario;
mod store;
mod store_methods;
mod world;

use std::{
    num::NonZero,
    ops::Range,
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use world::World;

pub use plants::Plant;
pub use world::Violation;

/// The outcome of a run.
#[derive(Debug)]
pub struct Run {
    /// Everything that happened, as one number.
    pub hash: u64,
    /// How many steps that were.
    pub steps: u64,
    /// How long it lasted, in the time of the run.
    pub simulated: Duration,
    /// What was not as it must be.
    pub violations: Vec<Violation>,
    /// The steps in words: the last ones, or all where that was asked for.
    pub lines: Vec<String>,
    /// What could go wrong.
    pub profile: String,
}

/// Runs one seed, with a fault planted or without.
///
/// # Panics
///
/// Where the runtime or the database in memory cannot be made.
pub fn run(seed: u64, plant: Option<Plant>, traced: bool) -> Run {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
    runtime.block_on(async {
        let world = World::new(seed, plant, traced);
        scenario::run(&world).await;
        let simulated = Duration::from_millis(world.elapsed());
        let history = world.history();
        Run {
            hash: history.hash(),
            steps: history.steps(),
            simulated,
            violations: history.violations.clone(),
            lines: history.lines(),
            profile: format!("{:?}", world.profile),
        }
    })
}

/// Runs `seeds` one after the other on every core, and hands over each run as it ends.
pub fn run_all(seeds: Range<u64>, plant: Option<Plant>, mut each: impl FnMut(u64, &Run)) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicU64::new(seeds.start);
    thread::scope(|scope| {
        let (finished, runs) = mpsc::sync_channel(threads);
        for _ in 0..threads {
            let (next, finished) = (&next, finished.clone());
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end || finished.send((seed, run(seed, plant, false))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(finished);
        for (seed, run) in runs {
            each(seed, &run);
        }
    });
}

/// A seed nobody has chosen.
pub fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed, and far enough apart for runs one after the other.
    since.as_secs() % 10_000_000 * 100_000
}
