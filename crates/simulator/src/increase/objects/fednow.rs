//! What payments by FedNow alone have.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::transfer::{Rail, Transfer};
use crate::collection::Class;

/// A payment that arrives within seconds or is rejected, and never comes back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FedNow {
    pub(crate) source_account_number_id: String,
    pub(crate) creditor_name: String,
    pub(crate) creditor_address: Value,
    pub(crate) debtor_name: String,
    pub(crate) debtor_address: Value,
    pub(crate) remittance: String,
    pub(crate) reference: String,
    pub(crate) rejection: Value,
}

impl Rail for FedNow {
    const TYPE: &'static str = "fednow_transfer";
    const NAME: &'static str = "FedNow Transfer";
    const QUEUED: &'static str = "pending_submitting";
    const HIDDEN: &'static [&'static str] = &["approval", "cancellation"];

    fn json(&self) -> Value {
        json!({
            "creditor_address": self.creditor_address,
            "creditor_name": self.creditor_name,
            "debtor_address": self.debtor_address,
            "debtor_name": self.debtor_name,
            "rejection": self.rejection,
            "source_account_number_id": self.source_account_number_id,
            "unique_end_to_end_transaction_reference": self.reference,
            "unstructured_remittance_information": self.remittance,
        })
    }

    fn summary(transfer: &Transfer<Self>) -> Value {
        let fednow = &transfer.on_rail;
        json!({
            "reject_reason_code": fednow.rejection.get("reject_reason_code"),
            "creditor_name": fednow.creditor_name,
            "debtor_name": fednow.debtor_name,
            "unstructured_remittance_information": fednow.remittance,
        })
    }

    fn class(transfer: &Transfer<Self>) -> Class {
        if transfer.status == "complete" { Class::Done } else { Class::Open }
    }
}
