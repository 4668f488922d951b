//! A component that was declined is switched to the next target of its route.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use tollgate_domain::{
    Flow, ServiceReference,
    card::{Preparation, ProviderStatus},
    id::PaymentId,
    routing::RouteOutcome,
    transaction::Status,
};
use tollgate_engine::{
    ConfirmError, PreparedPayment, SwitchError,
    ports::{Component, EventSubject, RejectionKind},
};

use crate::{
    fallbacks::{self, OTHER},
    support::{
        config::{INTENTS, REGISTER},
        every_step::{UseCase, fails_at_every_step},
        faults::Fault,
        provider::failure,
        requests::{charge_of, look_at},
        world::World,
    },
};

type Answer = Result<PreparedPayment, SwitchError>;

/// Payments begin at `first`, and go on to the others in order.
fn route(first: &str, others: &[&str]) -> Value {
    let mut document = fallbacks::document();
    let target = |provider: &&str| json!({ "provider": provider, "channel": "web_card" });
    let fallbacks: Vec<_> = others.iter().map(target).collect();
    document["routing"]["web_card"]["default"] =
        json!({ "provider": first, "channel": "web_card", "fallbacks": fallbacks });
    document
}

/// A payment whose card was declined at the first provider of its route.
async fn declined(world: &World, first: &str, others: &[&str]) -> PaymentId {
    world.configure(route(first, others)).await;
    let payment = world.prepared(Flow::PaymentComponent, 1_000).await;
    let confirmed = if let Some(object) = &payment.progress.object {
        world.providers.records().page().status = ProviderStatus::Failed(failure("card_declined"));
        world.confirm(payment.order.id, look_at(object)).await.unwrap()
    } else {
        world.confirm(payment.order.id, charge_of("a declined card")).await.unwrap()
    };
    assert_eq!(confirmed.payment.transaction.unwrap().state.status, Status::Failed);
    payment.order.id
}

async fn switch(world: &World, id: PaymentId, from: &str) -> Answer {
    let reference = ServiceReference::Card(id);
    world.engine().switch_component(&world.view(), reference, from, "req_switch").await
}

/// The customer pays with another card at the provider the payment is at.
async fn pay(world: &World, id: PaymentId) {
    let payment = world.payment(id).await;
    let body = if let Some(object) = &payment.progress.object {
        let mut records = world.providers.records();
        records.pages.iter_mut().find(|page| page.id == *object).unwrap().status = ProviderStatus::Succeeded;
        look_at(object)
    } else {
        charge_of("a good card")
    };
    let confirmed = world.confirm(id, body).await.unwrap();
    assert_eq!(confirmed.payment.transaction.unwrap().state.status, Status::Succeeded);
}

/// From an intent to another one, from an intent to tokens, and from tokens to an intent.
struct Switch<const CASE: usize>(PaymentId);

const CASES: [(&str, &str); 3] = [(INTENTS, OTHER), (INTENTS, REGISTER), (REGISTER, OTHER)];

impl<const CASE: usize> UseCase for Switch<CASE> {
    type Answer = Answer;

    async fn given(world: &World) -> Self {
        let (from, to) = CASES[CASE];
        Self(declined(world, from, &[to]).await)
    }

    async fn act(&self, world: &World) -> Answer {
        switch(world, self.0, CASES[CASE].0).await
    }

    async fn check(&self, world: &World, answers: &[Option<Answer>]) {
        let (from, to) = CASES[CASE];
        let payment = world.payment(self.0).await;
        let preparation = payment.progress.preparation;
        assert_eq!(world.status(ServiceReference::Card(self.0)).await, Some(Status::Failed));
        for answer in answers.iter().flatten() {
            match answer {
                Ok(switched) => {
                    assert_eq!((preparation, payment.order.provider.as_str()), (Preparation::Prepared, to));
                    assert_eq!(switched.payment.order, payment.order, "the answer shows what is recorded");
                    let is_intent = matches!(switched.component, Some(Component::PaymentElement { .. }));
                    assert_eq!(is_intent, to != REGISTER);
                    let attempt = &payment.order.route.attempts[0];
                    assert_eq!((attempt.provider.as_str(), attempt.outcome), (from, RouteOutcome::Declined));
                }
                Err(SwitchError::NotSwitchable(_)) => assert_eq!(preparation, Preparation::Refused),
                Err(SwitchError::Missing) => panic!("it is there"),
                Err(SwitchError::Provider(_) | SwitchError::Unfinished(_) | SwitchError::Store(_)) => {}
            }
        }
        if let [_, again] = answers {
            let is_refused = preparation == Preparation::Refused;
            assert!(matches!(again, Some(Ok(_))) || is_refused, "{again:?} {:?}", payment.progress);
        }
        // Whatever can be paid is at the one provider on record, for the amount on record.
        let records = world.providers.records().clone();
        let is_open = |status: &ProviderStatus| {
            matches!(status, ProviderStatus::NotStarted | ProviderStatus::Failed(_))
        };
        for page in records.pages.iter().filter(|page| is_open(&page.status)) {
            assert_eq!(payment.progress.object.as_ref(), Some(&page.id));
            assert_eq!(page.amount, payment.order.fee.total_debit.get());
        }
        assert_eq!(world.exceptions(self.0).await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn switching_to_another_intent_survives_every_fault() {
    fails_at_every_step::<Switch<0>>().await;
}

#[tokio::test(start_paused = true)]
async fn switching_to_tokens_survives_every_fault() {
    fails_at_every_step::<Switch<1>>().await;
}

#[tokio::test(start_paused = true)]
async fn switching_from_tokens_survives_every_fault() {
    fails_at_every_step::<Switch<2>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_declined_payment_is_paid_at_the_next_provider_for_its_fee() {
    for (from, to) in CASES {
        let world = World::new().await;
        let id = declined(&world, from, &[to]).await;
        let first = world.payment(id).await;
        let switched = switch(&world, id, from).await.unwrap();
        assert!(!switched.replayed);
        assert_eq!(switched.payment.order.id, id);
        let total = if to == OTHER { 1_040 } else { 1_050 };
        assert_eq!(switched.payment.order.fee.total_debit.get(), total);
        let transaction = world.store.transaction(world.environment, ServiceReference::Card(id)).await;
        let transaction = transaction.unwrap().unwrap();
        assert_eq!((transaction.provider.as_str(), transaction.fee.total_debit.get()), (to, total));
        assert_eq!(transaction.state.provider_reference, None);
        // The component before is of no use anymore.
        if let Some(object) = &first.progress.object {
            let late = world.confirm(id, look_at(object)).await;
            assert!(late.is_err(), "{late:?}");
        }
        let again = switch(&world, id, from).await.unwrap();
        assert!(again.replayed);
        assert_eq!(again.payment.order, switched.payment.order);
        pay(&world, id).await;
        let kinds = world.event_kinds(ServiceReference::Card(id)).await;
        let expected =
            ["payment.prepared", "transaction.failed", "payment.prepared", "transaction.succeeded"];
        assert_eq!(kinds, expected);
        world.settle().await;
        world.check().await;
    }
}

/// A provider that is switched to late still lets it be paid for as long as it lets anything be paid.
#[tokio::test(start_paused = true)]
async fn what_a_provider_lets_be_paid_for_a_day_is_payable_for_a_day_from_the_switch_on() {
    const DAY: Duration = Duration::from_hours(24);
    let world = World::new().await;
    let mut document = route(INTENTS, &[OTHER]);
    document["settings"]["preparationLifetimeSeconds"] = json!(7 * 86_400);
    world.configure(document).await;
    let payment = world.prepared(Flow::PaymentComponent, 1_000).await;
    sleep(2 * DAY).await;
    world.providers.records().page().status = ProviderStatus::Failed(failure("card_declined"));
    world.confirm(payment.order.id, look_at(&payment.progress.object.unwrap())).await.unwrap();
    world.providers.records().intent_lives = Some(DAY);
    let switched = switch(&world, payment.order.id, INTENTS).await.unwrap().payment;
    assert_eq!(switched.order.provider, OTHER);
    let left = switched.order.expires_at.since(world.clock().time());
    assert!(left > Duration::from_hours(23) && left <= DAY, "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn every_target_can_be_tried_once() {
    let world = World::new().await;
    let id = declined(&world, INTENTS, &[REGISTER, OTHER]).await;
    switch(&world, id, INTENTS).await.unwrap();
    let untried = switch(&world, id, REGISTER).await;
    assert!(untried.is_ok(), "the caller decides whether its customer tries: {untried:?}");
    let intent = world.payment(id).await.progress.object.unwrap();
    for page in &mut world.providers.records().pages {
        if page.id == intent {
            page.status = ProviderStatus::Failed(failure("card_declined"));
        }
    }
    world.confirm(id, look_at(&intent)).await.unwrap();
    let last = switch(&world, id, OTHER).await;
    assert!(matches!(last, Err(SwitchError::NotSwitchable(_))), "{last:?}");
    // The customer can try another card there.
    assert_eq!(world.payment(id).await.progress.preparation, Preparation::Prepared);
    pay(&world, id).await;
    world.settle().await;
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_paid_after_all_stays_where_it_was_paid() {
    let world = World::new().await;
    let id = declined(&world, INTENTS, &[OTHER]).await;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    let switched = switch(&world, id, INTENTS).await;
    assert!(matches!(switched, Err(SwitchError::NotSwitchable(_))), "{switched:?}");
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Succeeded));
    assert_eq!(world.providers.records().pages.len(), 1);
    world.settle().await;
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn until_the_component_is_proven_gone_nobody_else_is_asked() {
    for done in [false, true] {
        for by_webhook in [false, true] {
            let world = World::new().await;
            let id = declined(&world, INTENTS, &[OTHER]).await;
            let object = world.payment(id).await.progress.object.unwrap();
            world.faults.arm(Fault::ProviderUnknown { done }, 1);
            let unknown = switch(&world, id, INTENTS).await;
            world.faults.disarm();
            assert!(matches!(unknown, Err(SwitchError::Provider(_))), "{unknown:?}");
            assert_eq!(world.providers.records().pages.len(), 1, "only the first provider was asked");
            let confirmed = world.confirm(id, look_at(&object)).await;
            assert!(matches!(confirmed, Err(ConfirmError::NotConfirmable(_))), "{confirmed:?}");
            let read = world.engine().payment(world.environment, id).await;
            assert!(read.is_ok(), "its caller knows it");
            if by_webhook {
                let event = json!({ "id": "evt_1", "type": "canceled", "object": object });
                world.webhook(INTENTS, &event).await.unwrap();
            }
            let switched = switch(&world, id, INTENTS).await.unwrap();
            assert_eq!(switched.payment.order.provider, OTHER);
            pay(&world, id).await;
            world.settle().await;
            world.check().await;
        }
    }
}

/// The provider that was left reports what was withdrawn there; only what was paid there is news.
#[tokio::test(start_paused = true)]
async fn events_of_the_provider_that_was_left_are_no_discrepancy_unless_it_was_paid() {
    let world = World::new().await;
    let id = declined(&world, INTENTS, &[OTHER]).await;
    let object = world.payment(id).await.progress.object.unwrap();
    switch(&world, id, INTENTS).await.unwrap();
    let event = |number: u32| json!({ "id": format!("evt_{number}"), "type": "changed", "object": object });
    world.webhook(INTENTS, &event(1)).await.unwrap();
    world.resolve().await;
    assert_eq!(world.exceptions(id).await, 0);
    let paid = |status: ProviderStatus| {
        world.providers.records().pages.iter_mut().find(|page| page.id == object).unwrap().status = status;
    };
    paid(ProviderStatus::Succeeded);
    world.webhook(INTENTS, &event(2)).await.unwrap();
    world.resolve().await;
    assert_eq!(world.exceptions(id).await, 1);
    assert_eq!(world.status(ServiceReference::Card(id)).await, Some(Status::Failed));
}

#[tokio::test(start_paused = true)]
async fn only_a_declined_component_with_another_target_is_switched() {
    let world = World::new().await;
    world.configure(route(INTENTS, &[OTHER])).await;
    let hosted = world.prepared(Flow::HostedCheckout, 1_000).await.order.id;
    let untouched = world.prepared(Flow::PaymentComponent, 1_000).await.order.id;
    let world_alone = World::new().await;
    let alone = declined(&world_alone, INTENTS, &[]).await;
    for (world, id, from) in [
        (&world, hosted, INTENTS),
        (&world, untouched, INTENTS),
        (&world, untouched, OTHER),
        (&world_alone, alone, INTENTS),
    ] {
        let answer = switch(world, id, from).await;
        assert!(matches!(answer, Err(SwitchError::NotSwitchable(_))), "{answer:?}");
        assert_eq!(world.payment(id).await.progress.preparation, Preparation::Prepared);
    }
    assert_eq!(world.providers.records().count("pages.close"), 0);
}

/// A payment that left its provider and whose caller never asked again ends, and nobody can pay it.
#[tokio::test(start_paused = true)]
async fn a_switch_that_nobody_finishes_expires() {
    let world = World::new().await;
    let id = declined(&world, INTENTS, &[OTHER]).await;
    world.faults.arm(Fault::ProviderRejects(RejectionKind::Credentials), 1);
    switch(&world, id, INTENTS).await.unwrap_err();
    world.faults.disarm();
    world.settle().await;
    let waiting = world.payment(id).await;
    assert_eq!((waiting.progress.preparation, waiting.progress.object), (Preparation::Preparing, None));
    sleep(Duration::from_hours(25)).await;
    world.settle().await;
    assert_eq!(world.payment(id).await.progress.preparation, Preparation::Expired);
    let late = switch(&world, id, INTENTS).await;
    assert!(matches!(late, Err(SwitchError::NotSwitchable(_))), "{late:?}");
    world.check().await;
}

/// A confirmation that began before the switch does not charge the card at the provider that is left.
#[tokio::test(start_paused = true)]
async fn a_confirmation_that_is_overtaken_by_a_switch_charges_nothing() {
    let world = World::new().await;
    let id = declined(&world, REGISTER, &[OTHER]).await;
    let (engine, view) = (world.engine(), world.view());
    let confirmable = engine.confirmable(&view, ServiceReference::Card(id)).await.unwrap();
    switch(&world, id, REGISTER).await.unwrap();
    let late = engine.confirm(&view, confirmable, charge_of("a good card"), "req_confirm").await;
    assert!(matches!(late, Err(ConfirmError::NotConfirmable(_))), "{late:?}");
    assert!(world.providers.records().sales.iter().all(|sale| sale.status != ProviderStatus::Succeeded));
    pay(&world, id).await;
    world.settle().await;
    world.check().await;
}

/// Callers who ask at the same time get one component, whatever fails on the way.
#[tokio::test(start_paused = true)]
async fn concurrent_switches_end_at_one_provider() {
    for at in 1..12 {
        for fault in [Fault::ProviderUnsent, Fault::ProviderUnknown { done: true }] {
            let world = World::new().await;
            let id = declined(&world, INTENTS, &[OTHER, REGISTER]).await;
            world.faults.arm(fault, at);
            let (one, two) = tokio::join!(switch(&world, id, INTENTS), switch(&world, id, INTENTS));
            world.faults.disarm();
            for answer in [one, two] {
                assert!(!matches!(answer, Err(SwitchError::NotSwitchable(_))), "{answer:?}");
            }
            world.settle().await;
            let switched = switch(&world, id, INTENTS).await.unwrap();
            assert_ne!(switched.payment.order.provider, INTENTS);
            pay(&world, id).await;
            world.settle().await;
            world.check().await;
        }
    }
}

/// Events are delivered at least once, and always read the same.
#[tokio::test(start_paused = true)]
async fn what_was_told_before_a_switch_is_told_again_as_it_was() {
    let skews = [Duration::ZERO, Duration::from_secs(45)];
    for ((from, to), skew) in CASES.into_iter().flat_map(|case| skews.map(|skew| (case, skew))) {
        let world = World::new().await;
        sleep(skew * 2).await;
        let id = declined(&world, from, &[to]).await;
        sleep(Duration::from_secs(1)).await;
        if from == REGISTER {
            world.confirm(id, charge_of("another declined card")).await.unwrap();
        }
        world.set_clock_back(skew);
        if from == REGISTER {
            world.confirm(id, charge_of("a third declined card")).await.unwrap();
        }
        let told = async || {
            let mut bodies = Vec::new();
            for event in world.events().await {
                let read = world.engine().find_event(world.environment, event.id).await.unwrap();
                bodies.push(match read.subject {
                    EventSubject::Payment(payment) => {
                        let (order, prepared_at) = (payment.order, payment.progress.prepared_at);
                        let attempts = order.route.attempts.clone();
                        format!("{:?}", (order.provider, order.fee, order.expires_at, attempts, prepared_at))
                    }
                    EventSubject::Transaction(transaction) => {
                        let (state, updated_at) = (transaction.state, transaction.updated_at);
                        format!("{:?}", (transaction.provider, transaction.fee, state, updated_at))
                    }
                    EventSubject::Circuit(circuit) => format!("{circuit:?}"),
                    EventSubject::Proposal(proposal) => format!("{proposal:?}"),
                    EventSubject::AuditLog(head) => format!("{head:?}"),
                });
            }
            bodies
        };
        let before = told().await;
        let count = before.len();
        assert_eq!(count, if from == REGISTER { 4 } else { 2 });
        sleep(Duration::from_millis(5)).await;
        world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
        drop(switch(&world, id, from).await);
        world.faults.disarm();
        assert_eq!(told().await[..count], before, "while it is being switched");
        switch(&world, id, from).await.unwrap();
        sleep(Duration::from_millis(5)).await;
        assert_eq!(told().await[..count], before, "after it was");
        pay(&world, id).await;
        let after = told().await;
        assert_eq!(after[..count], before);
        assert!(after[count].contains(to) && after[count + 1].contains(to), "{after:?}");
    }
}
