//! Reading events and deliveries, and having them sent again.

use tollgate_domain::{
    ServiceReference,
    card::Preparation,
    event::EventKind,
    id::{EndpointId, EnvironmentId, EventId},
};

use crate::{
    card::ReadError,
    engine::Engine,
    ports::{
        DeliveryQuery, Event, EventDelivery, EventQuery, EventSubject, EventsFrom, Resend, Resent, StoreError,
    },
};

/// Deliveries that one wish makes wait again.
const RESENT_AT_ONCE: u32 = 1_000;
/// More than an event can have, with one for each endpoint.
const DELIVERIES_OF_ONE: u32 = 200;

/// An event with all that is known of it.
#[derive(Debug)]
pub struct EventRead {
    pub event: Event,
    /// What it tells of.
    pub subject: EventSubject,
    /// Its deliveries.
    pub deliveries: Vec<EventDelivery>,
}

/// What is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResentEvents {
    /// How many deliveries wait again.
    pub deliveries: u32,
    /// The event to go on after, if there may be more.
    pub next_after: Option<EventId>,
}

/// Why nothing is sent again.
#[derive(Debug, thiserror::Error)]
pub enum ResendError {
    /// No such event or endpoint in this environment.
    #[error("event or endpoint not found")]
    Missing,
    /// The endpoint is disabled.
    #[error("the endpoint is disabled")]
    Disabled,
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    /// Events of an environment; missing where `from` names one that is not there.
    pub async fn list_events(
        &self,
        environment: EnvironmentId,
        query: EventQuery,
        from: EventsFrom,
        limit: u32,
    ) -> Result<Vec<Event>, ReadError> {
        self.store.list_events(environment, query, from, limit).await?.ok_or(ReadError::Missing)
    }

    /// An event, what it tells of, and where it is delivered to.
    pub async fn find_event(&self, environment: EnvironmentId, id: EventId) -> Result<EventRead, ReadError> {
        let event = self.store.find_event(environment, id).await?.ok_or(ReadError::Missing)?;
        let subject = self.event_subject(environment, &event).await?.ok_or(ReadError::Missing)?;
        let query = DeliveryQuery { event: Some(id), ..DeliveryQuery::default() };
        let deliveries = self.store.deliveries(environment, query, None, DELIVERIES_OF_ONE).await?;
        Ok(EventRead { event, subject, deliveries })
    }

    /// Deliveries of an environment, those of the newest events first.
    pub async fn deliveries(
        &self,
        environment: EnvironmentId,
        query: DeliveryQuery,
        before: Option<(EventId, EndpointId)>,
        limit: u32,
    ) -> Result<Vec<EventDelivery>, StoreError> {
        self.store.deliveries(environment, query, before, limit).await
    }

    /// Has events sent again, a bounded number of them.
    pub async fn resend(
        &self,
        environment: EnvironmentId,
        resend: Resend,
    ) -> Result<ResentEvents, ResendError> {
        let resent = self.store.resend(environment, resend, self.clock.now(), RESENT_AT_ONCE).await?;
        let resent = match resent {
            Resent::Done { deliveries, next_after } => ResentEvents { deliveries, next_after },
            Resent::Missing => return Err(ResendError::Missing),
            Resent::Disabled => return Err(ResendError::Disabled),
        };
        self.outbox_notify.notify_one();
        Ok(resent)
    }

    /// What an event tells of, as it was then. `None` if the payment is gone.
    pub(super) async fn event_subject(
        &self,
        environment: EnvironmentId,
        event: &Event,
    ) -> Result<Option<EventSubject>, StoreError> {
        if event.kind == EventKind::PaymentPrepared {
            let ServiceReference::Card(id) = event.reference else { return Ok(None) };
            let payment = self.store.payment(environment, id).await?;
            return Ok(payment.map(|mut payment| {
                // Later outcomes have their own events.
                payment.progress.preparation = Preparation::Prepared;
                payment.transaction = None;
                EventSubject::Payment(Box::new(payment))
            }));
        }
        let transaction = self.store.transaction(environment, event.reference).await?;
        Ok(transaction.map(|mut transaction| {
            if let Some(state) = &event.state {
                transaction.state.clone_from(state);
                transaction.updated_at = event.at;
            }
            EventSubject::Transaction(Box::new(transaction))
        }))
    }
}
