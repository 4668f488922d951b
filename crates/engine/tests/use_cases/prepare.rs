//! Preparing a payment, on a hosted page and for a component, at both kinds of provider.

use tollgate_domain::{
    Currency, Flow, ServiceReference,
    card::{Preparation, ProviderStatus},
};
use tollgate_engine::{
    PrepareError, PreparedPayment,
    ports::{Component, StoreError},
};

use crate::support::{
    config::{self, REGISTER_FROM},
    every_step::{UseCase, fails_at_every_step},
    requests::card_request,
    world::World,
};

async fn prepare(world: &World, flow: Flow, amount: u64) -> Result<PreparedPayment, PrepareError> {
    world.engine().prepare(&world.view(), card_request(flow, amount), "req_prepare").await
}

/// A caller prepares a payment; a retry prepares another one.
struct Prepare<const HOSTED: bool, const AMOUNT: u64>;

impl<const HOSTED: bool, const AMOUNT: u64> UseCase for Prepare<HOSTED, AMOUNT> {
    type Answer = Result<PreparedPayment, PrepareError>;

    async fn given(_: &World) -> Self {
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        let flow = if HOSTED { Flow::HostedCheckout } else { Flow::PaymentComponent };
        prepare(world, flow, AMOUNT).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        for answer in answers.iter().flatten() {
            match answer {
                Ok(prepared) => {
                    let payment = world.payment(prepared.payment.order.id).await;
                    assert_eq!(payment.progress.preparation, Preparation::Prepared);
                    assert_eq!(payment.progress.object, prepared.payment.progress.object);
                    let reported = world.event_kinds(ServiceReference::Card(payment.order.id)).await;
                    assert_eq!(reported, ["payment.prepared"]);
                }
                // It is recorded, and cannot be paid.
                Err(PrepareError::Recorded { reference, .. }) => {
                    let payment = world.payment(*reference).await;
                    let ended = [Preparation::Withdrawn, Preparation::Refused];
                    assert!(ended.contains(&payment.progress.preparation), "{:?}", payment.progress);
                }
                Err(PrepareError::Store(StoreError::Unknown(_))) => {}
                Err(error) => assert!(matches!(error, PrepareError::Store(_)), "{error:?}"),
            }
        }
        if let [Some(Err(PrepareError::Store(StoreError::Unavailable(_))))] = answers {
            assert_eq!(world.payments().await, [], "nothing was said to have happened");
        }
        if let [_, again] = answers {
            assert!(matches!(again, Some(Ok(_))), "{again:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn preparing_a_hosted_page_survives_every_fault() {
    fails_at_every_step::<Prepare<true, 1_000>>().await;
}

#[tokio::test(start_paused = true)]
async fn preparing_a_component_survives_every_fault() {
    fails_at_every_step::<Prepare<false, 1_000>>().await;
}

#[tokio::test(start_paused = true)]
async fn preparing_a_component_for_tokens_survives_every_fault() {
    fails_at_every_step::<Prepare<false, REGISTER_FROM>>().await;
}

#[tokio::test(start_paused = true)]
async fn each_flow_gets_what_its_customer_needs() {
    let world = World::new().await;
    let hosted = prepare(&world, Flow::HostedCheckout, 1_000).await.unwrap();
    assert_eq!(hosted.payment.progress.checkout_url.as_deref(), Some("https://provider.example/page_1"));
    assert!(hosted.component.is_none());
    let intent = prepare(&world, Flow::PaymentComponent, 1_000).await.unwrap().component;
    let Some(Component::PaymentElement { payment_intent_id, .. }) = intent else { panic!("{intent:?}") };
    assert_eq!(payment_intent_id, "intent_2");
    let token = prepare(&world, Flow::PaymentComponent, REGISTER_FROM).await.unwrap().component;
    let Some(Component::WebPayments { location_id, .. }) = token else { panic!("{token:?}") };
    assert_eq!(location_id, "account a");
    assert_eq!(world.providers.records().count("pages.create"), 2, "a token needs no preparation there");
}

#[tokio::test(start_paused = true)]
async fn credentials_that_are_refused_are_named_as_the_reason() {
    let world = World::new().await;
    world.configure(config::with_wrong_credentials()).await;
    let refused = prepare(&world, Flow::HostedCheckout, 1_000).await;
    let Err(PrepareError::Recorded { reference, error }) = refused else { panic!("{refused:?}") };
    assert!(
        matches!(*error, PrepareError::NotConfigured { ref missing, .. } if missing.is_empty()),
        "{error:?}"
    );
    assert_eq!(world.payment(reference).await.progress.preparation, Preparation::Refused);
    world.settle().await;
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_made_and_never_answered_cannot_be_paid() {
    let world = World::new().await;
    world.faults.arm(crate::support::faults::Fault::ProviderUnknown { done: true }, 1);
    prepare(&world, Flow::HostedCheckout, 1_000).await.unwrap_err();
    world.faults.disarm();
    assert_eq!(world.providers.records().page().status, ProviderStatus::NotStarted);
    world.settle().await;
    assert_eq!(world.providers.records().page().status, ProviderStatus::Canceled);
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_provider_would_not_take_is_refused_before_anything_is_made() {
    let world = World::new().await;
    for flow in [Flow::HostedCheckout, Flow::PaymentComponent] {
        let mut request = card_request(flow, REGISTER_FROM);
        request.quote.currency = Currency::parse("EUR").unwrap();
        let refused = world.engine().prepare(&world.view(), request, "req").await.unwrap_err();
        assert!(matches!(refused, PrepareError::Rejected(_)), "{flow:?}: {refused:?}");
    }
    assert_eq!(world.payments().await, []);
    assert_eq!(world.providers.records().calls, [""; 0]);
}
