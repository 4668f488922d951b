//! Reading events and deliveries, and having them sent again.

use serde_json::json;
use tollgate_domain::{
    ServiceReference, Timestamp,
    card::Preparation,
    event::EventKind,
    id::{EndpointId, EnvironmentId, EventId},
    transaction::Status,
};

use crate::{
    audit_log::Audited,
    card::ReadError,
    configure::Origin,
    engine::Engine,
    ports::{
        CardPayment, DeliveryQuery, Event, EventDelivery, EventQuery, EventSubject, EventsFrom, Resend,
        ResendWhich, Resent, StoreError,
    },
};

/// Deliveries that one wish makes wait again.
const RESENT_AT_ONCE: u32 = 1_000;
/// How often events of a span are read that nobody wants, before the caller has to continue.
const MAX_UNWANTED: u32 = 20;
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
        mut resend: Resend,
        origin: &Origin,
    ) -> Result<ResentEvents, ResendError> {
        let subject = match resend.which {
            ResendWhich::Event(event) => event.to_string(),
            ResendWhich::Between { .. } => environment.to_string(),
        };
        let endpoint = resend.endpoint.map(|endpoint| endpoint.to_string());
        let audited = Audited::new("event.resend", subject)
            .in_environment(environment)
            .after(json!({ "endpointId": endpoint }));
        let store = self.audited(origin, audited);
        let mut resent = ResentEvents { deliveries: 0, next_after: None };
        for _ in 0..MAX_UNWANTED {
            resent = match store.resend(environment, resend, self.clock.now(), RESENT_AT_ONCE).await? {
                Resent::Done { deliveries, next_after } => ResentEvents { deliveries, next_after },
                Resent::Missing => return Err(ResendError::Missing),
                Resent::Disabled => return Err(ResendError::Disabled),
            };
            // None of those that were read is wanted by anybody.
            let ResendWhich::Between { after, .. } = &mut resend.which else { break };
            if resent.deliveries > 0 || resent.next_after.is_none() {
                break;
            }
            *after = resent.next_after;
        }
        self.outbox_notify.notify_one();
        Ok(resent)
    }

    /// What an event tells of, as it was then. `None` if the payment is gone.
    pub(super) async fn event_subject(
        &self,
        environment: EnvironmentId,
        event: &Event,
    ) -> Result<Option<EventSubject>, StoreError> {
        if let Some(circuit) = &event.circuit {
            return Ok(Some(EventSubject::Circuit(circuit.clone())));
        }
        if let Some(proposal) = &event.proposal {
            return Ok(Some(EventSubject::Proposal(proposal.clone())));
        }
        if let Some(head) = event.audit_head {
            return Ok(Some(EventSubject::AuditLog(head)));
        }
        let Some(reference) = event.reference else { return Ok(None) };
        if event.kind == EventKind::PaymentPrepared {
            let ServiceReference::Card(id) = reference else { return Ok(None) };
            let payment = self.store.payment(environment, id).await?;
            return Ok(payment.map(|mut payment| {
                as_it_was(&mut payment, event.at);
                // Later outcomes have their own events.
                payment.progress.preparation = Preparation::Prepared;
                payment.transaction = None;
                payment.revision = event.revision;
                EventSubject::Payment(Box::new(payment))
            }));
        }
        let transaction = self.store.transaction(environment, reference).await?;
        // Only a declined payment is switched, so that later events are told at the provider it is at.
        let may_have_left = matches!(
            event.kind,
            EventKind::Transaction(Status::Pending | Status::Processing | Status::Failed)
        );
        let left = match reference {
            ServiceReference::Card(id) if may_have_left => {
                let payment = self.store.payment(environment, id).await?;
                payment.and_then(|payment| payment.order.route.left_since(event.at).cloned())
            }
            _ => None,
        };
        Ok(transaction.map(|mut transaction| {
            if let Some(left) = left {
                (transaction.provider, transaction.channel) = (left.provider, left.channel);
                transaction.fee = left.fee;
            }
            if let Some(state) = &event.state {
                transaction.state.clone_from(state);
                transaction.updated_at = event.at;
                transaction.revision = event.revision;
            }
            EventSubject::Transaction(Box::new(transaction))
        }))
    }
}

/// A payment as it was told of when it could be paid: at the provider it was at, after what had been tried by then.
fn as_it_was(payment: &mut CardPayment, at: Timestamp) {
    let order = &mut payment.order;
    // Its event and the preparation have the same moment; the next provider's may follow within a millisecond of the move.
    let left = order.route.left.iter().find(|left| left.prepared_at == Some(at));
    if let Some(left) = left.cloned() {
        (order.provider, order.channel) = (left.provider, left.channel);
        (order.fee, order.expires_at) = (left.fee, left.expires_at);
        payment.progress.prepared_at = left.prepared_at;
    }
    let before = order.route.number_of(&order.provider).saturating_sub(1);
    order.route.attempts.truncate(before);
}
