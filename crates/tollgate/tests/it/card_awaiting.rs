//! A provider that cannot be asked: its signed webhooks are the truth, and without them nothing is claimed.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use crate::support::{
    Answer, COMPONENT, Client, DECLINED_CARD, Flow, Inbox, Letter, Prepared, Shop, StoreKind, Wire, World,
    on_both_stores, sign_adyen,
};

on_both_stores! {
    lost_webhooks_double_nothing_and_claim_nothing
    what_was_not_accepted_is_asked_for_again
    a_refund_without_room_waits_for_the_one_that_came_to_nothing
    a_refund_that_came_to_nothing_gives_nothing_back
    a_decline_that_is_learned_twice_is_told_once
    what_webhooks_tell_late_twice_and_out_of_order_is_told_once
    only_what_is_signed_decides
    a_fallback_there_and_back_under_faults_accepts_once
    what_cannot_be_taken_back_is_not_left
    a_result_that_cannot_be_read_claims_no_failure
    what_is_pending_can_still_be_refused
    that_one_attempt_is_closed_says_nothing_of_another
}

/// A payment with what is held until it is captured.
fn prepare_manual(world: &World, flow: Flow) -> Prepared {
    let mut order = Shop::order(Wire::Adyen);
    order["capture"] = json!("manual");
    Prepared::of(&world.shop.client().post(flow.path(), &order))
}

fn act(world: &World, reference: &str, what: &str, body: Value) -> Answer {
    let mut body = body;
    body["idempotencyKey"] = json!(format!("{what}-{reference}"));
    world.shop.client().post(&format!("/client/v1/transactions/{reference}/{what}"), &body)
}

/// What a payment waits for.
fn waiting(world: &World, reference: &str) -> String {
    world.shop.story(reference)["waitingFor"].as_str().unwrap_or_default().to_owned()
}

#[track_caller]
fn wait_waiting(world: &World, reference: &str, about: &str) {
    let expected = format!("waiting for the webhook of card_provider_c about {about}");
    world.shop.wait(reference, &expected, || {
        let waiting = waiting(world, reference);
        waiting.starts_with(&expected) && waiting.contains(" since 20") && waiting.contains("cannot be asked")
    });
}

/// Whatever is asked for is done once, and everything says what it waits for and since when.
fn lost_webhooks_double_nothing_and_claim_nothing(kind: StoreKind) {
    let mut world = World::start(kind);
    world.simulator.send_no_webhooks();
    // Paid on a page: the link says that somebody pays, and not what came of it.
    let hosted = world.shop.prepare(Flow::Hosted, Wire::Adyen);
    world.simulator.pay_page(hosted.checkout_url());
    // Paid in a component, where the answer to the confirmation is lost.
    let component = world.shop.prepare(Flow::Component, Wire::Adyen);
    let body = world.simulator.pay_session(component.component());
    world.simulator.fault(Wire::Adyen, "sessions.result", "error_before", 1_000, 0);
    let confirmed = world.shop.confirm(&component.reference, &body).data(200);
    assert_eq!(confirmed["transaction"]["status"], "pending");
    world.simulator.clear_faults();
    // Held; the capture is taken and nobody tells of it. The same of a refund.
    let (held, paid) =
        (prepare_manual(&world, Flow::Component), world.shop.prepare(Flow::Component, Wire::Adyen));
    for prepared in [&held, &paid] {
        let body = world.simulator.pay_session(prepared.component());
        world.shop.confirm(&prepared.reference, &body).data(200);
    }
    let captured = act(&world, &held.reference, "capture", json!({})).data(200)["transaction"].clone();
    assert_eq!((&captured["status"], &captured["pendingAction"]), (&json!("authorized"), &json!("capture")));
    let refunded = act(&world, &paid.reference, "refunds", json!({"amountMinor": "1000"})).data(201);
    assert_eq!(refunded["refund"]["status"], "processing");

    let refund = format!("the refund {}", refunded["refund"]["refundReference"].as_str().unwrap());
    let cases = [
        (&hosted, "the payment", "processing"),
        (&component, "the payment", "pending"),
        (&held, "the capture", "authorized"),
        (&paid, refund.as_str(), "succeeded"),
    ];
    for (prepared, about, _) in cases {
        wait_waiting(&world, &prepared.reference, about);
    }
    // The resolver of a server that starts anew does no more.
    world.restart(|_| {});
    thread::sleep(Duration::from_secs(2));
    for (prepared, about, status) in cases {
        let reference = prepared.reference.as_str();
        wait_waiting(&world, reference, about);
        assert_eq!(world.shop.status(reference).as_deref(), Some(status), "{about}");
        let truth = world.simulator.truth(reference);
        assert_eq!((truth.charged, truth.objects), (1, 1), "{about}: {truth:?}");
    }
    // A caller that repeats itself changes nothing.
    act(&world, &held.reference, "capture", json!({})).data(200);
    act(&world, &paid.reference, "refunds", json!({"amountMinor": "1000"})).data(200);
    let state = world.simulator.state();
    assert_eq!(state["adyen"]["counts"]["modifications"], 2, "{state:#}");
    assert_eq!(world.simulator.truth(&paid.reference).refunded, 1_038);
    assert_eq!(world.shop.listed("exceptions"), Vec::<Value>::new(), "nothing is overdue yet");
    let listed = world.shop.listed("payments?waiting=true");
    assert_eq!(listed.len(), 4, "an operator finds all of them: {listed:#?}");
}

/// A command that the provider has not accepted goes to it again under its own key, whatever webhooks tell of other things meanwhile.
fn what_was_not_accepted_is_asked_for_again(kind: StoreKind) {
    let world = World::start(kind);
    let inbox = Inbox::open();
    inbox.collect_from(&world.simulator);
    let (held, paid) =
        (prepare_manual(&world, Flow::Component), world.shop.prepare(Flow::Component, Wire::Adyen));
    for prepared in [&held, &paid] {
        let body = world.simulator.pay_session(prepared.component());
        world.shop.confirm(&prepared.reference, &body).data(200);
    }
    let letters = inbox.take(&world.simulator);
    world.shop.wait_events(&world.simulator);
    for fault in ["rate_limited", "error_before"] {
        world.simulator.fault(Wire::Adyen, "captures.create", fault, 1_000, 0);
        world.simulator.fault(Wire::Adyen, "refunds.create", fault, 1_000, 0);
    }
    let captured = act(&world, &held.reference, "capture", json!({})).data(200)["transaction"].clone();
    assert_eq!(captured["pendingAction"], "capture");
    let refunded = act(&world, &paid.reference, "refunds", json!({"amountMinor": "1000"})).data(201);
    assert_eq!(refunded["refund"]["status"], "pending");
    // That it was paid is told once more.
    for letter in &letters {
        let mut again = letter.json();
        item(&mut again)["eventDate"] = json!("2030-01-01T00:00:00+00:00");
        deliver(&world.shop, &again).data(200);
    }
    world.shop.wait_events(&world.simulator);
    for prepared in [&held, &paid] {
        world.shop.wait(&prepared.reference, "the reason", || {
            let waiting = waiting(&world, &prepared.reference);
            waiting.contains("the provider is busy") || waiting.contains("the provider answered 500")
        });
    }
    world.simulator.clear_faults();
    world.shop.wait_status(&held.reference, "succeeded");
    let refund = refunded["refund"]["refundReference"].as_str().unwrap();
    world.shop.wait(&paid.reference, "refunded", || {
        let story = world.shop.story(&paid.reference);
        let refunds = story["refunds"].as_array().unwrap();
        refunds.iter().any(|it| it["refundReference"] == refund && it["status"] == "succeeded")
    });
    let state = world.simulator.state();
    assert_eq!(state["adyen"]["counts"]["modifications"], 2, "{state:#}");
}

/// Delivers what the provider sent elsewhere, signed for this shop.
fn forward(shop: &Shop, letter: &Letter) -> Answer {
    deliver(shop, &letter.json())
}

fn deliver(shop: &Shop, notification: &Value) -> Answer {
    let signed = sign_adyen(&shop.webhook_secret(Wire::Adyen), notification);
    shop.post_webhook(Wire::Adyen, &[], signed.to_string().as_bytes())
}

/// The payer's page tells of a decline before the webhook that names it.
fn a_decline_that_is_learned_twice_is_told_once(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let inbox = Inbox::of(&world.simulator);
    let prepared = world.shop.prepare(Flow::Component, Wire::Adyen);
    let reference = prepared.reference.as_str();
    let refused = world.simulator.try_pay_session(prepared.component(), "4000000000000002").unwrap();
    let body = json!({"sessionResult": refused["sessionResult"]});
    let declined = world.shop.confirm(reference, &body).data(200);
    assert_eq!(declined["transaction"]["status"], "failed");
    assert_eq!(declined["transaction"]["providerReference"], Value::Null);
    for letter in inbox.take(&world.simulator) {
        forward(&world.shop, &letter).data(200);
    }
    world.shop.wait(reference, "the webhook names it", || {
        world.shop.story(reference)["transaction"]["providerReference"].is_string()
    });
    assert_eq!(world.shop.moves(reference), ["failed"]);
    let events = world.shop.listed(&format!("events?reference={reference}"));
    let failed = events.iter().filter(|event| event["type"] == "transaction.failed").count();
    assert_eq!(failed, 1, "{events:#?}");
}

/// A whole life, told backwards, forwards and once more.
fn what_webhooks_tell_late_twice_and_out_of_order_is_told_once(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let inbox = Inbox::of(&world.simulator);
    let prepared = prepare_manual(&world, Flow::Hosted);
    let reference = prepared.reference.as_str();
    world.simulator.submit(prepared.checkout_url(), DECLINED_CARD);
    world.simulator.pay_page(prepared.checkout_url());
    let state = world.simulator.state();
    let payments = state["adyen"]["payments"].as_array().unwrap();
    let payment = payments.iter().find(|row| row["status"] == "Authorised").unwrap()["id"].as_str().unwrap();
    for (action, body) in [("capture", json!({})), ("refund", json!({"amount": 500})), ("dispute", json!({}))]
    {
        world.simulator.drive(&format!("adyen/payments/{payment}/{action}"), &body);
    }
    let letters = inbox.take(&world.simulator);
    assert_eq!(letters.len(), 6, "{letters:?}");
    for letter in letters.iter().rev().chain(&letters).chain(&letters) {
        forward(&world.shop, letter).data(200);
    }
    world.shop.wait_status(reference, "succeeded");
    world.shop.wait_events(&world.simulator);
    let story = world.shop.story(reference);
    assert_eq!(story["transaction"]["refundedMinor"], "500", "{story:#}");
    assert_eq!(story["transaction"]["dispute"]["status"], "charged_back", "{story:#}");
    assert_eq!(story["transaction"]["providerReference"], payment);
    let moves = world.shop.moves(reference);
    assert_eq!(moves.iter().filter(|to| *to == "succeeded").count(), 1, "{moves:?}");
    assert_eq!(world.shop.listed("exceptions"), Vec::<Value>::new());
}

/// No more is given back than was paid: the webhook that tells which of the refunds came to nothing is late.
fn a_refund_without_room_waits_for_the_one_that_came_to_nothing(kind: StoreKind) {
    let world = World::start(kind);
    let (shop, inbox) = (&world.shop, Inbox::of(&world.simulator));
    let paid = shop.prepare(Flow::Component, Wire::Adyen);
    let body = world.simulator.pay_session(paid.component());
    shop.confirm(&paid.reference, &body).data(200);
    let first = act(&world, &paid.reference, "refunds", json!({"amountMinor": "1500"})).data(201);
    let first = first["refund"]["providerReference"].as_str().unwrap();
    world.simulator.drive(&format!("adyen/modifications/{first}/fail"), &json!({}));
    let payment = shop.story(&paid.reference)["transaction"]["providerReference"].clone();
    world.simulator.drive(&format!("adyen/payments/{}/refund", payment.as_str().unwrap()), &json!({}));
    let letters = inbox.take(&world.simulator);
    let is_about = |letter: &&Letter, code: &str| item(&mut letter.json())["eventCode"] == code;
    let of = |code: &str| letters.iter().filter(|letter| is_about(letter, code)).collect::<Vec<_>>();
    let (refunds, failures) = (of("REFUND"), of("REFUND_FAILED"));
    assert_eq!((refunds.len(), failures.len()), (2, 1), "{letters:?}");
    let (second, failed) = (refunds[1], failures[0]);
    forward(shop, second).data(200);
    shop.wait(&paid.reference, "the other's word", || {
        let waiting = shop.listed("provider-events?state=waiting");
        waiting.iter().any(|event| event["note"].as_str().is_some_and(|note| note.contains("another refund")))
    });
    forward(shop, failed).data(200);
    shop.wait_status(&paid.reference, "refunded");
    shop.wait_events(&world.simulator);
    let story = shop.story(&paid.reference);
    assert_eq!(story["transaction"]["refundedMinor"], story["transaction"]["totalDebitMinor"], "{story:#}");
    assert_eq!(shop.listed("exceptions"), Vec::<Value>::new());
}

/// A refund that the provider refuses follows nothing that could be waited for, and what came back is not given by its success,
/// however late that is told.
fn a_refund_that_came_to_nothing_gives_nothing_back(kind: StoreKind) {
    let world = World::start(kind);
    let (shop, inbox) = (&world.shop, Inbox::of(&world.simulator));
    let (held, paid) = (prepare_manual(&world, Flow::Component), shop.prepare(Flow::Component, Wire::Adyen));
    for prepared in [&held, &paid] {
        let body = world.simulator.pay_session(prepared.component());
        shop.confirm(&prepared.reference, &body).data(200);
        let payment = shop.story(&prepared.reference)["transaction"]["providerReference"].clone();
        let refund = format!("adyen/payments/{}/refund", payment.as_str().unwrap());
        world.simulator.drive(&refund, &json!({"amount": 500}));
    }
    let mut letters = inbox.take(&world.simulator);
    let is_refund = |letter: &Letter, success: &str| {
        let mut letter = letter.json();
        item(&mut letter)["eventCode"] == "REFUND" && item(&mut letter)["success"] == success
    };
    assert!(letters.iter().any(|letter| is_refund(letter, "false")), "{letters:?}");
    let place = letters.iter().position(|letter| is_refund(letter, "true")).unwrap();
    let succeeded = letters.remove(place);
    for letter in &letters {
        forward(shop, letter).data(200);
    }
    shop.wait_events(&world.simulator);
    let story = shop.story(&held.reference);
    let (status, refund) = (&story["transaction"]["status"], &story["refunds"][0]["status"]);
    assert_eq!((status, refund), (&json!("authorized"), &json!("failed")), "{story:#}");

    let refund = item(&mut succeeded.json())["pspReference"].clone();
    world.simulator.drive(&format!("adyen/modifications/{}/fail", refund.as_str().unwrap()), &json!({}));
    for letter in inbox.take(&world.simulator) {
        forward(shop, &letter).data(200);
    }
    shop.wait(&paid.reference, "the failure", || {
        shop.story(&paid.reference)["refunds"][0]["status"] == "failed"
    });
    forward(shop, &succeeded).data(200);
    shop.wait_events(&world.simulator);
    let story = shop.story(&paid.reference);
    let transaction = &story["transaction"];
    assert_eq!((&transaction["status"], &transaction["refundedMinor"]), (&json!("succeeded"), &json!("0")));
    assert_eq!(story["refunds"][0]["status"], "failed", "{story:#}");
}

fn item(notification: &mut Value) -> &mut Value {
    &mut notification["notificationItems"][0]["NotificationRequestItem"]
}

/// What anybody on the way can change changes nothing; what is signed and wrong is an operator's.
fn only_what_is_signed_decides(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let (shop, inbox) = (&world.shop, Inbox::of(&world.simulator));
    let [paid, other, more] = [(); 3].map(|()| shop.prepare(Flow::Hosted, Wire::Adyen));
    world.simulator.pay_page(paid.checkout_url());
    let letter = inbox.take(&world.simulator).remove(0);
    let post = |body: &Value| shop.post_webhook(Wire::Adyen, &[], body.to_string().as_bytes()).status;
    let signed = sign_adyen(&shop.webhook_secret(Wire::Adyen), &letter.json());
    // Unsigned, signed with another key, or signed and changed afterwards.
    let mut changed = signed.clone();
    item(&mut changed)["merchantReference"] = json!(other.reference);
    let mut moved = signed.clone();
    item(&mut moved)["pspReference"] = json!("A:B");
    let mut live = signed.clone();
    live["live"] = json!("true");
    for wrong in [&letter.json(), &sign_adyen(&"11".repeat(32), &letter.json()), &changed, &moved, &live] {
        assert_eq!(post(wrong), 401, "{wrong}");
    }
    // Another merchant account's event changes nothing here.
    let mut foreign = letter.json();
    item(&mut foreign)["merchantAccountCode"] = json!("SomebodyElse");
    deliver(shop, &foreign).data(200);
    // A payment of another amount than was prepared is an operator's.
    let mut short = letter.json();
    item(&mut short)["merchantReference"] = json!(more.reference);
    item(&mut short)["pspReference"] = json!("SHORT00000000001");
    item(&mut short)["amount"]["value"] = json!(1);
    deliver(shop, &short).data(200);
    shop.wait(&more.reference, "an exception", || !shop.listed("exceptions").is_empty());
    shop.wait_events(&world.simulator);
    for prepared in [&paid, &other, &more] {
        assert_ne!(shop.status(&prepared.reference).as_deref(), Some("succeeded"));
    }
    // What leads elsewhere in the parts that are not signed leads here by those that are.
    let mut unsigned = signed.clone();
    let own = item(&mut unsigned);
    own["additionalData"]["paymentLinkId"] = json!("PLOTHER");
    own["eventDate"] = json!("2030-01-01T00:00:00+00:00");
    own["reason"] = json!("x");
    assert_eq!(post(&unsigned), 200);
    shop.wait_status(&paid.reference, "succeeded");
    // An old delivery again, and with another date: known.
    for again in [&signed, &unsigned] {
        assert_eq!(post(again), 200);
    }
    // Signed and unreadable: kept for an operator, and not in the way of what follows.
    let mut odd = letter.json();
    item(&mut odd)["success"] = json!("perhaps");
    deliver(shop, &odd).data(200);
    shop.wait_events(&world.simulator);
    let parked = shop.listed("provider-events?state=parked");
    assert_eq!((parked.len(), &parked[0]["type"]), (1, &json!("unreadable")), "{parked:#?}");
    assert_eq!(shop.moves(&paid.reference), ["succeeded"]);
    assert_eq!(shop.status(&other.reference), None);
    // Where it is set up with a password, nothing is believed without it.
    let mut document = shop.document(world.simulator.address());
    document["providers"]["card_provider_c"]["credentials"]["webhookPassword"] = json!("p@ss:word");
    shop.configure(&document);
    for (authorization, status) in
        [("", 401), ("Basic dG9sbGdhdGU6cEBzcw==", 401), ("Basic dG9sbGdhdGU6cEBzczp3b3Jk", 200)]
    {
        let headers = [("authorization", authorization)];
        let answer = shop.post_webhook(Wire::Adyen, &headers, signed.to_string().as_bytes());
        assert_eq!(answer.status, status, "{authorization}");
    }
}

/// Every way an answer can get lost, from the one to the other and the other way around: nobody can pay twice.
fn a_fallback_there_and_back_under_faults_accepts_once(kind: StoreKind) {
    let world = World::start(kind);
    let mut document = world.shop.document(world.simulator.address());
    let fallback = |provider: &str| json!([{"provider": provider, "channel": "web_card"}]);
    let card = &mut document["routing"]["web_card"];
    card["default"]["fallbacks"] = fallback("card_provider_c");
    card["rules"][2]["target"]["fallbacks"] = fallback("card_provider_a");
    world.shop.configure(&document);
    let mut outcomes = Vec::new();
    for (wire, flow, operation) in [
        (Wire::Stripe, Flow::Component, "payment_intents.create"),
        (Wire::Stripe, Flow::Hosted, "checkout.sessions.create"),
        (Wire::Adyen, Flow::Component, "sessions.create"),
        (Wire::Adyen, Flow::Hosted, "payment_links.create"),
    ] {
        for fault in ["error_before", "error_after", "reset", "torn", "timeout_after", "rate_limited"] {
            let known = world.shop.listed("payments").len();
            // Asked to wait for longer than its deadline, a call is not tried again.
            let delay_ms = if fault == "rate_limited" { 20_000 } else { 6_000 };
            world.simulator.fault(wire, operation, fault, 1_000, delay_ms);
            let answer = world.shop.try_prepare(flow, wire);
            world.simulator.clear_faults();
            let payments = world.shop.listed("payments");
            assert_eq!(payments.len(), known + 1, "{wire:?} {fault}");
            let reference = payments[0]["serviceReference"].as_str().unwrap().to_owned();
            outcomes.push(answer.status == 201);
            if answer.status != 201 {
                assert_eq!(answer.failure(503), "provider_unavailable", "{wire:?} {flow:?} {fault}");
                world.shop.wait_preparation(&reference, "withdrawn");
                assert_eq!(world.simulator.truth(&reference).charged, 0);
                continue;
            }
            let prepared = Prepared::of(&answer);
            assert_ne!(prepared.data["provider"], wire.provider(), "{fault}");
            match (flow, prepared.data["provider"].as_str().unwrap()) {
                (Flow::Hosted, _) => world.simulator.pay_page(prepared.checkout_url()),
                (_, "card_provider_a") => world.simulator.pay_intent(prepared.component()),
                _ => drop(world.simulator.pay_session(prepared.component())),
            }
            world.shop.wait_status(&reference, "succeeded");
            // At Stripe, what was left there is closed; of a link, nobody has the address.
            let truth = world.simulator.truth(&reference);
            assert_eq!((truth.charged, truth.held), (1, 0), "{wire:?} {flow:?} {fault}: {truth:?}");
            assert!(truth.payable == 0 || wire == Wire::Adyen, "{fault}: {truth:?}");
        }
    }
    let moved = outcomes.iter().filter(|moved| **moved).count();
    assert!(moved >= 4, "only {moved} of {} payments moved on", outcomes.len());
    // That what was left behind is closed, is all that anybody hears of it.
    for exception in world.shop.listed("exceptions") {
        let found = exception["found"].as_str().unwrap();
        assert!(found.contains("canceled") || found.contains("expired"), "{exception}");
    }
}

/// A session can be paid until it ends: the payment stays there, whatever its caller asks for.
fn what_cannot_be_taken_back_is_not_left(kind: StoreKind) {
    let world = World::start(kind);
    let mut document = world.shop.document(world.simulator.address());
    let fallback = |provider: &str| json!([{"provider": provider, "channel": "web_card"}]);
    document["routing"]["web_card"]["default"]["fallbacks"] = fallback("card_provider_c");
    document["routing"]["web_card"]["rules"][2]["target"]["fallbacks"] = fallback("card_provider_a");
    world.shop.configure(&document);
    let mut client: Client = world.shop.client();
    let switch = |client: &mut Client, reference: &str, from: &str| {
        client.post(&format!("{COMPONENT}/{reference}/switch"), &json!({ "from": from }))
    };
    // Declined at the one, and switched to the other.
    let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
    world.simulator.confirm_intent(prepared.component(), "pm_card_chargeDeclined");
    world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    let switched = Prepared::of(&switch(&mut client, &prepared.reference, "card_provider_a"));
    assert_eq!(switched.component()["type"], "card_provider_c_drop_in");
    world.simulator.pay_session(switched.component());
    world.shop.wait_status(&prepared.reference, "succeeded");
    assert_eq!(world.simulator.truth(&prepared.reference).charged, 1);
    // Declined at the other, it stays there and is paid there.
    let prepared = world.shop.prepare(Flow::Component, Wire::Adyen);
    let declined = world.simulator.try_pay_session(prepared.component(), "4000000000000002").unwrap();
    let body = json!({ "sessionResult": declined["sessionResult"] });
    let failed = world.shop.confirm(&prepared.reference, &body).data(200);
    assert_eq!(failed["transaction"]["status"], "failed");
    let refused = switch(&mut client, &prepared.reference, "card_provider_c");
    assert_eq!(refused.status, 409, "{:#}", refused.json());
    world.simulator.pay_session(prepared.component());
    world.shop.wait_status(&prepared.reference, "succeeded");
    assert_eq!(world.simulator.truth(&prepared.reference).charged, 1);
}

/// The second attempt is paid, and nobody can say so: that the first was declined is no answer to it.
fn a_result_that_cannot_be_read_claims_no_failure(kind: StoreKind) {
    let mut world = World::start(kind);
    world.simulator.send_no_webhooks();
    let prepared = world.shop.prepare(Flow::Component, Wire::Adyen);
    let reference = prepared.reference.as_str();
    let declined = world.simulator.try_pay_session(prepared.component(), "4000000000000002").unwrap();
    let first = json!({ "sessionResult": declined["sessionResult"] });
    assert_eq!(world.shop.confirm(reference, &first).data(200)["transaction"]["status"], "failed");
    let body = world.simulator.pay_session(prepared.component());
    world.simulator.fault(Wire::Adyen, "sessions.result", "error_before", 1_000, 0);
    let answer = world.shop.confirm(reference, &body);
    assert_eq!(answer.failure(503), "provider_unavailable");
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("may have gone through") && !message.contains("No payment"), "{message}");
    wait_waiting(&world, reference, "the last attempt");
    // A day later, when its session has long ended, an operator is asked, once.
    for _ in 0..2 {
        world.restart(|world| {
            world.store.execute(
                "UPDATE card_payments SET waiting = replace(waiting, ' since 20', ' since 19'), due_at = 1,
                     expires_at = created_at + 1",
            );
        });
        world.shop.wait(reference, "an exception", || !world.shop.listed("exceptions").is_empty());
        thread::sleep(Duration::from_secs(1));
    }
    let exceptions = world.shop.listed("exceptions");
    assert_eq!((exceptions.len(), &exceptions[0]["kind"]), (1, &json!("outcome_unknown")), "{exceptions:#?}");
    assert!(exceptions[0]["found"].as_str().unwrap().contains("the last attempt"), "{exceptions:#?}");
    // The same result is asked about again.
    world.simulator.clear_faults();
    assert_eq!(world.shop.confirm(reference, &body).data(200)["transaction"]["status"], "succeeded");
    assert_eq!(waiting(&world, reference), "");
}

/// Whoever pays is known by name only once the webhook comes, which may say that it came to nothing.
fn what_is_pending_can_still_be_refused(kind: StoreKind) {
    let world = World::start(kind);
    for flow in Flow::BOTH {
        let prepared = world.shop.prepare(flow, Wire::Adyen);
        let reference = prepared.reference.as_str();
        let offer = match flow {
            Flow::Component => format!("sessions/{}", prepared.component()["sessionId"].as_str().unwrap()),
            Flow::Hosted => format!("payment_links/{}", prepared.checkout_url().rsplit('/').next().unwrap()),
        };
        let paid = world.simulator.drive(&format!("adyen/{offer}/pay"), &json!({ "holder": "PENDING" }));
        if flow == Flow::Component {
            world.shop.confirm(reference, &json!({ "sessionResult": paid["sessionResult"] })).data(200);
        }
        world.shop.wait_status(reference, "pending");
        wait_waiting(&world, reference, "the payment");
        let payment = paid["id"].as_str().unwrap();
        world.simulator.drive(&format!("adyen/payments/{payment}/settle"), &json!({ "status": "refused" }));
        world.shop.wait_status(reference, "failed");
    }
    assert_eq!(world.shop.listed("exceptions"), Vec::<Value>::new());
}

/// A customer who left one attempt and paid with the next: what ends is the one that was left.
fn that_one_attempt_is_closed_says_nothing_of_another(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let inbox = Inbox::of(&world.simulator);
    let prepared = world.shop.prepare(Flow::Component, Wire::Adyen);
    let reference = prepared.reference.as_str();
    world.simulator.try_pay_session(prepared.component(), "4000000000000002").unwrap();
    let mut letter = inbox.take(&world.simulator).remove(0).json();
    deliver(&world.shop, &letter).data(200);
    world.shop.wait_status(reference, "failed");
    world.restart(|world| world.store.execute("UPDATE card_payments SET expires_at = created_at + 1"));
    let own = item(&mut letter)["pspReference"].clone();
    let mut close = |payment: &Value| {
        item(&mut letter)["eventCode"] = json!("OFFER_CLOSED");
        item(&mut letter)["success"] = json!("true");
        item(&mut letter)["pspReference"] = payment.clone();
        deliver(&world.shop, &letter).data(200);
        world.shop.wait_events(&world.simulator);
        world.shop.read_payment(reference).data(200)["preparation"]["status"].clone()
    };
    assert_eq!(close(&json!("ANOTHER000000001")), "prepared");
    assert_eq!(close(&own), "expired");
}
