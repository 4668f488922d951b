//! Canceling a transfer: asked of the provider once it is recorded, and the funds come back once.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use tollgate_domain::{
    Currency, Flow, ServiceReference,
    ach::AchProviderStatus,
    id::{PaymentId, TransferId},
    transaction::Status,
};
use tollgate_engine::{CancelError, Origin, TransferCanceled, ports::StoreError};

use crate::support::{
    config,
    every_step::{UseCase, fails_at_every_step},
    faults::Fault,
    provider::BankTransfer,
    requests::origin,
    world::{FUNDS, World},
};

const KEY: &str = "a caller's key";

type Answer = Result<TransferCanceled, CancelError>;

async fn cancel(world: &World, id: TransferId) -> Answer {
    cancel_by(world, id, None).await
}

async fn cancel_by(world: &World, id: TransferId, operator: Option<&Origin>) -> Answer {
    let (engine, view) = (world.engine(), world.view());
    Box::pin(engine.cancel_transfer(&view, ServiceReference::Ach(id), operator, "req_cancel")).await
}

/// A transfer that waits for people.
async fn waiting(world: &World) -> TransferId {
    let mut document = config::document();
    document["approvals"] = json!({ "transfers": [{ "id": "all", "count": 1, "conditions": [] }] });
    world.configure(document).await;
    let made = world.send(KEY, 10_000).await.unwrap().transfer;
    assert!(made.progress.approval.is_some());
    made.order.id
}

/// A transfer whose outcome is unknown; the provider has it if `is_there`.
async fn in_doubt(world: &World, is_there: bool) -> TransferId {
    world.faults.arm(Fault::ProviderUnknown { done: is_there }, 1);
    let made = world.send(KEY, 10_000).await.unwrap().transfer;
    world.faults.disarm();
    assert_eq!(made.state.status, Status::Pending);
    made.order.id
}

/// What must hold however the calls went.
async fn check(world: &World, id: TransferId, answers: &[Option<Answer>]) {
    let transfer = world.transfer(id).await.unwrap();
    let is_canceled = transfer.state.status == Status::Canceled;
    for answer in answers.iter().flatten() {
        match answer {
            Ok(canceled) if canceled.transfer.state.status == Status::Canceled => assert!(is_canceled),
            // What is not known to be done says that it is pending, and is done in the end.
            Ok(canceled) => {
                assert!(canceled.transfer.progress.cancel_requested_at.is_some() && is_canceled);
            }
            Err(CancelError::Store(StoreError::Unavailable(_) | StoreError::Unknown(_))) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    if let [_, again] = answers {
        assert!(matches!(again, Some(Ok(_))) && is_canceled, "{again:?}");
        assert_eq!(transfer.progress.cancel_requested_at, None);
        let kinds = world.event_kinds(ServiceReference::Ach(id)).await;
        assert_eq!(kinds.iter().filter(|kind| **kind == "transaction.canceled").count(), 1, "{kinds:?}");
        let balances = world.engine().balances(world.environment, Currency::USD).await.unwrap();
        assert_eq!((balances.available.get(), balances.reserved.get()), (FUNDS, 0));
    }
}

macro_rules! use_case {
    ($name:ident, $given:expr, $operator:expr) => {
        struct $name(TransferId);

        impl UseCase for $name {
            type Answer = Answer;

            async fn given(world: &World) -> Self {
                Self($given(world).await)
            }

            async fn act(&self, world: &World) -> Answer {
                cancel_by(world, self.0, $operator.as_ref()).await
            }

            async fn check(&self, world: &World, answers: &[Option<Answer>]) {
                check(world, self.0, answers).await;
                let operator: Option<Origin> = $operator;
                let is_canceled = world.transfer(self.0).await.unwrap().state.status == Status::Canceled;
                let expected = usize::from(operator.is_some() && is_canceled);
                assert_eq!(world.audited_requests(ServiceReference::Ach(self.0)).await, expected);
            }
        }
    };
}

async fn accepted(world: &World) -> TransferId {
    world.send(KEY, 10_000).await.unwrap().transfer.order.id
}

use_case!(CancelAccepted, accepted, Some(origin()));
use_case!(CancelInDoubt, async |world: &World| in_doubt(world, true).await, None::<Origin>);
use_case!(CancelNeverReceived, async |world: &World| in_doubt(world, false).await, Some(origin()));
use_case!(CancelWaiting, waiting, Some(origin()));

#[tokio::test(start_paused = true)]
async fn canceling_what_the_provider_took_survives_every_fault() {
    fails_at_every_step::<CancelAccepted>().await;
}

#[tokio::test(start_paused = true)]
async fn canceling_what_the_provider_may_have_survives_every_fault() {
    fails_at_every_step::<CancelInDoubt>().await;
}

#[tokio::test(start_paused = true)]
async fn canceling_what_never_arrived_survives_every_fault() {
    fails_at_every_step::<CancelNeverReceived>().await;
}

#[tokio::test(start_paused = true)]
async fn canceling_what_waits_for_people_survives_every_fault() {
    fails_at_every_step::<CancelWaiting>().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_on_its_way_goes_on() {
    let world = World::new().await;
    let id = world.send(KEY, 10_000).await.unwrap().transfer.order.id;
    world.providers.records().transfer().status = AchProviderStatus::Sent;
    for _ in 0..2 {
        let refused = cancel(&world, id).await;
        assert!(matches!(refused, Err(CancelError::NotCancelable(_))), "{refused:?}");
    }
    let transfer = world.transfer(id).await.unwrap();
    assert_eq!((transfer.state.status, transfer.progress.cancel_requested_at), (Status::Processing, None));
    for (status, expected) in [
        (AchProviderStatus::Settled, Status::Succeeded),
        (AchProviderStatus::Returned { code: "R03".to_owned() }, Status::Failed),
    ] {
        world.providers.records().transfer().status = status;
        world.settle().await;
        assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(expected));
        let calls = world.providers.records().calls.len();
        let refused = cancel(&world, id).await;
        assert!(matches!(refused, Err(CancelError::NotCancelable(_))), "{refused:?}");
        assert_eq!(world.providers.records().calls.len(), calls, "the provider is not asked");
    }
    world.check().await;
}

/// A request that is still under way when the provider is looked at may arrive afterwards.
#[tokio::test(start_paused = true)]
async fn funds_stay_reserved_until_nothing_can_arrive_anymore() {
    let world = World::new().await;
    let id = in_doubt(&world, false).await;
    let asked = cancel(&world, id).await.unwrap().transfer;
    assert_eq!(asked.state.status, Status::Pending);
    assert_eq!(asked.progress.sealed_account, None, "nobody can send it from now on");
    sleep(Duration::from_mins(5)).await;
    world.resolve().await;
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Pending));
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
    world.settle().await;
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Canceled));
    assert_eq!(world.providers.records().transfer().status, AchProviderStatus::Canceled);
    assert_eq!(world.providers.records().count("transfers.create"), 0, "nobody sent it again");
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn only_transfers_of_the_environment_are_canceled() {
    let world = World::new().await;
    let missing = cancel(&world, TransferId::from_bytes([7; 16])).await;
    assert!(matches!(missing, Err(CancelError::Missing)), "{missing:?}");
    let prepared = world.prepared_to_capture(Flow::PaymentComponent, 1_000).await.order.id;
    for (id, is_known) in [(PaymentId::from_bytes([7; 16]), false), (prepared, true)] {
        let card = ServiceReference::Card(id);
        let refused = world.engine().cancel_transfer(&world.view(), card, None, "req_cancel").await;
        match refused {
            Err(CancelError::NotCancelable(_)) if is_known => {}
            Err(CancelError::Missing) if !is_known => {}
            other => panic!("{other:?}"),
        }
    }
}
