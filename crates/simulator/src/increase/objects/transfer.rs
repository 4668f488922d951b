//! What a transfer shows whichever rail it takes.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::collection::{Class, Kept, Word, word};
use crate::increase::bank::last_four;
use crate::increase::error::IncreaseError;

/// A transfer between our account and another; `on_rail` is what its rail alone knows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Transfer<R> {
    pub(crate) id: String,
    #[serde(with = "word")]
    pub(crate) status: Word,
    pub(crate) account_id: String,
    pub(crate) account_number: String,
    pub(crate) routing_number: String,
    /// Cents; positive pushes money out of our account.
    pub(crate) amount: i64,
    pub(crate) created_at: String,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) pending_transaction_id: String,
    pub(crate) transaction_id: Option<String>,
    pub(crate) approved_at: Option<String>,
    pub(crate) canceled_at: Option<String>,
    pub(crate) submission: Value,
    pub(crate) acknowledged_at: Option<String>,
    pub(crate) on_rail: R,
}

/// How money travels.
pub(crate) trait Rail: Debug + Clone + Serialize + DeserializeOwned {
    /// The type of its transfers on the wire, and the beginning of their ids.
    const TYPE: &'static str;
    /// What a transfer is called in messages.
    const NAME: &'static str;
    /// The status of a transfer that is about to be sent.
    const QUEUED: &'static str = "pending_submission";
    /// What of the fields that most transfers have its own do not show.
    const HIDDEN: &'static [&'static str] = &[];

    /// What the rail's transfers show beside what all show.
    fn json(&self) -> Value;
    /// The same for the control interface.
    fn summary(transfer: &Transfer<Self>) -> Value;
    /// What the control interface counts a transfer as.
    fn class(transfer: &Transfer<Self>) -> Class;
}

impl<R: Rail> Kept for Transfer<R> {
    fn label(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn class(&self) -> Class {
        R::class(self)
    }
}

impl<R: Rail> Transfer<R> {
    pub(crate) fn json(&self) -> Value {
        let by = |done: &str, who: &str, time: &Option<String>| {
            time.as_ref().map(|time| json!({ done: time, who: null }))
        };
        let common = json!({
            "account_id": self.account_id,
            "account_number": self.account_number,
            "acknowledgement": self.acknowledged_at.as_ref().map(|time| json!({ "acknowledged_at": time })),
            "amount": self.amount,
            "approval": by("approved_at", "approved_by", &self.approved_at),
            "cancellation": by("canceled_at", "canceled_by", &self.canceled_at),
            "created_at": self.created_at,
            "created_by": { "category": "api_key", "api_key": { "description": "Simulator" } },
            "currency": "USD",
            "external_account_id": null,
            "id": self.id,
            "idempotency_key": self.idempotency_key,
            "pending_transaction_id": self.pending_transaction_id,
            "routing_number": self.routing_number,
            "status": self.status,
            "submission": self.submission,
            "transaction_id": self.transaction_id,
            "type": R::TYPE,
        });
        let mut shown = merged(common, self.on_rail.json());
        if let Value::Object(fields) = &mut shown {
            fields.retain(|name, _| !R::HIDDEN.contains(&name.as_str()));
        }
        shown
    }

    /// What the control interface shows: enough to tell transfers apart, and no account number.
    pub(crate) fn summary(&self) -> Value {
        let common = json!({
            "id": self.id,
            "amount": self.amount,
            "currency": "USD",
            "status": self.status,
            "idempotency_key": self.idempotency_key,
            "account_number_last4": last_four(&self.account_number),
            "routing_number": self.routing_number,
        });
        merged(common, R::summary(self))
    }

    /// Refuses a step the transfer's status does not allow.
    pub(crate) fn must_be(&self, statuses: &[&str]) -> Result<(), IncreaseError> {
        if statuses.contains(&self.status) {
            return Ok(());
        }
        let (name, wanted) = (R::NAME, statuses.join(" or "));
        let detail = format!("The {name} must have a status of {wanted}; it is {}.", self.status);
        Err(IncreaseError::conflict(detail))
    }
}

/// The fields of both objects, by name as the provider lists them.
fn merged(mut object: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut object, more) {
        fields.extend(more);
        fields.sort_keys();
    }
    object
}
