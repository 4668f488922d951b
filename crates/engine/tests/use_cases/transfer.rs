//! Sending a transfer: reserved, sent and answered, once per key.

use serde_json::{Value, json};
use tollgate_domain::{Currency, ServiceReference, transaction::Status};
use tollgate_engine::{TransferCreated, TransferError, TransferRequest, ports::StoreError};

use crate::support::{
    config,
    every_step::{UseCase, fails_at_every_step},
    requests::transfer_request,
    world::{FUNDS, World},
};

const KEY: &str = "a caller's key";

/// A caller sends a transfer.
struct SendTransfer;

impl UseCase for SendTransfer {
    type Answer = Result<TransferCreated, TransferError>;

    async fn given(_: &World) -> Self {
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.send(KEY, 10_000).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let id = world.engine().transfer_reference(&world.view(), KEY);
        let reference = ServiceReference::Ach(id);
        let reported = world.event_kinds(reference).await;
        let at_bank = world.providers.records().transfers.len();
        let last = answers.last().unwrap();
        match last {
            // A transfer in an answer exists, and its status was sent as an event.
            Some(Ok(made)) => {
                assert_eq!(made.transfer.order.id, id);
                let kind = format!("transaction.{}", made.transfer.state.status.as_str());
                assert!(reported.contains(&kind.as_str()), "answered {kind}, reported {reported:?}");
            }
            Some(Err(TransferError::Rejected { reference: rejected, .. })) => {
                assert_eq!(*rejected, id);
                assert_eq!(world.status(reference).await, Some(Status::Failed));
                assert_eq!(at_bank, 0);
            }
            Some(Err(TransferError::Store(StoreError::Unknown(_)))) | None => {}
            // Any other error means that nothing happened.
            Some(Err(error)) => {
                assert_eq!((at_bank, reported.len()), (0, 0), "answered {error}");
                assert_eq!(world.status(reference).await, None, "answered {error}");
            }
        }
        if let [_, Some(again)] = answers {
            assert!(matches!(again, Ok(_) | Err(TransferError::Rejected { .. })), "{again:?}");
            let status = world.status(reference).await;
            assert_eq!(status, Some(if at_bank == 1 { Status::Processing } else { Status::Failed }));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn sending_survives_every_fault() {
    fails_at_every_step::<SendTransfer>().await;
}

/// A change of the configuration, and the error it leads to.
type Obstacle = (&'static str, fn(&mut Value), fn(&TransferError) -> bool);

#[tokio::test(start_paused = true)]
async fn an_obstacle_is_named_and_leaves_the_key_free() {
    let obstacles: [Obstacle; 4] = [
        (
            "no routing",
            |it| it["routing"]["ach"]["enabled"] = json!(false),
            |error| matches!(error, TransferError::Unroutable(_)),
        ),
        (
            "no key",
            |it| it["providers"]["bank"]["credentials"] = json!({}),
            |error| matches!(error, TransferError::NotConfigured { missing, .. } if missing.len() == 1),
        ),
        (
            "a wrong key",
            |it| *it = config::with_wrong_credentials(),
            |error| matches!(error, TransferError::NotConfigured { missing, .. } if missing.is_empty()),
        ),
        (
            "no funds there",
            |it| it["settings"]["checkProviderFunds"] = json!(true),
            |error| matches!(error, TransferError::ProviderFunds { .. }),
        ),
    ];
    for (what, change, is_expected) in obstacles {
        let world = World::new().await;
        world.providers.records().funds = Some(9_999);
        let mut document = config::document();
        change(&mut document);
        world.configure(document).await;
        let error = world.send(KEY, 10_000).await.unwrap_err();
        assert!(is_expected(&error), "{what}: {error:?}");
        assert_eq!(world.transactions().await, [], "{what}");
        world.check().await;
        world.providers.records().funds = None;
        world.configure(config::document()).await;
        assert!(!world.send(KEY, 10_000).await.unwrap().replayed, "{what}");
        world.settle().await;
        world.check().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_wallet_pays_to_its_last_cent_and_no_further() {
    // The fee is 30 and twice one percent.
    let (world, most) = (World::new().await, (FUNDS - 30) * 100 / 102);
    let refused = world.send("too much", most + 1).await.unwrap_err();
    assert!(matches!(refused, TransferError::Insufficient { available } if available.get() == FUNDS));
    assert_eq!(world.providers.records().calls, [""; 0]);
    world.send("all of it", most).await.unwrap();
    let balances = world.engine().balances(world.environment, Currency::USD).await.unwrap();
    assert!(balances.available.get() < 2 && balances.reserved.get() > FUNDS - 2, "{balances:?}");
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_none_makes_no_transfer() {
    let world = World::new().await;
    let token = world.engine().open_token(&world.view(), "not a token");
    let request = TransferRequest { token, ..transfer_request(&world, KEY, 10_000) };
    let refused = world.engine().create_transfer(&world.view(), request, "req").await.unwrap_err();
    assert!(matches!(refused, TransferError::Token(_)), "{refused:?}");
    assert_eq!(world.transactions().await, []);
}
