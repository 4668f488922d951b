//! Limits: what counts toward them, and what is given back.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use tollgate_domain::{
    Flow, Minor, ServiceReference, card::ProviderStatus, limit::LimitBound, transaction::Status,
};
use tollgate_engine::{PrepareError, PrepareRequest, TransferCreated, TransferError};
use tollgate_vault::Secret;

use crate::support::{
    config::{self, REGISTER_FROM},
    every_step::{UseCase, fails_at_every_step},
    requests::{card_request, charge_of, transfer_request},
    world::World,
};

const DAY: u64 = 86_400;

fn limit(id: &str, method: &str, per: &str, bound: &str, most: u64) -> Value {
    json!({ "id": id, "paymentMethod": method, "per": per, "windowSeconds": DAY, bound: most })
}

async fn world_with(limits: Value) -> World {
    let world = World::new().await;
    configure(&world, limits).await;
    world
}

async fn configure(world: &World, limits: Value) {
    let mut document = config::document();
    document["limits"] = limits;
    world.configure(document).await;
}

/// The limit that a transfer exceeds.
fn exceeded(made: Result<TransferCreated, TransferError>) -> (String, LimitBound) {
    match made {
        Err(TransferError::LimitExceeded(exceeded)) => (exceeded.limit.id.to_string(), exceeded.bound),
        other => panic!("{other:?}"),
    }
}

async fn prepare(world: &World, request: PrepareRequest) -> Result<ServiceReference, PrepareError> {
    let prepared = world.engine().prepare(&world.view(), request, "req_prepare").await;
    prepared.map(|it| ServiceReference::Card(it.payment.order.id))
}

/// One transfer a day: whatever fails on the way, it is counted if and only if it was made.
struct SendOnce;

impl UseCase for SendOnce {
    type Answer = Result<TransferCreated, TransferError>;

    async fn given(world: &World) -> Self {
        configure(world, json!([limit("daily", "ach", "customer", "maxCount", 1)])).await;
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.send("the first", 10_000).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        for answer in answers.iter().flatten() {
            assert!(!matches!(answer, Err(TransferError::LimitExceeded(_))), "{answer:?}");
        }
        if answers.len() < 2 {
            return;
        }
        let id = world.engine().transfer_reference(&world.view(), "the first");
        let status = world.status(ServiceReference::Ach(id)).await;
        let second = world.send("the second", 1).await;
        match status {
            Some(Status::Failed) => assert!(second.is_ok(), "{second:?}"),
            _ => assert_eq!(exceeded(second), ("daily".to_owned(), LimitBound::Count(1)), "{status:?}"),
        }
        world.settle().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_limited_transfer_survives_every_fault() {
    fails_at_every_step::<SendOnce>().await;
}

#[tokio::test(start_paused = true)]
async fn a_transfer_is_refused_by_name_and_before_anything_happens() {
    let world = world_with(json!([
        limit("count", "ach", "environment", "maxCount", 3),
        limit("amount", "ach", "customer", "maxAmountMinor", 10_000),
        limit("cards", "web_card", "environment", "maxCount", 1),
    ]))
    .await;
    world.send("first", 6_000).await.unwrap();
    let calls = world.providers.records().calls.len();
    let most = LimitBound::Amount(Minor::new(10_000).unwrap());
    assert_eq!(exceeded(world.send("second", 4_001).await), ("amount".to_owned(), most));
    assert_eq!(world.providers.records().calls.len(), calls);
    assert_eq!(world.transactions().await.len(), 1);
    // The principal counts, not the fee, and the key that was refused is free.
    world.send("second", 4_000).await.unwrap();
    assert!(world.send("first", 6_000).await.unwrap().replayed);
    assert_eq!(exceeded(world.send("third", 1).await), ("amount".to_owned(), most));
    configure(&world, json!([limit("count", "ach", "environment", "maxCount", 3)])).await;
    world.send("third", 1).await.unwrap();
    assert_eq!(exceeded(world.send("fourth", 1).await), ("count".to_owned(), LimitBound::Count(3)));
    sleep(Duration::from_secs(DAY)).await;
    world.send("fourth", 1).await.unwrap();
    world.settle().await;
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn an_account_is_known_whoever_the_customer_is() {
    let world = world_with(json!([limit("account", "ach", "account", "maxCount", 1)])).await;
    world.send("first", 10).await.unwrap();
    assert_eq!(exceeded(world.send("second", 10).await), ("account".to_owned(), LimitBound::Count(1)));
    let mut request = transfer_request(&world, "second", 10);
    request.bank.account.account_number = Secret::new("000123456780");
    world.engine().create_transfer(&world.view(), request, "req_transfer").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_rejected_or_returned_transfer_is_given_back() {
    let world = world_with(json!([limit("daily", "ach", "environment", "maxAmountMinor", 10_000)])).await;
    world.providers.records().funds = Some(0);
    let rejected = world.send("first", 10_000).await.unwrap_err();
    assert!(matches!(rejected, TransferError::Rejected { .. }), "{rejected:?}");
    world.providers.records().funds = None;
    world.send("second", 10_000).await.unwrap();
    assert!(matches!(world.send("third", 1).await, Err(TransferError::LimitExceeded(_))));
    // Our credentials are refused: nothing is recorded, and nothing counts.
    sleep(Duration::from_secs(DAY)).await;
    let mut wrong = config::with_wrong_credentials();
    wrong["limits"] = json!([limit("daily", "ach", "environment", "maxAmountMinor", 10_000)]);
    world.configure(wrong).await;
    assert!(matches!(world.send("fourth", 10_000).await, Err(TransferError::NotConfigured { .. })));
    configure(&world, json!([limit("daily", "ach", "environment", "maxAmountMinor", 10_000)])).await;
    world.send("fifth", 10_000).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_preparation_counts_while_it_can_be_paid_and_once_it_is() {
    let world = world_with(json!([limit("cards", "web_card", "environment", "maxCount", 1)])).await;
    let request = |amount| card_request(Flow::PaymentComponent, amount);
    let first = prepare(&world, request(REGISTER_FROM)).await.unwrap();
    let refused = prepare(&world, request(1_000)).await.unwrap_err();
    let PrepareError::LimitExceeded(exceeded) = &refused else { panic!("{refused:?}") };
    assert_eq!((&*exceeded.limit.id, exceeded.bound), ("cards", LimitBound::Count(1)));
    // Nobody paid it. Its window is over, too, so that what follows counts by itself.
    sleep(Duration::from_secs(DAY)).await;
    world.settle().await;
    assert_eq!(world.status(first).await, None);
    let ServiceReference::Card(id) = prepare(&world, request(REGISTER_FROM)).await.unwrap() else { panic!() };
    world.confirm(id, charge_of("a card")).await.unwrap();
    assert!(matches!(prepare(&world, request(1_000)).await, Err(PrepareError::LimitExceeded(_))));
}

/// The window is longer than a preparation lives.
#[tokio::test(start_paused = true)]
async fn an_expired_preparation_is_given_back_and_a_paid_one_is_not() {
    let mut weekly = limit("cards", "web_card", "environment", "maxAmountMinor", 1_000);
    weekly["windowSeconds"] = json!(7 * DAY);
    let world = world_with(json!([weekly])).await;
    let request = || card_request(Flow::HostedCheckout, 1_000);
    prepare(&world, request()).await.unwrap();
    assert!(matches!(prepare(&world, request()).await, Err(PrepareError::LimitExceeded(_))));
    sleep(Duration::from_secs(DAY)).await;
    world.settle().await;
    prepare(&world, request()).await.unwrap();
    world.providers.records().pages.last_mut().unwrap().status = ProviderStatus::Succeeded;
    sleep(Duration::from_secs(DAY)).await;
    world.settle().await;
    assert!(matches!(prepare(&world, request()).await, Err(PrepareError::LimitExceeded(_))));
}

#[tokio::test(start_paused = true)]
async fn a_card_customer_is_an_address_however_it_is_written() {
    let world = world_with(json!([limit("customer", "web_card", "customer", "maxCount", 1)])).await;
    let of = |email: Option<&str>| PrepareRequest {
        customer_email: email.map(str::to_owned),
        ..card_request(Flow::HostedCheckout, 1_000)
    };
    prepare(&world, of(Some("ada@example.com"))).await.unwrap();
    let again = prepare(&world, of(Some("Ada@Example.com"))).await;
    assert!(matches!(again, Err(PrepareError::LimitExceeded(_))), "{again:?}");
    prepare(&world, of(Some("grace@example.com"))).await.unwrap();
    // Without an address there is nobody to count for.
    prepare(&world, of(None)).await.unwrap();
    prepare(&world, of(None)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_key_counts_once() {
    let world = world_with(json!([limit("cards", "web_card", "environment", "maxCount", 1)])).await;
    let keyed = || PrepareRequest {
        idempotency_key: Some("a caller's key".to_owned()),
        ..card_request(Flow::HostedCheckout, 1_000)
    };
    let first = prepare(&world, keyed()).await.unwrap();
    assert_eq!(prepare(&world, keyed()).await.unwrap(), first);
}
