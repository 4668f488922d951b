//! What the provider's own staff would do, done by the control interface.

use std::sync::Arc;

use serde_json::{Value, json};

use super::error::IncreaseError;
use super::objects::{Ach, FedNow, Rail as _, Rtp};
use super::settle::{complete, complete_fednow, submit_rtp};
use super::state::{Context, IncreaseState, StoredRail};
use crate::services::Services;

/// Where a transfer stands that was not sent yet.
const WAITING: [&str; 6] = [
    "pending_approval",
    "pending_transfer_session_confirmation",
    "pending_reviewing",
    "requires_attention",
    "pending_submission",
    "pending_submitting",
];
/// Where a transfer waits for somebody.
const HELD: [&str; 4] =
    ["pending_approval", "pending_transfer_session_confirmation", "pending_reviewing", "requires_attention"];

/// Does `action` to the transfer or the account; `body` holds what the action takes.
pub(crate) fn drive(
    state: &mut IncreaseState,
    services: &Arc<Services>,
    (kind, id, action): (&str, &str, &str),
    body: &Value,
) -> Result<Value, IncreaseError> {
    if (kind, action) == ("accounts", "set_balance") {
        let balance = body.get("balance").and_then(Value::as_i64);
        state.set_balance(balance.ok_or_else(|| IncreaseError::invalid("balance", "must be an integer"))?);
        return Ok(
            json!({ "id": id, "available_balance": state.available, "current_balance": state.current }),
        );
    }
    let context = Context::new(services);
    // The sandbox has no call that plays the receiving bank of a payment by FedNow.
    if (kind, action) == ("fednow_transfers", "complete") {
        let mut transfer = state.find::<FedNow>(id)?;
        let reason = body.get("reject_reason_code").and_then(Value::as_str);
        complete_fednow(state, &context, &mut transfer, reason)?;
        return Ok(transfer.json());
    }
    // Nor one for the seconds in which the receiving bank of a real-time payment has not answered.
    if kind == "real_time_payments_transfers" && matches!(action, "submit" | "complete") {
        let mut transfer = state.find::<Rtp>(id)?;
        if action == "submit" {
            submit_rtp(state, &context, &mut transfer)?;
        } else {
            let reason = body.get("reject_reason_code").and_then(Value::as_str);
            complete(state, &context, &mut transfer, reason)?;
        }
        return Ok(transfer.json());
    }
    let (from, to): (&[&str], _) = match action {
        "require_approval" => (&WAITING, "pending_approval"),
        // Only ACH transfers can be part of a transfer session.
        "require_confirmation" if kind == "ach_transfers" => {
            (&WAITING, "pending_transfer_session_confirmation")
        }
        "review" => (&WAITING, "pending_reviewing"),
        "require_attention" => (&WAITING, "requires_attention"),
        "release" if kind == "fednow_transfers" => (&HELD, FedNow::QUEUED),
        "release" => (&HELD, "pending_submission"),
        "submit" if kind == "fednow_transfers" => (&WAITING, "pending_response"),
        "reject" if kind == "fednow_transfers" => (&WAITING, "reviewing_rejected"),
        "reject" => (&WAITING, "rejected"),
        "cancel" => (&WAITING, "canceled"),
        _ => return Err(IncreaseError::conflict(format!("There is no action {action}."))),
    };
    let (object, amount) = match kind {
        "ach_transfers" => change_status::<Ach>(state, &context, id, from, to)?,
        "real_time_payments_transfers" => change_status::<Rtp>(state, &context, id, from, to)?,
        "fednow_transfers" => change_status::<FedNow>(state, &context, id, from, to)?,
        _ => return Err(IncreaseError::conflict(format!("There are no {kind}."))),
    };
    match action {
        "reject" | "cancel" => state.put_back(amount),
        "release" => state.settle_later(&context, id),
        _ => {}
    }
    Ok(object)
}

/// The transfer in its new status, and its amount.
fn change_status<R: StoredRail>(
    state: &mut IncreaseState,
    context: &Context,
    id: &str,
    from: &[&str],
    to: &'static str,
) -> Result<(Value, i64), IncreaseError> {
    let mut transfer = state.find::<R>(id)?;
    transfer.must_be(from)?;
    transfer.status = to;
    state.keep(context, "updated", &transfer);
    Ok((transfer.json(), transfer.amount))
}
