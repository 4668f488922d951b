//! `/v2/payments`.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::body::Fields;
use super::call::{Call, key_name};
use super::charge::{
    PaymentParams, cancel as cancel_payment, changed, charge, complete as complete_payment, lapse,
};
use super::error::SquareError;
use super::objects::{Order, Payment};
use super::state::{Context, SquareState};
use super::{disputes, list, orders, source};
use crate::calendar;

const CREATE: &str = "source_id idempotency_key amount_money delay_duration delay_action autocomplete \
    order_id customer_id location_id team_member_id reference_id verification_token \
    accept_partial_authorization buyer_email_address buyer_phone_number billing_address shipping_address \
    note statement_description_identifier customer_details offline_payment_details app_fee_money";

pub(super) fn create(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    let (fields, context) = (Fields::of(&call.body), &call.context);
    fields.allow(&[CREATE])?;
    let source_id = fields.required("source_id", 255)?;
    let key = fields.required("idempotency_key", 45)?;
    let money = fields.required_money("amount_money")?;
    check_currency(context, &money.currency)?;
    check_location(context, fields.text("location_id", 50)?)?;
    let buyer_email = fields.owned("buyer_email_address", 255)?;
    if buyer_email.as_ref().is_some_and(|email| !email.contains('@')) {
        let detail = "Invalid email address";
        return Err(SquareError::invalid("INVALID_EMAIL_ADDRESS", "buyer_email_address", detail));
    }
    let wish = PaymentParams {
        order: open_order(state, fields.text("order_id", 192)?, money.amount)?,
        money,
        delay_seconds: delay(&fields)?,
        complete_now: fields.boolean("autocomplete")?.unwrap_or(true),
        idempotency_key: Some(key.to_owned()),
        reference_id: fields.owned("reference_id", 40)?,
        note: fields.owned("note", 500)?,
        buyer_email,
        customer_id: fields.owned("customer_id", 191)?,
        statement: fields.owned("statement_description_identifier", 20)?,
    };
    let verified = fields.text("verification_token", 255)?.is_some();
    let source = source::take(state, source_id, verified)?;
    let payment = charge(state, context, wish, source)?;
    disputes::open_by_amount(state, context, &payment)?;
    Ok(json!({ "payment": payment.json() }))
}

/// A week, the longest for a card that was typed in, unless less is asked for.
const WEEK_SECONDS: i64 = 7 * 86_400;

/// For how long a payment is held that is not completed at once.
fn delay(fields: &Fields<'_>) -> Result<i64, SquareError> {
    let Some(text) = fields.text("delay_duration", 255)? else { return Ok(WEEK_SECONDS) };
    if fields.boolean("autocomplete")?.unwrap_or(true) {
        let detail =
            "`delay_duration` can only be set for a delayed capture payment (`autocomplete` is `false`).";
        return Err(SquareError::invalid("BAD_REQUEST", "delay_duration", detail));
    }
    let seconds = calendar::seconds_of(text).filter(|seconds| (60..=WEEK_SECONDS).contains(seconds));
    let detail = "The duration must be between one minute and seven days.";
    seconds.ok_or_else(|| SquareError::invalid("INVALID_VALUE", "delay_duration", detail))
}

/// The order a payment names, while it can still be paid.
fn open_order(state: &SquareState, id: Option<&str>, amount: i64) -> Result<Option<Order>, SquareError> {
    let Some(id) = id else { return Ok(None) };
    let order = state.orders.get_owned(id).ok_or_else(|| SquareError::not_found("order", id))?;
    if order.state != "OPEN" || !order.tenders.is_empty() {
        return Err(SquareError::bad_request(format!("Order {id} cannot be paid: it is {}.", order.state)));
    }
    if order.total.amount != amount {
        let detail = "The payment amount does not match the order's total.";
        return Err(SquareError::invalid("INVALID_VALUE", "amount_money.amount", detail));
    }
    Ok(Some(order))
}

pub(super) fn check_currency(context: &Context, currency: &str) -> Result<(), SquareError> {
    let only = &context.services.config.square.currency;
    if only == currency {
        return Ok(());
    }
    let detail =
        format!("This merchant can only process payments in {only}, but amount was provided in {currency}.");
    Err(SquareError::invalid("INVALID_VALUE", "amount_money.currency", detail))
}

pub(super) fn check_location(context: &Context, given: Option<&str>) -> Result<(), SquareError> {
    match given {
        Some(given) if given != context.location() => {
            let detail = format!("Location `{given}` not found.");
            Err(SquareError::invalid("INVALID_LOCATION", "location_id", detail))
        }
        _ => Ok(()),
    }
}

pub(super) fn retrieve(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    lapse(state, &call.context, &call.id);
    Ok(json!({ "payment": find(state, &call.id)?.json() }))
}

pub(super) fn list(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    let known = "last_4 card_brand total is_offline_payment offline_begin_time offline_end_time";
    let listed_after = call.context.services.config.square_listed_after_ms;
    list::page(&state.payments, call, "payments", known, |payment| {
        let fits = calendar::is_older(&payment.created_at, listed_after)
            && call.query.get("last_4").is_none_or(|last4| last4 == payment.card.last4)
            && call.query.get("total").is_none_or(|total| total == payment.money.amount.to_string())
            && call.query.get("location_id").is_none_or(|location| location == payment.location_id);
        fits.then(|| {
            (payment.id.clone(), payment.created_at.clone(), payment.updated_at.clone(), payment.json())
        })
    })
}

/// Changes what is held.
pub(super) fn update(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    let fields = Fields::of(&call.body);
    fields.allow(&["idempotency_key payment"])?;
    fields.required("idempotency_key", 45)?;
    lapse(state, &call.context, &call.id);
    let mut payment = find(state, &call.id)?;
    let changes = fields.object("payment")?.ok_or_else(|| SquareError::missing("payment"))?;
    changes.allow(&["amount_money tip_money version_token delay_action"])?;
    check_version(&changes, &payment)?;
    if payment.status != "APPROVED" {
        return Err(not_approved(&payment, "updated"));
    }
    if let Some(money) = changes.money("amount_money")? {
        if money.currency != payment.money.currency {
            let detail = "The currency must be the payment's.";
            return Err(SquareError::invalid("INVALID_VALUE", "payment.amount_money.currency", detail));
        }
        payment.money = money;
        orders::change_total(state, &call.context, &payment);
    }
    Ok(json!({ "payment": changed(state, &call.context, payment).json() }))
}

fn check_version(fields: &Fields<'_>, payment: &Payment) -> Result<(), SquareError> {
    match fields.text("version_token", 255)? {
        Some(token) if token != payment.version_token() => {
            let detail = "The payment has changed since.";
            Err(SquareError::invalid("VERSION_MISMATCH", "version_token", detail))
        }
        _ => Ok(()),
    }
}

pub(super) fn complete(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    let fields = Fields::of(&call.body);
    fields.allow(&["version_token"])?;
    lapse(state, &call.context, &call.id);
    let payment = find(state, &call.id)?;
    check_version(&fields, &payment)?;
    if payment.status != "APPROVED" {
        return Err(not_approved(&payment, "completed"));
    }
    Ok(json!({ "payment": complete_payment(state, &call.context, payment).json() }))
}

pub(super) fn cancel(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    Fields::of(&call.body).allow(&[])?;
    lapse(state, &call.context, &call.id);
    let payment = find(state, &call.id)?;
    if payment.status != "APPROVED" {
        return Err(not_approved(&payment, "canceled"));
    }
    Ok(json!({ "payment": cancel_payment(state, &call.context, payment).json() }))
}

/// Voids whatever a key created, and frees the key: the way out when the answer to a payment was lost.
pub(super) fn cancel_by_key(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    let fields = Fields::of(&call.body);
    fields.allow(&["idempotency_key"])?;
    let key = fields.required("idempotency_key", 45)?;
    let is_its = |payment: &Cow<'_, Payment>| payment.idempotency_key.as_deref() == Some(key);
    let created = state.payments.labeled(Some(key)).find(is_its).map(Cow::into_owned);
    if let Some(payment) = created {
        if payment.refunded > 0 {
            return Err(not_approved(&payment, "canceled"));
        }
        if matches!(payment.status, "APPROVED" | "COMPLETED") {
            cancel_payment(state, &call.context, payment);
        }
        call.keys.release(&key_name("payments.create", key));
    }
    Ok(json!({}))
}

pub(super) fn find(state: &SquareState, id: &str) -> Result<Payment, SquareError> {
    state.payments.get_owned(id).ok_or_else(|| SquareError::not_found("payment", id))
}

pub(super) fn not_approved(payment: &Payment, done: &str) -> SquareError {
    SquareError::bad_request(format!("Payment {} cannot be {done}: it is {}.", payment.id, payment.status))
}
