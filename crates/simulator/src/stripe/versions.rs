//! What older versions of the API show differently.

use serde_json::{Value, json};

/// From this version on a session is shown in the merchant's currency, whatever the buyer was shown.
const MERCHANT_CURRENCY_SINCE: &str = "2025-03-31";

/// Shows a session as a version does: before, one that was paid in the buyer's own currency had that currency and amount.
pub(super) fn show_as_of(version: &str, object: &mut Value) {
    if version >= MERCHANT_CURRENCY_SINCE || object["object"] != "checkout.session" {
        return;
    }
    let Some(fields) = object.as_object_mut() else { return };
    let Some(Value::Object(shown)) = fields.shift_remove("presentment_details") else { return };
    let own = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let conversion = json!({
        "amount_subtotal": own("amount_subtotal"),
        "amount_total": own("amount_total"),
        "fx_rate": "1.1",
        "source_currency": own("currency"),
    });
    let amount = shown.get("presentment_amount").cloned().unwrap_or_default();
    fields.insert("currency_conversion".to_owned(), conversion);
    fields.insert("currency".to_owned(), shown.get("presentment_currency").cloned().unwrap_or_default());
    fields.insert("amount_subtotal".to_owned(), amount.clone());
    fields.insert("amount_total".to_owned(), amount);
}
