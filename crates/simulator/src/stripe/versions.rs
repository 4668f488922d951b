//! The versions of the API: which there are, which parameters came and went with them, and what older ones show
//! differently. From the provider's changelog.

use super::prelude::*;

pub(super) const DEFAULT: &str = "2026-10-28.endive";

const KNOWN: &str = "\
    2024-09-30.acacia 2024-10-28.acacia 2024-11-20.acacia 2024-12-18.acacia 2025-01-27.acacia \
    2025-02-24.acacia 2025-03-31.basil 2025-04-30.basil 2025-05-28.basil 2025-06-30.basil 2025-07-30.basil \
    2025-08-27.basil 2025-09-30.clover 2025-10-29.clover 2025-11-17.clover 2025-12-15.clover 2026-01-28.clover \
    2026-02-25.clover 2026-03-25.dahlia 2026-04-22.dahlia 2026-05-27.dahlia 2026-06-24.dahlia \
    2026-07-29.dahlia 2026-08-26.dahlia 2026-09-30.endive 2026-10-28.endive";

/// The public previews that have surcharges.
const PREVIEWS: &str = "2026-03-25.preview 2026-04-22.preview 2026-05-27.preview 2026-06-24.preview 2026-07-29.preview \
    2026-08-26.preview 2026-09-30.preview";

/// What only those take.
const SURCHARGE: &str = "amount_details[surcharge]";

const INTENTS: &str = "payment_intents.create payment_intents.update payment_intents.confirm";
const SESSION: &str = "checkout.sessions.create";

/// Parameters of calls, the versions that added or removed them, and what the provider calls the use of one that was removed.
const CHANGES: [(&[&str], &str, &str, Option<&str>); 6] = [
    (&["payment_intents.confirm"], "amount_to_confirm", "2026-04-22.dahlia", None),
    (&["payment_intents.create"], "excluded_payment_method_types", "2025-08-27.basil", None),
    (
        &["payment_intents.update", "payment_intents.confirm"],
        "excluded_payment_method_types",
        "2025-09-30.clover",
        None,
    ),
    (&[INTENTS], "allowed_payment_method_types", "2026-07-29.dahlia", None),
    (&[SESSION], "allowed_payment_method_types", "2026-09-30.endive", None),
    (
        &[INTENTS, SESSION],
        "payment_method_types",
        "2026-09-30.endive",
        Some("payment_method_types_no_longer_supported"),
    ),
];

/// Whether intents have surcharges in a version.
pub(super) fn has_surcharges(version: &str) -> bool {
    is_listed(version, &[PREVIEWS])
}

/// Refuses a version that does not exist, and parameters that the version does not have.
pub(super) fn check(version: &str, operation: &str, params: &Params) -> Answer<()> {
    if !is_listed(version, &[KNOWN, PREVIEWS]) {
        return Err(Error::invalid(format!("Invalid Stripe API version: {version}")));
    }
    if params.has(SURCHARGE) && !has_surcharges(version) {
        return Err(Error::unknown(SURCHARGE));
    }
    let of_call = CHANGES.into_iter().filter(|(calls, ..)| is_listed(operation, calls));
    for (_, name, since, removed) in of_call.filter(|(_, name, ..)| params.has(name)) {
        match removed {
            None if version < since => return Err(Error::unknown(name)),
            Some(code) if version >= since => {
                let message = format!(
                    "The parameter `{name}` is no longer supported as of API version {since}. Use dynamic payment methods, or \
                     `allowed_payment_method_types` to limit them."
                );
                return Err(Error::invalid(message).code(code).param(name));
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
        "amount_subtotal": own("amount_subtotal"), "amount_total": own("amount_total"),
        "fx_rate": "1.1", "source_currency": own("currency"),
    });
    let amount = shown.get("presentment_amount").cloned().unwrap_or_default();
    fields.insert("currency_conversion".to_owned(), conversion);
    fields.insert("currency".to_owned(), shown.get("presentment_currency").cloned().unwrap_or_default());
    fields.insert("amount_subtotal".to_owned(), amount.clone());
    fields.insert("amount_total".to_owned(), amount);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(version: &str, operation: &str, parameter: &str) -> Option<Map<String, Value>> {
        let params = Params::parse(format!("{parameter}[]=card").as_bytes());
        check(version, operation, &params).err().map(|error| error.fields)
    }

    #[test]
    fn a_parameter_comes_and_goes_with_its_version() {
        let known: Vec<_> = KNOWN.split_whitespace().collect();
        for (calls, name, changed, removed) in CHANGES {
            let place = known.iter().position(|version| *version == changed).unwrap();
            let (before, since) = known.split_at(place);
            for operation in calls.iter().flat_map(|calls| calls.split_whitespace()) {
                let (refusing, taking) = if removed.is_some() { (since, before) } else { (before, since) };
                for version in taking {
                    assert_eq!(refusal(version, operation, name), None, "{version} {operation} {name}");
                }
                for version in refusing {
                    let error = refusal(version, operation, name).unwrap();
                    let code = removed.unwrap_or("parameter_unknown");
                    assert_eq!(error["code"], code, "{version} {operation} {name}");
                    assert_eq!(error["param"], name, "{version} {operation} {name}");
                }
                assert!(!refusing.is_empty() && !taking.is_empty(), "{operation} {name}");
            }
        }
        assert!(known.is_sorted() && known.contains(&DEFAULT));
    }

    #[test]
    fn surcharges_are_taken_by_previews_alone() {
        let params = Params::parse(b"amount_to_confirm=12875&amount_details[surcharge][amount]=375");
        let refused = |version| check(version, "payment_intents.confirm", &params).err();
        for version in KNOWN.split_whitespace() {
            let error = refused(version).unwrap();
            assert_eq!(error.fields["code"], "parameter_unknown", "{version}");
        }
        assert_eq!(refused("2026-03-25.preview").unwrap().fields["param"], "amount_to_confirm");
        for version in PREVIEWS.split_whitespace().skip(1) {
            assert!(refused(version).is_none(), "{version}");
        }
    }

    #[test]
    fn versions_that_do_not_exist_are_refused() {
        for version in ["2026-10-29.endive", "2026-10-28", "endive", ""] {
            let error = check(version, "balance.retrieve", &Params::parse(b"")).unwrap_err();
            assert_eq!(error.message(), format!("Invalid Stripe API version: {version}"));
        }
    }
}
