//! Confirming a payment: the intent is read where the customer paid on one, the card is charged where there is a token.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{Flow, ServiceReference, card::ProviderStatus, id::PaymentId, transaction::Status};
use tollgate_engine::{
    ConfirmBody, ConfirmError, Confirmed,
    ports::{RejectionKind, StoreError},
};

use crate::support::{
    config::{self, REGISTER_FROM},
    every_step::{UseCase, fails_at_every_step},
    faults::Fault,
    provider::failure,
    requests::{charge_of, look_at},
    world::World,
};

type Answer = Result<Confirmed, ConfirmError>;

fn status(confirmed: &Confirmed) -> Status {
    confirmed.payment.transaction.as_ref().unwrap().state.status
}

/// A final status in an answer was also sent as an event; an unknown outcome is answered as still open.
async fn check_answers(world: &World, id: PaymentId, answers: &[Option<Answer>]) {
    let reported = world.event_kinds(ServiceReference::Card(id)).await;
    let recorded = world.store.payment(world.environment, id).await.unwrap();
    for confirmed in answers.iter().flatten().filter_map(|answer| answer.as_ref().ok()) {
        let kind = format!("transaction.{}", status(confirmed).as_str());
        let is_open = status(confirmed).is_open();
        assert!(is_open || reported.contains(&kind.as_str()), "answered {kind}, reported {reported:?}");
        if let Some(recorded) = recorded.as_ref().and_then(|payment| payment.transaction.as_ref()) {
            let answered = confirmed.payment.transaction.as_ref().map(|transaction| transaction.created_at);
            assert_eq!(answered, Some(recorded.created_at), "{:?}", recorded.state);
        }
    }
    if let [_, again] = answers {
        assert!(matches!(again, Some(Ok(_))), "{again:?}");
    }
}

/// The customer has paid on the intent, and the caller confirms.
struct ConfirmByLook(PaymentId, String);

impl UseCase for ConfirmByLook {
    type Answer = Answer;

    async fn given(world: &World) -> Self {
        let payment = world.prepared(Flow::PaymentComponent, 1_000).await;
        world.providers.records().page().status = ProviderStatus::Succeeded;
        Self(payment.order.id, payment.progress.object.unwrap())
    }

    async fn act(&self, world: &World) -> Answer {
        world.confirm(self.0, look_at(&self.1)).await
    }

    async fn check(&self, world: &World, answers: &[Option<Answer>]) {
        check_answers(world, self.0, answers).await;
        // The customer has paid, whatever happened to the call.
        assert_eq!(world.status(ServiceReference::Card(self.0)).await, Some(Status::Succeeded));
    }
}

/// The caller confirms with a card's token.
struct ConfirmByCharge(PaymentId);

impl UseCase for ConfirmByCharge {
    type Answer = Answer;

    async fn given(world: &World) -> Self {
        Self(world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id)
    }

    async fn act(&self, world: &World) -> Answer {
        world.confirm(self.0, charge_of("a card")).await
    }

    async fn check(&self, world: &World, answers: &[Option<Answer>]) {
        check_answers(world, self.0, answers).await;
        let status = world.status(ServiceReference::Card(self.0)).await;
        let charges = world.providers.records().sales.len();
        match answers {
            // Rejected credentials, or never started: nothing was charged, and the card can be used again.
            [
                Some(Err(
                    ConfirmError::NotConfigured { .. } | ConfirmError::Store(StoreError::Unavailable(_)),
                )),
            ] => {
                assert_eq!((status, charges), (None, 0));
            }
            [Some(Err(error))] => {
                assert!(matches!(error, ConfirmError::Store(StoreError::Unknown(_))), "{error:?}");
            }
            [Some(Ok(_)) | None] => {}
            _ => {
                assert!(matches!(
                    (status, charges),
                    (Some(Status::Succeeded), 1) | (Some(Status::Failed), 0)
                ));
            }
        }
    }
}

/// The caller confirms with a card that its bank declines.
struct ConfirmDeclinedCard(PaymentId);

impl UseCase for ConfirmDeclinedCard {
    type Answer = Answer;

    async fn given(world: &World) -> Self {
        Self(world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id)
    }

    async fn act(&self, world: &World) -> Answer {
        world.confirm(self.0, charge_of("a declined card")).await
    }

    async fn check(&self, world: &World, answers: &[Option<Answer>]) {
        check_answers(world, self.0, answers).await;
        if answers.len() == 2 {
            assert_eq!(world.status(ServiceReference::Card(self.0)).await, Some(Status::Failed));
            let declines = world.event_kinds(ServiceReference::Card(self.0)).await;
            assert_eq!(
                declines.iter().filter(|kind| **kind == "transaction.failed").count(),
                1,
                "{declines:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn confirming_by_a_look_survives_every_fault() {
    fails_at_every_step::<ConfirmByLook>().await;
}

#[tokio::test(start_paused = true)]
async fn confirming_by_a_charge_survives_every_fault() {
    fails_at_every_step::<ConfirmByCharge>().await;
}

#[tokio::test(start_paused = true)]
async fn confirming_with_a_declined_card_survives_every_fault() {
    fails_at_every_step::<ConfirmDeclinedCard>().await;
}

#[tokio::test(start_paused = true)]
async fn a_look_answers_what_the_provider_says() {
    for (standing, expected) in [
        (ProviderStatus::NotStarted, Some(Status::Pending)),
        (ProviderStatus::ActionRequired, Some(Status::Pending)),
        (ProviderStatus::Processing, Some(Status::Processing)),
        (ProviderStatus::Succeeded, Some(Status::Succeeded)),
        (ProviderStatus::Failed(failure("card_declined")), Some(Status::Failed)),
        (ProviderStatus::Unrecognized("new".to_owned()), Some(Status::Pending)),
        // It was not paid and can no longer be: there is nothing to confirm.
        (ProviderStatus::Canceled, None),
    ] {
        let world = World::new().await;
        let payment = world.prepared(Flow::PaymentComponent, 1_000).await;
        world.providers.records().page().status = standing.clone();
        let body = look_at(&payment.progress.object.unwrap());
        let confirmed = world.confirm(payment.order.id, body).await;
        match expected {
            Some(expected) => {
                let confirmed = confirmed.unwrap();
                assert_eq!((status(&confirmed), confirmed.replayed), (expected, false), "{standing:?}");
            }
            None => assert!(matches!(confirmed, Err(ConfirmError::NotConfirmable(_))), "{confirmed:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn another_card_may_follow_a_declined_one_and_none_a_paid_one() {
    let world = World::new().await;
    let id = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    for (card, expected, replayed) in [
        ("declined 1", Status::Failed, false),
        ("declined 1", Status::Failed, true),
        ("declined 2", Status::Failed, false),
        ("good", Status::Succeeded, false),
        ("good", Status::Succeeded, true),
        ("another", Status::Succeeded, true),
    ] {
        let confirmed = world.confirm(id, charge_of(card)).await.unwrap();
        assert_eq!((status(&confirmed), confirmed.replayed), (expected, replayed), "{card}");
    }
    let reported = world.event_kinds(ServiceReference::Card(id)).await;
    assert_eq!(
        reported,
        ["payment.prepared", "transaction.failed", "transaction.failed", "transaction.succeeded"]
    );
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_confirmed_is_refused_and_nothing_is_asked() {
    let world = World::new().await;
    let hosted = world.prepared(Flow::HostedCheckout, 1_000).await.order.id;
    let intent = world.prepared(Flow::PaymentComponent, 1_000).await.order.id;
    let unknown = PaymentId::from_bytes([7; 16]);
    let asked = world.providers.records().calls.len();
    let refusal = async |id, body: ConfirmBody| world.confirm(id, body).await.unwrap_err();
    assert!(matches!(refusal(hosted, look_at("page_1")).await, ConfirmError::NotConfirmable(_)));
    assert!(matches!(refusal(unknown, look_at("intent_2")).await, ConfirmError::Missing));
    assert!(matches!(refusal(intent, look_at("page_1")).await, ConfirmError::OtherIntent));
    assert_eq!(world.providers.records().calls.len(), asked);
    world.configure(config::with_wrong_credentials()).await;
    assert!(matches!(refusal(intent, look_at("intent_2")).await, ConfirmError::NotConfigured { .. }));
    assert_eq!(world.status(ServiceReference::Card(intent)).await, None);
}

/// Some providers take a key for used once they have answered it, whatever they answered.
#[tokio::test(start_paused = true)]
async fn a_charge_that_was_answered_is_never_repeated_under_its_key() {
    for source in ["a card", "another card"] {
        let world = World::new().await;
        let id = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
        for _ in 0..3 {
            world.faults.arm(Fault::ProviderRejects(RejectionKind::Credentials), 1);
            let refused = world.confirm(id, charge_of("a card")).await;
            world.faults.disarm();
            assert!(matches!(refused, Err(ConfirmError::NotConfigured { .. })), "{refused:?}");
        }
        world.confirm(id, charge_of("a declined card")).await.unwrap();
        world.confirm(id, charge_of(source)).await.unwrap();
        let numbers: Vec<_> = world.providers.records().sales.iter().map(|sale| sale.number).collect();
        assert_eq!(numbers, [4, 5], "{source}");
        assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Succeeded));
        assert!(world.confirm(id, charge_of("a declined card")).await.unwrap().replayed);
        world.check().await;
    }
}

/// A decline whose answer was lost: its key is used up, and the list of payments shows it.
#[tokio::test(start_paused = true)]
async fn a_lost_decline_is_found_in_the_list() {
    let world = World::new().await;
    world.providers.records().listed_after = Duration::from_secs(10);
    let id = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    world.faults.arm(Fault::ProviderUnknown { done: true }, 1);
    world.confirm(id, charge_of("a declined card")).await.unwrap();
    world.faults.disarm();
    sleep(Duration::from_secs(5)).await;
    world.resolve().await;
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Pending), "not listed yet");
    sleep(Duration::from_mins(1)).await;
    world.resolve().await;
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Failed));
    world.confirm(id, charge_of("a good card")).await.unwrap();
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Succeeded));
    world.check().await;
}

/// A charge can be sent again shortly before its key is no longer trusted: that it is not listed right after is no proof.
#[tokio::test(start_paused = true)]
async fn a_charge_that_was_sent_again_last_is_not_given_up_before_it_can_be_listed() {
    let world = World::new().await;
    world.providers.records().listed_after = Duration::from_secs(100);
    let id = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
    world.confirm(id, charge_of("a card")).await.unwrap();
    world.faults.disarm();
    // It is not retried until the last minute in which the key counts; then it is charged, and that answer is lost, too.
    sleep(Duration::from_secs(59 * 60 + 50)).await;
    world.providers.records().silent.push('a');
    world.resolve().await;
    world.providers.records().silent.clear();
    assert_eq!(world.providers.records().sales.len(), 1);
    for _ in 0..4 {
        sleep(Duration::from_secs(20)).await;
        world.resolve().await;
        assert_ne!(world.status(ServiceReference::Card(id)).await, Some(Status::Failed));
    }
    sleep(Duration::from_mins(11)).await;
    world.resolve().await;
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Succeeded));
    world.check().await;
}
