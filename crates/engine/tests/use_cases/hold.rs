//! Capturing and voiding what is held: recorded, done once, and the books say what the provider says.

use std::time::Duration;

use serde_json::json;
use tokio::{task::JoinSet, time::sleep};
use tollgate_domain::{
    Flow, Minor, Principal, ServiceReference,
    card::{DiscrepancyKind, Preparation, ProviderStatus},
    hold::{HoldActionKind, HoldActionStatus},
    id::PaymentId,
    refund::RefundTerms,
    transaction::Status,
};
use tollgate_engine::{
    HoldChanged, HoldError, HoldRequest, Origin, RefundError, RefundRequest,
    ports::{CardPayment, RejectionKind, StoreError},
};

use crate::support::{
    config::{INTENTS, REGISTER_FROM},
    every_step::{UseCase, fails_at_every_step},
    faults::Fault,
    provider::held_until,
    requests::{charge_of, look_at, origin},
    world::World,
};

type Answer = Result<HoldChanged, HoldError>;

fn request(kind: HoldActionKind, key: &str, amount: Option<u64>) -> HoldRequest {
    let amount = amount.map(|amount| Principal::new(amount).unwrap());
    HoldRequest { kind, idempotency_key: key.to_owned(), amount, operator: None }
}

async fn act(world: &World, id: PaymentId, request: HoldRequest) -> Answer {
    let (engine, view) = (world.engine(), world.view());
    Box::pin(engine.change_hold(&view, ServiceReference::Card(id), request, "req_hold")).await
}

async fn capture(world: &World, id: PaymentId, key: &str, amount: Option<u64>) -> Answer {
    act(world, id, request(HoldActionKind::Capture, key, amount)).await
}

async fn void(world: &World, id: PaymentId, key: &str) -> Answer {
    act(world, id, request(HoldActionKind::Void, key, None)).await
}

/// A payment that was authorized on an intent.
async fn held(world: &World) -> PaymentId {
    let payment = world.prepared_to_capture(Flow::PaymentComponent, 1_000).await;
    world.providers.records().page().status = held_until(world.engine().clock().now());
    world.confirm(payment.order.id, look_at(&payment.progress.object.unwrap())).await.unwrap();
    payment.order.id
}

/// A card that was charged on our word, and is only held.
async fn held_charge(world: &World) -> PaymentId {
    let id = world.prepared_to_capture(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    world.confirm(id, charge_of("a card")).await.unwrap();
    id
}

fn status(payment: &CardPayment) -> Status {
    payment.transaction.as_ref().unwrap().state.status
}

/// What the provider has of the only payment: its status, and what it would debit.
fn at_provider(world: &World) -> (ProviderStatus, u64) {
    let records = world.providers.records();
    let page = records.pages.first().map(|page| (page.status.clone(), page.amount));
    page.unwrap_or_else(|| (records.sales[0].status.clone(), records.sales[0].amount))
}

/// What must hold however the calls went.
async fn check(world: &World, id: PaymentId, kind: HoldActionKind, answers: &[Option<Answer>]) {
    let payment = world.payment(id).await;
    let (at_provider, amount) = at_provider(world);
    let [action] = payment.hold_actions.as_slice() else {
        assert!(answers.len() == 1 && status(&payment) == Status::Authorized, "{payment:?}");
        return;
    };
    let (done, as_status) = match kind {
        HoldActionKind::Capture => (at_provider == ProviderStatus::Succeeded, Status::Succeeded),
        HoldActionKind::Void => (at_provider == ProviderStatus::Canceled, Status::Canceled),
    };
    assert_eq!(status(&payment), if done { as_status } else { Status::Authorized });
    assert_eq!(action.status == HoldActionStatus::Succeeded, done, "{action:?}");
    assert_eq!(payment.amounts().total_debit.get(), amount);
    assert_eq!(world.providers.records().refund_count(), 0);
    for answer in answers.iter().flatten() {
        match answer {
            // What is not known to be done is still authorized, and says what is pending.
            Ok(changed) if status(&changed.payment) == Status::Authorized => {
                let state = &changed.payment.transaction.as_ref().unwrap().state;
                assert_eq!(state.hold.unwrap().pending, Some(kind));
            }
            Ok(changed) => assert_eq!((status(&changed.payment), done), (as_status, true)),
            Err(HoldError::Rejected { .. }) => assert!(!done, "{action:?}"),
            Err(HoldError::Store(StoreError::Unavailable(_) | StoreError::Unknown(_))) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    if let [_, again] = answers {
        assert!(matches!(again, Some(Ok(_) | Err(HoldError::Rejected { .. }))), "{again:?}");
    }
}

macro_rules! use_case {
    ($name:ident, $given:ident, $kind:ident, $amount:expr, $operator:expr) => {
        struct $name(PaymentId);

        impl UseCase for $name {
            type Answer = Answer;

            async fn given(world: &World) -> Self {
                Self($given(world).await)
            }

            async fn act(&self, world: &World) -> Answer {
                let request = request(HoldActionKind::$kind, "hold-key-1", $amount);
                act(world, self.0, HoldRequest { operator: $operator, ..request }).await
            }

            async fn check(&self, world: &World, answers: &[Option<Answer>]) {
                check(world, self.0, HoldActionKind::$kind, answers).await;
                let operator: Option<Origin> = $operator;
                let recorded = world.payment(self.0).await.hold_actions.len();
                let expected = if operator.is_some() { recorded } else { 0 };
                assert_eq!(world.audited_requests(ServiceReference::Card(self.0)).await, expected);
            }
        }
    };
}

use_case!(CaptureAnIntent, held, Capture, Some(400), Some(origin()));
use_case!(CaptureACharge, held_charge, Capture, None, None);
use_case!(VoidAnIntent, held, Void, None, None);
use_case!(VoidACharge, held_charge, Void, None, Some(origin()));

#[tokio::test(start_paused = true)]
async fn a_capture_of_an_intent_survives_every_fault() {
    fails_at_every_step::<CaptureAnIntent>().await;
}

#[tokio::test(start_paused = true)]
async fn a_capture_of_a_charge_survives_every_fault() {
    fails_at_every_step::<CaptureACharge>().await;
}

#[tokio::test(start_paused = true)]
async fn a_void_of_an_intent_survives_every_fault() {
    fails_at_every_step::<VoidAnIntent>().await;
}

#[tokio::test(start_paused = true)]
async fn a_void_of_a_charge_survives_every_fault() {
    fails_at_every_step::<VoidACharge>().await;
}

#[tokio::test(start_paused = true)]
async fn amounts_become_those_that_were_captured_and_bound_what_is_refunded() {
    let world = World::new().await;
    let id = held(&world).await;
    let authorized = world.payment(id).await.order.fee;
    let refund = |key: &str| RefundRequest {
        idempotency_key: key.to_owned(),
        terms: RefundTerms {
            amount: None,
            fee_refund: None,
            reason: None,
            description: None,
            metadata: "{}".to_owned(),
        },
        operator: None,
        key: None,
    };
    let reference = ServiceReference::Card(id);
    let early = Box::pin(world.engine().refund(&world.view(), reference, refund("refund-1"), "req")).await;
    assert!(matches!(early, Err(RefundError::NotRefundable(_))), "{early:?}");
    let changed = capture(&world, id, "capture-1", Some(400)).await.unwrap();
    let amounts = changed.payment.amounts();
    assert_eq!(amounts, authorized.on(Principal::new(400).unwrap()));
    assert!(amounts.fee < authorized.fee, "the fee is computed anew");
    assert_eq!(changed.payment.order.fee, authorized, "the authorized amounts stay known");
    let back = Box::pin(world.engine().refund(&world.view(), reference, refund("refund-1"), "req")).await;
    assert_eq!(back.unwrap().refund.total(), amounts.total_debit);
    assert_eq!(world.status(reference).await, Some(Status::Refunded));
    let kinds = world.event_kinds(reference).await;
    assert_eq!(
        kinds,
        [
            "payment.prepared",
            "transaction.authorized",
            "transaction.succeeded",
            "refund.pending",
            "refund.succeeded",
            "transaction.refunded"
        ]
    );
    // An event shows the amounts of its moment.
    let shown: Vec<_> = world
        .events()
        .await
        .iter()
        .filter_map(|event| event.state.as_ref())
        .map(|state| state.amounts(&authorized).total_debit)
        .collect();
    assert_eq!(shown[..2], [authorized.total_debit, amounts.total_debit]);
}

#[tokio::test(start_paused = true)]
async fn a_capture_of_the_whole_is_whole_with_the_fee_on_top() {
    let world = World::new().await;
    for (number, amount) in [None, Some(REGISTER_FROM)].into_iter().enumerate() {
        let id = held_charge(&world).await;
        let changed = capture(&world, id, &format!("capture-{number}"), amount).await.unwrap();
        assert_eq!(status(&changed.payment), Status::Succeeded);
        assert_eq!(changed.payment.amounts(), changed.payment.order.fee);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_belongs_to_one_request() {
    let world = World::new().await;
    let id = held(&world).await;
    let more = capture(&world, id, "capture-1", Some(1_001)).await;
    assert!(
        matches!(more, Err(HoldError::Exceeds { authorized }) if authorized.minor() == 1_000),
        "{more:?}"
    );
    capture(&world, id, "capture-1", Some(400)).await.unwrap();
    assert!(capture(&world, id, "capture-1", Some(400)).await.unwrap().replayed);
    let differs = capture(&world, id, "capture-1", None).await;
    assert!(
        matches!(&differs, Err(HoldError::KeyReused(fields)) if *fields == ["amountMinor"]),
        "{differs:?}"
    );
    let second = held_charge(&world).await;
    let elsewhere = capture(&world, second, "capture-1", Some(400)).await;
    assert!(matches!(&elsewhere, Err(HoldError::KeyReused(fields)) if *fields == ["serviceReference"]));
    // A void's keys are its own.
    void(&world, second, "capture-1").await.unwrap();
    for (answer, kind) in [
        (capture(&world, id, "capture-2", None).await, HoldActionKind::Capture),
        (void(&world, id, "void-1").await, HoldActionKind::Void),
        (capture(&world, second, "capture-2", None).await, HoldActionKind::Capture),
        (void(&world, second, "void-2").await, HoldActionKind::Void),
    ] {
        let Err(HoldError::NotAllowed { kind: refused, replayed: false, .. }) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(refused, kind);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_can_be_in_conflict_only_so_often() {
    let world = World::new().await;
    let id = held(&world).await;
    capture(&world, id, "capture-1", Some(400)).await.unwrap();
    for _ in 0..20 {
        let refused = capture(&world, id, "capture-1", None).await;
        assert!(matches!(refused, Err(HoldError::KeyReused(_))), "{refused:?}");
    }
    let refused = capture(&world, id, "capture-1", None).await;
    assert!(matches!(refused, Err(HoldError::TooManyConflicts(_))), "{refused:?}");
    assert!(capture(&world, id, "capture-1", Some(400)).await.unwrap().replayed);
}

#[tokio::test(start_paused = true)]
async fn only_what_is_held_can_be_captured_or_voided() {
    let world = World::new().await;
    let unpaid = world.prepared_to_capture(Flow::PaymentComponent, 1_000).await.order.id;
    let early = capture(&world, unpaid, "capture-1", None).await;
    assert!(matches!(early, Err(HoldError::NotAllowed { .. })), "{early:?}");
    let automatic = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    let confirmed = world.confirm(automatic, charge_of("a card")).await.unwrap();
    assert_eq!(status(&confirmed.payment), Status::Succeeded);
    let captured = capture(&world, automatic, "capture-1", None).await;
    assert!(matches!(captured, Err(HoldError::NotAllowed { .. })), "{captured:?}");
    assert_eq!(world.payment(automatic).await.transaction.unwrap().state.hold, None);
}

#[tokio::test(start_paused = true)]
async fn captures_and_voids_at_once_have_one_outcome() {
    for round in 0..8 {
        let world = World::new().await;
        let id = held(&world).await;
        let mut asking = JoinSet::new();
        for number in 0..10 {
            let (engine, view) = (world.engine(), world.view());
            let kind = HoldActionKind::ALL[(number + round) % 2];
            let request = request(kind, &format!("hold-key-{number}"), None);
            let reference = ServiceReference::Card(id);
            asking.spawn(async move {
                (kind, Box::pin(engine.change_hold(&view, reference, request, "req")).await)
            });
        }
        let answers = asking.join_all().await;
        let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|(_, answer)| answer.is_ok());
        assert_eq!((done.len(), refused.len()), (1, 9), "{answers:?}");
        assert!(refused.iter().all(|(_, answer)| matches!(answer, Err(HoldError::NotAllowed { .. }))));
        let (expected, at) = match done[0].0 {
            HoldActionKind::Capture => (Status::Succeeded, ProviderStatus::Succeeded),
            HoldActionKind::Void => (Status::Canceled, ProviderStatus::Canceled),
        };
        assert_eq!((status(&world.payment(id).await), at_provider(&world).0), (expected, at));
        world.settle().await;
        world.check().await;
    }
}

/// The answer to a capture is lost, and the caller would rather void: the capture's outcome comes first.
#[tokio::test(start_paused = true)]
async fn a_capture_in_doubt_is_decided_before_anything_else() {
    for done in [true, false] {
        let world = World::new().await;
        let id = held(&world).await;
        world.faults.arm(Fault::ProviderUnknown { done }, 1);
        let open = capture(&world, id, "capture-1", None).await.unwrap();
        world.faults.disarm();
        assert_eq!(status(&open.payment), Status::Authorized);
        let meanwhile = void(&world, id, "void-1").await;
        assert!(matches!(meanwhile, Err(HoldError::NotAllowed { .. })), "{meanwhile:?}");
        world.settle().await;
        assert_eq!(status(&world.payment(id).await), Status::Succeeded);
        assert_eq!(at_provider(&world).0, ProviderStatus::Succeeded);
        let late = void(&world, id, "void-1").await;
        assert!(matches!(late, Err(HoldError::NotAllowed { .. })), "{late:?}");
        world.check().await;
    }
}

/// The customer's bank releases what nobody captured, and no webhook tells.
#[tokio::test(start_paused = true)]
async fn an_authorization_that_lapses_is_canceled_and_says_why() {
    for given in [true, false] {
        let world = World::new().await;
        let id = if given { held(&world).await } else { held_charge(&world).await };
        let reference = ServiceReference::Card(id);
        // The end of the preparation is no end of the authorization.
        sleep(Duration::from_hours(30)).await;
        world.resolve().await;
        let payment = world.payment(id).await;
        assert_eq!(
            (status(&payment), payment.progress.preparation),
            (Status::Authorized, Preparation::Prepared)
        );
        sleep(Duration::from_hours(24 * 6)).await;
        let expired = capture(&world, id, "capture-1", None).await;
        assert!(matches!(expired, Err(HoldError::NotAllowed { .. })), "the clock decides: {expired:?}");
        world.providers.records().set_status(ProviderStatus::AuthorizationExpired);
        world.resolve().await;
        let payment = world.payment(id).await;
        let failure = payment.transaction.as_ref().unwrap().state.failure.clone().unwrap();
        assert_eq!((status(&payment), failure.code.as_str()), (Status::Canceled, "authorization_expired"));
        assert_eq!(payment.progress.due, None, "there is nothing left to do");
        assert_eq!(world.event_kinds(reference).await.last(), Some(&"transaction.canceled"));
        let late = void(&world, id, "void-1").await;
        assert!(matches!(late, Err(HoldError::NotAllowed { why, .. }) if why == failure.message));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_done_in_the_dashboard_is_recorded() {
    for (amount, canceled) in [(Some(700), false), (None, false), (None, true)] {
        let world = World::new().await;
        let id = held(&world).await;
        let page = {
            let mut records = world.providers.records();
            let page = records.page();
            page.amount = amount.unwrap_or(page.amount);
            page.status = if canceled { ProviderStatus::Canceled } else { ProviderStatus::Succeeded };
            page.id.clone()
        };
        // Whoever asks now learns what happened.
        let late = capture(&world, id, "capture-1", Some(100)).await;
        assert!(matches!(late, Err(HoldError::NotAllowed { .. })), "{late:?}");
        let again = capture(&world, id, "capture-1", Some(100)).await;
        assert!(matches!(again, Err(HoldError::NotAllowed { replayed: true, .. })), "{again:?}");
        world.webhook(INTENTS, &json!({ "id": "evt_1", "type": "updated", "object": page })).await.unwrap();
        let payment = world.payment(id).await;
        let expected = if canceled { Status::Canceled } else { Status::Succeeded };
        assert_eq!(status(&payment), expected);
        assert_eq!(payment.amounts().total_debit.get(), at_provider(&world).1);
        assert_eq!(payment.progress.preparation, Preparation::Prepared, "it was paid in time");
        assert_eq!(world.exceptions(id).await, 0);
        world.settle().await;
        world.check().await;
    }
}

/// The customer authorized, the webhook was lost, and the caller never confirmed.
#[tokio::test(start_paused = true)]
async fn an_authorization_that_nobody_reported_is_found_before_the_payment_expires() {
    let world = World::new().await;
    let id = world.prepared_to_capture(Flow::HostedCheckout, 1_000).await.order.id;
    world.providers.records().page().status = held_until(world.engine().clock().now());
    sleep(Duration::from_hours(25)).await;
    world.resolve().await;
    let payment = world.payment(id).await;
    assert_eq!((status(&payment), payment.progress.preparation), (Status::Authorized, Preparation::Prepared));
    void(&world, id, "void-1").await.unwrap();
    assert_eq!(at_provider(&world).0, ProviderStatus::Canceled);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_capture_leaves_the_money_held_and_another_may_follow() {
    let world = World::new().await;
    let id = held(&world).await;
    world.faults.arm(Fault::ProviderRejects(RejectionKind::Invalid), 1);
    let rejected = capture(&world, id, "capture-1", Some(400)).await;
    world.faults.disarm();
    assert!(matches!(rejected, Err(HoldError::Rejected { replayed: false, .. })), "{rejected:?}");
    let again = capture(&world, id, "capture-1", Some(400)).await;
    assert!(matches!(again, Err(HoldError::Rejected { replayed: true, .. })), "{again:?}");
    let payment = world.payment(id).await;
    let hold = payment.transaction.as_ref().unwrap().state.hold.unwrap();
    assert_eq!((status(&payment), hold.pending), (Status::Authorized, None));
    let next = capture(&world, id, "capture-2", None).await.unwrap();
    assert_eq!(status(&next.payment), Status::Succeeded);
    assert_eq!(Minor::new(at_provider(&world).1), Some(next.payment.order.fee.total_debit));
}

/// An answer that cannot be is no outcome: the capture waits until the provider says what it has.
#[tokio::test(start_paused = true)]
async fn a_capture_reported_with_nothing_received_is_pending_until_that_is_corrected() {
    let world = World::new().await;
    let id = held(&world).await;
    let authorized = world.payment(id).await.order.fee;
    {
        let mut records = world.providers.records();
        (records.page().status, records.page().amount) = (ProviderStatus::Succeeded, 0);
    }
    let open = capture(&world, id, "capture-1", None).await.unwrap();
    for payment in [open.payment, world.payment(id).await] {
        let hold = payment.transaction.as_ref().unwrap().state.hold.unwrap();
        assert_eq!(status(&payment), Status::Authorized);
        assert_eq!((hold.captured, hold.pending), (None, Some(HoldActionKind::Capture)));
        assert_eq!(payment.amounts(), authorized);
    }
    sleep(Duration::from_mins(30)).await;
    world.resolve().await;
    let payment = world.payment(id).await;
    assert_eq!(status(&payment), Status::Authorized);
    assert!(payment.progress.due.is_some(), "it is checked again");
    let exceptions = world.store.exceptions_of(world.environment, ServiceReference::Card(id)).await.unwrap();
    assert!(!exceptions.is_empty());
    let total = authorized.total_debit.to_string();
    for stored in exceptions {
        let found = stored.exception;
        assert_eq!(
            (found.kind, found.expected.as_str(), found.found.as_str()),
            (DiscrepancyKind::Amount, total.as_str(), "0")
        );
    }
    world.providers.records().page().amount = authorized.total_debit.get();
    world.settle().await;
    let payment = world.payment(id).await;
    assert_eq!((status(&payment), payment.amounts()), (Status::Succeeded, authorized));
    assert_eq!(payment.hold_actions[0].status, HoldActionStatus::Succeeded);
    assert!(capture(&world, id, "capture-1", None).await.unwrap().replayed);
    world.check().await;
}
