//! What happened, and its way to one target.

use crate::config::WebhookTarget;
use std::sync::Arc;

/// Something happened, and whoever listens should hear of it.
#[derive(Debug, Clone)]
pub(crate) struct WebhookEvent {
    pub(crate) kind: String,
    pub(crate) event_id: String,
    pub(crate) body: Arc<str>,
    /// Whether it happened in a connected account: other endpoints receive it than for the platform's own events.
    pub(crate) is_connected: bool,
}

/// One notice on its way to one target.
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
