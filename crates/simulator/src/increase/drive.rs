//! What the provider's own staff would do, done by the control interface.

use super::prelude::*;
use super::settle::{complete, submit_rtp};

/// Where a transfer stands that was not sent yet.
const WAITING: [&str; 6] = [
    "pending_approval",
    "pending_transfer_session_confirmation",
    "pending_reviewing",
    "requires_attention",
    "pending_submission",
    "pending_submitting",
];
const HELD: [&str; 4] =
    ["pending_approval", "pending_transfer_session_confirmation", "pending_reviewing", "requires_attention"];

/// Does `action` to the transfer or the account; `body` holds what the action takes.
pub(crate) fn drive(state: &mut State, services: &Arc<Services>, what: Driven<'_>, body: &Value) -> Answer {
    let Driven { kind, id, action } = what;
    if (kind, action) == ("accounts", "set_balance") {
        let balance = body.get("balance").and_then(Value::as_i64);
        state.set_balance(balance.ok_or_else(|| Error::invalid("balance", "must be an integer"))?);
        return Ok(
            json!({ "id": id, "available_balance": *state.available, "current_balance": *state.current }),
        );
    }
    let context = Context::new(services);
    let rail = rail_of(kind).ok_or_else(|| Error::conflict(format!("There are no {kind}.")))?;
    let mut transfer = state.find(rail, id)?;
    // The sandbox has no call for the seconds in which the receiving bank of an instant payment has not answered, nor any that
    // plays the receiving bank of a payment by FedNow.
    match (rail.kind, action) {
        ("real_time_payments_transfer", "submit") => {
            submit_rtp(state, &context, &mut transfer)?;
            return Ok(transfer.json());
        }
        ("real_time_payments_transfer" | "fednow_transfer", "complete") => {
            let reason = body.get("reject_reason_code").and_then(Value::as_str);
            complete(state, &context, &mut transfer, reason)?;
            return Ok(transfer.json());
        }
        _ => {}
    }
    let (from, to): (&[&str], _) = match (action, rail.kind) {
        ("require_approval", _) => (&WAITING, "pending_approval"),
        // Only ACH transfers can be part of a transfer session.
        ("require_confirmation", "ach_transfer") => (&WAITING, "pending_transfer_session_confirmation"),
        ("review", _) => (&WAITING, "pending_reviewing"),
        ("require_attention", _) => (&WAITING, "requires_attention"),
        ("release", _) => (&HELD, rail.queued),
        ("submit", "fednow_transfer") => (&WAITING, "pending_response"),
        ("reject", "fednow_transfer") => (&WAITING, "reviewing_rejected"),
        ("reject", _) => (&WAITING, "rejected"),
        ("cancel", _) => (&WAITING, "canceled"),
        _ => return Err(Error::conflict(format!("There is no action {action}."))),
    };
    transfer.must_be(from)?;
    transfer.status = to;
    state.keep(&context, "updated", &transfer);
    match action {
        "reject" | "cancel" => state.put_back(transfer.amount),
        "release" => state.due.add(services, id),
        _ => {}
    }
    Ok(transfer.json())
}
