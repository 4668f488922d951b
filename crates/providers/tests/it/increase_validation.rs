//! Every request of the Increase adapter against the provider's published OpenAPI document, as `validators` has it for
//! the card adapters.

use serde_json::{Value, json};
use tollgate_domain::Channel;
use tollgate_domain::ach::BankAccountType;
use tollgate_engine::ports::RejectionKind;

use crate::increase_support::{
    API_KEY, CHANNELS, NO_BANK, bank, bank_at, order, order_over, provider_at, start,
};
use crate::support::{refused, send};
use crate::validators::{Judge, count, documents, patient, prism};

/// What the requests are made of.
const OBJECTS: [&str; 2] =
    ["create_an_ach_transfer_parameters", "create_a_real_time_payments_transfer_parameters"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_increase_request_fits_the_published_document() {
    let Some(documents) = documents() else { return };
    let validator =
        tokio::task::spawn_blocking(move || prism(&documents, "increase", &OBJECTS)).await.unwrap();
    let world = start(patient()).await;
    let (judge, address) = Judge::sit(validator.origin(), format!("{}/increase", world.origin)).await;
    let (wire, provider) = (world.wire(), provider_at(&address));

    // The least and the most that can be in an order, on every channel.
    for channel in CHANNELS {
        let mut bare = order_over(channel, 1);
        (bare.description, bare.remittance) = (None, None);
        bare.external_customer_id = String::new();
        bare.account_type = BankAccountType::Checking;
        let mut full =
            order_over(channel, if channel == Channel::Instant { 1_000_000_000 } else { 9_999_999_999 });
        full.description = Some("ß§ é".repeat(300));
        full.remittance = Some(json!("Ünvoice № 7, \u{7f}\u{1}".repeat(50)).to_string());
        full.external_customer_id = "123456789012345".to_owned();
        full.account_name = "Łucía O’Ñame-".repeat(30);
        for order in [order(channel), bare, full] {
            let made = wire.send(&provider, &order, &bank()).await.outcome.unwrap();
            assert_eq!(wire.find(&provider, &order).await.outcome.unwrap().as_ref(), Some(&made));
            assert_eq!(wire.read(&provider, &made.transfer).await.outcome.unwrap(), made);
        }
        // A refusal by the simulator is no fault of the request.
        refused(wire.send(&provider, &order(channel), &bank_at(NO_BANK)).await, RejectionKind::Invalid);
    }
    wire.funds(&provider).await.unwrap().outcome.unwrap();

    let interpreted = judge.faultless();
    for (pattern, times) in [
        ("POST /ach_transfers", 8),
        ("GET /ach_transfers", 6),
        ("GET /ach_transfers/*", 6),
        ("POST /real_time_payments_transfers", 3),
        ("GET /real_time_payments_transfers", 3),
        ("GET /real_time_payments_transfers/*", 3),
        ("GET /routing_numbers", 4),
        ("GET /accounts/*/balance", 1),
    ] {
        assert_eq!(count(&interpreted, pattern), times, "{pattern} in {interpreted:#?}");
    }
    assert_eq!(interpreted.len(), 34, "{interpreted:#?}");

    // The validator can say no.
    let bearer = format!("Bearer {API_KEY}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let good = json!({
        "account_id": "account_1", "amount": 1, "statement_descriptor": "x", "account_number": "1234",
        "routing_number": "021000021", "preferred_effective_date": { "settlement_schedule": "same_day" },
    });
    let with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    for (body, status) in [
        (good.clone(), 200),
        (with("individual_name", json!("x".repeat(22))), 200),
        (with("individual_name", json!("x".repeat(23))), 422),
        (with("individual_name", json!("Zoë")), 422),
        (with("amount", json!("1")), 422),
        (with("amount", json!(10_000_000_000_u64)), 422),
        (with("routing_number", json!("02100002")), 422),
        (with("account_number", json!("1".repeat(18))), 422),
        (with("preferred_effective_date", json!({ "settlement_schedule": "soon" })), 422),
        (with("addenda", json!({ "category": "freeform", "freeform": { "entries": [{}] } })), 422),
        (with("standard_entry_class_code", json!("ppd")), 422),
        (with("statement_descriptor", json!("")), 422),
        (with("reference", json!("misspelt")), 422),
    ] {
        let url = format!("{}/ach_transfers", validator.origin());
        let reply = send("POST", &url, &headers, body.to_string()).await.unwrap();
        assert_eq!(reply.status, status, "{body}: {}", reply.text);
    }
    let url = format!("{}/ach_transfers", validator.origin());
    let unsigned = send("GET", &url, &[], String::new()).await.unwrap();
    assert_eq!(unsigned.status, 401, "{}", unsigned.text);
}
