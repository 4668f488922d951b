//! What everything in a simulator shares: configuration, identifiers, faults, webhooks, and the signal to stop.

use crate::archive::{Archive, Line, Lines, Part as _, Row};
use crate::faults::{FaultQueue, Kind};
use crate::ids::Ids;
use crate::prelude::*;
use crate::webhooks::{Delivery, Endpoint, Queue, Sender, WebhookEvent};
use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::watch;

const ENDPOINTS_MAX: usize = 100;

/// What the services have in the file.
pub(crate) const OWNER: &str = "services";
const UNSENT: &str = "webhooks";

/// An event that not everybody who listens has received.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Unsent {
    wire: Wire,
    event: WebhookEvent,
}

impl Kept for Unsent {}

#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) config: Config,
    pub(crate) ids: Ids,
    pub(crate) faults: FaultQueue,
    pub(crate) queue: Queue,
    /// Where changes are kept, if anywhere.
    pub(crate) archive: Option<Archive>,
    /// Events that not everybody who listens has heard of, where they outlive the process.
    unsent: Mutex<Collection<Unsent>>,
    /// Those of an earlier process, until they are sent.
    left: Mutex<Vec<Unsent>>,
    public_url: Mutex<String>,
    endpoints: Mutex<Vec<Endpoint>>,
    /// How far the clock in every answer is ahead of the real one.
    skew_seconds: AtomicI64,
    calls: Mutex<BTreeMap<String, u64>>,
    stop: watch::Sender<bool>,
}

impl Services {
    pub(crate) fn new(config: Config, archive: Option<Archive>) -> Self {
        let ids = Ids::new(config.seed);
        let endpoints = config.webhooks.iter().map(|target| Endpoint::new(&ids, target.clone())).collect();
        Self {
            ids,
            faults: FaultQueue::default(),
            queue: Queue::default(),
            archive,
            unsent: Mutex::new(Collection::new(config.objects_max)),
            left: Mutex::default(),
            public_url: Mutex::new(config.public_url.clone()),
            endpoints: Mutex::new(endpoints),
            skew_seconds: AtomicI64::new(0),
            calls: Mutex::default(),
            stop: watch::Sender::new(false),
            config,
        }
    }

    /// Forgets faults, calls, webhooks waiting and targets added.
    pub(crate) fn reset(&self) {
        self.faults.clear();
        self.queue.clear();
        lock(&self.unsent).clear();
        lock(&self.left).clear();
        let targets = self.config.webhooks.iter();
        *lock(&self.endpoints) = targets.map(|target| Endpoint::new(&self.ids, target.clone())).collect();
        self.set_skew(0);
        lock(&self.calls).clear();
    }

    /// Adds to a change the events that are to be sent of it.
    pub(crate) fn write_unsent(&self, wire: Wire, events: &[WebhookEvent], line: &mut Line) {
        let mut unsent = lock(&self.unsent);
        for event in events {
            unsent.put(&event.event_id, Unsent { wire, event: event.clone() });
        }
        unsent.write_changes(&mut line.rows(OWNER, UNSENT));
    }

    /// Nothing more is sent of an event. Where it had several receivers, the first that is done with it ends it.
    fn finish_event(&self, event_id: &str) {
        let Some(archive) = &self.archive else { return };
        let mut line = Line::default();
        let mut unsent = lock(&self.unsent);
        unsent.remove(event_id);
        unsent.write_changes(&mut line.rows(OWNER, UNSENT));
        // The file is written anew with this lock taken while that of the file is held.
        drop(unsent);
        archive.append(line);
    }

    /// Takes a row of the file, at the start.
    pub(crate) fn restore(&self, row: &Row) -> serde_json::Result<()> {
        lock(&self.unsent).restore(row)
    }

    /// Once everything is restored: from now on changes are written.
    pub(crate) fn keep_changes(&self) {
        let mut unsent = lock(&self.unsent);
        unsent.keep_changes();
        *lock(&self.left) = unsent.oldest_first().cloned().collect();
    }

    pub(crate) fn write_all(&self, lines: &mut Lines) -> io::Result<()> {
        lines.write(OWNER, UNSENT, &*lock(&self.unsent))
    }

    /// Sends what an earlier process did not come to send, to whoever listens now.
    pub(crate) async fn resume(&self) {
        let left = std::mem::take(&mut *lock(&self.left));
        for Unsent { wire, event } in left {
            self.announce(wire, vec![event], None).await;
        }
    }

    /// The address customers reach a provider's pages at.
    pub(crate) fn base_url(&self, wire: Wire) -> String {
        let origin = lock(&self.public_url).trim_end_matches('/').to_owned();
        if self.config.only == Some(wire) { origin } else { format!("{origin}/{}", wire.name()) }
    }

    pub(crate) fn set_public_url(&self, origin: String) {
        *lock(&self.public_url) = origin;
    }

    /// `false`: there are too many. A target of the same provider and address is replaced.
    pub(crate) fn add_webhook_target(&self, target: WebhookTarget) -> bool {
        let is_same = |known: &WebhookTarget| (known.wire, &known.url) == (target.wire, &target.url);
        lock(&self.endpoints).retain(|known| !is_same(&known.target));
        self.add_endpoint(Endpoint::new(&self.ids, target))
    }

    /// `false`: there are too many.
    pub(crate) fn add_endpoint(&self, endpoint: Endpoint) -> bool {
        let mut endpoints = lock(&self.endpoints);
        let fits = endpoints.len() < ENDPOINTS_MAX;
        if fits {
            endpoints.push(endpoint);
        }
        fits
    }

    pub(crate) fn endpoints(&self, wire: Wire) -> Vec<Endpoint> {
        lock(&self.endpoints).iter().filter(|endpoint| endpoint.target.wire == wire).cloned().collect()
    }

    pub(crate) fn endpoint(&self, wire: Wire, id: &str) -> Option<Endpoint> {
        self.endpoints(wire).into_iter().find(|endpoint| endpoint.id == id)
    }

    /// A provider's endpoints for its lists, without those that are left out.
    pub(crate) fn listed_endpoints(
        &self,
        wire: Wire,
        lists: impl Fn(&Endpoint) -> bool,
    ) -> Collection<Endpoint> {
        let mut listed = Collection::new(ENDPOINTS_MAX);
        for endpoint in self.endpoints(wire).into_iter().filter(lists) {
            listed.put(&endpoint.id.clone(), endpoint);
        }
        listed
    }

    pub(crate) fn replace_endpoint(&self, changed: &Endpoint) {
        if let Some(known) = lock(&self.endpoints).iter_mut().find(|known| known.id == changed.id) {
            known.clone_from(changed);
        }
    }

    pub(crate) fn remove_endpoint(&self, id: &str) {
        lock(&self.endpoints).retain(|known| known.id != id);
    }

    pub(crate) fn set_skew(&self, seconds: i64) {
        self.skew_seconds.store(seconds, Ordering::Relaxed);
    }

    /// How far the clock in every answer is ahead of the real one.
    pub(crate) fn skew_seconds(&self) -> i64 {
        self.skew_seconds.load(Ordering::Relaxed)
    }

    /// The providers' time in seconds since 1970, which tests can move.
    pub(crate) fn unix_seconds(&self) -> i64 {
        calendar::unix_seconds().saturating_add(self.skew_seconds())
    }

    pub(crate) fn targets(&self, wire: Wire) -> Vec<WebhookTarget> {
        let endpoints = self.endpoints(wire).into_iter().filter(|endpoint| endpoint.is_enabled);
        endpoints.map(|endpoint| endpoint.target).collect()
    }

    pub(crate) fn remove_webhook_targets(&self) {
        lock(&self.endpoints).clear();
    }

    pub(crate) fn count_call(&self, wire: Wire, operation: &str) {
        *lock(&self.calls).entry(format!("{}.{operation}", wire.name())).or_default() += 1;
    }

    pub(crate) fn calls(&self) -> BTreeMap<String, u64> {
        lock(&self.calls).clone()
    }

    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }

    pub(crate) async fn stopped(&self) {
        // The sender lives as long as `self`, so waiting can only end with the stop.
        let _ = self.stop.subscribe().wait_for(|stopped| *stopped).await;
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
        if kind == Some(Kind::WebhookNever) {
            for event in &webhook_events {
                self.finish_event(&event.event_id);
            }
            return;
        }
        if kind == Some(Kind::WebhookOutOfOrder) {
            webhook_events.reverse();
        }
        let pause = match fault {
            Some(fault) if fault.kind == Kind::WebhookLate => fault.delay(),
            _ => Duration::ZERO,
        };
        let endpoints = self.endpoints(wire);
        for notice in webhook_events {
            if !endpoints.iter().any(|endpoint| endpoint.hears(&notice.kind, notice.is_connected)) {
                self.finish_event(&notice.event_id);
            }
            let listening =
                endpoints.iter().filter(|endpoint| endpoint.hears(&notice.kind, notice.is_connected));
            for endpoint in listening {
                let (target, notice) = (endpoint.target.clone(), notice.clone());
                let delivery = Delivery { target, notice, attempts: 0, first_tried: None };
                if kind == Some(Kind::WebhookTwice) {
                    self.queue.push(delivery.clone(), pause);
                }
                if kind == Some(Kind::WebhookFirst) {
                    self.queue.begin();
                    self.deliver(&Sender::default(), delivery).await;
                } else {
                    self.queue.push(delivery, pause);
                }
            }
        }
    }

    pub(crate) async fn deliver_forever(self: Arc<Self>) {
        let sender = Sender::default();
        loop {
            tokio::select! {
                () = self.stopped() => return,
                delivery = self.queue.next() => self.deliver(&sender, delivery).await,
            }
        }
    }

    async fn deliver(&self, sender: &Sender, delivery: Delivery) {
        let event_id = delivery.notice.event_id.clone();
        if sender.deliver(&self.config, &self.queue, delivery).await {
            self.finish_event(&event_id);
        }
    }
}
