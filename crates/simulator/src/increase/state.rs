//! What the Increase API remembers.

use super::events::Event;
use super::prelude::*;
use crate::api::ApiState;
use crate::archive::{Part, Single, parts};
use crate::due::Due;
use crate::webhooks::WebhookEvent;

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) ach: Collection<Transfer>,
    pub(crate) rtp: Collection<Transfer>,
    pub(crate) fednow: Collection<Transfer>,
    pub(super) events: Collection<Event>,
    pub(super) due: Due,
    /// What can be spent: transfers on their way count as gone.
    pub(super) available: Single<i64>,
    /// What is there: only transfers that were sent are gone.
    pub(super) current: Single<i64>,
    outbox: Vec<WebhookEvent>,
}

#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) services: Arc<Services>,
    pub(crate) now: String,
}

impl Context {
    pub(crate) fn new(services: &Arc<Services>) -> Self {
        Self { services: Arc::clone(services), now: calendar::rfc3339() }
    }

    pub(super) fn id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.services.ids.letters(24).to_ascii_lowercase())
    }

    pub(super) fn digits(&self, length: usize) -> String {
        let letters = self.services.ids.letters(length);
        letters.bytes().map(|letter| char::from(b'0' + letter % 10)).collect()
    }
}

impl ApiState for State {
    fn configure(&mut self, config: &Config) {
        (*self.available, *self.current) = (config.increase.balance, config.increase.balance);
    }

    fn take_webhook_events(&mut self) -> Vec<WebhookEvent> {
        std::mem::take(&mut self.outbox)
    }

    fn parts(&mut self) -> Vec<(&'static str, &mut dyn Part)> {
        parts!(self: ach rtp fednow events available current)
    }

    fn resume(&mut self, services: &Services) {
        for transfers in [&self.ach, &self.rtp, &self.fednow] {
            transfers.open().for_each(|transfer| self.due.add(services, &transfer.id));
        }
    }
}

impl State {
    pub(super) fn transfers(&mut self, rail: &Rail) -> &mut Collection<Transfer> {
        match rail.kind {
            "ach_transfer" => &mut self.ach,
            "fednow_transfer" => &mut self.fednow,
            _ => &mut self.rtp,
        }
    }

    pub(super) fn find(&mut self, rail: &Rail, id: &str) -> Answer<Transfer> {
        self.transfers(rail).get_owned(id).ok_or_else(|| Error::not_found(rail.name, id))
    }

    /// Keeps a transfer that is new or has changed, and says so. `what` is `created` or `updated`.
    pub(super) fn keep(&mut self, context: &Context, what: &str, transfer: &Transfer) {
        self.transfers(transfer.rail).put(&transfer.id, transfer.clone());
        self.emit(context, transfer.rail.kind, what, &transfer.id);
    }

    /// Records an event, to be sent once the change is complete.
    fn emit(&mut self, context: &Context, object_type: &'static str, what: &str, id: &str) {
        let event = Event {
            id: context.id("event_"),
            category: format!("{object_type}.{what}"),
            object_id: id.to_owned(),
            created_at: context.now.clone(),
            object_type,
        };
        let body = event.json().to_string().into();
        self.outbox.push(WebhookEvent {
            kind: event.category.clone(),
            event_id: event.id.clone(),
            body,
            is_connected: false,
        });
        self.events.put(&event.id.clone(), event);
    }

    /// Sets money aside for a transfer, if there is enough. A debit brings nothing before it is sent.
    pub(super) fn set_aside(&mut self, amount: i64) -> Answer<()> {
        let amount = amount.max(0);
        if amount > *self.available {
            return Err(Error::conflict("There's an insufficient balance in the account."));
        }
        *self.available -= amount;
        Ok(())
    }

    /// From now on so much can be spent; transfers on their way are not counted in.
    pub(super) fn set_balance(&mut self, available: i64) {
        *self.current = self.current.saturating_add(available.saturating_sub(*self.available));
        *self.available = available;
    }

    /// Gives back what was set aside for a transfer that will not be sent.
    pub(super) fn put_back(&mut self, amount: i64) {
        *self.available += amount.max(0);
    }

    pub(super) fn spend(&mut self, amount: i64) {
        *self.current -= amount;
        *self.available -= amount.min(0);
    }

    pub(super) fn take_back(&mut self, amount: i64) {
        *self.current += amount;
        *self.available += amount;
    }
}
