//! Refunding a payment: recorded, sent once, and never more than was paid.

use serde_json::json;
use tollgate_domain::{
    Flow, Minor, ServiceReference,
    card::{DiscrepancyKind, ProviderStatus},
    id::PaymentId,
    refund::{FeeRefund, RefundOrigin, RefundReport, RefundStatus, RefundTerms},
    transaction::{Dispute, Status},
};
use tollgate_engine::{
    RefundCreated, RefundError, RefundRequest,
    ports::{AuditScope, StoreError},
};

use crate::support::{
    config::{self, INTENTS, REGISTER_FROM},
    every_step::{UseCase, fails_at_every_step},
    faults::Fault,
    provider::{failure, given_back, whole_refund},
    requests::{charge_of, look_at, origin},
    world::World,
};

type Answer = Result<RefundCreated, RefundError>;

pub(crate) fn request(key: &str, amount: Option<u64>) -> RefundRequest {
    let terms = RefundTerms {
        amount: amount.map(|amount| Minor::new(amount).unwrap()),
        fee_refund: None,
        reason: None,
        description: None,
        metadata: "{}".to_owned(),
    };
    RefundRequest { idempotency_key: key.to_owned(), terms, operator: None, key: None }
}

fn by_operator(request: RefundRequest) -> RefundRequest {
    RefundRequest { operator: Some(origin()), ..request }
}

pub(crate) async fn refund(world: &World, id: PaymentId, request: RefundRequest) -> Answer {
    let (engine, view) = (world.engine(), world.view());
    Box::pin(engine.refund(&view, ServiceReference::Card(id), request, "req_refund")).await
}

/// A payment that was paid on an intent.
pub(crate) async fn paid(world: &World) -> PaymentId {
    let payment = world.prepared(Flow::PaymentComponent, 1_000).await;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.confirm(payment.order.id, look_at(&payment.progress.object.unwrap())).await.unwrap();
    payment.order.id
}

/// What the provider has given back of the only payment.
pub(crate) fn returned(world: &World) -> (usize, u64) {
    let records = world.providers.records();
    let refunds: Vec<_> = records
        .pages
        .iter()
        .map(|page| &page.refunds)
        .chain(records.sales.iter().map(|sale| &sale.refunds))
        .flatten()
        .cloned()
        .collect();
    (refunds.len(), given_back(&refunds))
}

/// What must hold however the calls went: the books say what the provider says, and answers were true.
async fn check(world: &World, id: PaymentId, answers: &[Option<Answer>]) {
    let payment = world.payment(id).await;
    let (count, total) = returned(world);
    assert!(count <= 1, "refunded {count} times");
    assert_eq!(payment.transaction.unwrap().state.refunded.get(), total);
    for refund in &payment.refunds {
        let expected = if count == 1 { RefundStatus::Succeeded } else { RefundStatus::Failed };
        assert_eq!(refund.status, expected, "{refund:?}");
    }
    for answer in answers.iter().flatten() {
        match answer {
            Ok(created) => assert!(payment.refunds.iter().any(|refund| refund.id == created.refund.id)),
            Err(RefundError::Rejected { payment: rejected, .. }) => {
                assert_eq!((count, payment.refunds.len(), *rejected), (0, 1, id));
            }
            Err(RefundError::Store(StoreError::Unavailable(_))) if answers.len() == 1 => {
                assert!(payment.refunds.is_empty(), "nothing was recorded");
            }
            Err(RefundError::Store(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    if let [_, again] = answers {
        assert!(matches!(again, Some(Ok(_) | Err(RefundError::Rejected { .. }))), "{again:?}");
    }
}

struct RefundAnIntent(PaymentId);

impl UseCase for RefundAnIntent {
    type Answer = Answer;

    async fn given(world: &World) -> Self {
        Self(paid(world).await)
    }

    async fn act(&self, world: &World) -> Answer {
        refund(world, self.0, by_operator(request("refund-1", Some(400)))).await
    }

    async fn check(&self, world: &World, answers: &[Option<Answer>]) {
        check(world, self.0, answers).await;
        let recorded = world.payment(self.0).await.refunds.len();
        assert_eq!(world.audited_requests(ServiceReference::Card(self.0)).await, recorded);
    }
}

struct RefundACharge(PaymentId);

impl UseCase for RefundACharge {
    type Answer = Answer;

    async fn given(world: &World) -> Self {
        let id = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
        world.confirm(id, charge_of("a card")).await.unwrap();
        Self(id)
    }

    async fn act(&self, world: &World) -> Answer {
        refund(world, self.0, request("refund-1", None)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Answer>]) {
        check(world, self.0, answers).await;
        if returned(world).0 == 1 {
            assert_eq!(world.status(ServiceReference::Card(self.0)).await, Some(Status::Refunded));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_operators_refund_of_an_intent_survives_every_fault() {
    fails_at_every_step::<RefundAnIntent>().await;
}

#[tokio::test(start_paused = true)]
async fn a_refund_of_a_charge_survives_every_fault() {
    fails_at_every_step::<RefundACharge>().await;
}

#[tokio::test(start_paused = true)]
async fn fees_go_back_in_proportion_and_the_last_refund_takes_the_rest() {
    let world = World::new().await;
    let id = paid(&world).await;
    let fee = world.payment(id).await.order.fee;
    let mut returned_fee = 0;
    for (key, amount) in [("refund-1", Some(333)), ("refund-2", Some(333)), ("refund-3", None)] {
        let made = refund(&world, id, request(key, amount)).await.unwrap();
        assert_eq!((made.refund.status, made.replayed), (RefundStatus::Succeeded, false));
        returned_fee += made.refund.fee.get();
    }
    assert_eq!(returned_fee, fee.fee.get());
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Refunded));
    let left = refund(&world, id, request("refund-4", None)).await;
    assert!(matches!(left, Err(RefundError::Exceeds { left }) if left.total() == Minor::ZERO), "{left:?}");
    let kinds = world.event_kinds(ServiceReference::Card(id)).await;
    let one = ["refund.pending", "refund.succeeded"];
    let expected: Vec<_> = ["payment.prepared", "transaction.succeeded"]
        .into_iter()
        .chain([one, one, one].concat())
        .chain(["transaction.refunded"])
        .collect();
    assert_eq!(kinds, expected);
}

/// Like currencies of three decimals, of which a provider takes two.
#[tokio::test(start_paused = true)]
async fn a_total_that_the_provider_would_not_take_is_told_before_anything_is_recorded() {
    let world = World::new().await;
    let id = paid(&world).await;
    world.providers.records().amount_step = Some(10);
    let before = world.payment(id).await;
    let off = refund(&world, id, request("refund-1", Some(334))).await;
    let Err(RefundError::OffStep { off, .. }) = off else { panic!("{off:?}") };
    assert_eq!(world.payment(id).await, before);
    assert_eq!(world.providers.records().count("refunds.create"), 0);
    let (view, reference) = (world.view(), ServiceReference::Card(id));
    let preview = world.engine().preview_refund(&view, reference, Some(Minor::new(334).unwrap()), None).await;
    assert!(matches!(preview, Err(RefundError::OffStep { .. })), "{preview:?}");
    // The same key is free for an amount that was suggested.
    assert_eq!(off.nearest.len(), 2);
    let made = refund(&world, id, request("refund-1", Some(off.nearest[0].principal.get()))).await.unwrap();
    assert_eq!((made.refund.status, made.replayed), (RefundStatus::Succeeded, false));
}

#[tokio::test(start_paused = true)]
async fn a_key_belongs_to_one_request() {
    let world = World::new().await;
    let id = paid(&world).await;
    let first = refund(&world, id, request("refund-1", Some(100))).await.unwrap();
    let again = refund(&world, id, request("refund-1", Some(100))).await.unwrap();
    assert_eq!((again.refund.id, again.replayed), (first.refund.id, true));
    let with_metadata = |metadata: &str| {
        let mut request = request("refund-2", Some(100));
        metadata.clone_into(&mut request.terms.metadata);
        request
    };
    refund(&world, id, with_metadata(r#"{"a":1.5,"b":{"c":1,"d":2}}"#)).await.unwrap();
    let same = refund(&world, id, with_metadata(r#"{"b":{"d":2,"c":1.0},"a":1.50}"#)).await.unwrap();
    assert!(same.replayed, "metadata that means the same");
    let mut other = request("refund-1", Some(101));
    other.terms.fee_refund = Some(FeeRefund::None);
    let differs = refund(&world, id, other).await;
    assert!(
        matches!(&differs, Err(RefundError::KeyReused(fields)) if *fields == ["amountMinor", "feeRefund"]),
        "{differs:?}"
    );
    let second = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    world.confirm(second, charge_of("a card")).await.unwrap();
    let elsewhere = refund(&world, second, request("refund-1", Some(100))).await;
    assert!(matches!(&elsewhere, Err(RefundError::KeyReused(fields)) if *fields == ["serviceReference"]));
}

#[tokio::test(start_paused = true)]
async fn only_what_is_paid_can_be_refunded() {
    let world = World::new().await;
    let unpaid = world.prepared(Flow::PaymentComponent, 1_000).await;
    let refused = refund(&world, unpaid.order.id, request("refund-1", None)).await;
    assert!(matches!(refused, Err(RefundError::NotRefundable(_))), "{refused:?}");
    world.providers.records().page().status = ProviderStatus::Failed(failure("card_declined"));
    world.confirm(unpaid.order.id, look_at(&unpaid.progress.object.unwrap())).await.unwrap();
    let failed = refund(&world, unpaid.order.id, request("refund-1", None)).await;
    assert!(matches!(failed, Err(RefundError::NotRefundable(_))), "{failed:?}");
}

#[tokio::test(start_paused = true)]
async fn many_refunds_at_once_never_exceed_the_payment() {
    let world = World::new().await;
    let id = paid(&world).await;
    let total = world.payment(id).await.order.fee.total_debit.get();
    let mut asking = tokio::task::JoinSet::new();
    for number in 0..40 {
        let (engine, view) = (world.engine(), world.view());
        let request = request(&format!("refund-{number:02}"), Some(100));
        let reference = ServiceReference::Card(id);
        asking.spawn(async move { Box::pin(engine.refund(&view, reference, request, "req")).await });
    }
    let answers = asking.join_all().await;
    let made = answers.iter().filter(|answer| answer.is_ok()).count();
    let refused = answers.iter().filter(|answer| matches!(answer, Err(RefundError::Exceeds { .. }))).count();
    assert_eq!((made, refused), (10, 30));
    assert_eq!(returned(&world), (10, total));
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Refunded));
}

#[tokio::test(start_paused = true)]
async fn refunds_made_at_the_provider_count() {
    let world = World::new().await;
    let id = paid(&world).await;
    let total = world.payment(id).await.order.fee.total_debit.get();
    {
        let mut records = world.providers.records();
        let page = records.page();
        page.refunds.push(whole_refund(total - 10));
    }
    // The provider knows better than the books.
    let rejected = refund(&world, id, request("refund-1", Some(500))).await;
    assert!(matches!(rejected, Err(RefundError::Rejected { .. })), "{rejected:?}");
    tokio::time::sleep(std::time::Duration::from_hours(25)).await;
    world.resolve().await;
    let payment = world.payment(id).await;
    let found = payment.refunds.iter().find(|refund| refund.origin == RefundOrigin::Provider).unwrap();
    assert_eq!((found.total().get(), found.status), (total - 10, RefundStatus::Succeeded));
    let left = refund(&world, id, request("refund-2", Some(500))).await;
    assert!(matches!(left, Err(RefundError::Exceeds { left }) if left.total().get() == 10), "{left:?}");
}

/// After a hundred refunds the API sends callers to the provider, and goes on reading what they do there.
#[tokio::test(start_paused = true)]
async fn refunds_beyond_a_hundred_are_made_at_the_provider_and_are_read() {
    let world = World::new().await;
    let id = paid(&world).await;
    for number in 0..100 {
        refund(&world, id, request(&format!("refund-{number:03}"), Some(5))).await.unwrap();
    }
    let refused = refund(&world, id, request("refund-100", Some(5))).await;
    assert!(matches!(refused, Err(RefundError::NotRefundable(why)) if why.contains("at the provider")));
    for number in 0..150 {
        let made = RefundReport { id: format!("refund_d{number:03}"), ..whole_refund(2) };
        world.providers.records().page().refunds.push(made);
    }
    let a_day = std::time::Duration::from_hours(25);
    tokio::time::sleep(a_day).await;
    world.resolve().await;
    let payment = world.payment(id).await;
    assert_eq!(payment.refunds.len(), 250);
    let state = payment.transaction.unwrap().state;
    assert_eq!((state.status, state.refunded.get()), (Status::Succeeded, 100 * 5 + 150 * 2));
    world.providers.records().page().dispute = Some(Dispute {
        id: "dp_1".to_owned(),
        status: "needs_response".to_owned(),
        reason: None,
        amount: Minor::new(250),
        currency: None,
        respond_by: None,
        withdrawn: Minor::new(250),
    });
    tokio::time::sleep(a_day).await;
    world.resolve().await;
    let state = world.payment(id).await.transaction.unwrap().state;
    assert_eq!(state.refunded.get(), 100 * 5 + 150 * 2);
    assert_eq!(state.dispute.unwrap().amount, Minor::new(250));
    assert_eq!(world.exceptions(id).await, 0);
    // What is left at the provider is all that is left here.
    let page = world.providers.records().page().clone();
    assert_eq!(page.amount - given_back(&page.refunds), 250);
    let audit = world.store.audit(AuditScope::Everything, world.engine().clock().now()).await.unwrap();
    assert!(audit.findings.is_empty(), "{:?}", audit.findings);
}

#[tokio::test(start_paused = true)]
async fn a_refund_that_comes_back_is_undone_and_shown_to_a_person() {
    let world = World::new().await;
    let id = paid(&world).await;
    refund(&world, id, request("refund-1", None)).await.unwrap();
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Refunded));
    {
        let mut records = world.providers.records();
        let refund = &mut records.page().refunds[0];
        (refund.status, refund.failure) = (RefundStatus::Failed, Some(failure("refund_failed")));
    }
    tokio::time::sleep(std::time::Duration::from_hours(25)).await;
    world.resolve().await;
    let payment = world.payment(id).await;
    let state = payment.transaction.unwrap().state;
    assert_eq!((state.status, state.refunded), (Status::Succeeded, Minor::ZERO));
    let reference = ServiceReference::Card(id);
    let kinds = world.event_kinds(reference).await;
    assert_eq!(kinds[kinds.len() - 2..], ["refund.failed", "transaction.succeeded"]);
    let exceptions = world.store.exceptions_of(world.environment, reference).await.unwrap();
    assert_eq!(exceptions[0].exception.kind, DiscrepancyKind::Refund);
    // It can be refunded again.
    refund(&world, id, request("refund-2", None)).await.unwrap();
}

/// The key is rotated between the payment and its refund, as keys are.
#[tokio::test(start_paused = true)]
async fn a_payment_is_refunded_with_the_credentials_of_today() {
    let world = World::new().await;
    let id = paid(&world).await;
    let mut rotated = config::document();
    rotated["providers"][INTENTS]["credentials"]["secretKey"] = json!("key of account a, rotated");
    world.configure(rotated).await;
    let made = refund(&world, id, request("refund-1", Some(100))).await.unwrap();
    assert_eq!(made.refund.status, RefundStatus::Succeeded);
    // And the resolver does the same with what was left in doubt.
    world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
    let open = refund(&world, id, request("refund-2", Some(100))).await.unwrap();
    world.faults.disarm();
    assert_eq!(open.refund.status, RefundStatus::Pending);
    world.settle().await;
    assert_eq!(returned(&world).0, 2);
}

#[tokio::test(start_paused = true)]
async fn another_account_that_does_not_know_the_payment_decides_nothing() {
    let world = World::new().await;
    let id = paid(&world).await;
    world.configure(config::with_credentials_of('b')).await;
    let waiting = refund(&world, id, request("refund-1", Some(100))).await.unwrap();
    assert_eq!(waiting.refund.status, RefundStatus::Pending);
    for _ in 0..3 {
        tokio::time::sleep(std::time::Duration::from_mins(30)).await;
        world.resolve().await;
    }
    let payment = world.payment(id).await;
    assert_eq!(payment.refunds[0].status, RefundStatus::Pending);
    assert!(payment.progress.waiting.is_some());
    world.configure(config::document()).await;
    world.settle().await;
    assert_eq!(world.payment(id).await.refunds[0].status, RefundStatus::Succeeded);
    assert_eq!(returned(&world).0, 1);
}

/// A webhook about the payment arrives while its refund is being sent.
#[tokio::test(start_paused = true)]
async fn a_refund_on_its_way_is_not_sent_a_second_time_meanwhile() {
    let world = World::new().await;
    let id = paid(&world).await;
    world.faults.arm(Fault::Crash, 2);
    world.survive(refund(&world, id, request("refund-1", Some(100)))).await;
    world.faults.disarm();
    world.providers.records().page().refunds.clear();
    world.restart().await;
    let page = world.providers.records().page().id.clone();
    world.webhook(INTENTS, &json!({ "id": "evt_1", "type": "updated", "object": page })).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    world.resolve().await;
    assert_eq!(returned(&world).0, 0, "whoever sends it has its time");
    world.settle().await;
    assert_eq!(returned(&world).0, 1);
}

#[tokio::test(start_paused = true)]
async fn a_refund_waits_for_credentials_and_goes_out_once_they_are_right() {
    let world = World::new().await;
    let id = paid(&world).await;
    let before = config::document();
    world.faults.arm(Fault::ProviderRejects(tollgate_engine::ports::RejectionKind::Credentials), 1);
    let waiting = refund(&world, id, request("refund-1", Some(100))).await.unwrap();
    world.faults.disarm();
    assert_eq!(waiting.refund.status, RefundStatus::Pending);
    assert!(world.payment(id).await.progress.waiting.is_some());
    world.configure(before).await;
    world.settle().await;
    assert_eq!(world.payment(id).await.refunds[0].status, RefundStatus::Succeeded);
    assert_eq!(returned(&world).0, 1);
}
