//! A named, timed part of a chore.

use std::time::Instant;

/// A chore either works or says in one sentence why it did not.
pub(crate) type Outcome<T> = Result<T, String>;

/// Announces the step, runs it, and says how long it took. A failure carries the step's name.
pub(crate) fn step<T>(name: &str, run: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    println!("\n=== {name} ===");
    let started = Instant::now();
    let outcome = run();
    let elapsed = started.elapsed();
    let seconds = format!("{}.{} s", elapsed.as_secs(), elapsed.subsec_millis() / 100);
    match outcome {
        Ok(value) => {
            println!("--- {name}: done in {seconds}");
            Ok(value)
        }
        Err(fault) => {
            println!("--- {name}: failed after {seconds}");
            Err(format!("{name}: {fault}"))
        }
    }
}
