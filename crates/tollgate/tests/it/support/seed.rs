//! Randomness that can be replayed.

use rand::{SeedableRng, rngs::StdRng};

/// The seed of this run: `TOLLGATE_TEST_SEED`, or a new one. It is printed, and a failing test shows what it printed.
pub fn seed() -> u64 {
    let given = std::env::var("TOLLGATE_TEST_SEED").ok();
    let seed =
        given.map_or_else(rand::random, |text| text.parse().expect("TOLLGATE_TEST_SEED is not a number"));
    println!("replay with TOLLGATE_TEST_SEED={seed}");
    seed
}

/// The randomness of one case, which depends on nothing that happened in another.
pub fn randomness(seed: u64, case: u64) -> StdRng {
    StdRng::seed_from_u64(seed ^ case.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
