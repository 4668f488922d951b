//! The Dispute object.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::collection::{Kept, Word, word};

/// A charge the customer contests.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Dispute {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) charge: String,
    pub(crate) created: i64,
    pub(crate) currency: String,
    pub(crate) intent: String,
    pub(crate) reason: String,
    #[serde(with = "word")]
    pub(crate) status: Word,
}

impl Kept for Dispute {
    fn label(&self) -> Option<&str> {
        Some(&self.charge)
    }
}

impl Dispute {
    pub(crate) fn json(&self) -> Value {
        json!({
            "id": self.id,
            "object": "dispute",
            "amount": self.amount,
            "balance_transactions": [],
            "charge": self.charge,
            "created": self.created,
            "currency": self.currency,
            "evidence": {},
            "evidence_details": {
                "due_by": self.created + 7 * 86_400,
                "has_evidence": false,
                "past_due": false,
                "submission_count": 0,
            },
            "is_charge_refundable": false,
            "livemode": false,
            "metadata": {},
            "payment_intent": self.intent,
            "reason": self.reason,
            "status": self.status,
        })
    }
}
