//! An ACH transfer and how it is shown.

use serde_json::{Value, json};

use super::bank::last_four;
use super::error::IncreaseError;
use super::state::{Context, IncreaseState};
use crate::calendar;

const TYPE: &str = "ach_transfer";
/// What one entry may carry on the day it is sent, in cents.
const SAME_DAY_MAX: i64 = 100_000_000;

/// What the caller said about the entry and nothing here depends on.
#[derive(Debug, Clone)]
pub(crate) struct Wording {
    pub(super) addenda: Value,
    pub(super) company_descriptive_date: Option<String>,
    pub(super) company_discretionary_data: Option<String>,
    pub(super) company_entry_description: Option<String>,
    pub(super) company_name: Option<String>,
    pub(super) destination_account_holder: &'static str,
    pub(super) funding: &'static str,
    pub(super) individual_id: Option<String>,
    pub(super) individual_name: Option<String>,
    pub(super) standard_entry_class_code: &'static str,
    pub(super) statement_descriptor: String,
}

/// A transfer to or, with a negative amount, from a bank account.
#[derive(Debug, Clone)]
pub(crate) struct AchTransfer {
    pub(super) id: String,
    pub(crate) status: &'static str,
    pub(super) account_id: String,
    pub(super) account_number: String,
    pub(super) routing_number: String,
    /// Cents; positive pushes money out of our account.
    pub(super) amount: i64,
    pub(super) created_at: String,
    pub(super) idempotency_key: Option<String>,
    pub(super) preferred_date: Option<jiff::civil::Date>,
    pub(super) preferred_schedule: Option<&'static str>,
    pub(super) wording: Wording,
    pub(super) pending_transaction_id: String,
    pub(super) transaction_id: Option<String>,
    pub(super) approved_at: Option<String>,
    pub(super) canceled_at: Option<String>,
    pub(super) submission: Value,
    pub(super) acknowledged_at: Option<String>,
    pub(super) settled_at: Option<String>,
    pub(super) returned: Value,
    pub(super) notifications_of_change: Vec<Value>,
}

impl AchTransfer {
    pub(super) fn json(&self) -> Value {
        let wording = &self.wording;
        let at = |name: &str, time: &Option<String>| time.as_ref().map(|time| json!({ name: time }));
        let by = |done: &str, who: &str, time: &Option<String>| {
            time.as_ref().map(|time| json!({ done: time, who: null }))
        };
        json!({
            "account_id": self.account_id,
            "account_number": self.account_number,
            "acknowledgement": at("acknowledged_at", &self.acknowledged_at),
            "addenda": wording.addenda,
            "amount": self.amount,
            "approval": by("approved_at", "approved_by", &self.approved_at),
            "cancellation": by("canceled_at", "canceled_by", &self.canceled_at),
            "company_descriptive_date": wording.company_descriptive_date,
            "company_discretionary_data": wording.company_discretionary_data,
            "company_entry_description": wording.company_entry_description,
            "company_id": "1234987601",
            "company_name": wording.company_name,
            "created_at": self.created_at,
            "created_by": { "category": "api_key", "api_key": { "description": "Simulator" } },
            "currency": "USD",
            "destination_account_holder": wording.destination_account_holder,
            "external_account_id": null,
            "funding": wording.funding,
            "id": self.id,
            "idempotency_key": self.idempotency_key,
            "inbound_funds_hold": null,
            "individual_id": wording.individual_id,
            "individual_name": wording.individual_name,
            "network": "ach",
            "notifications_of_change": self.notifications_of_change,
            "pending_transaction_id": self.pending_transaction_id,
            "preferred_effective_date": {
                "date": self.preferred_date.map(|date| date.to_string()),
                "settlement_schedule": self.preferred_schedule,
            },
            "return": self.returned,
            "routing_number": self.routing_number,
            "settlement": at("settled_at", &self.settled_at),
            "standard_entry_class_code": wording.standard_entry_class_code,
            "statement_descriptor": wording.statement_descriptor,
            "status": self.status,
            "submission": self.submission,
            "transaction_id": self.transaction_id,
            "type": TYPE,
        })
    }

    /// What the control interface shows: enough to tell transfers apart, and no account number.
    pub(crate) fn summary(&self) -> Value {
        let wording = &self.wording;
        json!({
            "id": self.id,
            "amount": self.amount,
            "currency": "USD",
            "status": self.status,
            "settled": self.is_settled(),
            "return_reason_code": self.returned.get("return_reason_code"),
            "idempotency_key": self.idempotency_key,
            "account_number_last4": last_four(&self.account_number),
            "routing_number": self.routing_number,
            "funding": wording.funding,
            "individual_id": wording.individual_id,
            "individual_name": wording.individual_name,
            "company_name": wording.company_name,
            "company_entry_description": wording.company_entry_description,
            "statement_descriptor": wording.statement_descriptor,
            "standard_entry_class_code": wording.standard_entry_class_code,
            "settlement_schedule": self.preferred_schedule,
        })
    }

    /// Whether the money arrived. The status does not say so, and a return takes it back.
    pub(crate) fn is_settled(&self) -> bool {
        self.settled_at.is_some() && self.status == "submitted"
    }

    /// Refuses a step the transfer's status does not allow.
    pub(super) fn must_be(&self, statuses: &[&str]) -> Result<(), IncreaseError> {
        if statuses.contains(&self.status) {
            return Ok(());
        }
        let wanted = statuses.join(" or ");
        Err(IncreaseError::conflict(format!(
            "The ACH Transfer must have a status of {wanted}; it is {}.",
            self.status
        )))
    }

    /// What is said about the entry once it is in a file to the Federal Reserve.
    pub(super) fn submission(&self, context: &Context) -> Value {
        let today = calendar::banking_day(calendar::today());
        let same_day = self.preferred_schedule == Some("same_day") && self.amount.abs() <= SAME_DAY_MAX;
        let effective = match self.preferred_date {
            Some(date) => calendar::banking_day(date.max(today)),
            None if same_day => today,
            None => calendar::next_banking_day(today),
        };
        let same_day = same_day || effective == today;
        let returns_by = calendar::next_banking_day(calendar::next_banking_day(effective));
        let hour = if same_day { "22:00:00Z" } else { "13:30:00Z" };
        json!({
            "administrative_returns_expected_by": format!("{returns_by}T11:00:00Z"),
            "effective_date": effective.to_string(),
            "expected_funds_settlement_at": format!("{effective}T{hour}"),
            "expected_settlement_schedule": if same_day { "same_day" } else { "future_dated" },
            "submitted_at": context.now,
            "trace_number": context.digits(15),
        })
    }
}

/// Keeps a transfer that is new or has changed, and says so.
pub(super) fn keep(state: &mut IncreaseState, context: &Context, what: &str, transfer: &AchTransfer) {
    state.ach.put(&transfer.id, transfer.clone());
    state.emit(context, TYPE, what, &transfer.id);
}

pub(super) fn find(state: &IncreaseState, id: &str) -> Result<AchTransfer, IncreaseError> {
    state.ach.get(id).cloned().ok_or_else(|| IncreaseError::not_found("ACH Transfer", id))
}
