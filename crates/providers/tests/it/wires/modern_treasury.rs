//! Every flow of the Modern Treasury adapter, and every route of its simulator.

use serde_json::json;
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::ach::BankAccountType;
use tollgate_domain::tenant::Mode;
use tollgate_engine::ports::{Adapters as _, CheckSubject};
use tollgate_simulator::Wire;
use tollgate_vault::Secret;

use super::increase::every_recipient;
use super::recording::{Recorded, Recording};
use super::{assert_faultless, planted};
use crate::increase_support::{CHANNELS, NO_BANK, bank, bank_at, order, order_over};
use crate::modern_treasury_support::{API_KEY, WEBHOOK_KEY, provider_at};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_exchange_fits() {
    assert_faultless(Adapter::ModernTreasury, record().await, &planted::MODERN_TREASURY).await;
}

async fn record() -> Recording {
    let pair = data_encoding::BASE64.encode(format!("organization_simulator:{API_KEY}").as_bytes());
    let basic = format!("Basic {pair}");
    let recorded = Recorded::start(Adapter::ModernTreasury, Wire::ModernTreasury, &basic, WEBHOOK_KEY).await;
    let mut provider = provider_at(&format!("{}/modern_treasury", recorded.world.origin));
    provider.options.forward_metadata = ["invoiceId", "seats"].map(str::to_owned).into();
    send(&recorded, &provider).await;
    ends(&recorded, &provider).await;
    let checks = recorded.world.providers.capabilities(Adapter::ModernTreasury).checks.unwrap();
    let url = "https://pay.example.test/webhooks/v1/env/ach_provider_b";
    let subject =
        CheckSubject { provider: &provider, webhook_url: url, mode: Some(Mode::Test), currencies: &[] };
    checks.check(subject).await;
    recorded.finish(&["completed", "returned", "reversed", "failed", "cancelled"]).await
}

/// The least and the most that can be in an order, on every channel.
async fn send(recorded: &Recorded, provider: &Provider) {
    let bank_transfers = recorded.world.providers.capabilities(Adapter::ModernTreasury).transfers.unwrap();
    for channel in CHANNELS {
        let mut bare = order_over(channel, 1);
        (bare.description, bare.remittance) = (None, None);
        bare.account_type = BankAccountType::Checking;
        let mut most = order_over(channel, 1_000_000_000);
        most.description = Some("ß§ é".repeat(300));
        most.remittance = Some(json!("Invoice № 7".repeat(50)).to_string());
        most.statement_descriptor = Some("PAYOUT".to_owned());
        for order in [order(channel), bare, most] {
            let made = bank_transfers.send(provider, &order, &bank()).await.outcome.unwrap();
            bank_transfers.find(provider, &order).await.outcome.unwrap().unwrap();
            bank_transfers.read(provider, &made.transfer).await.outcome.unwrap();
        }
        bank_transfers.send(provider, &order(channel), &bank_at(NO_BANK)).await.outcome.unwrap_err();
    }
    for mut order in every_recipient() {
        r#"{"invoiceId":"A & 7","seats":2,"note":"for us alone"}"#.clone_into(&mut order.metadata);
        bank_transfers.send(provider, &order, &bank()).await.outcome.unwrap();
    }
    bank_transfers.instant_capability(provider).await.outcome.unwrap();
    bank_transfers.instant_rail(provider, &Secret::new("110000000")).await.outcome.unwrap();
    bank_transfers.can_access_account(provider).await.outcome.unwrap();
}

/// Every way in which an order can end.
async fn ends(recorded: &Recorded, provider: &Provider) {
    let bank_transfers = recorded.world.providers.capabilities(Adapter::ModernTreasury).transfers.unwrap();
    for steps in [
        &["send", "acknowledge", "complete", "correct"][..],
        &["send", "return"],
        &["complete", "return"],
        &["complete", "unreconcile", "complete"],
        &["fail"],
        &["require_approval", "release", "complete"],
        &["require_approval", "deny"],
        &["hold", "cancel"],
        &["complete", "reverse", "complete_reversal"],
        &["complete", "reverse", "return_reversal"],
        &["require_approval", "withdraw"],
    ] {
        let order = order(CHANNELS[0]);
        let id = bank_transfers.send(provider, &order, &bank()).await.outcome.unwrap().transfer;
        for step in steps {
            match *step {
                "withdraw" => drop(bank_transfers.cancel(provider, &id).await.outcome.unwrap()),
                "reverse" => {
                    let path = format!("/api/payment_orders/{id}/reversals");
                    recorded.done("POST", &path, r#"{"reason":"duplicate"}"#).await;
                    recorded.done("GET", &path, "").await;
                }
                step => drop(recorded.drive(&format!("payment_orders/{id}/{step}"), json!({})).await),
            }
            bank_transfers.read(provider, &id).await.outcome.unwrap();
        }
    }
    let returns = recorded.done("GET", "/api/returns", "").await;
    recorded.done("GET", &format!("/api/returns/{}", returns[0]["id"].as_str().unwrap()), "").await;
    assert_eq!(recorded.call("GET", "/api/payment_orders/unknown", "").await.status, 404);
}
