//! Units of work whose fate matters beyond the store's first word: what a provider has answered is written down until
//! it stands, and a commit whose answer was lost is asked about again.

use std::{pin::Pin, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::{info, warn};

use crate::{backoff::exponential_backoff, engine::Engine, ports::StoreError};

/// How long a caller waits until what the provider answered is written down.
pub(crate) const RECORD_TIMEOUT: Duration = Duration::from_secs(3);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// A commit on its way: what it changed as it now is, or `None` if that changed meanwhile.
pub(crate) type Committing<'e, T> = Pin<Box<dyn Future<Output = Result<Option<T>, StoreError>> + Send + 'e>>;

impl Engine {
    /// Writes down what a provider has answered about `subject`. `None` if the store does not take it in time: then it
    /// is kept in memory and written as soon as the store answers. Where there is no room for it, or this process dies, the
    /// resolver finds it out again.
    pub(crate) async fn record<T, F>(
        self: &Arc<Self>,
        subject: String,
        write: impl Fn(Arc<Self>) -> F + Send + Sync + 'static,
    ) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let engine = Arc::clone(self);
        let Ok(place) = Arc::clone(&self.held_outcomes).try_acquire_owned() else {
            return timeout(RECORD_TIMEOUT, write(engine)).await.ok()?.ok();
        };
        let writing = self.host.run(async move {
            let _place = place;
            engine.write_until_taken(&subject, write).await
        });
        timeout(RECORD_TIMEOUT, writing).await.ok()?.ok()?
    }

    async fn write_until_taken<T, F>(
        self: Arc<Self>,
        subject: &str,
        write: impl Fn(Arc<Self>) -> F + Send + Sync,
    ) -> Option<T>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut tries = 0;
        loop {
            match write(Arc::clone(&self)).await {
                Ok(written) => {
                    if tries > 0 {
                        info!(subject, tries, "provider response recorded after retrying");
                    }
                    return Some(written);
                }
                Err(error @ StoreError::Broken(_)) => {
                    warn!(subject, %error, "provider response not recorded");
                    return None;
                }
                Err(error) if tries == 0 => {
                    warn!(subject, %error, "provider response not recorded yet; kept in memory");
                }
                Err(_) => {}
            }
            sleep(exponential_backoff(FIRST_PAUSE, 2, tries, MAX_PAUSE)).await;
            tries = tries.saturating_add(1);
        }
    }

    /// Does a unit of work, and again while nobody knows whether it was committed: its ids are ours, so that it is done
    /// once. What is still unknown at the deadline is answered as [`StoreError::Unknown`].
    pub(crate) async fn retry_until_known<T, F>(
        &self,
        deadline: Instant,
        unit: impl Fn() -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut tries = 0;
        loop {
            let reason = match timeout_at(deadline, unit()).await {
                Err(_) => "the store timed out".to_owned(),
                Ok(Err(StoreError::Unknown(reason))) => reason,
                // That it cannot be reached now says nothing about what was committed before.
                Ok(Err(StoreError::Unavailable(reason))) if tries > 0 => reason,
                Ok(answer) => return answer,
            };
            let pause = exponential_backoff(FIRST_PAUSE, 2, tries, MAX_PAUSE);
            if Instant::now() + pause >= deadline {
                return Err(StoreError::Unknown(reason));
            }
            sleep(pause).await;
            tries = tries.saturating_add(1);
        }
    }
}
