//! What is allowed and probably not meant, each at its path.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::{Value, json};
use tollgate_configuration::{Configuration, WarningKind};
use tollgate_domain::tenant::EnvironmentName;

/// A document without a warning in an environment called `test`.
fn document() -> Value {
    let layer =
        |kind: Option<&str>, bps: u16| json!({"feeKind": kind, "fixedFeeMinor": "30", "percentFeeBps": bps});
    let card_fee = |provider: &str, currency: &str| {
        json!({
            "provider": provider, "paymentMethod": "web_card", "channel": "none", "currency": currency,
            "platform": layer(Some("service"), 290), "organization": layer(None, 50),
        })
    };
    json!({
        "providers": {
            "cards": {"adapter": "stripe", "credentials": {"secretKey": "sk_test_1", "publishableKey": "pk_test_1"}},
            "others": {
                "adapter": "square", "environment": "sandbox",
                "credentials": {"accessToken": "t", "applicationId": "sandbox-sq0idb-1", "locationId": "L1"},
            },
            "bank": {
                "adapter": "increase", "environment": "sandbox", "credentials": {"apiKey": "k"},
                "funding": {"accountId": "account_1", "accountNumberId": "account_number_1"},
            },
        },
        "routing": {
            "web_card": {
                "rules": [{
                    "id": "euro", "target": {"provider": "others", "channel": "web_card"},
                    "conditions": [{"id": "in_euro", "field": "currency", "op": "eq", "value": "EUR"}],
                }],
                "default": {"provider": "cards", "channel": "web_card"},
            },
            "ach": {"default": {"provider": "bank", "channel": "standard_ach"}},
        },
        "fees": [
            card_fee("cards", "USD"), card_fee("cards", "EUR"), card_fee("others", "EUR"),
            {"provider": "bank", "paymentMethod": "ach", "channel": "standard_ach", "currency": "USD"},
        ],
        "settings": {
            "returnOrigins": ["https://shop.example"],
            "rateLimitPerSecond": 10,
            "feeProgram": {"merchant": {"country": "US", "state": "GA", "mcc": "9399"}},
        },
    })
}

fn warnings_in(environment: &str, document: &Value) -> Vec<(String, WarningKind, String)> {
    let configuration = Configuration::read(document, &Configuration::default()).unwrap();
    let warnings = configuration
        .warnings(&EnvironmentName::parse(environment).unwrap(), jiff::civil::date(2026, 11, 18));
    warnings.into_iter().map(|warning| (warning.path, warning.kind, warning.message)).collect()
}

#[test]
fn a_document_that_means_what_it_says_has_none() {
    assert_eq!(warnings_in("test", &document()), []);
    assert_eq!(warnings_in("eu1", &document()), [], "a name that says nothing contradicts nothing");
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn each_mistake_is_named_at_its_path() {
    let (mode, fee, card_fee, publishable) =
        (WarningKind::Mode, WarningKind::Fee, WarningKind::CardFee, WarningKind::PublishableKey);
    for (pointer, value, path, kind, words) in [
        (
            "/providers/cards/credentials/secretKey",
            json!("sk_live_1"),
            "credentials.secretKey",
            mode,
            "real money",
        ),
        (
            "/providers/cards/credentials/secretKey",
            json!("rk_live_1"),
            "credentials.publishableKey",
            mode,
            "test key",
        ),
        (
            "/providers/cards/credentials/publishableKey",
            json!("pk_live_1"),
            "credentials.publishableKey",
            mode,
            "live key",
        ),
        (
            "/providers/others/environment",
            json!("production"),
            "credentials.applicationId",
            mode,
            "sandbox application",
        ),
        (
            "/providers/others/credentials/applicationId",
            json!("sq0idp-1"),
            "credentials.applicationId",
            mode,
            "production application",
        ),
        (
            "/providers/bank/environment",
            json!("production"),
            "providers.bank.environment",
            mode,
            "real money",
        ),
        (
            "/providers/bank/environment",
            Value::Null,
            "providers.bank.environment",
            mode,
            "is not set, which means production",
        ),
        (
            "/routing/ach/default/channel",
            json!("instant"),
            "routing.ach.default",
            fee,
            "no fee entry for USD on instant",
        ),
        (
            "/routing/web_card/rules/0/conditions/0/op",
            json!("ne"),
            "rules[0].target",
            fee,
            "others has no fee entry for USD",
        ),
        ("/fees", json!([]), "routing.web_card.default", fee, "in any currency"),
        (
            "/fees/0/platform",
            json!({"percentFeeBps": 290}),
            "fees[0]",
            card_fee,
            "has no feeKind, so debit and prepaid cards pay it as well",
        ),
        (
            "/fees/2/platform",
            json!({"feeKind": "surcharge", "percentFeeBps": 200}),
            "fees[2]",
            card_fee,
            "is a surcharge that cannot be charged now, provider_cannot_report",
        ),
        (
            "/fees/1/platform",
            json!({"feeKind": "surcharge", "percentFeeBps": 200}),
            "fees[1]",
            card_fee,
            "cannot be charged now, no_notice: The acquirer",
        ),
        ("/settings/returnOrigins", Value::Null, "settings.returnOrigins", publishable, "any site"),
        (
            "/settings/rateLimitPerSecond",
            Value::Null,
            "settings.rateLimitPerSecond",
            publishable,
            "set a limit",
        ),
    ] {
        let mut document = document();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap();
        match parent.as_array_mut() {
            Some(items) => items[field.parse::<usize>().unwrap()] = value,
            None => parent[field] = value,
        }
        let found = warnings_in("test", &document);
        let fits = found
            .iter()
            .any(|(at, about, message)| at.ends_with(path) && *about == kind && message.contains(words));
        assert!(fits, "{pointer}: {found:?}");
    }
}

#[test]
fn test_credentials_in_a_live_environment_are_named() {
    let found = warnings_in("live", &document());
    let paths: Vec<_> = found.iter().map(|(path, ..)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "providers.cards.credentials.secretKey",
            "providers.others.environment",
            "providers.bank.environment"
        ]
    );
    let mut live = document();
    live["providers"] = json!({
        "cards": {"adapter": "stripe", "credentials": {"secretKey": "sk_live_1", "publishableKey": "pk_live_1"}},
        "others": {"adapter": "square", "credentials": {"applicationId": "sq0idp-1"}},
        "bank": {"adapter": "increase"},
    });
    assert_eq!(warnings_in("live", &live), []);
    // One address serves both sides there, so that only `environment` can tell.
    live["providers"]["bank"] = json!({"adapter": "modern_treasury"});
    assert_eq!(warnings_in("live", &live), []);
    live["providers"]["bank"]["environment"] = json!("sandbox");
    assert_eq!(warnings_in("live", &live)[0].0, "providers.bank.environment");
    live["providers"]["bank"]["environment"] = json!("production");
    assert_eq!(warnings_in("live", &live), []);
    live["providers"]["cards"]["baseUrl"] = json!("http://127.0.0.1:9");
    assert_eq!(warnings_in("live", &live)[0].0, "providers.cards.baseUrl");
}

#[test]
fn what_no_payment_reaches_needs_no_fee() {
    let mut document = document();
    document["fees"] = json!([document["fees"][0], document["fees"][1], document["fees"][3]]);
    assert_eq!(warnings_in("test", &document).len(), 1);
    document["routing"]["web_card"]["rules"][0]["enabled"] = json!(false);
    assert_eq!(warnings_in("test", &document), []);
    document["routing"]["web_card"]["enabled"] = json!(false);
    document["settings"] = json!({"feeProgram": document["settings"]["feeProgram"]});
    assert_eq!(warnings_in("test", &document), [], "no card payment can be prepared at all");
}
