//! The PaymentIntent object.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::with_unset;
use crate::collection::Kept;

/// Where an intent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Status {
    RequiresPaymentMethod,
    RequiresConfirmation,
    RequiresAction,
    Processing,
    RequiresCapture,
    Succeeded,
    Canceled,
}

impl Status {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::RequiresPaymentMethod => "requires_payment_method",
            Self::RequiresConfirmation => "requires_confirmation",
            Self::RequiresAction => "requires_action",
            Self::Processing => "processing",
            Self::RequiresCapture => "requires_capture",
            Self::Succeeded => "succeeded",
            Self::Canceled => "canceled",
        }
    }
}

/// A payment on its way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) status: Status,
    pub(crate) amount_received: i64,
    pub(crate) metadata: Map<String, Value>,
    /// The key it was created under.
    pub(crate) idempotency_key: Option<String>,
    pub(crate) amount_capturable: i64,
    pub(crate) automatic_methods: Option<Value>,
    pub(crate) cancellation_reason: Option<String>,
    pub(crate) canceled_at: Option<i64>,
    pub(crate) manual_capture: bool,
    pub(crate) capture_method: String,
    pub(crate) client_secret: String,
    pub(crate) created: i64,
    pub(crate) customer: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) last_payment_error: Option<Value>,
    pub(crate) latest_charge: Option<String>,
    pub(crate) next_action: Option<Value>,
    pub(crate) method: Option<String>,
    pub(crate) method_types: Vec<String>,
    pub(crate) receipt_email: Option<String>,
    pub(crate) setup_future_usage: Option<String>,
    pub(crate) statement_descriptor: Option<String>,
    pub(crate) statement_descriptor_suffix: Option<String>,
    /// Where the customer goes after proving who they are.
    pub(crate) return_url: Option<String>,
    /// The checkout session it belongs to.
    pub(crate) session: Option<String>,
    /// The connected account it was made for.
    pub(crate) account: Option<String>,
}

impl Kept for Intent {}

impl Intent {
    pub(crate) fn json(&self) -> Value {
        let intent = json!({
            "id": self.id,
            "object": "payment_intent",
            "amount": self.amount,
            "amount_capturable": self.amount_capturable,
            "amount_details": { "tip": {} },
            "amount_received": self.amount_received,
            "automatic_payment_methods": self.automatic_methods,
            "canceled_at": self.canceled_at,
            "cancellation_reason": self.cancellation_reason,
            "capture_method": self.capture_method,
            "client_secret": self.client_secret,
            "confirmation_method": "automatic",
            "created": self.created,
            "currency": self.currency,
            "customer": self.customer,
            "description": self.description,
            "last_payment_error": self.last_payment_error,
            "latest_charge": self.latest_charge,
            "livemode": false,
            "metadata": self.metadata,
            "next_action": self.next_action,
            "payment_method": self.method,
            "payment_method_options": {},
            "payment_method_types": self.method_types,
            "receipt_email": self.receipt_email,
            "setup_future_usage": self.setup_future_usage,
            "statement_descriptor": self.statement_descriptor,
            "statement_descriptor_suffix": self.statement_descriptor_suffix,
            "status": self.status.word(),
        });
        with_unset(
            intent,
            "allowed_payment_method_types application application_fee_amount customer_account \
             excluded_payment_method_types managed_payments on_behalf_of \
             payment_method_configuration_details payment_record processing review shipping source \
             transfer_data transfer_group",
        )
    }

    /// What the browser may see with the publishable key.
    pub(crate) fn public_json(&self) -> Value {
        let mut whole = self.json();
        if let Some(fields) = whole.as_object_mut() {
            for private in ["metadata", "customer", "latest_charge", "amount_received", "amount_capturable"] {
                fields.shift_remove(private);
            }
        }
        whole
    }
}
