//! What operators are told about an environment: nothing that fails is called all clear.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use tollgate_configuration::ForcedCircuit;
use tollgate_domain::{Flow, ach::AchProviderStatus, event::EventFilter};
use tollgate_engine::{Area, Check, CheckStatus, NewEndpoint, ProviderState};

use crate::support::{
    config::{self, BANK, INTENTS},
    faults::Fault,
    receiver::ENDPOINT_URL,
    requests::{card_request, origin},
    world::World,
};

/// What does not stand as it should, of one area.
async fn found(world: &World, area: Area) -> Vec<Check> {
    let checks = world.engine().environment_checks(&world.view()).await;
    // That these providers are no sandboxes is another matter.
    let is_wanted = |it: &Check| it.area == Some(area) && it.status > CheckStatus::Ok && it.name != "mode";
    checks.into_iter().filter(is_wanted).collect()
}

fn readiness(world: &World) -> ProviderState {
    let view = world.view();
    world.engine().provider_readiness(&view, view.configuration.providers.get(INTENTS).unwrap()).state
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_is_degraded_then_down_and_ready_again_once_it_answers() {
    let world = World::new().await;
    assert_eq!(readiness(&world), ProviderState::Ready);
    let fail = async || {
        world.faults.arm(Fault::ProviderUnsent, 1);
        let request = card_request(Flow::HostedCheckout, 1_000);
        world.engine().prepare(&world.view(), request, "req_prepare").await.unwrap_err();
        world.faults.disarm();
    };
    for _ in 0..3 {
        fail().await;
    }
    assert_eq!(readiness(&world), ProviderState::Degraded);
    let checks = found(&world, Area::Providers).await;
    assert_eq!(checks.len(), 1, "{checks:?}");
    for part in ["intents is degraded since", "3 payments affected", "timed out"] {
        assert!(checks[0].finding.contains(part), "{checks:?}");
    }
    fail().await;
    fail().await;
    assert_eq!(readiness(&world), ProviderState::Down);
    assert_eq!(found(&world, Area::Providers).await[0].status, CheckStatus::Problem);
    let everywhere = world.engine().run_checks().await;
    assert!(everywhere.iter().any(|check| check.finding.contains("intents is down since")), "{everywhere:?}");
    sleep(Duration::from_mins(16)).await;
    world.prepared(Flow::HostedCheckout, 1_000).await;
    assert_eq!(readiness(&world), ProviderState::Ready);
    assert_eq!(found(&world, Area::Providers).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_is_forced_open_is_reported() {
    let world = World::new().await;
    for (state, expected) in [
        (Some(ForcedCircuit::Open), ProviderState::Down),
        (Some(ForcedCircuit::Closed), ProviderState::Ready),
        (None, ProviderState::Ready),
    ] {
        world.engine().force_circuit(world.environment, INTENTS, state, origin()).await.unwrap();
        assert_eq!(readiness(&world), expected, "{state:?}");
        let checks = found(&world, Area::Providers).await;
        let is_said = checks.iter().any(|check| check.finding.contains("forced the circuit of intents open"));
        assert_eq!(is_said, expected == ProviderState::Down, "{checks:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_fails_is_reported_while_it_is_still_enabled() {
    let world = World::new().await;
    let url = world.engine().endpoint_url(ENDPOINT_URL).unwrap();
    let new = NewEndpoint { url, filter: EventFilter::All, description: None };
    world.engine().add_endpoint(world.environment, new, &origin()).await.unwrap();
    world.prepared(Flow::HostedCheckout, 1_000).await;
    for failures in 1..=4 {
        world.faults.arm(Fault::ProviderUnsent, 1);
        world.deliver().await;
        assert_eq!(world.faults.disarm(), Some("deliver"), "{failures}");
        let checks = found(&world, Area::Endpoints).await;
        let expected: &[CheckStatus] = if failures < 3 { &[] } else { &[CheckStatus::Warning] };
        let statuses: Vec<_> = checks.iter().map(|check| check.status).collect();
        assert_eq!(statuses, expected, "after {failures} failures: {checks:?}");
        sleep(Duration::from_hours(3)).await;
    }
    let finding = &found(&world, Area::Endpoints).await[0].finding;
    assert_eq!(finding, &format!("{ENDPOINT_URL} has failed 4 times in a row"));
}

#[tokio::test(start_paused = true)]
async fn a_payment_that_is_pending_for_long_becomes_a_problem() {
    let world = World::new().await;
    world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
    world.send("transfer-1", 1_000).await.unwrap();
    world.faults.disarm();
    let checks = found(&world, Area::Waiting).await;
    assert_eq!(
        checks.iter().map(|it| (it.status, it.count)).collect::<Vec<_>>(),
        [(CheckStatus::Warning, 1)]
    );
    assert!(checks[0].finding.starts_with("1 transfer is pending since "), "{checks:?}");
    sleep(Duration::from_hours(25)).await;
    assert_eq!(found(&world, Area::Waiting).await[0].status, CheckStatus::Problem);
}

#[tokio::test(start_paused = true)]
async fn an_environment_without_a_provider_is_not_all_clear() {
    let world = World::new().await;
    world.configure(json!({})).await;
    let checks = found(&world, Area::Providers).await;
    assert!(checks.iter().any(|check| check.finding == "no provider is configured"), "{checks:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wallet_that_would_not_last_another_day_is_reported() {
    let world = World::new().await;
    world.send("transfer-1", 600_000).await.unwrap();
    world.store.index_events(100).await.unwrap();
    let checks = found(&world, Area::Wallets).await;
    assert_eq!(checks.len(), 1, "{checks:?}");
    assert!(checks[0].finding.starts_with("the USD wallet has 3879.70 available"), "{checks:?}");
    world.fund(900_000).await;
    assert_eq!(found(&world, Area::Wallets).await, []);
}

/// Thresholds, with one transfer in ten that came back.
#[tokio::test(start_paused = true)]
async fn transfers_that_come_back_too_often_are_reported() {
    let world = World::new().await;
    for key in 0..10 {
        world.send(&format!("a caller's key {key}"), 1_000).await.unwrap();
    }
    world.settle().await;
    let (returned, reference) = {
        let mut records = world.providers.records();
        let transfer = records.transfers.first_mut().unwrap();
        transfer.status = AchProviderStatus::Returned { code: "R10".to_owned() };
        (transfer.id.clone(), transfer.key.clone())
    };
    let event = json!({ "id": "evt_1", "type": "changed", "object": returned, "reference": reference });
    world.webhook(BANK, &event).await.unwrap();
    while world.store.index_events(100).await.unwrap() > 0 {}
    let rates = world.engine().return_rates(world.environment).await.unwrap();
    assert_eq!((rates.sent, rates.administrative, rates.unauthorized), (10, 0, 1));
    let told = async |settings: Value| {
        let mut document = config::document();
        document["settings"]["returnRates"] = settings;
        world.configure(document).await;
        let checks = world.engine().environment_checks(&world.view()).await;
        let is_about = |check: &Check| check.name == "returns" && check.status == CheckStatus::Problem;
        checks.into_iter().filter(is_about).map(|check| check.finding).collect::<Vec<_>>()
    };
    assert_eq!(told(json!({})).await, Vec::<String>::new(), "ten are too few to judge by");
    let found = told(json!({ "minimumTransfers": 10 })).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("unauthorized: 10 %"), "{found:?}");
    assert_eq!(told(json!({ "minimumTransfers": 10, "unauthorizedBps": 1_000 })).await, Vec::<String>::new());
    // After 60 days it is over.
    sleep(Duration::from_hours(24 * 61)).await;
    let rates = world.engine().return_rates(world.environment).await.unwrap();
    assert_eq!((rates.sent, rates.unauthorized), (0, 0));
}
