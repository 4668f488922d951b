//! Webhooks: what happened, who receives it, what is waiting, and who sends it.

mod queue;
mod sender;

use crate::ids::Ids;
use crate::prelude::*;

pub(crate) use queue::Queue;
pub(crate) use sender::Sender;

/// Something happened, and whoever listens should hear of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WebhookEvent {
    pub(crate) kind: String,
    pub(crate) event_id: String,
    #[serde(with = "archive::text")]
    pub(crate) body: Arc<str>,
    /// Whether it happened in a connected account: other endpoints receive it than for the platform's own events.
    pub(crate) is_connected: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) target: WebhookTarget,
    pub(crate) notice: WebhookEvent,
    pub(crate) attempts: u32,
    pub(crate) first_tried: Option<String>,
}

impl WebhookTarget {
    pub(crate) fn wants(&self, kind: &str) -> bool {
        self.events.is_empty() || self.events.iter().any(|event| event == kind || event == "*")
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) id: String,
    /// Where it sends what, and how it signs.
    pub(crate) target: WebhookTarget,
    pub(crate) is_enabled: bool,
    /// Gone, where the provider goes on showing it.
    pub(crate) is_deleted: bool,
    /// Whether it belongs to the live mode, where one address serves both.
    pub(crate) is_live: bool,
    /// The platform's application, on an endpoint for events of connected accounts instead of the platform's own.
    pub(crate) application: Option<String>,
    /// When it was made, in seconds since 1970.
    pub(crate) created: i64,
    pub(crate) name: Option<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) api_version: Option<String>,
    pub(crate) idempotency_key: Option<String>,
}

impl Kept for Endpoint {}

impl Endpoint {
    pub(crate) fn new(ids: &Ids, target: WebhookTarget) -> Self {
        let prefix = match target.wire {
            Wire::Stripe => "we_",
            Wire::Square => "wbhk_",
            Wire::Increase => "event_subscription_",
            Wire::ModernTreasury => "webhook_endpoint_",
            Wire::Adyen => "WBHK",
        };
        Self {
            id: format!("{prefix}{}", ids.letters(24).to_ascii_lowercase()),
            target,
            is_enabled: true,
            is_deleted: false,
            is_live: false,
            application: None,
            created: calendar::unix_seconds(),
            name: None,
            metadata: Map::new(),
            api_version: None,
            idempotency_key: None,
        }
    }

    /// Whether it is sent events of this kind, from connected accounts or one's own.
    pub(crate) fn hears(&self, kind: &str, is_connected: bool) -> bool {
        self.is_enabled && self.application.is_some() == is_connected && self.target.wants(kind)
    }

    pub(crate) fn created_rfc3339(&self) -> String {
        let created = jiff::Timestamp::from_second(self.created);
        created.map(|created| format!("{created:.3}")).unwrap_or_default()
    }
}
