//! `/v2/refunds`.

use serde_json::{Value, json};

use super::body::{Fields, Money};
use super::call::Call;
use super::charge::changed;
use super::disputes::is_disputed;
use super::error::SquareError;
use super::list;
use super::objects::{Payment, Refund};
use super::payments::find as find_payment;
use super::state::{Context, SquareState};

pub(super) fn create(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    let fields = Fields::of(&call.body);
    fields.allow(&[
        "idempotency_key amount_money payment_id reason payment_version_token team_member_id location_id",
        "app_fee_money",
    ])?;
    let key = fields.required("idempotency_key", 45)?.to_owned();
    let money = fields.required_money("amount_money")?;
    let reason = fields.owned("reason", 192)?;
    let payment = find_payment(state, fields.required("payment_id", 192)?)?.clone();
    if let Some(token) = fields.text("payment_version_token", 255)?
        && token != payment.version_token()
    {
        let detail = "The payment has changed since.";
        return Err(SquareError::invalid("VERSION_MISMATCH", "payment_version_token", detail));
    }
    let refund = refund(state, &call.context, payment, money, reason, Some(key))?;
    Ok(json!({ "refund": refund.json() }))
}

/// Gives back some of a payment. The answer is pending; where refunds settle by themselves, they do so right after.
pub(super) fn refund(
    state: &mut SquareState,
    context: &Context,
    mut payment: Payment,
    money: Money,
    reason: Option<String>,
    idempotency_key: Option<String>,
) -> Result<Refund, SquareError> {
    match payment.status {
        "COMPLETED" => {}
        "APPROVED" => {
            let detail = "The payment must be completed before it can be refunded.";
            return Err(SquareError::refund("REFUND_ERROR_PAYMENT_NEEDS_COMPLETION", detail));
        }
        _ => return Err(SquareError::refund("PAYMENT_NOT_REFUNDABLE", "The payment cannot be refunded.")),
    }
    if money.currency != payment.money.currency {
        let detail = "The currency must be the payment's.";
        return Err(SquareError::invalid("INVALID_VALUE", "amount_money.currency", detail));
    }
    if is_disputed(state, &payment.id) {
        let detail = "The payment is disputed and cannot be refunded.";
        return Err(SquareError::refund("PAYMENT_NOT_REFUNDABLE_DUE_TO_DISPUTE", detail));
    }
    let rest = payment.money.amount - payment.refunded;
    if !(1..=rest).contains(&money.amount) {
        let detail = "The requested refund amount exceeds the amount available to refund.";
        return Err(SquareError::refund("REFUND_AMOUNT_INVALID", detail));
    }
    let refund = Refund {
        id: format!("{}_{}", payment.id, context.id(32)),
        money,
        payment_id: payment.id.clone(),
        status: "PENDING",
        idempotency_key,
        created_at: context.now.clone(),
        location_id: payment.location_id.clone(),
        order_id: context.id(32),
        reason,
        updated_at: context.now.clone(),
    };
    payment.refunded += refund.money.amount;
    payment.refund_ids.push(refund.id.clone());
    state.refunds.put(&refund.id, refund.clone());
    state.emit(context, "refund.created", "refund", &refund.id, &refund.json());
    changed(state, context, payment);
    if context.services.config.square_refunds_settle {
        finish(state, context, &refund.id, "COMPLETED")?;
    }
    Ok(refund)
}

/// Ends a pending refund: `COMPLETED`, `REJECTED` or `FAILED`.
pub(super) fn finish(
    state: &mut SquareState,
    context: &Context,
    id: &str,
    status: &'static str,
) -> Result<Refund, SquareError> {
    let mut refund = find(state, id)?;
    if refund.status != "PENDING" {
        return Err(SquareError::bad_request(format!("Refund {id} is {} already.", refund.status)));
    }
    refund.status = status;
    refund.updated_at.clone_from(&context.now);
    state.refunds.put(&refund.id, refund.clone());
    state.emit(context, "refund.updated", "refund", &refund.id, &refund.json());
    if let Some(mut payment) = state.payments.get_owned(&refund.payment_id).filter(|_| status != "COMPLETED")
    {
        payment.refunded -= refund.money.amount;
        changed(state, context, payment);
    }
    Ok(refund)
}

pub(super) fn retrieve(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    Ok(json!({ "refund": find(state, &call.id)?.json() }))
}

pub(super) fn list(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    list::page(&state.refunds, call, "refunds", "source_type", |refund| {
        let fits = call.query.get("status").is_none_or(|status| status == refund.status)
            && call.query.get("location_id").is_none_or(|location| location == refund.location_id);
        fits.then(|| (refund.id.clone(), refund.created_at.clone(), refund.updated_at.clone(), refund.json()))
    })
}

fn find(state: &SquareState, id: &str) -> Result<Refund, SquareError> {
    state.refunds.get_owned(id).ok_or_else(|| SquareError::not_found("refund", id))
}
