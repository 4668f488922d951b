//! What the Modern Treasury API remembers.

use super::prelude::*;
use super::reversals::{Return, Reversal};
use crate::api::ApiState;
use crate::archive::{Part, parts};
use crate::webhooks::WebhookEvent;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) orders: Collection<PaymentOrder>,
    pub(super) returns: Collection<Return>,
    pub(super) reversals: Collection<Reversal>,
    pub(super) due: Due,
    outbox: Vec<WebhookEvent>,
}

#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) services: Arc<Services>,
    pub(crate) now: String,
    pub(crate) is_live: bool,
}

impl Context {
    pub(crate) fn new(services: &Arc<Services>, is_live: bool) -> Self {
        Self { services: Arc::clone(services), now: calendar::rfc3339(), is_live }
    }
}

impl ApiState for State {
    fn take_webhook_events(&mut self) -> Vec<WebhookEvent> {
        std::mem::take(&mut self.outbox)
    }

    fn parts(&mut self) -> Vec<(&'static str, &mut dyn Part)> {
        parts!(self: orders returns reversals)
    }

    fn resume(&mut self, services: &Services) {
        self.orders.open().for_each(|order| self.due.add(services, &order.id));
    }
}

impl State {
    pub(super) fn order(&self, id: &str) -> Answer<PaymentOrder> {
        self.orders.get_owned(id).ok_or_else(|| Error::not_found("Payment order"))
    }

    /// The newest thing that was sent back for an order.
    fn return_of(&self, id: &str) -> Option<Value> {
        let is_of =
            |one: &&Return| one.text("returnable_id") == Some(id) && one.text("type") != Some("ach_noc");
        self.returns.labeled(Some(id)).find(is_of).map(|found| found.0.clone())
    }

    pub(super) fn shown(&self, order: &PaymentOrder) -> Value {
        let is_returned = order.status == "returned";
        order.json(is_returned.then(|| self.return_of(&order.id)).flatten().as_ref())
    }

    /// Keeps an order that is new or has changed, and says so.
    pub(super) fn keep(&mut self, context: &Context, event: &str, order: &mut PaymentOrder) {
        order.updated_at.clone_from(&context.now);
        order.revision += 1;
        self.orders.put(&order.id, order.clone());
        self.announce(order, event);
    }

    /// Says that something happened to an order, also where that changes nothing of it.
    pub(super) fn announce(&mut self, order: &PaymentOrder, event: &str) {
        let data = self.shown(order);
        self.emit("payment_order", event, &data);
    }

    /// Records an event, to be sent once the change is complete.
    pub(super) fn emit(&mut self, topic: &str, event: &str, data: &Value) {
        let body = json!({ "event": event, "data": data }).to_string();
        // An opaque id, the same for every delivery of the event. Made of the body, so that who has one can name it.
        let event_id = HEXLOWER.encode(&Sha256::digest(body.as_bytes()));
        let (kind, body) = (format!("{topic}.{event}"), body.into());
        self.outbox.push(WebhookEvent { kind, event_id, body, is_connected: false });
    }
}
