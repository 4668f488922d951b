//! The Charge object: one attempt to take an intent's money.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{method::Method, no_billing_details, with_unset};
use crate::collection::{Class, Kept, Word, word};

/// How long a card's money is held.
const HELD_SECONDS: i64 = 7 * 86_400;
const CARD_UNSET: &str = "amount_authorized authorization_code electronic_commerce_indicator installments mandate network \
    network_transaction_id three_d_secure transaction_link_id";

/// One attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) amount_refunded: i64,
    pub(crate) intent: String,
    #[serde(with = "word")]
    pub(crate) status: Word,
    pub(crate) amount_captured: i64,
    pub(crate) captured: bool,
    pub(crate) created: i64,
    pub(crate) currency: String,
    pub(crate) description: Option<String>,
    pub(crate) disputed: bool,
    /// The code, the decline code and the text of a decline.
    pub(crate) failure: Option<(String, String, String)>,
    pub(crate) metadata: serde_json::Map<String, Value>,
    pub(crate) method: Method,
    pub(crate) receipt_email: Option<String>,
    pub(crate) receipt_url: String,
}

impl Kept for Charge {
    fn class(&self) -> Class {
        if self.status == "succeeded" { Class::Done } else { Class::Open }
    }
}

impl Charge {
    pub(crate) fn refundable(&self) -> i64 {
        self.amount_captured - self.amount_refunded
    }

    /// When what is held is released by itself.
    pub(crate) fn capture_before(&self) -> i64 {
        self.created + HELD_SECONDS
    }

    fn details(&self) -> Value {
        let unset = match self.method.kind() {
            "card" => CARD_UNSET,
            "us_bank_account" => "payment_reference",
            "sepa_debit" | "bacs_debit" => "mandate",
            "oxxo" => "number",
            "konbini" => "store",
            "multibanco" => "entity reference",
            _ => "",
        };
        let mut details = with_unset(self.method.details(), unset);
        let is_held = self.status == "succeeded" && !self.captured;
        if let (true, "card", Some(fields)) = (is_held, self.method.kind(), details.as_object_mut()) {
            fields.insert("capture_before".to_owned(), self.capture_before().into());
        }
        details
    }

    pub(crate) fn json(&self) -> Value {
        let (failure_code, decline_code, failure_message) = match &self.failure {
            Some((code, decline, message)) => (Some(code), Some(decline), Some(message)),
            None => (None, None, None),
        };
        let outcome = if self.failure.is_some() {
            json!({
                "network_status": "declined_by_network",
                "reason": decline_code,
                "risk_level": "normal",
                "seller_message": "The bank did not return any further details with this decline.",
                "type": "issuer_declined",
            })
        } else {
            json!({
                "network_status": "approved_by_network",
                "reason": null,
                "risk_level": "normal",
                "seller_message": "Payment complete.",
                "type": "authorized",
            })
        };
        let mut details = serde_json::Map::new();
        details.insert("type".to_owned(), self.method.kind().into());
        details.insert(self.method.kind().to_owned(), self.details());
        let balance = self.captured.then(|| format!("txn_{}", self.id.trim_start_matches("ch_")));
        json!({
            "id": self.id,
            "object": "charge",
            "amount": self.amount,
            "amount_captured": self.amount_captured,
            "amount_refunded": self.amount_refunded,
            "application": null,
            "application_fee": null,
            "application_fee_amount": null,
            "balance_transaction": balance,
            "billing_details": no_billing_details(),
            "calculated_statement_descriptor": "TOLLGATE SIMULATOR",
            "captured": self.captured,
            "created": self.created,
            "currency": self.currency,
            "customer": null,
            "description": self.description,
            "disputed": self.disputed,
            "failure_balance_transaction": null,
            "failure_code": failure_code,
            "failure_message": failure_message,
            "fraud_details": {},
            "livemode": false,
            "metadata": self.metadata,
            "on_behalf_of": null,
            "outcome": with_unset(outcome, "advice_code network_advice_code network_decline_code"),
            "paid": self.status == "succeeded",
            "payment_intent": self.intent,
            "payment_method": self.method.id,
            "payment_method_details": details,
            "receipt_email": self.receipt_email,
            "receipt_number": null,
            "receipt_url": self.receipt_url,
            "refunded": self.amount_refunded > 0 && self.amount_refunded >= self.amount_captured,
            "review": null,
            "shipping": null,
            "source": null,
            "source_transfer": null,
            "statement_descriptor": null,
            "statement_descriptor_suffix": null,
            "status": self.status,
            "transfer_data": null,
            "transfer_group": null,
        })
    }
}
