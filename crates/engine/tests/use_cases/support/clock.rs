//! A clock that follows tokio's paused time: it moves only when every task waits.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use tollgate_domain::Timestamp;
use tollgate_engine::ports::Clock;

const BEGINNING: i64 = 1_793_000_000_000;
/// Longer than any test lasts.
const ERA: i64 = 2 * 365 * 24 * 3_600 * 1_000;

#[derive(Debug, Clone)]
pub(crate) struct TestClock {
    from: Timestamp,
    started: Instant,
    millis_behind: Arc<AtomicI64>,
}

impl TestClock {
    /// A clock of this era. Each era lies long before the previous one, so that work which an earlier run left in the same
    /// store is never due.
    pub(crate) fn start(era: usize) -> Self {
        let before = i64::try_from(era).unwrap() * ERA;
        let from = Timestamp::from_unix_millis(BEGINNING - before);
        Self { from, started: Instant::now(), millis_behind: Arc::default() }
    }

    pub(crate) fn time(&self) -> Timestamp {
        let time = self.from.saturating_add(self.started.elapsed());
        Timestamp::from_unix_millis(time.unix_millis() - self.millis_behind.load(Ordering::Relaxed))
    }

    /// As if a server whose clock is behind went on.
    pub(crate) fn set_back(&self, by: Duration) {
        self.millis_behind.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }

    /// As if the database went on on another server, whose clock is ahead.
    pub(crate) fn set_ahead(&self, by: Duration) {
        self.millis_behind.fetch_sub(i64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }

    /// Whether a moment belongs to this clock's era.
    pub(crate) fn is_ours(&self, moment: Timestamp) -> bool {
        (0..ERA).contains(&(moment.unix_millis() - self.from.unix_millis()))
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.time()
    }
}
