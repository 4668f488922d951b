//! Faults asked for by call.

use crate::{collection::lock, config::Wire};
use serde::{Deserialize, Serialize};
use std::{sync::Mutex, time::Duration};

/// How many requests for faults may wait at once.
const FAULTS_MAX: usize = 1_000;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// No answer, and nothing was done.
    TimeoutBefore,
    /// No answer, and it was done.
    TimeoutAfter,
    /// A server error, and nothing was done.
    ErrorBefore,
    /// A server error, and it was done.
    ErrorAfter,
    /// It was begun and not done, and the key keeps the server error as its answer.
    ErrorKept,
    /// It was done, and the key keeps a server error as its answer.
    ErrorKeptAfter,
    /// The provider says no, and nothing was done.
    Refuse,
    /// The connection closes without an answer, and nothing was done.
    Reset,
    /// The answer comes late.
    Slow,
    /// It was done, and the answer is not JSON.
    Malformed,
    /// It was done, and the answer ends in the middle.
    Torn,
    /// Too many requests, and nothing was done.
    RateLimited,
    /// It was done, and the answer's status is one nobody has heard of.
    UnknownStatus,
    /// Each webhook of the call is sent two times.
    WebhookTwice,
    /// The call's webhooks are held back.
    WebhookLate,
    /// The call's webhooks are not sent.
    WebhookNever,
    /// The call's webhooks arrive before its answer.
    WebhookFirst,
    /// The call's webhooks are sent last first.
    WebhookOutOfOrder,
}

impl Kind {
    pub(crate) const fn is_kept_error(self) -> bool {
        matches!(self, Self::ErrorKept | Self::ErrorKeptAfter)
    }

    const fn is_about_webhooks(self) -> bool {
        matches!(
            self,
            Self::WebhookTwice
                | Self::WebhookLate
                | Self::WebhookNever
                | Self::WebhookFirst
                | Self::WebhookOutOfOrder
        )
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
    /// The status of a server error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// The provider's code in a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
}

const fn once() -> u64 {
    1
}

impl Fault {
    /// The pause asked for, or one that suits the fault: a timeout outlasts any client's patience.
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

/// The faults still waiting for a call.
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
