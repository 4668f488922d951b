//! The one thread that writes. It takes whatever waits into one transaction, so that many units share the cost of
//! making a commit durable, and answers only once that commit stands.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use tollgate_engine::ports::StoreError;

use super::{
    fault::{commit_failed, is_of_disk, of_disk},
    file::ServedFile,
    session::{SqliteSession, ready},
};
use crate::{
    fault::{Fault, same},
    signal::Announcer,
    unit::{Answer, Effect, Unit},
};

/// Units that may wait for the thread.
const QUEUE: usize = 1024;
/// Units that share one commit at most.
const BATCH: usize = 256;
/// How long a unit waits for a place in a full queue.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(1);
/// How often it is looked whether the file still stands under its name.
const PLACE_CHECK_AGE: Duration = Duration::from_secs(1);

/// The thread's counterpart. Dropping it lets the thread finish what waits and end.
#[derive(Debug)]
pub(super) struct Writer {
    lane: Lane,
    queue_timeout: Duration,
    commits: Arc<AtomicU64>,
    disk_failed: Arc<AtomicBool>,
}

/// Where units are run.
#[derive(Debug)]
enum Lane {
    /// By the thread, which takes them out of a queue.
    Thread { queue: Option<mpsc::Sender<Job>>, thread: Option<JoinHandle<()>> },
    /// By whoever asks, one after the other.
    #[cfg(feature = "simulation")]
    Inline { memory: super::memory::Memory, announcer: Announcer },
}

impl Writer {
    pub(super) fn start(
        file: Arc<ServedFile>,
        connection: SqliteSession,
        queue_timeout: Duration,
        announcer: Announcer,
    ) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let commits = Arc::new(AtomicU64::new(0));
        let disk_failed = Arc::new(AtomicBool::new(false));
        let work = Work {
            file,
            connection: Some(connection),
            place_checked_at: None,
            announcer,
            commits: Arc::clone(&commits),
            disk_failed: Arc::clone(&disk_failed),
        };
        let thread =
            std::thread::Builder::new().name("sqlite-writer".to_owned()).spawn(move || work.run(waiting))?;
        let lane = Lane::Thread { queue: Some(queue), thread: Some(thread) };
        Ok(Self { lane, queue_timeout, commits, disk_failed })
    }

    /// A writer without a thread: each unit is a transaction of its own, run by whoever asks.
    #[cfg(feature = "simulation")]
    pub(super) fn inline(memory: super::memory::Memory, announcer: Announcer) -> Self {
        let lane = Lane::Inline { memory, announcer };
        Self { lane, queue_timeout: Duration::ZERO, commits: Arc::default(), disk_failed: Arc::default() }
    }

    /// Runs a unit in the next transaction, and again where that is undone for a neighbor's sake. Where the caller stops
    /// waiting, the unit is done or not done, as a whole.
    pub(super) async fn write(&self, unit: Box<dyn Unit<SqliteSession>>) -> Result<Answer, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Job {
            deadline: Instant::now() + self.queue_timeout,
            reply,
            unit,
            answer: None,
            disk_failed: false,
        };
        let queue = match &self.lane {
            Lane::Thread { queue: Some(queue), .. } => queue,
            Lane::Thread { queue: None, .. } => {
                return Err(StoreError::Unavailable("the store is closed".to_owned()));
            }
            #[cfg(feature = "simulation")]
            Lane::Inline { memory, announcer } => {
                self.run_inline(memory, announcer, job);
                return answer.await.unwrap_or_else(|_| Err(no_answer()));
            }
        };
        match queue.send_timeout(job, QUEUE_TIMEOUT).await {
            Ok(()) => {}
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                return Err(StoreError::Unavailable("too many writes are waiting".to_owned()));
            }
            Err(mpsc::error::SendTimeoutError::Closed(_)) => {
                return Err(StoreError::Unavailable("the writer has ended".to_owned()));
            }
        }
        answer.await.unwrap_or_else(|_| Err(no_answer()))
    }

    /// Runs one unit in a transaction of its own and answers it.
    #[cfg(feature = "simulation")]
    fn run_inline(&self, memory: &super::memory::Memory, announcer: &Announcer, job: Job) {
        let mut jobs = [job];
        let outcome = memory.with(|connection| batch(connection, &mut jobs));
        let [job] = jobs;
        match outcome {
            Ok((trace, committed)) => {
                self.commits.fetch_add(u64::from(committed), Ordering::Relaxed);
                if trace == Trace::KeepAndAnnounce {
                    announcer.announce();
                }
                job.answer();
            }
            Err(failure) => job.refuse(failure.into()),
        }
    }

    /// Whether a unit has failed because of the disk, and no large write has succeeded since.
    pub(super) fn disk_failed(&self) -> bool {
        self.disk_failed.load(Ordering::Relaxed)
    }

    /// A large write has succeeded.
    pub(super) fn disk_recovered(&self) {
        self.disk_failed.store(false, Ordering::Relaxed);
    }

    /// Units that wait for the thread.
    pub(super) fn queued_units(&self) -> usize {
        match &self.lane {
            Lane::Thread { queue: Some(queue), .. } => queue.max_capacity().saturating_sub(queue.capacity()),
            Lane::Thread { queue: None, .. } => 0,
            #[cfg(feature = "simulation")]
            Lane::Inline { .. } => 0,
        }
    }

    /// How many transactions have been committed.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    #[allow(irrefutable_let_patterns, reason = "without the store in memory there is only this lane")]
    fn drop(&mut self) {
        if let Lane::Thread { queue, thread } = &mut self.lane {
            *queue = None;
            if let Some(thread) = thread.take() {
                // A panic in there was caught and logged; there is nothing left to tell.
                let _ = thread.join();
            }
        }
    }
}

fn no_answer() -> StoreError {
    StoreError::Unknown("the writer gave no answer".to_owned())
}

/// What a unit's run means for the transaction around it, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Trace {
    Undo,
    Keep,
    KeepAndAnnounce,
}

/// A unit in the queue.
struct Job {
    deadline: Instant,
    reply: oneshot::Sender<Result<Answer, StoreError>>,
    unit: Box<dyn Unit<SqliteSession>>,
    answer: Option<Result<Answer, StoreError>>,
    /// Whether it last stopped because of the disk.
    disk_failed: bool,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Job")
    }
}

impl Job {
    /// Whether it still makes sense to begin.
    fn is_wanted(&self, now: Instant) -> bool {
        !self.reply.is_closed() && now < self.deadline
    }

    /// Does the work and keeps the answer, instead of one it may have kept before.
    fn run(&mut self, session: &mut SqliteSession) -> Trace {
        let unit = &self.unit;
        self.disk_failed = false;
        let (trace, answer) = match catch_unwind(AssertUnwindSafe(|| ready(unit.run(session)))) {
            Ok(Ok(Effect::Nothing(value))) => (Trace::Undo, Ok(value)),
            Ok(Ok(Effect::Written(value))) => (Trace::Keep, Ok(value)),
            Ok(Ok(Effect::Directory(value))) => (Trace::KeepAndAnnounce, Ok(value)),
            Ok(Err(fault)) => {
                self.disk_failed = is_of_disk(&fault);
                (Trace::Undo, Err(StoreError::from(fault)))
            }
            Err(_) => {
                (Trace::Undo, Err(StoreError::Broken("a unit of work stopped unexpectedly".to_owned())))
            }
        };
        self.answer = Some(answer);
        trace
    }

    /// Sends the answer that was kept.
    fn answer(self) {
        let late = || Err(StoreError::Unavailable("it waited too long".to_owned()));
        // Nobody may be waiting anymore, which changes nothing.
        let _ = self.reply.send(self.answer.unwrap_or_else(late));
    }

    /// Sends this instead.
    fn refuse(self, error: StoreError) {
        let _ = self.reply.send(Err(error));
    }
}

struct Work {
    file: Arc<ServedFile>,
    connection: Option<SqliteSession>,
    place_checked_at: Option<Instant>,
    announcer: Announcer,
    commits: Arc<AtomicU64>,
    disk_failed: Arc<AtomicBool>,
}

impl Work {
    fn run(mut self, mut waiting: mpsc::Receiver<Job>) {
        let mut batch = Vec::with_capacity(BATCH);
        while waiting.blocking_recv_many(&mut batch, BATCH) > 0 {
            let jobs = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
            // Jobs catch their own panics; this is for whatever else might, since a dead thread is a dead store.
            if catch_unwind(AssertUnwindSafe(|| self.settle(jobs))).is_err() {
                tracing::error!("the writer stopped unexpectedly within a batch and begins anew");
                self.connection = None;
            }
        }
    }

    /// Runs a batch and answers each of its units.
    fn settle(&mut self, jobs: Vec<Job>) {
        let now = Instant::now();
        let (mut jobs, late): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.is_wanted(now));
        for job in late {
            job.answer();
        }
        if jobs.is_empty() {
            return;
        }
        match self.transact(&mut jobs) {
            Ok(announce) => {
                if announce {
                    self.announcer.announce();
                }
                for job in jobs {
                    job.answer();
                }
            }
            Err(error) => {
                tracing::warn!(%error, units = jobs.len(), "a batch of writes was not committed");
                for job in jobs {
                    job.refuse(same(&error));
                }
            }
        }
    }

    /// One transaction around all jobs; whether it is to be announced.
    fn transact(&mut self, jobs: &mut [Job]) -> Result<bool, StoreError> {
        if self.place_checked_at.is_none_or(|at| at.elapsed() >= PLACE_CHECK_AGE) {
            self.place_checked_at = None;
            self.file.check_place(self.connection.is_some())?;
            self.place_checked_at = Some(Instant::now());
        }
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.file.writer()?,
        };
        let outcome = batch(&mut connection, jobs);
        // After a failure that left a transaction open or the file in doubt, the next batch opens a fresh connection.
        let usable = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
        let disk_failed = matches!(&outcome, Err(failure) if failure.is_of_disk());
        if disk_failed || jobs.iter().any(|job| job.disk_failed) {
            self.disk_failed.store(true, Ordering::Relaxed);
        }
        match outcome {
            Ok((trace, committed)) => {
                self.connection = usable.then_some(connection);
                if committed {
                    self.commits.fetch_add(1, Ordering::Relaxed);
                }
                Ok(trace == Trace::KeepAndAnnounce)
            }
            Err(failure) => {
                let busy = matches!(&failure, Failure::Before(fault) if is_busy(fault));
                self.connection = (usable && busy).then_some(connection);
                Err(failure.into())
            }
        }
    }
}

enum Failure {
    /// Before the commit was tried.
    Before(Fault),
    /// The commit itself.
    Commit(rusqlite::Error),
    /// SQLite gave up the whole transaction in the middle of a unit.
    Lost,
}

impl Failure {
    fn is_of_disk(&self) -> bool {
        match self {
            Self::Before(fault) => is_of_disk(fault),
            Self::Commit(error) => of_disk(error),
            Self::Lost => true,
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Before(error.into())
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Before(fault) => fault.into(),
            Failure::Commit(error) => commit_failed(&error),
            Failure::Lost => {
                Self::Unavailable("the disk failed or is full; the transaction was undone".to_owned())
            }
        }
    }
}

/// Runs all jobs in one transaction. Returns the most that any of them did, and whether there was anything to commit.
///
/// A job that is refused or fails must leave its neighbors alone. Nearly all decide before they write, so that there is
/// nothing to undo; only where one has written and wants it undone, all begin again with a savepoint around each, which
/// costs a copy of every page touched.
fn batch(connection: &mut SqliteSession, jobs: &mut [Job]) -> Result<(Trace, bool), Failure> {
    for with_savepoints in [false, true] {
        if let Some(most) = run_all(connection, jobs, with_savepoints)? {
            if most == Trace::Undo {
                execute(connection, "ROLLBACK")?;
                return Ok((most, false));
            }
            execute(connection, "COMMIT").map_err(Failure::Commit)?;
            return Ok((most, true));
        }
    }
    Err(Failure::Lost)
}

/// Runs all jobs in a transaction and leaves it open, or undoes it and returns `None` if a job by itself must be undone.
fn run_all(
    connection: &mut SqliteSession,
    jobs: &mut [Job],
    with_savepoints: bool,
) -> Result<Option<Trace>, Failure> {
    // The write lock at once: a transaction that begins by reading could find it taken half way.
    execute(connection, "BEGIN IMMEDIATE")?;
    let mut most = Trace::Undo;
    for job in jobs {
        if with_savepoints {
            execute(connection, "SAVEPOINT unit")?;
        }
        let before = connection.total_changes();
        let trace = job.run(connection);
        if connection.is_autocommit() {
            return Err(Failure::Lost);
        }
        if trace == Trace::Undo && connection.total_changes() != before {
            if !with_savepoints {
                execute(connection, "ROLLBACK")?;
                return Ok(None);
            }
            execute(connection, "ROLLBACK TO unit")?;
        }
        if with_savepoints {
            execute(connection, "RELEASE unit")?;
        }
        most = most.max(trace);
    }
    Ok(Some(most))
}

fn execute(connection: &Connection, sql: &str) -> Result<(), rusqlite::Error> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

fn is_busy(fault: &Fault) -> bool {
    matches!(fault, Fault::Sqlite(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy))
}
