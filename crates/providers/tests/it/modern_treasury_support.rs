//! A provider that leads to the simulated Modern Treasury. Orders and bank accounts are those of `increase_support`.

use serde_json::{Value, json};
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::ach::{AchProviderReport, AchProviderStatus};
use tollgate_providers::ProviderSettings;

use crate::increase_support::{World, start_with};
use crate::support::provider;

pub(crate) const API_KEY: &str = "modern_treasury_simulator_key";
pub(crate) const WEBHOOK_KEY: &str = "mt_test_webhook_key";
pub(crate) const ACCOUNT_ID: &str = "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a01";

pub(crate) fn entry(base_url: &str) -> Value {
    json!({
        "adapter": "modern_treasury",
        "baseUrl": base_url,
        "credentials": {
            "organizationId": "organization_simulator", "apiKey": API_KEY, "webhookKey": WEBHOOK_KEY,
        },
        "funding": { "originatingAccountId": ACCOUNT_ID, "companyName": "Acme" },
    })
}

pub(crate) fn provider_at(base_url: &str) -> Provider {
    provider(&entry(base_url))
}

pub(crate) async fn start(settings: ProviderSettings) -> World {
    start_with(settings, Adapter::ModernTreasury, provider_at).await
}

/// Has the bank, a receiving bank or somebody at the dashboard do something to an order.
pub(crate) async fn drive(world: &World, order: &AchProviderReport, action: &str, body: Value) -> Value {
    world.control("POST", &format!("modern_treasury/payment_orders/{}/{action}", order.transfer), body).await
}

pub(crate) async fn status(world: &World, order: &AchProviderReport) -> AchProviderStatus {
    world.read(&order.transfer).await.outcome.unwrap().provider_status
}
