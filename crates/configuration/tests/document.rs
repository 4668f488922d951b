//! The configuration document from the outside: what is read, refused, masked, sealed and kept.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::too_many_lines, missing_docs)]

use serde_json::{Value, json};
use tollgate_configuration::{Configuration, ValidationError, built_in_fee_rules};
use tollgate_domain::{
    Channel, Currency, Minor, PaymentMethod, Timestamp, ach::TransferRail, id::EnvironmentId,
    tenant::EnvironmentName,
};
use tollgate_vault::{MasterKey, Sealer, Secret};

const STRIPE_SECRET: &str = "sk_test_a_long_enough_secret_1234";

fn example() -> Value {
    json!({
        "providers": {
            "card_provider_a": {"adapter": "stripe", "credentials": {"secretKey": STRIPE_SECRET, "publishableKey": "pk_x", "webhookSecret": "whsec_short"}, "baseUrl": "http://127.0.0.1:9/x/"},
            "card_provider_b": {"adapter": "square", "credentials": {"accessToken": "an-access-token-of-some-length", "applicationId": "app", "locationId": "loc"}, "environment": "sandbox"},
            "ach_provider_a": {"adapter": "increase", "credentials": {}, "funding": {"accountId": "account_1", "companyName": "Acme Payments"}}
        },
        "routing": {
            "web_card": {
                "enabled": true,
                "rules": [{"id": "rule_large", "enabled": true,
                           "conditions": [{"id": "cond_amount", "field": "amountMinor", "op": "gte", "value": "100000"}],
                           "target": {"provider": "card_provider_b", "channel": "web_card"}}],
                "default": {"provider": "card_provider_a", "channel": "web_card"}
            },
            "ach": {"enabled": true, "rules": [], "default": {"provider": "ach_provider_a", "channel": "standard_ach"}}
        },
        "fees": [
            {"provider": "card_provider_a", "paymentMethod": "web_card", "channel": "none", "currency": "USD",
             "platform": {"enabled": true, "fixedFeeMinor": "30", "percentFeeBps": 290, "minimumFeeMinor": null, "capFeeMinor": null},
             "organization": {"enabled": true, "fixedFeeMinor": "0", "percentFeeBps": 50, "minimumFeeMinor": "10", "capFeeMinor": "500"}}
        ],
        "settings": {"secretKeyForPreparation": false, "customerTokenLifetimeSeconds": null}
    })
}

fn read(document: &Value) -> Configuration {
    Configuration::read(document, &Configuration::default()).unwrap()
}

fn errors(document: &Value) -> Vec<ValidationError> {
    Configuration::read(document, &Configuration::default()).unwrap_err().into_iter().collect()
}

/// Changes the example at one JSON pointer, and expects exactly one fault, at this path, with this in its words.
fn check_fault(pointer: &str, value: Value, path: &str, words: &str) {
    let mut document = example();
    *document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    let found = errors(&document);
    assert_eq!(found.len(), 1, "{pointer}: {found:?}");
    assert_eq!(found[0].field, path);
    assert!(found[0].message.contains(words), "{}", found[0].message);
}

fn sealer() -> Sealer {
    MasterKey::from_setting(&Secret::new("a master key of at least thirty-two characters"))
        .unwrap()
        .sealer("configuration")
}

fn environment(last: u8) -> EnvironmentId {
    EnvironmentId::new(Timestamp::from_unix_millis(5), [last; 10])
}

#[test]
fn the_example_is_read_into_what_it_says() {
    let configuration = read(&example());
    let provider = configuration.providers.get("card_provider_a").unwrap();
    assert_eq!(provider.credential("secretKey"), Some(STRIPE_SECRET));
    assert_eq!(provider.base_url.as_deref(), Some("http://127.0.0.1:9/x"));
    assert!(provider.missing().is_empty());
    let ach = configuration.providers.get("ach_provider_a").unwrap();
    assert_eq!(ach.missing(), ["credentials.apiKey", "credentials.webhookSecret"]);
    assert_eq!(ach.missing_for(TransferRail::Ach), Vec::<String>::new());
    assert_eq!(ach.missing_for(TransferRail::RealTimePayments), ["funding.accountNumberId"]);
    assert_eq!(ach.missing_for(TransferRail::FedNow), ["funding.accountNumberId"]);
    assert_eq!(ach.funding("companyName"), Some("Acme Payments"));
    assert!(configuration.routing(PaymentMethod::Ach).enabled());
    assert_eq!(configuration.web_card.rules().len(), 1);
    let entry = configuration.fees.entry("card_provider_a", Channel::WebCard, Currency::USD);
    assert_eq!((entry.platform.fixed.get(), entry.organization.cap.map(Minor::get)), (30, Some(500)));
    let absent =
        configuration.fees.entry("card_provider_a", Channel::WebCard, Currency::parse("EUR").unwrap());
    assert!(!absent.platform.enabled && !absent.organization.enabled);
}

#[test]
fn an_empty_document_is_an_environment_that_routes_nothing() {
    let configuration = read(&json!({}));
    assert!(!configuration.web_card.enabled() && !configuration.ach.enabled());
}

#[test]
fn every_single_fault_is_named_at_its_place() {
    let rule = "/routing/web_card/rules/0";
    let condition = "/routing/web_card/rules/0/conditions/0";
    for (pointer, value, path, words) in [
        ("/providers/card_provider_a/adapter", json!("paypal"), "providers.card_provider_a.adapter", "known"),
        (
            "/providers/card_provider_a/baseUrl",
            json!("http://example.com"),
            "providers.card_provider_a.baseUrl",
            "https",
        ),
        (
            "/providers/card_provider_a/baseUrl",
            json!("https://u:p@example.com"),
            "providers.card_provider_a.baseUrl",
            "user name",
        ),
        (
            "/providers/card_provider_b/environment",
            json!("test"),
            "providers.card_provider_b.environment",
            "sandbox",
        ),
        (
            "/providers/ach_provider_a/funding/companyName",
            json!("a name of 17 sign"),
            "providers.ach_provider_a.funding.companyName",
            "at most 16",
        ),
        (
            "/providers/ach_provider_a/funding/companyName",
            json!("Café"),
            "providers.ach_provider_a.funding.companyName",
            "ASCII",
        ),
        (
            "/providers/card_provider_a/credentials/secretKey",
            json!(""),
            "providers.card_provider_a.credentials.secretKey",
            "empty",
        ),
        (
            "/providers/card_provider_a/credentials/secretKey",
            json!(5),
            "providers.card_provider_a.credentials.secretKey",
            "string",
        ),
        (
            "/routing/web_card/default/provider",
            json!("nobody"),
            "routing.web_card.default.provider",
            "unknown provider",
        ),
        (
            "/routing/web_card/default/provider",
            json!("ach_provider_a"),
            "routing.web_card.default.provider",
            "does not support",
        ),
        (
            "/routing/web_card/default/channel",
            json!("standard_ach"),
            "routing.web_card.default.channel",
            "web_card",
        ),
        ("/routing/ach/default/channel", json!("web_card"), "routing.ach.default.channel", "standard_ach"),
        (
            &format!("{condition}/op"),
            json!("like"),
            "routing.web_card.rules[0].conditions[0].op",
            "startsWith",
        ),
        (
            &format!("{condition}/field"),
            json!("colour"),
            "routing.web_card.rules[0].conditions[0].field",
            "metadata.<key>",
        ),
        (
            &format!("{condition}/value"),
            json!("many"),
            "routing.web_card.rules[0].conditions[0].value",
            "integer",
        ),
        (
            &format!("{condition}/value"),
            json!(1.5),
            "routing.web_card.rules[0].conditions[0].value",
            "integer",
        ),
        (
            &format!("{condition}/value"),
            Value::Null,
            "routing.web_card.rules[0].conditions[0].value",
            "required",
        ),
        (&format!("{rule}/id"), json!("has space"), "routing.web_card.rules[0].id", "letters"),
        (&format!("{rule}/enabled"), json!("yes"), "routing.web_card.rules[0].enabled", "true or false"),
        ("/fees/0/currency", json!("BGN"), "fees[0].currency", "ISO 4217"),
        ("/fees/0/channel", json!("web_card"), "fees[0].channel", "none"),
        ("/fees/0/provider", json!("nobody"), "fees[0].provider", "unknown provider"),
        ("/fees/0/platform/percentFeeBps", json!(10_001), "fees[0].platform.percentFeeBps", "10000"),
        ("/fees/0/platform/fixedFeeMinor", json!("-1"), "fees[0].platform.fixedFeeMinor", "digits"),
        (
            "/fees/0/platform/fixedFeeMinor",
            json!("1000000000000000001"),
            "fees[0].platform.fixedFeeMinor",
            "digits",
        ),
        (
            "/fees/0/organization/minimumFeeMinor",
            json!("501"),
            "fees[0].organization.minimumFeeMinor",
            "above the cap",
        ),
        (
            "/settings/customerTokenLifetimeSeconds",
            json!(0),
            "settings.customerTokenLifetimeSeconds",
            "integer",
        ),
        ("/settings", json!([]), "settings", "object"),
        ("/fees", json!({}), "fees", "list"),
    ] {
        check_fault(pointer, value, path, words);
    }
}

#[test]
fn unknown_fields_are_refused_wherever_they_stand() {
    for pointer in [
        "",
        "/providers/card_provider_a",
        "/providers/card_provider_a/credentials",
        "/providers/ach_provider_a/funding",
        "/routing",
        "/routing/web_card",
        "/routing/web_card/rules/0",
        "/routing/web_card/rules/0/target",
        "/routing/web_card/rules/0/conditions/0",
        "/routing/web_card/default",
        "/fees/0",
        "/fees/0/platform",
        "/settings",
    ] {
        let mut document = example();
        document.pointer_mut(pointer).unwrap()["surprise"] = json!(1);
        let found = errors(&document);
        let known: Vec<_> = found.iter().filter(|fault| fault.field.ends_with("surprise")).collect();
        assert_eq!((known.len(), found.len()), (1, 1), "{pointer}: {found:?}");
    }
}

#[test]
fn all_faults_are_listed_at_once() {
    let mut document = example();
    document["extra"] = json!(true);
    document["providers"]["card_provider_a"]["adapter"] = json!("paypal");
    document["routing"]["web_card"]["rules"][0]["conditions"][0]["op"] = json!("near");
    document["routing"]["ach"]["default"]["provider"] = json!("nobody");
    let twice = document["fees"][0].clone();
    document["fees"] = json!([twice, twice, {"provider": "card_provider_b"}]);
    let found = errors(&document);
    for path in [
        "extra",
        "providers.card_provider_a.adapter",
        "routing.web_card.rules[0].conditions[0].op",
        "routing.ach.default.provider",
        "fees[2].paymentMethod",
        "fees[2].channel",
        "fees[2].currency",
    ] {
        assert!(found.iter().any(|fault| fault.field == path), "{path} is not in {found:?}");
    }
}

#[test]
fn two_of_one_id_or_one_fee_key_are_refused() {
    let mut document = example();
    let rule = document["routing"]["web_card"]["rules"][0].clone();
    document["routing"]["web_card"]["rules"] = json!([rule, rule]);
    let condition = rule["conditions"][0].clone();
    document["routing"]["web_card"]["rules"][0]["conditions"] = json!([condition, condition]);
    let fee = document["fees"][0].clone();
    document["fees"] = json!([fee, fee]);
    let paths: Vec<_> = errors(&document).into_iter().map(|fault| fault.field).collect();
    assert_eq!(
        paths,
        ["routing.web_card.rules[0].conditions[1].id", "routing.web_card.rules[1].id", "fees[1]"]
    );
}

#[test]
fn what_is_shown_can_be_sent_back_and_keeps_the_secrets() {
    let first = read(&example());
    let shown = first.to_public();
    let text = shown.to_string();
    for secret in [STRIPE_SECRET, "whsec_short", "an-access-token-of-some-length"] {
        assert!(!text.contains(secret), "{secret} is shown");
    }
    assert_eq!(shown["providers"]["card_provider_a"]["credentials"]["secretKey"], "********1234");
    assert_eq!(shown["providers"]["card_provider_a"]["credentials"]["publishableKey"], "pk_x");
    let second = Configuration::read(&shown, &first).unwrap();
    assert_eq!(second.providers, first.providers);
    assert_eq!(second.to_public(), shown);
}

#[test]
fn a_mask_keeps_only_the_secret_it_stands_for() {
    let current = read(&example());
    let shown = current.to_public();
    // Another environment has nothing to keep.
    let elsewhere = Configuration::read(&shown, &Configuration::default()).unwrap_err();
    assert_eq!(elsewhere.count(), 3);
    // Nor does another provider, another adapter, or a mask of another secret.
    for (pointer, value) in [
        ("/providers/card_provider_a/credentials/secretKey", json!("********9999")),
        ("/providers/card_provider_b/credentials/accessToken", json!("********1234")),
    ] {
        let mut document = shown.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        assert_eq!(Configuration::read(&document, &current).unwrap_err().count(), 1, "{pointer}");
    }
    let mut renamed = shown.clone();
    let provider = renamed["providers"]["card_provider_a"].clone();
    renamed["providers"]["renamed"] = provider;
    assert_eq!(Configuration::read(&renamed, &current).unwrap_err().count(), 2);
}

#[test]
fn the_stored_form_holds_no_secret_and_opens_in_its_environment_only() {
    let configuration = read(&example());
    let stored = configuration.to_stored(environment(1), &sealer()).unwrap();
    for secret in [STRIPE_SECRET, "whsec_short", "an-access-token-of-some-length"] {
        assert!(!stored.contains(secret));
    }
    for unset in [":null", "strictFields"] {
        assert!(!stored.contains(unset), "an earlier version may not know {unset}: {stored}");
    }
    let opened =
        Configuration::from_stored(&stored, environment(1), &sealer(), &built_in_fee_rules()).unwrap();
    assert_eq!(opened.providers, configuration.providers);
    assert_eq!(opened.to_public(), configuration.to_public());
    assert!(Configuration::from_stored(&stored, environment(2), &sealer(), &built_in_fee_rules()).is_err());
    // A sealed secret moved to another place of the same document does not open either.
    let mut moved: Value = serde_json::from_str(&stored).unwrap();
    let sealed = moved["providers"]["card_provider_a"]["credentials"]["secretKey"].clone();
    moved["providers"]["card_provider_b"]["credentials"]["accessToken"] = sealed;
    assert!(
        Configuration::from_stored(&moved.to_string(), environment(1), &sealer(), &built_in_fee_rules())
            .is_err()
    );
}

#[test]
fn nothing_of_a_configuration_prints_a_secret() {
    let printed = format!("{:#?}", read(&example()));
    for secret in [STRIPE_SECRET, "whsec_short", "an-access-token-of-some-length"] {
        assert!(!printed.contains(secret));
    }
}

#[test]
fn an_operators_sealed_form_is_not_taken_for_a_secret() {
    check_fault(
        "/providers/card_provider_a/credentials/secretKey",
        json!({"sealed": "v1.x.y"}),
        "providers.card_provider_a.credentials.secretKey",
        "string",
    );
}

#[test]
fn options_are_those_the_adapter_knows() {
    let options = json!({"paymentMethods": ["card", "oxxo", "sepa_debit"], "receiptEmail": true,
        "statementDescriptorSuffix": "TICKETS 24", "apiVersion": "2025-09-30.clover", "account": "acct_1AbC"});
    let mut document = example();
    document["providers"]["card_provider_a"]["options"] = options.clone();
    document["providers"]["card_provider_b"]["options"] = json!({"apiVersion": "2025-08-20"});
    document["providers"]["ach_provider_a"]["options"] = json!({});
    let configuration = read(&document);
    let provider = configuration.providers.get("card_provider_a").unwrap();
    let methods: Vec<_> = provider.options.payment_methods.iter().map(|method| method.name).collect();
    assert_eq!(methods, ["card", "oxxo", "sepa_debit"]);
    assert!(provider.options.may_take_days() && provider.options.receipt_email);
    assert_eq!(provider.account_id(), Some("acct_1AbC"), "it is part of what identifies the account");
    let shown = configuration.to_public();
    assert_eq!(shown["providers"]["card_provider_a"]["options"], options);
    assert_eq!(shown["providers"]["card_provider_b"]["options"], json!({"apiVersion": "2025-08-20"}));
    assert_eq!(shown["providers"]["ach_provider_a"].get("options"), None);
    let stored = configuration.to_stored(environment(1), &sealer()).unwrap();
    let back = Configuration::from_stored(&stored, environment(1), &sealer(), &built_in_fee_rules()).unwrap();
    assert_eq!(back.providers, configuration.providers);

    // What is not said, and what is said as it is anyway, is the same document.
    document = example();
    document["providers"]["card_provider_a"]["options"] = json!({"paymentMethods": ["card"], "receiptEmail": false,
        "statementDescriptorSuffix": null, "apiVersion": null, "account": null});
    assert_eq!(read(&document).to_public(), read(&example()).to_public());
    assert!(!read(&example()).providers.get("card_provider_a").unwrap().options.may_take_days());
}

#[test]
fn a_stored_api_version_that_is_no_longer_permitted_is_left_out_with_a_warning() {
    let mut document = example();
    document["providers"]["card_provider_a"]["options"] =
        json!({"receiptEmail": true, "apiVersion": "2025-09-30.clover"});
    let stored = read(&document).to_stored(environment(1), &sealer()).unwrap();
    let of_an_earlier_release = stored.replace("2025-09-30.clover", "2024-06-20");
    assert_ne!(stored, of_an_earlier_release);
    let configuration =
        Configuration::from_stored(&of_an_earlier_release, environment(1), &sealer(), &built_in_fee_rules())
            .unwrap();
    let options = &configuration.providers.get("card_provider_a").unwrap().options;
    assert_eq!((options.receipt_email, &options.api_version), (true, &None), "the adapter's own version");
    assert_eq!(
        configuration.to_public()["providers"]["card_provider_a"]["options"],
        json!({"receiptEmail": true})
    );
    let name = EnvironmentName::parse("test").unwrap();
    let path = "providers.card_provider_a.options.apiVersion";
    let warned = |configuration: &Configuration| {
        let warnings = configuration.warnings(&name, jiff::civil::date(2026, 11, 18));
        warnings.into_iter().find(|warning| warning.path == path).map(|warning| warning.message)
    };
    let message = warned(&configuration).unwrap();
    assert!(message.contains("2024-06-20") && message.contains("2026-10-28.endive"), "{message}");
    assert_eq!(warned(&read(&document)), None);
    // What is applied anew has to be permitted.
    document["providers"]["card_provider_a"]["options"]["apiVersion"] = json!("2024-06-20");
    let refused = errors(&document);
    assert_eq!(refused[0].field, path);
    assert!(refused[0].message.contains("2025-03-31.basil, "), "{}", refused[0].message);
}

#[test]
fn metadata_that_goes_to_providers_is_named_once_for_all() {
    let keys = json!(["orderId", "cost center", "größe"]);
    let mut document = example();
    document["settings"]["forwardMetadata"] = keys.clone();
    let configuration = read(&document);
    for provider in configuration.providers.iter() {
        assert_eq!(json!(provider.options.forward_metadata), keys, "{}", provider.name);
    }
    assert_eq!(configuration.to_public()["settings"]["forwardMetadata"], keys);
    let stored = configuration.to_stored(environment(1), &sealer()).unwrap();
    let back = Configuration::from_stored(&stored, environment(1), &sealer(), &built_in_fee_rules()).unwrap();
    assert_eq!(back.providers, configuration.providers);
    for (keys, place, words) in [
        (json!("orderId"), "", "must be a list"),
        (json!(["a", ""]), "[1]", "must not be empty"),
        (json!(["x".repeat(41)]), "[0]", "at most 40"),
        (json!(["a", "a"]), "[1]", "twice"),
        (json!(["tollgate_reference"]), "[0]", "kept for this service"),
        (json!(["Tollgate_x"]), "[0]", "kept for this service"),
        (json!(["a[b]"]), "[0]", "brackets"),
        (json!((0..41).map(|number| format!("key{number}")).collect::<Vec<_>>()), "", "at most 40"),
    ] {
        let mut document = example();
        document["settings"]["forwardMetadata"] = keys;
        let found = errors(&document);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].field, format!("settings.forwardMetadata{place}"));
        assert!(found[0].message.contains(words), "{}", found[0].message);
    }
}

#[test]
fn faulty_options_are_named() {
    let path = "providers.card_provider_a.options";
    for (options, field, words) in [
        (json!({"recieptEmail": true}), "recieptEmail", "not a known field"),
        (json!({"receiptEmail": "yes"}), "receiptEmail", "true or false"),
        (json!({"paymentMethods": []}), "paymentMethods", "at least one"),
        (json!({"paymentMethods": ["card", "cheque"]}), "paymentMethods[1]", "us_bank_account"),
        (json!({"paymentMethods": ["card", "card"]}), "paymentMethods[1]", "twice"),
        (json!({"statementDescriptorSuffix": "12345"}), "statementDescriptorSuffix", "one letter"),
        (json!({"statementDescriptorSuffix": "IT'S"}), "statementDescriptorSuffix", "without"),
        (json!({"apiVersion": "latest"}), "apiVersion", "2026-10-28.endive"),
        (json!({"apiVersion": "2024-06-20"}), "apiVersion", "2025-03-31.basil"),
        (json!({"apiVersion": "2026-10-29.endive"}), "apiVersion", "2026-10-28.endive"),
        (json!({"apiVersion": "2026-10-28.preview"}), "apiVersion", "2026-10-28.endive"),
        (json!({"account": "ca_1"}), "account", "acct_"),
    ] {
        let mut document = example();
        document["providers"]["card_provider_a"]["options"] = options;
        let found = errors(&document);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].field, format!("{path}.{field}"));
        assert!(found[0].message.contains(words), "{}", found[0].message);
    }
    for (provider, options, field) in [
        ("card_provider_b", json!({"receiptEmail": true}), "receiptEmail"),
        ("card_provider_b", json!({"apiVersion": "2026-09-16.x"}), "apiVersion"),
        ("ach_provider_a", json!({"apiVersion": "2026-09-16"}), "apiVersion"),
    ] {
        let mut document = example();
        document["providers"][provider]["options"] = options;
        let found = errors(&document);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].field, format!("providers.{provider}.options.{field}"));
    }
}

/// A key that is not hexadecimal verifies nothing: it is refused when it is sent, and the rest of its provider still works where
/// one was stored before that.
#[test]
fn a_key_in_hexadecimal_is_checked_when_it_is_sent() {
    let with = |name: &str, key: &str| {
        let mut document = example();
        document["providers"]["card_provider_c"] =
            json!({ "adapter": "adyen", "credentials": { name: key }, "merchantAccount": "Shop" });
        document
    };
    for name in ["hmacKey", "hmacKeyPrevious"] {
        for wrong in ["not hexadecimal", "whsec_00", "ABC"] {
            let found = errors(&with(name, wrong));
            let path = format!("providers.card_provider_c.credentials.{name}");
            assert_eq!((found.len(), &found[0].field), (1, &path), "{wrong}: {found:?}");
            assert!(found[0].message.starts_with("must be hexadecimal"), "{found:?}");
        }
        let first = read(&with(name, &"aB09".repeat(16)));
        assert_eq!(Configuration::read(&first.to_public(), &first).unwrap().providers, first.providers);
        let stored = first.to_stored(environment(1), &sealer()).unwrap();
        let opened = Configuration::from_stored(&stored, environment(1), &sealer(), &built_in_fee_rules());
        assert_eq!(opened.unwrap().providers, first.providers);
    }
}
