//! Forgetting people, on request and after some time.

use std::time::Duration;

use serde_json::json;
use tokio::{sync::watch, time::sleep};
use tollgate_domain::{
    Flow, ServiceReference,
    ach::AchProviderStatus,
    card::ProviderStatus,
    customer::Customer,
    id::{ChangeId, PaymentId, TransferId},
    payment_card::PaymentCard,
    transaction::{Status, TransactionState},
};
use tollgate_engine::{
    CustomerName, Erasure, InProgress, PrepareRequest,
    ports::{Changed, PaymentChange},
};

use crate::support::{
    config::{self, BANK},
    requests::{card_request, look_at, origin},
    world::World,
};

const DAY: Duration = Duration::from_hours(24);

async fn prepared(world: &World, email: &str) -> PaymentId {
    let request = PrepareRequest {
        description: Some(format!("A gift for {email}")),
        customer_name: Some("Ada Lovelace".to_owned()),
        customer_email: Some(email.to_owned()),
        ..card_request(Flow::PaymentComponent, 10_000)
    };
    let payment = world.engine().prepare(&world.view(), request, "req_prepare").await.unwrap().payment;
    payment.order.id
}

async fn paid(world: &World, email: &str) -> PaymentId {
    let id = prepared(world, email).await;
    let object = world.payment(id).await.progress.object.unwrap();
    world.providers.records().pages.last_mut().unwrap().status = ProviderStatus::Succeeded;
    world.confirm(id, look_at(&object)).await.unwrap();
    id
}

async fn sent(world: &World, key: &str) -> TransferId {
    world.send(key, 1_000).await.unwrap().transfer.order.id
}

async fn settle(world: &World, id: TransferId) {
    world.providers.records().transfer().status = AchProviderStatus::Settled;
    // It is looked at for some days after its arrival, since it may still come back.
    for _ in 0..8 {
        sleep(3 * DAY).await;
        world.resolve().await;
    }
    assert_eq!(world.status(ServiceReference::Ach(id)).await, Some(Status::Succeeded));
}

async fn erase(world: &World, external_id: &str) -> Erasure {
    let customer = CustomerName { external_id: Some(external_id.to_owned()), email: None };
    world.engine().erase_customer(world.environment, &customer, origin()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_customer_is_forgotten_everywhere_and_nobody_else_is() {
    let world = World::new().await;
    let engine = world.engine();
    // The same person by another spelling, and somebody else.
    let (hers, others) = (paid(&world, "ADA@example.com").await, paid(&world, "grace@example.com").await);
    let transfer = sent(&world, "a key of hers").await;
    let token = |external_id: &str, email: &str| Customer {
        external_id: external_id.to_owned(),
        email: email.to_owned(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        phone: None,
        metadata: "{}".to_owned(),
    };
    let view = world.view();
    for customer in [token("customer", "ada@second.example"), token("other", "grace@example.com")] {
        let key = format!("key of {}", customer.email);
        engine.issue_token_once(&view, &customer, &key).await.unwrap();
    }
    let by_second_address = paid(&world, "ada@second.example").await;

    let first = erase(&world, "customer").await;
    let left = world.transfer(transfer).await.unwrap().progress.expected_on;
    let in_progress = vec![InProgress { reference: ServiceReference::Ach(transfer), ends_on: left }];
    assert_eq!(first, Erasure { card_payments: 2, transfers: 0, customer_tokens: 1, in_progress });
    // It has arrived, and is checked for returns for some more days, which needs no name.
    world.providers.records().transfer().status = AchProviderStatus::Settled;
    sleep(3 * DAY).await;
    world.resolve().await;
    let arrived = world.transfer(transfer).await.unwrap();
    assert_eq!((arrived.state.status, arrived.progress.due.is_some()), (Status::Succeeded, true));
    let second = erase(&world, "customer").await;
    assert_eq!(second, Erasure { transfers: 1, ..Erasure::default() });
    assert_eq!(erase(&world, "customer").await, Erasure::default(), "nothing is left");

    for id in [hers, by_second_address] {
        let order = world.payment(id).await.order;
        assert_eq!((order.customer_name, order.customer_email, order.description), (None, None, None));
    }
    let kept = world.payment(others).await.order;
    assert_eq!(kept.customer_email.as_deref(), Some("grace@example.com"));
    assert_eq!(kept.customer_name.as_deref(), Some("Ada Lovelace"), "a name alone is nobody's");
    let order = world.transfer(transfer).await.unwrap().order;
    assert!(!format!("{order:?}").contains("Ada"), "{order:?}");
    // What is done with it later still works.
    world.resolve().await;
    world.deliver().await;
    world.check().await;
}

/// Brings a card back into a payment, as if whoever erased it had not known of cards.
async fn leave_card(world: &World, id: PaymentId) {
    let payment = world.payment(id).await;
    let (at, transaction) = (payment.order.expires_at, payment.transaction.unwrap());
    let card = PaymentCard { last_four: Some("4711".to_owned()), ..PaymentCard::default() };
    let change = PaymentChange {
        id: ChangeId::new(at, [7; 10]),
        from_revision: payment.revision,
        at,
        progress: payment.progress,
        transaction: Some((
            transaction.id,
            TransactionState { card: Some(Box::new(card)), ..transaction.state },
        )),
        began_at: at,
        attempt: None,
        refunds: Vec::new(),
        disputes: Vec::new(),
        postings: Vec::new(),
        counts: None,
        hold_actions: Vec::new(),
        objects: Vec::new(),
        entries: Vec::new(),
        exceptions: Vec::new(),
        event: None,
        new_events: Vec::new(),
    };
    assert_eq!(world.store.change_payment(world.environment, id, &change).await.unwrap(), Changed::Done);
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_version_left_goes_with_the_next_erasure() {
    let world = World::new().await;
    let (hers, others) = (paid(&world, "ada@example.com").await, paid(&world, "grace@example.com").await);
    let erase = async |email: &str| {
        let customer = CustomerName { external_id: None, email: Some(email.to_owned()) };
        world.engine().erase_customer(world.environment, &customer, origin()).await.unwrap()
    };
    let one = Erasure { card_payments: 1, ..Erasure::default() };
    assert_eq!(erase("ada@example.com").await, one);
    for id in [hers, others] {
        leave_card(&world, id).await;
    }
    // It is not hers by anything anymore, so it goes whoever is erased next.
    assert_eq!(erase("somebody@example.com").await, one);
    let card = async |id| world.payment(id).await.transaction.unwrap().state.card;
    assert_eq!(card(hers).await.unwrap().last_four, None);
    assert!(card(others).await.unwrap().last_four.is_some(), "nobody asked to erase it");
    assert_eq!(erase("ada@example.com").await, Erasure::default());
}

#[tokio::test(start_paused = true)]
async fn what_was_still_needed_is_erased_by_itself_once_it_is_not() {
    let world = World::new().await;
    let (unpaid, transfer) = (prepared(&world, "ada@example.com").await, sent(&world, "a key").await);
    let first = erase(&world, "customer").await;
    let left: Vec<_> = first.in_progress.iter().map(|it| it.reference).collect();
    assert_eq!(left, [ServiceReference::Card(unpaid), ServiceReference::Ach(transfer)]);
    let expires_at = world.payment(unpaid).await.order.expires_at.utc_minute();
    assert!(expires_at.starts_with(first.in_progress[0].ends_on.as_deref().unwrap()), "{first:?}");
    let pass = async || {
        while world.store.index_events(100).await.unwrap() > 0 {}
        let (stop, stopped) = watch::channel(false);
        let stopping = async {
            sleep(Duration::from_mins(3)).await;
            stop.send_replace(true);
        };
        tokio::join!(world.engine().retain_until(stopped), stopping);
    };
    pass().await;
    assert!(world.payment(unpaid).await.order.customer_email.is_some(), "it is still needed");
    settle(&world, transfer).await;
    pass().await;
    assert_eq!(world.payment(unpaid).await.order.customer_email, None);
    let order = world.transfer(transfer).await.unwrap().order;
    assert!(!format!("{order:?}").contains("Ada"), "{order:?}");
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn personal_data_goes_after_as_many_days_as_the_environment_says() {
    let world = World::new().await;
    let old = paid(&world, "ada@example.com").await;
    let pass = async || {
        while world.store.index_events(100).await.unwrap() > 0 {}
        let (stop, stopped) = watch::channel(false);
        let stopping = async {
            sleep(Duration::from_mins(3)).await;
            stop.send_replace(true);
        };
        tokio::join!(world.engine().retain_until(stopped), stopping);
    };
    sleep(20 * DAY).await;
    let young = paid(&world, "grace@example.com").await;
    sleep(20 * DAY).await;
    world.resolve().await;
    pass().await;
    assert!(world.payment(old).await.order.customer_email.is_some(), "for ever, unless set");
    let mut document = config::document();
    document["settings"] = json!({"retention": {"customerDataDays": 30}});
    world.configure(document).await;
    pass().await;
    assert_eq!(world.payment(old).await.order.customer_email, None);
    assert!(world.payment(young).await.order.customer_email.is_some());

    let webhooks = async || world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    let ping = async |id: &str| {
        world.webhook(BANK, &json!({ "id": id, "type": "ping" })).await.unwrap();
    };
    ping("evt_1").await;
    sleep(60 * DAY).await;
    ping("evt_2").await;
    sleep(31 * DAY).await;
    assert_eq!(webhooks().await.len(), 2);
    pass().await;
    assert_eq!(webhooks().await.len(), 1, "90 days, unless set");
    let mut document = config::document();
    document["settings"] = json!({"retention": {"providerEventDays": 30}});
    world.configure(document).await;
    pass().await;
    assert_eq!(webhooks().await, []);
    world.check().await;
}
