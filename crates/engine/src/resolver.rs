//! The resolver: every node looks for what is due, whoever began it, and does it.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep},
};
use tollgate_trace::{Instrument as _, span};
use tracing::warn;

use crate::{engine::Engine, ports::StoreError};

/// Pieces of work of each kind that are taken at once.
const TAKEN: usize = 16;
/// Pieces of work under way at once. One that waits for a slow provider keeps none of the others waiting, until there
/// are so many of them that the node had better begin no more.
const UNDER_WAY: usize = 96;
/// Paid payments that are checked at once: they have time, and keep nothing else waiting.
const FOLLOW_UPS: usize = 8;
/// How often sealing keys that no transfer needs are destroyed, payments that no limit counts are forgotten, and the day's
/// lists of disputes are begun.
const CLEANUP_INTERVAL: Duration = Duration::from_mins(1);
/// How long the store is left alone after it did not respond.
const STORE_PAUSE: Duration = Duration::from_secs(2);

type Work = JoinSet<Result<(), StoreError>>;

impl Engine {
    /// Does whatever is due, until told to stop; what is begun is finished.
    pub async fn resolve_until(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let (mut work, mut follow_ups) = (Work::new(), Work::new());
        let mut next_cleanup = Instant::now();
        while !*stop.borrow() {
            if Instant::now() >= next_cleanup && self.may_conclude() {
                next_cleanup = Instant::now() + CLEANUP_INTERVAL;
                if let Err(error) = self.destroy_account_keys().await {
                    warn!(%error, "unused sealing keys could not be destroyed; the next attempt is in a minute");
                }
                if let Err(error) = self.begin_dispute_lists().await {
                    warn!(%error, "disputes could not be listed; the next attempt is in a minute");
                }
                if let Err(error) = self.forget_limit_uses().await {
                    warn!(%error, "payments that no limit counts could not be forgotten; the next attempt is in a minute");
                }
            }
            let pause = match self.take_due(&mut work, &mut follow_ups).await {
                Ok(0) => self.options.resolver.poll,
                Ok(_) => Duration::ZERO,
                Err(error) => {
                    warn!(%error, "resolver cannot reach the store");
                    STORE_PAUSE
                }
            };
            let is_full = work.len() + TAKEN > UNDER_WAY;
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => {}
                Some(done) = work.join_next() => note(done),
                Some(done) = follow_ups.join_next() => note(done),
                () = sleep(pause), if !is_full => {}
            }
            while let Some(done) = work.try_join_next().or_else(|| follow_ups.try_join_next()) {
                note(done);
            }
        }
        while let Some(done) = work.join_next().await {
            note(done);
        }
        while let Some(done) = follow_ups.join_next().await {
            note(done);
        }
    }

    /// Begins what is due, as far as there is room, and says how much it was.
    async fn take_due(self: &Arc<Self>, work: &mut Work, follow_ups: &mut Work) -> Result<usize, StoreError> {
        let begun = self.take_follow_ups(follow_ups).await?;
        // A third of the room for each kind, so that none keeps the others out.
        let room = UNDER_WAY.saturating_sub(work.len()) / 3;
        let limit = u32::try_from(room.min(TAKEN)).unwrap_or(0);
        if limit == 0 {
            return Ok(begun);
        }
        let now = self.clock.now();
        let until = now.saturating_add(self.options.resolver.lease);
        let before = work.len();
        for event in self.store.claim_provider_events(now, until, limit).await? {
            let engine = Arc::clone(self);
            work.spawn(
                async move { engine.apply_event_or_park(event).await }.instrument(span!("apply event")),
            );
        }
        for (environment, id) in self.store.claim_payments(now, until, limit).await? {
            let engine = Arc::clone(self);
            let resolving = async move { Box::pin(engine.resolve_payment(environment, id)).await };
            work.spawn(resolving.instrument(span!("resolve payment", %environment)));
        }
        for (environment, id) in self.store.claim_transfers(now, until, limit).await? {
            let engine = Arc::clone(self);
            let resolving = async move { Box::pin(engine.resolve_transfer(environment, id)).await };
            work.spawn(resolving.instrument(span!("resolve transfer", %environment)));
        }
        Ok(begun + work.len() - before)
    }

    async fn take_follow_ups(self: &Arc<Self>, work: &mut Work) -> Result<usize, StoreError> {
        let limit = u32::try_from(FOLLOW_UPS.saturating_sub(work.len())).unwrap_or(0);
        if limit == 0 {
            return Ok(0);
        }
        let now = self.clock.now();
        let until = now.saturating_add(self.options.resolver.lease);
        let due = self.store.claim_follow_ups(now, until, limit).await?;
        let begun = due.len();
        for (environment, id) in due {
            let engine = Arc::clone(self);
            let following = async move { engine.follow_up_payment(environment, id).await };
            work.spawn(following.instrument(span!("follow up payment", %environment)));
        }
        Ok(begun)
    }
}

fn note(done: Result<Result<(), StoreError>, tokio::task::JoinError>) {
    match done {
        Ok(Ok(())) => {}
        Ok(Err(error)) => warn!(%error, "resolver task failed; it will be retried"),
        Err(error) => warn!(%error, "resolver task interrupted; it will be retried"),
    }
}
