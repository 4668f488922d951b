//! Wallet movements: once per reference.

use tollgate_domain::{Currency, ledger::Cause};
use tollgate_engine::{
    MoveError,
    ports::{AppliedMovement, StoreError},
};

use crate::support::{
    every_step::{UseCase, fails_at_every_step},
    requests::{move_order, origin},
    world::{FUNDS, World},
};

async fn available(world: &World) -> u64 {
    world.store.balances(world.environment, Currency::USD).await.unwrap().unwrap().available.get()
}

/// An operator funds the wallet, or withdraws from it.
struct Move<const OUT: bool>;

impl<const OUT: bool> Move<OUT> {
    const AFTER: u64 = if OUT { FUNDS - 500 } else { FUNDS + 500 };
}

impl<const OUT: bool> UseCase for Move<OUT> {
    type Answer = Result<AppliedMovement, MoveError>;

    async fn given(_: &World) -> Self {
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        let cause = if OUT { Cause::Withdraw } else { Cause::Fund };
        world.engine().move_funds(world.environment, move_order(cause, 500, "a reference"), &origin()).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        match answers {
            [Some(Err(MoveError::Store(StoreError::Unavailable(_))))] => {
                assert_eq!(available(world).await, FUNDS);
            }
            [None | Some(Err(MoveError::Store(StoreError::Unknown(_))))] => {
                assert!([FUNDS, Self::AFTER].contains(&available(world).await));
            }
            [Some(Ok(applied))] => {
                assert!(!applied.replayed);
                assert_eq!(available(world).await, Self::AFTER);
            }
            [first, Some(Ok(again))] => {
                assert!(again.replayed || !matches!(first, Some(Ok(_))), "{answers:?}");
                assert_eq!(available(world).await, Self::AFTER);
            }
            _ => panic!("{answers:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn funding_survives_every_fault() {
    fails_at_every_step::<Move<false>>().await;
}

#[tokio::test(start_paused = true)]
async fn withdrawing_survives_every_fault() {
    fails_at_every_step::<Move<true>>().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_moved_moves_nothing() {
    let world = World::new().await;
    let engine = world.engine();
    let by = async |cause, amount, reference: &str| {
        engine.move_funds(world.environment, move_order(cause, amount, reference), &origin()).await
    };
    by(Cause::Fund, 500, "used").await.unwrap();
    let reused = by(Cause::Fund, 501, "used").await.unwrap_err();
    assert!(matches!(reused, MoveError::ReferenceReused { amount } if amount.get() == 500), "{reused:?}");
    let all = FUNDS + 500;
    let insufficient = by(Cause::Withdraw, all + 1, "out").await.unwrap_err();
    assert!(matches!(insufficient, MoveError::Insufficient { available } if available.get() == all));
    let too_much = by(Cause::Fund, tollgate_domain::Minor::MAX.get(), "in").await.unwrap_err();
    assert!(matches!(too_much, MoveError::TooMuch), "{too_much:?}");
    assert_eq!(available(&world).await, all);
    by(Cause::Withdraw, all, "out").await.unwrap();
    assert_eq!(available(&world).await, 0);
    world.check().await;
}
