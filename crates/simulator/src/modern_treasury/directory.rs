//! `/ping`, the internal accounts there are, and what banks take part in.

use super::prelude::*;
use crate::fields::FieldError as _;

const LONG_AGO: &str = "2020-01-31T23:59:59Z";
/// An account that pays by ACH and by nothing else.
const ACH_ACCOUNT: &str = "00000000-0000-4000-8000-00000000ac40";
/// Accounts beside those that pay, which a careless configuration may name instead.
const CLOSED_ACCOUNT: &str = "00000000-0000-4000-8000-00000000c105";
const EURO_ACCOUNT: &str = "00000000-0000-4000-8000-00000000e000";

pub(super) fn ping(_: &mut State, call: &Call) -> Answer {
    match call.query.unknown(&[]) {
        Some(unknown) => Err(Error::invalid(unknown, "is not a known parameter")),
        None => Ok(json!({ "ping": "pong" })),
    }
}

pub(super) fn account_exists(call: &Call, id: &str) -> Answer<()> {
    let known = [&call.context.services.config.modern_treasury.account_id, ACH_ACCOUNT].contains(&id);
    known.then_some(()).ok_or_else(|| Error::not_found("Internal account"))
}

pub(super) fn originates(id: &str) -> &'static [(&'static str, &'static str)] {
    match id {
        ACH_ACCOUNT => &[("ach", "credit"), ("ach", "debit")],
        _ => &[("ach", "credit"), ("ach", "debit"), ("rtp", "credit")],
    }
}

pub(super) fn account(_: &mut State, call: &Call) -> Answer {
    if ![CLOSED_ACCOUNT, EURO_ACCOUNT].contains(&call.id.as_str()) {
        account_exists(call, &call.id)?;
    }
    let connection = json!({
        "created_at": LONG_AGO, "discarded_at": null, "id": "00000000-0000-4000-8000-00000000c000",
        "live_mode": call.context.is_live, "object": "connection", "updated_at": LONG_AGO,
        "vendor_customer_id": null, "vendor_id": "00000000-0000-4000-8000-00000000b000",
        "vendor_name": "Simulated Bank",
    });
    let capability = |(place, (payment_type, direction)): (usize, &(&str, &str))| {
        json!({
            "created_at": LONG_AGO, "direction": direction, "discarded_at": null,
            "id": format!("00000000-0000-4000-8000-0000000ca{place:03}"), "identifier": null,
            "live_mode": call.context.is_live, "object": "account_capability",
            "payment_type": payment_type, "updated_at": LONG_AGO,
        })
    };
    let capabilities: Vec<_> = originates(&call.id).iter().enumerate().map(capability).collect();
    Ok(with_unset(
        json!({
            "account_capabilities": capabilities, "account_details": [], "account_type": "checking",
            "connection": connection, "created_at": LONG_AGO,
            "currency": if call.id == EURO_ACCOUNT { "EUR" } else { "USD" }, "id": call.id,
            "live_mode": call.context.is_live, "metadata": {}, "name": "Operating account",
            "object": "internal_account", "party_name": "Simulator", "party_type": "business",
            "routing_details": [],
            "status": if call.id == CLOSED_ACCOUNT { "closed" } else { "active" },
            "updated_at": LONG_AGO,
        }),
        "contra_ledger_account_id counterparty_id debitable external_id ledger_account_id \
         legal_entity_id parent_account_id party_address vendor_id",
    ))
}

pub(super) fn routing_number(_: &mut State, call: &Call) -> Answer {
    let number = call.query.get("routing_number").ok_or_else(|| Error::missing("routing_number"))?;
    if call.query.get("routing_number_type") != Some("aba") {
        return Err(Error::invalid("routing_number_type", "must be aba"));
    }
    if !is_routing_number(number) {
        return Err(Error::invalid("routing_number", "is not a valid routing number"));
    }
    Ok(json!({
        "bank_address": null, "bank_name": "Simulated Bank", "routing_number": number,
        "routing_number_type": "aba", "sanctions": {}, "supported_payment_types": payment_types(number),
    }))
}

/// Nine digits whose checksum is right. Zeros alone pass the sum, but stand for no bank.
pub(super) fn is_routing_number(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let weighted = digits.iter().zip([3, 7, 1].into_iter().cycle()).map(|(digit, weight)| digit * weight);
    let sum: u32 = weighted.sum();
    text.len() == 9 && digits.len() == 9 && sum > 0 && sum.is_multiple_of(10)
}

/// What the bank behind a routing number takes part in. Three numbers stand for banks that take part in less.
pub(super) fn payment_types(routing_number: &str) -> &'static [&'static str] {
    match routing_number {
        "790000051" => &[],
        "790000064" | "790000077" => &["ach", "wire"],
        _ => &["ach", "wire", "rtp"],
    }
}
