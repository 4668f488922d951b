//! Taking events into the index of payments and into the counts of their hour, a moment after they were written.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tracing::warn;

use crate::engine::Engine;

/// Events taken in one unit of work: few, because payments wait for a unit on SQLite.
const TAKEN: u32 = 100;
/// While there is more to take, so many times as long is left to others as a unit took.
const LEFT_TO_OTHERS: u32 = 4;
/// How long the store is left alone after it did not respond.
const STORE_PAUSE: Duration = Duration::from_secs(2);
/// How long postings wait to be added up for statements, which read them one by one until then.
const STATEMENT_PAUSE: Duration = Duration::from_secs(10);

impl Engine {
    /// Takes in whatever was written, until told to stop.
    pub async fn index_until(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        // Only an upgrade adds to them, so that what is done once is done for good.
        let (mut is_listed, mut has_earlier_payments) = (false, true);
        // Postings come with an event, except those of earlier payments; what was left before the start is added up then.
        let (mut has_postings, mut added_up_at) = (true, None::<Instant>);
        while !*stop.borrow() {
            let started = Instant::now();
            if has_earlier_payments {
                has_earlier_payments = match self.post_earlier_payments(&mut is_listed).await {
                    Ok(has_more) => has_more,
                    Err(error) => {
                        warn!(%error, "earlier payments not posted to the books; will retry");
                        true
                    }
                };
            }
            let indexed = self.store.index_events(TAKEN).await;
            has_postings |= has_earlier_payments || indexed.as_ref().is_ok_and(|taken| *taken > 0);
            let pause = match indexed {
                Ok(taken) if taken >= TAKEN => started.elapsed() * LEFT_TO_OTHERS,
                Ok(_) => self.options.outbox.digest_poll,
                Err(error) => {
                    warn!(%error, "events not indexed; will retry");
                    STORE_PAUSE
                }
            };
            if has_postings && added_up_at.is_none_or(|at| at.elapsed() >= STATEMENT_PAUSE) {
                added_up_at = Some(Instant::now());
                match self.store.add_up_statements().await {
                    Ok(()) => has_postings = false,
                    Err(error) => warn!(%error, "statements not added up; will retry"),
                }
            }
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => {}
                () = sleep(pause) => {}
            }
        }
    }
}
