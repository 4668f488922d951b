//! Endpoints, events and deliveries, as tests make them up.

use tollgate_domain::{
    Timestamp,
    event::{EventFilter, EventKind},
    id::{EndpointId, EnvironmentId, EventId},
    transaction::Status,
};
use tollgate_engine::ports::{
    Attempted, ClaimedDelivery, DeliveryQuery, DeliveryState, Endpoint, EndpointAdded, EndpointEffect, Event,
    EventDelivery, EventQuery, EventsFrom, LastTry, NewEvent, SealedSecret,
};

use super::{
    ALL, Nodes, at,
    samples::{LETTERS, in_status, preparing},
};

pub const SUCCEEDED: EventKind = EventKind::Transaction(Status::Succeeded);
pub const FAILED: EventKind = EventKind::Transaction(Status::Failed);

/// An attempt that ended like this.
pub fn attempted(state: DeliveryState, due: Option<Timestamp>, endpoint: EndpointEffect) -> Attempted {
    let last = LastTry { at: at(5_000), status: Some(503), took_millis: u32::MAX, note: LETTERS.to_owned() };
    Attempted { state, due, last, endpoint }
}

/// What was taken: to whom, and what.
pub fn taken(claimed: &[ClaimedDelivery]) -> Vec<(EndpointId, EventId)> {
    claimed.iter().map(|claimed| (claimed.delivery.endpoint, claimed.delivery.event.id)).collect()
}

impl Nodes {
    pub fn new_outbox_event(&self, kind: EventKind) -> NewEvent {
        NewEvent { id: self.new_event_id(), kind, revision: 1, refund: None }
    }

    /// An endpoint that wants these; nothing is in it that can be left out.
    pub fn new_endpoint(&self, names: &[&str]) -> Endpoint {
        let (created_at, random) = self.next();
        Endpoint {
            id: EndpointId::new(created_at, random),
            revision: 0,
            url: "https://shop.example/hooks".to_owned(),
            description: None,
            filter: EventFilter::parse(names.iter().copied()).unwrap(),
            disabled: None,
            secrets: Vec::new(),
            created_at,
            updated_at: created_at,
            failures: 0,
            rests_until: None,
        }
    }

    /// An endpoint with everything in it.
    pub fn new_full_endpoint(&self) -> Endpoint {
        Endpoint {
            url: format!("https://shop.example/{LETTERS}"),
            description: Some(LETTERS.to_owned()),
            disabled: Some(LETTERS.to_owned()),
            secrets: vec![
                SealedSecret { sealed: LETTERS.to_owned(), until: None },
                SealedSecret { sealed: "older".to_owned(), until: Some(at(9)) },
            ],
            failures: u32::MAX,
            rests_until: Some(Timestamp::from_unix_millis(i64::MAX)),
            ..self.new_endpoint(&["transaction.refunded", "payment.prepared", "transaction.failed"])
        }
    }

    /// An endpoint that is there.
    pub async fn endpoint(&self, environment: EnvironmentId, names: &[&str]) -> Endpoint {
        let endpoint = self.new_endpoint(names);
        let added = self.one.add_endpoint(environment, &endpoint, 16).await.unwrap();
        assert_eq!(added, EndpointAdded::Done);
        endpoint
    }

    pub async fn read_endpoint(&self, environment: EnvironmentId, id: EndpointId) -> Endpoint {
        self.two.endpoint(environment, id).await.unwrap().expect("the endpoint is there")
    }

    /// Lets something happen to a card payment of its own that is told by one event of this kind.
    pub async fn append_event(&self, environment: EnvironmentId, kind: EventKind) -> Event {
        let order = self.new_order(environment);
        let new_events = if kind == EventKind::PaymentPrepared {
            let new_events = [self.new_outbox_event(kind)];
            self.one.insert_payment(environment, &order, &preparing(), &[], &new_events).await.unwrap();
            new_events[0].clone()
        } else {
            self.payment_with(&order, &preparing()).await;
            let mut change = self.change_to(0, preparing());
            let status = if let EventKind::Transaction(status) = kind { status } else { Status::Succeeded };
            change.transaction = Some((self.new_transaction_id(), in_status(status)));
            change.new_events = vec![self.new_outbox_event(kind)];
            self.change(environment, order.id, &change).await;
            change.new_events[0].clone()
        };
        self.two.find_event(environment, new_events.id).await.unwrap().expect("the event is there")
    }

    /// All events, oldest first.
    pub async fn all_events(&self, environment: EnvironmentId) -> Vec<Event> {
        let all = self.two.list_events(environment, EventQuery::default(), EventsFrom::Oldest, ALL).await;
        all.unwrap().expect("the beginning is always there")
    }

    /// All deliveries, newest event first.
    pub async fn all_deliveries(&self, environment: EnvironmentId) -> Vec<EventDelivery> {
        self.two.deliveries(environment, DeliveryQuery::default(), None, ALL).await.unwrap()
    }

    pub async fn delivery(
        &self,
        environment: EnvironmentId,
        endpoint: EndpointId,
        event: EventId,
    ) -> EventDelivery {
        let query = DeliveryQuery { endpoint: Some(endpoint), event: Some(event), state: None };
        let mut found = self.two.deliveries(environment, query, None, ALL).await.unwrap();
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    /// Settles a delivery, which must work.
    pub async fn settle(
        &self,
        environment: EnvironmentId,
        endpoint: EndpointId,
        event: EventId,
        attempted: &Attempted,
    ) {
        assert!(self.one.settle_delivery(environment, endpoint, event, attempted).await.unwrap());
    }

    /// Gives a delivery up.
    pub async fn park(&self, environment: EnvironmentId, endpoint: EndpointId, event: EventId) {
        let parked = attempted(DeliveryState::Parked, None, EndpointEffect::Answers);
        self.settle(environment, endpoint, event, &parked).await;
    }
}
