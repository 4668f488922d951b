//! What the Square API remembers.

use serde_json::{Value, json};

use super::link::Link;
use super::order::Order;
use super::payment::Payment;
use super::refund::Refund;
use super::source::Token;
use crate::calendar;
use crate::collection::Collection;
use crate::simulator::Simulator;
use crate::webhooks::WebhookEvent;

pub(super) const MERCHANT: &str = "MSIMULATOR001";

/// Everything on the wire, by kind.
#[derive(Debug)]
pub(crate) struct SquareState {
    pub(crate) payments: Collection<Payment>,
    pub(crate) refunds: Collection<Refund>,
    pub(crate) links: Collection<Link>,
    pub(super) orders: Collection<Order>,
    pub(super) tokens: Collection<Token>,
    outbox: Vec<WebhookEvent>,
}

/// What a change happens in.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) simulator: Simulator,
    pub(crate) now: String,
}

impl Context {
    pub(crate) fn new(simulator: &Simulator) -> Self {
        Self { simulator: simulator.clone(), now: calendar::rfc3339() }
    }

    pub(super) fn id(&self, length: usize) -> String {
        self.simulator.ids().letters(length)
    }

    pub(super) fn location(&self) -> String {
        self.simulator.config().square.location_id.clone()
    }
}

impl SquareState {
    pub(crate) fn new(objects_max: usize) -> Self {
        Self {
            payments: Collection::new(objects_max),
            refunds: Collection::new(objects_max),
            links: Collection::new(objects_max),
            orders: Collection::new(objects_max),
            tokens: Collection::new(objects_max),
            outbox: Vec::new(),
        }
    }

    /// Records an event, to be sent once the change is complete. `what` is `payment` or `refund`.
    pub(super) fn emit(&mut self, context: &Context, kind: &str, what: &str, id: &str, object: &Value) {
        let event_id = context.simulator.ids().uuid();
        let body = json!({
            "merchant_id": MERCHANT,
            "location_id": context.location(),
            "type": kind,
            "event_id": event_id,
            "created_at": context.now,
            "data": { "type": what, "id": id, "object": { what: object } },
        });
        self.outbox.push(WebhookEvent { kind: kind.to_owned(), event_id, body: body.to_string().into() });
    }

    /// The events since the last time, for sending.
    pub(crate) fn take_webhook_events(&mut self) -> Vec<WebhookEvent> {
        std::mem::take(&mut self.outbox)
    }
}
