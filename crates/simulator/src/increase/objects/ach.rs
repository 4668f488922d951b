//! What ACH transfers alone have.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::transfer::{Rail, Transfer};
use crate::collection::{Class, Word, as_text, word};

/// An entry to or, with a negative amount, from a bank account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ach {
    pub(crate) addenda: Value,
    pub(crate) company_descriptive_date: Option<String>,
    pub(crate) company_discretionary_data: Option<String>,
    pub(crate) company_entry_description: Option<String>,
    pub(crate) company_name: Option<String>,
    #[serde(with = "word")]
    pub(crate) destination_account_holder: Word,
    #[serde(with = "word")]
    pub(crate) funding: Word,
    pub(crate) individual_id: Option<String>,
    pub(crate) individual_name: Option<String>,
    #[serde(with = "word")]
    pub(crate) standard_entry_class_code: Word,
    pub(crate) statement_descriptor: String,
    pub(crate) preferred: EffectiveDate,
    pub(crate) settled_at: Option<String>,
    pub(crate) returned: Value,
    pub(crate) notifications_of_change: Vec<Value>,
}

/// When the caller wants an entry to settle.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EffectiveDate {
    #[serde(with = "as_text")]
    pub(crate) date: Option<jiff::civil::Date>,
    #[serde(with = "word::optional")]
    pub(crate) schedule: Option<Word>,
}

impl Rail for Ach {
    const TYPE: &'static str = "ach_transfer";
    const NAME: &'static str = "ACH Transfer";

    fn json(&self) -> Value {
        json!({
            "addenda": self.addenda,
            "company_descriptive_date": self.company_descriptive_date,
            "company_discretionary_data": self.company_discretionary_data,
            "company_entry_description": self.company_entry_description,
            "company_id": "1234987601",
            "company_name": self.company_name,
            "destination_account_holder": self.destination_account_holder,
            "funding": self.funding,
            "inbound_funds_hold": null,
            "individual_id": self.individual_id,
            "individual_name": self.individual_name,
            "network": "ach",
            "notifications_of_change": self.notifications_of_change,
            "preferred_effective_date": {
                "date": self.preferred.date.map(|date| date.to_string()),
                "settlement_schedule": self.preferred.schedule,
            },
            "return": self.returned,
            "settlement": self.settled_at.as_ref().map(|time| json!({ "settled_at": time })),
            "standard_entry_class_code": self.standard_entry_class_code,
            "statement_descriptor": self.statement_descriptor,
        })
    }

    fn summary(transfer: &Transfer<Self>) -> Value {
        let ach = &transfer.on_rail;
        json!({
            "settled": transfer.is_settled(),
            "return_reason_code": ach.returned.get("return_reason_code"),
            "funding": ach.funding,
            "individual_id": ach.individual_id,
            "individual_name": ach.individual_name,
            "company_name": ach.company_name,
            "company_entry_description": ach.company_entry_description,
            "statement_descriptor": ach.statement_descriptor,
            "standard_entry_class_code": ach.standard_entry_class_code,
            "settlement_schedule": ach.preferred.schedule,
        })
    }

    fn class(transfer: &Transfer<Self>) -> Class {
        match transfer.status {
            "returned" => Class::Returned,
            _ if transfer.is_settled() => Class::Done,
            _ => Class::Open,
        }
    }
}

impl Transfer<Ach> {
    /// Whether the money arrived. The status does not say so, and a return takes it back.
    pub(crate) fn is_settled(&self) -> bool {
        self.on_rail.settled_at.is_some() && self.status == "submitted"
    }
}
