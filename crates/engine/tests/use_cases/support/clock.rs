//! A clock that follows tokio's paused time: it moves only when every task waits.

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
}

impl TestClock {
    /// A clock of this era. Each era lies long before the previous one, so that work which an earlier run left in the same
    /// store is never due.
    pub(crate) fn start(era: usize) -> Self {
        let before = i64::try_from(era).unwrap() * ERA;
        Self { from: Timestamp::from_unix_millis(BEGINNING - before), started: Instant::now() }
    }

    pub(crate) fn time(&self) -> Timestamp {
        self.from.saturating_add(self.started.elapsed())
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
