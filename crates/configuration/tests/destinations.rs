//! Secrets stay with the address they were given for.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::{Value, json};
use tollgate_configuration::Configuration;

fn example() -> Value {
    json!({"providers": {
        "card_provider_a": {"adapter": "stripe", "credentials":
            {"secretKey": "sk_test_a_long_enough_secret_1234", "publishableKey": "pk_x", "webhookSecret": "whsec_short"}},
        "card_provider_b": {"adapter": "square", "credentials":
            {"accessToken": "an-access-token-of-some-length", "applicationId": "sq0idp-x", "locationId": "loc"}},
    }})
}

fn read(document: &Value) -> Configuration {
    Configuration::read(document, &Configuration::default()).unwrap()
}

/// The attack: read the document, point the provider elsewhere, and have the next payment send the secret there.
#[test]
fn a_mask_does_not_follow_its_provider_to_another_address() {
    let current = read(&example());
    let shown = current.to_public();
    for (place, value, secrets) in [
        ("/providers/card_provider_a/baseUrl", json!("https://collector.example"), 2),
        ("/providers/card_provider_a/environment", json!("sandbox"), 2),
        ("/providers/card_provider_b/baseUrl", json!("https://connect.squareup.com.example"), 1),
        ("/providers/card_provider_b/environment", json!("sandbox"), 1),
        // A sandbox's application is called at the sandbox's address.
        ("/providers/card_provider_b/credentials/applicationId", json!("sandbox-sq0idb-x"), 1),
    ] {
        let mut moved = shown.clone();
        let (parent, field) = place.rsplit_once('/').unwrap();
        moved.pointer_mut(parent).unwrap()[field] = value;
        let errors = Configuration::read(&moved, &current).unwrap_err();
        assert_eq!(errors.count(), secrets, "{place}: {errors:?}");
        assert!(errors.iter().all(|error| error.message.contains("send the secret itself")), "{errors:?}");
        // Whoever has the secret may send it.
        let plain = [
            ("/providers/card_provider_a/credentials/secretKey", "sk_test_given_again_1234"),
            ("/providers/card_provider_a/credentials/webhookSecret", "whsec_given_again"),
            ("/providers/card_provider_b/credentials/accessToken", "an-access-token-given-again"),
        ];
        for (secret, text) in plain {
            *moved.pointer_mut(secret).unwrap() = json!(text);
        }
        Configuration::read(&moved, &current).unwrap();
    }
}

#[test]
fn a_restored_version_takes_no_secret_to_its_old_address() {
    let current = read(&example());
    let mut planted = example();
    planted["providers"]["card_provider_a"]["baseUrl"] = json!("https://collector.example");
    let planted = read(&planted);
    let errors = planted.providers.with_secrets_of(&current.providers).unwrap_err();
    assert_eq!(errors.iter().next().unwrap().field, "providers.card_provider_a");
    current.providers.clone().with_secrets_of(&current.providers).unwrap();
}

#[test]
fn only_a_providers_own_hosts_are_its_own() {
    for (base_url, is_own) in [
        ("https://api.stripe.com", true),
        ("https://api.stripe.com:443/", true),
        ("https://API.Stripe.com", true),
        ("https://api.stripe.com.collector.example", false),
        ("https://api.stripe.com:8443", false),
        ("https://connect.squareup.com", false),
        ("https://collector.example/api.stripe.com", false),
        ("http://127.0.0.1:4010/stripe", false),
    ] {
        let mut document = example();
        document["providers"]["card_provider_a"]["baseUrl"] = json!(base_url);
        let providers = read(&document).providers;
        assert_eq!(providers.get("card_provider_a").unwrap().is_at_own_host(), is_own, "{base_url}");
        assert_eq!(providers.check_hosts().is_ok(), is_own, "{base_url}");
    }
}
