//! A real-time payment and how it is shown.

use serde_json::{Value, json};

use super::bank::last_four;
use super::error::IncreaseError;
use super::state::{Context, IncreaseState};

const TYPE: &str = "real_time_payments_transfer";

/// A payment that arrives within seconds or is rejected, and never comes back.
#[derive(Debug, Clone)]
pub(crate) struct RtpTransfer {
    pub(super) id: String,
    pub(crate) status: &'static str,
    pub(super) account_id: String,
    pub(super) source_account_number_id: String,
    pub(super) account_number: String,
    pub(super) routing_number: String,
    /// Cents.
    pub(super) amount: i64,
    pub(super) created_at: String,
    pub(super) idempotency_key: Option<String>,
    pub(super) creditor_name: String,
    pub(super) debtor_name: Option<String>,
    pub(super) ultimate_creditor_name: Option<String>,
    pub(super) ultimate_debtor_name: Option<String>,
    pub(super) remittance: String,
    pub(super) pending_transaction_id: String,
    pub(super) transaction_id: Option<String>,
    pub(super) approved_at: Option<String>,
    pub(super) canceled_at: Option<String>,
    pub(super) submission: Value,
    pub(super) acknowledged_at: Option<String>,
    pub(super) rejection: Value,
}

impl RtpTransfer {
    pub(super) fn json(&self) -> Value {
        let by = |done: &str, who: &str, time: &Option<String>| {
            time.as_ref().map(|time| json!({ done: time, who: null }))
        };
        let acknowledged = self.acknowledged_at.as_ref().map(|time| json!({ "acknowledged_at": time }));
        json!({
            "account_id": self.account_id,
            "account_number": self.account_number,
            "acknowledgement": acknowledged,
            "amount": self.amount,
            "approval": by("approved_at", "approved_by", &self.approved_at),
            "cancellation": by("canceled_at", "canceled_by", &self.canceled_at),
            "created_at": self.created_at,
            "created_by": { "category": "api_key", "api_key": { "description": "Simulator" } },
            "creditor_name": self.creditor_name,
            "currency": "USD",
            "debtor_name": self.debtor_name,
            "external_account_id": null,
            "id": self.id,
            "idempotency_key": self.idempotency_key,
            "pending_transaction_id": self.pending_transaction_id,
            "rejection": self.rejection,
            "routing_number": self.routing_number,
            "source_account_number_id": self.source_account_number_id,
            "status": self.status,
            "submission": self.submission,
            "transaction_id": self.transaction_id,
            "type": TYPE,
            "ultimate_creditor_name": self.ultimate_creditor_name,
            "ultimate_debtor_name": self.ultimate_debtor_name,
            "unstructured_remittance_information": self.remittance,
        })
    }

    /// What the control interface shows: enough to tell transfers apart, and no account number.
    pub(crate) fn summary(&self) -> Value {
        json!({
            "id": self.id,
            "amount": self.amount,
            "currency": "USD",
            "status": self.status,
            "reject_reason_code": self.rejection.get("reject_reason_code"),
            "idempotency_key": self.idempotency_key,
            "account_number_last4": last_four(&self.account_number),
            "routing_number": self.routing_number,
            "creditor_name": self.creditor_name,
            "debtor_name": self.debtor_name,
            "unstructured_remittance_information": self.remittance,
        })
    }

    /// Refuses a step the transfer's status does not allow.
    pub(super) fn must_be(&self, statuses: &[&str]) -> Result<(), IncreaseError> {
        if statuses.contains(&self.status) {
            return Ok(());
        }
        let wanted = statuses.join(" or ");
        Err(IncreaseError::conflict(format!(
            "The Real-Time Payments Transfer must have a status of {wanted}; it is {}.",
            self.status
        )))
    }
}

/// Keeps a transfer that is new or has changed, and says so.
pub(super) fn keep(state: &mut IncreaseState, context: &Context, what: &str, transfer: &RtpTransfer) {
    state.rtp.put(&transfer.id, transfer.clone());
    state.emit(context, TYPE, what, &transfer.id);
}

pub(super) fn find(state: &IncreaseState, id: &str) -> Result<RtpTransfer, IncreaseError> {
    state.rtp.get(id).cloned().ok_or_else(|| IncreaseError::not_found("Real-Time Payments Transfer", id))
}
