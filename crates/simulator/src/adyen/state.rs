//! What the Adyen API remembers, and what it tells of.

use super::modifications::Modification;
use super::prelude::*;
use crate::api::ApiState;
use crate::archive::{Part, parts};
use crate::webhooks::WebhookEvent;

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) sessions: Collection<Offer>,
    pub(crate) links: Collection<Offer>,
    pub(crate) payments: Collection<Payment>,
    pub(crate) modifications: Collection<Modification>,
    pub(crate) disputes: Collection<Modification>,
    /// What a session's result was when the browser received it, by what the browser received.
    pub(super) results: Collection<Packed>,
    /// Origins that pages may use the client key on, by id.
    pub(super) origins: BTreeMap<String, String>,
    pub(super) outbox: Vec<WebhookEvent>,
}

#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) services: Arc<Services>,
    pub(crate) now: i64,
}

impl Context {
    pub(crate) fn new(services: &Arc<Services>) -> Self {
        Self { services: Arc::clone(services), now: services.unix_seconds() }
    }

    pub(super) fn merchant(&self) -> &str {
        &self.services.config.adyen.merchant_account
    }

    /// A reference of 16 letters and digits, in capitals.
    pub(super) fn psp_reference(&self) -> String {
        self.services.ids.letters(16).to_uppercase()
    }
}

pub(super) const DAY: i64 = 24 * 3_600;

/// A time with the offset of Amsterdam in winter, as the provider writes it.
pub(super) fn time(second: i64) -> String {
    let at = jiff::Timestamp::from_second(second.saturating_add(3_600));
    at.map(|at| at.strftime("%Y-%m-%dT%H:%M:%S+01:00").to_string()).unwrap_or_default()
}

impl ApiState for State {
    fn take_webhook_events(&mut self) -> Vec<WebhookEvent> {
        std::mem::take(&mut self.outbox)
    }

    fn parts(&mut self) -> Vec<(&'static str, &mut dyn Part)> {
        parts!(self: sessions links payments modifications disputes results)
    }
}

impl State {
    /// The sessions, or where the id is that of a link, the links.
    pub(super) fn offers(&mut self, id: &str) -> &mut Collection<Offer> {
        if id.starts_with("PL") { &mut self.links } else { &mut self.sessions }
    }

    pub(super) fn payments_on(&self, offer: &Offer) -> impl Iterator<Item = &Payment> {
        self.payments.labeled(Some(&offer.terms.reference)).filter(|payment| payment.of == offer.id)
    }

    /// Tells of a payment, or of what happened to it under another reference; `item` has what is not as in the payment.
    pub(super) fn tell(&mut self, context: &Context, payment: &Payment, event: (&str, &str), item: Value) {
        let usual = json!({
            "additionalData": { "paymentMethodVariant": payment.method() }, "amount": payment.terms.amount,
            "merchantReference": payment.terms.reference, "paymentMethod": payment.method(),
            "originalReference": Some(&payment.id).filter(|original| *original != event.1),
        });
        self.outbox.push(notification(context, event, merged(usual, item)));
    }
}

/// An event with its reference as a notification, which is signed when it is sent. Its one item says what is given here.
pub(super) fn notification(context: &Context, (code, id): (&str, &str), item: Value) -> WebhookEvent {
    let own = json!({
        "additionalData": {}, "eventCode": code, "eventDate": time(context.now), "paymentMethod": "scheme",
        "merchantAccountCode": context.merchant(), "pspReference": id, "reason": "", "success": "true",
    });
    let item = json!({ "NotificationRequestItem": merged(own, item) });
    let body = json!({ "live": "false", "notificationItems": [item] });
    // Duplicates of one event share its code and reference, and have no other name in common.
    let event_id = format!("{code}:{id}");
    WebhookEvent { kind: code.to_owned(), event_id, body: body.to_string().into(), is_connected: false }
}
