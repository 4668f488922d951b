//! Places at which a test makes this process die as if it were killed, and faults a test plants to see itself find them.
//!
//! Nothing of this is in a binary that is built without the feature `failpoints`: [`failpoint!`] expands to nothing, and
//! [`planted`] is a constant `false`. With it, `TOLLGATE_FAILPOINT=<name>:<count>` ends the process the given time a
//! place is reached, and `TOLLGATE_PLANTED_FAULT=<name>` plants a fault; so does [`plant`], for the calling thread.

/// Marks a place of this name.
macro_rules! failpoint {
    ($name:literal) => {
        #[cfg(feature = "failpoints")]
        $crate::failpoint::reached($name);
    };
}
pub(crate) use failpoint;

/// Whether a test has planted the fault of this name.
#[cfg(not(feature = "failpoints"))]
pub(crate) const fn planted(_: &str) -> bool {
    false
}

#[cfg(feature = "failpoints")]
pub use enabled::plant;
#[cfg(feature = "failpoints")]
pub(crate) use enabled::{planted, reached};

#[cfg(feature = "failpoints")]
mod enabled {
    use std::{
        cell::RefCell,
        sync::{
            OnceLock,
            atomic::{AtomicU64, Ordering},
        },
    };

    thread_local! {
        static PLANTED_HERE: RefCell<Option<String>> = const { RefCell::new(None) };
    }

    /// Plants the fault of this name in whatever this thread does from now on; `None` takes it away.
    pub fn plant(name: Option<&str>) {
        PLANTED_HERE.with_borrow_mut(|planted| *planted = name.map(str::to_owned));
    }

    struct Failpoint {
        name: String,
        left: AtomicU64,
    }

    /// Whether a test has planted the fault of this name.
    pub(crate) fn planted(name: &str) -> bool {
        static PLANTED: OnceLock<Option<String>> = OnceLock::new();
        if PLANTED_HERE.with_borrow(|planted| planted.as_deref() == Some(name)) {
            return true;
        }
        PLANTED.get_or_init(|| std::env::var("TOLLGATE_PLANTED_FAULT").ok()).as_deref() == Some(name)
    }

    /// Dies here, if a test asked for it and this is the time.
    pub(crate) fn reached(name: &str) {
        static FAILPOINT: OnceLock<Option<Failpoint>> = OnceLock::new();
        let Some(failpoint) = FAILPOINT.get_or_init(read) else { return };
        if failpoint.name == name && failpoint.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            // No unwinding, no destructors, nothing flushed: as a kill would have it.
            std::process::abort();
        }
    }

    fn read() -> Option<Failpoint> {
        let text = std::env::var("TOLLGATE_FAILPOINT").ok()?;
        let (name, count) = text.split_once(':')?;
        Some(Failpoint { name: name.to_owned(), left: AtomicU64::new(count.parse().ok()?) })
    }
}
