//! Where units of one kind wait for one another, so that many share a transaction and its round trips.
//!
//! A lane takes whatever waits into one batch and begins the next when that one is answered; under load, batches grow by
//! themselves. Units with the same key take the same lane, so that those who would wait for one another's locks in the
//! database wait here instead, without a connection. That is a matter of speed only: what is right is decided by the
//! locks, and any number of nodes may do the same.
//!
//! A batch is attempted as any unit is. Where one of its units may be what is wrong, each is attempted by itself: nobody
//! fails for a neighbor's sake, and as every unit is known by its caller's ids, none is done twice.

use std::{
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash},
    sync::Arc,
    time::Duration,
};

use deadpool_postgres::{Object, Pool};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tollgate_engine::ports::StoreError;

use super::{
    attempts::{Attempts, Limits, Purpose},
    batches::{BEGIN_KEPT, Plans},
    fault::{Blame, judge},
};
use crate::fault::{Fault, same};

/// Units that may wait for each lane.
const QUEUE: usize = 1024;
/// How long a unit waits for a place in a full queue.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(1);

/// What shares a transaction with others of its kind.
pub(super) trait Unit: Send + Sync + Sized + 'static {
    type Answer: Send + 'static;
    type Rank: Ord;

    /// How many share a transaction at most.
    const BATCH_MAX: usize;
    /// Whether plans of these units are made again until the tables are large.
    const IS_PLANNED_ANEW: bool;

    /// The order within a batch; those of one rank stay in the order they came.
    fn rank(&self) -> Self::Rank;

    /// Does all of them in one transaction, begun so, or none. There is an answer for each, in order.
    fn run(
        connection: &Arc<Object>,
        begin: &'static str,
        units: &[&Self],
    ) -> impl Future<Output = Result<Vec<Self::Answer>, Fault>> + Send;
}

/// A few lanes for one kind of unit. Dropping them lets each finish what waits, and end.
#[derive(Debug)]
pub(super) struct Lanes<U: Unit> {
    queues: Vec<mpsc::Sender<Waiting<U>>>,
}

#[derive(Debug)]
struct Waiting<U: Unit> {
    unit: U,
    since: Instant,
    reply: oneshot::Sender<Result<U::Answer, StoreError>>,
}

impl<U: Unit> Lanes<U> {
    pub(super) fn start(count: usize, pool: &Pool, plans: &Arc<Plans>, limits: Limits) -> Self {
        let lane = |_| {
            let (queue, waiting) = mpsc::channel(QUEUE);
            let context = LaneContext { pool: pool.clone(), plans: Arc::clone(plans), limits };
            tokio::spawn(serve(context, waiting));
            queue
        };
        Self { queues: (0..count.max(1)).map(lane).collect() }
    }

    /// Has the unit done on its key's lane. Where the caller stops waiting, it is done or not done, as a whole.
    pub(super) async fn ask(&self, key: impl Hash, unit: U) -> Result<U::Answer, StoreError> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
        let count = u64::try_from(self.queues.len()).unwrap_or(1).max(1);
        let lane = usize::try_from(hash % count).unwrap_or(0);
        let Some(queue) = self.queues.get(lane) else {
            return Err(StoreError::Unavailable("the store is closed".to_owned()));
        };
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { unit, since: Instant::now(), reply };
        match queue.send_timeout(waiting, QUEUE_TIMEOUT).await {
            Ok(()) => {}
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                return Err(StoreError::Unavailable("too many writes are waiting".to_owned()));
            }
            Err(mpsc::error::SendTimeoutError::Closed(_)) => {
                return Err(StoreError::Unavailable("the store is closed".to_owned()));
            }
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Unknown("the unit got no answer".to_owned())))
    }
}

/// What a lane works with.
#[derive(Debug, Clone)]
struct LaneContext {
    pool: Pool,
    plans: Arc<Plans>,
    limits: Limits,
}

/// One lane.
async fn serve<U: Unit>(context: LaneContext, mut waiting: mpsc::Receiver<Waiting<U>>) {
    let mut taken = Vec::new();
    while waiting.recv_many(&mut taken, U::BATCH_MAX).await > 0 {
        // In a task of its own, because a lane that stopped would stop all who come after.
        let batch = tokio::spawn(settle(context.clone(), std::mem::take(&mut taken)));
        if batch.await.is_err() {
            tracing::error!("a batch of writes stopped unexpectedly; its lane goes on");
        }
    }
}

/// Does a batch and answers each of its units.
async fn settle<U: Unit>(context: LaneContext, taken: Vec<Waiting<U>>) {
    let mut batch = Vec::with_capacity(taken.len());
    for waiting in taken {
        if waiting.since.elapsed() > context.limits.attempt {
            waiting.answer(Err(StoreError::Unavailable("it waited too long".to_owned())));
        } else if !waiting.reply.is_closed() {
            batch.push(waiting);
        }
    }
    if batch.is_empty() {
        return;
    }
    batch.sort_by_cached_key(|waiting| waiting.unit.rank());
    let mut attempts = Attempts::new(&context.pool, Purpose::Write, context.limits);
    let units: Vec<&U> = batch.iter().map(|waiting| &waiting.unit).collect();
    let answers = match attempt(&mut attempts, &context, &units).await {
        Outcome::Done(answers) => answers.into_iter().map(Ok).collect(),
        Outcome::Failed(error) => batch.iter().map(|_| Err(same(&error))).collect(),
        Outcome::RetryIndividually => one_by_one(&attempts, &context, &batch).await,
    };
    for (waiting, answer) in batch.into_iter().zip(answers) {
        waiting.answer(answer);
    }
}

async fn one_by_one<U: Unit>(
    attempts: &Attempts<'_>,
    context: &LaneContext,
    batch: &[Waiting<U>],
) -> Vec<Result<U::Answer, StoreError>> {
    let mut answers = Vec::with_capacity(batch.len());
    for waiting in batch {
        answers.push(match attempt(&mut attempts.for_one(), context, &[&waiting.unit]).await {
            Outcome::Done(done) => {
                let missing = || StoreError::Unknown("the unit got no answer".to_owned());
                done.into_iter().next().ok_or_else(missing)
            }
            Outcome::Failed(error) => Err(error),
            Outcome::RetryIndividually => {
                Err(StoreError::Broken("a unit by itself has no neighbours".to_owned()))
            }
        });
    }
    answers
}

impl<U: Unit> Waiting<U> {
    fn answer(self, answer: Result<U::Answer, StoreError>) {
        // Nobody may be waiting anymore, which changes nothing.
        let _ = self.reply.send(answer);
    }
}

enum Outcome<T> {
    Done(Vec<T>),
    /// For all alike.
    Failed(StoreError),
    /// Nothing has happened, and one of several may be the reason.
    RetryIndividually,
}

/// Attempts some units together, within bounds.
async fn attempt<U: Unit>(
    attempts: &mut Attempts<'_>,
    context: &LaneContext,
    units: &[&U],
) -> Outcome<U::Answer> {
    loop {
        let run = async |connection: &Arc<Object>| {
            let begin = if U::IS_PLANNED_ANEW {
                context.plans.beginning(&context.pool, connection).await?
            } else {
                BEGIN_KEPT
            };
            U::run(connection, begin, units).await
        };
        let (fault, connection) = match attempts.connection().await.map(Arc::new) {
            Ok(connection) => match attempts.bounded(run(&connection)).await {
                Ok(answers) => return Outcome::Done(answers),
                Err(fault) => (fault, Arc::into_inner(connection)),
            },
            Err(fault) => (fault, None),
        };
        let judgement = judge(fault);
        if judgement.blame == Blame::Unit && units.len() > 1 {
            return Outcome::RetryIndividually;
        }
        if let Some(error) = attempts.weigh(judgement, connection).await {
            return Outcome::Failed(error);
        }
    }
}
