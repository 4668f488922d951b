//! The PaymentLink object.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::collection::Kept;

/// A page that sells one order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Link {
    pub(crate) id: String,
    pub(crate) order_id: String,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) redirect_url: Option<String>,
    pub(crate) buyer_email: Option<String>,
    pub(crate) checkout_options: Option<Value>,
    pub(crate) created_at: String,
    pub(crate) description: Option<String>,
    pub(crate) payment_note: Option<String>,
    pub(crate) pre_populated: Option<Value>,
    pub(crate) url: String,
}

impl Kept for Link {}

impl Link {
    pub(crate) fn json(&self) -> Value {
        let mut link = json!({
            "id": self.id,
            "version": 1,
            "order_id": self.order_id,
            "url": self.url,
            "long_url": self.url,
            "created_at": self.created_at,
        });
        if let Some(fields) = link.as_object_mut() {
            for (name, value) in [
                ("checkout_options", self.checkout_options.clone()),
                ("pre_populated_data", self.pre_populated.clone()),
                ("description", self.description.clone().map(Value::from)),
                ("payment_note", self.payment_note.clone().map(Value::from)),
            ] {
                if let Some(value) = value {
                    fields.insert(name.to_owned(), value);
                }
            }
        }
        link
    }
}
