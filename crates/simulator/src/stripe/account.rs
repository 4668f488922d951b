//! `/v1/account`, `/v1/accounts/<id>` and `/v1/balance`: whose key it is, and for which mode.

use super::call::{OWN_ACCOUNT, no_access};
use super::prelude::*;

pub(super) fn retrieve(_: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    Ok(shown(call.context.account.as_deref().unwrap_or(OWN_ACCOUNT)))
}

/// One's own account; a platform also sees those connected to it.
pub(super) fn retrieve_by_id(_: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    let is_seen = match call.context.account.as_deref() {
        Some(account) => account == call.id,
        None => call.id == OWN_ACCOUNT || super::call::CONNECTED_ACCOUNTS.contains(&call.id.as_str()),
    };
    if is_seen { Ok(shown(&call.id)) } else { Err(no_access(&call.id)) }
}

fn shown(id: &str) -> Value {
    json!({
        "id": id, "object": "account",
        "business_profile": {
            "mcc": "5734", "minority_owned_business_designation": null, "name": "Simulator",
            "specified_commercial_transactions_act_url": null, "support_address": null,
            "support_email": null, "support_phone": null, "support_url": null, "url": null,
        },
        "business_type": "company",
        "capabilities": { "card_payments": "active", "transfers": "active" }, "charges_enabled": true,
        "country": "US", "created": 1_767_225_600, "default_currency": "usd", "details_submitted": true,
        "email": null, "metadata": {}, "payouts_enabled": true, "type": "standard",
    })
}

pub(super) fn balance(_: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    let funds = json!([{ "amount": 0, "currency": "usd", "source_types": { "card": 0 } }]);
    Ok(json!({ "object": "balance", "available": funds, "livemode": call.is_live, "pending": funds }))
}
