//! Card payments as the contract has them: every flow, every refusal, every read, on both stores and both adapters.

mod access;
mod capturing;
mod card_fees;
#[cfg(feature = "failpoints")]
mod card_fees_crash;
mod configuration;
mod declines;
mod expiry;
mod flows;
mod keys;
mod lists;
mod refunding;
mod refunds;
mod secrets;
mod square;
mod timeline;
mod unlawful_fees;
#[cfg(feature = "failpoints")]
pub(crate) mod unlawful_fees_crash;
mod validation;

use serde_json::{Value, json};

use crate::support::{Prepared, Wire};

/// Whether a text is a time as the contract writes it: `2026-11-15T02:27:16.050Z`.
fn is_time(value: &Value) -> bool {
    let form = "dddd-dd-ddTdd:dd:dd.dddZ";
    let text = value.as_str().unwrap_or_default();
    let fits = |(letter, wanted): (char, char)| match wanted {
        'd' => letter.is_ascii_digit(),
        other => letter == other,
    };
    text.len() == form.len() && text.chars().zip(form.chars()).all(fits)
}

/// Whether a text is a card payment's reference: `pay_` and 26 characters.
fn is_reference(text: &str) -> bool {
    let tail = text.strip_prefix("pay_").unwrap_or_default();
    tail.len() == 26 && tail.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// What `Shop::order` costs: 100.00 and 3.20 for the platform and 0.55 for the organization.
fn amounts() -> Value {
    json!({
        "amountMinor": "10000", "platformFeeMinor": "320", "organizationFeeMinor": "55", "feeMinor": "375",
        "totalDebitMinor": "10375",
    })
}

/// What the fee was computed for.
fn fee(wire: Wire) -> Value {
    json!({
        "version": 1, "provider": wire.provider(), "paymentMethod": "web_card", "currency": "USD", "channel": "none",
    })
}

fn routing(wire: Wire) -> Value {
    match wire {
        Wire::Stripe => json!({
            "provider": "card_provider_a", "channel": "web_card", "matchedRuleId": null, "matchedConditionIds": [],
            "fallback": true,
        }),
        Wire::Adyen => panic!("not played here"),
        Wire::Square => json!({
            "provider": "card_provider_b", "channel": "web_card", "matchedRuleId": "rule_square",
            "matchedConditionIds": ["cond_wire"], "fallback": false,
        }),
    }
}

/// Fields of several objects in one.
fn merged(parts: &[Value]) -> Value {
    let fields = parts.iter().flat_map(|part| part.as_object().unwrap().clone());
    Value::Object(fields.collect())
}

/// The transaction of `Shop::order`, whole. Times and the provider's reference are taken from the answer, and checked.
#[track_caller]
fn check_transaction(found: &Value, prepared: &Prepared, wire: Wire, status: &str) {
    for time in ["createdAt", "updatedAt"] {
        assert!(is_time(&found[time]), "{time} in {found:#}");
    }
    if status != "pending" {
        assert!(found["providerReference"].as_str().is_some_and(|id| !id.is_empty()), "{found:#}");
    }
    assert!(found["revision"].as_u64().is_some_and(|revision| revision > 0), "{found:#}");
    if status == "succeeded" {
        assert_eq!((&found["card"]["brand"], &found["card"]["last4"]), (&json!("visa"), &json!("4242")));
    }
    let expected = merged(&[
        json!({"serviceReference": prepared.reference, "revision": found["revision"], "status": status}),
        amounts(),
        json!({
            "currency": "USD", "paymentMethod": "web_card", "provider": wire.provider(), "channel": "web_card",
            "fee": fee(wire), "providerReference": found["providerReference"], "failure": null,
            "refundedMinor": "0", "dispute": null, "description": null, "metadata": {"wire": wire.name()},
            "card": found["card"],
            "authorized": null, "captureBefore": null, "pendingAction": null, "approval": null,
            "createdAt": found["createdAt"], "updatedAt": found["updatedAt"],
        }),
    ]);
    assert_eq!(*found, expected, "{found:#}");
}

/// The answer to a preparation of `Shop::order`, whole but for what is given.
#[track_caller]
fn check_prepared(prepared: &Prepared, wire: Wire, rest: &Value) {
    let found = &prepared.data;
    assert!(is_reference(&prepared.reference), "{}", prepared.reference);
    for time in ["preparedAt", "expiresAt"] {
        assert!(is_time(&found[time]), "{time} in {found:#}");
    }
    let expected = merged(&[
        json!({"serviceReference": prepared.reference, "status": "prepared"}),
        amounts(),
        json!({
            "fee": fee(wire), "currency": "USD", "paymentMethod": "web_card", "provider": wire.provider(),
            "capture": "automatic", "routing": routing(wire), "preparedAt": found["preparedAt"],
            "expiresAt": found["expiresAt"],
        }),
        rest.clone(),
    ]);
    assert_eq!(*found, expected, "{found:#}");
}
