//! Follow-ups of paid payments find refunds and disputes whose webhooks never arrived.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{Flow, ServiceReference, card::ProviderStatus, transaction::Dispute};

use crate::support::{
    every_step::{Retry, UseCase, fails_at_every_step},
    provider::whole_refund,
    requests::look_at,
    world::World,
};

const A_DAY_LATER: Duration = Duration::from_hours(25);

/// A paid payment.
async fn paid(world: &World) -> ServiceReference {
    let payment = world.prepared(Flow::PaymentComponent, 1_000).await;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.confirm(payment.order.id, look_at(&payment.progress.object.unwrap())).await.unwrap();
    ServiceReference::Card(payment.order.id)
}

/// The payment was refunded in the provider's dashboard.
struct Refunded(ServiceReference);

impl UseCase for Refunded {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let reference = paid(world).await;
        let mut records = world.providers.records();
        let page = records.page();
        page.refunds.push(whole_refund(page.amount));
        Self(reference)
    }

    async fn act(&self, world: &World) {
        sleep(A_DAY_LATER).await;
        world.resolve().await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let expected =
            ["payment.prepared", "transaction.succeeded", "refund.succeeded", "transaction.refunded"];
        assert_eq!(world.event_kinds(self.0).await, expected);
    }
}

/// The customer's bank opened a dispute.
struct Disputed(ServiceReference);

impl UseCase for Disputed {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let reference = paid(world).await;
        let (id, status) = ("dispute_1".to_owned(), "needs_response".to_owned());
        world.providers.records().page().dispute =
            Some(Dispute { id, status, reason: None, amount: None, respond_by: None, withdrawn: None });
        Self(reference)
    }

    async fn act(&self, world: &World) {
        sleep(A_DAY_LATER).await;
        world.resolve().await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let expected = ["payment.prepared", "transaction.succeeded", "dispute.opened"];
        assert_eq!(world.event_kinds(self.0).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refund_without_a_webhook_survives_every_fault() {
    fails_at_every_step::<Refunded>().await;
}

#[tokio::test(start_paused = true)]
async fn a_dispute_without_a_webhook_survives_every_fault() {
    fails_at_every_step::<Disputed>().await;
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_that_finds_nothing_leaves_no_trace() {
    let world = World::new().await;
    let reference = paid(&world).await;
    let before = world.store.timeline(world.environment, reference).await.unwrap();
    for _ in 0..3 {
        sleep(Duration::from_hours(24 * 40)).await;
        world.resolve().await;
    }
    assert!(world.providers.records().count("pages.retrieve") >= 4);
    assert_eq!(world.store.timeline(world.environment, reference).await.unwrap(), before);
}
