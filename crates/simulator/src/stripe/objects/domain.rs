//! The PaymentMethodDomain object.

use serde_json::{Value, json};

/// A web domain that wallets are shown on.
#[derive(Debug, Clone)]
pub(crate) struct Domain {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) enabled: bool,
    pub(crate) created: i64,
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
