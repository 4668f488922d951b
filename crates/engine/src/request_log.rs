//! The log of client API calls: taken in memory while a call is answered, written in batches a moment later. What does not fit
//! is dropped and counted, so that neither a payment nor a quote ever waits for it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId, RequestId},
};
use tracing::warn;

use crate::{
    audit_log::AUDIT_HEAD_EVERY,
    engine::Engine,
    key_meters::KeyMeters,
    ports::{ErrorGroup, KeyUse, LoggedRequest, QuoteCount, RequestFilter, StoreError},
    snapshot::EnvironmentView,
};

/// Calls that wait to be written.
const MAX_WAITING: usize = 10_000;
/// Calls in one unit of work: few, because payments wait for a unit on SQLite.
const WRITTEN_AT_ONCE: usize = 200;
const POLL: Duration = Duration::from_millis(500);
/// How long the store is left alone after it did not respond.
const STORE_PAUSE: Duration = Duration::from_secs(2);
const FORGET_EVERY: Duration = Duration::from_mins(10);
const FORGOTTEN_AT_ONCE: u32 = 1_000;
/// Failed calls that are looked at to group them.
const MAX_GROUPED: u32 = 10_000;
const HOUR_MILLIS: i64 = 3_600_000;

/// Calls on their way to the store.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    waiting: Mutex<Vec<LoggedRequest>>,
    quotes: Mutex<HashMap<(EnvironmentId, KeyId), u64>>,
    dropped: AtomicU64,
}

impl RequestLog {
    fn push(&self, request: LoggedRequest) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MAX_WAITING {
            waiting.push(request);
        } else {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The oldest that wait.
    fn take(&self) -> Vec<LoggedRequest> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let count = waiting.len().min(WRITTEN_AT_ONCE);
        let rest = waiting.split_off(count);
        std::mem::replace(&mut *waiting, rest)
    }

    /// Puts back what could not be written, before what came meanwhile, as far as there is room.
    fn put_back(&self, mut taken: Vec<LoggedRequest>, quotes: &[QuoteCount]) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_WAITING.saturating_sub(waiting.len());
        let lost = taken.len().saturating_sub(room);
        taken.truncate(room);
        taken.append(&mut waiting);
        *waiting = taken;
        self.dropped.fetch_add(u64::try_from(lost).unwrap_or(u64::MAX), Ordering::Relaxed);
        let mut counts = self.quotes.lock().unwrap_or_else(PoisonError::into_inner);
        for quote in quotes {
            let count = counts.entry((quote.environment, quote.key)).or_default();
            *count = count.saturating_add(quote.count);
        }
    }
}

impl Engine {
    /// Takes note of a call. Returns at once, whatever the store does.
    pub fn log_request(&self, request: LoggedRequest) {
        self.request_log.push(request);
    }

    /// Calls that this node did not keep, because the store was too slow for them.
    pub fn dropped_requests(&self) -> u64 {
        self.request_log.dropped.load(Ordering::Relaxed)
    }

    /// Calls of an environment, newest first.
    pub async fn requests(
        &self,
        environment: EnvironmentId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<LoggedRequest>, StoreError> {
        self.store.requests(environment, filter, before, limit).await
    }

    /// The failed calls since then, grouped by code and endpoint.
    pub async fn request_errors(
        &self,
        environment: EnvironmentId,
        since: Timestamp,
    ) -> Result<Vec<ErrorGroup>, StoreError> {
        self.store.request_errors(environment, since, MAX_GROUPED).await
    }

    /// The quotes of the hours since then, by key.
    pub async fn quote_counts(
        &self,
        environment: EnvironmentId,
        from: Timestamp,
    ) -> Result<Vec<QuoteCount>, StoreError> {
        self.store.quote_counts(environment, from).await
    }

    /// Writes the calls that were noted and forgets old ones, until told to stop; what was noted by then is written.
    pub async fn log_requests_until(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let (mut forget_at, mut head_at) = (Instant::now(), Instant::now());
        while !*stop.borrow() {
            let mut pause = POLL;
            match self.write_requests().await {
                Ok(true) => pause = Duration::ZERO,
                Ok(false) => {}
                Err(error) => {
                    warn!(%error, "request log not written; will retry");
                    pause = STORE_PAUSE;
                }
            }
            if let Err(error) = self.record_operator_uses().await {
                warn!(%error, "last use of operators not written; will retry");
            }
            if let Err(error) = self.record_left_out(false).await {
                warn!(%error, "repeated actions not recorded in the audit log");
            }
            if Instant::now() >= head_at {
                head_at = Instant::now() + AUDIT_HEAD_EVERY;
                self.report_audit_head().await;
            }
            if Instant::now() >= forget_at {
                forget_at = Instant::now() + FORGET_EVERY;
                if let Err(error) = self.forget_requests().await {
                    warn!(%error, "old entries of the request log not removed; will retry");
                }
            }
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => {}
                () = sleep(pause) => {}
            }
        }
        while matches!(self.write_requests().await, Ok(true)) {}
        let _ = self.record_operator_uses().await;
        let _ = self.record_left_out(true).await;
    }

    /// Writes some of what waits. Returns whether there is more.
    async fn write_requests(&self) -> Result<bool, StoreError> {
        let requests = self.request_log.take();
        let quotes = self.take_quotes();
        let (meters, uses): (Vec<_>, Vec<_>) = self.take_key_uses().into_iter().unzip();
        if requests.is_empty() && quotes.is_empty() && uses.is_empty() {
            return Ok(false);
        }
        let has_more = requests.len() >= WRITTEN_AT_ONCE || uses.len() >= WRITTEN_AT_ONCE;
        let written = self.store.record_requests(&requests, &quotes, &uses).await;
        if written.is_err() {
            for meters in &meters {
                meters.put_back_use();
            }
        }
        match written {
            Ok(()) => Ok(has_more),
            // A commit whose answer was lost may have counted the quotes: better too few than twice as many.
            Err(error @ StoreError::Unknown(_)) => {
                self.request_log.put_back(requests, &[]);
                Err(error)
            }
            Err(error) => {
                self.request_log.put_back(requests, &quotes);
                Err(error)
            }
        }
    }

    /// The quotes since they were last taken. They count for the hour that it is by now.
    fn take_quotes(&self) -> Vec<QuoteCount> {
        let now = self.clock.now().unix_millis();
        let hour = Timestamp::from_unix_millis(now.saturating_sub(now.rem_euclid(HOUR_MILLIS)));
        let mut counts =
            std::mem::take(&mut *self.request_log.quotes.lock().unwrap_or_else(PoisonError::into_inner));
        for key in self.directory.snapshot().live_keys() {
            if key.meters.quotes.load(Ordering::Relaxed) > 0 {
                let count = key.meters.quotes.swap(0, Ordering::Relaxed);
                let counted = counts.entry((key.environment.environment.id, key.id)).or_default();
                *counted = counted.saturating_add(count);
            }
        }
        let quote = |((environment, key), count)| QuoteCount { environment, key, hour, count };
        counts.into_iter().map(quote).collect()
    }

    /// Keys that were used and whose use is not written yet, no more than belong into one unit of work.
    fn take_key_uses(&self) -> Vec<(Arc<KeyMeters>, KeyUse)> {
        let snapshot = self.directory.snapshot();
        let used = snapshot.live_keys().filter_map(|key| {
            let at = key.meters.take_use()?;
            let environment = key.environment.environment.id;
            Some((Arc::clone(&key.meters), KeyUse { environment, key: key.id, at }))
        });
        used.take(WRITTEN_AT_ONCE).collect()
    }

    async fn forget_requests(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let kept = |view: &&Arc<EnvironmentView>| {
            let lifetime = view.configuration.settings.request_log_lifetime();
            (view.environment.id, now.saturating_sub(lifetime))
        };
        let kept: Vec<_> = self.directory.snapshot().environments().iter().map(kept).collect();
        for (id, before) in kept {
            while self.store.forget_requests(id, before, FORGOTTEN_AT_ONCE).await?
                >= u64::from(FORGOTTEN_AT_ONCE)
            {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: u8) -> LoggedRequest {
        LoggedRequest {
            id: RequestId::from_bytes([number; 16]),
            environment: EnvironmentId::from_bytes([1; 16]),
            at: Timestamp::from_unix_millis(i64::from(number)),
            key: KeyId::from_bytes([2; 16]),
            method: "POST".to_owned(),
            path: "/client/v1/payments".to_owned(),
            endpoint: "/client/v1/payments".to_owned(),
            status: 201,
            code: None,
            fields: Vec::new(),
            took_millis: 3,
            reference: None,
        }
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_counted() {
        let log = RequestLog::default();
        for _ in 0..MAX_WAITING + 7 {
            log.push(request(1));
        }
        assert_eq!(log.dropped.load(Ordering::Relaxed), 7);
        let taken = log.take();
        assert_eq!(taken.len(), WRITTEN_AT_ONCE);
        for _ in 0..150 {
            log.push(request(2));
        }
        log.put_back(taken, &[]);
        assert_eq!(log.dropped.load(Ordering::Relaxed), 7 + 150, "there is room for fifty of them");
        assert_eq!(log.waiting.lock().unwrap().len(), MAX_WAITING);
    }

    #[test]
    fn what_could_not_be_written_comes_first_again() {
        let log = RequestLog::default();
        log.push(request(1));
        let taken = log.take();
        log.push(request(2));
        log.put_back(taken, &[]);
        let order: Vec<_> = log.take().iter().map(|request| request.at.unix_millis()).collect();
        assert_eq!(order, [1, 2]);
    }
}
