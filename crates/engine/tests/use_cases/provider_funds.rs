//! A bank whose own account lacks the money refuses for good: the funds are free again, and nothing leaves later.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{Currency, ServiceReference, id::TransferId, transaction::Status};
use tollgate_engine::{
    TransferCreated, TransferError,
    ports::{RejectionKind, StoreError},
};

use crate::support::{
    every_step::{UseCase, fails_at_every_step},
    faults::Fault,
    world::{FUNDS, World},
};

const KEY: &str = "a caller's key";

/// After the lease of whoever started the work, and after every pause of the resolver's.
const LATER: Duration = Duration::from_mins(11);

async fn resolve_later(world: &World) {
    for _ in 0..3 {
        sleep(LATER).await;
        world.resolve().await;
    }
}

/// It failed for lack of funds, and the wallet has its money back; nothing is at the bank, now or later.
async fn check_refused(world: &World, id: TransferId) {
    let state = world.transfer(id).await.unwrap().state;
    let failure = state.failure.unwrap();
    assert_eq!((state.status, failure.code.as_str()), (Status::Failed, "provider_funds"), "{failure:?}");
    let balances = world.engine().balances(world.environment, Currency::USD).await.unwrap();
    assert_eq!((balances.available.get(), balances.reserved.get()), (FUNDS, 0));
    world.providers.records().funds = None;
    resolve_later(world).await;
    world.settle().await;
    assert_eq!(world.providers.records().transfers, []);
    assert_eq!(
        world.event_kinds(ServiceReference::Ach(id)).await,
        ["transaction.pending", "transaction.failed"]
    );
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn a_bank_without_the_money_is_asked_by_our_key_and_then_believed() {
    let world = World::new().await;
    world.providers.records().funds = Some(9_999);
    let Err(TransferError::Rejected { reference, failure, replayed }) = world.send(KEY, 10_000).await else {
        panic!("it was refused");
    };
    assert_eq!((failure.code.as_str(), replayed), ("provider_funds", false));
    assert_eq!(world.providers.records().calls, ["transfers.create", "transfers.list"]);
    let again = world.send(KEY, 10_000).await.unwrap_err();
    assert!(matches!(again, TransferError::Rejected { replayed: true, .. }), "{again:?}");
    check_refused(&world, reference).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_under_the_key_before_is_the_outcome() {
    let world = World::new().await;
    world.faults.arm(Fault::ProviderUnknown { done: true }, 1);
    let made = world.send(KEY, 10_000).await.unwrap().transfer;
    world.faults.disarm();
    assert_eq!(made.state.status, Status::Pending);
    world.providers.records().funds = Some(0);
    resolve_later(&world).await;
    assert_eq!(world.status(ServiceReference::Ach(made.order.id)).await, Some(Status::Processing));
    world.check().await;
}

/// The lookup fails, and when it works again the account is funded: the old payout does not leave.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_could_not_be_confirmed_is_never_sent_again() {
    let world = World::new().await;
    world.providers.records().funds = Some(0);
    world.faults.arm(Fault::ProviderUnsent, 2);
    let made = world.send(KEY, 10_000).await.unwrap().transfer;
    assert_eq!(world.faults.disarm(), Some("transfers.list"));
    assert_eq!(made.state.status, Status::Pending);
    let progress = world.transfer(made.order.id).await.unwrap().progress;
    assert_eq!(progress.sealed_account, None);
    assert!(progress.waiting.unwrap().contains("provider_funds"), "it says why it waits");
    let balances = world.engine().balances(world.environment, Currency::USD).await.unwrap();
    assert!(balances.reserved.get() > 10_000, "not released before it is certain");
    world.providers.records().funds = None;
    resolve_later(&world).await;
    assert_eq!(world.providers.records().count("transfers.create"), 1);
    let failure = world.transfer(made.order.id).await.unwrap().state.failure.unwrap();
    assert_eq!(failure.message, "The provider says provider_funds.", "in the provider's own words");
    check_refused(&world, made.order.id).await;
}

#[tokio::test(start_paused = true)]
async fn the_resolver_is_refused_like_anybody() {
    let world = World::new().await;
    world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
    let made = world.send(KEY, 10_000).await.unwrap().transfer;
    world.faults.disarm();
    world.providers.records().funds = Some(0);
    resolve_later(&world).await;
    check_refused(&world, made.order.id).await;
}

/// A conflict can be about a request of ours that is still being processed: only one that lasts is a refusal.
#[tokio::test(start_paused = true)]
async fn a_conflict_is_believed_once_nothing_of_ours_can_be_under_way() {
    let world = World::new().await;
    let conflict = || world.faults.arm(Fault::ProviderRejects(RejectionKind::State), 1);
    conflict();
    let made = world.send(KEY, 10_000).await.unwrap().transfer;
    assert_eq!(world.faults.disarm(), Some("transfers.create"));
    assert_eq!(world.providers.records().calls, ["transfers.list"]);
    assert_eq!(made.state.status, Status::Pending);
    sleep(LATER).await;
    conflict();
    world.resolve().await;
    assert_eq!(world.faults.disarm(), Some("transfers.create"));
    let state = world.transfer(made.order.id).await.unwrap().state;
    assert_eq!((state.status, state.failure.unwrap().code.as_str()), (Status::Failed, "provider_state"));
    resolve_later(&world).await;
    assert_eq!(world.providers.records().transfers, []);
    world.check().await;
}

/// A caller sends a transfer through a bank that lacks the money.
struct SendUnfunded;

impl UseCase for SendUnfunded {
    type Answer = Result<TransferCreated, TransferError>;

    async fn given(world: &World) -> Self {
        world.providers.records().funds = Some(0);
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.send(KEY, 10_000).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let id = world.engine().transfer_reference(&world.view(), KEY);
        let status = world.status(ServiceReference::Ach(id)).await;
        assert_eq!(world.providers.records().transfers, []);
        match answers.last().unwrap() {
            Some(Ok(_) | Err(TransferError::Rejected { .. })) => assert_eq!(status, Some(Status::Failed)),
            Some(Err(TransferError::Store(StoreError::Unknown(_)))) | None => {}
            Some(Err(error)) => assert_eq!(status, None, "answered {error}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_bank_without_the_money_survives_every_fault() {
    fails_at_every_step::<SendUnfunded>().await;
}
