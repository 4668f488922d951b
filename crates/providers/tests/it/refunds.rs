//! Refunds on our word: once per refund, recognized afterwards, and refused for good where there is nothing left.

use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Flow,
    card::CardOrder,
    refund::{Refund, RefundStatus},
};
use tollgate_engine::ports::{Cards, RejectionKind, Subject};

use crate::offered::Offered as _;
use crate::support::{World, charge, given_back, order, refund, refused, start};

/// A payment of 20.00 at each provider: the adapter, its configuration, the order, and the provider's name for it.
async fn paid(world: &World) -> [(&dyn Cards, &Provider, CardOrder, String); 2] {
    let intent_order = order(Flow::PaymentComponent);
    let prepared = world.stripe_cards().prepare(&world.stripe, &intent_order).await.outcome.unwrap();
    world.confirm(&prepared.object, "pm_card_visa").await.expect(200);
    let charge_order = order(Flow::PaymentComponent);
    let sold =
        world.square_cards().charge(&world.square, &charge_order, &charge(1, "cnon:card-nonce-ok")).await;
    let sold = sold.outcome.unwrap().payment.unwrap();
    [
        (world.stripe_cards(), &world.stripe, intent_order, prepared.object),
        (world.square_cards(), &world.square, charge_order, sold),
    ]
}

/// Stripe repeats a server error for a key once the request was begun: the refund is found, or made under another key.
#[tokio::test]
async fn a_server_error_that_the_key_keeps_is_not_the_end_of_a_refund() {
    let world = start().await;
    for (number, fault) in [(1, "error_kept"), (2, "error_kept_after")] {
        let [(cards, provider, order, payment), _] = paid(&world).await;
        world.fault("stripe", "refunds.create", fault, 1).await;
        let part = refund(number, 500, 15);
        let made = cards.refund(provider, &order, &payment, &part).await.outcome.unwrap();
        assert_eq!((made.reference, made.status), (Some(part.id), RefundStatus::Succeeded), "{fault}");
        // Asked again after a lost answer, it is the same refund.
        let again = cards.refund(provider, &order, &payment, &part).await.outcome.unwrap();
        assert_eq!(again.id, made.id, "{fault}");
        let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
        assert_eq!((seen.refunds.len(), given_back(&seen)), (1, 515), "{fault}");
    }
}

#[tokio::test]
async fn a_refund_without_funds_waits_for_them() {
    let world = start().await;
    let [(cards, provider, order, payment), _] = paid(&world).await;
    world.control("POST", "stripe/balances/available/drain", json!({})).await;
    let made = cards.refund(provider, &order, &payment, &refund(1, 500, 15)).await.outcome.unwrap();
    let code = made.failure.map(|failure| failure.code);
    assert_eq!((made.status, code.as_deref()), (RefundStatus::Pending, Some("provider_funds")));
    world.control("POST", "stripe/balances/available/fill", json!({})).await;
    let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
    assert_eq!((seen.refunds.len(), seen.refunds[0].status), (1, RefundStatus::Succeeded));
    assert_eq!(seen.refunds[0].failure, None);
}

#[tokio::test]
async fn a_refund_is_made_once_and_recognized() {
    let world = start().await;
    for (cards, provider, order, payment) in paid(&world).await {
        let part = refund(1, 500, 15);
        let made = cards.refund(provider, &order, &payment, &part).await;
        assert!(made.logs[0].idempotency_key == Some(part.id.to_string()));
        let made = made.outcome.unwrap();
        assert_eq!((made.reference, made.total.get()), (Some(part.id), 515));
        let again = cards.refund(provider, &order, &payment, &part).await.outcome.unwrap();
        assert_eq!(again.id, made.id);
        let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
        assert_eq!(seen.refunds.len(), 1, "{seen:?}");
        assert_eq!(
            (seen.refunds[0].id.as_str(), seen.refunds[0].reference),
            (made.id.as_str(), Some(part.id))
        );
        assert_eq!(seen.refunds[0].status, RefundStatus::Succeeded);
        let rest = cards.refund(provider, &order, &payment, &refund(2, 1_485, 0)).await.outcome.unwrap();
        assert_ne!(rest.id, made.id);
        let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
        assert_eq!(given_back(&seen), 2_000);
        let too_much = cards.refund(provider, &order, &payment, &refund(3, 1, 0)).await;
        assert!(matches!(
            too_much.outcome,
            Err(tollgate_engine::ports::CallError::Rejected(ref rejection))
                if matches!(rejection.kind, RejectionKind::State | RejectionKind::Invalid)
        ));
    }
}

#[tokio::test]
async fn more_refunds_than_a_page_shows_are_all_read() {
    let world = start().await;
    let [(cards, provider, order, payment), _] = paid(&world).await;
    let refunds: Vec<Refund> = (1..=12).map(|number| refund(number, 10, 0)).collect();
    for refund in &refunds {
        cards.refund(provider, &order, &payment, refund).await.outcome.unwrap();
    }
    let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
    let mut found: Vec<_> = seen.refunds.iter().filter_map(|refund| refund.reference).collect();
    found.sort_unstable();
    assert_eq!(found, refunds.iter().map(|refund| refund.id).collect::<Vec<_>>());
}

#[tokio::test]
async fn more_refunds_than_any_page_holds_are_all_read() {
    let world = start().await;
    for (cards, provider, order, payment) in paid(&world).await {
        let refunds: Vec<Refund> = (1..=230).map(|number| refund(number, 2, 0)).collect();
        for refund in &refunds {
            cards.refund(provider, &order, &payment, refund).await.outcome.unwrap();
        }
        let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
        let mut found: Vec<_> = seen.refunds.iter().filter_map(|refund| refund.reference).collect();
        found.sort_unstable();
        let mut expected: Vec<_> = refunds.iter().map(|refund| refund.id).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn a_refund_that_comes_back_is_seen_as_failed() {
    let world = start().await;
    let [(cards, provider, order, payment), _] = paid(&world).await;
    let made = cards.refund(provider, &order, &payment, &refund(1, 500, 0)).await.outcome.unwrap();
    world.control("POST", &format!("stripe/refunds/{}/fail", made.id), json!({})).await;
    let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
    assert_eq!(seen.refunds[0].status, RefundStatus::Failed);
    assert_eq!(seen.refunds[0].failure.as_ref().unwrap().code, "refund_card_closed");
}

#[tokio::test]
async fn what_is_no_payment_is_not_refunded() {
    let world = start().await;
    for (cards, provider, order, _) in paid(&world).await {
        for payment in ["", "../charges", "pi_unknown"] {
            let call = cards.refund(provider, &order, payment, &refund(1, 1, 0)).await;
            assert_eq!(refused(call, RejectionKind::Missing), "provider_object_missing", "{payment}");
        }
    }
}
