//! Every flow of the Square adapter, and every route of its simulator.

use serde_json::json;
use tollgate_configuration::Adapter;
use tollgate_domain::Flow;
use tollgate_domain::hold::HoldActionKind::{Capture, Void};
use tollgate_domain::refund::{Refund, RefundReason};
use tollgate_domain::tenant::Mode;
use tollgate_engine::ports::{Adapters as _, Charge, CheckSubject, NewWebhook, Subject};
use tollgate_simulator::Wire;
use tollgate_vault::Secret;

use super::recording::{Recorded, Recording};
use super::{assert_faultless, planted};
use crate::offered::Offered as _;
use crate::support::{SQUARE_KEY, charge, hold_action, manual_order, now, order, refund};

const GOOD: &str = "4111111111111111";
const OK: &str = "cnon:card-nonce-ok";
/// As many as a list of the provider holds.
const PAGE: usize = 100;
const URL: &str = "https://pay.example.test/webhooks/v1/env/card_provider_b";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_exchange_fits() {
    assert_faultless(Adapter::Square, record().await, &planted::SQUARE).await;
}

async fn record() -> Recording {
    let recorded =
        Recorded::start(Adapter::Square, Wire::Square, "Bearer square_simulator_token", SQUARE_KEY).await;
    charges(&recorded).await;
    links(&recorded).await;
    hold(&recorded).await;
    give_back_and_dispute(&recorded).await;
    refunds_that_come_to_nothing(&recorded).await;
    check(&recorded).await;
    other_routes(&recorded).await;
    disputes_and_payments_in_pages(&recorded).await;
    recorded.finish(&[]).await
}

async fn charges(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.square_cards());
    for source in
        [OK, "cnon:card-nonce-declined", "cnon:card-nonce-rejected-cvv", "cnon:card-nonce-already-used"]
    {
        let card = Charge { verification: Some(Secret::new("verf:x")), ..charge(1, source) };
        let order = order(Flow::PaymentComponent);
        let made = cards.charge(&world.square, &order, &card).await.outcome;
        if let Some(payment) = made.ok().and_then(|report| report.payment) {
            cards.read_report(&world.square, &order, Subject::Payment(&payment)).await.outcome.unwrap();
        }
        let from = order.created_at;
        cards.find_charge(&world.square, &order, from, now()).await.outcome.unwrap();
    }
    let mut bare = order(Flow::PaymentComponent);
    (bare.description, bare.customer_email) = (None, None);
    let card = Charge { buyer_email: None, ..charge(1, OK) };
    cards.charge(&world.square, &bare, &card).await.outcome.unwrap();
    cards.can_access_account(&world.square, None).await.outcome.unwrap();
}

async fn links(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.square_cards());
    let mut bare = order(Flow::HostedCheckout);
    (bare.description, bare.customer_email, bare.success_url) = (None, None, None);
    for order in [order(Flow::HostedCheckout), bare] {
        let link = cards.prepare(&world.square, &order).await.outcome.unwrap();
        cards.read_report(&world.square, &order, Subject::Object(&link.object)).await.outcome.unwrap();
        cards.withdraw_report(&world.square, &order, &link.object).await.outcome.unwrap();
    }
    let order = order(Flow::HostedCheckout);
    let link = cards.prepare(&world.square, &order).await.outcome.unwrap();
    world.pay_page(link.checkout_url.as_ref().unwrap(), GOOD).await;
    cards.read_report(&world.square, &order, Subject::Object(&link.object)).await.outcome.unwrap();
    for name in &link.also {
        cards.read_by_name(&world.square, &order, name).await.outcome.unwrap();
    }
    cards.withdraw_report(&world.square, &order, &link.object).await.outcome.unwrap();
    // Paid in parts.
    let order = crate::support::order(Flow::HostedCheckout);
    let link = cards.prepare(&world.square, &order).await.outcome.unwrap();
    recorded.drive(&format!("payment_links/{}/pay", link.object), json!({ "amount": 500 })).await;
    cards.read_report(&world.square, &order, Subject::Object(&link.object)).await.outcome.unwrap();
}

async fn hold(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.square_cards());
    for action in [hold_action(Capture, None), hold_action(Capture, Some(1_000)), hold_action(Void, None)] {
        let order = manual_order(Flow::PaymentComponent);
        let held = cards.charge(&world.square, &order, &charge(1, OK)).await.outcome.unwrap();
        let payment = held.payment.unwrap();
        cards.act_on_hold(&world.square, &order, &payment, &action).await.outcome.unwrap();
        cards.act_on_hold(&world.square, &order, &payment, &hold_action(Void, None)).await.outcome.unwrap();
    }
    let order = manual_order(Flow::PaymentComponent);
    let held = cards.charge(&world.square, &order, &charge(1, OK)).await.outcome.unwrap().payment.unwrap();
    recorded.drive(&format!("payments/{held}/lapse"), json!({})).await;
    cards.read_report(&world.square, &order, Subject::Payment(&held)).await.outcome.unwrap();
}

async fn give_back_and_dispute(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.square_cards());
    let order = order(Flow::PaymentComponent);
    let paid = cards.charge(&world.square, &order, &charge(1, OK)).await.outcome.unwrap().payment.unwrap();
    let made = cards.refund(&world.square, &order, &paid, &refund(1, 500, 15)).await.outcome.unwrap();
    recorded.drive(&format!("refunds/{}/complete", made.id), json!({})).await;
    recorded.done("GET", &format!("/v2/refunds/{}", made.id), "").await;
    recorded.drive(&format!("payments/{paid}/refund"), json!({ "amount": 100, "reason": "Dashboard" })).await;
    cards.refund(&world.square, &order, &paid, &refund(2, 9_000, 0)).await.outcome.unwrap_err();
    cards.read_report(&world.square, &order, Subject::Payment(&paid)).await.outcome.unwrap();
    // More refunds than a payment names are listed.
    for _ in 0..101 {
        recorded.drive(&format!("payments/{paid}/refund"), json!({ "amount": 10 })).await;
    }
    cards.read_report(&world.square, &order, Subject::Payment(&paid)).await.outcome.unwrap();
    for status in ["won", "lost", "accepted"] {
        let order = crate::support::order(Flow::PaymentComponent);
        let paid =
            cards.charge(&world.square, &order, &charge(1, OK)).await.outcome.unwrap().payment.unwrap();
        let opened = recorded.drive(&format!("payments/{paid}/dispute"), json!({})).await;
        let id = ["id", "dispute_id"].into_iter().find_map(|name| opened[name].as_str()).unwrap().to_owned();
        cards.dispute(&world.square, &paid, Some(&id)).await.outcome.unwrap();
        recorded.drive(&format!("disputes/{id}/review"), json!({})).await;
        cards.dispute(&world.square, &paid, Some(&id)).await.outcome.unwrap();
        recorded.drive(&format!("disputes/{id}/close"), json!({ "status": status })).await;
        cards.dispute(&world.square, &paid, Some(&id)).await.outcome.unwrap();
        recorded.done("GET", &format!("/v2/disputes/{id}"), "").await;
    }
}

/// A refund that the buyer's bank does not take, or that comes back.
async fn refunds_that_come_to_nothing(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.square_cards());
    let order = order(Flow::PaymentComponent);
    let paid = cards.charge(&world.square, &order, &charge(1, OK)).await.outcome.unwrap().payment.unwrap();
    for (number, (reason, end)) in
        (20..).zip(RefundReason::ALL.into_iter().zip(["reject", "fail"].into_iter().cycle()))
    {
        let mut asked: Refund = refund(number, 500, 0);
        asked.terms.reason = Some(reason);
        let made = cards.refund(&world.square, &order, &paid, &asked).await.outcome.unwrap();
        recorded.drive(&format!("refunds/{}/{end}", made.id), json!({})).await;
        cards.read_report(&world.square, &order, Subject::Payment(&paid)).await.outcome.unwrap();
    }
}

/// More of both than a page holds, and disputes in every state in which they can be listed.
async fn disputes_and_payments_in_pages(recorded: &Recorded) {
    let (world, cards) = (&recorded.world, recorded.world.square_cards());
    let mut last = None;
    let from = now();
    for _ in 0..=PAGE {
        let order = order(Flow::PaymentComponent);
        let paid = cards.charge(&world.square, &order, &charge(1, OK)).await.outcome.unwrap();
        recorded.drive(&format!("payments/{}/dispute", paid.payment.unwrap()), json!({})).await;
        last = Some(order);
    }
    let found = cards.find_charge(&world.square, &last.unwrap(), from, now()).await.outcome.unwrap();
    assert!(found.is_some(), "the payment on the second page");
    let lists = cards.dispute_lists().unwrap();
    let (mut next, mut pages, mut disputes) = (None::<String>, 0, 0);
    loop {
        let page = lists.list_disputes(&world.square, next.as_deref()).await.outcome.unwrap();
        (next, pages, disputes) = (page.next, pages + 1, disputes + page.disputes.len());
        if next.is_none() {
            break;
        }
    }
    // One page for each state, and one more for that with more than a page of them.
    assert!(pages == 9 && disputes > PAGE, "{pages} pages, {disputes} disputes");
}

async fn check(recorded: &Recorded) {
    let world = &recorded.world;
    let checks = world.providers.capabilities(Adapter::Square).checks.unwrap();
    let subject =
        CheckSubject { provider: &world.square, webhook_url: URL, mode: Some(Mode::Test), currencies: &[] };
    checks.check(subject).await;
    let secret = Secret::new("unused");
    let made =
        checks.register_webhook(&world.square, NewWebhook { url: URL, key: "key", secret: &secret }).await;
    let id = made.unwrap().outcome.unwrap().id;
    let path = format!("/v2/webhooks/subscriptions/{id}");
    recorded.done("GET", &path, "").await;
    recorded.done("PUT", &path, r#"{"subscription":{"enabled":false}}"#).await;
    checks
        .check(CheckSubject { provider: &world.square, webhook_url: URL, mode: None, currencies: &[] })
        .await;
    recorded.done("DELETE", &path, "").await;
    let wrong = crate::support::provider(&json!({
        "adapter": "square", "baseUrl": world.square.address(),
        "credentials": { "accessToken": "wrong", "applicationId": "a", "locationId": "L" },
    }));
    world.square_cards().prepare(&wrong, &order(Flow::HostedCheckout)).await.outcome.unwrap_err();
}

async fn other_routes(recorded: &Recorded) {
    for path in [
        "/v2/payments",
        "/v2/refunds",
        "/v2/disputes",
        "/v2/online-checkout/payment-links",
        "/v2/locations",
        "/v2/webhooks/subscriptions",
        "/v2/locations/LSIMULATOR001",
    ] {
        recorded.done("GET", path, "").await;
    }
    let by_key = json!({ "idempotency_key": "k-1", "source_id": OK, "autocomplete": false,
        "amount_money": { "amount": 500, "currency": "USD" } });
    recorded.done("POST", "/v2/payments", &by_key.to_string()).await;
    recorded.done("POST", "/v2/payments/cancel", r#"{"idempotency_key":"k-1"}"#).await;
    assert!(recorded.call("GET", "/v2/orders/unknown", "").await.status == 404);
}
