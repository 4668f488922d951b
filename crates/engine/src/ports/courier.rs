//! Carrying events to their receivers, and what an event says in the API's own words.

use std::time::Duration;

use async_trait::async_trait;
use tollgate_domain::{
    approval::ProposalNotice, audit_log::AuditHead, circuit::CircuitNotice, transaction::Transaction,
};

use super::{CardPayment, Event};

/// What is carried.
#[derive(Debug, Clone)]
pub struct OutboundRequest {
    pub url: String,
    /// The headers that belong to it.
    pub headers: Vec<(&'static str, String)>,
    /// Its body, JSON.
    pub body: Vec<u8>,
}

/// A receiver's answer: whatever else it said is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboundResponse {
    pub status: u16,
    /// How long the receiver asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why there is no answer, for operators that repeat nothing of the address but its host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// The address is not one that events are carried to; nothing was sent.
    #[error("{0}")]
    Refused(String),
    /// It could not be reached, or gave no whole answer in time.
    #[error("{0}")]
    Failed(String),
}

/// Carries letters, one try each, within bounds of time and size.
#[async_trait]
pub trait Courier: Send + Sync + 'static {
    /// Posts the letter to its address. Redirects are answers like any other and are not followed.
    async fn send(&self, outbound: OutboundRequest) -> Result<OutboundResponse, DeliveryError>;
}

/// What an event tells of.
#[derive(Debug, Clone)]
pub enum EventSubject {
    /// The transaction as it was at the event.
    Transaction(Box<Transaction>),
    /// The payment as it was prepared.
    Payment(Box<CardPayment>),
    /// A provider's circuit.
    Circuit(Box<CircuitNotice>),
    /// A configuration that waits for approval.
    Proposal(Box<ProposalNotice>),
    /// The end of the audit log.
    AuditLog(AuditHead),
}

/// Writes events as receivers get them.
pub trait EventBodies: Send + Sync + 'static {
    /// The event's body: the same bytes however often it is asked for. The error says what is wrong, for the log.
    fn body(&self, event: &Event, subject: &EventSubject) -> Result<Vec<u8>, String>;
}
