//! Delivering: every node takes deliveries that are due, whoever wrote the events, and makes them.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::{JoinError, JoinSet},
    time::{Instant, sleep_until},
};
use tollgate_domain::{Timestamp, id::EndpointId};
use tollgate_trace::{Instrument as _, Span};
use tracing::{debug, field::Empty, info, warn};

use super::{
    schedule::{self, MAX_JITTER, Moment, Outcome},
    tally::DeliveryOutcome,
};
use crate::{
    activity,
    engine::Engine,
    ports::{
        Attempted, ClaimedDelivery, Courier, DeliveryError, DeliveryState, EndpointEffect, EventBodies,
        OutboundRequest, StoreError,
    },
};

/// Deliveries under way at once.
const UNDER_WAY: usize = 64;
/// Of these, to one endpoint: one that is slow keeps no other waiting.
const TO_ONE_ENDPOINT: usize = 8;
/// Deliveries of one endpoint that are taken while others of some endpoint still wait for their turn here.
const TAKEN_WHILE_SOME_WAIT: u32 = 2;
/// However often something is written, deliveries are looked for at most this often while there are none.
const MIN_PAUSE: Duration = Duration::from_millis(20);
/// How long the store is left alone after it did not respond.
const STORE_PAUSE: Duration = Duration::from_secs(2);
const MAX_NOTE_LENGTH: usize = 300;

impl Engine {
    /// Delivers whatever is due, until told to stop; what was taken is finished.
    pub async fn deliver_until(
        self: Arc<Self>,
        courier: Arc<dyn Courier>,
        bodies: Arc<dyn EventBodies>,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut round = Round::new(self, courier, bodies);
        while !*stop.borrow() {
            round.begin_waiting();
            if round.room() > 0 && Instant::now() >= round.next_claim {
                round.claim().await;
                continue;
            }
            let engine = Arc::clone(&round.engine);
            let has_room = round.room() > 0;
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => {}
                Some(done) = round.work.join_next() => round.go_on(done),
                () = sleep_until(round.next_claim), if has_room => {}
                () = engine.outbox_notify.notified(), if has_room => round.heard_news(),
            }
        }
        round.begin_waiting();
        while let Some(done) = round.work.join_next().await {
            round.go_on(done);
            round.begin_waiting();
        }
    }
}

/// A delivery that was taken and waits until its endpoint has room for it.
struct Waiting {
    claimed: ClaimedDelivery,
    /// Begun later than this, it might not end before somebody else may take it.
    begin_before: Timestamp,
}

/// What became of a piece of work.
enum Step {
    /// The letter was carried, or could not be: what that means is to be recorded. The endpoint has room for another
    /// meanwhile.
    Carried(Box<(ClaimedDelivery, Attempted)>),
    /// Nothing is left to do.
    Over,
}

/// What is under way, and what is next.
struct Round {
    engine: Arc<Engine>,
    courier: Arc<dyn Courier>,
    bodies: Arc<dyn EventBodies>,
    work: JoinSet<Step>,
    turns: BTreeMap<EndpointId, Arc<Semaphore>>,
    waiting: VecDeque<Waiting>,
    last_claim: Instant,
    next_claim: Instant,
    store_answers: bool,
}

impl Round {
    fn new(engine: Arc<Engine>, courier: Arc<dyn Courier>, bodies: Arc<dyn EventBodies>) -> Self {
        let now = Instant::now();
        Self {
            engine,
            courier,
            bodies,
            work: JoinSet::new(),
            turns: BTreeMap::new(),
            waiting: VecDeque::new(),
            last_claim: now,
            next_claim: now,
            store_answers: true,
        }
    }

    fn room(&self) -> usize {
        UNDER_WAY.saturating_sub(self.work.len())
    }

    /// Something was written on this node: no need to wait for the next check.
    fn heard_news(&mut self) {
        if self.store_answers {
            self.next_claim = self.next_claim.min(self.last_claim + MIN_PAUSE);
        }
    }

    /// Takes what is due, as far as there is room.
    async fn claim(&mut self) {
        let options = self.engine.options.outbox;
        let now = self.engine.clock.now();
        let until = now.saturating_add(options.lease);
        let begin_before = now.saturating_add(options.lease.saturating_sub(options.timeout));
        let each = if self.waiting.is_empty() {
            u32::try_from(TO_ONE_ENDPOINT).unwrap_or(u32::MAX)
        } else {
            TAKEN_WHILE_SOME_WAIT
        };
        let limit = u32::try_from(self.room()).unwrap_or(u32::MAX);
        self.last_claim = Instant::now();
        let claimed = self.engine.store.claim_deliveries(now, until, each, limit).await;
        self.store_answers = claimed.is_ok();
        let begun = match claimed {
            Ok(claimed) => {
                let before = self.work.len();
                self.waiting.extend(claimed.into_iter().map(|claimed| Waiting { claimed, begin_before }));
                self.begin_waiting();
                self.work.len() > before
            }
            Err(error) => {
                warn!(%error, "cannot claim deliveries: store not responding");
                self.next_claim = Instant::now() + STORE_PAUSE;
                return;
            }
        };
        let pause = if begun { Duration::ZERO } else { options.poll };
        self.next_claim = self.last_claim + pause;
    }

    /// Begins what has waited for its endpoint to have room. Once nothing waits anymore it is time to take more.
    fn begin_waiting(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let now = self.engine.clock.now();
        for waiting in std::mem::take(&mut self.waiting) {
            // Somebody else may take it by now, so it is not ours anymore.
            if now >= waiting.begin_before {
                let (event, endpoint) = (waiting.claimed.delivery.event.id, waiting.claimed.endpoint.id);
                debug!(%event, %endpoint, "delivery claimed but not started in time; it will be retried");
                continue;
            }
            let turn = if self.room() > 0 { self.turn(waiting.claimed.endpoint.id) } else { None };
            match turn {
                Some(turn) => self.begin(waiting.claimed, turn),
                None => self.waiting.push_back(waiting),
            }
        }
        if self.waiting.is_empty() && self.store_answers {
            self.turns.retain(|_, turns| turns.available_permits() < TO_ONE_ENDPOINT);
            self.next_claim = Instant::now();
        }
    }

    fn turn(&mut self, endpoint: EndpointId) -> Option<OwnedSemaphorePermit> {
        let turns = self.turns.entry(endpoint).or_insert_with(|| Arc::new(Semaphore::new(TO_ONE_ENDPOINT)));
        Arc::clone(turns).try_acquire_owned().ok()
    }

    fn begin(&mut self, claimed: ClaimedDelivery, turn: OwnedSemaphorePermit) {
        let engine = Arc::clone(&self.engine);
        let (courier, bodies) = (Arc::clone(&self.courier), Arc::clone(&self.bodies));
        let (kind, environment, endpoint) =
            (claimed.delivery.event.kind, claimed.environment, claimed.endpoint.id);
        // A trace of its own: the request that the event is about ended long ago, or was made on another node.
        let span = tollgate_trace::span!(
            parent: None, "deliver", otel.kind = "producer", event = kind.as_str(), %environment, %endpoint,
            tries = claimed.delivery.tries, status = Empty, otel.status_code = Empty
        );
        let attempting = async move {
            let attempted = engine.attempt(&claimed, &*courier, &*bodies).await;
            drop(turn);
            if let Some(attempted) = &attempted {
                let span = Span::current();
                attempted.last.status.map(|status| span.record("status", status));
                if attempted.state != DeliveryState::Delivered {
                    tollgate_trace::failed(&span);
                }
            }
            attempted.map_or(Step::Over, |attempted| Step::Carried(Box::new((claimed, attempted))))
        };
        self.work.spawn(attempting.instrument(span));
    }

    /// Does what follows a piece of work.
    fn go_on(&mut self, done: Result<Step, JoinError>) {
        match done {
            Ok(Step::Carried(carried)) => {
                let engine = Arc::clone(&self.engine);
                self.work.spawn(async move {
                    engine.record_attempt(&carried.0, &carried.1).await;
                    Step::Over
                });
            }
            Ok(Step::Over) => {}
            Err(error) => warn!(%error, "delivery interrupted; it will be retried"),
        }
    }
}

impl Engine {
    /// Makes one delivery and says its result; `None` if the store does not even tell what to deliver.
    async fn attempt(
        &self,
        claimed: &ClaimedDelivery,
        courier: &dyn Courier,
        bodies: &dyn EventBodies,
    ) -> Option<Attempted> {
        let began = Instant::now();
        let outcome = match self.outbound(claimed, bodies).await {
            Ok(outbound) => carried(courier.send(outbound).await),
            Err(Unwritten::Store(error)) => {
                warn!(%error, "event not readable; it will be delivered later");
                return None;
            }
            Err(Unwritten::Broken(why)) => {
                warn!(event = %claimed.delivery.event.id, endpoint = %claimed.endpoint.id, why, "event body not rendered");
                Outcome { status: None, retry_after: None, note: format!("could not be rendered: {why}") }
            }
        };
        let drawn = u32::from(self.random::<2>().map_or(0, u16::from_be_bytes));
        let jitter = drawn % MAX_JITTER.saturating_add(1);
        let moment = Moment { now: self.clock.now(), took: began.elapsed(), jitter };
        Some(schedule::next_step(claimed, outcome, moment, &self.options.outbox))
    }

    /// Records what came of an attempt. Where that cannot be recorded the delivery is made again later: receivers know a
    /// repetition by its id.
    async fn record_attempt(&self, claimed: &ClaimedDelivery, attempted: &Attempted) {
        let (environment, endpoint) = (claimed.environment, claimed.endpoint.id);
        let (event, tries) = (claimed.delivery.event.id, claimed.delivery.tries);
        let note = attempted.last.note.as_str();
        let outcome = match attempted.state {
            DeliveryState::Delivered => DeliveryOutcome::Delivered,
            DeliveryState::Waiting => DeliveryOutcome::Failed,
            DeliveryState::Parked => DeliveryOutcome::Parked,
        };
        self.delivery_tally.add(outcome);
        debug!(%environment, %endpoint, %event, tries, outcome = outcome.as_str(), note, "delivery attempted");
        activity::delivered(claimed.delivery.event.kind, &claimed.endpoint.url, outcome.as_str(), note);
        if let EndpointEffect::Disabled(reason) = &attempted.endpoint {
            warn!(%environment, %endpoint, %event, reason, "event endpoint disabled");
        } else if outcome == DeliveryOutcome::Parked {
            info!(%environment, %endpoint, %event, tries, note, "delivery failed; it can be resent");
        }
        match self.store.settle_delivery(environment, endpoint, event, attempted).await {
            Ok(true) => {}
            Ok(false) => debug!(%endpoint, %event, "delivery already settled or removed"),
            Err(error) => {
                warn!(%error, %endpoint, %event, "delivery result not recorded; it will be retried");
            }
        }
    }

    /// The event as it goes out: body, id, moment and signatures.
    async fn outbound(
        &self,
        claimed: &ClaimedDelivery,
        bodies: &dyn EventBodies,
    ) -> Result<OutboundRequest, Unwritten> {
        let event = &claimed.delivery.event;
        let subject = self.event_subject(claimed.environment, event).await?;
        let subject = subject.ok_or_else(|| Unwritten::Broken("payment not found".to_owned()))?;
        let body = bodies.body(event, &subject).map_err(Unwritten::Broken)?;
        let secrets = self.signing_secrets(claimed.environment, &claimed.endpoint);
        let secrets = secrets.map_err(Unwritten::Broken)?;
        let (id, seconds) = (event.id.to_string(), self.clock.now().unix_millis().div_euclid(1_000));
        let signatures: Vec<_> = secrets.iter().map(|secret| secret.sign(&id, seconds, &body)).collect();
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("webhook-id", id),
            ("webhook-timestamp", seconds.to_string()),
            ("webhook-signature", signatures.join(" ")),
        ];
        Ok(OutboundRequest { url: claimed.endpoint.url.clone(), headers, body })
    }
}

/// Why there is nothing to send.
enum Unwritten {
    Store(StoreError),
    Broken(String),
}

impl From<StoreError> for Unwritten {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn carried(answer: Result<crate::ports::OutboundResponse, DeliveryError>) -> Outcome {
    match answer {
        Ok(receipt) => {
            let status = receipt.status;
            let note = match status {
                300..400 => format!("answered {status}; redirects are not followed"),
                _ => format!("answered {status}"),
            };
            Outcome { status: Some(status), retry_after: receipt.retry_after, note }
        }
        Err(error) => {
            let note = error.to_string().chars().take(MAX_NOTE_LENGTH).collect();
            Outcome { status: None, retry_after: None, note }
        }
    }
}
