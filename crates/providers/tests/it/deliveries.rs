//! What the simulator really sends: believed, and understood.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use serde_json::json;
use tokio::net::TcpListener;
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::Flow;
use tollgate_engine::ports::{InboundWebhook, SignatureError, WebhookNotice, WebhookReader};
use tollgate_simulator::{WebhookTarget, Wire};

use crate::support::{
    SQUARE_KEY, STRIPE_SECRET, charge, minor, now, order, provider, square_at, start, stripe_at,
};

type Received = (Vec<(String, String)>, Vec<u8>);

#[derive(Clone, Default)]
struct Inbox(Arc<Mutex<Vec<Received>>>);

async fn receive(State(inbox): State<Inbox>, request: Request) {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap().to_vec();
    let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        (name.as_str().to_owned(), value.to_str().unwrap().to_owned())
    };
    inbox.0.lock().unwrap().push((parts.headers.iter().map(header).collect(), body));
}

impl Inbox {
    async fn open(simulator: &tollgate_simulator::Simulator, wire: Wire, secret: &str) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks?of={}", listener.local_addr().unwrap(), wire.name());
        let inbox = Self::default();
        let router = Router::new().fallback(receive).with_state(inbox.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let target = WebhookTarget { wire, url: url.clone(), secret: secret.to_owned(), events: Vec::new() };
        assert!(simulator.add_webhook_target(target));
        (inbox, url)
    }

    /// Waits for a kind to come, and answers everything that came, verified and translated.
    async fn until(
        &self,
        reader: &dyn WebhookReader,
        provider: &Provider,
        url: &str,
        kind: &str,
    ) -> Vec<WebhookNotice> {
        for _ in 0..300 {
            let received = self.0.lock().unwrap().clone();
            let notices = received.iter().map(|(headers, body)| {
                reader.verify(provider, InboundWebhook { url, headers, body }, now()).unwrap();
                reader.translate(body).unwrap()
            });
            let notices: Vec<_> = notices.collect();
            if notices.iter().any(|one| one.kind == kind) {
                return notices;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{kind} did not come");
    }
}

#[tokio::test]
async fn what_the_simulator_sends_on_the_stripe_wire_is_believed_and_understood() {
    let world = start().await;
    let (inbox, url) = Inbox::open(&world.simulator, Wire::Stripe, STRIPE_SECRET).await;
    let order = order(Flow::HostedCheckout);
    let prepared = world.stripe_cards().prepare(&world.stripe, &order).await.outcome.unwrap();
    let page = prepared.checkout_url.unwrap();
    world.pay_page(&page, "4000000000000002").await;
    world.pay_page(&page, "4242424242424242").await;
    let reader = world.webhooks(Adapter::Stripe);
    let notices = inbox.until(reader, &world.stripe, &url, "checkout.session.completed").await;
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
    let notices = inbox.until(reader, &world.stripe, &url, "charge.dispute.funds_withdrawn").await;
    for kind in ["refund.created", "charge.refunded", "charge.dispute.created"] {
        let one = notices.iter().find(|one| one.kind == kind).unwrap();
        assert_eq!((one.payment.as_ref(), one.objects.first()), (Some(&intent), Some(&intent)), "{kind}");
    }
    let dispute = notices.last().unwrap().dispute.as_ref().unwrap();
    assert_eq!((dispute.status.as_str(), dispute.amount), ("needs_response", Some(minor(2_000))));
    // The same body under another provider's secret is not believed.
    let (headers, body) = inbox.0.lock().unwrap()[0].clone();
    let other = provider(&json!({ "adapter": "stripe", "credentials": { "webhookSecret": "whsec_other" } }));
    let delivery = InboundWebhook { url: &url, headers: &headers, body: &body };
    assert_eq!(reader.verify(&other, delivery, now()), Err(SignatureError::Forged));
    assert_eq!(reader.verify(&stripe_at("http://127.0.0.1:1"), delivery, now()), Ok(()));
}

#[tokio::test]
async fn what_the_simulator_sends_on_the_square_wire_is_believed_and_understood() {
    let world = start().await;
    let (inbox, url) = Inbox::open(&world.simulator, Wire::Square, SQUARE_KEY).await;
    let order = order(Flow::PaymentComponent);
    let card = charge(1, "cnon:card-nonce-ok");
    let paid = world.square_cards().charge(&world.square, &order, &card).await.outcome.unwrap();
    let id = paid.payment.unwrap();
    world.control("POST", &format!("square/payments/{id}/refund"), json!({ "amount": 5 })).await;
    let reader = world.webhooks(Adapter::Square);
    let notices = inbox.until(reader, &world.square, &url, "refund.updated").await;
    assert!(notices.iter().all(|one| one.relevant && one.payment.as_ref() == Some(&id)), "{notices:?}");
    let created = &notices[0];
    assert_eq!(
        (created.kind.as_str(), created.reference.clone()),
        ("payment.created", Some(order.id.to_string()))
    );
    let (headers, body) = inbox.0.lock().unwrap()[0].clone();
    let elsewhere = format!("{url}&more");
    let delivery = InboundWebhook { url: &elsewhere, headers: &headers, body: &body };
    assert_eq!(reader.verify(&square_at("http://127.0.0.1:1"), delivery, now()), Err(SignatureError::Forged));
}
