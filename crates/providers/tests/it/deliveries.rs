//! What the simulator really sends of refunds and disputes of card payments, understood.

use serde_json::json;
use tollgate_configuration::Adapter;
use tollgate_domain::Flow;
use tollgate_engine::ports::{WebhookNotice, Webhooks};
use tollgate_simulator::Wire;

use crate::conformance::Inbox;
use crate::offered::Offered as _;
use crate::offered::OneEvent as _;
use crate::support::{SQUARE_KEY, STRIPE_SECRET, charge, minor, order, start};

/// Waits for a kind to come, and answers everything that came, translated.
async fn until(inbox: &Inbox, reader: &dyn Webhooks, kind: &str) -> Vec<WebhookNotice> {
    let translate = |body: &[u8]| reader.translate_one(body).unwrap();
    let received = inbox.until(|all| all.iter().any(|(_, body)| translate(body).kind == kind)).await;
    received.iter().map(|(_, body)| translate(body)).collect()
}

#[tokio::test]
async fn what_the_simulator_sends_on_the_stripe_wire_is_understood() {
    let world = start().await;
    let inbox = Inbox::open(&world.simulator, Wire::Stripe, STRIPE_SECRET).await;
    let order = order(Flow::HostedCheckout);
    let prepared = world.stripe_cards().prepare(&world.stripe, &order).await.outcome.unwrap();
    let page = prepared.checkout_url.unwrap();
    world.pay_page(&page, "4000000000000002").await;
    world.pay_page(&page, "4242424242424242").await;
    let reader = world.webhooks(Adapter::Stripe);
    let notices = until(&inbox, reader, "checkout.session.completed").await;
    let reference = Some(order.id.to_string());
    for one in notices.iter().filter(|one| one.relevant) {
        assert_eq!(one.reference, reference, "{one:?}");
    }
    let completed = notices.last().unwrap();
    assert!(completed.relevant, "{completed:?}");
    assert_eq!(completed.objects[0], prepared.object);
    let intent = completed.payment.clone().unwrap();
    let path = format!("stripe/payment_intents/{intent}");
    world.control("POST", &format!("{path}/refund"), json!({ "amount": 5 })).await;
    world.control("POST", &format!("{path}/dispute"), json!({})).await;
    let notices = until(&inbox, reader, "charge.dispute.funds_withdrawn").await;
    for kind in ["refund.created", "charge.refunded", "charge.dispute.created"] {
        let one = notices.iter().find(|one| one.kind == kind).unwrap();
        assert_eq!((one.payment.as_ref(), one.objects.first()), (Some(&intent), Some(&intent)), "{kind}");
    }
    let dispute = notices.last().unwrap().dispute.as_ref().unwrap();
    assert_eq!((dispute.status.as_str(), dispute.amount), ("needs_response", Some(minor(2_000))));
}

#[tokio::test]
async fn what_the_simulator_sends_on_the_square_wire_is_understood() {
    let world = start().await;
    let inbox = Inbox::open(&world.simulator, Wire::Square, SQUARE_KEY).await;
    let order = order(Flow::PaymentComponent);
    let card = charge(1, "cnon:card-nonce-ok");
    let paid = world.square_cards().charge(&world.square, &order, &card).await.outcome.unwrap();
    let id = paid.payment.unwrap();
    world.control("POST", &format!("square/payments/{id}/refund"), json!({ "amount": 5 })).await;
    let reader = world.webhooks(Adapter::Square);
    let notices = until(&inbox, reader, "refund.updated").await;
    assert!(notices.iter().all(|one| one.relevant && one.payment.as_ref() == Some(&id)), "{notices:?}");
    let created = &notices[0];
    assert_eq!(
        (created.kind.as_str(), created.reference.clone()),
        ("payment.created", Some(order.id.to_string()))
    );
}
