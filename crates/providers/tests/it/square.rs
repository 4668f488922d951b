//! The Square adapter against the simulator.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_domain::card::{CardOrder, ProviderReport, ProviderStatus, ReportSource};
use tollgate_domain::{Currency, Flow, Timestamp};
use tollgate_engine::ports::{CallError, Component, RejectionKind, Subject};
use tollgate_vault::Secret;

use crate::offered::Offered as _;
use crate::support::{
    LOCATION, World, asked, card_of, charge, failed_code, given_back, hasty, minor, now, order, provider,
    refused, start, start_with,
};

const GOOD: &str = "4242424242424242";
const DECLINED: &str = "4000000000000002";
const OK: &str = "cnon:card-nonce-ok";

async fn payment(world: &World, id: &str) -> ProviderReport {
    let order = order(Flow::PaymentComponent);
    world.square_cards().read_report(&world.square, &order, Subject::Payment(id)).await.outcome.unwrap()
}

#[tokio::test]
async fn a_component_payment_from_charge_to_refund() {
    let world = start().await;
    let (cards, order) = (world.square_cards(), order(Flow::PaymentComponent));
    let Some(Component::WebPayments { application_id, location_id, environment, script_url }) =
        cards.component(&world.square, None)
    else {
        panic!("web payments were expected");
    };
    assert_eq!(
        (application_id.as_str(), location_id.as_str(), environment),
        ("sandbox-sq0idb-simulator", LOCATION, "sandbox")
    );
    assert_eq!(script_url, format!("{}/square/web-payments.js", world.origin));

    let call = cards.charge(&world.square, &order, &charge(1, OK)).await;
    assert_eq!(asked(&call), [("payments.create", 1)]);
    let key = format!("{}-1", order.id);
    assert!(key.len() <= 45 && order.id.to_string().len() <= 40);
    assert_eq!(call.logs[0].idempotency_key.as_ref(), Some(&key));
    assert!(!format!("{call:?}").contains("cnon:"));
    let paid = call.outcome.unwrap();
    let id = paid.payment.clone().unwrap();
    assert_eq!(
        paid,
        ProviderReport {
            payment: Some(id.clone()),
            provider_status: ProviderStatus::Succeeded,
            amount: Some(minor(2_000)),
            currency: Some("USD".to_owned()),
            reference: Some(order.id.to_string()),
            refunds: Vec::new(),
            disputed: false,
            source: ReportSource::Read,
            card: Some(card_of(&json!({
                "brand": "visa", "last4": "5858", "funding": "credit", "month": 12, "year": 2034,
                "postalCode": "pass", "cvc": "pass",
            }))),
            is_not_card: false,
        }
    );
    let made = world.state("square", "payments").await;
    assert_eq!((&made[0]["idempotency_key"], &made[0]["id"]), (&json!(key), &json!(id)));
    assert_eq!(payment(&world, &id).await, paid);
    for (amount, refunded) in [(json!({ "amount": 300 }), 300), (json!({}), 2_000)] {
        world.control("POST", &format!("square/payments/{id}/refund"), amount).await;
        let seen = payment(&world, &id).await;
        assert_eq!(given_back(&seen), refunded);
        assert_eq!(ProviderReport { refunds: Vec::new(), ..seen }, paid);
    }
}

#[tokio::test]
async fn declines_are_told_in_our_words_and_another_card_may_follow() {
    let world = start().await;
    let (cards, order) = (world.square_cards(), order(Flow::PaymentComponent));
    for (number, (source, code)) in (1..).zip([
        ("cnon:card-nonce-declined", "card_declined"),
        ("cnon:card-nonce-rejected-cvv", "incorrect_cvc"),
        ("cnon:card-nonce-rejected-postalcode", "incorrect_zip"),
        ("cnon:card-nonce-rejected-expiration", "invalid_expiry"),
        ("cnon:card-nonce-insufficient-funds", "insufficient_funds"),
        ("cnon:card-nonce-requires-verification", "authentication_required"),
        ("cnon:card-nonce-already-used", "card_token_used"),
        ("cnon:made-up", "invalid_card"),
    ]) {
        let call = cards.charge(&world.square, &order, &charge(number, source)).await;
        assert_eq!(asked(&call), [("payments.create", 1)]);
        assert_eq!(refused(call, RejectionKind::Declined), code, "{source}");
        // A charge that was tried has used up its key; an unknown token was not tried.
        let again = cards.charge(&world.square, &order, &charge(number, source)).await;
        if source == "cnon:made-up" {
            assert_eq!(refused(again, RejectionKind::Declined), code);
        } else {
            assert_eq!(refused(again, RejectionKind::State), "provider_state", "{source} again");
        }
    }
    let failed = world.state("square", "payments").await;
    let failed = failed.as_array().unwrap().iter().find(|one| one["status"] == "FAILED").unwrap().clone();
    let seen = payment(&world, failed["id"].as_str().unwrap()).await;
    assert_eq!(failed_code(&seen), "authentication_required");

    let mut verified = charge(20, "cnon:card-nonce-requires-verification");
    verified.verification = Some(Secret::new("verf:proof"));
    cards.charge(&world.square, &order, &verified).await.outcome.unwrap();
    assert_eq!(world.count("square", "payments_charged").await, 1);
}

#[tokio::test]
async fn a_passing_trouble_is_tried_again_and_then_a_decline() {
    let world = start().await;
    let (cards, order) = (world.square_cards(), order(Flow::PaymentComponent));
    let fault = |count| {
        json!({ "wire": "square", "operation": "payments.create", "fault": "refuse",
                "code": "TEMPORARY_ERROR", "count": count })
    };
    world.control("POST", "faults", fault(2)).await;
    let call = cards.charge(&world.square, &order, &charge(1, OK)).await;
    assert_eq!(asked(&call), [("payments.create", 3)]);
    call.outcome.unwrap();
    world.control("POST", "faults", fault(3)).await;
    let call = cards.charge(&world.square, &order, &charge(2, OK)).await;
    assert_eq!(refused(call, RejectionKind::Declined), "processing_error");
    assert_eq!(world.count("square", "payments").await, 1);
}

#[tokio::test]
async fn a_hosted_payment_from_link_to_refund() {
    let world = start().await;
    let (cards, order) = (world.square_cards(), order(Flow::HostedCheckout));
    let call = cards.prepare(&world.square, &order).await;
    assert_eq!(asked(&call), [("payment_links.create", 1)]);
    let prepared = call.outcome.unwrap();
    let again = cards.prepare(&world.square, &order).await.outcome.unwrap();
    assert_eq!((&again.object, &again.also), (&prepared.object, &prepared.also));
    let (link, page) = (prepared.object.as_str(), prepared.checkout_url.unwrap());
    let read = async || cards.read_report(&world.square, &order, Subject::Object(link)).await;

    let untouched = read().await;
    assert_eq!(asked(&untouched), [("payment_links.get", 1), ("orders.get", 1)]);
    let untouched = untouched.outcome.unwrap();
    assert_eq!(
        untouched,
        ProviderReport {
            payment: None,
            provider_status: ProviderStatus::NotStarted,
            amount: Some(minor(2_000)),
            currency: Some("USD".to_owned()),
            reference: Some(order.id.to_string()),
            refunds: Vec::new(),
            disputed: false,
            source: ReportSource::Read,
            card: None,
            is_not_card: false,
        }
    );
    world.pay_page(&page, DECLINED).await;
    assert_eq!(read().await.outcome.unwrap(), untouched, "a declined try leaves the order as it was");
    assert_eq!(world.pay_page(&page, GOOD).await.status, 303);
    let paid = read().await;
    assert_eq!(asked(&paid), [("payment_links.get", 1), ("orders.get", 1), ("payments.get", 1)]);
    let paid = paid.outcome.unwrap();
    assert_eq!(
        (&paid.provider_status, &paid.reference),
        (&ProviderStatus::Succeeded, &Some(order.id.to_string()))
    );
    let id = paid.payment.clone().unwrap();
    let state = world.state("square", "payments").await;
    assert_eq!(state[0]["order_id"], prepared.also[0]);
    world.control("POST", &format!("square/payments/{id}/refund"), json!({ "amount": 1 })).await;
    assert_eq!(given_back(&read().await.outcome.unwrap()), 1);

    // A link's payment has no reference of ours; its order has.
    assert_eq!(
        (&state[0]["reference_id"], &state[0]["order_reference_id"]),
        (&Value::Null, &json!(order.id.to_string()))
    );
    let by_payment = cards.read_report(&world.square, &order, Subject::Payment(&id)).await;
    assert_eq!(asked(&by_payment), [("payments.get", 1), ("orders.get", 1), ("refunds.get", 1)]);
    assert_eq!(by_payment.outcome.unwrap(), read().await.outcome.unwrap());

    // Taken back too late, it turns out paid; and its order tells so though the link is gone.
    let late = cards.withdraw_report(&world.square, &order, link).await.outcome.unwrap();
    assert_eq!((&late.provider_status, &late.payment), (&ProviderStatus::Succeeded, &Some(id.clone())));
    refused(read().await, RejectionKind::Missing);
    refused(cards.withdraw_report(&world.square, &order, link).await, RejectionKind::Missing);
    assert_eq!(by_order(&world, &order, &prepared.also[0]).await, Some(late));
    assert_eq!(by_order(&world, &order, &id).await, None, "a payment's name is no order's");
}

/// What is found by an order's name, for a link that is gone.
async fn by_order(world: &World, order: &CardOrder, name: &str) -> Option<ProviderReport> {
    world.square_cards().read_by_name(&world.square, order, name).await.outcome.unwrap()
}

#[tokio::test]
async fn a_link_takes_no_more_and_no_less_than_was_prepared() {
    let world = start().await;
    let (cards, order) = (world.square_cards(), order(Flow::HostedCheckout));
    let prepared = cards.prepare(&world.square, &order).await.outcome.unwrap();
    let options = world.state("square", "payment_links").await[0]["checkout_options"].clone();
    for switch in ["allow_tipping", "enable_coupon", "enable_loyalty"] {
        assert_eq!(options[switch], json!(false), "{switch}");
    }
    // Paid in parts, it is paid when they cover it.
    let pay = format!("square/payment_links/{}/pay", prepared.object);
    let read = async || {
        let seen = cards
            .read_report(&world.square, &order, Subject::Object(&prepared.object))
            .await
            .outcome
            .unwrap();
        let returned = minor(given_back(&seen));
        (seen.provider_status, seen.amount, returned)
    };
    let first = world.control("POST", &pay, json!({ "amount": 700 })).await;
    assert_eq!(read().await, (ProviderStatus::Processing, Some(minor(2_000)), minor(0)));
    let rest = world.control("POST", &pay, json!({})).await;
    assert_eq!(rest["amount_money"]["amount"], 1_300);
    assert_eq!(read().await, (ProviderStatus::Succeeded, Some(minor(2_000)), minor(0)));
    for (payment, amount) in [(&first, 200), (&rest, 300)] {
        let path = format!("square/payments/{}/refund", payment["id"].as_str().unwrap());
        world.control("POST", &path, json!({ "amount": amount })).await;
    }
    assert_eq!(read().await, (ProviderStatus::Succeeded, Some(minor(2_000)), minor(500)));
}

#[tokio::test]
async fn the_locations_currency_is_asked_for_once() {
    let world = start().await;
    let cards = world.square_cards();
    for flow in Flow::ALL {
        let mut euros = order(flow);
        euros.currency = Currency::parse("EUR").unwrap();
        let call = cards.check_order(&world.square, &euros).await;
        let expected: &[_] = if flow == Flow::ALL[0] { &[("locations.get", 1)] } else { &[] };
        assert_eq!(asked(&call), expected);
        assert_eq!(call.outcome.unwrap_err().field, "currency");
        let call = cards.check_order(&world.square, &order(flow)).await;
        assert_eq!(asked(&call), []);
        call.outcome.unwrap();
    }
    // As the provider itself says it, where nobody has asked before.
    let mut euros = order(Flow::PaymentComponent);
    euros.currency = Currency::parse("EUR").unwrap();
    refused(cards.charge(&world.square, &euros, &charge(1, OK)).await, RejectionKind::Invalid);
    assert_eq!(world.count("square", "payments").await, 0);
    // Not knowing is no refusal, and is not found out again and again.
    let other = provider(
        &json!({ "adapter": "square", "baseUrl": format!("{}/square", world.origin), "credentials": {
        "accessToken": "square_simulator_token", "locationId": "LOTHER", "applicationId": "sq0idp-live" } }),
    );
    for calls in [&[("locations.get", 1)][..], &[]] {
        let call = cards.check_order(&other, &euros).await;
        assert_eq!(asked(&call), calls);
        call.outcome.unwrap();
    }
}

#[tokio::test]
async fn a_withdrawn_link_cannot_be_paid() {
    let world = start().await;
    let (cards, order) = (world.square_cards(), order(Flow::HostedCheckout));
    let prepared = cards.prepare(&world.square, &order).await.outcome.unwrap();
    let call = cards.withdraw_report(&world.square, &order, &prepared.object).await;
    let steps = [("payment_links.get", 1), ("payment_links.delete", 1), ("orders.get", 1)];
    assert_eq!(asked(&call), steps);
    let withdrawn = call.outcome.unwrap();
    assert_eq!(
        (&withdrawn.provider_status, &withdrawn.reference),
        (&ProviderStatus::Canceled, &Some(order.id.to_string()))
    );
    assert_eq!(world.pay_page(&prepared.checkout_url.unwrap(), GOOD).await.status, 404);
    refused(cards.withdraw_report(&world.square, &order, &prepared.object).await, RejectionKind::Missing);
    assert_eq!(by_order(&world, &order, &prepared.also[0]).await, Some(withdrawn));
}

#[tokio::test]
async fn a_deletion_whose_answer_is_lost_is_a_deletion() {
    let world = start_with(hasty()).await;
    for kind in ["timeout_after", "error_after", "torn", "malformed"] {
        let order = order(Flow::HostedCheckout);
        let prepared = world.square_cards().prepare(&world.square, &order).await.outcome.unwrap();
        world.fault("square", "payment_links.delete", kind, 1).await;
        let call = world.square_cards().withdraw_report(&world.square, &order, &prepared.object).await;
        let steps = [("payment_links.get", 1), ("payment_links.delete", 2), ("orders.get", 1)];
        assert_eq!(asked(&call), steps, "{kind}");
        assert_eq!(call.outcome.unwrap().provider_status, ProviderStatus::Canceled, "{kind}");
    }
}

#[tokio::test]
async fn a_deletion_is_not_denied_because_the_order_cannot_be_read() {
    let world = start().await;
    for kind in ["rate_limited", "refuse", "error_before"] {
        let order = order(Flow::HostedCheckout);
        let prepared = world.square_cards().prepare(&world.square, &order).await.outcome.unwrap();
        world.fault("square", "orders.get", kind, 3).await;
        let call = world.square_cards().withdraw_report(&world.square, &order, &prepared.object).await;
        assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{kind} {call:?}");
        world.control("DELETE", "faults", Value::Null).await;
        let found = by_order(&world, &order, &prepared.also[0]).await.unwrap();
        assert_eq!(found.provider_status, ProviderStatus::Canceled, "{kind}");
    }
}

#[tokio::test]
async fn a_lost_charge_is_found_by_its_reference() {
    let world = start().await;
    let cards = world.square_cards();
    let (began, mut mine) = (now(), order(Flow::PaymentComponent));
    mine.created_at = began;
    let find = async |order, from, until| cards.find_charge(&world.square, order, from, until).await;
    // A payment is listed seconds after it was made.
    let listed = async |is_it: fn(&ProviderStatus) -> bool| {
        for _ in 0..600 {
            let call = find(&mine, began, now()).await;
            let found = call.outcome.as_ref().unwrap().as_ref();
            if found.is_some_and(|found| is_it(&found.provider_status)) {
                return call;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("it is never listed");
    };
    assert_eq!(find(&mine, began, now()).await.outcome, Ok(None));

    // More than a page of other people's payments over the same amount.
    for number in 1..=120 {
        let other = order(Flow::PaymentComponent);
        cards.charge(&world.square, &other, &charge(number, OK)).await.outcome.unwrap();
    }
    assert_eq!(find(&mine, began, now()).await.outcome, Ok(None));
    refused(
        cards.charge(&world.square, &mine, &charge(1, "cnon:card-nonce-declined")).await,
        RejectionKind::Declined,
    );
    assert_eq!(find(&mine, began, now()).await.outcome, Ok(None), "not listed yet");
    let declined = listed(|status| matches!(status, ProviderStatus::Failed(_))).await.outcome;
    assert_eq!(failed_code(&declined.unwrap().unwrap()), "card_declined");
    assert_eq!(
        find(&mine, now(), now()).await.outcome,
        Ok(None),
        "an earlier attempt's decline is not this one's"
    );
    cards.charge(&world.square, &mine, &charge(2, OK)).await.outcome.unwrap();
    let call = listed(|status| *status == ProviderStatus::Succeeded).await;
    assert_eq!(asked(&call), [("payments.list", 1), ("payments.list", 1)]);
    let found = call.outcome.unwrap().unwrap();
    assert_eq!(
        (&found.provider_status, &found.reference),
        (&ProviderStatus::Succeeded, &Some(mine.id.to_string()))
    );
    // Clocks need not agree, but the time asked for has to be about right.
    let hour = 3_600_000;
    let long_ago = Timestamp::from_unix_millis(began.unix_millis() - 2 * hour);
    let less_long_ago = Timestamp::from_unix_millis(began.unix_millis() - hour);
    assert_eq!(find(&mine, long_ago, less_long_ago).await.outcome, Ok(None));
}

#[tokio::test]
async fn what_the_wire_will_not_do_is_refused_by_kind() {
    let world = start().await;
    let (cards, order) = (world.square_cards(), order(Flow::PaymentComponent));
    for id in ["nobody", "", ".."] {
        let read = cards.read_report(&world.square, &order, Subject::Payment(id)).await;
        assert_eq!(refused(read, RejectionKind::Missing), "provider_object_missing", "{id}");
    }
    let base = format!("{}/square", world.origin);
    let credentials = |token: &str, location: &str| {
        provider(&json!({ "adapter": "square", "baseUrl": base, "credentials": {
            "accessToken": token, "locationId": location, "applicationId": "sq0idp-live" } }))
    };
    let other = credentials("other", LOCATION);
    let call = cards.charge(&other, &order, &charge(1, OK)).await;
    assert_eq!(refused(call, RejectionKind::Credentials), "provider_credentials");
    let Some(Component::WebPayments { environment, .. }) = cards.component(&other, None) else { panic!() };
    assert_eq!(environment, "production");
    let elsewhere = credentials("square_simulator_token", "LOTHER");
    let call = cards.charge(&elsewhere, &order, &charge(1, OK)).await;
    assert_eq!(call.logs[0].tries[0].outcome, "INVALID_LOCATION");
    assert_eq!(refused(call, RejectionKind::Credentials), "provider_credentials");

    // The same key for another charge: something was made under it, and only looking tells what.
    cards.charge(&world.square, &order, &charge(7, OK)).await.outcome.unwrap();
    let mut other = order.clone();
    other.description = None;
    let call = cards.charge(&world.square, &other, &charge(7, OK)).await;
    assert_eq!(asked(&call), [("payments.create", 1)]);
    refused(call, RejectionKind::State);
    assert_eq!(world.count("square", "payments").await, 1);
    assert_eq!(world.state("square", "payments").await[0]["status"], Value::from("COMPLETED"));
}

/// A payment does not say that it is disputed, so that a dispute whose webhook is lost is found by a list.
#[tokio::test]
async fn disputes_are_listed_state_by_state_and_page_by_page() {
    let world = start().await;
    let (cards, mut disputed) = (world.square_cards(), Vec::new());
    for number in 1..=101 {
        let other = order(Flow::PaymentComponent);
        let paid = cards.charge(&world.square, &other, &charge(number, OK)).await.outcome.unwrap();
        disputed.push(paid.payment.unwrap());
    }
    let mut ids = Vec::new();
    for payment in &disputed {
        let opened = world.control("POST", &format!("square/payments/{payment}/dispute"), json!({})).await;
        ids.push(opened["id"].as_str().unwrap().to_owned());
    }
    let lost = format!("square/disputes/{}/close", ids[7]);
    world.control("POST", &lost, json!({ "status": "lost" })).await;

    let lists = cards.dispute_lists().unwrap();
    let (mut found, mut from, mut pages) = (Vec::new(), None, 0);
    loop {
        let call = lists.list_disputes(&world.square, from.as_deref()).await;
        assert_eq!(asked(&call), [("disputes.list", 1)]);
        let page = call.outcome.unwrap();
        found.extend(page.disputes);
        pages += 1;
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    // One page of each state; what is left of the first fits one.
    assert_eq!((found.len(), pages), (101, 8));
    let mut payments: Vec<_> = found.iter().map(|listed| listed.payment.clone()).collect();
    payments.sort();
    disputed.sort();
    assert_eq!(payments, disputed);
    let closed = found.iter().find(|listed| listed.dispute.id == ids[7]).unwrap();
    assert_eq!(closed.dispute.status, "LOST");

    // One more, and the first state has two pages.
    let paid = cards.charge(&world.square, &order(Flow::PaymentComponent), &charge(1, OK)).await;
    let payment = paid.outcome.unwrap().payment.unwrap();
    world.control("POST", &format!("square/payments/{payment}/dispute"), json!({})).await;
    let first = lists.list_disputes(&world.square, None).await.outcome.unwrap();
    let second = lists.list_disputes(&world.square, first.next.as_deref()).await.outcome.unwrap();
    assert_eq!((first.disputes.len(), second.disputes.len()), (100, 1));
}

#[tokio::test]
async fn a_dispute_is_read_as_it_stands() {
    let world = start().await;
    let (cards, order) = (world.square_cards(), order(Flow::PaymentComponent));
    let paid = cards.charge(&world.square, &order, &charge(1, OK)).await.outcome.unwrap();
    let paid = paid.payment.unwrap();
    let opened = world.control("POST", &format!("square/payments/{paid}/dispute"), json!({})).await;
    let id = opened["id"].as_str().unwrap().to_owned();
    let read = async || cards.dispute(&world.square, &paid, Some(&id)).await;
    let call = read().await;
    assert_eq!(asked(&call), [("disputes.get", 1)]);
    let dispute = call.outcome.unwrap().unwrap();
    assert_eq!(dispute.currency.as_deref(), Some("USD"));
    assert_eq!((dispute.status.as_str(), dispute.amount), ("EVIDENCE_REQUIRED", Some(minor(2_000))));
    assert_eq!(dispute.reason.as_deref(), Some("NO_KNOWLEDGE"));
    let due: jiff::Timestamp = opened["due_at"].as_str().unwrap().parse().unwrap();
    assert_eq!(dispute.respond_by.unwrap().unix_millis(), due.as_millisecond());
    for (action, body, status) in
        [("review", json!({}), "PROCESSING"), ("close", json!({ "status": "accepted" }), "ACCEPTED")]
    {
        world.control("POST", &format!("square/disputes/{id}/{action}"), body).await;
        assert_eq!(read().await.outcome.unwrap().unwrap().status, status);
    }
}
