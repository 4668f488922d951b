//! `/v2/locations`: the one that takes payments, and two that a careless configuration may name instead.

use super::prelude::*;
use super::state::MERCHANT;

const CLOSED: &str = "LSIMULATORCLOSED";
const ABROAD: &str = "LSIMULATORCANADA";

fn all(context: &Context) -> [Value; 3] {
    let config = &context.services.config.square;
    let currency = config.currency.as_str();
    [
        one(&config.location_id, "ACTIVE", "US", currency),
        one(CLOSED, "INACTIVE", "US", currency),
        one(ABROAD, "ACTIVE", "CA", "CAD"),
    ]
}

fn one(id: &str, status: &str, country: &str, currency: &str) -> Value {
    json!({
        "id": id, "name": "Simulated location", "timezone": "Etc/UTC",
        "capabilities": ["CREDIT_CARD_PROCESSING"], "status": status,
        "created_at": "2026-01-01T00:00:00.000Z", "merchant_id": MERCHANT, "country": country,
        "language_code": "en-US", "currency": currency, "business_name": "Tollgate simulator",
        "type": "PHYSICAL",
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the shape every endpoint has")]
pub(super) fn list(_: &mut State, call: &Call) -> Answer {
    Ok(json!({ "locations": all(&call.context) }))
}

pub(super) fn retrieve(_: &mut State, call: &Call) -> Answer {
    let wanted = if call.id == "main" { call.context.location() } else { call.id.clone() };
    let found = all(&call.context).into_iter().find(|location| location["id"] == wanted.as_str());
    let found = found.ok_or_else(|| Error::not_found("location", &call.id))?;
    Ok(json!({ "location": found }))
}
