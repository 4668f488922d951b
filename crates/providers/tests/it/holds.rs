//! Authorize, capture, void: what is held is captured or released once, and says where it stands however it ended.

use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Flow, Timestamp,
    card::{CardOrder, ProviderStatus},
    card_fee::FeeKind,
    fee::FeeEntry,
    hold::HoldActionKind::{Capture, Void},
};
use tollgate_engine::ports::{CallError, Cards, Charge, ChargeTerms, RejectionKind, Subject};
use tollgate_vault::Secret;

use crate::offered::Offered as _;
use crate::support::{
    World, asked, charge, given_back, hold_action, manual_order, minor, order, refund, refused, send, start,
    stripe_with,
};

/// A payment of 20.60 that is held at each provider: the adapter, its configuration, the order, the provider's name for it,
/// and where the control interface has it.
async fn held(world: &World) -> [(&dyn Cards, &Provider, CardOrder, String, &'static str); 2] {
    let intent = manual_order(Flow::PaymentComponent);
    let prepared = world.stripe_cards().prepare(&world.stripe, &intent).await.outcome.unwrap();
    world.confirm(&prepared.object, "pm_card_visa").await.expect(200);
    let sale = manual_order(Flow::PaymentComponent);
    let sold = world.square_cards().charge(&world.square, &sale, &charge(1, "cnon:card-nonce-ok")).await;
    let sold = sold.outcome.unwrap();
    assert!(matches!(sold.provider_status, ProviderStatus::Authorized { .. }), "{sold:?}");
    [
        (world.stripe_cards(), &world.stripe, intent, prepared.object, "stripe/payment_intents"),
        (world.square_cards(), &world.square, sale, sold.payment.unwrap(), "square/payments"),
    ]
}

fn end_of(status: &ProviderStatus) -> Option<Timestamp> {
    match status {
        ProviderStatus::Authorized { capture_before } => *capture_before,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_held_is_captured_in_part_once_and_the_rest_is_no_refund() {
    let world = start().await;
    for (cards, provider, order, payment, _) in held(&world).await {
        let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
        let days = (end_of(&seen.provider_status).unwrap().unix_millis() - order.created_at.unix_millis())
            .div_euclid(86_400_000);
        assert!((6..=7).contains(&days), "{seen:?}");
        assert_eq!((seen.amount, seen.refunds.len()), (Some(minor(2_060)), 0));
        let part = hold_action(Capture, Some(1_000));
        let captured = cards.act_on_hold(provider, &order, &payment, &part).await.outcome.unwrap();
        assert_eq!(captured.provider_status, ProviderStatus::Succeeded);
        assert_eq!(captured.amount, Some(minor(1_030)), "with the fee on what was captured");
        let again = cards.act_on_hold(provider, &order, &payment, &part).await.outcome.unwrap();
        assert_eq!((again.provider_status, again.amount), (captured.provider_status, captured.amount));
        // Any other comes too late, and learns what happened.
        for late in [hold_action(Capture, None), hold_action(Void, None)] {
            let seen = cards.act_on_hold(provider, &order, &payment, &late).await.outcome.unwrap();
            assert_eq!((seen.provider_status, seen.amount), (ProviderStatus::Succeeded, Some(minor(1_030))));
        }
        let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
        assert_eq!(given_back(&seen), 0, "{:?}", seen.refunds);
        cards.refund(provider, &order, &payment, &refund(1, 1_030, 0)).await.outcome.unwrap();
        let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
        assert_eq!(given_back(&seen), 1_030);
        let more = cards.refund(provider, &order, &payment, &refund(2, 1, 0)).await.outcome;
        assert!(matches!(more, Err(CallError::Rejected(_))), "{more:?}");
    }
}

/// Where the provider takes surcharges as such, it is told the lower one; elsewhere it knows none.
#[tokio::test]
async fn a_surcharge_is_lowered_with_what_is_captured() {
    let world = start().await;
    let cards = world.stripe_cards();
    for (version, asked, surcharge) in [
        ("2026-09-30.preview", Some(1_000), json!(30)),
        ("2026-09-30.preview", Some(1), json!(0)),
        ("2026-09-30.preview", None, json!(60)),
        ("2026-10-28.endive", Some(1_000), json!(null)),
    ] {
        let provider = stripe_with(world.stripe.address(), &json!({ "apiVersion": version }));
        let held = manual_order(Flow::PaymentComponent);
        let (principal, fee) = (held.fee.principal, held.fee.fee);
        // It is prepared for the principal alone, and charged with what was decided for the card.
        let alone = CardOrder { fee: FeeEntry::default().assess(principal), ..held.clone() };
        let object = cards.prepare(&provider, &alone).await.outcome.unwrap().object;
        let path = format!("{}/v1/test_helpers/confirmation_tokens", world.stripe.address());
        let headers = [
            ("authorization", "Bearer sk_test_simulator"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        let made = send("POST", &path, &headers, "payment_method=pm_card_visa".to_owned()).await.unwrap();
        let source = Secret::new(made.expect(200)["id"].as_str().unwrap());
        let terms = ChargeTerms { object: object.clone(), total: held.fee.total_debit, surcharge: fee };
        let charge = Charge { number: 1, source, verification: None, buyer_email: None, terms: Some(terms) };
        let tokens = cards.in_browser().tokens(&provider).unwrap();
        tokens.charge_token(&provider, &alone, &charge).await.outcome.unwrap();
        let charged =
            CardOrder { fee: held.fee.with_fees(FeeKind::Surcharge, fee, minor(0)), ..held.clone() };
        let action = hold_action(Capture, asked);
        let captured = cards.act_on_hold(&provider, &charged, &object, &action).await.outcome.unwrap();
        assert_eq!(captured.provider_status, ProviderStatus::Succeeded, "{version} {asked:?}");
        assert_eq!(captured.amount, Some(action.amounts(&charged.fee).total_debit));
        let intent = world.stripe_object(&format!("payment_intents/{object}")).await;
        assert_eq!(intent["amount_details"]["surcharge"]["amount"], surcharge, "{version} {asked:?}");
    }
}

/// It has the amount that the capture released, and no balance transaction yet.
#[tokio::test]
async fn a_refund_in_the_dashboard_is_seen_whatever_was_released_before() {
    let world = start().await;
    let [(cards, provider, order, payment, place), _] = held(&world).await;
    let part = hold_action(Capture, Some(1_000));
    cards.act_on_hold(provider, &order, &payment, &part).await.outcome.unwrap();
    world.control("POST", "stripe/balances/available/drain", json!({})).await;
    world.control("POST", &format!("{place}/{payment}/refund"), json!({ "amount": 1_030 })).await;
    let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
    assert_eq!(seen.refunds.iter().map(|refund| refund.total.get()).collect::<Vec<_>>(), [1_030]);
}

/// Stripe repeats a server error for a key once the request was begun: whether it was done is found by reading.
#[tokio::test]
async fn a_server_error_that_the_key_keeps_is_not_the_end_of_a_hold() {
    let world = start().await;
    for (kind, operation, ended) in [
        (Capture, "payment_intents.capture", ProviderStatus::Succeeded),
        (Void, "payment_intents.cancel", ProviderStatus::Canceled),
    ] {
        for fault in ["error_kept", "error_kept_after"] {
            let [(cards, provider, order, payment, _), _] = held(&world).await;
            world.fault("stripe", operation, fault, 1).await;
            let action = hold_action(kind, (kind == Capture).then_some(500));
            let seen = cards.act_on_hold(provider, &order, &payment, &action).await.outcome.unwrap();
            assert_eq!(seen.provider_status, ended, "{fault}");
            assert_eq!(seen.amount, Some(minor(if kind == Capture { 515 } else { 2_060 })), "{fault}");
        }
    }
}

#[tokio::test]
async fn all_of_it_is_captured_with_the_fee_on_top() {
    let world = start().await;
    for (cards, provider, order, payment, _) in held(&world).await {
        let whole = hold_action(Capture, None);
        let call = cards.act_on_hold(provider, &order, &payment, &whole).await;
        assert!(!asked(&call).contains(&("payments.update", 1)), "there is nothing to lower");
        let captured = call.outcome.unwrap();
        let status = (captured.provider_status, captured.amount);
        assert_eq!(status, (ProviderStatus::Succeeded, Some(minor(2_060))));
    }
}

#[tokio::test]
async fn what_is_voided_is_released_and_is_no_refund() {
    let world = start().await;
    for (cards, provider, order, payment, _) in held(&world).await {
        let void = hold_action(Void, None);
        for action in [&void, &void, &hold_action(Capture, None)] {
            let seen = cards.act_on_hold(provider, &order, &payment, action).await.outcome.unwrap();
            assert_eq!(seen.provider_status, ProviderStatus::Canceled);
        }
        let seen = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
        assert_eq!((seen.provider_status, seen.refunds.len()), (ProviderStatus::Canceled, 0));
    }
}

#[tokio::test]
async fn an_authorization_that_lapses_says_so_and_the_dashboard_is_seen() {
    let world = start().await;
    for (action, body, expected, amount) in [
        ("lapse", json!({}), ProviderStatus::AuthorizationExpired, 2_060),
        ("cancel", json!({}), ProviderStatus::Canceled, 2_060),
        ("capture", json!({ "amount": 700 }), ProviderStatus::Succeeded, 700),
    ] {
        for (cards, provider, order, payment, place) in held(&world).await {
            let action = if place.starts_with("square") && action == "capture" { "complete" } else { action };
            world.control("POST", &format!("{place}/{payment}/{action}"), body.clone()).await;
            let late = hold_action(Capture, None);
            let seen = cards.act_on_hold(provider, &order, &payment, &late).await.outcome.unwrap();
            assert_eq!((&seen.provider_status, seen.amount), (&expected, Some(minor(amount))), "{place}");
            let read = cards.read_report(provider, &order, Subject::Payment(&payment)).await.outcome.unwrap();
            assert_eq!((&read.provider_status, read.refunds.len()), (&expected, 0), "{place}");
        }
    }
}

#[tokio::test]
async fn a_lost_answer_is_unknown_and_the_next_try_finds_out() {
    let world = start().await;
    for (kind, ended) in [(Capture, ProviderStatus::Succeeded), (Void, ProviderStatus::Canceled)] {
        for fault in ["error_after", "torn", "error_before", "rate_limited"] {
            for (cards, provider, order, payment, place) in held(&world).await {
                let (wire, operation) = match (place.starts_with("stripe"), kind) {
                    (true, Capture) => ("stripe", "payment_intents.capture"),
                    (true, Void) => ("stripe", "payment_intents.cancel"),
                    (false, Capture) => ("square", "payments.complete"),
                    (false, Void) => ("square", "payments.cancel"),
                };
                world.fault(wire, operation, fault, 10).await;
                let action = hold_action(kind, (kind == Capture).then_some(500));
                let lost = cards.act_on_hold(provider, &order, &payment, &action).await;
                world.control("DELETE", "faults", json!(null)).await;
                let is_open = matches!(lost.outcome, Err(CallError::Unknown(_) | CallError::Unsent(_)));
                // What was done is found by reading it, where the second try is refused.
                let is_found = lost.outcome.as_ref().is_ok_and(|seen| seen.provider_status == ended);
                assert!(is_open || is_found, "{wire} {fault}: {lost:?}");
                let again = cards.act_on_hold(provider, &order, &payment, &action).await.outcome.unwrap();
                assert_eq!(again.provider_status, ended, "{wire} {fault}");
                let amount = if kind == Capture { 515 } else { again.amount.unwrap().get() };
                assert_eq!(again.amount, Some(minor(amount)), "{wire} {fault}");
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_leaves_the_money_held() {
    let world = start().await;
    for (cards, provider, order, payment, place) in held(&world).await {
        let is_stripe = place.starts_with("stripe");
        let (wire, operation) =
            if is_stripe { ("stripe", "payment_intents.capture") } else { ("square", "payments.complete") };
        world.fault(wire, operation, "refuse", 1).await;
        let action = hold_action(Capture, Some(500));
        let refused = cards.act_on_hold(provider, &order, &payment, &action).await.outcome;
        assert!(matches!(refused, Err(CallError::Rejected(_))), "{wire}: {refused:?}");
        // More than before can be captured afterwards.
        let next = hold_action(Capture, Some(1_500));
        let captured = cards.act_on_hold(provider, &order, &payment, &next).await.outcome.unwrap();
        assert_eq!(captured.amount, Some(minor(1_545)), "{wire}");
    }
}

/// Nobody may cancel what the customer has authorized because the preparation's time is over.
#[tokio::test]
async fn a_preparation_that_was_authorized_is_not_taken_back() {
    let world = start().await;
    let cards = world.stripe_cards();
    let (component, hosted) = (manual_order(Flow::PaymentComponent), manual_order(Flow::HostedCheckout));
    let intent = cards.prepare(&world.stripe, &component).await.outcome.unwrap();
    world.confirm(&intent.object, "pm_card_visa").await.expect(200);
    let page = cards.prepare(&world.stripe, &hosted).await.outcome.unwrap();
    world.pay_page(page.checkout_url.as_ref().unwrap(), "4242424242424242").await;
    for (order, object) in [(component, intent.object), (hosted, page.object)] {
        let seen = cards.withdraw_report(&world.stripe, &order, &object).await.outcome.unwrap();
        assert!(end_of(&seen.provider_status).is_some(), "{seen:?}");
        let payment = seen.payment.unwrap();
        let void = hold_action(Void, None);
        let voided = cards.act_on_hold(&world.stripe, &order, &payment, &void).await.outcome.unwrap();
        assert_eq!(voided.provider_status, ProviderStatus::Canceled);
        let seen = cards.read_report(&world.stripe, &order, Subject::Object(&object)).await.outcome.unwrap();
        assert_eq!(seen.provider_status, ProviderStatus::Canceled);
    }
}

#[tokio::test]
async fn what_cannot_be_held_is_told_by_field_before_anything_is_made() {
    let world = start().await;
    assert!(world.square_cards().captures(Flow::HostedCheckout).is_none());
    let component = manual_order(Flow::PaymentComponent);
    world.square_cards().check_order(&world.square, &component).await.outcome.unwrap();
    let debits = stripe_with(world.stripe.address(), &json!({ "paymentMethods": ["us_bank_account"] }));
    let fault = world.stripe_cards().check_order(&debits, &component).await.outcome.unwrap_err();
    assert_eq!(fault.field, "capture");
    world.stripe_cards().check_order(&debits, &order(Flow::PaymentComponent)).await.outcome.unwrap();
    // Methods that cannot be held are left out, since the provider would refuse all of it.
    let both = stripe_with(world.stripe.address(), &json!({ "paymentMethods": ["card", "us_bank_account"] }));
    let made = world.stripe_cards().prepare(&both, &component).await.outcome.unwrap();
    let intent = world.stripe_object(&format!("payment_intents/{}", made.object)).await;
    assert_eq!(
        (&intent["payment_method_types"], &intent["capture_method"]),
        (&json!(["card"]), &json!("manual"))
    );
}

#[tokio::test]
async fn what_is_no_payment_is_neither_captured_nor_voided() {
    let world = start().await;
    for (cards, provider, order, _, _) in held(&world).await {
        for payment in ["", "../charges", "pi_unknown"] {
            let call = cards.act_on_hold(provider, &order, payment, &hold_action(Void, None)).await;
            assert_eq!(refused(call, RejectionKind::Missing), "provider_object_missing", "{payment}");
        }
    }
}
