//! What was tried on a payment's route, and what is left to try.

use super::Target;

/// Where a payment is on its route: what was tried before the provider it is at, and what may be tried after it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RouteProgress {
    /// Targets that were passed over or came to nothing, in order.
    pub attempts: Vec<RouteAttempt>,
    /// Targets that are left, in order.
    pub next: Vec<Target>,
}

/// A target that did not get the payment. It is proven that the provider has nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteAttempt {
    pub provider: String,
    pub outcome: RouteOutcome,
    /// For operators and callers: `circuit open`, `connection refused`, …
    pub reason: String,
}

/// Why a target did not get a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteOutcome {
    /// It was not asked.
    Skipped,
    /// It was not reached, or turned the request away unread.
    Unavailable,
    /// It did not accept our credentials.
    Refused,
}

impl RouteOutcome {
    pub const ALL: [Self; 3] = [Self::Skipped, Self::Unavailable, Self::Refused];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Unavailable => "unavailable",
            Self::Refused => "refused",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }
}

impl RouteProgress {
    /// Whether it is an ordinary route: one target, and nothing tried before.
    pub fn is_empty(&self) -> bool {
        self.attempts.is_empty() && self.next.is_empty()
    }

    /// Whether a provider has been tried or passed over.
    pub fn has_tried(&self, provider: &str) -> bool {
        self.attempts.iter().any(|attempt| attempt.provider == provider)
    }

    /// Which attempt the one under way is, counted from 1.
    pub fn number(&self) -> usize {
        self.attempts.len().saturating_add(1)
    }
}
