//! `/simulations`: the sandbox calls that play the networks and the receiving banks.

use super::prelude::*;
use super::{ach_transfers::FUNDINGS, returns, settle};

/// Why a receiving bank does not take a real-time payment.
const REJECTIONS: &str = "account_closed account_blocked invalid_creditor_account_type invalid_creditor_account_number \
    invalid_creditor_financial_institution_identifier end_customer_deceased narrative \
    transaction_forbidden transaction_type_not_supported unexpected_amount amount_exceeds_bank_limits \
    invalid_creditor_address unknown_end_customer invalid_debtor_address timeout \
    unsupported_message_for_recipient recipient_connection_not_available real_time_payments_suspended \
    instructed_agent_signed_off processing_error other";

pub(super) fn submit_ach(state: &mut State, call: &Call) -> Answer {
    let mut transfer = state.find(call.rail, &call.id)?;
    transfer.must_be(&["pending_approval", "pending_submission"])?;
    settle::submit(state, &call.context, &mut transfer);
    Ok(transfer.json())
}

pub(super) fn acknowledge_ach(state: &mut State, call: &Call) -> Answer {
    let mut transfer = state.find(call.rail, &call.id)?;
    transfer.must_be(&["submitted"])?;
    if transfer.acknowledged_at.is_some() {
        return Err(Error::conflict("The ACH Transfer is already acknowledged."));
    }
    transfer.acknowledged_at = Some(call.context.now.clone());
    state.keep(&call.context, "updated", &transfer);
    Ok(transfer.json())
}

pub(super) fn settle_ach(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["inbound_funds_hold_behavior"])?;
    fields.word("inbound_funds_hold_behavior", "release_immediately release_on_default_schedule")?;
    let mut transfer = state.find(call.rail, &call.id)?;
    settle::settle(state, &call.context, &mut transfer)?;
    Ok(transfer.json())
}

pub(super) fn return_ach(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["reason", "addenda_information"])?;
    let reasons = returns::reasons();
    let reason = fields.word("reason", &reasons)?.unwrap_or(returns::USUAL);
    let addenda = fields.text("addenda_information", 200, Letters::Any)?;
    let mut transfer = state.find(call.rail, &call.id)?;
    settle::give_back(state, &call.context, &mut transfer, reason, addenda.as_deref())?;
    Ok(transfer.json())
}

pub(super) fn correct_ach(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&[
        "corrected_account_funding corrected_account_number corrected_individual_id",
        "corrected_routing_number",
    ])?;
    let funding = fields.word("corrected_account_funding", FUNDINGS)?;
    let account_number = fields.text("corrected_account_number", 17, Letters::Any)?;
    let individual_id = fields.text("corrected_individual_id", 22, Letters::Any)?;
    let routing_number = fields.text("corrected_routing_number", 9, Letters::Digits)?;
    let given = (routing_number.is_some(), account_number.is_some(), funding.is_some());
    let code = match given {
        (false, true, false) => "incorrect_account_number",
        (true, false, false) => "incorrect_routing_number",
        (true, true, false) => "incorrect_routing_number_and_account_number",
        (false, false, true) => "incorrect_transaction_code",
        (false, true, true) => "incorrect_account_number_and_transaction_code",
        (true, _, true) => "incorrect_routing_number_account_number_and_transaction_code",
        (false, false, false) if individual_id.is_some() => "incorrect_individual_identification_number",
        (false, false, false) => return Err(fields.missing("corrected_account_number")),
    };
    let mut transfer = state.find(call.rail, &call.id)?;
    // A bank can only correct an entry it has been sent.
    transfer.must_be(&["submitted"])?;
    let correction = json!({
        "change_code": code, "corrected_account_funding": funding,
        "corrected_account_number": account_number, "corrected_individual_id": individual_id,
        "corrected_routing_number": routing_number, "created_at": call.context.now,
    });
    let mut all = transfer.own("/notifications_of_change");
    if let Some(all) = all.as_array_mut() {
        all.push(correction);
    }
    transfer.set("notifications_of_change", all);
    state.keep(&call.context, "updated", &transfer);
    Ok(transfer.json())
}

pub(super) fn complete_rtp(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["rejection"])?;
    let reason = match fields.object("rejection")? {
        Some(rejection) => {
            rejection.allow(&["reject_reason_code"])?;
            let reason = rejection.word("reject_reason_code", REJECTIONS)?;
            Some(reason.ok_or_else(|| rejection.missing("reject_reason_code"))?)
        }
        None => None,
    };
    let mut transfer = state.find(call.rail, &call.id)?;
    transfer.must_be(&["pending_submission"])?;
    settle::complete(state, &call.context, &mut transfer, reason)?;
    Ok(transfer.json())
}
