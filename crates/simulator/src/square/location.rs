//! `/v2/locations`: there is one.

use serde_json::{Value, json};

use super::call::Call;
use super::error::SquareError;
use super::state::{Context, MERCHANT, SquareState};

fn only(context: &Context) -> Value {
    let config = &context.services.config.square;
    json!({
        "id": config.location_id,
        "name": "Simulated location",
        "timezone": "Etc/UTC",
        "capabilities": ["CREDIT_CARD_PROCESSING"],
        "status": "ACTIVE",
        "created_at": "2026-01-01T00:00:00.000Z",
        "merchant_id": MERCHANT,
        "country": "US",
        "language_code": "en-US",
        "currency": config.currency,
        "business_name": "Tollgate simulator",
        "type": "PHYSICAL",
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the shape every endpoint has")]
pub(super) fn list(_: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    Ok(json!({ "locations": [only(&call.context)] }))
}

pub(super) fn retrieve(_: &mut SquareState, call: &Call) -> Result<Value, SquareError> {
    if call.id == "main" || call.id == call.context.location() {
        return Ok(json!({ "location": only(&call.context) }));
    }
    Err(SquareError::not_found("location", &call.id))
}
