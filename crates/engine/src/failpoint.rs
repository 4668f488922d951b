//! Places at which a test makes this process die as if it were killed.
//!
//! Nothing of this is in a binary that is built without the feature `failpoints`: [`failpoint!`] expands to nothing. With it,
//! `TOLLGATE_FAILPOINT=<name>:<count>` ends the process the given time a place is reached.

/// Marks a place of this name.
macro_rules! failpoint {
    ($name:literal) => {
        #[cfg(feature = "failpoints")]
        $crate::failpoint::reached($name);
    };
}
pub(crate) use failpoint;

#[cfg(feature = "failpoints")]
pub(crate) use enabled::reached;

#[cfg(feature = "failpoints")]
mod enabled {
    use std::sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    };

    struct Failpoint {
        name: String,
        left: AtomicU64,
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
