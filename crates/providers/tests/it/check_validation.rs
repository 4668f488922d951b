//! The requests of the live checks and of the registration of webhooks against the providers' published documents. The
//! document of Stripe at hand is older than the API version that is asked for, and leaves out the account: there, the
//! official library's calls are compared with the simulator instead.

use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::tenant::Mode;
use tollgate_engine::ports::{Adapters as _, CheckSubject, NewWebhook};
use tollgate_vault::Secret;

use crate::increase_support::provider_at;
use crate::support::{World, square_at, start_with};
use crate::validators::{Judge, count, documents, patient, prism};

const URL: &str = "https://pay.example.test/webhooks/v1/env/provider";

/// Checks a provider that has no endpoint, and registers one twice.
async fn check_and_register(world: &World, adapter: Adapter, provider: &Provider) {
    let checks = world.providers.capabilities(adapter).checks.unwrap();
    let subject = CheckSubject { provider, webhook_url: URL, mode: Some(Mode::Test), currencies: &[] };
    let found = checks.check(subject).await.checks;
    let failed: Vec<_> = found.iter().filter(|check| !check.ok).map(|check| check.name.as_str()).collect();
    assert_eq!(failed, ["webhook_endpoint"], "{found:#?}");
    let secret = Secret::new("a secret that we choose");
    let key = "tollgate-webhook-env_01m7hfwkzqzaegywv4qk70y9tk-provider-7";
    let made = checks.register_webhook(provider, NewWebhook { url: URL, key, secret: &secret }).await;
    let made = made.unwrap().outcome.unwrap();
    assert!(made.is_new && made.secret.is_some(), "{made:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_square_check_fits_the_published_document() {
    let Some(documents) = documents() else { return };
    let strict = ["CreateWebhookSubscriptionRequest", "WebhookSubscription"];
    let validator = tokio::task::spawn_blocking(move || prism(&documents, "square", &strict)).await.unwrap();
    let world = start_with(patient()).await;
    let (judge, address) = Judge::sit(validator.origin(), format!("{}/square", world.origin)).await;
    check_and_register(&world, Adapter::Square, &square_at(&address)).await;
    let judged = judge.faultless_beside("GET /v2/disputes");
    for (pattern, times) in [
        ("GET /v2/locations", 1),
        ("GET /v2/disputes", 1),
        ("GET /v2/webhooks/subscriptions", 2),
        ("POST /v2/webhooks/subscriptions", 1),
    ] {
        assert_eq!(count(&judged, pattern), times, "{pattern} in {judged:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_increase_check_fits_the_published_document() {
    let Some(documents) = documents() else { return };
    let strict = ["create_an_event_subscription_parameters"];
    let validator =
        tokio::task::spawn_blocking(move || prism(&documents, "increase", &strict)).await.unwrap();
    let world = start_with(patient()).await;
    let (judge, address) = Judge::sit(validator.origin(), format!("{}/increase", world.origin)).await;
    check_and_register(&world, Adapter::Increase, &provider_at(&address)).await;
    let judged = judge.faultless();
    for (pattern, times) in [
        ("GET /accounts/*", 1),
        ("GET /account_numbers/*", 1),
        ("GET /event_subscriptions", 2),
        ("POST /event_subscriptions", 1),
    ] {
        assert_eq!(count(&judged, pattern), times, "{pattern} in {judged:#?}");
    }
}
