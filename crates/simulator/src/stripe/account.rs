//! `/v1/account` and `/v1/balance`: whose key it is, and for which mode.

use serde_json::{Value, json};

use super::call::Call;
use super::error::StripeError;
use super::state::StripeState;

pub(super) fn retrieve(_: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["expand[#]"])?;
    Ok(json!({
        "id": "acct_1Simulator",
        "object": "account",
        "business_profile": {
            "mcc": "5734",
            "minority_owned_business_designation": null,
            "name": "Simulator",
            "specified_commercial_transactions_act_url": null,
            "support_address": null,
            "support_email": null,
            "support_phone": null,
            "support_url": null,
            "url": null,
        },
        "business_type": "company",
        "capabilities": { "card_payments": "active", "transfers": "active" },
        "charges_enabled": true,
        "country": "US",
        "created": 1_767_225_600,
        "default_currency": "usd",
        "details_submitted": true,
        "email": null,
        "metadata": {},
        "payouts_enabled": true,
        "type": "standard",
    }))
}

pub(super) fn balance(_: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["expand[#]"])?;
    let funds = json!([{ "amount": 0, "currency": "usd", "source_types": { "card": 0 } }]);
    Ok(json!({ "object": "balance", "available": funds, "livemode": call.is_live, "pending": funds }))
}
