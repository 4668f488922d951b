//! The live check of Stripe: whose key, what it may do, and endpoints for connected accounts.

use serde_json::{Value, json};
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::{Flow, tenant::Mode};
use tollgate_engine::ports::{
    Adapters as _, CallError, CheckReport, CheckSubject, NewWebhook, RegisteredWebhook,
};
use tollgate_vault::Secret;

use crate::offered::Offered as _;
use crate::support::{World, order, provider, start};

const URL: &str = "https://pay.example.test/webhooks/v1/env/one";
const SHOP: &str = "acct_1SimulatedShop";
/// What payments need, all of it.
const PERMISSIONS: [&str; 7] = [
    "rak_payment_intent_write",
    "rak_checkout_session_write",
    "rak_charge_write",
    "rak_dispute_read",
    "rak_balance_read",
    "rak_webhook_write",
    "rak_accounts_kyc_basic_read",
];

fn stripe(world: &World, key: &str, options: &Value) -> Provider {
    provider(&json!({
        "adapter": "stripe",
        "baseUrl": format!("{}/stripe", world.origin),
        "credentials": { "secretKey": key, "publishableKey": "pk_test_simulator", "webhookSecret": "whsec_1" },
        "options": options,
    }))
}

async fn check(world: &World, provider: &Provider) -> CheckReport {
    let checks = world.providers.capabilities(Adapter::Stripe).checks.unwrap();
    let subject = CheckSubject { provider, webhook_url: URL, mode: Some(Mode::Test), currencies: &[] };
    checks.check(subject).await
}

async fn register(world: &World, provider: &Provider, key: &str) -> RegisteredWebhook {
    let checks = world.providers.capabilities(Adapter::Stripe).checks.unwrap();
    let new = NewWebhook { url: URL, key, secret: &Secret::new("unused") };
    checks.register_webhook(provider, new).await.unwrap().outcome.unwrap()
}

/// The names of the checks that did not pass, with what they say.
fn failed(report: &CheckReport) -> Vec<(&str, String)> {
    let failed = report.checks.iter().filter(|check| !check.ok);
    failed
        .map(|check| (check.name.as_str(), format!("{} {}", check.message, check.hint.as_deref().unwrap())))
        .collect()
}

async fn restricted(world: &World, without: &str) -> Provider {
    let permissions: Vec<_> = PERMISSIONS.into_iter().filter(|name| *name != without).collect();
    let key = "rk_test_simulator_restricted";
    world.control("POST", &format!("stripe/keys/{key}/create"), json!({ "permissions": permissions })).await;
    stripe(world, key, &json!({}))
}

#[tokio::test]
async fn a_permission_that_a_key_lacks_is_named_by_the_check() {
    let world = start().await;
    let key = restricted(&world, "").await;
    register(&world, &key, "first").await;
    let report = check(&world, &key).await;
    assert_eq!(failed(&report), []);
    assert_eq!(report.account.as_deref(), Some("acct_1Simulator"));
    for (without, name, lacking) in [
        ("rak_payment_intent_write", Some("preparation"), "rak_payment_intent_write"),
        ("rak_checkout_session_write", Some("permissions"), "rak_checkout_session_read"),
        ("rak_charge_write", Some("permissions"), "rak_charge_read"),
        ("rak_dispute_read", Some("permissions"), "rak_dispute_read"),
        // The key itself says that it is for tests.
        ("rak_balance_read", None, ""),
        ("rak_webhook_write", Some("webhook_endpoint"), "rak_webhook_read"),
        ("rak_accounts_kyc_basic_read", Some("account"), "rak_accounts_kyc_basic_read"),
    ] {
        let provider = restricted(&world, without).await;
        let report = check(&world, &provider).await;
        let failed = failed(&report);
        let names: Vec<_> = failed.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, name.into_iter().collect::<Vec<_>>(), "{without}: {failed:#?}");
        assert!(failed.iter().all(|(_, text)| text.contains(lacking)), "{failed:#?}");
        assert!(report.checks.iter().any(|check| check.name == "credentials" && check.ok));
        assert!(report.checks.iter().any(|check| check.name == "mode" && check.ok));
    }
    let nobody = stripe(&world, "rk_test_nobody", &json!({}));
    let names: Vec<_> = check(&world, &nobody).await.checks.into_iter().filter(|check| !check.ok).collect();
    assert_eq!(names[0].name, "credentials");
}

#[tokio::test]
async fn a_payment_says_which_permission_its_key_lacks() {
    let world = start().await;
    for (flow, without) in [
        (Flow::PaymentComponent, "rak_payment_intent_write"),
        (Flow::HostedCheckout, "rak_checkout_session_write"),
    ] {
        let key = restricted(&world, without).await;
        let call = world.stripe_cards().prepare(&key, &order(flow)).await;
        let Err(CallError::Rejected(rejection)) = call.outcome else { panic!("{flow:?}") };
        assert_eq!(
            (rejection.failure.code.as_str(), rejection.lacks.as_deref()),
            ("provider_permission", Some(without))
        );
        assert!(rejection.failure.message.contains(without), "{}", rejection.failure.message);
    }
}

#[tokio::test]
async fn a_connected_account_has_its_endpoint_on_the_platform() {
    let world = start().await;
    let shop = stripe(&world, "sk_test_simulator", &json!({ "account": SHOP }));
    let own = stripe(&world, "sk_test_simulator", &json!({}));
    // An endpoint for the platform's own events receives none of the shop's.
    let of_platform = register(&world, &own, "own").await;
    let report = check(&world, &shop).await;
    let found = failed(&report);
    assert_eq!(found[0].0, "webhook_scope", "{found:#?}");
    assert!(found[0].1.contains("--register-webhook"), "{found:#?}");
    let made = register(&world, &shop, "shop").await;
    assert!(made.is_new && made.secret.is_some());
    assert_ne!(made.id, of_platform.id);
    let listed = world.stripe_object("webhook_endpoints").await;
    let endpoint =
        listed["data"].as_array().unwrap().iter().find(|one| one["id"] == made.id.as_str()).unwrap();
    assert!(endpoint["application"].is_string(), "{endpoint}");
    assert!(!register(&world, &shop, "shop again").await.is_new);
    assert!(!register(&world, &own, "own again").await.is_new);

    world.control("DELETE", "webhooks", Value::Null).await;
    register(&world, &shop, "shop alone").await;
    let report = check(&world, &shop).await;
    assert_eq!(failed(&report), []);
    assert!(report.checks.iter().any(|check| check.name == "account" && check.message.contains(SHOP)));
    assert_eq!(report.account, None, "the configuration names it");
    assert_eq!(failed(&check(&world, &own).await)[0].0, "webhook_scope");
}
