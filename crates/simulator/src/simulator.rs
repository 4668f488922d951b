//! The simulator itself: everything the adapters, the control interface and the background work share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use tokio::sync::watch;

use crate::collection::lock;
use crate::config::{Config, WebhookTarget, Wire};
use crate::faults::{Fault, FaultQueue, Kind};
use crate::idempotency::Keys;
use crate::ids::Ids;
use crate::increase::IncreaseState;
use crate::square::SquareState;
use crate::stripe::StripeState;
use crate::webhooks::{Delivery, Queue, Sender, WebhookEvent, deliver_forever};
use crate::{control, increase, square, stripe};

/// How many webhook targets there may be.
const TARGETS_MAX: usize = 100;

/// A new simulator's routes: `/stripe/…`, `/square/…`, `/increase/…` and `/control/…`.
///
/// Whoever wants to stop the background work makes a [`Simulator`] instead.
pub fn router(config: Config) -> Router {
    Simulator::new(config).router()
}

/// A handle on one simulator. Clones share everything.
///
/// Background work (webhooks, checkout expiry, settlement) starts with the first call and ends with [`Simulator::stop`].
#[derive(Debug, Clone)]
pub struct Simulator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: Config,
    public_url: Mutex<String>,
    ids: Ids,
    faults: FaultQueue,
    targets: Mutex<Vec<WebhookTarget>>,
    queue: Queue,
    stop: watch::Sender<bool>,
    started: AtomicBool,
    calls: Mutex<BTreeMap<String, u64>>,
    stripe: Mutex<StripeState>,
    stripe_keys: Keys,
    square: Mutex<SquareState>,
    square_keys: Keys,
    increase: Mutex<IncreaseState>,
    increase_keys: Keys,
}

impl Simulator {
    /// A simulator with nothing in it.
    pub fn new(config: Config) -> Self {
        let objects_max = config.objects_max;
        Self(Arc::new(Inner {
            public_url: Mutex::new(config.public_url.clone()),
            ids: Ids::new(config.seed),
            faults: FaultQueue::default(),
            targets: Mutex::new(config.webhooks.clone()),
            queue: Queue::default(),
            stop: watch::Sender::new(false),
            started: AtomicBool::new(false),
            calls: Mutex::default(),
            stripe: Mutex::new(StripeState::new(objects_max)),
            stripe_keys: Keys::new(objects_max),
            square: Mutex::new(SquareState::new(objects_max)),
            square_keys: Keys::new(objects_max),
            increase: Mutex::new(IncreaseState::new(objects_max)),
            increase_keys: Keys::new(objects_max),
            config,
        }))
    }

    /// Every route: `/stripe/…`, `/square/…`, `/increase/…` and `/control/…`.
    pub fn router(&self) -> Router {
        Router::new()
            .nest("/stripe", self.stripe_router())
            .nest("/square", self.square_router())
            .nest("/increase", self.increase_router())
            .nest("/control", control::router(self.clone()))
    }

    /// The Stripe API alone, for client libraries that take a host but no path in front of `/v1`.
    pub fn stripe_router(&self) -> Router {
        stripe::router(self.clone())
    }

    /// The Square API alone.
    pub fn square_router(&self) -> Router {
        square::router(self.clone())
    }

    /// The Increase API alone.
    pub fn increase_router(&self) -> Router {
        increase::router(self.clone())
    }

    /// Says where customers reach the router, once the port is known.
    pub fn set_public_url(&self, origin: impl Into<String>) {
        *lock(&self.0.public_url) = origin.into();
    }

    /// Adds a place webhooks go to; a target of the same wire and address is replaced. `false`: there are too many.
    pub fn add_webhook_target(&self, target: WebhookTarget) -> bool {
        let mut targets = lock(&self.0.targets);
        targets.retain(|known| (known.wire, &known.url) != (target.wire, &target.url));
        let fits = targets.len() < TARGETS_MAX;
        if fits {
            targets.push(target);
        }
        fits
    }

    /// Forgets everything that happened since the start: objects, keys, faults, webhooks waiting, targets added.
    pub fn reset(&self) {
        let inner = &self.0;
        inner.faults.clear();
        inner.queue.clear();
        lock(&inner.targets).clone_from(&inner.config.webhooks);
        lock(&inner.calls).clear();
        *lock(&inner.stripe) = StripeState::new(inner.config.objects_max);
        *lock(&inner.square) = SquareState::new(inner.config.objects_max);
        *lock(&inner.increase) = IncreaseState::new(inner.config.objects_max);
        inner.stripe_keys.clear();
        inner.square_keys.clear();
        inner.increase_keys.clear();
    }

    /// Ends the background work and lets go of calls that hang on request. Webhooks still waiting are not sent.
    pub fn stop(&self) {
        self.0.stop.send_replace(true);
    }

    pub(crate) fn start(&self) {
        if self.0.started.swap(true, Ordering::Relaxed) {
            return;
        }
        for _ in 0..self.0.config.webhook_workers.clamp(1, 64) {
            tokio::spawn(deliver_forever(self.clone()));
        }
        tokio::spawn(stripe::expire_sessions_forever(self.clone()));
        if let Some(after) = self.0.config.ach_settles_after_ms {
            tokio::spawn(increase::settle_forever(self.clone(), Duration::from_millis(after)));
        }
    }

    pub(crate) async fn stopped(&self) {
        // The sender lives as long as `self`, so waiting can only end with the stop.
        let _ = self.0.stop.subscribe().wait_for(|stopped| *stopped).await;
    }

    /// Waits, or less where the simulator stops.
    pub(crate) async fn pause(&self, pause: Duration) {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.stopped() => {}
        }
    }

    /// Sends what happened to whoever listens, bent by a fault where one was asked for.
    pub(crate) async fn announce(
        &self,
        wire: Wire,
        mut webhook_events: Vec<WebhookEvent>,
        fault: Option<&Fault>,
    ) {
        let kind = fault.map(|fault| fault.kind);
        if kind == Some(Kind::WebhookNever) || webhook_events.is_empty() {
            return;
        }
        if kind == Some(Kind::WebhookOutOfOrder) {
            webhook_events.reverse();
        }
        let pause = match fault {
            Some(fault) if fault.kind == Kind::WebhookLate => fault.delay(),
            _ => Duration::ZERO,
        };
        let targets = self.targets(wire);
        for notice in webhook_events {
            for target in targets.iter().filter(|target| target.wants(&notice.kind)) {
                let (target, notice) = (target.clone(), notice.clone());
                let delivery = Delivery { target, notice, attempts: 0, first_tried: None };
                if kind == Some(Kind::WebhookTwice) {
                    self.0.queue.push(delivery.clone(), pause);
                }
                if kind == Some(Kind::WebhookFirst) {
                    self.0.queue.begin();
                    Sender::default().deliver(self, delivery).await;
                } else {
                    self.0.queue.push(delivery, pause);
                }
            }
        }
    }

    pub(crate) fn targets(&self, wire: Wire) -> Vec<WebhookTarget> {
        lock(&self.0.targets).iter().filter(|target| target.wire == wire).cloned().collect()
    }

    pub(crate) fn remove_webhook_targets(&self) {
        lock(&self.0.targets).clear();
    }

    pub(crate) fn count_call(&self, wire: Wire, operation: &str) {
        *lock(&self.0.calls).entry(format!("{}.{operation}", wire.name())).or_default() += 1;
    }

    pub(crate) fn calls(&self) -> BTreeMap<String, u64> {
        lock(&self.0.calls).clone()
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.config
    }

    pub(crate) fn public_url(&self) -> String {
        lock(&self.0.public_url).trim_end_matches('/').to_owned()
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.0.ids
    }

    pub(crate) fn faults(&self) -> &FaultQueue {
        &self.0.faults
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.0.queue
    }

    pub(crate) fn keys(&self, wire: Wire) -> &Keys {
        match wire {
            Wire::Stripe => &self.0.stripe_keys,
            Wire::Square => &self.0.square_keys,
            Wire::Increase => &self.0.increase_keys,
        }
    }

    pub(crate) fn stripe(&self) -> MutexGuard<'_, StripeState> {
        lock(&self.0.stripe)
    }

    pub(crate) fn square(&self) -> MutexGuard<'_, SquareState> {
        lock(&self.0.square)
    }

    pub(crate) fn increase(&self) -> MutexGuard<'_, IncreaseState> {
        lock(&self.0.increase)
    }
}
