//! The Dispute object.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::with_unset;
use crate::collection::{Kept, Word, word};

/// What a merchant can say about it.
const EVIDENCE: &str = "access_activity_log billing_address cancellation_policy cancellation_policy_disclosure \
    cancellation_rebuttal customer_communication customer_email_address customer_name \
    customer_purchase_ip customer_signature duplicate_charge_documentation \
    duplicate_charge_explanation duplicate_charge_id product_description receipt refund_policy \
    refund_policy_disclosure refund_refusal_explanation service_date service_documentation \
    shipping_address shipping_carrier shipping_date shipping_documentation shipping_tracking_number \
    uncategorized_file uncategorized_text";

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
    /// What was taken from the balance, and what was given back.
    pub(crate) movements: Vec<Movement>,
}

/// Money taken for a dispute, or given back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Movement {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) created: i64,
}

/// What the provider charges for a dispute.
const FEE: i64 = 1_500;

impl Kept for Dispute {
    fn label(&self) -> Option<&str> {
        Some(&self.charge)
    }
}

impl Movement {
    fn json(&self, dispute: &Dispute) -> Value {
        let (category, what, fee) = if self.amount < 0 {
            ("dispute", "Chargeback withdrawal", FEE)
        } else {
            ("dispute_reversal", "Chargeback reversal", 0)
        };
        let fees = json!([{
            "amount": fee,
            "application": null,
            "currency": dispute.currency,
            "description": "Dispute fee",
            "type": "stripe_fee",
        }]);
        json!({
            "id": self.id,
            "object": "balance_transaction",
            "amount": self.amount,
            "available_on": self.created,
            "balance_type": "payments",
            "created": self.created,
            "currency": dispute.currency,
            "description": format!("{what} for {}", dispute.charge),
            "exchange_rate": null,
            "fee": fee,
            "fee_details": if fee > 0 { fees } else { json!([]) },
            "net": self.amount - fee,
            "reporting_category": category,
            "source": dispute.id,
            "status": "available",
            "type": "adjustment",
        })
    }
}

impl Dispute {
    /// Whether its charge can still be refunded: an inquiry takes no money.
    pub(crate) fn is_refundable(&self) -> bool {
        self.movements.is_empty()
    }

    /// Whether its money was taken and not given back.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.movements.len() == 1
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "id": self.id,
            "object": "dispute",
            "amount": self.amount,
            "balance_transactions": self.movements.iter().map(|one| one.json(self)).collect::<Vec<_>>(),
            "charge": self.charge,
            "created": self.created,
            "currency": self.currency,
            "enhanced_eligibility_types": [],
            "evidence": with_unset(json!({ "enhanced_evidence": {} }), EVIDENCE),
            "evidence_details": {
                "due_by": self.created + 7 * 86_400,
                "enhanced_eligibility": {},
                "has_evidence": false,
                "past_due": false,
                "submission_count": 0,
                "submission_method": "not_submitted",
            },
            "intended_submission_method": null,
            "is_charge_refundable": self.is_refundable(),
            "livemode": false,
            "metadata": {},
            "payment_intent": self.intent,
            "reason": self.reason,
            "status": self.status,
        })
    }
}
