//! The PaymentMethodDomain object.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::collection::Kept;

/// A web domain that wallets are shown on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Domain {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) enabled: bool,
    pub(crate) created: i64,
}

impl Kept for Domain {
    fn label(&self) -> Option<&str> {
        Some(&self.name)
    }
}

impl Domain {
    pub(crate) fn json(&self) -> Value {
        let active = || json!({ "status": "active" });
        // Names that lead nowhere by definition cannot show that they belong to the merchant.
        let apple_pay = if self.name.ends_with(".invalid") {
            let message = "The domain could not be reached over HTTPS.";
            json!({ "status": "inactive", "status_details": { "error_message": message } })
        } else {
            active()
        };
        json!({
            "id": self.id,
            "object": "payment_method_domain",
            "amazon_pay": active(),
            "apple_pay": apple_pay,
            "created": self.created,
            "domain_name": self.name,
            "enabled": self.enabled,
            "google_pay": active(),
            "klarna": active(),
            "link": active(),
            "livemode": false,
            "paypal": active(),
        })
    }
}
