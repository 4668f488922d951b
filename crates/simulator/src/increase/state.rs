//! What the Increase API remembers.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::{Duration, Instant};

use super::error::IncreaseError;
use super::objects::{Ach, Event, FedNow, Rail, Rtp, Transfer};
use crate::api::ApiState;
use crate::calendar;
use crate::collection::Collection;
use crate::config::Config;
use crate::services::Services;
use crate::webhooks::WebhookEvent;

/// The longest a transfer can be told to wait for its settlement, so that its time can always be named.
const SETTLES_AFTER_MAX: Duration = Duration::from_hours(24 * 365);

/// Everything on the wire, by kind.
#[derive(Debug)]
pub(crate) struct IncreaseState {
    pub(crate) ach: Collection<Transfer<Ach>>,
    pub(crate) rtp: Collection<Transfer<Rtp>>,
    pub(crate) fednow: Collection<Transfer<FedNow>>,
    pub(super) events: Collection<Event>,
    /// Transfers that settle by themselves, by when.
    pub(super) due: BTreeSet<(Instant, String)>,
    /// What can be spent: transfers on their way count as gone.
    pub(super) available: i64,
    /// What is there: only transfers that were sent are gone.
    pub(super) current: i64,
    outbox: Vec<WebhookEvent>,
}

/// A rail whose transfers are remembered here.
pub(super) trait StoredRail: Rail {
    fn transfers(state: &mut IncreaseState) -> &mut Collection<Transfer<Self>>;
}

impl StoredRail for Ach {
    fn transfers(state: &mut IncreaseState) -> &mut Collection<Transfer<Self>> {
        &mut state.ach
    }
}

impl StoredRail for Rtp {
    fn transfers(state: &mut IncreaseState) -> &mut Collection<Transfer<Self>> {
        &mut state.rtp
    }
}

impl StoredRail for FedNow {
    fn transfers(state: &mut IncreaseState) -> &mut Collection<Transfer<Self>> {
        &mut state.fednow
    }
}

/// What a change happens in.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) services: Arc<Services>,
    pub(crate) now: String,
}

impl Context {
    pub(crate) fn new(services: &Arc<Services>) -> Self {
        Self { services: Arc::clone(services), now: calendar::rfc3339() }
    }

    /// An identifier in the provider's small letters.
    pub(super) fn id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.services.ids.letters(24).to_ascii_lowercase())
    }

    /// So many digits.
    pub(super) fn digits(&self, length: usize) -> String {
        let letters = self.services.ids.letters(length);
        letters.bytes().map(|letter| char::from(b'0' + letter % 10)).collect()
    }
}

impl ApiState for IncreaseState {
    fn new(config: &Config) -> Self {
        let objects_max = config.objects_max;
        Self {
            ach: Collection::new(objects_max),
            rtp: Collection::new(objects_max),
            fednow: Collection::new(objects_max),
            events: Collection::new(objects_max),
            due: BTreeSet::new(),
            available: config.increase.balance,
            current: config.increase.balance,
            outbox: Vec::new(),
        }
    }

    fn take_webhook_events(&mut self) -> Vec<WebhookEvent> {
        std::mem::take(&mut self.outbox)
    }
}

impl IncreaseState {
    pub(super) fn find<R: StoredRail>(&mut self, id: &str) -> Result<Transfer<R>, IncreaseError> {
        R::transfers(self).get_owned(id).ok_or_else(|| IncreaseError::not_found(R::NAME, id))
    }

    /// Keeps a transfer that is new or has changed, and says so. `what` is `created` or `updated`.
    pub(super) fn keep<R: StoredRail>(&mut self, context: &Context, what: &str, transfer: &Transfer<R>) {
        R::transfers(self).put(&transfer.id, transfer.clone());
        self.emit(context, R::TYPE, what, &transfer.id);
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

    /// Where transfers settle by themselves, names the time of this one.
    pub(super) fn settle_later(&mut self, context: &Context, id: &str) {
        if let Some(after) = context.services.config.ach_settles_after_ms {
            let after = Duration::from_millis(after).min(SETTLES_AFTER_MAX);
            self.due.insert((Instant::now() + after, id.to_owned()));
            // Beyond this many, the one due first belongs to a transfer that was dropped as the oldest.
            while self.due.len() > context.services.config.objects_max.saturating_mul(2) {
                self.due.pop_first();
            }
        }
    }

    /// Sets money aside for a transfer, if there is enough. A debit brings nothing before it is sent.
    pub(super) fn set_aside(&mut self, amount: i64) -> Result<(), IncreaseError> {
        let amount = amount.max(0);
        if amount > self.available {
            return Err(IncreaseError::conflict("There's an insufficient balance in the account."));
        }
        self.available -= amount;
        Ok(())
    }

    /// From now on so much can be spent; transfers on their way are not counted in.
    pub(super) fn set_balance(&mut self, available: i64) {
        self.current = self.current.saturating_add(available.saturating_sub(self.available));
        self.available = available;
    }

    /// Gives back what was set aside for a transfer that will not be sent.
    pub(super) fn put_back(&mut self, amount: i64) {
        self.available += amount.max(0);
    }

    /// The transfer is sent.
    pub(super) fn spend(&mut self, amount: i64) {
        self.current -= amount;
        self.available -= amount.min(0);
    }

    /// A transfer that was sent came back.
    pub(super) fn take_back(&mut self, amount: i64) {
        self.current += amount;
        self.available += amount;
    }
}
