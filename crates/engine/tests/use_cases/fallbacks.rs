//! Payments whose first provider cannot take them.

use serde_json::{Value, json};
use tokio::time::Instant;
use tollgate_domain::{
    Flow, ServiceReference,
    card::{Preparation, ProviderStatus},
    routing::RouteOutcome,
    transaction::Status,
};
use tollgate_engine::{
    DEFAULT_REQUEST_DEADLINE, PrepareError, PreparedPayment, TransferCreated, TransferError,
    ports::{Component, RejectionKind, StoreError},
};

use crate::support::{
    config::{self, BANK, INTENTS, REGISTER},
    every_step::{UseCase, fails_at_every_step},
    faults::Fault,
    provider::WEBHOOK_SECRET,
    requests::card_request,
    world::World,
};

pub(crate) const OTHER: &str = "other";
pub(crate) const OTHER_BANK: &str = "other_bank";

/// Every route has a fallback, at another account and for ten cents less.
pub(crate) fn document() -> Value {
    let mut document = config::document();
    let address = document["providers"][INTENTS]["baseUrl"].clone();
    document["providers"][OTHER] = json!({
        "adapter": "stripe", "baseUrl": address,
        "credentials": { "secretKey": "key of account b", "publishableKey": "public", "webhookSecret": WEBHOOK_SECRET },
    });
    document["providers"][OTHER_BANK] = json!({
        "adapter": "increase", "baseUrl": address,
        "credentials": { "apiKey": "key of account b", "webhookSecret": WEBHOOK_SECRET },
        "funding": { "accountId": "account b", "accountNumberId": "number" },
    });
    document["routing"]["web_card"]["rules"] = json!([]);
    for (method, fallback, channel) in [("web_card", OTHER, "web_card"), ("ach", OTHER_BANK, "standard_ach")]
    {
        document["routing"][method]["default"]["fallbacks"] =
            json!([{ "provider": fallback, "channel": channel }]);
    }
    for (of, fallback) in [(0, OTHER_BANK), (1, OTHER)] {
        let mut fee = document["fees"][of].clone();
        fee["provider"] = json!(fallback);
        fee["platform"]["fixedFeeMinor"] = json!("20");
        document["fees"].as_array_mut().unwrap().push(fee);
    }
    document
}

/// The same, with a first provider that does not let us in.
fn refusing() -> Value {
    let mut document = document();
    document["providers"][INTENTS]["credentials"]["secretKey"] = json!("a wrong key");
    document["providers"][BANK]["credentials"]["apiKey"] = json!("a wrong key");
    document
}

/// The same as [`document`], with the provider that charges tokens as the fallback.
fn to_register() -> Value {
    let mut document = document();
    document["routing"]["web_card"]["default"]["fallbacks"] =
        json!([{ "provider": REGISTER, "channel": "web_card" }]);
    document
}

async fn prepare(world: &World, flow: Flow) -> Result<PreparedPayment, PrepareError> {
    let began = Instant::now();
    let answer = world.engine().prepare(&world.view(), card_request(flow, 1_000), "req").await;
    assert!(began.elapsed() <= DEFAULT_REQUEST_DEADLINE, "the caller waited {:?}", began.elapsed());
    answer
}

/// A caller prepares a payment; a retry prepares another one. Until the world settles, the first provider may be out of reach.
struct Prepare<const HOSTED: bool, const CASE: u8>;

impl<const HOSTED: bool, const CASE: u8> UseCase for Prepare<HOSTED, CASE> {
    type Answer = Result<PreparedPayment, PrepareError>;

    async fn given(world: &World) -> Self {
        let document = [document, document, to_register][usize::from(CASE)];
        world.configure(document()).await;
        world.providers.records().unreachable = (CASE > 0).then_some('a').into_iter().collect();
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        prepare(world, if HOSTED { Flow::HostedCheckout } else { Flow::PaymentComponent }).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        for answer in answers.iter().flatten() {
            match answer {
                Ok(prepared) => {
                    let payment = world.payment(prepared.payment.order.id).await;
                    assert_eq!(payment.progress.preparation, Preparation::Prepared);
                    assert_eq!(payment.order, prepared.payment.order, "the answer shows what is recorded");
                    assert_eq!(
                        payment.order.route.attempts.len(),
                        usize::from(payment.order.provider != INTENTS)
                    );
                    let reported = world.event_kinds(ServiceReference::Card(payment.order.id)).await;
                    assert_eq!(reported, ["payment.prepared"]);
                }
                Err(PrepareError::Recorded { reference, .. }) => {
                    let payment = world.payment(*reference).await;
                    let ended = [Preparation::Withdrawn, Preparation::Refused];
                    assert!(ended.contains(&payment.progress.preparation), "{:?}", payment.progress);
                }
                Err(error) => assert!(matches!(error, PrepareError::Store(_)), "{error:?}"),
            }
        }
        if let [_, again] = answers {
            assert!(matches!(again, Some(Ok(_))), "{again:?}");
        }
        // Whatever can be paid is at the one provider on record, for the amount on record.
        let payments = world.payments().await;
        let records = world.providers.records().clone();
        for page in records.pages.iter().filter(|page| page.status == ProviderStatus::NotStarted) {
            let payment = payments.iter().find(|it| it.order.id.to_string() == page.reference).unwrap();
            assert_eq!(payment.progress.object.as_ref(), Some(&page.id));
            assert_eq!(page.account, if payment.order.provider == OTHER { 'b' } else { 'a' });
            assert_eq!(page.amount, payment.order.fee.total_debit.get());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_with_a_fallback_survives_every_fault() {
    fails_at_every_step::<Prepare<true, 0>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_component_with_a_fallback_survives_every_fault() {
    fails_at_every_step::<Prepare<false, 0>>().await;
}

#[tokio::test(start_paused = true)]
async fn falling_back_to_another_page_survives_every_fault() {
    fails_at_every_step::<Prepare<true, 1>>().await;
}

#[tokio::test(start_paused = true)]
async fn falling_back_to_another_component_survives_every_fault() {
    fails_at_every_step::<Prepare<false, 1>>().await;
}

#[tokio::test(start_paused = true)]
async fn falling_back_to_tokens_survives_every_fault() {
    fails_at_every_step::<Prepare<false, 2>>().await;
}

const KEY: &str = "a caller's key";

/// A caller sends a transfer. Until the world settles, the first provider may be out of reach.
struct SendTransfer<const OUTAGE: bool>;

impl<const OUTAGE: bool> UseCase for SendTransfer<OUTAGE> {
    type Answer = Result<TransferCreated, TransferError>;

    async fn given(world: &World) -> Self {
        world.configure(document()).await;
        world.providers.records().unreachable = OUTAGE.then_some('a').into_iter().collect();
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        let began = Instant::now();
        let answer = world.send(KEY, 10_000).await;
        assert!(began.elapsed() <= DEFAULT_REQUEST_DEADLINE, "the caller waited {:?}", began.elapsed());
        answer
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let id = world.engine().transfer_reference(&world.view(), KEY);
        let records = world.providers.records().clone();
        assert!(records.transfers.len() <= 1, "sent twice: {records:?}");
        let stored = world.transfer(id).await;
        for answer in answers.iter().flatten() {
            match answer {
                Ok(made) => {
                    let order = &stored.as_ref().unwrap().order;
                    assert_eq!(order, &made.transfer.order);
                    if let [sent] = records.transfers.as_slice() {
                        assert_eq!(sent.account, if order.provider == OTHER_BANK { 'b' } else { 'a' });
                    }
                }
                Err(TransferError::Rejected { .. }) => {
                    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Failed));
                }
                Err(TransferError::Store(StoreError::Unknown(_))) => {}
                Err(error) => {
                    assert!(answers.len() > 1 || stored.is_none(), "answered {error}, stored {stored:?}");
                }
            }
        }
        if let [_, Some(again)] = answers {
            assert!(matches!(again, Ok(_) | Err(TransferError::Rejected { .. })), "{again:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_transfer_with_a_fallback_survives_every_fault() {
    fails_at_every_step::<SendTransfer<false>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_transfer_that_falls_back_survives_every_fault() {
    fails_at_every_step::<SendTransfer<true>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_was_not_reached_or_does_not_let_us_in_is_left() {
    for (fault, outcome) in [
        (Fault::ProviderUnsent, RouteOutcome::Unavailable),
        (Fault::ProviderRejects(RejectionKind::Credentials), RouteOutcome::Refused),
    ] {
        let world = World::new().await;
        world.configure(document()).await;
        world.faults.arm(fault, 1);
        let prepared = prepare(&world, Flow::PaymentComponent).await.unwrap();
        let order = &prepared.payment.order;
        assert_eq!((order.provider.as_str(), order.fee.total_debit.get()), (OTHER, 1_040));
        assert_eq!((order.route.attempts.len(), order.route.attempts[0].outcome), (1, outcome));
        assert_eq!(order.provider_key(), format!("{}.2", order.id), "another key for another provider");
        let Some(Component::PaymentElement { payment_intent_id, .. }) = prepared.component else { panic!() };
        assert_eq!(world.payment(order.id).await.progress.object, Some(payment_intent_id));
        world.faults.arm(fault, 1);
        let sent = world.send(KEY, 10_000).await.unwrap().transfer;
        assert_eq!((sent.order.provider.as_str(), sent.state.status), (OTHER_BANK, Status::Processing));
        assert_eq!(sent.order.route.attempts[0].outcome, outcome);
        world.faults.disarm();
        world.settle().await;
        world.check().await;
    }
}

/// Where the first provider may have made something, nobody else is asked.
#[tokio::test(start_paused = true)]
async fn after_an_unknown_outcome_or_a_rejection_there_is_no_fallback() {
    for fault in [
        Fault::ProviderUnknown { done: false },
        Fault::ProviderUnknown { done: true },
        Fault::ProviderRejects(RejectionKind::Invalid),
    ] {
        let world = World::new().await;
        world.configure(document()).await;
        world.faults.arm(fault, 1);
        let failed = prepare(&world, Flow::HostedCheckout).await;
        let Err(PrepareError::Recorded { reference, .. }) = failed else { panic!("{fault:?}: {failed:?}") };
        assert_eq!(world.payment(reference).await.order.provider, INTENTS);
        world.faults.arm(fault, 1);
        let sent = world.send(KEY, 10_000).await;
        assert!(!sent.is_ok_and(|made| made.transfer.order.provider != BANK), "{fault:?}");
        world.faults.disarm();
        assert!(world.providers.records().pages.iter().all(|page| page.account == 'a'), "{fault:?}");
        assert!(world.providers.records().transfers.iter().all(|it| it.account == 'a'), "{fault:?}");
        world.settle().await;
        world.check().await;
    }
}

/// What it may have made is taken back first.
#[tokio::test(start_paused = true)]
async fn a_provider_that_answers_with_errors_is_left_once_it_is_proven_to_have_nothing() {
    for (done, is_closed) in [(false, true), (true, true), (true, false)] {
        let world = World::new().await;
        world.configure(document()).await;
        world.providers.records().failing = Some(('a', done));
        if !is_closed {
            world.faults.arm(Fault::ProviderUnknown { done: false }, 2);
        }
        let answer = prepare(&world, Flow::HostedCheckout).await;
        world.faults.disarm();
        let pages = world.providers.records().pages.clone();
        if is_closed {
            let order = answer.unwrap().payment.order;
            assert_eq!(order.provider, OTHER);
            assert_eq!(order.route.attempts[0].outcome, RouteOutcome::Unavailable);
            assert!(pages.iter().all(|page| page.account == 'b' || page.status == ProviderStatus::Canceled));
        } else {
            assert!(matches!(answer, Err(PrepareError::Recorded { .. })), "{answer:?}");
            assert!(pages.iter().all(|page| page.account == 'a'), "nobody else is asked: {pages:?}");
        }
        world.providers.records().failing = None;
        world.settle().await;
        world.check().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_not_ready_is_passed_over_without_being_asked() {
    let world = World::new().await;
    let mut document = document();
    document["providers"][INTENTS]["credentials"]["secretKey"] = Value::Null;
    document["providers"][BANK]["credentials"]["apiKey"] = Value::Null;
    world.configure(document).await;
    let order = prepare(&world, Flow::HostedCheckout).await.unwrap().payment.order;
    assert_eq!(order.provider, OTHER);
    assert_eq!(order.route.attempts[0].outcome, RouteOutcome::Skipped);
    assert!(order.route.attempts[0].reason.contains("providers.intents.credentials.secretKey"));
    let request = crate::support::requests::quote_request(tollgate_domain::PaymentMethod::Ach, None, 10_000);
    let preview = world.engine().preview_transfer(&world.view(), &request).await.unwrap();
    assert_eq!(&*preview.target.provider, OTHER_BANK);
    assert_eq!(world.send(KEY, 10_000).await.unwrap().transfer.order.provider, OTHER_BANK);
    assert_eq!(world.providers.records().calls, ["pages.create", "transfers.create"]);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_costs_more_is_passed_over_unless_that_is_allowed() {
    for may_cost_more in [false, true] {
        let world = World::new().await;
        let mut document = refusing();
        for fee in 3..5 {
            document["fees"][fee]["platform"]["fixedFeeMinor"] = json!("31");
        }
        document["settings"]["fallbackMayCostMore"] = json!(may_cost_more);
        world.configure(document).await;
        let prepared = prepare(&world, Flow::HostedCheckout).await;
        let sent = world.send(KEY, 10_000).await;
        if may_cost_more {
            assert_eq!(prepared.unwrap().payment.order.fee.total_debit.get(), 1_051);
            assert_eq!(sent.unwrap().transfer.order.fee.total_debit.get(), 10_231);
        } else {
            assert!(matches!(prepared, Err(PrepareError::Recorded { .. })), "{prepared:?}");
            assert!(matches!(sent, Err(TransferError::NotConfigured { .. })), "{sent:?}");
        }
        world.settle().await;
        world.check().await;
    }
}

/// What a provider that was left says about the payment after all is shown to an operator.
#[tokio::test(start_paused = true)]
async fn news_of_a_provider_that_was_left_is_a_discrepancy() {
    let world = World::new().await;
    world.configure(document()).await;
    world.faults.arm(Fault::ProviderUnsent, 1);
    let order = prepare(&world, Flow::HostedCheckout).await.unwrap().payment.order;
    world.faults.disarm();
    let event =
        json!({ "id": "evt_1", "type": "paid", "object": "page_x", "reference": order.id.to_string() });
    world.webhook(INTENTS, &event).await.unwrap();
    world.resolve().await;
    assert_eq!(world.exceptions(order.id).await, 1);
    assert_eq!(world.status(ServiceReference::Card(order.id)).await, None);
}
