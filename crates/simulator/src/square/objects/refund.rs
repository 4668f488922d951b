//! The Refund object.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::collection::{Kept, Word, word};
use crate::square::body::Money;

/// Money on its way back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refund {
    pub(crate) id: String,
    pub(crate) money: Money,
    pub(crate) payment_id: String,
    #[serde(with = "word")]
    pub(crate) status: Word,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) created_at: String,
    pub(crate) location_id: String,
    pub(crate) order_id: String,
    pub(crate) reason: Option<String>,
    pub(crate) updated_at: String,
}

impl Kept for Refund {}

impl Refund {
    pub(crate) fn json(&self) -> Value {
        let mut refund = json!({
            "id": self.id,
            "status": self.status,
            "amount_money": self.money.json(),
            "payment_id": self.payment_id,
            "order_id": self.order_id,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "location_id": self.location_id,
            "destination_type": "CARD",
        });
        if let (Some(reason), Some(fields)) = (&self.reason, refund.as_object_mut()) {
            fields.insert("reason".to_owned(), reason.as_str().into());
        }
        refund
    }
}
