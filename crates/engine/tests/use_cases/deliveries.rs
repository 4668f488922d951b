//! Delivering events: at least once, always with the same body.

use tollgate_domain::{Flow, card::ProviderStatus, event::EventFilter};
use tollgate_engine::NewEndpoint;

use crate::support::{
    every_step::{Retry, UseCase, fails_at_every_step},
    faults::{Fault, lock},
    receiver::ENDPOINT_URL,
    requests::{look_at, origin},
    world::World,
};

async fn add_endpoint(world: &World, filter: EventFilter) {
    let url = world.engine().endpoint_url(ENDPOINT_URL).unwrap();
    let new = NewEndpoint { url, filter, description: None };
    world.engine().add_endpoint(world.environment, new, &origin()).await.unwrap();
}

/// Prepares a payment and pays it; neither event is delivered yet.
async fn two_events(world: &World) {
    let payment = world.prepared(Flow::PaymentComponent, 1_000).await;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.confirm(payment.order.id, look_at(&payment.progress.object.unwrap())).await.unwrap();
}

/// Two events are delivered to an endpoint.
struct Deliver;

impl UseCase for Deliver {
    type Answer = ();
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;

    async fn given(world: &World) -> Self {
        add_endpoint(world, EventFilter::All).await;
        two_events(world).await;
        Self
    }

    async fn act(&self, world: &World) {
        world.deliver().await;
    }

    async fn check(&self, world: &World, _: &[Option<()>]) {
        // That each event arrived, with one body, is an invariant.
        let received = lock(&world.received).len();
        assert!((2..=4).contains(&received), "{received} deliveries");
    }
}

#[tokio::test(start_paused = true)]
async fn delivering_survives_every_fault() {
    fails_at_every_step::<Deliver>().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_delivered_is_not_delivered_again() {
    let world = World::new().await;
    add_endpoint(&world, EventFilter::All).await;
    two_events(&world).await;
    for _ in 0..3 {
        world.settle().await;
    }
    assert_eq!(lock(&world.received).len(), 2);
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_receives_only_the_events_it_subscribed_to() {
    let world = World::new().await;
    add_endpoint(&world, EventFilter::parse(["transaction.succeeded"]).unwrap()).await;
    two_events(&world).await;
    world.settle().await;
    let received = lock(&world.received);
    let bodies: Vec<_> = received.iter().map(|(_, body)| String::from_utf8(body.clone()).unwrap()).collect();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert!(bodies[0].starts_with("transaction.succeeded"), "{bodies:?}");
}

#[tokio::test(start_paused = true)]
async fn a_delivery_whose_answer_was_lost_is_repeated() {
    let world = World::new().await;
    add_endpoint(&world, EventFilter::All).await;
    two_events(&world).await;
    world.faults.arm(Fault::ProviderUnknown { done: true }, 1);
    world.deliver().await;
    assert_eq!(world.faults.disarm(), Some("deliver"));
    world.settle().await;
    assert_eq!(lock(&world.received).len(), 3, "one of the two arrived twice");
    world.check().await;
}
