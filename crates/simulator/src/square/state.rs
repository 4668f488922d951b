//! What the Square API remembers.

use super::prelude::*;
use super::{disputes::Dispute, refunds::Refund};
use crate::api::ApiState;
use crate::archive::{Part, parts};
use crate::webhooks::WebhookEvent;

pub(super) const MERCHANT: &str = "MSIMULATOR001";

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) payments: Collection<Payment>,
    pub(crate) refunds: Collection<Refund>,
    pub(crate) disputes: Collection<Dispute>,
    pub(crate) links: Collection<Link>,
    pub(crate) orders: Collection<Order>,
    pub(super) tokens: Collection<Token>,
    outbox: Vec<WebhookEvent>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    pub(super) card: Card,
    pub(super) used: bool,
}

impl Kept for Token {}

#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) services: Arc<Services>,
    pub(crate) now: String,
}

impl Context {
    pub(crate) fn new(services: &Arc<Services>) -> Self {
        Self { services: Arc::clone(services), now: calendar::rfc3339() }
    }

    pub(super) fn id(&self, length: usize) -> String {
        self.services.ids.letters(length)
    }

    pub(super) fn location(&self) -> String {
        self.services.config.square.location_id.clone()
    }
}

impl ApiState for State {
    fn take_webhook_events(&mut self) -> Vec<WebhookEvent> {
        std::mem::take(&mut self.outbox)
    }

    fn parts(&mut self) -> Vec<(&'static str, &mut dyn Part)> {
        parts!(self: payments refunds disputes links orders tokens)
    }
}

impl State {
    /// Records an event, to be sent once the change is complete. `what` is `payment`, `refund` or `dispute`.
    pub(super) fn emit(&mut self, context: &Context, kind: &str, what: &str, id: &str, object: &Value) {
        let event_id = context.services.ids.uuid();
        let is_dispute = what == "dispute";
        let name = if is_dispute { "object" } else { what };
        let body = json!({
            "merchant_id": MERCHANT, "type": kind, "event_id": event_id, "created_at": context.now,
            "data": { "type": what, "id": id, "object": { name: object } },
        });
        let body = with_given(body, [("location_id", json!(is_dispute.then(|| context.location())))]);
        let (kind, body) = (kind.to_owned(), body.to_string().into());
        self.outbox.push(WebhookEvent { kind, event_id, body, is_connected: false });
    }
}
