//! The PaymentMethod object.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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

    /// The part a charge shows as `payment_method_details`, and the method under its kind's name.
    pub(crate) fn details(&self) -> Value {
        if self.kind() != "card" && self.kind() != "us_bank_account" {
            return json!({});
        }
        if self.kind() != "card" {
            return json!({
                "account_holder_type": "individual",
                "account_type": "checking",
                "bank_name": "STRIPE TEST BANK",
                "last4": self.card.last4,
                "routing_number": "110000000",
            });
        }
        json!({
            "brand": brand(&self.card),
            "checks": { "address_line1_check": null, "address_postal_code_check": null, "cvc_check": "pass" },
            "country": "US",
            "exp_month": self.card.exp_month,
            "exp_year": self.card.exp_year,
            "fingerprint": format!("simulated{}", self.card.last4),
            "funding": "credit",
            "last4": self.card.last4,
            "wallet": null,
        })
    }

    pub(crate) fn json(&self) -> Value {
        let mut method = json!({
            "id": self.id,
            "object": "payment_method",
            "allow_redisplay": "unspecified",
            "billing_details": { "address": no_address(), "email": null, "name": null, "phone": null },
            "created": self.created,
            "customer": null,
            "livemode": false,
            "metadata": {},
            "type": self.kind(),
        });
        if let Some(fields) = method.as_object_mut() {
            fields.insert(self.kind().to_owned(), self.details());
        }
        method
    }
}

/// An address nobody gave.
pub(crate) fn no_address() -> Value {
    let empty = ["city", "country", "line1", "line2", "postal_code", "state"];
    empty.into_iter().map(|field| (field.to_owned(), Value::Null)).collect::<Map<_, _>>().into()
}
