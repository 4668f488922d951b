//! Webhooks of both payment methods: verified, stored, and applied by reading the provider's record.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tollgate_domain::{
    Flow, ServiceReference,
    ach::AchProviderStatus,
    card::ProviderStatus,
    id::TransferId,
    transaction::{Dispute, Status},
};
use tollgate_engine::{
    WebhookError,
    ports::{ProviderEventState, SignatureError},
};

use crate::support::{
    config::{BANK, INTENTS, REGISTER, REGISTER_FROM},
    every_step::{UseCase, fails_at_every_step},
    faults::Fault,
    provider::{Page, SLOW, whole_refund},
    requests::{card_request, charge_of},
    world::World,
};

pub(crate) fn event(id: &str, object: &str) -> Value {
    json!({ "id": id, "type": "updated", "object": object })
}

/// An event that was acknowledged is stored once and applied.
async fn check_applied(world: &World, answers: &[Option<Result<(), WebhookError>>]) {
    let events = world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    assert!(events.iter().all(|event| event.state == ProviderEventState::Applied), "{events:?}");
    assert!(events.len() <= 1, "{events:?}");
    if answers.iter().flatten().any(Result::is_ok) {
        assert_eq!(events.len(), 1, "an acknowledged event is missing");
    }
}

/// The bank reports that a transfer has settled.
struct TransferSettled(ServiceReference, String);

impl UseCase for TransferSettled {
    type Answer = Result<(), WebhookError>;

    async fn given(world: &World) -> Self {
        let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
        world.providers.records().transfer().status = AchProviderStatus::Settled;
        Self(ServiceReference::Ach(made.order.id), made.state.provider_reference.unwrap())
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.webhook(BANK, &event("evt_1", &self.1)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        check_applied(world, answers).await;
        let reported = world.event_kinds(self.0).await;
        assert_eq!(reported, ["transaction.pending", "transaction.processing", "transaction.succeeded"]);
    }
}

/// The provider reports that a hosted page was paid.
struct PagePaid(ServiceReference, String);

impl UseCase for PagePaid {
    type Answer = Result<(), WebhookError>;

    async fn given(world: &World) -> Self {
        let payment = world.prepared(Flow::HostedCheckout, 1_000).await;
        world.providers.records().page().status = ProviderStatus::Succeeded;
        Self(ServiceReference::Card(payment.order.id), payment.progress.object.unwrap())
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.webhook(INTENTS, &event("evt_1", &self.1)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        check_applied(world, answers).await;
        assert_eq!(world.event_kinds(self.0).await, ["payment.prepared", "transaction.succeeded"]);
    }
}

/// The provider reports that a charge was refunded.
struct SaleRefunded(ServiceReference, String);

impl UseCase for SaleRefunded {
    type Answer = Result<(), WebhookError>;

    async fn given(world: &World) -> Self {
        let id = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
        world.confirm(id, charge_of("a card")).await.unwrap();
        let mut records = world.providers.records();
        let sale = records.sale();
        sale.refunds.push(whole_refund(sale.amount));
        Self(ServiceReference::Card(id), sale.id.clone())
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.webhook(REGISTER, &event("evt_1", &self.1)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        check_applied(world, answers).await;
        let reported = world.event_kinds(self.0).await;
        let expected =
            ["payment.prepared", "transaction.succeeded", "refund.succeeded", "transaction.refunded"];
        assert_eq!(reported, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_about_a_transfer_survives_every_fault() {
    fails_at_every_step::<TransferSettled>().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_about_a_hosted_page_survives_every_fault() {
    fails_at_every_step::<PagePaid>().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_about_a_refund_survives_every_fault() {
    fails_at_every_step::<SaleRefunded>().await;
}

#[tokio::test(start_paused = true)]
async fn a_transfer_follows_what_the_bank_says() {
    for (standing, expected) in [
        (AchProviderStatus::Accepted, Status::Processing),
        (AchProviderStatus::Sent, Status::Processing),
        (AchProviderStatus::Settled, Status::Succeeded),
        (AchProviderStatus::Returned { code: "R03".to_owned() }, Status::Failed),
        (AchProviderStatus::Canceled, Status::Canceled),
    ] {
        let world = World::new().await;
        let id = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
        world.providers.records().transfer().status = standing.clone();
        world.webhook(BANK, &event("evt_1", "transfer_1")).await.unwrap();
        assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(expected), "{standing:?}");
        world.check().await;
    }
}

/// The events of the timeline.
async fn webhooks_of(world: &World, id: TransferId) -> Vec<Value> {
    let found = world.engine().transfer_with_timeline(world.environment, id).await.unwrap();
    let lines = found.timeline.into_iter().filter(|line| line.kind == "webhook");
    lines.map(|line| serde_json::from_str::<Value>(&line.detail).unwrap()["eventId"].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_same_event_again_is_applied_once() {
    let world = World::new().await;
    let id = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
    world.providers.records().transfer().status = AchProviderStatus::Settled;
    let settled = event("evt_1", "transfer_1");
    let (one, other) = tokio::join!(world.webhook(BANK, &settled), world.webhook(BANK, &settled));
    one.and(other).unwrap();
    world.providers.records().calls.clear();
    world.webhook(BANK, &settled).await.unwrap();
    assert_eq!(world.providers.records().calls, [""; 0], "asked because of what is known");
    assert_eq!(webhooks_of(&world, id).await, ["evt_1"]);
    let events = world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    assert_eq!(events.len(), 1, "{events:?}");
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn that_a_known_transfer_was_made_is_no_reason_to_ask() {
    let world = World::new().await;
    let id = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
    world.providers.records().calls.clear();
    let made = json!({ "id": "evt_1", "type": "created", "object": "transfer_1" });
    world.webhook(BANK, &made).await.unwrap();
    assert_eq!(world.providers.records().calls, [""; 0]);
    assert_eq!(webhooks_of(&world, id).await, ["evt_1"]);
    let events = world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    assert!(events.iter().all(|event| event.state == ProviderEventState::Applied), "{events:?}");

    // The answer to the second one was lost: what it is, only the provider knows.
    world.faults.arm(Fault::ProviderUnknown { done: true }, 1);
    let second = world.send("another key", 10_000).await.unwrap().transfer.order.id;
    world.faults.disarm();
    world.providers.records().calls.clear();
    let made = json!({ "id": "evt_2", "type": "created", "object": "transfer_2" });
    world.webhook(BANK, &made).await.unwrap();
    assert_eq!(world.providers.records().calls.len(), 1);
    assert_eq!(webhooks_of(&world, second).await, ["evt_2"]);
    assert_eq!(world.status(ServiceReference::Ach(second)).await, Some(Status::Processing));
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_answers_slowly_is_not_waited_for() {
    let world = World::new().await;
    let id = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
    world.providers.records().transfer().status = AchProviderStatus::Settled;
    world.faults.arm(Fault::ProviderSlow, 1);
    let began = Instant::now();
    world.webhook(BANK, &event("evt_1", "transfer_1")).await.unwrap();
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
    let stored = async || world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    assert_eq!(stored().await[0].state, ProviderEventState::Waiting);
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Processing));
    sleep(SLOW).await;
    assert_eq!(stored().await[0].state, ProviderEventState::Applied);
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Succeeded));
    assert_eq!(webhooks_of(&world, id).await, ["evt_1"]);
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_believed_is_not_stored_and_what_is_not_readable_is_parked() {
    let world = World::new().await;
    let engine = world.engine();
    let signed = |signature: &str| vec![("signature".to_owned(), signature.to_owned())];
    let good = event("evt_1", "transfer_1").to_string();
    let body = good.as_bytes();
    let secret = signed("the webhooks' secret");
    let long = event(&"x".repeat(256), "transfer_1").to_string();
    let unnamed = event("", "transfer_1").to_string();
    let receive = async |provider: &str, headers: &[(String, String)], body: &[u8]| {
        engine.receive_webhook(world.environment, provider, headers, body, "req").await.unwrap_err()
    };
    let forged = receive(BANK, &signed("a guess"), body).await;
    assert!(matches!(forged, WebhookError::SignatureError(SignatureError::Forged)), "{forged:?}");
    let unsigned = receive(BANK, &[], body).await;
    assert!(matches!(unsigned, WebhookError::SignatureError(SignatureError::Malformed)), "{unsigned:?}");
    let nobody = receive("nobody", &secret, body).await;
    assert!(matches!(nobody, WebhookError::Missing), "{nobody:?}");
    assert_eq!(engine.provider_events(world.environment, None, None, 10).await.unwrap(), []);
    // Twice, and kept once.
    for body in ["{", &long, &unnamed, "{"] {
        engine.receive_webhook(world.environment, BANK, &secret, body.as_bytes(), "req").await.unwrap();
    }
    let parked = engine.provider_events(world.environment, None, None, 10).await.unwrap();
    assert_eq!(parked.len(), 3);
    assert!(parked.iter().all(|event| event.state == ProviderEventState::Parked), "{parked:?}");
    assert_eq!(world.providers.records().calls, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_concerns_nothing_here_is_ignored() {
    let world = World::new().await;
    world.webhook(BANK, &json!({ "id": "evt_1", "type": "ping" })).await.unwrap();
    world.webhook(BANK, &event("evt_2", "transfer_of_somebody")).await.unwrap();
    world.webhook(INTENTS, &event("evt_3", "page_of_somebody")).await.unwrap();
    world.settle().await;
    let events = world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    let mut states: Vec<_> = events.iter().map(|event| (event.event.id.as_str(), event.state)).collect();
    states.sort_by_key(|(id, _)| *id);
    let (applied, ignored) = (ProviderEventState::Applied, ProviderEventState::Ignored);
    assert_eq!(states, [("evt_1", applied), ("evt_2", ignored), ("evt_3", ignored)]);
    let ping = events.iter().find(|event| event.event.id == "evt_1").unwrap();
    assert!(ping.note.contains("this webhook endpoint works"), "{}", ping.note);
}

#[tokio::test(start_paused = true)]
async fn a_payment_that_the_provider_shows_with_another_amount_moves_nothing() {
    let world = World::new().await;
    let id = world.prepared(Flow::HostedCheckout, 1_000).await.order.id;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.providers.records().page().amount = 1;
    world.webhook(INTENTS, &event("evt_1", "page_1")).await.unwrap();
    assert_eq!(world.status(ServiceReference::Card(id)).await, None);
    let exceptions = world.engine().exceptions(world.environment, true, None, 10).await.unwrap();
    assert_eq!(exceptions.len(), 1, "{exceptions:?}");
}

#[tokio::test(start_paused = true)]
async fn events_of_other_sales_leave_no_trace() {
    let world = World::new().await;
    let paid = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    world.confirm(paid, charge_of("a card")).await.unwrap();
    world.providers.records().calls.clear();
    let stored = async || world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    for (id, kind, object) in [("evt_1", "updated", "a sale at the counter"), ("evt_2", "ping", "")] {
        let body = json!({ "id": id, "type": kind, "object": object });
        world.webhook(REGISTER, &body).await.unwrap();
    }
    let theirs = json!({ "id": "evt_3", "type": "updated", "object": "x", "reference": "invoice 7" });
    world.webhook(REGISTER, &theirs).await.unwrap();
    assert_eq!(stored().await, []);
    assert_eq!(world.providers.records().calls, [""; 0]);

    // Ours is kept by its object, and by our reference even where nothing is known of it.
    let sale = world.providers.records().sale().id.clone();
    world.webhook(REGISTER, &event("evt_4", &sale)).await.unwrap();
    let unknown = json!({ "id": "evt_5", "type": "updated", "object": "x", "reference": paid.to_string() });
    world.webhook(REGISTER, &unknown).await.unwrap();
    assert_eq!(stored().await.len(), 2);
}

/// The page was made and paid, and the webhook is here before the answer to its preparation.
#[tokio::test(start_paused = true)]
async fn an_event_that_outruns_our_own_record_is_not_lost() {
    let world = World::new().await;
    world.faults.arm(Fault::ProviderUnknown { done: true }, 1);
    let request = card_request(Flow::HostedCheckout, REGISTER_FROM);
    world.engine().prepare(&world.view(), request, "req").await.unwrap_err();
    world.faults.disarm();
    let page = {
        let mut records = world.providers.records();
        records.page().status = ProviderStatus::Succeeded;
        records.page().id.clone()
    };
    world.webhook(REGISTER, &event("evt_1", &page)).await.unwrap();
    let stored = world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    assert_eq!(stored.len(), 1);
    world.settle().await;
    let id = world.payments().await[0].order.id;
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Succeeded));
    world.check().await;
}

fn naming(id: &str, object: &str) -> Value {
    json!({ "id": id, "type": "updated", "namesOnly": object })
}

#[tokio::test(start_paused = true)]
async fn an_event_that_only_names_its_object_finds_its_payment_at_the_provider() {
    let world = World::new().await;
    let id = world.prepared(Flow::HostedCheckout, 1_000).await.order.id;
    {
        let mut records = world.providers.records();
        records.page().status = ProviderStatus::Succeeded;
        records.page().dispute = Some(Dispute {
            id: "dispute of page_1".to_owned(),
            status: "needs_response".to_owned(),
            reason: None,
            amount: None,
            currency: None,
            respond_by: None,
            withdrawn: None,
        });
    }
    world.webhook(INTENTS, &naming("evt_1", "dispute of page_1")).await.unwrap();
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Succeeded));
    let payment = world.engine().payment_with_timeline(world.environment, id).await.unwrap().payment;
    let dispute = payment.transaction.unwrap().state.dispute.unwrap();
    assert_eq!((dispute.id.as_str(), dispute.status.as_str()), ("dispute of page_1", "needs_response"));

    // What somebody else sold on the same account is asked about once.
    {
        let mut records = world.providers.records();
        let (id, reference) = ("page_of_somebody".to_owned(), String::new());
        let status = ProviderStatus::NotStarted;
        let theirs = Page { id, reference, status, dispute: None, ..records.page().clone() };
        records.pages.push(theirs);
    }
    world.webhook(INTENTS, &naming("evt_2", "page_of_somebody")).await.unwrap();
    world.settle().await;
    assert_eq!(world.providers.records().count("objects.retrieve"), 2);
    let ignored = Some(ProviderEventState::Ignored);
    let events = world.engine().provider_events(world.environment, ignored, None, 10).await.unwrap();
    assert_eq!(events.len(), 1);
    assert!(events[0].note.contains("not made here"), "{}", events[0].note);
}
