//! What the provider's own staff would do, done by the control interface.

use serde_json::Value;

use super::error::IncreaseError;
use super::state::{Context, IncreaseState};
use super::{ach, rtp};
use crate::simulator::Simulator;

/// Where a transfer stands that was not sent yet.
const WAITING: [&str; 4] =
    ["pending_approval", "pending_reviewing", "requires_attention", "pending_submission"];

/// Does `action` to the transfer.
pub(crate) fn drive(
    simulator: &Simulator,
    state: &mut IncreaseState,
    (kind, id, action): (&str, &str, &str),
) -> Result<Value, IncreaseError> {
    let context = Context::new(simulator);
    let (from, to): (&[&str], _) = match action {
        "review" => (&WAITING, "pending_reviewing"),
        "require_attention" => (&WAITING, "requires_attention"),
        "release" => (&["pending_reviewing", "requires_attention"], "pending_submission"),
        "reject" => (&WAITING, "rejected"),
        "cancel" => (&WAITING, "canceled"),
        _ => return Err(IncreaseError::conflict(format!("There is no action {action}."))),
    };
    let (object, amount) = match kind {
        "ach_transfers" => {
            let mut transfer = ach::find(state, id)?;
            transfer.must_be(from)?;
            transfer.status = to;
            ach::keep(state, &context, "updated", &transfer);
            (transfer.json(), transfer.amount)
        }
        "real_time_payments_transfers" => {
            let mut transfer = rtp::find(state, id)?;
            transfer.must_be(from)?;
            transfer.status = to;
            rtp::keep(state, &context, "updated", &transfer);
            (transfer.json(), transfer.amount)
        }
        _ => return Err(IncreaseError::conflict(format!("There are no {kind}."))),
    };
    match action {
        "reject" | "cancel" => state.put_back(amount),
        "release" => state.settle_later(&context, id),
        _ => {}
    }
    Ok(object)
}
