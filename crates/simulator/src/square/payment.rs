//! The Payment object, and charging.

use serde_json::{Map, Value, json};

use super::body::Money;
use super::error::SquareError;
use super::order::{self, Order};
use super::source::Source;
use super::state::{Context, SquareState};
use crate::calendar;
use crate::card::{Brand, Card};

/// A payment, from the moment a card was tried.
#[derive(Debug, Clone)]
pub(crate) struct Payment {
    pub(crate) id: String,
    pub(crate) money: Money,
    pub(crate) status: &'static str,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) order_id: String,
    pub(crate) reference_id: Option<String>,
    pub(crate) refunded: i64,
    pub(super) buyer_email: Option<String>,
    pub(super) card: Card,
    pub(super) card_status: &'static str,
    pub(super) created_at: String,
    pub(super) customer_id: Option<String>,
    pub(super) delayed_until: String,
    pub(super) errors: Vec<Value>,
    pub(super) location_id: String,
    pub(super) note: Option<String>,
    pub(super) refund_ids: Vec<String>,
    pub(super) statement: Option<String>,
    pub(super) updated_at: String,
    pub(super) version: u64,
}

/// What is to be charged.
#[derive(Debug)]
pub(super) struct PaymentParams {
    pub(super) money: Money,
    pub(super) complete_now: bool,
    pub(super) order: Option<Order>,
    pub(super) idempotency_key: Option<String>,
    pub(super) reference_id: Option<String>,
    pub(super) note: Option<String>,
    pub(super) buyer_email: Option<String>,
    pub(super) customer_id: Option<String>,
    pub(super) statement: Option<String>,
}

pub(super) fn brand(card: &Card) -> &'static str {
    match card.brand {
        Brand::Visa => "VISA",
        Brand::Mastercard => "MASTERCARD",
        Brand::Amex => "AMERICAN_EXPRESS",
        Brand::Discover => "DISCOVER",
    }
}

impl Payment {
    pub(super) fn version_token(&self) -> String {
        format!("{}v{}o", self.id, self.version)
    }

    pub(super) fn json(&self) -> Value {
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
            "delay_duration": "PT168H",
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

    /// The wire leaves out what a payment does not have.
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

/// Charges a card. A decline leaves a failed payment behind and is an error that shows it.
pub(super) fn charge(
    state: &mut SquareState,
    context: &Context,
    wish: PaymentParams,
    source: Source,
) -> Result<Payment, SquareError> {
    let order = wish.order.unwrap_or_else(|| Order::for_payment(context, &wish.money));
    let mut payment = Payment {
        id: context.id(32),
        money: wish.money,
        status: "APPROVED",
        idempotency_key: wish.idempotency_key,
        order_id: order.id.clone(),
        reference_id: wish.reference_id,
        refunded: 0,
        buyer_email: wish.buyer_email,
        card: source.card,
        card_status: "AUTHORIZED",
        created_at: context.now.clone(),
        customer_id: wish.customer_id,
        delayed_until: calendar::rfc3339_in_hours(168),
        errors: Vec::new(),
        location_id: context.location(),
        note: wish.note,
        refund_ids: Vec::new(),
        statement: wish.statement,
        updated_at: context.now.clone(),
        version: 1,
    };
    if let Some(code) = source.decline {
        let error = SquareError::declined(code);
        (payment.status, payment.card_status) = ("FAILED", "FAILED");
        payment.errors.push(error.entry());
        state.orders.put(&order.id.clone(), order);
        keep(state, context, &payment, "payment.created");
        return Err(error.beside(payment.json()));
    }
    order::add_tender(state, context, order, &payment);
    keep(state, context, &payment, "payment.created");
    if wish.complete_now { Ok(complete(state, context, payment)) } else { Ok(payment) }
}

pub(super) fn complete(state: &mut SquareState, context: &Context, mut payment: Payment) -> Payment {
    (payment.status, payment.card_status) = ("COMPLETED", "CAPTURED");
    order::close(state, context, &payment.order_id, "COMPLETED");
    changed(state, context, payment)
}

pub(super) fn cancel(state: &mut SquareState, context: &Context, mut payment: Payment) -> Payment {
    (payment.status, payment.card_status) = ("CANCELED", "VOIDED");
    order::close(state, context, &payment.order_id, "CANCELED");
    changed(state, context, payment)
}

/// Stores a changed payment as its next version.
pub(super) fn changed(state: &mut SquareState, context: &Context, mut payment: Payment) -> Payment {
    payment.version += 1;
    payment.updated_at.clone_from(&context.now);
    keep(state, context, &payment, "payment.updated");
    payment
}

fn keep(state: &mut SquareState, context: &Context, payment: &Payment, event: &str) {
    state.payments.put(&payment.id, payment.clone());
    state.emit(context, event, "payment", &payment.id, &payment.json());
}
