//! What the provider answers, as far as it is read here. Fields nobody reads are not named, and unknown ones are ignored.
//! Account and routing numbers, which every transfer repeats, are not read at all.

use serde::Deserialize;
use serde_json::Value;
use tollgate_domain::Minor;

use crate::{amount::minor, text::id};

/// A transfer by ACH. An amount below zero would take money from the customer, and makes the answer unreadable.
#[derive(Deserialize)]
pub(super) struct AchTransfer {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) status: String,
    #[serde(deserialize_with = "minor")]
    pub(super) amount: Minor,
    pub(super) currency: Option<String>,
    pub(super) idempotency_key: Option<String>,
    pub(super) submission: Option<Submission>,
    pub(super) settlement: Option<Settlement>,
    #[serde(rename = "return")]
    pub(super) returned: Option<Return>,
    pub(super) notifications_of_change: Option<Vec<NotificationOfChange>>,
}

#[derive(Deserialize)]
pub(super) struct Submission {
    pub(super) effective_date: Option<String>,
    pub(super) expected_funds_settlement_at: Option<String>,
}

/// That it is there says that the money arrived; when is of no interest, but it has to be said.
#[derive(Deserialize)]
pub(super) struct Settlement {
    #[serde(rename = "settled_at")]
    _settled_at: String,
}

#[derive(Deserialize)]
pub(super) struct Return {
    pub(super) raw_return_reason_code: Option<String>,
    pub(super) return_reason_code: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct NotificationOfChange {
    pub(super) change_code: Option<String>,
    pub(super) corrected_account_funding: Option<String>,
    pub(super) corrected_account_number: Option<String>,
    pub(super) corrected_individual_id: Option<String>,
    pub(super) corrected_routing_number: Option<String>,
    pub(super) created_at: Option<String>,
}

/// A real-time payment, or one by FedNow.
#[derive(Deserialize)]
pub(super) struct InstantTransfer {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) status: String,
    #[serde(deserialize_with = "minor")]
    pub(super) amount: Minor,
    pub(super) currency: Option<String>,
    pub(super) idempotency_key: Option<String>,
    pub(super) rejection: Option<Rejection>,
}

#[derive(Deserialize)]
pub(super) struct Rejection {
    pub(super) reject_reason_code: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct List<T> {
    pub(super) data: Vec<T>,
}

/// What a bank takes part in.
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the provider's own names")]
pub(super) struct RoutingNumber {
    pub(super) routing_number: String,
    pub(super) real_time_payments_transfers: String,
    pub(super) fednow_transfers: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Account {
    pub(super) id: String,
}

#[derive(Deserialize)]
pub(super) struct Balance {
    /// Cents, and below zero where the account is overdrawn.
    pub(super) available_balance: i64,
}

/// The body of a refusal. Its type decides; whatever shape the rest has must not hide that.
#[derive(Deserialize)]
pub(super) struct ErrorBody {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) detail: Value,
    #[serde(default)]
    pub(super) errors: Value,
    #[serde(default)]
    pub(super) resource_id: Value,
    #[serde(default)]
    pub(super) retry_after: Value,
}

/// A webhook's body: what happened, and to which object. The object itself has to be read.
#[derive(Deserialize)]
pub(super) struct Event {
    pub(super) id: String,
    pub(super) category: String,
    pub(super) associated_object_id: Option<String>,
}
