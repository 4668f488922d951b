//! A few connections that only read, used from threads that may block.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::Semaphore;
use tollgate_engine::ports::StoreError;

use super::{
    fault::is_environmental,
    file::ServedFile,
    session::{SqliteSession, ready},
};
use crate::{
    fault::Fault,
    unit::{Answer, Unit},
};

/// The pool. Connections are opened when first needed and given up when the file gives trouble.
#[derive(Debug, Clone)]
pub(super) enum Readers {
    /// Connections of their own, used from threads that may block.
    Pool(Arc<Inner>),
    /// The one connection there is, used by whoever asks.
    #[cfg(feature = "simulation")]
    Inline(super::memory::Memory),
}

#[derive(Debug)]
pub(super) struct Inner {
    file: Arc<ServedFile>,
    turns: Arc<Semaphore>,
    queue_timeout: Duration,
    idle: Mutex<Vec<SqliteSession>>,
}

impl Readers {
    pub(super) fn new(file: Arc<ServedFile>, most: usize, queue_timeout: Duration) -> Self {
        let turns = Arc::new(Semaphore::new(most.clamp(1, 64)));
        Self::Pool(Arc::new(Inner { file, turns, queue_timeout, idle: Mutex::default() }))
    }

    /// Runs a unit in one read transaction: all it reads is from one moment.
    pub(super) async fn read(&self, unit: Box<dyn Unit<SqliteSession>>) -> Result<Answer, StoreError> {
        let inner = match self {
            Self::Pool(inner) => Arc::clone(inner),
            #[cfg(feature = "simulation")]
            Self::Inline(memory) => {
                let read = memory.with(|connection| within_transaction(connection, &*unit));
                return read.map_err(StoreError::from);
            }
        };
        let waiting = tokio::time::timeout(inner.queue_timeout, Arc::clone(&inner.turns).acquire_owned());
        let turn = match waiting.await {
            Ok(Ok(turn)) => turn,
            Ok(Err(_)) => return Err(StoreError::Unavailable("the store is closed".to_owned())),
            Err(_) => return Err(StoreError::Unavailable("too many reads are waiting".to_owned())),
        };
        // The turn goes along, so that it ends with the work even if whoever asked stops waiting.
        let reading = tokio::task::spawn_blocking(move || {
            let answer = inner.run(&*unit);
            drop(turn);
            answer
        });
        match reading.await {
            Ok(answer) => answer.map_err(StoreError::from),
            Err(_) => Err(StoreError::Broken("a read stopped unexpectedly".to_owned())),
        }
    }
}

impl Inner {
    fn run(&self, unit: &dyn Unit<SqliteSession>) -> Result<Answer, Fault> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.file.reader()?,
        };
        let answer = within_transaction(&mut connection, unit);
        if !matches!(&answer, Err(fault) if is_environmental(fault)) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        answer
    }
}

fn within_transaction(session: &mut SqliteSession, unit: &dyn Unit<SqliteSession>) -> Result<Answer, Fault> {
    session.prepare_cached("BEGIN")?.execute([])?;
    let answer = ready(unit.run(session));
    // Nothing was written, and so there is nothing to undo.
    let ended = session.prepare_cached("ROLLBACK")?.execute([]);
    let answer = answer?;
    ended?;
    Ok(answer.into_value())
}
