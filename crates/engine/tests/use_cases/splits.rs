//! Routes that are split among providers.

use serde_json::json;
use tollgate_domain::{
    Flow, PaymentMethod,
    metadata::{Metadata, MetadataValue},
};
use tollgate_engine::{PrepareRequest, quote};

use crate::support::{
    config::{self, INTENTS, REGISTER},
    requests::{card_request, quote_request},
    world::World,
};

fn share(provider: &str, weight: u32) -> serde_json::Value {
    json!({ "provider": provider, "channel": "web_card", "weight": weight })
}

fn split(weights: [u32; 2], by: Option<&str>) -> serde_json::Value {
    let mut document = config::document();
    document["routing"]["web_card"]["rules"] = json!([]);
    document["routing"]["web_card"]["default"] =
        json!({ "split": [share(INTENTS, weights[0]), share(REGISTER, weights[1])], "splitBy": by });
    // The other provider is dearer.
    document["fees"][2]["platform"]["fixedFeeMinor"] = json!("80");
    document
}

fn of_customer(customer: &str) -> PrepareRequest {
    let mut request = card_request(Flow::PaymentComponent, 1_000);
    let pairs = [("customer".to_owned(), MetadataValue::Scalar(customer.to_owned()))];
    request.quote.metadata = pairs.into_iter().collect();
    request.metadata = json!({ "customer": customer }).to_string();
    request
}

#[tokio::test(start_paused = true)]
async fn a_payment_goes_where_its_reference_says_and_costs_what_that_provider_costs() {
    let world = World::new().await;
    world.configure(split([50, 50], None)).await;
    let view = world.view();
    let request = quote_request(PaymentMethod::WebCard, Some(Flow::PaymentComponent), 1_000);
    let quoted = quote(&view.configuration, world.clock(), &request).unwrap();
    assert_eq!(&*quoted.route.target.provider, INTENTS, "a quote shows the heaviest, the first of several");
    assert_eq!(quoted.route.destination.shares().unwrap().iter().len(), 2);
    let mut seen = [0_u32; 2];
    for _ in 0..40 {
        let order = world.prepared(Flow::PaymentComponent, 1_000).await.order;
        let picked = quoted.route.destination.pick(&order.id.to_bytes(), &Metadata::default());
        assert_eq!(order.provider, &*picked.provider);
        let is_other = order.provider == REGISTER;
        assert_eq!(order.fee.total_debit.get(), if is_other { 1_100 } else { 1_050 });
        seen[usize::from(is_other)] += 1;
    }
    assert!(seen[0] > 4 && seen[1] > 4, "{seen:?}");
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn one_customer_stays_with_one_provider() {
    let world = World::new().await;
    world.configure(split([50, 50], Some("metadata.customer"))).await;
    let mut providers = std::collections::BTreeSet::new();
    for customer in 0..12 {
        let mut of_this_one = std::collections::BTreeSet::new();
        for _ in 0..4 {
            let request = of_customer(&format!("customer-{customer}"));
            let prepared = world.engine().prepare(&world.view(), request, "req").await.unwrap();
            of_this_one.insert(prepared.payment.order.provider);
        }
        assert_eq!(of_this_one.len(), 1, "customer-{customer}");
        providers.extend(of_this_one);
    }
    assert_eq!(providers.len(), 2);
}

/// Shifting a split from half to nothing moves exactly the payments that went there, and its price with them.
#[tokio::test(start_paused = true)]
async fn other_weights_are_replayed_against_history() {
    let world = World::new().await;
    world.configure(split([50, 50], None)).await;
    let mut at_register = 0_u64;
    for _ in 0..30 {
        let order = world.prepared(Flow::PaymentComponent, 1_000).await.order;
        at_register += u64::from(order.provider == REGISTER);
    }
    let replay = async |document| {
        let engine = world.engine();
        let checked = engine.check_config(world.environment, document).await.unwrap();
        engine.replay_history(world.environment, &checked.configuration, 100).await.unwrap()
    };
    let same = replay(split([50, 50], None)).await;
    assert_eq!((same.examined, same.rerouted.len(), same.repriced), (30, 0, 0), "the same picks again");
    let without = replay(split([1_000_000, 1], None)).await;
    assert_eq!(without.rerouted.len(), 1);
    assert_eq!(without.rerouted[0].count, at_register);
    assert_eq!(without.repriced, at_register);
    let saved = without.money[0].platform_before - without.money[0].platform_after;
    assert_eq!(saved, 50 * i128::from(at_register), "{:?}", without.money);
}
