//! `settings.retention`: how long personal data and webhooks are kept.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{reader::Node, validation_error::ValidationErrors};

/// Ten years, for which most books have to be kept.
const MAX_DAYS: u64 = 3_650;
/// Providers repeat a webhook for days, and it is recognized as long as it is kept.
const MIN_PROVIDER_EVENT_DAYS: u64 = 30;
/// Each payment's timeline keeps the IDs of its webhooks.
const DEFAULT_PROVIDER_EVENT_DAYS: u64 = 90;

/// How long things are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    customer_data_days: Option<u64>,
    provider_event_days: Option<u64>,
}

impl Retention {
    /// How long a payment keeps its personal data; `None` is for ever.
    pub fn customer_data(&self) -> Option<Duration> {
        self.customer_data_days.map(days)
    }

    /// How long a provider's webhook is kept once it is done with.
    pub fn provider_events(&self) -> Duration {
        days(self.provider_event_days.unwrap_or(DEFAULT_PROVIDER_EVENT_DAYS))
    }
}

fn days(days: u64) -> Duration {
    Duration::from_hours(days.saturating_mul(24))
}

pub(crate) fn read(node: &Node<'_>, errors: &mut ValidationErrors) -> Retention {
    let Some(mut object) = node.object(errors) else { return Retention::default() };
    let customer_data = object.optional("customerDataDays");
    let provider_events = object.optional("providerEventDays");
    object.finish(errors);
    Retention {
        customer_data_days: customer_data.and_then(|node| node.integer(1, MAX_DAYS, errors)),
        provider_event_days: provider_events
            .and_then(|node| node.integer(MIN_PROVIDER_EVENT_DAYS, MAX_DAYS, errors)),
    }
}

pub(crate) fn write(retention: &Retention) -> Value {
    json!({
        "customerDataDays": retention.customer_data_days,
        "providerEventDays": retention.provider_event_days,
    })
}
