//! Deliveries waiting for their time, in a bounded queue.

use super::Delivery;
use crate::prelude::*;
use std::collections::VecDeque;
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// How many deliveries may wait; beyond it the one due first is dropped and counted.
const WAITING_MAX: usize = 100_000;
const ATTEMPTS_MAX: usize = 1_000;

/// What became of deliveries so far.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Tally {
    /// Waiting for their first or next attempt, or being sent.
    pub(crate) pending: u64,
    pub(crate) delivered: u64,
    pub(crate) failed_attempts: u64,
    /// Given up after the last attempt.
    pub(crate) given_up: u64,
    /// Lost because too many waited.
    pub(crate) dropped: u64,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Attempt {
    pub(crate) event_id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) url: String,
    pub(crate) number: u32,
    pub(crate) result: String,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: BTreeMap<(Instant, u64), Delivery>,
    next: u64,
    tally: Tally,
    attempts: VecDeque<Attempt>,
    /// Deliveries behind one that failed, by address, where the provider keeps a queue for each endpoint.
    held: BTreeMap<String, Vec<Delivery>>,
    /// What was delivered lately, to be sent again on request.
    sent: VecDeque<Delivery>,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    wake: Notify,
}

impl Queue {
    /// Adds a delivery, to be tried after a pause.
    pub(crate) fn push(&self, delivery: Delivery, pause: Duration) {
        let mut inner = lock(&self.inner);
        inner.tally.pending += 1;
        inner.insert(delivery, pause);
        drop(inner);
        self.wake.notify_one();
    }

    pub(crate) async fn next(&self) -> Delivery {
        loop {
            let due = {
                let mut inner = lock(&self.inner);
                let first = inner.waiting.keys().next().copied();
                match first {
                    Some((due, number)) if due <= Instant::now() => {
                        if let Some(delivery) = inner.waiting.remove(&(due, number)) {
                            match inner.held.get_mut(&delivery.target.url) {
                                Some(held) if delivery.attempts == 0 => held.push(delivery),
                                _ => return delivery,
                            }
                        }
                        Some(due)
                    }
                    other => other.map(|(due, _)| due),
                }
            };
            // An hour stands for "until somebody adds one".
            let due = due.unwrap_or_else(|| Instant::now() + Duration::from_hours(1));
            tokio::select! {
                () = tokio::time::sleep_until(due) => {}
                () = self.wake.notified() => {}
            }
        }
    }

    /// Records an attempt. With a pause, the delivery is tried again after it.
    pub(crate) fn record(&self, delivery: Delivery, result: String, accepted: bool, again: Option<Duration>) {
        let mut inner = lock(&self.inner);
        inner.attempts.push_back(Attempt {
            event_id: delivery.notice.event_id.clone(),
            kind: delivery.notice.kind.clone(),
            url: delivery.target.url.clone(),
            number: delivery.attempts,
            result,
        });
        while inner.attempts.len() > ATTEMPTS_MAX {
            inner.attempts.pop_front();
        }
        if again.is_some() && delivery.target.wire.queues_webhooks() {
            inner.held.entry(delivery.target.url.clone()).or_default();
        } else {
            // What waited behind it follows in the same order.
            for held in inner.held.remove(&delivery.target.url).unwrap_or_default() {
                inner.insert(held, Duration::ZERO);
            }
            self.wake.notify_one();
        }
        if accepted {
            inner.sent.push_back(delivery);
            while inner.sent.len() > ATTEMPTS_MAX {
                inner.sent.pop_front();
            }
            inner.tally.delivered += 1;
            inner.tally.pending = inner.tally.pending.saturating_sub(1);
            return;
        }
        inner.tally.failed_attempts += 1;
        if let Some(pause) = again {
            inner.insert(delivery, pause);
            drop(inner);
            self.wake.notify_one();
        } else {
            inner.tally.given_up += 1;
            inner.tally.pending = inner.tally.pending.saturating_sub(1);
        }
    }

    /// Sends what was delivered of an event once more; says how many deliveries that are.
    pub(crate) fn again(&self, event_id: &str) -> usize {
        let mut inner = lock(&self.inner);
        let mut again: Vec<Delivery> = Vec::new();
        for delivery in inner.sent.iter().filter(|sent| sent.notice.event_id == event_id) {
            // One that was sent again before stands here twice.
            if again.iter().all(|known| known.target.url != delivery.target.url) {
                again.push(Delivery { attempts: 0, first_tried: None, ..delivery.clone() });
            }
        }
        let count = again.len();
        for delivery in again {
            inner.tally.pending += 1;
            inner.insert(delivery, Duration::ZERO);
        }
        drop(inner);
        self.wake.notify_one();
        count
    }

    /// Counts a delivery that does not pass through the queue.
    pub(crate) fn begin(&self) {
        lock(&self.inner).tally.pending += 1;
    }

    pub(crate) fn tally(&self) -> Tally {
        lock(&self.inner).tally
    }

    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        lock(&self.inner).attempts.iter().cloned().collect()
    }

    pub(crate) fn clear(&self) {
        *lock(&self.inner) = Inner::default();
    }
}

impl Inner {
    fn insert(&mut self, delivery: Delivery, pause: Duration) {
        self.next += 1;
        self.waiting.insert((Instant::now() + pause, self.next), delivery);
        while self.waiting.len() + self.held.values().map(Vec::len).sum::<usize>() > WAITING_MAX
            && !self.waiting.is_empty()
        {
            self.waiting.pop_first();
            self.tally.dropped += 1;
            self.tally.pending = self.tally.pending.saturating_sub(1);
        }
    }
}
