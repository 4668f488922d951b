//! What the Stripe API remembers.

use super::prelude::*;
use super::{
    confirmation_tokens::ConfirmationToken, disputes::Dispute, domains::Domain, events::Event,
    refunds::Refund,
};
use crate::api::ApiState;
use crate::archive::{Part, parts};
use crate::webhooks::WebhookEvent;

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) intents: Collection<Intent>,
    pub(crate) charges: Collection<Charge>,
    pub(crate) refunds: Collection<Refund>,
    pub(crate) sessions: Collection<Session>,
    pub(super) disputes: Collection<Dispute>,
    pub(super) methods: Collection<Method>,
    pub(super) tokens: Collection<ConfirmationToken>,
    pub(super) events: Collection<Event>,
    pub(super) domains: Collection<Domain>,
    pub(super) destination: Destination,
    /// Kinds of payment methods that are switched off in the dashboard.
    pub(super) switched_off: BTreeSet<String>,
    /// Keys beside the configured ones, and what each may do.
    pub(super) keys: BTreeMap<String, Permissions>,
    /// Whether the account's balance covers no refund.
    pub(super) is_drained: bool,
    outbox: Vec<WebhookEvent>,
}

/// What a change happens in: the call, page or control call that causes it.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) services: Arc<Services>,
    pub(crate) now: i64,
    pub(crate) request_id: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) version: String,
    pub(crate) account: Option<String>,
}

/// How events are sent: as the webhook endpoint was set up.
#[derive(Debug, Clone, Default)]
pub(super) struct Destination {
    pub(super) is_thin: bool,
    /// The version that whole objects are shown in; without one, that of the call.
    pub(super) version: Option<String>,
}

impl Context {
    /// For changes no API call caused.
    pub(crate) fn without_call(services: &Arc<Services>) -> Self {
        Self {
            services: Arc::clone(services),
            now: calendar::unix_seconds(),
            request_id: None,
            idempotency_key: None,
            version: versions::DEFAULT.to_owned(),
            account: None,
        }
    }

    pub(super) fn id(&self, prefix: &str) -> String {
        self.services.ids.with_prefix(prefix)
    }
}

impl ApiState for State {
    fn configure(&mut self, config: &Config) {
        // Each is a copy of a whole object, several to a payment.
        self.events.bound(config.objects_max / 2);
    }

    fn take_webhook_events(&mut self) -> Vec<WebhookEvent> {
        std::mem::take(&mut self.outbox)
    }

    fn parts(&mut self) -> Vec<(&'static str, &mut dyn Part)> {
        parts!(self: intents charges refunds sessions disputes methods tokens events domains)
    }
}

impl State {
    /// Records an event, to be sent once the change is complete.
    pub(super) fn emit(&mut self, context: &Context, kind: &str, object: Value) {
        self.emit_change(context, kind, object, &Value::Null);
    }

    /// The same, with what the changed fields were before.
    pub(super) fn emit_change(&mut self, context: &Context, kind: &str, object: Value, before: &Value) {
        let account = self.account_of(&object);
        if self.destination.is_thin {
            self.emit_thin(context, &format!("v1.{kind}"), &object);
            return;
        }
        let id = context.id("evt_");
        let version = self.destination.version.as_ref().unwrap_or(&context.version);
        let mut object = object;
        versions::show_as_of(version, &mut object);
        let data = with_given(json!({ "object": object }), [("previous_attributes", before.clone())]);
        let listening = context.services.endpoints(Wire::Stripe);
        let listening = listening.iter().filter(|endpoint| endpoint.hears(kind, account.is_some()));
        let event = json!({
            "id": id, "object": "event", "api_version": version, "created": context.now, "data": data,
            "livemode": false, "pending_webhooks": listening.count(),
            "request": { "id": context.request_id, "idempotency_key": context.idempotency_key },
            "type": kind,
        });
        let event = with_given(event, [("account", json!(account))]);
        let text: Arc<str> = event.to_string().into();
        let (kind, created, is_connected) = (kind.to_owned(), context.now, account.is_some());
        let (event_id, body) = (id.clone(), text.clone());
        self.outbox.push(WebhookEvent { kind: kind.clone(), event_id, body, is_connected });
        self.events.put(&id, Event { kind, created, text, account });
    }

    /// The connected account that an object belongs to, which is that of its session or intent.
    fn account_of(&self, object: &Value) -> Option<String> {
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        match text("object") {
            Some("checkout.session") => self.sessions.get(text("id")?)?.account.clone(),
            Some("payment_intent") => self.account_of_intent(text("id")?),
            _ => self.account_of_intent(text("payment_intent")?),
        }
    }

    /// The connected account that an intent, its charges, refunds and disputes belong to.
    pub(super) fn account_of_intent(&self, intent: &str) -> Option<String> {
        self.intents.get(intent)?.account.clone()
    }

    /// An event that names its object and tells nothing of it.
    pub(super) fn emit_thin(&mut self, context: &Context, kind: &str, object: &Value) {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let (id, name, called) = (context.id("evt_test_"), text("object"), text("id"));
        let (version, folder) = match name.strip_prefix("v2.") {
            Some(rest) => ("v2", rest),
            None => ("v1", name),
        };
        let account = self.account_of(object);
        let event = json!({
            "id": id, "object": "v2.core.event", "type": kind, "livemode": false,
            "created": calendar::rfc3339(),
            "related_object": {
                "id": called, "type": name,
                "url": format!("/{version}/{}s/{called}", folder.replace('.', "/")),
            },
        });
        let event = with_given(event, [("context", json!(account))]);
        let (kind, body, is_connected) = (kind.to_owned(), event.to_string().into(), account.is_some());
        self.outbox.push(WebhookEvent { kind, event_id: id, body, is_connected });
    }
}
