//! Clocks that are wrong: the database's counts, nothing is given up while it cannot be trusted, and times never go back.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::time::sleep;
use tollgate_domain::{
    Flow, ServiceReference, Timestamp, ach::AchProviderStatus, card::ProviderStatus, id::TransferId,
    transaction::Status,
};
use tollgate_engine::{DatabaseClock, ports::Clock};

use crate::{
    support::{
        clock::TestClock,
        config::{BANK, INTENTS},
        faults::Fault,
        provider::BankTransfer,
        world::World,
    },
    webhooks::event,
};

const KEY: &str = "a caller's key";
const HOUR: Duration = Duration::from_hours(1);

/// The clock of a machine.
#[derive(Clone)]
struct Machine {
    right: TestClock,
    millis_ahead: Arc<AtomicI64>,
}

impl Machine {
    fn ahead_by(world: &World, by: Duration) -> Self {
        let machine = Self { right: world.clock().clone(), millis_ahead: Arc::default() };
        machine.set_ahead(by);
        machine
    }

    fn set_ahead(&self, by: Duration) {
        self.millis_ahead.store(i64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }
}

impl Clock for Machine {
    fn now(&self) -> Timestamp {
        let right = self.right.time().unix_millis();
        Timestamp::from_unix_millis(right + self.millis_ahead.load(Ordering::Relaxed))
    }
}

/// The clock that a node of the product has, on this machine.
async fn as_in_production(world: &World, machine: &Machine) -> Arc<DatabaseClock> {
    let store = Arc::new(world.reached());
    let clock = Arc::new(DatabaseClock::start(&*store, Arc::new(machine.clone())).await.unwrap());
    tokio::spawn(Arc::clone(&clock).follow(store));
    clock
}

/// A transfer that was reserved and never reached the provider.
async fn unsent(world: &World) -> TransferId {
    world.faults.arm(Fault::ProviderUnsent, 1);
    let made = world.send(KEY, 10_000).await.unwrap().transfer;
    world.faults.disarm();
    assert_eq!(made.state.status, Status::Pending);
    made.order.id
}

async fn cancel(world: &World, id: TransferId) -> Status {
    let (engine, view) = (world.engine(), world.view());
    let canceled = engine.cancel_transfer(&view, ServiceReference::Ach(id), None, "req_cancel").await;
    canceled.unwrap().transfer.state.status
}

/// A request of ours arrives at the provider.
fn arrive(world: &World, id: TransferId) {
    let at = world.engine().clock().now();
    world.providers.records().transfers.push(BankTransfer {
        rail: None,
        id: "transfer_late".to_owned(),
        account: 'a',
        key: id.to_string(),
        at,
        amount: 10_000,
        status: AchProviderStatus::Accepted,
        corrections: Vec::new(),
    });
}

/// A sealing key that no transfer needs yet is not destroyed by a node that is hours ahead, and what it has sealed is not given
/// up. A node that decides by its own clock does both.
#[tokio::test(start_paused = true)]
async fn a_node_hours_ahead_gives_up_no_transfer() {
    for is_product in [true, false] {
        let world = World::new().await;
        world.send("an earlier one", 10_000).await.unwrap();
        let machine = Machine::ahead_by(&world, HOUR * 2);
        let other = if is_product {
            let clock = as_in_production(&world, &machine).await;
            world.other_node(clock).await
        } else {
            world.other_node(Arc::new(machine)).await
        };
        World::resolve_by(Arc::clone(&other)).await;
        let id = unsent(&world).await;
        // What is kept in memory is lost.
        world.restart().await;
        World::resolve_by(Arc::clone(&other)).await;
        for _ in 0..3 {
            sleep(Duration::from_mins(1)).await;
            World::resolve_by(Arc::clone(&other)).await;
        }
        let expected = if is_product { Status::Processing } else { Status::Failed };
        assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(expected));
    }
}

/// What may still be on its way to the provider is canceled by no node, whatever its clock says.
#[tokio::test(start_paused = true)]
async fn a_node_minutes_ahead_cancels_nothing_that_is_being_sent() {
    for is_product in [true, false] {
        let world = World::new().await;
        world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
        let id = world.send(KEY, 10_000).await.unwrap().transfer.order.id;
        world.faults.disarm();
        assert_eq!(cancel(&world, id).await, Status::Pending);
        let machine = Machine::ahead_by(&world, Duration::from_mins(15));
        let other = if is_product {
            let clock = as_in_production(&world, &machine).await;
            world.other_node(clock).await
        } else {
            world.other_node(Arc::new(machine)).await
        };
        World::resolve_by(other).await;
        arrive(&world, id);
        let expected = if is_product { Status::Pending } else { Status::Canceled };
        assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(expected));
        if is_product {
            world.settle().await;
            assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Canceled));
            assert_eq!(world.providers.records().transfer().status, AchProviderStatus::Canceled);
        }
    }
}

/// A node whose clock is off takes no decision by age, even a right one; as soon as its clock is right again, it does.
#[tokio::test(start_paused = true)]
async fn a_node_that_is_off_gives_nothing_up() {
    let world = World::new().await;
    let id = unsent(&world).await;
    cancel(&world, id).await;
    let machine = Machine::ahead_by(&world, Duration::from_secs(90));
    let clock = as_in_production(&world, &machine).await;
    assert!(clock.standing().is_off());
    let other = world.other_node(clock).await;
    for _ in 0..3 {
        sleep(Duration::from_mins(1)).await;
        World::resolve_by(Arc::clone(&other)).await;
    }
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Pending));
    machine.set_ahead(Duration::ZERO);
    sleep(Duration::from_mins(1)).await;
    World::resolve_by(other).await;
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Canceled));
}

/// What was never sent is canceled as soon as no node can be sending it, within a minute.
#[tokio::test(start_paused = true)]
async fn a_cancellation_in_doubt_is_settled_within_a_minute() {
    let world = World::new().await;
    let id = unsent(&world).await;
    assert_eq!(cancel(&world, id).await, Status::Pending);
    for _ in 0..5 {
        sleep(Duration::from_secs(11)).await;
        world.resolve().await;
    }
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Canceled));
    world.check().await;
}

/// What the provider said too early is no proof later: it counts when it was asked, not when its answer is written down.
#[tokio::test(start_paused = true)]
async fn an_early_answer_that_is_written_late_cancels_nothing() {
    let world = World::new().await;
    let id = unsent(&world).await;
    // The transfer is read and changed; then the store is gone.
    world.faults.arm(Fault::StoreGone, 3);
    assert_eq!(cancel(&world, id).await, Status::Pending);
    arrive(&world, id);
    sleep(Duration::from_mins(5)).await;
    assert!(world.faults.disarm().is_some());
    sleep(Duration::from_secs(30)).await;
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Pending));
    world.settle().await;
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Canceled));
    assert_eq!(world.providers.records().transfer().status, AchProviderStatus::Canceled);
}

#[tokio::test(start_paused = true)]
async fn the_clock_is_the_databases_whatever_the_machine_says() {
    let world = World::new().await;
    let machine = Machine::ahead_by(&world, Duration::from_secs(45));
    let clock = as_in_production(&world, &machine).await;
    let apart = |clock: &DatabaseClock| clock.now().unix_millis() - world.clock().time().unix_millis();
    assert!(apart(&clock).abs() <= 1);
    assert!((44_000..=45_000).contains(&clock.standing().machine_ahead) && clock.standing().may_conclude());
    machine.set_ahead(HOUR);
    assert!(apart(&clock).abs() <= 1);
    sleep(Duration::from_secs(6)).await;
    assert!(apart(&clock).abs() <= 1 && clock.standing().is_off());
    machine.set_ahead(Duration::ZERO);
    sleep(Duration::from_secs(6)).await;
    assert!(!clock.standing().is_off() && clock.standing().may_conclude());
    // The database itself jumps: it is followed, and for a while nothing is given up.
    world.clock().set_ahead(HOUR);
    sleep(Duration::from_secs(6)).await;
    assert!(apart(&clock).abs() <= 1 && clock.standing().is_settling && !clock.standing().may_conclude());
    sleep(Duration::from_mins(10)).await;
    assert!(apart(&clock).abs() <= 1 && clock.standing().may_conclude());
}

/// Another node's clock is behind: what changes is dated after what was before, and its revision is higher.
#[tokio::test(start_paused = true)]
async fn times_never_go_back_and_revisions_rise() {
    let world = World::new().await;
    let id = world.send(KEY, 10_000).await.unwrap().transfer.order.id;
    world.set_clock_back(HOUR);
    world.providers.records().transfer().status = AchProviderStatus::Settled;
    let object = world.transfer(id).await.unwrap().state.provider_reference.unwrap();
    world.webhook(BANK, &event("evt_1", &object)).await.unwrap();
    let transfer = world.transfer(id).await.unwrap();
    assert_eq!(transfer.state.status, Status::Succeeded);
    assert!(transfer.updated_at >= transfer.order.created_at);
    let mut events = world.events().await;
    events.retain(|event| event.reference == Some(ServiceReference::Ach(id)));
    assert_eq!(events.len(), 3);
    for (earlier, later) in events.iter().zip(events.iter().skip(1)) {
        assert!(earlier.at <= later.at && earlier.revision < later.revision, "{earlier:?} {later:?}");
    }
    let listed = world.transactions().await;
    let revision = listed.iter().find(|it| it.reference == ServiceReference::Ach(id)).unwrap().revision;
    assert!(revision == transfer.revision && events.last().unwrap().revision <= revision);
}

/// The same for a card payment: its webhook is applied by a node whose clock is behind.
#[tokio::test(start_paused = true)]
async fn times_of_card_payments_never_go_back() {
    let world = World::new().await;
    let payment = world.prepared(Flow::PaymentComponent, 1_000).await;
    world.set_clock_back(HOUR);
    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.webhook(INTENTS, &event("evt_1", &payment.progress.object.unwrap())).await.unwrap();
    let paid = world.payment(payment.order.id).await;
    let transaction = paid.transaction.unwrap();
    assert_eq!(transaction.state.status, Status::Succeeded);
    assert!(transaction.updated_at >= payment.order.created_at && paid.revision > payment.revision);
    let mut events = world.events().await;
    events.retain(|event| event.reference == Some(ServiceReference::Card(payment.order.id)));
    assert!(events.len() >= 2, "{events:?}");
    for (earlier, later) in events.iter().zip(events.iter().skip(1)) {
        assert!(earlier.at <= later.at && earlier.revision < later.revision, "{earlier:?} {later:?}");
    }
}

/// A transfer that its provider refused before is not failed for good by a node that takes no decisions.
#[tokio::test(start_paused = true)]
async fn a_node_that_is_off_fails_no_refused_transfer() {
    let world = World::new().await;
    world.providers.records().funds = Some(0);
    world.faults.arm(Fault::ProviderUnsent, 2);
    let id = world.send(KEY, 10_000).await.unwrap().transfer.order.id;
    assert_eq!(world.faults.disarm(), Some("transfers.list"), "the refusal could not be confirmed");
    let machine = Machine::ahead_by(&world, Duration::from_secs(90));
    let clock = as_in_production(&world, &machine).await;
    assert!(clock.standing().is_off());
    let other = world.other_node(clock).await;
    for _ in 0..5 {
        sleep(Duration::from_mins(2)).await;
        World::resolve_by(Arc::clone(&other)).await;
    }
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Pending));
    machine.set_ahead(Duration::ZERO);
    for _ in 0..5 {
        sleep(Duration::from_mins(2)).await;
        World::resolve_by(Arc::clone(&other)).await;
    }
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Failed));
}
