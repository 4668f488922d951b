//! The Payment object.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::card::{Brand, Card};
use crate::collection::{Class, Kept, Word, word};
use crate::square::body::Money;

/// A payment, from the moment a card was tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Payment {
    pub(crate) id: String,
    pub(crate) money: Money,
    #[serde(with = "word")]
    pub(crate) status: Word,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) order_id: String,
    pub(crate) reference_id: Option<String>,
    pub(crate) refunded: i64,
    pub(crate) buyer_email: Option<String>,
    pub(crate) card: Card,
    #[serde(with = "word")]
    pub(crate) card_status: Word,
    pub(crate) created_at: String,
    pub(crate) customer_id: Option<String>,
    pub(crate) delay_duration: String,
    pub(crate) delayed_until: String,
    pub(crate) errors: Vec<Value>,
    pub(crate) location_id: String,
    pub(crate) note: Option<String>,
    pub(crate) refund_ids: Vec<String>,
    pub(crate) statement: Option<String>,
    pub(crate) updated_at: String,
    pub(crate) version: u64,
}

impl Kept for Payment {
    fn label(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn class(&self) -> Class {
        if matches!(self.status, "COMPLETED" | "APPROVED") { Class::Done } else { Class::Open }
    }
}

impl Payment {
    pub(crate) fn version_token(&self) -> String {
        format!("{}v{}o", self.id, self.version)
    }

    pub(crate) fn json(&self) -> Value {
        let failed = self.status == "FAILED";
        let mut card_details = json!({
            "status": self.card_status,
            "card": {
                "card_brand": brand(&self.card),
                "last_4": self.card.last4,
                "exp_month": self.card.exp_month,
                "exp_year": self.card.exp_year,
                "fingerprint": format!("sq-1-simulated{}", self.card.last4),
                "card_type": "CREDIT",
                "prepaid_type": "NOT_PREPAID",
                "bin": "453275",
            },
            "entry_method": "KEYED",
            "cvv_status": "CVV_ACCEPTED",
            "avs_status": "AVS_ACCEPTED",
            "statement_description": self.statement.as_deref().unwrap_or("SQ *TOLLGATE SIMULATOR"),
        });
        if let (false, Some(details)) = (self.errors.is_empty(), card_details.as_object_mut()) {
            details.insert("errors".to_owned(), self.errors.clone().into());
        }
        let mut payment = json!({
            "id": self.id,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "amount_money": self.money.json(),
            "status": self.status,
            "delay_duration": self.delay_duration,
            "delay_action": "CANCEL",
            "delayed_until": self.delayed_until,
            "source_type": "CARD",
            "card_details": card_details,
            "location_id": self.location_id,
            "order_id": self.order_id,
            "total_money": self.money.json(),
            "approved_money": self.money.of(if failed { 0 } else { self.money.amount }).json(),
            "application_details": { "square_product": "ECOMMERCE_API" },
            "version_token": self.version_token(),
        });
        if let Some(fields) = payment.as_object_mut() {
            self.add_optional(fields);
        }
        payment
    }

    /// The provider leaves out what a payment does not have.
    fn add_optional(&self, fields: &mut Map<String, Value>) {
        for (name, value) in [
            ("reference_id", &self.reference_id),
            ("note", &self.note),
            ("buyer_email_address", &self.buyer_email),
            ("customer_id", &self.customer_id),
            ("statement_description_identifier", &self.statement),
        ] {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value.as_str().into());
            }
        }
        if self.status == "COMPLETED" {
            let short: String = self.id.chars().take(4).collect();
            fields.insert("receipt_number".to_owned(), short.into());
            fields.insert("receipt_url".to_owned(), format!("https://receipts.invalid/{}", self.id).into());
        }
        if self.status == "APPROVED" {
            fields.insert("capabilities".to_owned(), json!(["EDIT_AMOUNT_UP", "EDIT_AMOUNT_DOWN"]));
        }
        if !self.refund_ids.is_empty() {
            fields.insert("refund_ids".to_owned(), self.refund_ids.clone().into());
            fields.insert("refunded_money".to_owned(), self.money.of(self.refunded).json());
        }
    }
}

pub(crate) fn brand(card: &Card) -> &'static str {
    match card.brand {
        Brand::Visa => "VISA",
        Brand::Mastercard => "MASTERCARD",
        Brand::Amex => "AMERICAN_EXPRESS",
        Brand::Discover => "DISCOVER",
    }
}
