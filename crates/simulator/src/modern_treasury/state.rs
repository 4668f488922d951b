//! What the Modern Treasury API remembers.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::{Duration, Instant};

use super::error::ModernTreasuryError;
use super::objects::{PaymentOrder, Return, Reversal};
use crate::api::ApiState;
use crate::calendar;
use crate::collection::Collection;
use crate::config::Config;
use crate::services::Services;
use crate::webhooks::WebhookEvent;

/// The longest an order can be told to wait for its end, so that its time can always be named.
const SETTLES_AFTER_MAX: Duration = Duration::from_hours(24 * 365);

/// Everything on the wire, by kind.
#[derive(Debug)]
pub(crate) struct ModernTreasuryState {
    pub(crate) orders: Collection<PaymentOrder>,
    pub(super) returns: Collection<Return>,
    pub(super) reversals: Collection<Reversal>,
    /// Orders that reach their end by themselves, by when.
    pub(super) due: BTreeSet<(Instant, String)>,
    outbox: Vec<WebhookEvent>,
}

/// What a change happens in.
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

impl ApiState for ModernTreasuryState {
    fn new(config: &Config) -> Self {
        let objects_max = config.objects_max;
        Self {
            orders: Collection::new(objects_max),
            returns: Collection::new(objects_max),
            reversals: Collection::new(objects_max),
            due: BTreeSet::new(),
            outbox: Vec::new(),
        }
    }

    fn take_webhook_events(&mut self) -> Vec<WebhookEvent> {
        std::mem::take(&mut self.outbox)
    }
}

impl ModernTreasuryState {
    pub(super) fn order(&self, id: &str) -> Result<PaymentOrder, ModernTreasuryError> {
        self.orders.get_owned(id).ok_or_else(|| ModernTreasuryError::not_found("Payment order"))
    }

    /// The newest thing that was sent back for an order.
    fn return_of(&self, id: &str) -> Option<Value> {
        let is_of = |one: &Cow<'_, Return>| {
            one.text("returnable_id") == Some(id) && one.text("type") != Some("ach_noc")
        };
        self.returns.labeled(Some(id)).find(is_of).map(|found| found.into_owned().0)
    }

    /// An order as it is shown.
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

    /// Where orders reach their end by themselves, names the time of this one.
    pub(super) fn settle_later(&mut self, context: &Context, id: &str) {
        if let Some(after) = context.services.config.ach_settles_after_ms {
            let after = Duration::from_millis(after).min(SETTLES_AFTER_MAX);
            self.due.insert((Instant::now() + after, id.to_owned()));
            // Beyond this many, the one due first belongs to an order that was dropped as the oldest.
            while self.due.len() > context.services.config.objects_max.saturating_mul(2) {
                self.due.pop_first();
            }
        }
    }
}
