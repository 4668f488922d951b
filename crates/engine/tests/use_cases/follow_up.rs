//! Follow-ups of paid payments find refunds and disputes whose webhooks never arrived.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{Flow, ServiceReference, card::ProviderStatus, transaction::Dispute};

use tollgate_engine::ports::ListedDispute;

use crate::support::{
    config::REGISTER_FROM,
    every_step::{Retry, UseCase, fails_at_every_step},
    provider::whole_refund,
    requests::{charge_of, look_at},
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
        world.providers.records().page().dispute = Some(Dispute {
            id,
            status,
            reason: None,
            amount: None,
            currency: None,
            respond_by: None,
            withdrawn: None,
        });
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

/// The webhook of a dispute never came, and the register's payments do not say that they are disputed.
struct Listed(ServiceReference);

impl UseCase for Listed {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let payment = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
        world.confirm(payment, charge_of("a card")).await.unwrap();
        let ours = world.providers.records().sale().id.clone();
        let page = |payments: &[&str]| payments.iter().map(|payment| listed(payment, "open")).collect();
        world.providers.records().dispute_pages =
            vec![page(&["a sale at the counter"]), Vec::new(), page(&["another", &ours])];
        Self(ServiceReference::Card(payment))
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

fn listed(payment: &str, status: &str) -> ListedDispute {
    let dispute = Dispute {
        id: format!("dispute of {payment}"),
        status: status.to_owned(),
        reason: None,
        amount: None,
        currency: None,
        respond_by: None,
        withdrawn: None,
    };
    ListedDispute { payment: payment.to_owned(), dispute }
}

#[tokio::test(start_paused = true)]
async fn a_dispute_found_by_a_list_survives_every_fault() {
    fails_at_every_step::<Listed>().await;
}

#[tokio::test(start_paused = true)]
async fn disputes_are_listed_once_a_day_and_those_of_others_leave_no_trace() {
    let world = World::new().await;
    let Listed(reference) = Listed::given(&world).await;
    let pages = || world.providers.records().count("disputes.page");
    for _ in 0..3 {
        world.resolve().await;
        // Another node, or this one after a restart, finds the day's list begun.
        world.restart().await;
    }
    assert_eq!(pages(), 3, "each page once");
    let events = world.engine().provider_events(world.environment, None, None, 50).await.unwrap();
    let kinds = events.iter().map(|stored| stored.event.kind.as_str());
    assert_eq!(kinds.filter(|kind| *kind == "tollgate.dispute_listed").count(), 1, "{events:?}");
    let timeline = world.store.timeline(world.environment, reference).await.unwrap().len();

    // The next day it is known already, until it changes.
    sleep(A_DAY_LATER).await;
    world.resolve().await;
    assert_eq!(pages(), 6);
    assert_eq!(world.store.timeline(world.environment, reference).await.unwrap().len(), timeline);
    for page in &mut world.providers.records().dispute_pages {
        for listed in page {
            listed.dispute.status = "lost".to_owned();
        }
    }
    sleep(A_DAY_LATER).await;
    world.resolve().await;
    let told = world.event_kinds(reference).await;
    assert_eq!(told.last(), Some(&"dispute.closed"), "{told:?}");
}
