//! What the provider's own staff would do, done by the control interface.

use std::sync::Arc;

use serde_json::{Value, json};

use super::error::IncreaseError;
use super::objects::{Ach, Rtp};
use super::state::{Context, IncreaseState, StoredRail};
use crate::services::Services;

/// Where a transfer stands that was not sent yet.
const WAITING: [&str; 5] = [
    "pending_approval",
    "pending_transfer_session_confirmation",
    "pending_reviewing",
    "requires_attention",
    "pending_submission",
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
    let (from, to): (&[&str], _) = match action {
        "require_approval" => (&WAITING, "pending_approval"),
        // Only ACH transfers can be part of a transfer session.
        "require_confirmation" if kind == "ach_transfers" => {
            (&WAITING, "pending_transfer_session_confirmation")
        }
        "review" => (&WAITING, "pending_reviewing"),
        "require_attention" => (&WAITING, "requires_attention"),
        "release" => (&HELD, "pending_submission"),
        "reject" => (&WAITING, "rejected"),
        "cancel" => (&WAITING, "canceled"),
        _ => return Err(IncreaseError::conflict(format!("There is no action {action}."))),
    };
    let (object, amount) = match kind {
        "ach_transfers" => change_status::<Ach>(state, &context, id, from, to)?,
        "real_time_payments_transfers" => change_status::<Rtp>(state, &context, id, from, to)?,
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
