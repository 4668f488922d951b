//! Every flow of the Increase adapter, and every route of its simulator.

use serde_json::json;
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::Channel;
use tollgate_domain::ach::{BankAccountType, RecipientKind, TransferOrder, TransferPurpose, TransferRail};
use tollgate_domain::tenant::Mode;
use tollgate_engine::ports::{Adapters as _, CheckSubject, NewWebhook};
use tollgate_simulator::Wire;
use tollgate_vault::Secret;

use super::recording::{Recorded, Recording};
use super::{assert_faultless, planted};
use crate::increase_support::{API_KEY, CHANNELS, NO_BANK, SECRET, bank, bank_at, entry, order, order_over};
use crate::support::provider;

const URL: &str = "https://pay.example.test/webhooks/v1/env/ach_provider_a";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_exchange_fits() {
    assert_faultless(Adapter::Increase, record().await, &planted::INCREASE).await;
}

async fn record() -> Recording {
    let recorded =
        Recorded::start(Adapter::Increase, Wire::Increase, &format!("Bearer {API_KEY}"), SECRET).await;
    let mut entry = entry(&format!("{}/increase", recorded.world.origin));
    entry["funding"]["companyName"] = json!("Acme");
    let provider = provider(&entry);
    send(&recorded, &provider).await;
    recipients(&recorded, &provider).await;
    cancel(&recorded, &provider).await;
    wait(&recorded, &provider).await;
    check(&recorded, &provider).await;
    other_routes(&recorded).await;
    recorded.finish(&[]).await
}

/// People and companies, wages and bills, on every channel.
pub(super) fn every_recipient() -> impl Iterator<Item = TransferOrder> {
    let purposes = [None].into_iter().chain(TransferPurpose::ALL.map(Some));
    let terms = RecipientKind::ALL
        .into_iter()
        .flat_map(move |kind| purposes.clone().map(move |purpose| (kind, purpose)));
    terms.flat_map(|(recipient_kind, purpose)| {
        CHANNELS.map(|channel| TransferOrder {
            recipient_kind,
            purpose,
            statement_descriptor: Some("ACME FEES".to_owned()),
            ..order(channel)
        })
    })
}

/// The least and the most that can be in an order, on every rail.
async fn send(recorded: &Recorded, provider: &Provider) {
    let bank_transfers = recorded.world.providers.capabilities(Adapter::Increase).transfers.unwrap();
    let rails = [None, Some(TransferRail::RealTimePayments), Some(TransferRail::FedNow)];
    for (channel, rail) in CHANNELS.into_iter().flat_map(|channel| rails.map(|rail| (channel, rail))) {
        if rail.is_some() && channel != Channel::Instant {
            continue;
        }
        let mut bare = order_over(channel, 1);
        (bare.description, bare.remittance) = (None, None);
        bare.external_customer_id = String::new();
        bare.account_type = BankAccountType::Checking;
        let mut most = order_over(channel, 1_000_000_000);
        most.description = Some("ß§ é".repeat(300));
        most.remittance = Some(json!("Invoice № 7".repeat(50)).to_string());
        most.statement_descriptor = Some("PAYOUT".to_owned());
        for mut order in [order(channel), bare, most] {
            order.rail = rail;
            let made = bank_transfers.send(provider, &order, &bank()).await.outcome.unwrap();
            bank_transfers.find(provider, &order).await.outcome.unwrap().unwrap();
            bank_transfers.read(provider, &made.transfer).await.outcome.unwrap();
        }
        bank_transfers.send(provider, &order(channel), &bank_at(NO_BANK)).await.outcome.unwrap_err();
    }
    bank_transfers.instant_rail(provider, &Secret::new("110000000")).await.outcome.unwrap();
    bank_transfers.funds(provider).await.unwrap().outcome.unwrap();
    bank_transfers.can_access_account(provider).await.outcome.unwrap();
    recorded.drive("accounts/account_simulator/set_balance", json!({ "balance": 1 })).await;
    bank_transfers.send(provider, &order(Channel::StandardAch), &bank()).await.outcome.unwrap_err();
    recorded
        .drive("accounts/account_simulator/set_balance", json!({ "balance": 1_000_000_000_000_i64 }))
        .await;
}

async fn cancel(recorded: &Recorded, provider: &Provider) {
    let bank_transfers = recorded.world.providers.capabilities(Adapter::Increase).transfers.unwrap();
    for (channel, rail, kind) in [
        (Channel::StandardAch, None, "ach_transfers"),
        (Channel::Instant, Some(TransferRail::RealTimePayments), "real_time_payments_transfers"),
        (Channel::Instant, Some(TransferRail::FedNow), "fednow_transfers"),
    ] {
        for end in ["cancel", "approve", "reject"] {
            let mut order = order(channel);
            order.rail = rail;
            let id = bank_transfers.send(provider, &order, &bank()).await.outcome.unwrap().transfer;
            recorded.drive(&format!("{kind}/{id}/require_approval"), json!({})).await;
            bank_transfers.read(provider, &id).await.outcome.unwrap();
            match end {
                "cancel" => drop(bank_transfers.cancel(provider, &id).await.outcome.unwrap()),
                "approve" => drop(recorded.done("POST", &format!("/{kind}/{id}/approve"), "").await),
                _ => drop(recorded.drive(&format!("{kind}/{id}/reject"), json!({})).await),
            }
            bank_transfers.read(provider, &id).await.outcome.unwrap();
            // What is sent already is refused.
            bank_transfers.cancel(provider, &id).await.outcome.unwrap();
        }
    }
}

/// People and companies, wages and bills, on every rail.
async fn recipients(recorded: &Recorded, provider: &Provider) {
    let bank_transfers = recorded.world.providers.capabilities(Adapter::Increase).transfers.unwrap();
    for order in every_recipient() {
        bank_transfers.send(provider, &order, &bank()).await.outcome.unwrap();
    }
}

/// Transfers that wait for somebody, and those whose receiving bank takes its time or says no.
async fn wait(recorded: &Recorded, provider: &Provider) {
    let bank_transfers = recorded.world.providers.capabilities(Adapter::Increase).transfers.unwrap();
    let (ach, rtp, fednow) = (
        ("ach_transfers", Channel::StandardAch, None),
        ("real_time_payments_transfers", Channel::Instant, Some(TransferRail::RealTimePayments)),
        ("fednow_transfers", Channel::Instant, Some(TransferRail::FedNow)),
    );
    for ((kind, channel, rail), steps) in [
        (ach, &["review", "release"][..]),
        (ach, &["require_attention", "release"]),
        (ach, &["require_confirmation", "release"]),
        (rtp, &["review", "release"]),
        (rtp, &["require_attention", "release"]),
        (rtp, &["submit", "complete"]),
        (rtp, &["submit", "refuse"]),
        (fednow, &["review", "release"]),
        (fednow, &["require_attention", "release"]),
        (fednow, &["submit", "complete"]),
        (fednow, &["submit", "refuse"]),
    ] {
        let mut order = order(channel);
        order.rail = rail;
        let id = bank_transfers.send(provider, &order, &bank()).await.outcome.unwrap().transfer;
        for step in steps {
            let (step, body) = match *step {
                "refuse" => ("complete", json!({ "reject_reason_code": "account_closed" })),
                step => (step, json!({})),
            };
            recorded.drive(&format!("{kind}/{id}/{step}"), body).await;
            bank_transfers.read(provider, &id).await.outcome.unwrap();
        }
    }
}

async fn check(recorded: &Recorded, provider: &Provider) {
    let checks = recorded.world.providers.capabilities(Adapter::Increase).checks.unwrap();
    let subject = CheckSubject { provider, webhook_url: URL, mode: Some(Mode::Test), currencies: &[] };
    checks.check(subject).await;
    let secret = Secret::new("a secret that we choose");
    let made = checks.register_webhook(provider, NewWebhook { url: URL, key: "key", secret: &secret }).await;
    let path = format!("/event_subscriptions/{}", made.unwrap().outcome.unwrap().id);
    recorded.done("GET", &path, "").await;
    recorded.done("PATCH", &path, r#"{"status":"disabled"}"#).await;
}

/// The networks and receiving banks, as the provider's sandbox plays them.
async fn other_routes(recorded: &Recorded) {
    let create = json!({
        "account_id": "account_simulator", "amount": 100, "statement_descriptor": "x", "account_number": "1234",
        "routing_number": "110000000",
    });
    for steps in
        [&["submit", "acknowledge", "settle", "create_notification_of_change", "return"][..], &["settle"]]
    {
        let made = recorded.done("POST", "/ach_transfers", &create.to_string()).await;
        for step in steps {
            let path = format!("/simulations/ach_transfers/{}/{step}", made["id"].as_str().unwrap());
            let body = match *step {
                "create_notification_of_change" => r#"{"corrected_account_number":"4321"}"#,
                "return" => r#"{"reason":"no_account"}"#,
                _ => "",
            };
            recorded.done("POST", &path, body).await;
            recorded.done("GET", &format!("/ach_transfers/{}", made["id"].as_str().unwrap()), "").await;
        }
    }
    let create = json!({
        "account_number": "1234", "routing_number": "110000000", "amount": 100, "creditor_name": "Ada",
        "source_account_number_id": "account_number_simulator", "unstructured_remittance_information": "x",
    });
    for body in ["{}", r#"{"rejection":{"reject_reason_code":"account_closed"}}"#] {
        let made = recorded.done("POST", "/real_time_payments_transfers", &create.to_string()).await;
        let path =
            format!("/simulations/real_time_payments_transfers/{}/complete", made["id"].as_str().unwrap());
        recorded.done("POST", &path, body).await;
    }
    let events = recorded.done("GET", "/events?limit=100", "").await;
    recorded.done("GET", &format!("/events/{}", events["data"][0]["id"].as_str().unwrap()), "").await;
}
