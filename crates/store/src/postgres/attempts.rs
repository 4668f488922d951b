//! Bounded attempts at a unit of work.
//!
//! A lost race or a lost connection is tried again, which is safe because every unit is recognized by the ids its
//! caller made: the second attempt finds what the first one did. Both the number of attempts and their time are
//! bounded; what remains in doubt after the last one is said to be so.

use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use tokio::time::Instant;
use tollgate_engine::ports::StoreError;

use super::fault::{Blame, Judgement, judge};
use crate::fault::Fault;

const ATTEMPTS: u32 = 5;
const FIRST_PAUSE_MS: u64 = 10;

/// What a unit does, which decides whether its loss leaves doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Read,
    Write,
}

/// The limits of each attempt and of all together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) attempt: Duration,
    pub(super) total: Duration,
}

/// The attempts at one unit.
#[derive(Debug)]
pub(super) struct Attempts<'a> {
    pool: &'a Pool,
    purpose: Purpose,
    limits: Limits,
    deadline: Instant,
    made: u32,
    in_doubt: bool,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(pool: &'a Pool, purpose: Purpose, limits: Limits) -> Self {
        let deadline = Instant::now() + limits.total;
        Self { pool, purpose, limits, deadline, made: 0, in_doubt: false }
    }

    pub(super) async fn connection(&self) -> Result<Object, Fault> {
        if Instant::now() > self.deadline {
            return Err(Fault::TooLate);
        }
        self.pool.get().await.map_err(Fault::Connection)
    }

    /// Waits for one attempt, but not for ever: a server that vanished says nothing.
    pub(super) async fn bounded<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        tokio::time::timeout(self.limits.attempt, work).await.unwrap_or(Err(Fault::TimedOut))
    }

    /// The final answer, or `None` when the unit is to be tried once more, now.
    pub(super) async fn settle<T>(
        &mut self,
        outcome: Result<T, Fault>,
        connection: Option<Object>,
    ) -> Option<Result<T, StoreError>> {
        match outcome {
            Ok(value) => Some(Ok(value)),
            Err(fault) => self.weigh(judge(fault), connection).await.map(Err),
        }
    }

    /// What to say in the end about an attempt that failed, or `None` when there is to be another, now.
    pub(super) async fn weigh(
        &mut self,
        judgement: Judgement,
        connection: Option<Object>,
    ) -> Option<StoreError> {
        if matches!(judgement.blame, Blame::Connection | Blame::Server) {
            // Never handed out again; dropping it closes it.
            drop(connection.map(Object::take));
        }
        if judgement.blame == Blame::Server {
            // Those that wait in the pool lead to the same server: each would cost another unit its time.
            self.pool.retain(|_, _| false);
        }
        self.made = self.made.saturating_add(1);
        self.in_doubt |= judgement.in_doubt && self.purpose == Purpose::Write;
        let pause = pause(self.made);
        if judgement.again && self.made < ATTEMPTS && Instant::now() + pause < self.deadline {
            tokio::time::sleep(pause).await;
            return None;
        }
        Some(match judgement.error {
            StoreError::Unavailable(reason) if self.in_doubt => StoreError::Unknown(reason),
            error => error,
        })
    }

    /// The attempts at one of the units that these were made for together, in what time is left.
    pub(super) fn for_one(&self) -> Self {
        Self { made: 0, ..*self }
    }
}

/// Grows with each attempt, and differs between those that met each other in a race.
fn pause(made: u32) -> Duration {
    let longest = FIRST_PAUSE_MS.saturating_mul(1 << made.min(6));
    Duration::from_millis(rand::random_range(FIRST_PAUSE_MS..=longest))
}
