//! What the property tests share: a runner whose seed is known, printed and can be given.

use std::hash::{BuildHasher, RandomState};

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngSeed, TestCaseError, TestRunner},
};

/// Runs the property on this many cases. `PROPTEST_RNG_SEED` replays a run from the seed a failure prints.
pub(crate) fn check<S: Strategy>(
    cases: u32,
    strategy: &S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let given = std::env::var("PROPTEST_RNG_SEED").ok();
    let seed = match &given {
        Some(text) => text.parse().expect("PROPTEST_RNG_SEED is a number"),
        None => RandomState::new().hash_one("seed"),
    };
    println!("PROPTEST_RNG_SEED={seed}");
    // The seed alone replays a failure, so nothing is left behind in the tree.
    let config =
        Config { cases, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    if let Err(failure) = TestRunner::new(config).run(strategy, property) {
        panic!("{failure}\nreplay with PROPTEST_RNG_SEED={seed}");
    }
}
