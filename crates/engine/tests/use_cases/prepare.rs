//! Preparing a payment, on a hosted page and for a component, at both kinds of provider.

use tollgate_domain::{
    Currency, Flow, ServiceReference,
    card::{Preparation, ProviderStatus},
    tenant::KeyKind,
};
use tollgate_engine::{
    PrepareError, PrepareRequest, PreparedPayment,
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

fn keyed(flow: Flow, amount: u64, key: &str) -> PrepareRequest {
    PrepareRequest { idempotency_key: Some(key.to_owned()), ..card_request(flow, amount) }
}

/// A caller prepares a payment under a key; a retry is answered with the same one, or makes the one that was not made.
struct PrepareOnce<const HOSTED: bool, const AMOUNT: u64>;

impl<const HOSTED: bool, const AMOUNT: u64> UseCase for PrepareOnce<HOSTED, AMOUNT> {
    type Answer = Result<PreparedPayment, PrepareError>;

    async fn given(_: &World) -> Self {
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        let flow = if HOSTED { Flow::HostedCheckout } else { Flow::PaymentComponent };
        world.engine().prepare(&world.view(), keyed(flow, AMOUNT, "prepare-1"), "req_prepare").await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let payments = world.payments().await;
        let payable = payments.iter().filter(|it| it.progress.preparation == Preparation::Prepared);
        assert!(payable.count() <= 1, "{payments:?}");
        let made: Vec<_> = answers.iter().flatten().filter_map(|answer| answer.as_ref().ok()).collect();
        for prepared in &made {
            let payment = world.payment(prepared.payment.order.id).await;
            assert_eq!(payment.progress.preparation, Preparation::Prepared);
            assert_eq!(prepared.component.is_none(), HOSTED);
        }
        if let [first, second] = made.as_slice() {
            assert_eq!(first.payment.order.id, second.payment.order.id);
            assert!(second.replayed);
        }
        if let [_, Some(Err(error))] = answers {
            // What the provider refused stays refused; what is being withdrawn is not waited for forever.
            let (PrepareError::Recorded { error, .. } | PrepareError::Replayed(error)) = error else {
                panic!("{error:?}")
            };
            assert!(matches!(**error, PrepareError::Rejected(_) | PrepareError::UnderWay), "{error:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn preparing_a_hosted_page_under_a_key_survives_every_fault() {
    fails_at_every_step::<PrepareOnce<true, 1_000>>().await;
}

#[tokio::test(start_paused = true)]
async fn preparing_a_component_under_a_key_survives_every_fault() {
    fails_at_every_step::<PrepareOnce<false, 1_000>>().await;
}

#[tokio::test(start_paused = true)]
async fn preparing_for_tokens_under_a_key_survives_every_fault() {
    fails_at_every_step::<PrepareOnce<false, REGISTER_FROM>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_is_one_payment_whatever_has_changed_since() {
    let world = World::new().await;
    let prepare = |request| {
        let (engine, view) = (world.engine(), world.view());
        async move { engine.prepare(&view, request, "req_prepare").await }
    };
    let first = prepare(keyed(Flow::PaymentComponent, 1_000, "key-1")).await.unwrap();
    let again = prepare(keyed(Flow::PaymentComponent, 1_000, "key-1")).await.unwrap();
    assert_eq!((again.payment.order.id, again.replayed), (first.payment.order.id, true));
    let secret = |prepared: &PreparedPayment| match &prepared.component {
        Some(Component::PaymentElement { client_secret, .. }) => client_secret.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(secret(&again), secret(&first), "the browser can pay");
    assert_eq!(world.providers.records().count("pages.create"), 1);

    let mut other = keyed(Flow::PaymentComponent, 1_001, "key-1");
    other.description = Some("another".to_owned());
    let differs = prepare(other).await;
    let Err(PrepareError::KeyReused(fields)) = differs else { panic!("{differs:?}") };
    assert_eq!(fields, ["amountMinor", "description"]);
    // The other endpoint's keys are its own.
    let hosted = prepare(keyed(Flow::HostedCheckout, 1_000, "key-1")).await.unwrap();
    assert!(!hosted.replayed);
    // A key of a payment that has expired is answered so.
    tokio::time::sleep(std::time::Duration::from_hours(25)).await;
    world.settle().await;
    let late = prepare(keyed(Flow::PaymentComponent, 1_000, "key-1")).await.unwrap();
    assert_eq!((late.payment.order.id, late.component.is_none()), (first.payment.order.id, true));
    assert_eq!(late.payment.progress.preparation, Preparation::Expired);
}

#[tokio::test(start_paused = true)]
async fn metadata_that_means_the_same_is_the_same_request() {
    let world = World::new().await;
    let prepare = |metadata: &str| {
        let (engine, view) = (world.engine(), world.view());
        let request =
            PrepareRequest { metadata: metadata.to_owned(), ..keyed(Flow::PaymentComponent, 1_000, "key-1") };
        async move { engine.prepare(&view, request, "req_prepare").await }
    };
    let first = prepare(r#"{"order":"1","weight":{"kg":1.5,"lb":3}}"#).await.unwrap();
    let again = prepare(r#"{"weight":{"lb":3.0,"kg":1.50},"order":"\u0031"}"#).await.unwrap();
    assert_eq!((again.payment.order.id, again.replayed), (first.payment.order.id, true));
    let other = prepare(r#"{"order":"1","weight":{"kg":1.51,"lb":3}}"#).await;
    assert!(matches!(&other, Err(PrepareError::KeyReused(fields)) if *fields == ["metadata"]), "{other:?}");
}

#[tokio::test(start_paused = true)]
async fn return_pages_that_the_caller_left_out_are_no_difference_at_another_address() {
    let world = World::new().await;
    let prepare = |request| {
        let (engine, view) = (world.engine(), world.view());
        async move { engine.prepare(&view, request, "req_prepare").await }
    };
    let own = || keyed(Flow::HostedCheckout, 1_000, "key-1");
    let pages = |key: &str| PrepareRequest {
        success_url: Some("https://shop.example/paid".to_owned()),
        cancel_url: Some("https://shop.example/canceled".to_owned()),
        ..keyed(Flow::HostedCheckout, 1_000, key)
    };
    let first = prepare(own()).await.unwrap();
    prepare(pages("key-2")).await.unwrap();
    world.move_to("https://elsewhere.example").await;
    let again = prepare(own()).await.unwrap();
    assert_eq!((again.payment.order.id, again.replayed), (first.payment.order.id, true));
    // Naming pages where there were none is another request, and the other way round.
    for differs in [prepare(pages("key-1")).await, prepare(keyed(Flow::HostedCheckout, 1_000, "key-2")).await]
    {
        let Err(PrepareError::KeyReused(fields)) = differs else { panic!("{differs:?}") };
        assert_eq!(fields, ["successUrl", "cancelUrl"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_was_told_to_try_again_prepares_anew() {
    let world = World::new().await;
    world.configure(config::with_wrong_credentials()).await;
    let prepare = || {
        let (engine, view) = (world.engine(), world.view());
        let request = keyed(Flow::HostedCheckout, 1_000, "key-1");
        async move { engine.prepare(&view, request, "req_prepare").await }
    };
    assert!(matches!(prepare().await, Err(PrepareError::Recorded { .. })));
    world.configure(config::document()).await;
    let made = prepare().await.unwrap();
    assert!(!made.replayed);
    assert_eq!(world.payments().await.len(), 2);
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
    assert_eq!(world.payment(reference).await.progress.preparation, Preparation::Withdrawn);
    world.settle().await;
    world.check().await;
}

/// A customer calls and says when it was, who they are, or what was on their screen.
#[tokio::test(start_paused = true)]
async fn a_preparation_of_which_nothing_came_is_found() {
    let world = World::new().await;
    world.faults.arm(crate::support::faults::Fault::ProviderUnsent, 1);
    let mut request = card_request(Flow::HostedCheckout, 1_000);
    request.customer_email = Some("ada@example.com".to_owned());
    let refused = world.engine().prepare(&world.view(), request, "req_lost").await;
    world.faults.disarm();
    let Err(PrepareError::Recorded { reference, .. }) = refused else { panic!("{refused:?}") };
    for text in [reference.to_string(), "Ada@Example.com".to_owned(), "req_lost".to_owned()] {
        let found =
            world.engine().find_card_payments(world.environment, text.clone(), None, None, 10).await.unwrap();
        let found: Vec<_> = found.iter().map(|payment| payment.order.id).collect();
        assert_eq!(found, [reference], "{text}");
    }
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
        assert!(
            matches!(&refused, PrepareError::Unacceptable(fault) if fault.field == "currency"),
            "{flow:?}: {refused:?}"
        );
    }
    assert_eq!(world.payments().await, []);
    assert_eq!(world.providers.records().calls, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_page_and_the_backend_have_keys_of_their_own() {
    let world = World::new().await;
    let prepare = async |caller, amount| {
        let request = PrepareRequest { caller, ..keyed(Flow::HostedCheckout, amount, "order-1") };
        world.engine().prepare(&world.view(), request, "req_prepare").await.unwrap()
    };
    let of_backend = prepare(KeyKind::Secret, 500).await;
    // The same body, and another: neither shows a page the backend's payment, nor keeps the name from the backend.
    let of_page = prepare(KeyKind::Publishable, 500).await;
    assert!(!of_page.replayed);
    assert_ne!(of_page.payment.order.id, of_backend.payment.order.id);
    for (caller, first) in [(KeyKind::Secret, of_backend), (KeyKind::Publishable, of_page)] {
        let again = prepare(caller, 500).await;
        assert!(again.replayed);
        assert_eq!(again.payment.order.id, first.payment.order.id);
    }
}
