//! Expiry of payments that are not paid in time.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{
    Flow, ServiceReference,
    card::{Preparation, ProviderStatus},
    id::PaymentId,
    transaction::Status,
};
use tollgate_engine::ConfirmError;

use crate::support::{
    config::REGISTER_FROM,
    every_step::{Retry, UseCase, fails_at_every_step},
    requests::{charge_of, look_at},
    world::World,
};

/// Beyond the usual lifetime of a preparation.
const TOO_LATE: Duration = Duration::from_hours(24);

/// A payment is not paid in time.
struct Expire<const HOSTED: bool, const AMOUNT: u64>(PaymentId);

impl<const HOSTED: bool, const AMOUNT: u64> UseCase for Expire<HOSTED, AMOUNT> {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let flow = if HOSTED { Flow::HostedCheckout } else { Flow::PaymentComponent };
        Self(world.prepared(flow, AMOUNT).await.order.id)
    }

    async fn act(&self, world: &World) {
        sleep(TOO_LATE).await;
        world.resolve().await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let payment = world.payment(self.0).await;
        assert_eq!(payment.progress.preparation, Preparation::Expired);
        assert!(payment.transaction.is_none());
        assert!(world.providers.records().pages.iter().all(|page| page.status == ProviderStatus::Canceled));
        assert_eq!(world.event_kinds(ServiceReference::Card(self.0)).await, ["payment.prepared"]);
    }
}

/// A payment is paid at the last moment, and no webhook arrives.
struct PaidAtTheLastMoment(PaymentId);

impl UseCase for PaidAtTheLastMoment {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let id = world.prepared(Flow::HostedCheckout, 1_000).await.order.id;
        sleep(TOO_LATE - Duration::from_secs(1)).await;
        world.providers.records().page().status = ProviderStatus::Succeeded;
        Self(id)
    }

    async fn act(&self, world: &World) {
        sleep(Duration::from_secs(2)).await;
        world.resolve().await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let reference = ServiceReference::Card(self.0);
        assert_eq!(world.event_kinds(reference).await, ["payment.prepared", "transaction.succeeded"]);
    }
}

/// A page is paid and then deleted, and no webhook arrives: the order still tells.
struct PaidAndDeleted(PaymentId);

impl UseCase for PaidAndDeleted {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let id = world.prepared(Flow::HostedCheckout, REGISTER_FROM).await.order.id;
        sleep(TOO_LATE - Duration::from_secs(1)).await;
        let mut records = world.providers.records();
        let page = records.page();
        (page.status, page.is_deleted) = (ProviderStatus::Succeeded, true);
        Self(id)
    }

    async fn act(&self, world: &World) {
        sleep(Duration::from_secs(2)).await;
        world.resolve().await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let reference = ServiceReference::Card(self.0);
        assert_eq!(world.event_kinds(reference).await, ["payment.prepared", "transaction.succeeded"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deleted_page_that_was_paid_survives_every_fault() {
    fails_at_every_step::<PaidAndDeleted>().await;
}

#[tokio::test(start_paused = true)]
async fn expiry_of_a_hosted_page_survives_every_fault() {
    fails_at_every_step::<Expire<true, 1_000>>().await;
}

#[tokio::test(start_paused = true)]
async fn expiry_of_an_intent_survives_every_fault() {
    fails_at_every_step::<Expire<false, 1_000>>().await;
}

#[tokio::test(start_paused = true)]
async fn expiry_of_a_component_for_tokens_survives_every_fault() {
    fails_at_every_step::<Expire<false, REGISTER_FROM>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_payment_at_the_last_moment_survives_every_fault() {
    fails_at_every_step::<PaidAtTheLastMoment>().await;
}

#[tokio::test(start_paused = true)]
async fn the_clock_decides_what_may_still_be_confirmed() {
    // The customer may have paid the intent in time, so it is read; a token is not charged after expiry.
    let world = World::new().await;
    let intent = world.prepared(Flow::PaymentComponent, 1_000).await.order.id;
    let token = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    sleep(TOO_LATE - Duration::from_secs(1)).await;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    sleep(Duration::from_secs(1)).await;
    let looked = world.confirm(intent, look_at("intent_1")).await.unwrap();
    assert_eq!(looked.payment.transaction.unwrap().state.status, Status::Succeeded);
    let refused = world.confirm(token, charge_of("a card")).await.unwrap_err();
    assert!(matches!(refused, ConfirmError::NotConfirmable(_)), "{refused:?}");
    assert_eq!(world.providers.records().sales.len(), 0);
    world.settle().await;
    world.check().await;
}
