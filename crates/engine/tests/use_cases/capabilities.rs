//! What a provider does not offer: the caller is told so, and nothing is recorded or asked.

use serde_json::json;
use tollgate_domain::{
    Flow, ServiceReference,
    card::ProviderStatus,
    hold::{CaptureMode, HoldActionKind},
    refund::RefundTerms,
};
use tollgate_engine::{
    HoldError, HoldRequest, PrepareError, PrepareRequest, RefundError, RefundRequest, RegisterDomainError,
};

use crate::support::{
    config::{self, BANK, INTENTS, REGISTER, REGISTER_FROM},
    provider::held_until,
    requests::{card_request, look_at, origin},
    world::World,
};

async fn without(capability: &'static str) -> World {
    let world = World::new().await;
    world.providers.records().not_offered.push(capability);
    world
}

async fn refused(world: &World, request: PrepareRequest) -> PrepareError {
    let refused = world.engine().prepare(&world.view(), request, "req_prepare").await.unwrap_err();
    assert_eq!((world.payments().await, world.providers.records().calls.len()), (vec![], 0));
    refused
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_not_offered_is_not_prepared() {
    for (capability, flow) in
        [("HostedCheckout", Flow::HostedCheckout), ("EmbeddedCards", Flow::PaymentComponent)]
    {
        let world = without(capability).await;
        for (amount, name) in [(1_000, INTENTS), (REGISTER_FROM, REGISTER)] {
            let PrepareError::NotConfigured { provider, missing } =
                refused(&world, card_request(flow, amount)).await
            else {
                panic!("{capability} is not there");
            };
            assert_eq!((provider.as_str(), missing), (name, vec![format!("providers.{name}.adapter")]));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_held_is_refused_by_its_field() {
    let world = without("Captures").await;
    for (flow, instead) in [
        (Flow::HostedCheckout, "use the payment component"),
        (Flow::PaymentComponent, "use a hosted checkout"),
    ] {
        let request = PrepareRequest { capture: CaptureMode::Manual, ..card_request(flow, 1_000) };
        let PrepareError::Unacceptable(fault) = refused(&world, request).await else { panic!("{flow:?}") };
        assert!(fault.field == "capture" && fault.message.contains(instead), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_stops_capturing_or_refunding_is_not_asked_to() {
    let world = World::new().await;
    let held = world.prepared_to_capture(Flow::PaymentComponent, 1_000).await;
    world.providers.records().page().status = held_until(world.engine().clock().now());
    let (held, object) = (held.order.id, held.progress.object.unwrap());
    world.confirm(held, look_at(&object)).await.unwrap();
    world.providers.records().not_offered.extend(["Captures", "Refunds"]);
    let before = world.providers.records().calls.len();
    let kind = HoldActionKind::Capture;
    let request = HoldRequest { kind, idempotency_key: "key".to_owned(), amount: None, operator: None };
    let reference = ServiceReference::Card(held);
    let (engine, view) = (world.engine(), world.view());
    let refused = Box::pin(engine.change_hold(&view, reference, request, "req_hold")).await.unwrap_err();
    assert!(
        matches!(&refused, HoldError::NotAllowed { why, .. } if why.contains("dashboard")),
        "{refused:?}"
    );

    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.confirm(held, look_at(&object)).await.unwrap();
    let read = world.providers.records().calls.len();
    let terms = RefundTerms {
        amount: None,
        fee_refund: None,
        reason: None,
        description: None,
        metadata: "{}".to_owned(),
    };
    let request = RefundRequest { idempotency_key: "key".to_owned(), terms, operator: None, key: None };
    let refused = Box::pin(engine.refund(&view, reference, request, "req_refund")).await.unwrap_err();
    assert!(matches!(refused, RefundError::NotRefundable(why) if why.contains("dashboard")), "{refused:?}");
    assert_eq!(world.payment(held).await.refunds, []);
    let calls = world.providers.records().calls.clone();
    assert!(calls[before..read].iter().all(|call| *call == "pages.retrieve"), "{calls:?}");
    assert_eq!(calls.len(), read);
}

#[tokio::test(start_paused = true)]
async fn a_balance_that_nobody_knows_stops_no_transfer() {
    for (known, sent) in [(true, false), (false, true)] {
        let world = World::new().await;
        let mut document = config::document();
        document["settings"]["checkProviderFunds"] = json!(true);
        world.configure(document).await;
        if known {
            world.providers.records().funds = Some(1);
        } else {
            world.providers.records().not_offered.push("funds");
        }
        assert_eq!(world.send("a caller's key", 10_000).await.is_ok(), sent);
        let calls = world.providers.records().calls.clone();
        assert_eq!(calls.contains(&"accounts.balance"), known, "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_only_a_person_can_make_is_told() {
    let world = without("register_webhook").await;
    let checked = world.engine().check_provider(world.environment, BANK, true, origin()).await.unwrap();
    let told = checked.checks.iter().find(|check| check.name == "webhook_registration").unwrap();
    let hint = told.hint.as_ref().unwrap();
    assert!(!told.ok && hint.contains(&format!("/{BANK} in its dashboard")), "{told:?}");
    assert!(hint.ends_with(&format!("providers.{BANK}.credentials.webhookSecret.")), "{hint}");
    let records = world.providers.records();
    assert!(
        records.endpoints.is_empty() && !records.calls.contains(&"register_webhook"),
        "{:?}",
        records.calls
    );
}

#[tokio::test(start_paused = true)]
async fn domains_are_registered_only_where_the_provider_does() {
    let world = World::new().await;
    let refused = world.engine().register_domain(world.environment, REGISTER, "shop.example").await;
    assert!(matches!(refused, Err(RegisterDomainError::NotOffered(name)) if name == REGISTER));
}
