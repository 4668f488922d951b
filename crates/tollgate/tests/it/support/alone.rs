//! Tests that measure time, and tests that leave others none.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by one such test at a time; all others run beside it.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
