//! The endpoint that events are delivered to.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tollgate_engine::ports::{
    Courier, DeliveryError, Event, EventBodies, EventSubject, OutboundRequest, OutboundResponse,
};

use super::faults::{CallKind, Fault, Faults, Life, lock};

pub(crate) const ENDPOINT_URL: &str = "https://receiver.example/events";

/// Event id and body of everything that arrived, repetitions included.
pub(crate) type Received = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// One process's connection to the endpoint.
pub(crate) struct Receiver {
    pub(crate) received: Received,
    pub(crate) faults: Arc<Faults>,
    pub(crate) life: Arc<Life>,
}

#[async_trait]
impl Courier for Receiver {
    async fn send(&self, outbound: OutboundRequest) -> Result<OutboundResponse, DeliveryError> {
        let lost = || Err(DeliveryError::Failed("it did not answer".to_owned()));
        match self.faults.strike("deliver", CallKind::Command) {
            Some(Fault::ProviderUnsent | Fault::ProviderUnknown { done: false }) => lost(),
            Some(Fault::ProviderRejects(_)) => Ok(OutboundResponse { status: 503, retry_after: None }),
            Some(Fault::ProviderUnknown { done: true }) => {
                self.arrive(outbound);
                lost()
            }
            Some(Fault::Crash) => {
                self.arrive(outbound);
                self.life.die().await
            }
            _ => {
                self.arrive(outbound);
                Ok(OutboundResponse { status: 200, retry_after: None })
            }
        }
    }
}

impl Receiver {
    fn arrive(&self, outbound: OutboundRequest) {
        assert_eq!(outbound.url, ENDPOINT_URL);
        let id = outbound.headers.iter().find(|(name, _)| *name == "webhook-id").map(|(_, id)| id.clone());
        lock(&self.received).push((id.unwrap_or_default(), outbound.body));
    }
}

/// Short bodies.
pub(crate) struct PlainBodies;

impl EventBodies for PlainBodies {
    fn body(&self, event: &Event, subject: &EventSubject) -> Result<Vec<u8>, String> {
        let about = match subject {
            EventSubject::Transaction(transaction) => {
                format!("{} {}", transaction.reference, transaction.state.status.as_str())
            }
            EventSubject::Payment(payment) => payment.order.id.to_string(),
            EventSubject::Circuit(circuit) => circuit.provider.clone(),
            EventSubject::Proposal(proposal) => proposal.approval.to_string(),
            EventSubject::AuditLog(head) => format!("{} entries", head.entries),
        };
        Ok(format!("{} {about}", event.kind).into_bytes())
    }
}
