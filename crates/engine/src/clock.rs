//! The machine's clock, and the database's as this process knows it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::time::{Instant, sleep};
use tollgate_domain::Timestamp;
use tracing::{info, warn};

use crate::ports::{Clock, ClockStanding, Store, StoreError};

/// How often the database is asked for the time.
const MEASURED_EVERY: Duration = Duration::from_secs(5);
/// A change of the database's clock that is no correction of a time service.
const JUMP_MILLIS: u64 = 5_000;
/// How long nothing is given up after a jump. Whatever was sent before it has ended by then, and every other node knows of it.
const SETTLES_FOR: Duration = Duration::from_mins(10);
/// A first answer that took longer is asked for again, a few times.
const PROMPT_MILLIS: i64 = 1_000;
const FIRST_TRIES: u32 = 3;

/// Reads the machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_unix_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The database's clock: what it last said, and the monotonic time since. All nodes of a database agree on it, whatever their
/// own clocks say, and no request waits for the database to read it.
pub struct DatabaseClock {
    machine: Arc<dyn Clock>,
    began: Instant,
    /// What to add to the milliseconds since `began`.
    offset: AtomicI64,
    machine_ahead: AtomicI64,
    jumped: Mutex<Option<Instant>>,
}

/// Whether this moment has passed for good. The time is read first: if the clock has jumped by then, that is known.
pub(crate) fn has_passed(clock: &dyn Clock, moment: Timestamp) -> bool {
    clock.now() >= moment && clock.standing().may_conclude()
}

/// The database's answer, and when it was asked for and given in milliseconds since the clock began.
struct Measurement {
    asked: i64,
    answered: i64,
    database: i64,
    machine_ahead: i64,
}

impl DatabaseClock {
    /// Asks the database for the time. `machine` is what that is compared with.
    pub async fn start(store: &dyn Store, machine: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let clock = Self {
            machine,
            began: Instant::now(),
            offset: AtomicI64::new(0),
            machine_ahead: AtomicI64::new(0),
            jumped: Mutex::default(),
        };
        let first = clock.measure(store).await?;
        clock.offset.store(first.database - first.answered, Ordering::Relaxed);
        let mut took = first.answered - first.asked;
        clock.take(&first);
        for _ in 1..FIRST_TRIES {
            if took <= PROMPT_MILLIS {
                break;
            }
            let again = clock.measure(store).await?;
            took = again.answered - again.asked;
            clock.offset.fetch_add(clock.deviation(&again), Ordering::Relaxed);
            clock.take(&again);
        }
        Ok(clock)
    }

    /// Keeps in step with the database for as long as it is polled.
    pub async fn follow(self: Arc<Self>, store: Arc<dyn Store>) {
        loop {
            sleep(MEASURED_EVERY).await;
            // Readiness reports a store that does not answer; the monotonic clock goes on meanwhile.
            let Ok(measured) = self.measure(&*store).await else { continue };
            let moved = self.deviation(&measured);
            // Before the time is another: whoever reads that knows of the jump.
            if moved.unsigned_abs() > JUMP_MILLIS {
                *self.jumped.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                warn!(
                    milliseconds = moved,
                    "the database's clock jumped; for ten minutes nothing is given up because of its age"
                );
            }
            self.offset.fetch_add(moved, Ordering::Relaxed);
            self.take(&measured);
        }
    }

    async fn measure(&self, store: &dyn Store) -> Result<Measurement, StoreError> {
        let (asked, machine_asked) = (self.elapsed(), self.machine.now().unix_millis());
        let database = store.now().await?.unix_millis();
        let (answered, machine_answered) = (self.elapsed(), self.machine.now().unix_millis());
        // Anywhere between question and answer is no difference at all.
        let machine_ahead = if machine_asked > database {
            machine_asked - database
        } else {
            machine_answered.saturating_sub(database).min(0)
        };
        Ok(Measurement { asked, answered, database, machine_ahead })
    }

    /// By how much the clock is to be moved: no further than the measurement demands.
    fn deviation(&self, measured: &Measurement) -> i64 {
        let before = self.offset.load(Ordering::Relaxed);
        // Both clocks are read in whole milliseconds.
        let (least, most) =
            (measured.database - measured.answered - 1, measured.database - measured.asked + 1);
        before.max(least).min(most) - before
    }

    /// Notes how far the machine's clock is off, and says so when that begins or ends to matter.
    fn take(&self, measured: &Measurement) {
        let was_off = self.standing().is_off();
        self.machine_ahead.store(measured.machine_ahead, Ordering::Relaxed);
        let (ahead, is_off) = (measured.machine_ahead, self.standing().is_off());
        if is_off && !was_off {
            warn!(
                milliseconds_ahead = ahead,
                "this machine's clock is more than a minute from the database's: not ready; run a time service"
            );
        } else if was_off && !is_off {
            info!(milliseconds_ahead = ahead, "this machine's clock agrees with the database's again");
        }
    }

    fn elapsed(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

impl Clock for DatabaseClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.elapsed().saturating_add(self.offset.load(Ordering::Relaxed)))
    }

    fn standing(&self) -> ClockStanding {
        let jumped = *self.jumped.lock().unwrap_or_else(PoisonError::into_inner);
        ClockStanding {
            machine_ahead: self.machine_ahead.load(Ordering::Relaxed),
            is_settling: jumped.is_some_and(|at| at.elapsed() < SETTLES_FOR),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// Jumps by an hour when it has been read once, in whichever way.
    struct Jumping(AtomicBool);

    impl Clock for Jumping {
        fn now(&self) -> Timestamp {
            let has_jumped = self.0.swap(true, Ordering::Relaxed);
            Timestamp::from_unix_millis(if has_jumped { 3_600_000 } else { 0 })
        }

        fn standing(&self) -> ClockStanding {
            ClockStanding { machine_ahead: 0, is_settling: self.0.swap(true, Ordering::Relaxed) }
        }
    }

    #[test]
    fn nothing_has_passed_because_the_clock_jumps_while_it_is_read() {
        let clock = Jumping(AtomicBool::new(false));
        let moment = Timestamp::from_unix_millis(60_000);
        assert!(!has_passed(&clock, moment));
        assert!(clock.now() >= moment && !has_passed(&clock, moment), "it settles");
    }
}
