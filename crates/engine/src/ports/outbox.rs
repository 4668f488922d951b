//! Events for callers: events, the endpoints that want them, and the deliveries between the two.
//!
//! An event is written by the unit of work it tells of ([`NewEvent`] in an insertion, a reservation or a change), together
//! with a delivery for every enabled endpoint of the environment that wants it. So nothing that happened goes untold, and
//! nothing is told that did not happen.

use async_trait::async_trait;
use tollgate_domain::{
    ServiceReference, Timestamp,
    approval::ProposalNotice,
    audit_log::AuditHead,
    circuit::CircuitNotice,
    event::{EventFilter, EventKind},
    id::{EndpointId, EnvironmentId, EventId},
    refund::Refund,
    transaction::TransactionState,
};

use super::StoreError;

/// An event to be written with the unit it tells of, whose moment and state are its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Its own id, which receivers know it by.
    pub id: EventId,
    pub kind: EventKind,
    /// The payment's revision as the unit leaves it.
    pub revision: u64,
    /// The refund it is about, as the unit leaves it.
    pub refund: Option<Box<Refund>>,
}

/// An event as stored. Never changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: EventId,
    pub kind: EventKind,
    /// To which payment; `None` for an event about a provider, the configuration or the audit log.
    pub reference: Option<ServiceReference>,
    pub at: Timestamp,
    /// The payment's revision then; 0 for an event about something else, or from before revisions were kept.
    pub revision: u64,
    /// The transaction as it was then. `None` for an event about a preparation, and for what happened before events were
    /// kept: then the transaction is told of as it is.
    pub state: Option<TransactionState>,
    /// The refund as it was then, for an event about one.
    pub refund: Option<Box<Refund>>,
    /// The provider's circuit, for an event about one.
    pub circuit: Option<Box<CircuitNotice>>,
    /// The proposed configuration, for an event about one.
    pub proposal: Option<Box<ProposalNotice>>,
    /// The end of the audit log, for an event about it.
    pub audit_head: Option<AuditHead>,
}

/// An event about a provider's circuit, to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCircuitEvent {
    pub id: EventId,
    pub at: Timestamp,
    pub notice: CircuitNotice,
}

impl NewCircuitEvent {
    pub const fn kind(&self) -> EventKind {
        if self.notice.is_open { EventKind::CircuitOpened } else { EventKind::CircuitClosed }
    }
}

/// An event about the end of the audit log, to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditHeadEvent {
    pub id: EventId,
    pub at: Timestamp,
    pub head: AuditHead,
}

/// A secret that deliveries are signed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// Under the master key.
    pub sealed: String,
    /// Until when it is used; `None` for the current one.
    pub until: Option<Timestamp>,
}

/// A webhook endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub id: EndpointId,
    /// Counts the changes an operator made; 0 as created.
    pub revision: u64,
    pub url: String,
    /// What it is for, in the operator's words.
    pub description: Option<String>,
    /// Which events it wants.
    pub filter: EventFilter,
    /// Why it is disabled, for operators; `None` while it is enabled.
    pub disabled: Option<String>,
    /// The current secret first, and those that were rotated away and still sign for a while.
    pub secrets: Vec<SealedSecret>,
    pub created_at: Timestamp,
    /// When an operator last changed it.
    pub updated_at: Timestamp,
    /// How many deliveries have failed since one last succeeded.
    pub failures: u32,
    /// Left alone until then because it did not answer.
    pub rests_until: Option<Timestamp>,
}

/// The outcome of a new endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointAdded {
    /// It is there now (also when this very id was there before).
    Done,
    /// There are as many as an environment may have.
    TooMany,
    /// No such environment.
    EnvironmentMissing,
}

/// What became of a change of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointChanged {
    /// It is made.
    Done,
    /// The endpoint has changed meanwhile: nothing was done.
    Stale,
    /// No such endpoint in this environment.
    Missing,
}

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeliveryState {
    /// To be tried, first or again.
    Waiting,
    /// The endpoint has it.
    Delivered,
    /// Given up; an operator may have it sent again.
    Parked,
}

impl DeliveryState {
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Delivered, Self::Parked];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Parked => "parked",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// The latest attempt at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastTry {
    /// When it ended.
    pub at: Timestamp,
    /// The answer's status, where there was an answer.
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub took_millis: u32,
    /// Its result, for operators.
    pub note: String,
}

/// One event on its way to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDelivery {
    pub event: Event,
    pub endpoint: EndpointId,
    pub state: DeliveryState,
    /// Since when it has been tried: the event's own moment, or when it was asked for again.
    pub since: Timestamp,
    /// When it is tried next; only with [`DeliveryState::Waiting`].
    pub due: Option<Timestamp>,
    /// How often it was tried since then.
    pub tries: u32,
    /// The latest attempt.
    pub last: Option<LastTry>,
}

/// A delivery that somebody has taken, with all that is needed to make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedDelivery {
    pub environment: EnvironmentId,
    /// The delivery; this try is counted already.
    pub delivery: EventDelivery,
    pub endpoint: Endpoint,
}

/// The result of a attempt at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempted {
    /// Where the delivery stands from now on.
    pub state: DeliveryState,
    /// When it is tried next; only with [`DeliveryState::Waiting`].
    pub due: Option<Timestamp>,
    /// The attempt.
    pub last: LastTry,
    /// What it means for the endpoint.
    pub endpoint: EndpointEffect,
}

/// What an attempt means for its endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointEffect {
    /// It answers: its failures are forgotten.
    Answers,
    /// It failed once more, and is left alone until then.
    Rests(Timestamp),
    /// It is disabled; what waits for it is parked. An operator may enable it again.
    Disabled(String),
}

/// Which events to list; everything that is given must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventQuery {
    /// Of this kind.
    pub kind: Option<EventKind>,
    /// About this payment.
    pub reference: Option<ServiceReference>,
}

/// Where a slice of events begins; the event named is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventsFrom {
    /// The newest first, from the end.
    Newest,
    /// The oldest first, from the start.
    Oldest,
    /// The newest first, below this one.
    Before(EventId),
    /// The oldest first, above this one.
    After(EventId),
}

impl EventsFrom {
    /// The oldest first, above this one; the id of nothing but zeros stands before the first event.
    pub fn after(id: EventId) -> Self {
        if id.to_bytes() == [0; 16] { Self::Oldest } else { Self::After(id) }
    }

    /// The event named.
    pub const fn cursor(self) -> Option<EventId> {
        match self {
            Self::Newest | Self::Oldest => None,
            Self::Before(id) | Self::After(id) => Some(id),
        }
    }
}

/// Which deliveries to list; everything that is given must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryQuery {
    /// To this endpoint.
    pub endpoint: Option<EndpointId>,
    /// Of this event.
    pub event: Option<EventId>,
    /// In this state.
    pub state: Option<DeliveryState>,
}

/// What is to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resend {
    /// To this endpoint alone, whatever it usually wants; otherwise to every enabled one that wants the event.
    pub endpoint: Option<EndpointId>,
    pub which: ResendWhich,
}

/// The events to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResendWhich {
    /// This one.
    Event(EventId),
    /// Those of this span of time, the second moment not included.
    Between {
        /// From this moment on.
        from: Timestamp,
        /// Up to this one.
        until: Timestamp,
        /// Only what was parked, rather than everything.
        parked_only: bool,
        /// Only those behind this one in the order of ids: where an earlier wish stopped.
        after: Option<EventId>,
    },
}

/// What became of a wish to send again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resent {
    /// So many deliveries wait again.
    Done {
        deliveries: u32,
        /// Where there may be more, the last event among them: to go on after.
        next_after: Option<EventId>,
    },
    /// The event or endpoint does not exist here.
    Missing,
    /// The endpoint named is disabled.
    Disabled,
}

/// The part of the store that keeps events, endpoints and deliveries.
#[async_trait]
pub trait OutboxStore: Send + Sync + 'static {
    /// Stores a new endpoint, unless the environment has `most` already.
    async fn add_endpoint(
        &self,
        environment: EnvironmentId,
        endpoint: &Endpoint,
        most: u32,
    ) -> Result<EndpointAdded, StoreError>;

    /// All endpoints of an environment, in the order of their ids.
    async fn endpoints(&self, environment: EnvironmentId) -> Result<Vec<Endpoint>, StoreError>;

    /// The endpoint, if there is one.
    async fn endpoint(
        &self,
        environment: EnvironmentId,
        id: EndpointId,
    ) -> Result<Option<Endpoint>, StoreError>;

    /// Puts `endpoint` (address, words, filter, whether it is disabled, secrets, moment of change) in the place of the one
    /// with its id, if that is still at `endpoint.revision`, and counts the revision up. An endpoint that is enabled by it
    /// begins without failures and without rest; where it is disabled, what waits for it is parked.
    async fn change_endpoint(
        &self,
        environment: EnvironmentId,
        endpoint: &Endpoint,
    ) -> Result<EndpointChanged, StoreError>;

    /// Removes an endpoint and its deliveries; the events stay. `false` if there is none.
    async fn remove_endpoint(&self, environment: EnvironmentId, id: EndpointId) -> Result<bool, StoreError>;

    /// Events of an environment in their sequence, the way `from` says; `None` if it names an event that is not there.
    ///
    /// The sequence is that of commits, so that it only ever grows at its end: an event that is listed has all of its
    /// predecessors listed before it, now and ever after. Whatever was committed before the call is listed by it.
    async fn list_events(
        &self,
        environment: EnvironmentId,
        query: EventQuery,
        from: EventsFrom,
        limit: u32,
    ) -> Result<Option<Vec<Event>>, StoreError>;

    /// The event, if there is one.
    async fn find_event(&self, environment: EnvironmentId, id: EventId) -> Result<Option<Event>, StoreError>;

    /// The latest event about a provider's circuit.
    async fn last_circuit_event(
        &self,
        environment: EnvironmentId,
        provider: &str,
    ) -> Result<Option<Event>, StoreError>;

    /// Writes an event about a provider's circuit, with a delivery for every endpoint that wants it, if `last` is still the
    /// latest event about it: of several nodes that tell the same, one does. `false` if another came first.
    async fn append_circuit_event(
        &self,
        environment: EnvironmentId,
        event: &NewCircuitEvent,
        last: Option<EventId>,
    ) -> Result<bool, StoreError>;

    /// The environments that have an enabled endpoint which names [`EventKind::AuditLogHead`].
    async fn audit_head_subscribers(&self) -> Result<Vec<EnvironmentId>, StoreError>;

    /// Writes an event about the end of the audit log, with a delivery for every endpoint that names it, unless one was written
    /// for this environment at `unless_since` or later: several nodes report one head. Returns whether it was written.
    async fn append_audit_head_event(
        &self,
        environment: EnvironmentId,
        event: &NewAuditHeadEvent,
        unless_since: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Deliveries, those of the newest events first and by endpoint within one event; below `before` if given.
    async fn deliveries(
        &self,
        environment: EnvironmentId,
        query: DeliveryQuery,
        before: Option<(EventId, EndpointId)>,
        limit: u32,
    ) -> Result<Vec<EventDelivery>, StoreError>;

    /// Takes deliveries of any environment that are due at `now`, and makes each due again at `until`: whoever took them
    /// has so long. Up to `each` of one endpoint, the longest due first, and `limit` in all; the endpoints that have waited
    /// longest come first, disabled and resting ones not at all. Counts a try for each.
    async fn claim_deliveries(
        &self,
        now: Timestamp,
        until: Timestamp,
        each: u32,
        limit: u32,
    ) -> Result<Vec<ClaimedDelivery>, StoreError>;

    /// Records what came of an attempt, both for the delivery and its endpoint. A delivery that was delivered, parked or
    /// removed meanwhile stays so: `false`.
    async fn settle_delivery(
        &self,
        environment: EnvironmentId,
        endpoint: EndpointId,
        event: EventId,
        attempted: &Attempted,
    ) -> Result<bool, StoreError>;

    /// Makes deliveries wait again, due at `now` and with no tries, in the order of their events' ids, at most `limit` of
    /// them but always all of an event. Where there never was one, it is made.
    async fn resend(
        &self,
        environment: EnvironmentId,
        resend: Resend,
        now: Timestamp,
        limit: u32,
    ) -> Result<Resent, StoreError>;
}
