//! The steps of a transfer after it was accepted, and those it takes by itself.

use super::prelude::*;
use crate::due::{Due, Settles};

/// What one entry may carry on the day it is sent, in cents.
const SAME_DAY_MAX: i64 = 100_000_000;

/// The entry goes into a file to the Federal Reserve.
pub(super) fn submit(state: &mut State, context: &Context, transfer: &mut Transfer) {
    transfer.status = "submitted";
    transfer.submission = submission(context, transfer).into();
    transfer.transaction_id = Some(context.id("transaction_"));
    state.spend(transfer.amount);
    state.keep(context, "updated", transfer);
}

/// What is said about the entry once it is in a file to the Federal Reserve.
fn submission(context: &Context, transfer: &Transfer) -> Value {
    let preference = transfer.own("/preferred_effective_date");
    let preferred = |name: &str| preference.get(name)?.as_str();
    let today = calendar::banking_day(calendar::today());
    let is_small = transfer.amount.abs() <= SAME_DAY_MAX;
    let same_day = preferred("settlement_schedule") == Some("same_day") && is_small;
    let effective = match preferred("date").and_then(|date| date.parse::<jiff::civil::Date>().ok()) {
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
        "submitted_at": context.now, "trace_number": context.digits(15),
    })
}

/// The receiving bank has the money. An entry not sent yet is sent first.
pub(super) fn settle(state: &mut State, context: &Context, transfer: &mut Transfer) -> Answer<()> {
    transfer.must_be(&["pending_submission", "submitted"])?;
    if !transfer.own("/settlement").is_null() {
        return Err(Error::conflict("The ACH Transfer is already settled."));
    }
    if transfer.status == "pending_submission" {
        submit(state, context, transfer);
    }
    transfer.set("settlement", json!({ "settled_at": context.now }));
    state.keep(context, "updated", transfer);
    Ok(())
}

/// A real-time payment goes to the network; the receiving bank's answer takes seconds.
pub(super) fn submit_rtp(state: &mut State, context: &Context, transfer: &mut Transfer) -> Answer<()> {
    transfer.must_be(&["pending_submission"])?;
    transfer.status = "submitted";
    transfer.submission =
        json!({ "submitted_at": context.now, "transaction_identification": context.digits(35) }).into();
    state.keep(context, "updated", transfer);
    Ok(())
}

/// The receiving bank answers an instant payment: it takes it, or says why not. One not sent yet is sent first.
pub(super) fn complete(
    state: &mut State,
    context: &Context,
    transfer: &mut Transfer,
    reject_reason: Option<&str>,
) -> Answer<()> {
    if transfer.rail.kind == FEDNOW.kind {
        transfer.must_be(&["pending_submitting", "pending_response"])?;
        transfer.submission =
            json!({ "message_identification": context.digits(35), "submitted_at": context.now }).into();
    } else if transfer.status != "submitted" {
        submit_rtp(state, context, transfer)?;
    }
    if let Some(reason) = reject_reason {
        transfer.status = "rejected";
        let rejection = json!({
            "reject_reason_additional_information": null, "reject_reason_code": reason,
            "rejected_at": context.now,
        });
        transfer.set("rejection", rejection);
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
    state: &mut State,
    context: &Context,
    transfer: &mut Transfer,
    reason: &str,
    addenda: Option<&str>,
) -> Answer<()> {
    transfer.must_be(&["submitted"])?;
    transfer.status = "returned";
    let returned = json!({
        "addenda_information": addenda, "created_at": context.now,
        "raw_return_reason_code": super::returns::code(reason), "return_reason_code": reason,
        "trace_number": context.digits(15), "transaction_id": context.id("transaction_"),
        "transfer_id": transfer.id,
    });
    transfer.set("return", returned);
    state.take_back(transfer.amount);
    state.keep(context, "updated", transfer);
    Ok(())
}

impl Settles for State {
    fn due(&mut self) -> &mut Due {
        &mut self.due
    }

    fn settle_due(&mut self, services: &Arc<Services>) {
        let context = &Context::new(services);
        while let Some(id) = self.due.take() {
            let rail = [&ACH, &RTP, &FEDNOW].into_iter().find(|rail| id.starts_with(rail.kind));
            let Some(mut transfer) = rail.and_then(|rail| self.find(rail, &id).ok()) else { continue };
            // Those that were settled, returned, rejected or held up meanwhile stay as they are.
            let _ = match transfer.rail.kind {
                "ach_transfer" => settle(self, context, &mut transfer),
                "real_time_payments_transfer" if transfer.status != "submitted" => {
                    submit_rtp(self, context, &mut transfer).map(|()| self.due.add(services, &id))
                }
                _ => complete(self, context, &mut transfer, None),
            };
        }
    }
}
