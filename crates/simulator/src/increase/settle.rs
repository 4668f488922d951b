//! The steps of a transfer after it was accepted, and those it takes by itself.

use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use super::call::Increase;
use super::error::IncreaseError;
use super::objects::{Ach, FedNow, Rtp, Transfer};
use super::state::{Context, IncreaseState};
use crate::api::Api;
use crate::calendar;

/// What one entry may carry on the day it is sent, in cents.
const SAME_DAY_MAX: i64 = 100_000_000;

/// The shortest pause between two looks at what is due.
const PAUSE_MIN: Duration = Duration::from_millis(10);
/// The longest, which leaves room for a reset in between.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The entry goes into a file to the Federal Reserve.
pub(super) fn submit(state: &mut IncreaseState, context: &Context, transfer: &mut Transfer<Ach>) {
    transfer.status = "submitted";
    transfer.submission = submission(context, transfer);
    transfer.transaction_id = Some(context.id("transaction_"));
    state.spend(transfer.amount);
    state.keep(context, "updated", transfer);
}

/// What is said about the entry once it is in a file to the Federal Reserve.
fn submission(context: &Context, transfer: &Transfer<Ach>) -> Value {
    let preferred = &transfer.on_rail.preferred;
    let today = calendar::banking_day(calendar::today());
    let same_day = preferred.schedule == Some("same_day") && transfer.amount.abs() <= SAME_DAY_MAX;
    let effective = match preferred.date {
        Some(date) => calendar::banking_day(date.max(today)),
        None if same_day => today,
        None => calendar::next_banking_day(today),
    };
    let same_day = same_day || effective == today;
    let returns_by = calendar::next_banking_day(calendar::next_banking_day(effective));
    let hour = if same_day { "22:00:00Z" } else { "13:30:00Z" };
    json!({
        "administrative_returns_expected_by": format!("{returns_by}T11:00:00Z"),
        "effective_date": effective.to_string(),
        "expected_funds_settlement_at": format!("{effective}T{hour}"),
        "expected_settlement_schedule": if same_day { "same_day" } else { "future_dated" },
        "submitted_at": context.now,
        "trace_number": context.digits(15),
    })
}

/// The receiving bank has the money. An entry not sent yet is sent first.
pub(super) fn settle(
    state: &mut IncreaseState,
    context: &Context,
    transfer: &mut Transfer<Ach>,
) -> Result<(), IncreaseError> {
    transfer.must_be(&["pending_submission", "submitted"])?;
    if transfer.on_rail.settled_at.is_some() {
        return Err(IncreaseError::conflict("The ACH Transfer is already settled."));
    }
    if transfer.status == "pending_submission" {
        submit(state, context, transfer);
    }
    transfer.on_rail.settled_at = Some(context.now.clone());
    state.keep(context, "updated", transfer);
    Ok(())
}

/// A real-time payment goes to the network; the receiving bank's answer takes seconds.
pub(super) fn submit_rtp(
    state: &mut IncreaseState,
    context: &Context,
    transfer: &mut Transfer<Rtp>,
) -> Result<(), IncreaseError> {
    transfer.must_be(&["pending_submission"])?;
    transfer.status = "submitted";
    transfer.submission = json!({
        "submitted_at": context.now,
        "transaction_identification": context.digits(35),
    });
    state.keep(context, "updated", transfer);
    Ok(())
}

/// The receiving bank answers a real-time payment: it takes it, or says why not. One not sent yet is sent first.
pub(super) fn complete(
    state: &mut IncreaseState,
    context: &Context,
    transfer: &mut Transfer<Rtp>,
    reject_reason: Option<&str>,
) -> Result<(), IncreaseError> {
    if transfer.status != "submitted" {
        submit_rtp(state, context, transfer)?;
    }
    if let Some(reason) = reject_reason {
        transfer.status = "rejected";
        transfer.on_rail.rejection = json!({
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
    state.keep(context, "updated", transfer);
    Ok(())
}

/// The receiving bank answers a payment by FedNow.
pub(super) fn complete_fednow(
    state: &mut IncreaseState,
    context: &Context,
    transfer: &mut Transfer<FedNow>,
    reject_reason: Option<&str>,
) -> Result<(), IncreaseError> {
    transfer.must_be(&["pending_submitting", "pending_response"])?;
    transfer.submission =
        json!({ "message_identification": context.digits(35), "submitted_at": context.now });
    if let Some(reason) = reject_reason {
        transfer.status = "rejected";
        transfer.on_rail.rejection = json!({
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
    state.keep(context, "updated", transfer);
    Ok(())
}

/// The entry comes back, even after it has settled.
pub(super) fn give_back(
    state: &mut IncreaseState,
    context: &Context,
    transfer: &mut Transfer<Ach>,
    reason: &str,
    addenda: Option<String>,
) -> Result<(), IncreaseError> {
    transfer.must_be(&["submitted"])?;
    transfer.status = "returned";
    let addenda: Value = addenda.into();
    transfer.on_rail.returned = json!({
        "addenda_information": addenda,
        "created_at": context.now,
        "raw_return_reason_code": super::returns::code(reason),
        "return_reason_code": reason,
        "trace_number": context.digits(15),
        "transaction_id": context.id("transaction_"),
        "transfer_id": transfer.id,
    });
    state.take_back(transfer.amount);
    state.keep(context, "updated", transfer);
    Ok(())
}

/// Settles every transfer at its time, until the simulator stops.
pub(crate) async fn settle_forever(api: Api<Increase>, after: Duration) {
    let pause = after.clamp(PAUSE_MIN, PAUSE_MAX);
    loop {
        // Whatever is accepted during the pause is due after it, so nothing can be missed for longer than a pause.
        let next = api.state().due.first().map(|(due, _)| *due);
        let wake = Instant::now() + pause;
        tokio::select! {
            () = api.services().stopped() => return,
            () = tokio::time::sleep_until(next.map_or(wake, |due| due.min(wake))) => {}
        }
        api.change_and_announce(|state| settle_due(state, &Context::new(api.services()))).await;
    }
}

fn settle_due(state: &mut IncreaseState, context: &Context) {
    let now = Instant::now();
    while state.due.first().is_some_and(|(due, _)| *due <= now) {
        let Some((_, id)) = state.due.pop_first() else { return };
        // Those that were settled, returned, rejected or held up meanwhile stay as they are.
        if let Some(mut transfer) = state.ach.get_owned(&id) {
            let _ = settle(state, context, &mut transfer);
        } else if let Some(mut transfer) = state.rtp.get_owned(&id) {
            if transfer.status == "submitted" {
                let _ = complete(state, context, &mut transfer, None);
            } else if submit_rtp(state, context, &mut transfer).is_ok() {
                state.settle_later(context, &id);
            }
        } else if let Some(mut transfer) = state.fednow.get_owned(&id) {
            let _ = complete_fednow(state, context, &mut transfer, None);
        }
    }
}
