//! Faults asked for by call.

use crate::prelude::*;
use serde::Deserialize;

const FAULTS_MAX: usize = 1_000;

/// What goes wrong; the README says how each is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    TimeoutBefore,
    TimeoutAfter,
    ErrorBefore,
    ErrorAfter,
    ErrorKept,
    ErrorKeptAfter,
    Refuse,
    Reset,
    Slow,
    Malformed,
    Torn,
    RateLimited,
    UnknownStatus,
    // What follows strikes the call's webhooks, and not the call.
    WebhookTwice,
    WebhookLate,
    WebhookNever,
    WebhookFirst,
    WebhookOutOfOrder,
}

impl Kind {
    pub(crate) const fn is_kept_error(self) -> bool {
        matches!(self, Self::ErrorKept | Self::ErrorKeptAfter)
    }

    fn is_about_webhooks(self) -> bool {
        self >= Self::WebhookTwice
    }
}

/// One request for faults: it strikes the next `count` matching calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    pub(crate) wire: Wire,
    /// `payment_intents.create`, or `*` for every call to the provider.
    pub(crate) operation: String,
    #[serde(rename = "fault")]
    pub(crate) kind: Kind,
    #[serde(default = "once")]
    pub(crate) count: u64,
    /// How long a timeout hangs, an answer or a webhook is held back, or a caller that asks too often is to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delay_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
}

const fn once() -> u64 {
    1
}

impl Fault {
    pub(crate) fn delay(&self) -> Duration {
        let usual = match self.kind {
            Kind::TimeoutBefore | Kind::TimeoutAfter => 120_000,
            _ => 2_000,
        };
        Duration::from_millis(self.delay_ms.unwrap_or(usual))
    }
}

/// What strikes one call: at most one fault in the exchange itself and one in its webhooks.
#[derive(Debug, Default)]
pub(crate) struct DueFaults {
    pub(crate) exchange: Option<Fault>,
    pub(crate) webhooks: Option<Fault>,
}

#[derive(Debug, Default)]
pub(crate) struct FaultQueue(Mutex<Vec<Fault>>);

impl FaultQueue {
    /// `false`: too many wait already.
    pub(crate) fn add(&self, fault: Fault) -> bool {
        let mut waiting = lock(&self.0);
        let fits = waiting.len() < FAULTS_MAX;
        if fits && fault.count > 0 {
            waiting.push(fault);
        }
        fits
    }

    pub(crate) fn waiting(&self) -> Vec<Fault> {
        lock(&self.0).clone()
    }

    pub(crate) fn clear(&self) {
        lock(&self.0).clear();
    }

    pub(crate) fn take(&self, wire: Wire, operation: &str) -> DueFaults {
        let mut waiting = lock(&self.0);
        let mut strike = DueFaults::default();
        for fault in waiting.iter_mut().filter(|fault| fault.wire == wire) {
            let place =
                if fault.kind.is_about_webhooks() { &mut strike.webhooks } else { &mut strike.exchange };
            if place.is_none() && (fault.operation == operation || fault.operation == "*") {
                fault.count -= 1;
                *place = Some(fault.clone());
            }
        }
        waiting.retain(|fault| fault.count > 0);
        strike
    }
}
