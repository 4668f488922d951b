//! `/v1/accounts/<id>`: the connected account.

use serde_json::{Value, json};

use super::call::{CONNECTED_ACCOUNT, Call};
use super::error::StripeError;
use super::state::StripeState;

pub(super) fn retrieve(_: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["expand[#]"])?;
    if call.id != CONNECTED_ACCOUNT {
        return Err(StripeError::not_found("account", &call.id, "account"));
    }
    Ok(json!({
        "id": CONNECTED_ACCOUNT,
        "object": "account",
        "charges_enabled": true,
        "country": "US",
        "default_currency": "usd",
        "details_submitted": true,
        "email": null,
        "payouts_enabled": true,
        "type": "standard",
    }))
}
