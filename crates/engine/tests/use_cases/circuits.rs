//! Providers that fail get no new work for a while.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use tollgate_configuration::ForcedCircuit;
use tollgate_domain::{Flow, ServiceReference, routing::RouteOutcome, transaction::Status};
use tollgate_engine::{
    CircuitStatus, ConfigureError, PrepareError, PreparedPayment, TransferError, ports::Entry,
};

use crate::{
    fallbacks::{OTHER, OTHER_BANK, document},
    support::{
        config::{BANK, INTENTS},
        every_step::{UseCase, fails_at_every_step},
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
    // Operators read it in the payment's timeline.
    let lines = world.store.timeline(world.environment, ServiceReference::Card(order.id)).await.unwrap();
    let skipped = json!({
        "provider": INTENTS, "outcome": "skipped", "reason": order.route.attempts[0].reason,
    });
    let details = |lines: &[Entry]| -> Vec<Value> {
        let routes = lines.iter().filter(|line| line.kind == "route");
        routes.map(|line| serde_json::from_str(&line.detail).unwrap()).collect()
    };
    assert_eq!(details(&lines), [skipped]);
    assert_eq!(world.engine().circuits().changes(), (1, 0));
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
    assert_eq!(world.engine().circuits().changes(), (1, 1));
    world.settle().await;
    world.check().await;
}

/// Also of a payment that limits count, and of a transfer.
#[tokio::test(start_paused = true)]
async fn what_was_passed_over_stands_in_the_timeline() {
    let world = World::new().await;
    let mut document = document();
    document["limits"] = json!([{
        "id": "daily", "paymentMethod": "web_card", "per": "environment", "windowSeconds": 86_400,
        "maxCount": 100, "action": "refuse",
    }]);
    world.configure(document).await;
    for provider in [INTENTS, BANK] {
        let forcing = world.engine();
        forcing
            .force_circuit(world.environment, provider, Some(ForcedCircuit::Open), origin())
            .await
            .unwrap();
    }
    let card = prepare(&world).await.unwrap().payment.order.id;
    let transfer = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
    for reference in [ServiceReference::Card(card), ServiceReference::Ach(transfer)] {
        let lines = world.store.timeline(world.environment, reference).await.unwrap();
        let told: Vec<_> = lines.iter().filter(|line| line.kind == "route").collect();
        let [line] = told.as_slice() else { panic!("{reference}: {lines:?}") };
        assert!(line.detail.contains("circuit forced open by an operator"), "{line:?}");
    }
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

/// The events about circuits: which, of which provider, whether forced, and why.
async fn told(world: &World) -> Vec<(&'static str, String, bool, Option<String>)> {
    let events = world.events().await;
    let told = events.into_iter().filter_map(|event| Some((event.kind.as_str(), *event.circuit?)));
    told.map(|(kind, circuit)| (kind, circuit.provider, circuit.is_forced, circuit.reason)).collect()
}

fn kinds(told: &[(&'static str, String, bool, Option<String>)]) -> Vec<&'static str> {
    told.iter().map(|(kind, ..)| *kind).collect()
}

#[tokio::test(start_paused = true)]
async fn operators_are_told_when_a_circuit_opens_and_closes() {
    let world = world_with_outage().await;
    for _ in 0..4 {
        world.engine().report_circuits().await;
        prepare(&world).await.unwrap();
    }
    assert_eq!(told(&world).await, []);
    for _ in 0..3 {
        world.engine().report_circuits().await;
        sleep(Duration::from_secs(11)).await;
    }
    let opened = told(&world).await;
    let [(kind, provider, false, Some(reason))] = opened.as_slice() else { panic!("{opened:?}") };
    assert_eq!((*kind, provider.as_str()), ("provider.circuit_opened", INTENTS));
    assert!(!reason.is_empty());
    // It is open still, and a node that starts now sees the same outage.
    world.restart().await;
    for _ in 0..4 {
        prepare(&world).await.unwrap();
    }
    world.engine().report_circuits().await;
    assert_eq!(
        kinds(&told(&world).await),
        ["provider.circuit_opened"; 2],
        "the first may be gone with its node"
    );
    world.providers.records().unreachable.clear();
    sleep(Duration::from_secs(31)).await;
    for _ in 0..3 {
        assert_eq!(prepare(&world).await.unwrap().payment.order.provider, INTENTS);
    }
    for _ in 0..3 {
        world.engine().report_circuits().await;
        sleep(Duration::from_secs(11)).await;
    }
    let told = told(&world).await;
    let opened = "provider.circuit_opened";
    assert_eq!(kinds(&told), [opened, opened, "provider.circuit_closed"]);
    assert_eq!(told[2].3, None);
}

/// A node that was restarted in an outage says when the provider answers again.
#[tokio::test(start_paused = true)]
async fn after_a_restart_the_end_of_an_outage_is_told() {
    let world = world_with_outage().await;
    for _ in 0..4 {
        prepare(&world).await.unwrap();
    }
    world.engine().report_circuits().await;
    world.restart().await;
    world.providers.records().unreachable.clear();
    for _ in 0..3 {
        world.engine().report_circuits().await;
        assert_eq!(kinds(&told(&world).await), ["provider.circuit_opened"]);
        assert_eq!(prepare(&world).await.unwrap().payment.order.provider, INTENTS);
    }
    world.engine().report_circuits().await;
    assert_eq!(kinds(&told(&world).await), ["provider.circuit_opened", "provider.circuit_closed"]);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_goes_back_and_forth_is_told_of_now_and_then() {
    let world = World::new().await;
    let mut document = document();
    document["settings"]["circuit"] = json!({ "minimumCalls": 2, "openSeconds": 1 });
    world.configure(document).await;
    for _ in 0..20 {
        world.providers.records().unreachable = vec!['a'];
        for _ in 0..2 {
            prepare(&world).await.unwrap();
        }
        world.engine().report_circuits().await;
        world.providers.records().unreachable.clear();
        sleep(Duration::from_secs(1)).await;
        for _ in 0..3 {
            prepare(&world).await.unwrap();
        }
        world.engine().report_circuits().await;
    }
    assert_eq!(world.engine().circuits().changes(), (20, 20));
    // Twenty seconds have passed.
    let told = kinds(&told(&world).await).len();
    assert!((2..=3).contains(&told), "{told}");
}

#[tokio::test(start_paused = true)]
async fn what_an_operator_forces_is_told_by_the_change() {
    let world = world_with_outage().await;
    world.providers.records().unreachable.clear();
    let force = async |state| {
        world.engine().force_circuit(world.environment, INTENTS, state, origin()).await.unwrap();
        world.engine().report_circuits().await;
    };
    force(Some(ForcedCircuit::Closed)).await;
    assert_eq!(told(&world).await, [], "it was closed");
    force(Some(ForcedCircuit::Open)).await;
    force(Some(ForcedCircuit::Open)).await;
    let reason = Some("circuit forced open by an operator".to_owned());
    let opened = ("provider.circuit_opened", INTENTS.to_owned(), true, reason);
    assert_eq!(told(&world).await, [opened]);
    force(None).await;
    force(Some(ForcedCircuit::Open)).await;
    force(Some(ForcedCircuit::Closed)).await;
    force(None).await;
    let told = told(&world).await;
    let (opened, closed) = ("provider.circuit_opened", "provider.circuit_closed");
    assert_eq!(kinds(&told), [opened, closed, opened, closed]);
    assert_eq!((told[1].2, told[3].2), (false, true), "forced or not");
}

/// A circuit that an operator forces open: whatever fails, it is told of if it is forced, and once.
struct ForceOpen;

impl UseCase for ForceOpen {
    type Answer = Result<u64, ConfigureError>;

    async fn given(_: &World) -> Self {
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        let open = Some(ForcedCircuit::Open);
        world.engine().force_circuit(world.environment, INTENTS, open, origin()).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let config = world.engine().config(world.environment).await.unwrap().configuration;
        let is_forced = config.settings.circuit.forced.contains_key(INTENTS);
        assert_eq!(kinds(&told(world).await), vec!["provider.circuit_opened"; usize::from(is_forced)]);
        for answer in answers.iter().flatten() {
            assert!(matches!(answer, Ok(_) | Err(ConfigureError::Store(_))), "{answer:?}");
        }
        assert!(is_forced || answers.len() == 1);
    }
}

#[tokio::test(start_paused = true)]
async fn forcing_a_circuit_survives_every_fault() {
    fails_at_every_step::<ForceOpen>().await;
}
