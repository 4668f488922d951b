//! The Dispute object.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::collection::{Kept, Word, word};
use crate::square::body::Money;

/// A payment the customer contests.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Dispute {
    pub(crate) id: String,
    pub(crate) money: Money,
    pub(crate) reason: String,
    #[serde(with = "word")]
    pub(crate) state: Word,
    pub(crate) due_at: String,
    pub(crate) payment_id: String,
    pub(crate) location_id: String,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) version: i64,
}

impl Kept for Dispute {
    fn label(&self) -> Option<&str> {
        Some(&self.payment_id)
    }
}

impl Dispute {
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, "EVIDENCE_REQUIRED" | "PROCESSING")
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "id": self.id,
            "amount_money": self.money.json(),
            "reason": self.reason,
            "state": self.state,
            "due_at": self.due_at,
            "disputed_payment": { "payment_id": self.payment_id },
            "card_brand": "VISA",
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "reported_at": self.created_at,
            "version": self.version,
            "location_id": self.location_id,
        })
    }
}
