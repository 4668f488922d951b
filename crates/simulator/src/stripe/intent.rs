//! The PaymentIntent object.

use serde_json::{Map, Value, json};

use super::error::StripeError;
use super::form::Params;

/// Where an intent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) status: Status,
    pub(crate) amount_received: i64,
    pub(crate) metadata: Map<String, Value>,
    /// The key it was created under.
    pub(crate) idempotency_key: Option<String>,
    pub(super) amount_capturable: i64,
    pub(super) automatic_methods: Option<Value>,
    pub(super) cancellation_reason: Option<String>,
    pub(super) canceled_at: Option<i64>,
    pub(super) manual_capture: bool,
    pub(super) capture_method: String,
    pub(super) client_secret: String,
    pub(super) created: i64,
    pub(super) customer: Option<String>,
    pub(super) description: Option<String>,
    pub(super) last_payment_error: Option<Value>,
    pub(super) latest_charge: Option<String>,
    pub(super) next_action: Option<Value>,
    pub(super) method: Option<String>,
    pub(super) method_types: Vec<String>,
    pub(super) receipt_email: Option<String>,
    pub(super) setup_future_usage: Option<String>,
    pub(super) statement_descriptor: Option<String>,
    pub(super) statement_descriptor_suffix: Option<String>,
    /// Where the customer goes after proving who they are.
    pub(super) return_url: Option<String>,
    /// The checkout session it belongs to.
    pub(super) session: Option<String>,
}

impl Intent {
    pub(super) fn json(&self) -> Value {
        json!({
            "id": self.id,
            "object": "payment_intent",
            "amount": self.amount,
            "amount_capturable": self.amount_capturable,
            "amount_details": { "tip": {} },
            "amount_received": self.amount_received,
            "application": null,
            "application_fee_amount": null,
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
            "on_behalf_of": null,
            "payment_method": self.method,
            "payment_method_options": {},
            "payment_method_types": self.method_types,
            "processing": null,
            "receipt_email": self.receipt_email,
            "review": null,
            "setup_future_usage": self.setup_future_usage,
            "shipping": null,
            "source": null,
            "statement_descriptor": self.statement_descriptor,
            "statement_descriptor_suffix": self.statement_descriptor_suffix,
            "status": self.status.word(),
            "transfer_data": null,
            "transfer_group": null,
        })
    }

    /// What the browser may see with the publishable key.
    pub(super) fn public_json(&self) -> Value {
        let mut whole = self.json();
        if let Some(fields) = whole.as_object_mut() {
            for private in ["metadata", "customer", "latest_charge", "amount_received", "amount_capturable"] {
                fields.shift_remove(private);
            }
        }
        whole
    }
}

/// An amount and currency the provider would take.
pub(super) fn money(params: &Params, amount: &str, currency: &str) -> Result<(i64, String), StripeError> {
    let value = params.integer(amount)?.ok_or_else(|| StripeError::missing(amount))?;
    let code = params.required(currency)?.to_ascii_lowercase();
    if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(StripeError::invalid(format!("Invalid currency: {code}.")).param(currency));
    }
    check_amount(value, &code, amount)?;
    Ok((value, code))
}

pub(super) fn check_amount(value: i64, currency: &str, param: &str) -> Result<(), StripeError> {
    let least = if currency == "usd" { 50 } else { 1 };
    if value < 1 {
        let message = "This value must be greater than or equal to 1.";
        return Err(StripeError::invalid(message).code("parameter_invalid_integer").param(param));
    }
    if value < least {
        let message = "Amount must be at least $0.50 usd";
        return Err(StripeError::invalid(message).code("amount_too_small").param(param));
    }
    if value > 99_999_999 {
        let message = "Amount must be no more than 99999999";
        return Err(StripeError::invalid(message).code("amount_too_large").param(param));
    }
    Ok(())
}
