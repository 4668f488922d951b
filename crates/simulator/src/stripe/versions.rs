//! The versions of the API: which there are, which parameters came and went with them, and what older ones show
//! differently. From the provider's changelog.

use serde_json::{Value, json};

use super::error::StripeError;
use super::form::Params;

/// The version of a call that names none.
pub(super) const DEFAULT: &str = "2026-10-28.endive";

const KNOWN: [&str; 26] = [
    "2024-09-30.acacia",
    "2024-10-28.acacia",
    "2024-11-20.acacia",
    "2024-12-18.acacia",
    "2025-01-27.acacia",
    "2025-02-24.acacia",
    "2025-03-31.basil",
    "2025-04-30.basil",
    "2025-05-28.basil",
    "2025-06-30.basil",
    "2025-07-30.basil",
    "2025-08-27.basil",
    "2025-09-30.clover",
    "2025-10-29.clover",
    "2025-11-17.clover",
    "2025-12-15.clover",
    "2026-01-28.clover",
    "2026-02-25.clover",
    "2026-03-25.dahlia",
    "2026-04-22.dahlia",
    "2026-05-27.dahlia",
    "2026-06-24.dahlia",
    "2026-07-29.dahlia",
    "2026-08-26.dahlia",
    "2026-09-30.endive",
    "2026-10-28.endive",
];

/// A parameter of some calls that a version added or removed.
struct Change {
    calls: &'static [&'static str],
    parameter: &'static str,
    version: &'static str,
    /// What the provider calls the use of one that was removed.
    removed: Option<&'static str>,
}

const INTENTS: [&str; 3] = ["payment_intents.create", "payment_intents.update", "payment_intents.confirm"];
const INTENTS_AND_SESSIONS: [&str; 4] = [
    "payment_intents.create",
    "payment_intents.update",
    "payment_intents.confirm",
    "checkout.sessions.create",
];

/// Of the parameters that are read here.
const CHANGES: [Change; 5] = [
    Change {
        calls: &["payment_intents.create"],
        parameter: "excluded_payment_method_types",
        version: "2025-08-27.basil",
        removed: None,
    },
    Change {
        calls: &["payment_intents.update", "payment_intents.confirm"],
        parameter: "excluded_payment_method_types",
        version: "2025-09-30.clover",
        removed: None,
    },
    Change {
        calls: &INTENTS,
        parameter: "allowed_payment_method_types",
        version: "2026-07-29.dahlia",
        removed: None,
    },
    Change {
        calls: &["checkout.sessions.create"],
        parameter: "allowed_payment_method_types",
        version: "2026-09-30.endive",
        removed: None,
    },
    Change {
        calls: &INTENTS_AND_SESSIONS,
        parameter: "payment_method_types",
        version: "2026-09-30.endive",
        removed: Some("payment_method_types_no_longer_supported"),
    },
];

/// Refuses a version that does not exist, and parameters that the version does not have.
pub(super) fn check(version: &str, operation: &str, params: &Params) -> Result<(), StripeError> {
    if !KNOWN.contains(&version) {
        return Err(StripeError::invalid(format!("Invalid Stripe API version: {version}")));
    }
    let of_call = CHANGES.iter().filter(|change| change.calls.contains(&operation));
    for change in of_call.filter(|change| params.has(change.parameter)) {
        let name = change.parameter;
        match change.removed {
            None if version < change.version => return Err(StripeError::unknown(name)),
            Some(code) if version >= change.version => {
                let message = format!(
                    "The parameter `{name}` is no longer supported as of API version {}. Use dynamic payment methods, or \
                     `allowed_payment_method_types` to limit them.",
                    change.version
                );
                return Err(StripeError::invalid(message).code(code).param(name));
            }
            None | Some(_) => {}
        }
    }
    Ok(())
}

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

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn refusal(version: &str, operation: &str, parameter: &str) -> Option<Map<String, Value>> {
        let params = Params::parse(format!("{parameter}[]=card").as_bytes());
        check(version, operation, &params).err().map(|error| error.fields)
    }

    #[test]
    fn a_parameter_comes_and_goes_with_its_version() {
        for change in &CHANGES {
            let place = KNOWN.iter().position(|version| *version == change.version).unwrap();
            let (before, since) = KNOWN.split_at(place);
            for operation in change.calls {
                let name = change.parameter;
                let (refusing, taking) =
                    if change.removed.is_some() { (since, before) } else { (before, since) };
                for version in taking {
                    assert_eq!(refusal(version, operation, name), None, "{version} {operation} {name}");
                }
                for version in refusing {
                    let error = refusal(version, operation, name).unwrap();
                    let code = change.removed.unwrap_or("parameter_unknown");
                    assert_eq!(error["code"], code, "{version} {operation} {name}");
                    assert_eq!(error["param"], name, "{version} {operation} {name}");
                }
                assert!(!refusing.is_empty() && !taking.is_empty(), "{operation} {name}");
            }
        }
        assert!(KNOWN.is_sorted() && KNOWN.contains(&DEFAULT));
    }

    #[test]
    fn versions_that_do_not_exist_are_refused() {
        for version in ["2026-10-29.endive", "2026-10-28", "endive", ""] {
            let error = check(version, "balance.retrieve", &Params::parse(b"")).unwrap_err();
            assert_eq!(error.message(), format!("Invalid Stripe API version: {version}"));
        }
    }
}
