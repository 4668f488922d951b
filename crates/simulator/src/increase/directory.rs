//! `/routing_numbers`, and the one account there is.

use super::list::allow;
use super::prelude::*;

const LONG_AGO: &str = "2020-01-31T23:59:59Z";

pub(super) fn routing_numbers(_: &mut State, call: &Call) -> Answer {
    allow(call, &["routing_number", "cursor", "limit"])?;
    let given = call.query.get("routing_number").filter(|given| given.len() == 9);
    let given = given.filter(|given| given.bytes().all(|byte| byte.is_ascii_digit()));
    let number = given.ok_or_else(|| Error::invalid("routing_number", "must have nine digits"))?;
    let word = |supported: bool| if supported { "supported" } else { "not_supported" };
    let rows = bank::rails(number).map(|rails| {
        json!({
            "ach_transfers": word(rails.ach()), "fednow_transfers": word(rails.fednow()),
            "name": "Simulated Bank", "real_time_payments_request_for_payment": word(rails.real_time()),
            "real_time_payments_transfers": word(rails.real_time()), "routing_number": number,
            "type": "routing_number", "wire_transfers": word(rails.ach()),
        })
    });
    Ok(json!({ "data": rows.into_iter().collect::<Vec<_>>(), "next_cursor": null }))
}

pub(super) fn check_account(call: &Call, id: &str) -> Answer<()> {
    let known = call.context.services.config.increase.account_id == id;
    known.then_some(()).ok_or_else(|| Error::not_found("Account", id))
}

pub(super) fn check_account_number(call: &Call, id: &str) -> Answer<()> {
    let known = call.context.services.config.increase.account_number_id == id;
    known.then_some(()).ok_or_else(|| Error::not_found("Account Number", id))
}

/// Accounts and numbers beside the ones that pay, which a careless configuration may name instead.
const CLOSED_ACCOUNT: &str = "account_simulator_closed";
const OTHER_ACCOUNT: &str = "account_simulator_other";
const DISABLED_NUMBER: &str = "account_number_simulator_disabled";
const OTHER_NUMBER: &str = "account_number_simulator_other";

pub(super) fn account(_: &mut State, call: &Call) -> Answer {
    let is_closed = call.id == CLOSED_ACCOUNT;
    if !is_closed && call.id != OTHER_ACCOUNT {
        check_account(call, &call.id)?;
    }
    Ok(with_unset(
        json!({
            "bank": "first_internet_bank", "closed_at": is_closed.then_some(LONG_AGO),
            "created_at": LONG_AGO, "currency": "USD", "entity_id": "entity_simulator",
            "funding": "deposits", "id": call.id, "interest_rate": "0.00", "name": "Simulator",
            "program_id": "program_simulator",
            "status": if is_closed { "closed" } else { "open" }, "type": "account",
        }),
        "account_revenue_rate idempotency_key informational_entity_id loan",
    ))
}

pub(super) fn balance(state: &mut State, call: &Call) -> Answer {
    check_account(call, &call.id)?;
    Ok(json!({
        "account_id": call.id, "available_balance": *state.available, "current_balance": *state.current,
        "loan": null, "type": "balance_lookup",
    }))
}

pub(super) fn account_number(_: &mut State, call: &Call) -> Answer {
    let own = call.context.services.config.increase.account_id.as_str();
    let (account, status) = match call.id.as_str() {
        DISABLED_NUMBER => (own, "disabled"),
        OTHER_NUMBER => (OTHER_ACCOUNT, "active"),
        id => {
            check_account_number(call, id)?;
            (own, "active")
        }
    };
    Ok(json!({
        "account_id": account, "account_number": "987654321", "created_at": LONG_AGO, "id": call.id,
        "idempotency_key": null,
        "inbound_ach": { "debit_status": "blocked" },
        "inbound_checks": { "status": "check_transfers_only" }, "name": "Simulator",
        "routing_number": "101050001", "status": status, "type": "account_number",
    }))
}
