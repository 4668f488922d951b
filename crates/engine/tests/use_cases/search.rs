//! Finding payments by what people type, and exporting them.

use tollgate_domain::{Flow, ServiceReference, card::ProviderStatus, id::PaymentId, transaction::Dispute};
use tollgate_engine::{PaymentSearch, PrepareRequest};

use crate::support::{
    requests::{card_request, look_at},
    world::World,
};

/// The references that a text finds.
async fn found(world: &World, text: &str) -> Vec<String> {
    while world.store.index_events(100).await.unwrap() > 0 {}
    let search = PaymentSearch { text: text.to_owned(), ..PaymentSearch::default() };
    let (found, _) = world.engine().search_payments(world.environment, &search, None, 10).await.unwrap();
    found.iter().map(|payment| payment.reference().to_string()).collect()
}

async fn paid(world: &World) -> PaymentId {
    let request = PrepareRequest {
        description: Some("Season ticket 2027, north stand".to_owned()),
        customer_name: Some("Grace Hopper".to_owned()),
        customer_email: Some("grace.hopper@navy.example".to_owned()),
        ..card_request(Flow::PaymentComponent, 44_444)
    };
    let prepared = world.engine().prepare(&world.view(), request, "req_prepare").await.unwrap().payment;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.confirm(prepared.order.id, look_at(&prepared.progress.object.unwrap())).await.unwrap();
    prepared.order.id
}

#[tokio::test(start_paused = true)]
async fn a_customers_payments_are_theirs_alone() {
    let world = World::new().await;
    let id = paid(&world).await;
    let other = PrepareRequest {
        customer_name: Some("Grace Murray".to_owned()),
        customer_email: Some("murray@navy.example".to_owned()),
        ..card_request(Flow::PaymentComponent, 5_000)
    };
    world.engine().prepare(&world.view(), other, "req_other").await.unwrap();
    while world.store.index_events(100).await.unwrap() > 0 {}
    for (name, count) in [
        ("Grace.Hopper@navy.example", 1),
        ("grace", 0),
        ("grace hopper", 0),
        ("murray@navy.example", 1),
        ("", 0),
    ] {
        let found = world.engine().payments_of_customer(world.environment, name, None, 10).await.unwrap();
        assert_eq!((found.0.len(), found.1), (count, None), "{name}");
    }
    let (found, _) = world
        .engine()
        .payments_of_customer(world.environment, "grace.hopper@navy.example", None, 10)
        .await
        .unwrap();
    assert_eq!(found[0].0.reference(), ServiceReference::Card(id));
    assert_eq!(found[0].1.name.as_deref(), Some("Grace Hopper"));
    // A full slice says where to go on, and there is nothing behind it.
    let (slice, next) = world
        .engine()
        .payments_of_customer(world.environment, "grace.hopper@navy.example", None, 1)
        .await
        .unwrap();
    assert_eq!(slice.len(), 1);
    let (rest, end) = world
        .engine()
        .payments_of_customer(world.environment, "grace.hopper@navy.example", next, 1)
        .await
        .unwrap();
    assert_eq!((rest.len(), end), (0, None));
}

#[tokio::test(start_paused = true)]
async fn a_payment_is_found_by_whatever_people_type() {
    let world = World::new().await;
    let id = paid(&world).await;
    world.prepared(Flow::PaymentComponent, 5_000).await;
    let payment = world.payment(id).await;
    let object = payment.progress.object.clone().unwrap();
    let reference = id.to_string();
    let engine = world.engine();
    let events = engine.events_about(world.environment, ServiceReference::Card(id)).await.unwrap();
    let event = events[0].0.id.to_string();
    for text in [
        &*reference,
        reference.get(..24).unwrap(),
        &reference.get(..24).unwrap().to_uppercase(),
        "444.44 USD",
        "USD 444.44",
        "$444.44",
        "44444",
        "season",
        "Ticket",
        "2027",
        "grace.hopper@navy.example",
        "grace.hop",
        "hopper",
        "Grace Hop",
        "ticket season",
        "north hopper 2027",
        "\"Season Ticket\" grace",
        "season no",
        "444.44 USD",
        &object,
        &event,
    ] {
        assert_eq!(found(&world, text).await, std::slice::from_ref(&reference), "{text}");
    }
    for text in [
        "444.44 EUR",
        "444.45",
        "grace.hopp@",
        "no",
        "evt_00000000000000000000000000",
        "seas on",
        "season lamp",
        "\"ticket season\"",
    ] {
        assert!(found(&world, text).await.is_empty(), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_payment_is_found_by_its_dispute_and_a_transfer_by_the_end_of_its_account() {
    let world = World::new().await;
    let id = paid(&world).await;
    let dispute = Dispute {
        id: "dp_1ABCdef".to_owned(),
        status: "needs_response".to_owned(),
        reason: None,
        amount: None,
        currency: None,
        respond_by: None,
        withdrawn: None,
    };
    world.providers.records().page().dispute = Some(dispute);
    tokio::time::sleep(std::time::Duration::from_hours(25)).await;
    world.resolve().await;
    assert_eq!(found(&world, "dp_1ABCdef").await, [id.to_string()]);
    let sent = world.send("transfer-1", 1_000).await.unwrap().transfer;
    assert_eq!(found(&world, &sent.order.last_four).await, [sent.order.id.to_string()]);
    assert_eq!(
        found(&world, sent.order.id.to_string().get(..20).unwrap()).await,
        [sent.order.id.to_string()]
    );
}

#[tokio::test(start_paused = true)]
async fn an_export_has_the_customer_the_fee_layers_and_amounts_for_people_and_programs() {
    let world = World::new().await;
    paid(&world).await;
    world.send("transfer-1", 1_000).await.unwrap();
    let csv = world.engine().export_payments(world.environment, &PaymentSearch::default()).await.unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|head| *head == name).unwrap();
    let card = rows.iter().find(|row| row[column("paymentMethod")] == "web_card").unwrap();
    let ach = rows.iter().find(|row| row[column("paymentMethod")] == "ach").unwrap();
    assert_eq!((card[column("amountMinor")], card[column("amount")]), ("44444", "444.44"));
    assert_eq!(card[column("customerName")], "\"Grace Hopper\"");
    assert_eq!(card[column("customerEmail")], "\"grace.hopper@navy.example\"");
    assert!(!ach[column("externalCustomerId")].trim_matches('"').is_empty(), "{ach:?}");
    for row in [card, ach] {
        let minor = |name: &str| row[column(name)].parse::<u64>().unwrap();
        assert_eq!(minor("platformFeeMinor") + minor("organizationFeeMinor"), minor("feeMinor"), "{row:?}");
        assert!(row[column("platformFee")].contains('.'), "{row:?}");
    }
    let only = PaymentSearch { text: "season".to_owned(), ..PaymentSearch::default() };
    while world.store.index_events(100).await.unwrap() > 0 {}
    let csv = world.engine().export_payments(world.environment, &only).await.unwrap();
    assert_eq!(csv.lines().count(), 2, "{csv}");
}
