//! Every request of the Modern Treasury adapter against the provider's published OpenAPI document, as `validators` has it
//! for the card adapters. The document at hand leaves out the list of an order's reversals.

use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_domain::ach::BankAccountType;
use tollgate_domain::tenant::Mode;
use tollgate_engine::ports::{Adapters as _, CheckSubject};

use crate::increase_support::{CHANNELS, bank, order, order_over};
use crate::modern_treasury_support::{API_KEY, drive, provider_at, start};
use crate::support::send;
use crate::validators::{Judge, count, documents, patient, prism};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_modern_treasury_request_fits_the_published_document() {
    let Some(documents) = documents() else { return };
    let strict = ["payment_order_create_request"];
    let validator =
        tokio::task::spawn_blocking(move || prism(&documents, "modern_treasury", &strict)).await.unwrap();
    let world = start(patient()).await;
    let (judge, address) = Judge::sit(validator.origin(), world.provider.address().to_owned()).await;
    let (wire, provider) = (world.wire(), provider_at(&address));

    // The least and the most that can be in an order, on every channel.
    for channel in CHANNELS {
        let mut bare = order_over(channel, 1);
        (bare.description, bare.remittance) = (None, None);
        bare.account_type = BankAccountType::Checking;
        let mut full = order_over(channel, 9_999_999_999);
        full.description = Some("ß§ é".repeat(300));
        full.remittance = Some(json!("Ünvoice № 7, \u{7f}\u{1}".repeat(50)).to_string());
        full.account_name = "Łucía O’Ñame-".repeat(30);
        for order in [order(channel), bare, full] {
            let made = wire.send(&provider, &order, &bank()).await.outcome.unwrap();
            assert_eq!(wire.find(&provider, &order).await.outcome.unwrap().as_ref(), Some(&made));
            drive(&world, &made, "complete", json!({})).await;
            wire.read(&provider, &made.transfer).await.outcome.unwrap();
        }
    }
    let checks = world.providers.capabilities(Adapter::ModernTreasury).checks.unwrap();
    let subject = CheckSubject {
        provider: &provider,
        webhook_url: "https://x.test/",
        mode: Some(Mode::Test),
        currencies: &[],
    };
    assert!(checks.check(subject).await.checks.iter().all(|check| check.ok));

    let judged = judge.faultless();
    for (pattern, times) in [
        ("POST /api/payment_orders", 9),
        ("GET /api/payment_orders", 9),
        ("GET /api/payment_orders/*", 9),
        ("GET /api/returns", 9),
        ("GET /api/validations/routing_numbers", 3),
        ("GET /api/ping", 1),
        ("GET /api/internal_accounts/*", 1),
    ] {
        assert_eq!(count(&judged, pattern), times, "{pattern} in {judged:#?}");
    }

    // The validator can say no.
    let pair = data_encoding::BASE64.encode(format!("organization_simulator:{API_KEY}").as_bytes());
    let basic = format!("Basic {pair}");
    let headers = [("authorization", basic.as_str()), ("content-type", "application/json")];
    let good = json!({
        "type": "ach", "amount": 1, "direction": "credit",
        "originating_account_id": "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a01",
    });
    let with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    for (body, status) in [
        (good.clone(), 201),
        (with("type", json!("pigeon")), 422),
        (with("amount", json!("1")), 422),
        (with("direction", json!("out")), 422),
        (with("originating_account_id", json!("account_1")), 422),
        (with("priority", json!("now")), 422),
        (with("reference", json!("misspelt")), 422),
    ] {
        let url = format!("{}/api/payment_orders", validator.origin());
        let reply = send("POST", &url, &headers, body.to_string()).await.unwrap();
        assert_eq!(reply.status, status, "{body}: {}", reply.text);
    }
}
