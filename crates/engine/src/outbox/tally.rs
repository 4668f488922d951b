//! How many attempts at deliveries ended how, on this node since it started.

use std::sync::atomic::{AtomicU64, Ordering};

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The endpoint has the event.
    Delivered,
    /// It will be tried again.
    Failed,
    /// It was given up.
    Parked,
}

impl DeliveryOutcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Delivered, Self::Failed, Self::Parked];

    /// The name in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Parked => "parked",
        }
    }
}

/// The counts.
#[derive(Debug, Default)]
pub struct DeliveryTally {
    delivered: AtomicU64,
    failed: AtomicU64,
    parked: AtomicU64,
}

impl DeliveryTally {
    /// How many ended so.
    pub fn count(&self, outcome: DeliveryOutcome) -> u64 {
        self.of(outcome).load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, outcome: DeliveryOutcome) {
        self.of(outcome).fetch_add(1, Ordering::Relaxed);
    }

    fn of(&self, outcome: DeliveryOutcome) -> &AtomicU64 {
        match outcome {
            DeliveryOutcome::Delivered => &self.delivered,
            DeliveryOutcome::Failed => &self.failed,
            DeliveryOutcome::Parked => &self.parked,
        }
    }
}
