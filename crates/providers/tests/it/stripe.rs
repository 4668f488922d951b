//! The Stripe adapter against the simulator.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_domain::card::{ProviderReport, ProviderStatus, ReportSource};
use tollgate_domain::payment_card::CheckResult;
use tollgate_domain::transaction::DisputeStage;
use tollgate_domain::{Currency, Flow};
use tollgate_engine::ports::{CallError, Component, Preparing, RejectionKind, Subject};

use crate::offered::Offered as _;
use crate::support::{
    World, asked, card_of, failed_code, given_back, minor, order, provider, refused, start, stripe_with,
};

const GOOD: &str = "4242424242424242";
const DECLINED: &str = "4000000000000002";

async fn look(world: &World, id: &str) -> ProviderReport {
    let order = order(Flow::PaymentComponent);
    world.stripe_cards().read_report(&world.stripe, &order, Subject::Object(id)).await.outcome.unwrap()
}

#[tokio::test]
async fn a_component_payment_from_preparation_to_refund() {
    let world = start().await;
    let (cards, order) = (world.stripe_cards(), order(Flow::PaymentComponent));
    let call = cards.prepare(&world.stripe, &order).await;
    assert_eq!(asked(&call), [("payment_intents.create", 1)]);
    let (log, key) = (&call.logs[0], format!("{}-prepare", order.id));
    assert_eq!(log.idempotency_key.as_ref(), Some(&key));
    assert_eq!((log.tries[0].status, log.tries[0].outcome.as_str()), (Some(200), "ok"));
    assert!(log.tries[0].provider_request.as_ref().unwrap().starts_with("req_"));
    let prepared = call.outcome.unwrap();
    assert!(
        prepared.object.starts_with("pi_") && prepared.also.is_empty() && prepared.checkout_url.is_none()
    );
    let secret = prepared.client_secret.clone().unwrap();
    assert!(secret.expose().starts_with(&format!("{}_secret_", prepared.object)));
    assert!(!format!("{prepared:?} {:?}", call.logs).contains(secret.expose()));

    let made = world.state("stripe", "payment_intents").await;
    assert_eq!(made[0]["idempotency_key"], key);
    assert_eq!(
        made[0]["metadata"],
        json!({ "tollgate_reference": order.id.to_string(), "tollgate_environment": order.environment.to_string() })
    );
    let component = cards.component(&world.stripe, Some(&prepared));
    let Some(Component::PaymentElement {
        publishable_key,
        client_secret,
        payment_intent_id,
        account: None,
        script_url,
        token_methods: Some(methods),
    }) = component
    else {
        panic!("a payment element was expected");
    };
    assert_eq!(script_url, format!("{}/stripe/v3.js", world.origin));
    assert_eq!(methods, ["card"]);
    assert_eq!((publishable_key.as_str(), &payment_intent_id), ("pk_test_simulator", &prepared.object));
    assert_eq!(client_secret, secret);

    let id = prepared.object.as_str();
    let untouched = ProviderReport {
        payment: Some(id.to_owned()),
        provider_status: ProviderStatus::NotStarted,
        amount: Some(minor(2_000)),
        currency: Some("USD".to_owned()),
        reference: Some(order.id.to_string()),
        refunds: Vec::new(),
        disputed: false,
        source: ReportSource::Read,
        card: None,
        is_not_card: false,
    };
    assert_eq!(look(&world, id).await, untouched);
    world.confirm(id, "pm_card_chargeDeclinedInsufficientFunds").await.expect(402);
    assert_eq!(failed_code(&look(&world, id).await), "insufficient_funds");
    world.confirm(id, "pm_card_authenticationRequired").await.expect(200);
    assert_eq!(look(&world, id).await.provider_status, ProviderStatus::ActionRequired);
    world.control("POST", &format!("stripe/payment_intents/{id}/fail_authentication"), json!({})).await;
    assert_eq!(failed_code(&look(&world, id).await), "authentication_failed");
    world.confirm(id, "pm_card_visa").await.expect(200);
    let card = Some(card_of(&json!({
        "brand": "visa", "last4": "4242", "funding": "credit", "country": "US", "month": 8, "year": 2030,
        "cvc": "pass",
    })));
    let paid = ProviderReport { provider_status: ProviderStatus::Succeeded, card, ..untouched };
    assert_eq!(look(&world, id).await, paid);
    for (amount, refunded) in [(json!({ "amount": 300 }), 300), (json!({}), 2_000)] {
        world.control("POST", &format!("stripe/payment_intents/{id}/refund"), amount).await;
        let seen = look(&world, id).await;
        assert_eq!(given_back(&seen), refunded);
        assert_eq!(ProviderReport { refunds: Vec::new(), ..seen }, paid);
    }
    let by_payment = cards.read_report(&world.stripe, &order, Subject::Payment(id)).await;
    assert_eq!(asked(&by_payment), [("payment_intents.retrieve", 1)]);
    assert_eq!(given_back(&by_payment.outcome.unwrap()), 2_000);
}

#[tokio::test]
async fn declines_are_told_in_our_words() {
    let world = start().await;
    let order = order(Flow::PaymentComponent);
    let prepared = world.stripe_cards().prepare(&world.stripe, &order).await.outcome.unwrap();
    for (method, code) in [
        ("pm_card_chargeDeclined", "card_declined"),
        ("pm_card_chargeDeclinedInsufficientFunds", "insufficient_funds"),
        ("pm_card_chargeDeclinedExpiredCard", "expired_card"),
        ("pm_card_chargeDeclinedIncorrectCvc", "incorrect_cvc"),
        ("pm_card_chargeDeclinedProcessingError", "processing_error"),
    ] {
        world.confirm(&prepared.object, method).await.expect(402);
        assert_eq!(failed_code(&look(&world, &prepared.object).await), code);
    }
}

#[tokio::test]
async fn every_card_is_described_as_the_provider_knows_it() {
    let world = start().await;
    for (method, brand, last4, funding, country) in [
        ("pm_card_visa", "visa", "4242", "credit", "US"),
        ("pm_card_visa_debit", "visa", "5556", "debit", "US"),
        ("pm_card_mastercard_prepaid", "mastercard", "5100", "prepaid", "US"),
        ("pm_card_amex", "amex", "8431", "credit", "US"),
        ("pm_card_diners", "diners", "1667", "credit", "US"),
        ("pm_card_jcb", "jcb", "0505", "credit", "US"),
        ("pm_card_unionpay", "unionpay", "0005", "credit", "US"),
        ("pm_card_ca", "visa", "0000", "credit", "CA"),
        ("pm_card_gb_debit", "visa", "0005", "debit", "GB"),
    ] {
        let order = order(Flow::PaymentComponent);
        let prepared = world.stripe_cards().prepare(&world.stripe, &order).await.outcome.unwrap();
        world.confirm(&prepared.object, method).await.expect(200);
        let card = *look(&world, &prepared.object).await.card.unwrap();
        let described = [card.brand, card.last_four, card.funding, card.country].map(Option::unwrap);
        assert_eq!(described, [brand, last4, funding, country], "{method}");
        world.control("POST", &format!("stripe/payment_intents/{}/refund", prepared.object), json!({})).await;
    }
    let order = order(Flow::PaymentComponent);
    let prepared = world.stripe_cards().prepare(&world.stripe, &order).await.outcome.unwrap();
    let id = prepared.object.as_str();
    world.confirm(id, "pm_card_chargeDeclinedIncorrectCvc").await.expect(402);
    let declined = *look(&world, id).await.card.unwrap();
    assert_eq!((declined.last_four.as_deref(), declined.checks.cvc), (Some("0127"), Some(CheckResult::Fail)));
    world.confirm(id, "pm_card_authenticationRequired").await.expect(200);
    world.control("POST", &format!("stripe/payment_intents/{id}/authenticate"), json!({})).await;
    let proven = *look(&world, id).await.card.unwrap();
    assert_eq!(proven.three_d_secure.as_deref(), Some("authenticated"));
    assert_eq!((proven.last_four.as_deref(), proven.country.as_deref()), (Some("3155"), Some("FR")));
}

#[tokio::test]
async fn a_hosted_payment_from_preparation_to_refund() {
    let world = start().await;
    let (cards, order) = (world.stripe_cards(), order(Flow::HostedCheckout));
    let call = cards.prepare(&world.stripe, &order).await;
    assert_eq!(asked(&call), [("checkout.sessions.create", 1)]);
    let prepared = call.outcome.unwrap();
    assert!(prepared.object.starts_with("cs_") && prepared.client_secret.is_none());
    let (id, page) = (prepared.object.as_str(), prepared.checkout_url.unwrap());

    let untouched = look(&world, id).await;
    assert_eq!((&untouched.provider_status, &untouched.payment), (&ProviderStatus::NotStarted, &None));
    assert_eq!((untouched.amount, untouched.currency.as_deref()), (Some(minor(2_000)), Some("USD")));
    assert_eq!(untouched.reference, Some(order.id.to_string()));
    world.pay_page(&page, DECLINED).await;
    let declined = look(&world, id).await;
    assert_eq!(failed_code(&declined), "card_declined");
    let intent = declined.payment.clone().unwrap();
    assert_eq!(world.pay_page(&page, GOOD).await.status, 303);
    let paid = look(&world, id).await;
    assert_eq!((&paid.provider_status, &paid.payment), (&ProviderStatus::Succeeded, &Some(intent.clone())));
    assert_eq!(paid.reference, Some(order.id.to_string()));
    // The intent alone knows whose it is, too.
    assert_eq!(look(&world, &intent).await, paid);
    world.control("POST", &format!("stripe/payment_intents/{intent}/refund"), json!({ "amount": 1 })).await;
    assert_eq!(given_back(&look(&world, id).await), 1);
    let late = cards.withdraw_report(&world.stripe, &order, id).await;
    assert_eq!(asked(&late), [("checkout.sessions.expire", 1), ("checkout.sessions.retrieve", 1)]);
    assert_eq!(late.outcome.unwrap().provider_status, ProviderStatus::Succeeded);
}

#[tokio::test]
async fn what_is_withdrawn_cannot_be_paid() {
    let world = start().await;
    let cards = world.stripe_cards();
    for flow in Flow::ALL {
        let order = order(flow);
        let prepared = cards.prepare(&world.stripe, &order).await.outcome.unwrap();
        for _ in 0..2 {
            let withdrawn =
                cards.withdraw_report(&world.stripe, &order, &prepared.object).await.outcome.unwrap();
            assert_eq!(withdrawn.provider_status, ProviderStatus::Canceled, "{flow:?}");
            assert_eq!(withdrawn.reference, Some(order.id.to_string()));
        }
        assert_eq!(look(&world, &prepared.object).await.provider_status, ProviderStatus::Canceled);
        match prepared.checkout_url {
            Some(page) => assert_eq!(world.pay_page(&page, GOOD).await.status, 410),
            None => drop(world.confirm(&prepared.object, "pm_card_visa").await.expect(400)),
        }
    }
    assert_eq!(world.count("stripe", "charges").await, 0);
}

#[tokio::test]
async fn preparing_again_gives_the_same() {
    let world = start().await;
    for flow in Flow::ALL {
        let order = order(flow);
        let first = world.stripe_cards().prepare(&world.stripe, &order).await.outcome.unwrap();
        // A moment later, as after a restart: nothing in the request may follow the clock.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        let again = world.stripe_cards().prepare(&world.stripe, &order).await.outcome.unwrap();
        assert_eq!((first.object, first.checkout_url), (again.object, again.checkout_url));
    }
    assert_eq!(world.count("stripe", "payment_intents").await, 1);
    assert_eq!(world.count("stripe", "checkout_sessions").await, 1);
}

#[tokio::test]
async fn a_session_ends_within_what_the_wire_allows() {
    let world = start().await;
    let longest = world.stripe_cards().hosted_checkout().unwrap().max_lifetime().unwrap();
    assert!(longest < Duration::from_hours(24), "and a little for the way there");
    for minutes in [0, 45, 60 * 24 * 30] {
        let mut order = order(Flow::HostedCheckout);
        order.expires_at = order.created_at.saturating_add(Duration::from_mins(minutes));
        let id = world.stripe_cards().prepare(&world.stripe, &order).await.outcome.unwrap().object;
        let url = format!("{}/stripe/v1/checkout/sessions/{id}", world.origin);
        let headers = [("authorization", "Bearer sk_test_simulator")];
        let session = crate::support::send("GET", &url, &headers, String::new()).await.unwrap().expect(200);
        // Not before the end of what a caller is promised, and not a second longer unless the provider wants it.
        let created = order.created_at.unix_millis();
        let shortest = Duration::from_mins(31);
        let lives = Duration::from_mins(minutes).clamp(shortest, longest);
        let (end, promised) = (
            session["expires_at"].as_i64().unwrap() * 1_000,
            order.created_at.saturating_add(lives).unix_millis(),
        );
        assert!((promised - 1_000..=promised + 1_000).contains(&end), "{minutes}: {end} {promised}");
        assert!(end >= order.expires_at.min(order.created_at.saturating_add(longest)).unix_millis());
        assert!(end - created <= 24 * 60 * 60 * 1_000, "{minutes}");
        assert_eq!(session["line_items"], Value::Null);
    }
}

#[tokio::test]
async fn what_the_wire_will_not_do_is_refused_by_kind() {
    let world = start().await;
    let (cards, order) = (world.stripe_cards(), order(Flow::PaymentComponent));
    for id in ["pi_nobody", "cs_nobody", "", "..", "pi_1/confirm"] {
        let read = cards.read_report(&world.stripe, &order, Subject::Object(id)).await;
        assert_eq!(refused(read, RejectionKind::Missing), "provider_object_missing", "{id}");
        let withdrawn = cards.withdraw_report(&world.stripe, &order, id).await;
        assert_eq!(refused(withdrawn, RejectionKind::Missing), "provider_object_missing", "{id}");
    }

    let base = format!("{}/stripe", world.origin);
    for credentials in [json!({ "secretKey": "sk_test_other" }), json!({})] {
        let other = provider(&json!({ "adapter": "stripe", "baseUrl": base, "credentials": credentials }));
        let prepared = cards.prepare(&other, &order).await;
        assert_eq!(refused(prepared, RejectionKind::Credentials), "provider_credentials");
    }
    let mut small = order.clone();
    small.fee.total_debit = minor(49);
    assert_eq!(refused(cards.prepare(&world.stripe, &small).await, RejectionKind::Invalid), "amount_limit");
    let mut nowhere = crate::support::order(Flow::HostedCheckout);
    nowhere.success_url = None;
    assert_eq!(
        refused(cards.prepare(&world.stripe, &nowhere).await, RejectionKind::Invalid),
        "provider_refused"
    );
    for code in ["ISK", "MGA", "UGX"] {
        let mut other = order.clone();
        other.currency = Currency::parse(code).unwrap();
        refused(cards.prepare(&world.stripe, &other).await, RejectionKind::Invalid);
    }
    assert_eq!(world.count("stripe", "payment_intents").await, 0);
}

#[tokio::test]
async fn a_refusal_is_quoted_without_the_customers_address() {
    let world = start().await;
    let mut order = order(Flow::PaymentComponent);
    order.customer_email = Some("not-an-address".to_owned());
    let mailing = stripe_with(&format!("{}/stripe", world.origin), &json!({ "receiptEmail": true }));
    let call = world.stripe_cards().prepare(&mailing, &order).await;
    assert_eq!(call.logs[0].tries[0].outcome, "email_invalid");
    let Err(tollgate_engine::ports::CallError::Rejected(rejection)) = call.outcome else { panic!() };
    assert!(rejection.failure.message.starts_with("The provider rejected the request. It says: "));
    assert!(!rejection.failure.message.contains("sk_test"));
    assert!(!rejection.failure.message.contains("not-an-address"), "{}", rejection.failure.message);

    // The same key for something else is our own mistake.
    let changed = crate::support::order(Flow::PaymentComponent);
    world.stripe_cards().prepare(&world.stripe, &changed).await.outcome.unwrap();
    let mut other = changed.clone();
    other.description = None;
    let call = world.stripe_cards().prepare(&world.stripe, &other).await;
    assert_eq!(call.logs[0].tries[0].outcome, "idempotency_error");
    refused(call, RejectionKind::Invalid);
}

/// A preparation that was answered with nothing but server errors is looked for, and taken back if it is there.
#[tokio::test]
async fn what_a_failed_preparation_has_made_is_taken_back() {
    let world = start().await;
    let cards = world.stripe_cards();
    for (flow, operation, kind) in [
        (Flow::HostedCheckout, "checkout.sessions", "checkout_sessions"),
        (Flow::PaymentComponent, "payment_intents", "payment_intents"),
    ] {
        let preparing: &dyn Preparing = match flow {
            Flow::HostedCheckout => cards.hosted_checkout().unwrap(),
            Flow::PaymentComponent => cards.in_browser(),
        };
        for (fault, made) in [("error_before", 0), ("error_after", 1)] {
            let order = order(flow);
            world.fault("stripe", &format!("{operation}.create"), fault, 10).await;
            let lost = preparing.prepare(&world.stripe, &order).await.outcome;
            assert!(matches!(lost, Err(CallError::Unknown(_))), "{lost:?}");
            world.fault("stripe", &format!("{operation}.list"), "error_before", 10).await;
            let unproven = preparing.withdraw_unanswered(&world.stripe, &order).await.outcome;
            assert!(matches!(unproven, Err(CallError::Unknown(_))), "{unproven:?}");
            world.control("DELETE", "faults", json!(null)).await;
            assert_eq!(preparing.withdraw_unanswered(&world.stripe, &order).await.outcome, Ok(()));
            let state = world.control("GET", "state?limit=1000", json!(null)).await;
            let ours: Vec<_> = state["stripe"][kind]
                .as_array()
                .unwrap()
                .iter()
                .filter(|it| it["metadata"]["tollgate_reference"] == order.id.to_string())
                .collect();
            assert_eq!(ours.len(), made, "{fault}");
            assert!(
                ours.iter().all(|it| it["status"] == "expired" || it["status"] == "canceled"),
                "{ours:?}"
            );
        }
    }
}

/// Stripe repeats a server error for a key once the request was begun. An object whose id was never returned cannot be paid, so
/// another is made under another key.
#[tokio::test]
async fn a_server_error_that_the_key_keeps_is_not_the_end_of_a_preparation() {
    let world = start().await;
    let cards = world.stripe_cards();
    for (flow, operation) in [
        (Flow::PaymentComponent, "payment_intents.create"),
        (Flow::HostedCheckout, "checkout.sessions.create"),
    ] {
        for fault in ["error_kept", "error_kept_after"] {
            let order = order(flow);
            world.fault("stripe", operation, fault, 1).await;
            let made = cards.prepare(&world.stripe, &order).await.outcome.unwrap();
            let again = cards.prepare(&world.stripe, &order).await.outcome.unwrap();
            assert_eq!(again.object, made.object, "{operation} {fault}");
            // It is taken back under a key that is spent, too.
            let close = if flow == Flow::HostedCheckout {
                "checkout.sessions.expire"
            } else {
                "payment_intents.cancel"
            };
            world.fault("stripe", close, fault, 1).await;
            let seen = cards.withdraw_report(&world.stripe, &order, &made.object).await.outcome.unwrap();
            assert_eq!(seen.provider_status, ProviderStatus::Canceled, "{operation} {fault}");
        }
    }
    // Where every key is spent, the outcome stays unknown.
    world.fault("stripe", "payment_intents.create", "error_kept", 9).await;
    let lost = cards.prepare(&world.stripe, &order(Flow::PaymentComponent)).await;
    assert!(matches!(lost.outcome, Err(tollgate_engine::ports::CallError::Unknown(_))), "{lost:?}");
}

#[tokio::test]
async fn a_dispute_is_read_as_it_stands() {
    let world = start().await;
    let (cards, order) = (world.stripe_cards(), order(Flow::PaymentComponent));
    let id = cards.prepare(&world.stripe, &order).await.outcome.unwrap().object;
    world.confirm(&id, "pm_card_visa").await.expect(200);
    assert!(!look(&world, &id).await.disputed);
    let none = cards.dispute(&world.stripe, &id, None).await;
    assert_eq!(asked(&none), [("disputes.list", 1)]);
    assert_eq!(none.outcome, Ok(None));
    world.control("POST", &format!("stripe/payment_intents/{id}/dispute"), json!({})).await;
    assert!(look(&world, &id).await.disputed);
    let read = async || cards.dispute(&world.stripe, &id, None).await.outcome.unwrap().unwrap();
    let opened = read().await;
    assert_eq!(opened.currency.as_deref(), Some("USD"));
    assert_eq!((opened.status.as_str(), opened.amount), ("needs_response", Some(minor(2_000))));
    let week = 7 * 86_400_000;
    let until = opened.respond_by.unwrap().unix_millis() - now_millis();
    assert!((week - 60_000..=week).contains(&until), "{until} ms to respond");
    for (action, status) in [("review", "under_review"), ("close", "lost")] {
        world.control("POST", &format!("stripe/disputes/{}/{action}", opened.id), json!({})).await;
        assert_eq!(
            read().await,
            tollgate_domain::transaction::Dispute { status: status.to_owned(), ..opened.clone() }
        );
    }
    // Another one is news; the first is still found by its own name.
    let second = world.control("POST", &format!("stripe/payment_intents/{id}/dispute"), json!({})).await;
    assert_eq!(read().await.id, second["id"].as_str().unwrap());
    let first = cards.dispute(&world.stripe, &id, Some(&opened.id)).await.outcome.unwrap().unwrap();
    assert_eq!((first.id, first.status.as_str()), (opened.id, "lost"));
}

/// A dispute's word is not its money: that is read from what was withdrawn and reinstated.
#[tokio::test]
async fn what_a_dispute_has_taken_is_read_from_its_balance_transactions() {
    let world = start().await;
    let cards = world.stripe_cards();
    let disputed = async |body: serde_json::Value| {
        let id = cards.prepare(&world.stripe, &order(Flow::PaymentComponent)).await.outcome.unwrap().object;
        world.confirm(&id, "pm_card_visa").await.expect(200);
        let made = world.control("POST", &format!("stripe/payment_intents/{id}/dispute"), body).await;
        (id, made["id"].as_str().unwrap().to_owned())
    };
    let read = async |id: &str| cards.dispute(&world.stripe, id, None).await.outcome.unwrap().unwrap();
    for (body, withdrawn, stage) in [
        (json!({ "status": "prevented" }), 0, DisputeStage::Returned),
        (json!({ "status": "prevented", "withdraws": true }), 2_000, DisputeStage::Lost),
        (json!({ "status": "warning_needs_response" }), 0, DisputeStage::Inquiry),
        (json!({}), 2_000, DisputeStage::Open),
    ] {
        let (id, _) = disputed(body.clone()).await;
        let dispute = read(&id).await;
        assert_eq!((dispute.withdrawn, dispute.stage()), (Some(minor(withdrawn)), stage), "{body}");
    }
    let (id, dispute) = disputed(json!({})).await;
    let end = json!({ "status": "won", "reinstates": false });
    world.control("POST", &format!("stripe/disputes/{dispute}/close"), end).await;
    let won = read(&id).await;
    assert_eq!((won.status.as_str(), won.withdrawn, won.is_closed()), ("won", Some(minor(2_000)), false));
    world.control("POST", &format!("stripe/disputes/{dispute}/reinstate"), json!({})).await;
    let back = read(&id).await;
    assert_eq!((back.status.as_str(), back.withdrawn, back.is_closed()), ("won", Some(minor(0)), true));
}

fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}
