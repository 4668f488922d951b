//! Disputes, opened and decided by the control interface in the bank's place, or by the sandbox's special amounts.

use serde_json::{Value, json};

use super::call::Call;
use super::error::SquareError;
use super::list;
use super::objects::{Dispute, Payment};
use super::payments::find as find_payment;
use super::state::{Context, SquareState};
use crate::calendar;

/// The reasons, in the order of the sandbox's amounts from 8801 on.
const REASONS: [&str; 9] = [
    "AMOUNT_DIFFERS",
    "CANCELLED",
    "DUPLICATE",
    "NO_KNOWLEDGE",
    "NOT_AS_DESCRIBED",
    "NOT_RECEIVED",
    "PAID_BY_OTHER_MEANS",
    "CUSTOMER_REQUESTS_CREDIT",
    "EMV_LIABILITY_SHIFT",
];
const STATES: [&str; 8] = [
    "INQUIRY_EVIDENCE_REQUIRED",
    "INQUIRY_PROCESSING",
    "INQUIRY_CLOSED",
    "EVIDENCE_REQUIRED",
    "PROCESSING",
    "WON",
    "LOST",
    "ACCEPTED",
];
const FIRST_AMOUNT: i64 = 8_801;
const DAYS_TO_RESPOND: i64 = 14;

/// A payment over one of the sandbox's special amounts is disputed as soon as it is completed.
pub(super) fn open_by_amount(
    state: &mut SquareState,
    context: &Context,
    payment: &Payment,
) -> Result<(), SquareError> {
    let place = usize::try_from(payment.money.amount - FIRST_AMOUNT).ok();
    if let Some(reason) = place.and_then(|place| REASONS.get(place)).filter(|_| payment.status == "COMPLETED")
    {
        open(state, context, &payment.id, reason)?;
    }
    Ok(())
}

/// Contests a payment: the amount is held back at once.
pub(super) fn open(
    state: &mut SquareState,
    context: &Context,
    payment: &str,
    reason: &str,
) -> Result<Value, SquareError> {
    let payment = find_payment(state, payment)?.clone();
    if payment.status != "COMPLETED" {
        return Err(SquareError::bad_request(format!("Payment {} is not completed.", payment.id)));
    }
    if is_disputed(state, &payment.id) {
        return Err(SquareError::bad_request(format!("Payment {} is disputed already.", payment.id)));
    }
    let dispute = Dispute {
        id: context.id(22),
        money: payment.money.clone(),
        reason: reason.to_owned(),
        state: "EVIDENCE_REQUIRED",
        due_at: calendar::rfc3339_in_seconds(DAYS_TO_RESPOND * 86_400),
        payment_id: payment.id.clone(),
        location_id: payment.location_id.clone(),
        created_at: context.now.clone(),
        updated_at: context.now.clone(),
        version: 1,
    };
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit(context, "dispute.created", "dispute", &dispute.id, &dispute.json());
    Ok(dispute.json())
}

/// Whether the payment's bank has not decided.
pub(super) fn is_disputed(state: &SquareState, payment: &str) -> bool {
    state.disputes.labeled(Some(payment)).any(|dispute| dispute.payment_id == payment && dispute.is_open())
}

/// The seller has sent its evidence, and the bank looks at it; or the bank has decided.
pub(super) fn advance(
    state: &mut SquareState,
    context: &Context,
    id: &str,
    to: &'static str,
) -> Result<Value, SquareError> {
    let mut dispute = find(state, id)?;
    if !dispute.is_open() || dispute.state == to {
        return Err(SquareError::bad_request(format!("Dispute {id} is {} already.", dispute.state)));
    }
    dispute.state = to;
    dispute.version += 1;
    dispute.updated_at.clone_from(&context.now);
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit(context, "dispute.state.updated", "dispute", &dispute.id, &dispute.json());
    Ok(dispute.json())
}

pub(super) fn retrieve(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    Ok(json!({ "dispute": find(state, &call.id)?.json() }))
}

pub(super) fn list(state: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    if let Some(unknown) = call.query.unknown(&["cursor location_id states"]) {
        let detail = format!("Query parameter not recognized: {unknown}");
        return Err(SquareError::invalid("UNKNOWN_QUERY_PARAMETER", unknown, detail));
    }
    let states = call.query.get("states");
    if let Some(unknown) = states.filter(|state| !STATES.contains(state)) {
        let detail = format!("`{unknown}` is not a valid enum value");
        return Err(SquareError::invalid("INVALID_ENUM_VALUE", "states", detail));
    }
    list::page(&state.disputes, call, "disputes", "states", |dispute| {
        let fits = states.is_none_or(|state| state == dispute.state)
            && call.query.get("location_id").is_none_or(|location| location == dispute.location_id);
        fits.then(|| {
            (dispute.id.clone(), dispute.created_at.clone(), dispute.updated_at.clone(), dispute.json())
        })
    })
}

fn find(state: &SquareState, id: &str) -> Result<Dispute, SquareError> {
    state.disputes.get_owned(id).ok_or_else(|| SquareError::not_found("dispute", id))
}
