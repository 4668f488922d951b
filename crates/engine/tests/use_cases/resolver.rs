//! The resolver finds out unknown outcomes, and notices changes whose webhooks never arrived.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{
    Flow, ServiceReference,
    ach::AchProviderStatus,
    card::{Preparation, ProviderStatus},
    id::PaymentId,
    transaction::Status,
};

use crate::support::{
    config::REGISTER_FROM,
    every_step::{Retry, UseCase, fails_at_every_step},
    faults::Fault,
    requests::charge_of,
    world::World,
};

/// After the lease of whoever started the work and after the first scheduled check.
const LATER: Duration = Duration::from_secs(61);

async fn resolve_later(world: &World) {
    sleep(LATER).await;
    world.resolve().await;
}

/// Runs `work` while the provider's answer is lost.
async fn unanswered<T>(world: &World, done: bool, work: impl Future<Output = T>) -> T {
    world.faults.arm(Fault::ProviderUnknown { done }, 1);
    let made = work.await;
    assert!(world.faults.disarm().is_some());
    made
}

/// A transfer whose outcome is unknown; the bank has taken it or has not.
struct TransferOutcomeUnknown<const TAKEN: bool>(ServiceReference);

impl<const TAKEN: bool> UseCase for TransferOutcomeUnknown<TAKEN> {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let made = unanswered(world, TAKEN, world.send("a caller's key", 10_000)).await.unwrap().transfer;
        assert_eq!(made.state.status, Status::Pending);
        Self(ServiceReference::Ach(made.order.id))
    }

    async fn act(&self, world: &World) {
        resolve_later(world).await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let reported = world.event_kinds(self.0).await;
        match world.providers.records().transfers.len() {
            1 => assert_eq!(reported, ["transaction.pending", "transaction.processing"]),
            // The bank rejected it when it was sent again.
            taken => {
                assert_eq!(
                    (taken, reported.as_slice()),
                    (0, &["transaction.pending", "transaction.failed"][..])
                );
            }
        }
        if TAKEN {
            assert_eq!(
                world.providers.records().count("transfers.create"),
                1,
                "it is asked for, not sent again"
            );
        }
    }
}

/// A transfer has settled and no webhook arrived.
struct TransferSettledWithoutWebhook(ServiceReference);

impl UseCase for TransferSettledWithoutWebhook {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
        world.providers.records().transfer().status = AchProviderStatus::Settled;
        Self(ServiceReference::Ach(made.order.id))
    }

    async fn act(&self, world: &World) {
        resolve_later(world).await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let reported = world.event_kinds(self.0).await;
        assert_eq!(reported, ["transaction.pending", "transaction.processing", "transaction.succeeded"]);
    }
}

/// A charge whose outcome is unknown; the card was charged or was not.
struct ChargeOutcomeUnknown<const CHARGED: bool>(ServiceReference);

impl<const CHARGED: bool> UseCase for ChargeOutcomeUnknown<CHARGED> {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let id = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
        let confirmed = unanswered(world, CHARGED, world.confirm(id, charge_of("a card"))).await.unwrap();
        assert_eq!(confirmed.payment.transaction.unwrap().state.status, Status::Pending);
        Self(ServiceReference::Card(id))
    }

    async fn act(&self, world: &World) {
        resolve_later(world).await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let reported = world.event_kinds(self.0).await;
        let charges = world.providers.records().sales.len();
        match reported.as_slice() {
            ["payment.prepared", "transaction.pending", "transaction.succeeded"] => assert_eq!(charges, 1),
            // A decline under the same key is the outcome of the charge.
            ["payment.prepared", "transaction.pending", "transaction.failed"] => assert_eq!(charges, 0),
            _ => panic!("{reported:?}"),
        }
    }
}

/// A preparation whose outcome is unknown. The caller got no page, so what the provider created is withdrawn.
struct PreparationOutcomeUnknown<const MADE: bool>(PaymentId);

impl<const MADE: bool> UseCase for PreparationOutcomeUnknown<MADE> {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let request = crate::support::requests::card_request(Flow::HostedCheckout, 1_000);
        let (engine, view) = (world.engine(), world.view());
        unanswered(world, MADE, engine.prepare(&view, request, "req")).await.unwrap_err();
        Self(world.payments().await[0].order.id)
    }

    async fn act(&self, world: &World) {
        resolve_later(world).await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        let preparation = world.payment(self.0).await.progress.preparation;
        assert!(matches!(preparation, Preparation::Withdrawn | Preparation::Refused), "{preparation:?}");
        assert!(world.providers.records().pages.iter().all(|page| page.status == ProviderStatus::Canceled));
    }
}

/// A hosted page was paid and no webhook arrived.
struct PagePaidWithoutWebhook(ServiceReference);

impl UseCase for PagePaidWithoutWebhook {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        let id = world.prepared(Flow::HostedCheckout, 1_000).await.order.id;
        world.providers.records().page().status = ProviderStatus::Succeeded;
        Self(ServiceReference::Card(id))
    }

    async fn act(&self, world: &World) {
        resolve_later(world).await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        assert_eq!(world.event_kinds(self.0).await, ["payment.prepared", "transaction.succeeded"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_transfer_whose_answer_was_lost_survives_every_fault() {
    fails_at_every_step::<TransferOutcomeUnknown<true>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_transfer_that_never_arrived_survives_every_fault() {
    fails_at_every_step::<TransferOutcomeUnknown<false>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_settled_transfer_without_a_webhook_survives_every_fault() {
    fails_at_every_step::<TransferSettledWithoutWebhook>().await;
}

#[tokio::test(start_paused = true)]
async fn a_charge_whose_answer_was_lost_survives_every_fault() {
    fails_at_every_step::<ChargeOutcomeUnknown<true>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_never_arrived_survives_every_fault() {
    fails_at_every_step::<ChargeOutcomeUnknown<false>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_hosted_page_whose_answer_was_lost_survives_every_fault() {
    fails_at_every_step::<PreparationOutcomeUnknown<true>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_hosted_page_that_was_never_created_survives_every_fault() {
    fails_at_every_step::<PreparationOutcomeUnknown<false>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_paid_page_without_a_webhook_survives_every_fault() {
    fails_at_every_step::<PagePaidWithoutWebhook>().await;
}
