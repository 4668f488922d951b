//! Cutting the write-ahead log to nothing, so that what was deleted from the database is not left in it.
//!
//! A reader, such as a backup, needs the log as it is. Then it is tried again until they are done: what was
//! deleted must not stay for as long as nothing else happens to be deleted.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{task::spawn_blocking, time::sleep};
use tollgate_engine::ports::StoreError;

use super::file::ServedFile;
use crate::fault::Fault;

const RETRY_EVERY: Duration = Duration::from_secs(1);
/// Writers wait while the log is being truncated: a retry gives up at once while there is a reader.
const RETRY_WAIT: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(super) struct LogCut {
    /// How often it was asked for, and up to which of them it is done.
    asked: AtomicU64,
    done: AtomicU64,
    is_retrying: AtomicBool,
}

impl LogCut {
    /// Whether deleted content may still be in the log.
    pub(super) fn is_due(&self) -> bool {
        self.done.load(Ordering::SeqCst) < self.asked.load(Ordering::SeqCst)
    }

    /// Truncates the log, now or as soon as there is no reader.
    pub(super) async fn cut(self: &Arc<Self>, file: &Arc<ServedFile>) -> Result<(), StoreError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let tried = self.try_once(Arc::clone(file), None).await;
        if !matches!(tried, Ok(true)) && !self.is_retrying.swap(true, Ordering::SeqCst) {
            tokio::spawn(Arc::clone(self).retry(Arc::downgrade(file)));
        }
        tried.map(|_| ())
    }

    /// Until it is done, or the store is gone: closing the file folds the log into it.
    async fn retry(self: Arc<Self>, file: Weak<ServedFile>) {
        loop {
            sleep(RETRY_EVERY).await;
            let Some(file) = file.upgrade() else { return };
            if let Err(error) = self.try_once(file, Some(RETRY_WAIT)).await {
                tracing::warn!(%error, "write-ahead log not truncated; will retry");
            }
            if self.is_due() {
                continue;
            }
            self.is_retrying.store(false, Ordering::SeqCst);
            // A check in between may have seen that it is being retried.
            if !self.is_due() || self.is_retrying.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }

    /// Whether nothing is left of the log as it was when this was called.
    async fn try_once(&self, file: Arc<ServedFile>, wait: Option<Duration>) -> Result<bool, StoreError> {
        let asked = self.asked.load(Ordering::SeqCst);
        let folding = spawn_blocking(move || {
            let connection = file.writer()?;
            if let Some(wait) = wait {
                connection.busy_timeout(wait)?;
            }
            let is_busy: bool =
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            Ok::<_, Fault>(!is_busy)
        });
        let folded = folding.await.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let is_cut = folded.map_err(StoreError::from)?;
        if is_cut {
            self.done.fetch_max(asked, Ordering::SeqCst);
        }
        Ok(is_cut)
    }
}
