//! Payment orders and reversals as they are shown.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::collection::{Class, Kept, Word, word};

/// Money on its way from an internal account to somebody's bank account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PaymentOrder {
    pub(crate) id: String,
    #[serde(with = "word")]
    pub(crate) status: Word,
    #[serde(with = "word")]
    pub(crate) kind: Word,
    #[serde(with = "word::optional")]
    pub(crate) subtype: Option<Word>,
    #[serde(with = "word")]
    pub(crate) priority: Word,
    #[serde(with = "word")]
    pub(crate) direction: Word,
    pub(crate) amount: u64,
    pub(crate) currency: String,
    pub(crate) originating_account_id: String,
    pub(crate) receiving_account_id: String,
    /// Not shown by the API; the account's number decides what becomes of the order.
    pub(crate) account_number: String,
    pub(crate) routing_number: String,
    pub(crate) party_name: Option<String>,
    #[serde(with = "word::optional")]
    pub(crate) party_type: Option<Word>,
    pub(crate) external_id: Option<String>,
    pub(crate) effective_date: String,
    pub(crate) description: Option<String>,
    pub(crate) statement_descriptor: Option<String>,
    pub(crate) remittance_information: Option<String>,
    pub(crate) originating_party_name: Option<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) vendor_failure_reason: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) is_live: bool,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    /// How often it was kept; makes two deliveries about it differ.
    pub(crate) revision: u64,
}

impl Kept for PaymentOrder {
    fn label(&self) -> Option<&str> {
        self.external_id.as_deref()
    }

    fn class(&self) -> Class {
        match self.status {
            "completed" => Class::Done,
            "returned" => Class::Returned,
            _ => Class::Open,
        }
    }
}

impl PaymentOrder {
    pub(crate) fn json(&self, current_return: Option<&Value>) -> Value {
        json!({
            "accounting": {},
            "accounting_category_id": null,
            "accounting_ledger_class_id": null,
            "amount": self.amount,
            "batch_id": null,
            "charge_bearer": null,
            "counterparty_id": null,
            "created_at": self.created_at,
            "currency": self.currency,
            "current_hold": null,
            "current_return": current_return,
            "description": self.description,
            "direction": self.direction,
            "effective_date": self.effective_date,
            "expires_at": null,
            "external_id": self.external_id,
            "foreign_exchange_contract": null,
            "foreign_exchange_indicator": null,
            "foreign_exchange_rate": null,
            "id": self.id,
            "ledger_transaction_id": null,
            "live_mode": self.is_live,
            "metadata": self.metadata,
            "nsf_protected": false,
            "object": "payment_order",
            "originating_account_id": self.originating_account_id,
            "originating_account_type": "internal_account",
            "originating_party_address": null,
            "originating_party_name": self.originating_party_name,
            "priority": self.priority,
            "process_after": null,
            "purpose": null,
            "receiving_account_id": self.receiving_account_id,
            "receiving_account_type": "external_account",
            "reconciliation_status": if self.status == "completed" { "reconciled" } else { "unreconciled" },
            "reference_numbers": [],
            "remittance_information": self.remittance_information,
            "send_remittance_advice": null,
            "statement_descriptor": self.statement_descriptor,
            "status": self.status,
            "subtype": self.subtype,
            "transaction_ids": [],
            "type": self.kind,
            "ultimate_originating_account": null,
            "ultimate_originating_account_id": null,
            "ultimate_originating_account_type": null,
            "ultimate_originating_party_identifier": null,
            "ultimate_originating_party_name": null,
            "ultimate_receiving_party_identifier": null,
            "ultimate_receiving_party_name": self.party_name,
            "updated_at": self.updated_at,
            "vendor_attributes": null,
            "vendor_failure_reason": self.vendor_failure_reason,
        })
    }

    /// What the control interface shows: enough to tell orders apart, and no account number.
    pub(crate) fn summary(&self) -> Value {
        let kept = self.account_number.chars().count().saturating_sub(4);
        json!({
            "id": self.id,
            "type": self.kind,
            "subtype": self.subtype,
            "priority": self.priority,
            "amount": self.amount,
            "currency": self.currency,
            "status": self.status,
            "external_id": self.external_id,
            "idempotency_key": self.idempotency_key,
            "account_number_last4": self.account_number.chars().skip(kept).collect::<String>(),
            "routing_number": self.routing_number,
            "party_name": self.party_name,
            "party_type": self.party_type,
            "statement_descriptor": self.statement_descriptor,
            "remittance_information": self.remittance_information,
            "originating_party_name": self.originating_party_name,
        })
    }
}

/// A request to the receiving bank to give an order's money back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reversal {
    pub(crate) id: String,
    #[serde(with = "word")]
    pub(crate) status: Word,
    pub(crate) payment_order_id: String,
    pub(crate) internal_account_id: String,
    #[serde(with = "word")]
    pub(crate) reason: Word,
    pub(crate) is_live: bool,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
}

impl Kept for Reversal {
    fn label(&self) -> Option<&str> {
        Some(&self.payment_order_id)
    }
}

impl Reversal {
    pub(crate) fn json(&self) -> Value {
        json!({
            "created_at": self.created_at,
            "id": self.id,
            "internal_account_id": self.internal_account_id,
            "ledger_transaction_id": null,
            "live_mode": self.is_live,
            "metadata": {},
            "object": "reversal",
            "payment_order_id": self.payment_order_id,
            "reason": self.reason,
            "reconciliation_status": if self.status == "completed" { "reconciled" } else { "unreconciled" },
            "status": self.status,
            "transaction_ids": [],
            "updated_at": self.updated_at,
        })
    }
}

/// What a receiving bank sent back or wants corrected, as it is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Return(pub(crate) Value);

impl Return {
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Value::as_str)
    }
}

impl Kept for Return {
    fn label(&self) -> Option<&str> {
        self.text("returnable_id")
    }
}
