//! What the provider answers, as far as it is read here. Fields nobody reads are not named, and unknown ones are ignored.

use serde::Deserialize;
use serde_json::Value;
use tollgate_domain::Minor;

use crate::{amount::minor, text::id};

/// A payment order. One in the other direction would take money from the customer, and makes the answer unreadable.
#[derive(Deserialize)]
pub(super) struct PaymentOrder {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) status: String,
    #[serde(deserialize_with = "minor")]
    pub(super) amount: Minor,
    pub(super) currency: Option<String>,
    #[serde(rename = "direction")]
    _direction: Credit,
    pub(super) external_id: Option<String>,
    pub(super) effective_date: Option<String>,
    pub(super) current_return: Option<Return>,
    pub(super) vendor_failure_reason: Option<String>,
}

#[derive(Deserialize)]
enum Credit {
    #[serde(rename = "credit")]
    Credit,
}

/// Money sent back, or a notification of change.
#[derive(Deserialize)]
pub(super) struct Return {
    pub(super) code: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) corrections: Option<Corrections>,
    pub(super) created_at: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Corrections {
    pub(super) account_number: Option<String>,
    pub(super) routing_number: Option<String>,
    #[serde(rename = "individual_identification_number")]
    pub(super) individual_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Reversal {
    pub(super) status: String,
}

#[derive(Deserialize)]
pub(super) struct RoutingNumber {
    pub(super) supported_payment_types: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct InternalAccount {
    pub(super) id: String,
    pub(super) live_mode: bool,
    pub(super) currency: Option<String>,
    pub(super) status: Option<String>,
    pub(super) party_name: Option<String>,
    #[serde(default)]
    account_capabilities: Vec<AccountCapability>,
}

/// What an account can originate.
#[derive(Deserialize)]
struct AccountCapability {
    payment_type: String,
    direction: String,
    discarded_at: Option<String>,
}

impl InternalAccount {
    /// Whether the account can send money this way; `None` if the provider lists nothing at all, which says nothing.
    pub(super) fn can_send(&self, payment_type: &str) -> Option<bool> {
        let listed = &self.account_capabilities;
        let is_that = |one: &AccountCapability| {
            one.payment_type == payment_type && one.direction == "credit" && one.discarded_at.is_none()
        };
        (!listed.is_empty()).then(|| listed.iter().any(is_that))
    }
}

#[derive(Deserialize)]
pub(super) struct Ping {
    #[serde(rename = "ping")]
    _ping: String,
}

#[derive(Deserialize)]
pub(super) struct ErrorBody {
    pub(super) errors: ErrorDetail,
}

/// Its code decides; whatever shape the rest has must not hide that.
#[derive(Deserialize)]
pub(super) struct ErrorDetail {
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: Value,
    #[serde(default)]
    pub(super) parameter: Value,
}

/// A webhook's body: what happened, and the object as it then was.
#[derive(Deserialize)]
pub(super) struct Event {
    pub(super) event: String,
    pub(super) data: EventObject,
}

#[derive(Deserialize)]
pub(super) struct EventObject {
    pub(super) id: String,
    pub(super) object: String,
    pub(super) external_id: Option<String>,
    /// What a return sends back.
    pub(super) returnable_id: Option<String>,
    pub(super) returnable_type: Option<String>,
    /// What a reversal reverses.
    pub(super) payment_order_id: Option<String>,
}
