//! Providers that fail get no new work for a while.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use tollgate_configuration::ForcedCircuit;
use tollgate_domain::{Flow, routing::RouteOutcome, transaction::Status};
use tollgate_engine::{CircuitStatus, PrepareError, PreparedPayment, TransferError};

use crate::{
    fallbacks::{OTHER, OTHER_BANK, document},
    support::{
        config::{BANK, INTENTS},
        requests::{card_request, charge_of, origin},
        world::World,
    },
};

/// The first providers are out of reach, and four failing calls open a circuit for half a minute.
async fn world_with_outage() -> World {
    let world = World::new().await;
    let mut document = document();
    document["settings"]["circuit"] = json!({ "minimumCalls": 4 });
    world.configure(document).await;
    world.providers.records().unreachable = vec!['a'];
    world
}

async fn prepare(world: &World) -> Result<PreparedPayment, PrepareError> {
    world.engine().prepare(&world.view(), card_request(Flow::HostedCheckout, 1_000), "req").await
}

fn status(world: &World, provider: &str) -> CircuitStatus {
    world.engine().circuit_status(&world.view(), provider)
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_is_skipped_until_probes_succeed() {
    let world = world_with_outage().await;
    for _ in 0..4 {
        assert_eq!(status(&world, INTENTS), CircuitStatus::Closed);
        let order = prepare(&world).await.unwrap().payment.order;
        assert_eq!(order.route.attempts[0].outcome, RouteOutcome::Unavailable);
    }
    assert!(matches!(status(&world, INTENTS), CircuitStatus::Open { .. }));
    assert_eq!(status(&world, OTHER), CircuitStatus::Closed, "each provider has its own");
    assert_eq!(world.engine().circuits().open_count(), 1);
    let order = prepare(&world).await.unwrap().payment.order;
    assert_eq!((order.provider.as_str(), order.route.attempts[0].outcome), (OTHER, RouteOutcome::Skipped));
    assert!(order.route.attempts[0].reason.starts_with("circuit open since "), "{:?}", order.route);
    // Probed too early: one failure, and it is open again.
    sleep(Duration::from_secs(31)).await;
    let order = prepare(&world).await.unwrap().payment.order;
    assert_eq!(order.route.attempts[0].outcome, RouteOutcome::Unavailable);
    assert!(matches!(status(&world, INTENTS), CircuitStatus::Open { .. }));
    world.providers.records().unreachable.clear();
    sleep(Duration::from_secs(31)).await;
    assert!(matches!(status(&world, INTENTS), CircuitStatus::Probing { .. }));
    for _ in 0..3 {
        assert_eq!(prepare(&world).await.unwrap().payment.order.provider, INTENTS);
    }
    assert_eq!(status(&world, INTENTS), CircuitStatus::Closed);
    world.settle().await;
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_fallback_new_work_is_refused_at_once_and_nothing_is_recorded() {
    let world = World::new().await;
    let mut document = crate::support::config::document();
    document["settings"]["circuit"] = json!({ "minimumCalls": 4 });
    world.configure(document).await;
    world.providers.records().unreachable = vec!['a'];
    for _ in 0..4 {
        assert!(matches!(prepare(&world).await, Err(PrepareError::Recorded { .. })));
    }
    let recorded = world.payments().await.len();
    let refused = prepare(&world).await;
    let Err(PrepareError::CircuitOpen(open)) = refused else { panic!("{refused:?}") };
    assert_eq!(open.retry_after, Duration::from_secs(30));
    assert_eq!(world.payments().await.len(), recorded);
    // A transfer that is in doubt counts every time it is tried, and later ones are refused without a trace.
    world.engine().force_circuit(world.environment, BANK, Some(ForcedCircuit::Open), origin()).await.unwrap();
    let refused = world.send("a caller's key", 10_000).await;
    assert!(matches!(refused, Err(TransferError::CircuitOpen(_))), "{refused:?}");
    assert_eq!(world.transactions().await, []);
}

/// The customer has the page: whatever happens to new payments, this one is confirmed.
#[tokio::test(start_paused = true)]
async fn work_that_has_begun_goes_on() {
    let world = World::new().await;
    let amount = crate::support::config::REGISTER_FROM;
    let payment = world.prepared(Flow::PaymentComponent, amount).await;
    let provider = payment.order.provider.clone();
    let forcing = world.engine();
    forcing.force_circuit(world.environment, &provider, Some(ForcedCircuit::Open), origin()).await.unwrap();
    let confirmed = world.confirm(payment.order.id, charge_of("a card")).await.unwrap();
    assert_eq!(confirmed.payment.transaction.unwrap().state.status, Status::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn an_operator_decides_for_every_node() {
    let world = world_with_outage().await;
    let force = async |provider: &str, state| {
        world.engine().force_circuit(world.environment, provider, state, origin()).await.unwrap();
    };
    world.providers.records().unreachable.clear();
    force(INTENTS, Some(ForcedCircuit::Open)).await;
    force(BANK, Some(ForcedCircuit::Open)).await;
    world.restart().await;
    assert_eq!(status(&world, INTENTS).as_str(), "forced_open");
    let order = prepare(&world).await.unwrap().payment.order;
    assert_eq!(order.provider, OTHER);
    assert_eq!(order.route.attempts[0].reason, "circuit forced open by an operator");
    assert_eq!(world.send("a caller's key", 10_000).await.unwrap().transfer.order.provider, OTHER_BANK);
    force(INTENTS, Some(ForcedCircuit::Closed)).await;
    world.providers.records().unreachable = vec!['a'];
    for _ in 0..9 {
        let order = prepare(&world).await.unwrap().payment.order;
        assert_eq!(order.route.attempts[0].outcome, RouteOutcome::Unavailable, "it is asked all the same");
    }
    force(INTENTS, None).await;
    assert_eq!(prepare(&world).await.unwrap().payment.order.route.attempts[0].outcome, RouteOutcome::Skipped);
    let unknown = world.engine().force_circuit(world.environment, "nobody", None, origin()).await;
    assert!(unknown.is_err());
}
