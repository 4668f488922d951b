//! A bank that forgets an idempotency key after a day and would then carry out the same request once more.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{ServiceReference, transaction::Status};

use crate::support::{
    config,
    every_step::{Retry, UseCase, fails_at_every_step},
    faults::Fault,
    world::World,
};

const TWO_DAYS: Duration = Duration::from_hours(49);

/// A transfer that the bank took two days ago, whose answer was lost and which was not looked up since.
struct DoubtBeyondTheKey<const TAKEN: bool>(ServiceReference);

impl<const TAKEN: bool> UseCase for DoubtBeyondTheKey<TAKEN> {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        world.configure(config::with_forgetful_bank()).await;
        world.faults.arm(Fault::ProviderUnknown { done: TAKEN }, 1);
        let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
        assert_eq!(world.faults.disarm(), Some("transfers.create"));
        assert_eq!(made.state.status, Status::Pending);
        sleep(TWO_DAYS).await;
        Self(ServiceReference::Ach(made.order.id))
    }

    async fn act(&self, world: &World) {
        world.resolve().await;
        // Each further look is another two days later, so that no key helps.
        sleep(TWO_DAYS).await;
        world.resolve().await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let (taken, asked) = {
            let records = world.providers.records();
            assert!(records.transfers.len() <= 1, "{:?}", records.transfers);
            (records.transfers.len(), records.count("transfers.create"))
        };
        if TAKEN {
            assert_eq!((taken, asked), (1, 1), "it is looked up, not sent again");
        }
        let status = world.status(self.0).await;
        // A bank that never had it may refuse it when it is sent again.
        let expected = if taken == 1 { Status::Processing } else { Status::Failed };
        assert_eq!(status, Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_transfer_in_doubt_for_days_is_never_sent_twice() {
    fails_at_every_step::<DoubtBeyondTheKey<true>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_transfer_that_never_arrived_is_sent_days_later_and_once() {
    fails_at_every_step::<DoubtBeyondTheKey<false>>().await;
}

#[tokio::test(start_paused = true)]
async fn the_caller_who_asks_again_days_later_gets_the_same_transfer() {
    let world = World::new().await;
    world.configure(config::with_forgetful_bank()).await;
    let first = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
    sleep(TWO_DAYS).await;
    let again = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
    assert_eq!(again, first);
    assert_eq!(world.providers.records().count("transfers.create"), 1);
}
