//! The Refund object.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::collection::{Kept, Word, word};

/// Money on its way back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refund {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) charge: String,
    pub(crate) intent: String,
    #[serde(with = "word")]
    pub(crate) status: Word,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) created: i64,
    #[serde(with = "word::optional")]
    pub(crate) failure_reason: Option<Word>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) reason: Option<String>,
    /// Whether the account's balance has paid for it.
    pub(crate) moves_balance: bool,
    #[serde(with = "word::optional")]
    pub(crate) pending_reason: Option<Word>,
}

impl Kept for Refund {
    fn label(&self) -> Option<&str> {
        Some(&self.charge)
    }
}

impl Refund {
    pub(crate) fn json(&self) -> Value {
        let balance = self.moves_balance.then(|| format!("txn_{}", self.id.trim_start_matches("re_")));
        let mut refund = json!({
            "id": self.id,
            "object": "refund",
            "amount": self.amount,
            "balance_transaction": balance,
            "charge": self.charge,
            "created": self.created,
            "currency": self.currency,
            "customer": null,
            "customer_account": null,
            "destination_details": { "card": { "type": "refund" }, "type": "card" },
            "metadata": self.metadata,
            "payment_intent": self.intent,
            "payment_method": null,
            "reason": self.reason,
            "receipt_number": null,
            "source_transfer_reversal": null,
            "status": self.status,
            "transfer_reversal": null,
        });
        let reasons = [("failure_reason", self.failure_reason), ("pending_reason", self.pending_reason)];
        if let Some(fields) = refund.as_object_mut() {
            let given =
                reasons.into_iter().filter_map(|(name, reason)| Some((name.to_owned(), reason?.into())));
            fields.extend(given);
        }
        refund
    }
}
