//! The PaymentMethod object.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{no_billing_details, with_unset};
use crate::card::{Brand, Card};
use crate::collection::Kept;
use crate::stripe::method_types::MethodType;

/// A card, a bank account or a voucher that can be paid with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Method {
    pub(crate) id: String,
    pub(crate) kind: MethodType,
    /// What it is paid with; for anything but a card only its last digits mean something.
    pub(crate) card: Card,
    pub(crate) created: i64,
}

fn brand(card: &Card) -> &'static str {
    match card.brand {
        Brand::Visa => "visa",
        Brand::Mastercard => "mastercard",
        Brand::Amex => "amex",
        Brand::Discover => "discover",
    }
}

impl Kept for Method {}

impl Method {
    pub(crate) fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// What a charge and the method itself both show of it.
    pub(crate) fn details(&self) -> Value {
        let fingerprint = format!("simulated{}", self.card.last4);
        match self.kind() {
            "card" => json!({
                "brand": brand(&self.card),
                "checks": { "address_line1_check": null, "address_postal_code_check": null, "cvc_check": "pass" },
                "country": "US",
                "exp_month": self.card.exp_month,
                "exp_year": self.card.exp_year,
                "fingerprint": fingerprint,
                "funding": "credit",
                "last4": self.card.last4,
                "regulated_status": "unregulated",
                "wallet": null,
            }),
            "us_bank_account" => json!({
                "account_holder_type": "individual",
                "account_type": "checking",
                "bank_name": "STRIPE TEST BANK",
                "fingerprint": fingerprint,
                "last4": self.card.last4,
                "routing_number": "110000000",
            }),
            "sepa_debit" => json!({
                "bank_code": "37040044",
                "branch_code": null,
                "country": "DE",
                "fingerprint": fingerprint,
                "last4": self.card.last4,
            }),
            "bacs_debit" => {
                json!({ "fingerprint": fingerprint, "last4": self.card.last4, "sort_code": "108800" })
            }
            "au_becs_debit" => {
                json!({ "bsb_number": "000000", "fingerprint": fingerprint, "last4": self.card.last4 })
            }
            "boleto" => json!({ "tax_id": "000.000.000-00" }),
            _ => json!({}),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let mut method = json!({
            "id": self.id,
            "object": "payment_method",
            "allow_redisplay": "unspecified",
            "billing_details": no_billing_details(),
            "created": self.created,
            "customer": null,
            "customer_account": null,
            "livemode": false,
            "metadata": {},
            "type": self.kind(),
        });
        let unset = match self.kind() {
            "card" => "display_brand generated_from networks three_d_secure_usage",
            "us_bank_account" => "financial_connections_account networks status_details",
            "sepa_debit" => "generated_from",
            _ => "",
        };
        if let Some(fields) = method.as_object_mut() {
            fields.insert(self.kind().to_owned(), with_unset(self.details(), unset));
        }
        method
    }
}
