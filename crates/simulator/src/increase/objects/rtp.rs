//! What real-time payments alone have.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::transfer::{Rail, Transfer};
use crate::collection::Class;

/// A payment that arrives within seconds or is rejected, and never comes back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Rtp {
    pub(crate) source_account_number_id: String,
    pub(crate) creditor_name: String,
    pub(crate) debtor_name: Option<String>,
    pub(crate) ultimate_creditor_name: Option<String>,
    pub(crate) ultimate_debtor_name: Option<String>,
    pub(crate) remittance: String,
    pub(crate) rejection: Value,
}

impl Rail for Rtp {
    const TYPE: &'static str = "real_time_payments_transfer";
    const NAME: &'static str = "Real-Time Payments Transfer";

    fn json(&self) -> Value {
        json!({
            "creditor_name": self.creditor_name,
            "debtor_name": self.debtor_name,
            "rejection": self.rejection,
            "source_account_number_id": self.source_account_number_id,
            "ultimate_creditor_name": self.ultimate_creditor_name,
            "ultimate_debtor_name": self.ultimate_debtor_name,
            "unstructured_remittance_information": self.remittance,
        })
    }

    fn summary(transfer: &Transfer<Self>) -> Value {
        let rtp = &transfer.on_rail;
        json!({
            "reject_reason_code": rtp.rejection.get("reject_reason_code"),
            "creditor_name": rtp.creditor_name,
            "debtor_name": rtp.debtor_name,
            "unstructured_remittance_information": rtp.remittance,
        })
    }

    fn class(transfer: &Transfer<Self>) -> Class {
        if transfer.status == "complete" { Class::Done } else { Class::Open }
    }
}
