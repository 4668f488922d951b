//! `/v2/refunds`.

use super::prelude::*;
use super::{disputes::is_disputed, payments::find as find_payment};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refund {
    pub(crate) id: String,
    pub(crate) money: Money,
    pub(crate) payment_id: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) created_at: String,
    pub(crate) location_id: String,
    pub(crate) order_id: String,
    pub(crate) reason: Option<String>,
    pub(crate) updated_at: String,
}

impl Kept for Refund {}

impl Refund {
    pub(crate) fn json(&self) -> Value {
        let refund = object!(self: id status payment_id order_id created_at updated_at location_id;
            "amount_money": self.money.json(), "destination_type": "CARD",
        );
        with_given(refund, [("reason", json!(self.reason))])
    }
}

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
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
        return Err(Error::invalid("VERSION_MISMATCH", "payment_version_token", detail));
    }
    let refund = refund(state, &call.context, payment, money, reason, Some(key))?;
    Ok(json!({ "refund": refund.json() }))
}

/// Gives back some of a payment. The answer is pending; where refunds settle by themselves, they do so right after.
pub(super) fn refund(
    state: &mut State,
    context: &Context,
    mut payment: Payment,
    money: Money,
    reason: Option<String>,
    idempotency_key: Option<String>,
) -> Answer<Refund> {
    match payment.status {
        "COMPLETED" => {}
        "APPROVED" => {
            let detail = "The payment must be completed before it can be refunded.";
            return Err(Error::refund("REFUND_ERROR_PAYMENT_NEEDS_COMPLETION", detail));
        }
        _ => return Err(Error::refund("PAYMENT_NOT_REFUNDABLE", "The payment cannot be refunded.")),
    }
    if money.currency != payment.money.currency {
        let detail = "The currency must be the payment's.";
        return Err(Error::invalid("INVALID_VALUE", "amount_money.currency", detail));
    }
    if is_disputed(state, &payment.id) {
        let detail = "The payment is disputed and cannot be refunded.";
        return Err(Error::refund("PAYMENT_NOT_REFUNDABLE_DUE_TO_DISPUTE", detail));
    }
    let rest = payment.money.amount - payment.refunded;
    if !(1..=rest).contains(&money.amount) {
        let detail = "The requested refund amount exceeds the amount available to refund.";
        return Err(Error::refund("REFUND_AMOUNT_INVALID", detail));
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
pub(super) fn finish(state: &mut State, context: &Context, id: &str, status: &'static str) -> Answer<Refund> {
    let mut refund = find(state, id)?;
    if refund.status != "PENDING" {
        return Err(Error::bad_request(format!("Refund {id} is {} already.", refund.status)));
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

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    Ok(json!({ "refund": find(state, &call.id)?.json() }))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    list::page(&state.refunds, call, "refunds", "source_type", |refund| {
        let fits = call.query.get("status").is_none_or(|status| status == refund.status)
            && call.query.get("location_id").is_none_or(|location| location == refund.location_id);
        fits.then(|| (refund.id.clone(), refund.created_at.clone(), refund.updated_at.clone(), refund.json()))
    })
}

fn find(state: &State, id: &str) -> Answer<Refund> {
    state.refunds.get_owned(id).ok_or_else(|| Error::not_found("refund", id))
}
