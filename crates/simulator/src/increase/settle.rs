//! The steps of a transfer after it was accepted, and those it takes by itself.

use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use super::ach::{self, AchTransfer};
use super::error::IncreaseError;
use super::rtp::{self, RtpTransfer};
use super::state::{Context, IncreaseState};
use crate::config::Wire;
use crate::simulator::Simulator;

/// The shortest pause between two looks at what is due.
const PAUSE_MIN: Duration = Duration::from_millis(10);
/// The longest, which leaves room for a reset in between.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The entry goes into a file to the Federal Reserve.
pub(super) fn submit(state: &mut IncreaseState, context: &Context, transfer: &mut AchTransfer) {
    transfer.status = "submitted";
    transfer.submission = transfer.submission(context);
    transfer.transaction_id = Some(context.id("transaction_"));
    state.spend(transfer.amount);
    ach::keep(state, context, "updated", transfer);
}

/// The receiving bank has the money. An entry not sent yet is sent first.
pub(super) fn settle(
    state: &mut IncreaseState,
    context: &Context,
    transfer: &mut AchTransfer,
) -> Result<(), IncreaseError> {
    transfer.must_be(&["pending_submission", "submitted"])?;
    if transfer.settled_at.is_some() {
        return Err(IncreaseError::conflict("The ACH Transfer is already settled."));
    }
    if transfer.status == "pending_submission" {
        submit(state, context, transfer);
    }
    transfer.settled_at = Some(context.now.clone());
    ach::keep(state, context, "updated", transfer);
    Ok(())
}

/// The receiving bank answers a real-time payment: it takes it, or says why not.
pub(super) fn complete(
    state: &mut IncreaseState,
    context: &Context,
    transfer: &mut RtpTransfer,
    reject_reason: Option<&str>,
) -> Result<(), IncreaseError> {
    transfer.must_be(&["pending_submission"])?;
    transfer.submission = json!({
        "submitted_at": context.now,
        "transaction_identification": context.digits(35),
    });
    if let Some(reason) = reject_reason {
        transfer.status = "rejected";
        transfer.rejection = json!({
            "reject_reason_additional_information": null,
            "reject_reason_code": reason,
            "rejected_at": context.now,
        });
        state.put_back(transfer.amount);
    } else {
        transfer.status = "complete";
        transfer.acknowledged_at = Some(context.now.clone());
        transfer.transaction_id = Some(context.id("transaction_"));
        state.spend(transfer.amount);
    }
    rtp::keep(state, context, "updated", transfer);
    Ok(())
}

/// The entry comes back, even after it has settled.
pub(super) fn give_back(
    state: &mut IncreaseState,
    context: &Context,
    transfer: &mut AchTransfer,
    reason: &str,
    addenda: Option<String>,
) -> Result<(), IncreaseError> {
    transfer.must_be(&["submitted"])?;
    transfer.status = "returned";
    let addenda: Value = addenda.into();
    transfer.returned = json!({
        "addenda_information": addenda,
        "created_at": context.now,
        "raw_return_reason_code": super::returns::code(reason),
        "return_reason_code": reason,
        "trace_number": context.digits(15),
        "transaction_id": context.id("transaction_"),
        "transfer_id": transfer.id,
    });
    state.take_back(transfer.amount);
    ach::keep(state, context, "updated", transfer);
    Ok(())
}

/// Settles every transfer at its time, until the simulator stops.
pub(crate) async fn settle_forever(simulator: Simulator, after: Duration) {
    let pause = after.clamp(PAUSE_MIN, PAUSE_MAX);
    loop {
        // Whatever is accepted during the pause is due after it, so nothing can be missed for longer than a pause.
        let next = simulator.increase().due.first().map(|(due, _)| *due);
        let wake = Instant::now() + pause;
        tokio::select! {
            () = simulator.stopped() => return,
            () = tokio::time::sleep_until(next.map_or(wake, |due| due.min(wake))) => {}
        }
        let webhook_events = {
            let mut state = simulator.increase();
            settle_due(&mut state, &Context::new(&simulator));
            state.take_webhook_events()
        };
        simulator.announce(Wire::Increase, webhook_events, None).await;
    }
}

fn settle_due(state: &mut IncreaseState, context: &Context) {
    let now = Instant::now();
    while state.due.first().is_some_and(|(due, _)| *due <= now) {
        let Some((_, id)) = state.due.pop_first() else { return };
        // Those that were settled, returned, rejected or held up meanwhile stay as they are.
        if let Some(mut transfer) = state.ach.get(&id).cloned() {
            let _ = settle(state, context, &mut transfer);
        } else if let Some(mut transfer) = state.rtp.get(&id).cloned() {
            let _ = complete(state, context, &mut transfer, None);
        }
    }
}
