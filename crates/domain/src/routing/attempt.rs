//! What was tried on a payment's route, and what is left to try.

use super::Target;
use crate::{card_fee::Place, fee::FeeSnapshot, payment::Channel, time::Timestamp};

/// Where a payment is on its route: what was tried before the provider it is at, and what may be tried after it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RouteProgress {
    /// Targets that were passed over or came to nothing, in order.
    pub attempts: Vec<RouteAttempt>,
    /// Targets that are left, in order.
    pub next: Vec<Target>,
    /// Where the payment could be paid before its caller switched it, in order: what was told of it then is told again as it was.
    pub left: Vec<LeftTarget>,
    /// Where the payer is and whether the payment is one of a series, as the caller said: what the fee at another target depends
    /// on.
    pub payer: Option<Place>,
    pub recurring: bool,
}

/// A payment as it was at a provider that it was switched away from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftTarget {
    pub provider: String,
    pub channel: Channel,
    pub fee: FeeSnapshot,
    pub prepared_at: Option<Timestamp>,
    pub expires_at: Timestamp,
    /// When it left.
    pub until: Timestamp,
}

/// A target that did not get the payment. It is proven that the provider has nothing of it that could still be paid.
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
    /// The customer's card was declined there, and the caller asked for another provider.
    Declined,
}

impl RouteOutcome {
    pub const ALL: [Self; 4] = [Self::Skipped, Self::Unavailable, Self::Refused, Self::Declined];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Unavailable => "unavailable",
            Self::Refused => "refused",
            Self::Declined => "declined",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }
}

impl RouteProgress {
    /// Whether a provider has been tried or passed over.
    pub fn has_tried(&self, provider: &str) -> bool {
        self.attempts.iter().any(|attempt| attempt.provider == provider)
    }

    /// Which attempt a provider's is, counted from 1.
    pub fn number_of(&self, provider: &str) -> usize {
        let before = self.attempts.iter().take_while(|attempt| attempt.provider != provider);
        before.count().saturating_add(1)
    }

    /// Whether a card was declined at this provider and the caller asked for another one.
    pub fn was_declined_at(&self, provider: &str) -> bool {
        let is_it = |attempt: &RouteAttempt| {
            attempt.outcome == RouteOutcome::Declined && attempt.provider == provider
        };
        self.attempts.iter().any(is_it)
    }

    /// Where the payment was at this time, if it was switched since.
    pub fn left_since(&self, at: Timestamp) -> Option<&LeftTarget> {
        self.left.iter().find(|left| at <= left.until)
    }

    /// Whether the caller has ever asked for another provider. Such a payment could be paid before, so its caller knows it.
    pub fn was_switched(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.outcome == RouteOutcome::Declined)
    }
}
