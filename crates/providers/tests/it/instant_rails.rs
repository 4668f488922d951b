//! Which instant network reaches a bank, and payments by the second of them.

use serde_json::json;
use tollgate_domain::Channel;
use tollgate_domain::ach::{AchProviderStatus, TransferRail};
use tollgate_engine::ports::CallError;
use tollgate_vault::Secret;

use crate::increase_support::{self, NO_BANK, ROUTING, SLOW_BANK, World, bank_at, order};
use crate::modern_treasury_support;
use crate::support::{hasty, provider};

/// Only FedNow reaches it.
const FEDNOW_BANK: &str = "790000077";

async fn start() -> World {
    let mut world = increase_support::start(hasty()).await;
    world.provider = provider(&json!({
        "adapter": "increase",
        "baseUrl": world.provider.address(),
        "credentials": { "apiKey": "increase_simulator_key", "webhookSecret": "increase_shared_secret" },
        "funding": {
            "accountId": "account_simulator", "accountNumberId": "account_number_simulator", "companyName": "Acme",
        },
    }));
    world
}

#[tokio::test]
async fn the_bank_decides_and_trouble_is_not_a_no() {
    let (rtp, fednow) = (Some(TransferRail::RealTimePayments), Some(TransferRail::FedNow));
    for (world, operation, by_fednow) in [
        (start().await, "routing_numbers.list", fednow),
        (modern_treasury_support::start(hasty()).await, "validations.routing_numbers", None),
    ] {
        for (number, expected) in
            [(ROUTING, rtp), (FEDNOW_BANK, by_fednow), (SLOW_BANK, None), (NO_BANK, None)]
        {
            let told = world.wire().instant_rail(&world.provider, &Secret::new(number)).await;
            assert_eq!(told.outcome.unwrap(), expected, "{number}");
        }
        for fault in ["error_before", "reset", "malformed"] {
            world.fault(operation, fault, 100).await;
            let told = world.wire().instant_rail(&world.provider, &Secret::new(ROUTING)).await;
            assert!(matches!(told.outcome, Err(CallError::Unknown(_))), "{fault}: {told:?}");
            world.control("DELETE", "faults", serde_json::Value::Null).await;
        }
    }
}

#[tokio::test]
async fn a_payment_by_fednow_lives_like_any_other() {
    let world = start().await;
    let mut order = order(Channel::Instant);
    order.rail = Some(TransferRail::FedNow);
    assert_eq!(world.find(&order).await.outcome.unwrap(), None);
    let send = async || world.wire().send(&world.provider, &order, &bank_at(FEDNOW_BANK)).await;
    // A lost answer is found out under the same key.
    world.fault("fednow_transfers.create", "error_after", 1).await;
    let call = send().await;
    assert_eq!(call.logs.len(), 1, "the bank was asked about before: {call:?}");
    let report = call.outcome.unwrap();
    assert_eq!(report.provider_status, AchProviderStatus::Accepted);
    assert_eq!(send().await.outcome.unwrap(), report);
    assert_eq!(world.find(&order).await.outcome.unwrap(), Some(report.clone()));
    let taken = world.taken(&order).await;
    let [row] = &taken[..] else { panic!("{taken:?}") };
    assert_eq!((&row["debtor_name"], &row["creditor_name"]), (&json!("Acme"), &json!("Zoe Nguyen-Strasse")));
    let path = |action: &str| format!("increase/fednow_transfers/{}/{action}", report.transfer);
    for (action, expected) in [("submit", AchProviderStatus::Sent), ("complete", AchProviderStatus::Settled)]
    {
        world.control("POST", &path(action), json!({})).await;
        let seen = world.read(&report.transfer).await.outcome.unwrap();
        assert_eq!(seen.provider_status, expected, "{action}");
    }
    // On the rail of an order the provider is not asked about the bank again, and may refuse.
    let mut order = increase_support::order(Channel::Instant);
    order.rail = Some(TransferRail::RealTimePayments);
    let refused = world.wire().send(&world.provider, &order, &bank_at(FEDNOW_BANK)).await;
    assert!(matches!(refused.outcome, Err(CallError::Rejected(_))), "{refused:?}");
}

#[tokio::test]
async fn a_real_time_payment_names_the_company_and_is_sent_before_it_arrives() {
    let world = start().await;
    let mut order = order(Channel::Instant);
    order.rail = Some(TransferRail::RealTimePayments);
    let report = world.wire().send(&world.provider, &order, &bank_at(ROUTING)).await.outcome.unwrap();
    assert_eq!(world.taken(&order).await[0]["debtor_name"], "Acme");
    let path = |action: &str| format!("increase/real_time_payments_transfers/{}/{action}", report.transfer);
    for (action, expected) in [("submit", AchProviderStatus::Sent), ("complete", AchProviderStatus::Settled)]
    {
        world.control("POST", &path(action), json!({})).await;
        let seen = world.read(&report.transfer).await.outcome.unwrap();
        assert_eq!(seen.provider_status, expected, "{action}");
    }
}
