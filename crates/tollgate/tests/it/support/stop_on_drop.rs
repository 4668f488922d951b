//! Ends the work of other threads, also where the test that they work for fails.

use std::sync::atomic::{AtomicBool, Ordering};

/// Sets its flag when it is dropped. A scope waits for its threads: without this, a failed test would wait for ever for
/// threads that work until the flag is set.
pub struct StopOnDrop<'a>(pub &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
