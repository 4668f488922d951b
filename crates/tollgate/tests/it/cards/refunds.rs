//! Money that goes back, and money that is contested: told by webhook, read at the provider, recorded.

use serde_json::{Value, json};

use crate::support::{Flow, Prepared, StoreKind, WAIT_TIMEOUT, Wire, World, on_both_stores, wait_until};

on_both_stores! {
    refunds_are_counted_and_a_full_one_is_final
    a_refund_that_fails_later_is_taken_back_and_shown_to_a_person
    a_dispute_is_recorded_and_moves_nothing
    a_refund_told_while_nobody_lets_us_in_is_not_lost
    a_refund_whose_webhook_was_lost_is_found
    a_dispute_whose_webhooks_were_lost_is_found
}

/// The control path of a payment at its provider.
fn place(world: &World, prepared: &Prepared, wire: Wire) -> String {
    let transaction = world.shop.read_transaction(&prepared.reference).data(200);
    let id = transaction["providerReference"].as_str().unwrap();
    match wire {
        Wire::Stripe => format!("stripe/payment_intents/{id}"),
        Wire::Adyen => panic!("not played here"),
        Wire::Square => format!("square/payments/{id}"),
    }
}

/// What was reported of a payment, the oldest first.
#[track_caller]
fn events(world: &World, reference: &str) -> Vec<String> {
    let events = world.shop.listed(&format!("events?reference={reference}"));
    events.iter().rev().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

/// Starts the server again when every paid payment is to be checked; `meanwhile` happens while it is down.
fn followed_up(world: &mut World, meanwhile: impl FnOnce(&World)) {
    world.restart(|world| {
        meanwhile(world);
        world.store.execute("UPDATE card_payments SET follow_up_at = 1 WHERE follow_up_at IS NOT NULL");
    });
}

#[track_caller]
fn wait_refunded(world: &World, prepared: &Prepared, amount: &str) -> Value {
    let read = || world.shop.read_transaction(&prepared.reference).data(200);
    world
        .shop
        .wait(&prepared.reference, &format!("refunded by {amount}"), || read()["refundedMinor"] == amount);
    read()
}

fn refunds_are_counted_and_a_full_one_is_final(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (flow, wire) in Flow::BOTH.into_iter().flat_map(|flow| Wire::BOTH.map(|wire| (flow, wire))) {
        let prepared = world.paid(flow, wire);
        let refund = format!("{}/refund", place(&world, &prepared, wire));
        world.simulator.drive(&refund, &json!({"amount": 1_000}));
        let part = wait_refunded(&world, &prepared, "1000");
        assert_eq!((&part["status"], &part["totalDebitMinor"]), (&json!("succeeded"), &json!("10375")));
        world.simulator.drive(&refund, &json!({"amount": 375}));
        assert_eq!(wait_refunded(&world, &prepared, "1375")["status"], "succeeded");
        world.simulator.drive(&refund, &json!({}));
        assert_eq!(wait_refunded(&world, &prepared, "10375")["status"], "refunded");
        world.shop.wait_events(&world.simulator);
        assert_eq!(world.shop.status(&prepared.reference).as_deref(), Some("refunded"), "{flow:?} {wire:?}");
        let amounts: Vec<_> = world
            .shop
            .lines(&prepared.reference, "refund")
            .iter()
            .map(|line| line["detail"]["totalRefundMinor"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(amounts, ["1000", "375", "9000"], "{flow:?} {wire:?}");
        let expected = [
            "payment.prepared",
            "transaction.succeeded",
            "refund.succeeded",
            "refund.succeeded",
            "refund.succeeded",
            "transaction.refunded",
        ];
        assert_eq!(events(&world, &prepared.reference), expected, "{flow:?} {wire:?}");
        // A refunded payment is still a paid one.
        if flow == Flow::Component {
            world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
            let again = world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
            assert_eq!(
                (&again["transaction"]["status"], &again["replayed"]),
                (&json!("refunded"), &json!(true))
            );
        }
        assert_eq!(world.shop.listed("exceptions").len(), 0);
    }
}

fn a_refund_that_fails_later_is_taken_back_and_shown_to_a_person(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let part = world.paid(Flow::Component, Wire::Stripe);
    let refund = world
        .simulator
        .drive(&format!("{}/refund", place(&world, &part, Wire::Stripe)), &json!({"amount": 500}));
    wait_refunded(&world, &part, "500");
    let id = refund["id"].as_str().unwrap();
    world.simulator.drive(&format!("stripe/refunds/{id}/fail"), &json!({}));
    assert_eq!(wait_refunded(&world, &part, "0")["status"], "succeeded");
    assert_eq!(events(&world, &part.reference)[2..], ["refund.succeeded", "refund.failed"]);

    let exception = &world.shop.listed("exceptions?open=true")[0];
    let resolve = world.shop.path(&format!("/exceptions/{}/resolve", exception["id"].as_str().unwrap()));
    world.shop.admin().post(&resolve, &json!({"note": "seen"})).data(200);

    // What was refunded whole is paid again.
    let whole = world.paid(Flow::Component, Wire::Stripe);
    let refund =
        world.simulator.drive(&format!("{}/refund", place(&world, &whole, Wire::Stripe)), &json!({}));
    wait_refunded(&world, &whole, "10375");
    let id = refund["id"].as_str().unwrap();
    world.simulator.drive(&format!("stripe/refunds/{id}/fail"), &json!({}));
    world.shop.wait(&whole.reference, "shown to a person", || {
        !world.shop.listed("exceptions?open=true").is_empty()
    });
    world.shop.wait_events(&world.simulator);
    let exceptions = world.shop.listed("exceptions?open=true");
    assert_eq!(exceptions.len(), 1, "three events tell of one thing: {exceptions:#?}");
    let exception = &exceptions[0];
    assert_eq!(
        (&exception["kind"], &exception["serviceReference"]),
        (&json!("refund_reversed"), &json!(whole.reference))
    );
    for (word, status) in [("expected", "succeeded"), ("found", "failed")] {
        assert!(exception[word].as_str().unwrap().ends_with(status), "{exception:#}");
    }
    assert_eq!(world.shop.status(&whole.reference).as_deref(), Some("succeeded"));
    assert_eq!(
        events(&world, &whole.reference)[2..],
        ["refund.succeeded", "transaction.refunded", "refund.failed", "transaction.succeeded"]
    );

    let resolve = world.shop.path(&format!("/exceptions/{}/resolve", exception["id"].as_str().unwrap()));
    assert_eq!(world.shop.admin().post(&resolve, &json!({})).faulty_fields(), ["note"]);
    world.shop.admin().post(&resolve, &json!({"note": "the bank was called"})).data(200);
    world.shop.admin().post(&resolve, &json!({"note": "called again"})).data(200);
    assert_eq!(world.shop.listed("exceptions?open=true").len(), 0);
    let all = world.shop.listed("exceptions");
    let resolved = all.iter().find(|one| one["serviceReference"] == whole.reference.as_str()).unwrap();
    assert_eq!(resolved["resolution"]["note"], "the bank was called", "the first word stays");
    let story = world.shop.story(&whole.reference);
    assert_eq!(story["exceptions"], json!([resolved]));
}

fn a_dispute_is_recorded_and_moves_nothing(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (wire, outcome) in
        [(Wire::Stripe, "won"), (Wire::Stripe, "lost"), (Wire::Square, "won"), (Wire::Square, "lost")]
    {
        let (objects, word): (_, fn(&str) -> String) = match wire {
            Wire::Stripe => ("stripe/disputes", str::to_owned),
            Wire::Adyen => panic!("not played here"),
            Wire::Square => ("square/disputes", str::to_ascii_uppercase),
        };
        let prepared = world.paid(Flow::Hosted, wire);
        let reference = prepared.reference.as_str();
        let path = format!("{}/dispute", place(&world, &prepared, wire));
        let dispute = world.simulator.drive(&path, &json!({ "reason": "DUPLICATE" }));
        let read = || world.shop.read_transaction(reference).data(200);
        world.shop.wait(reference, "disputed", || !read()["dispute"].is_null());
        let shown = read()["dispute"].clone();
        let total = read()["totalDebitMinor"].clone();
        assert_eq!(
            (&shown["id"], &shown["reason"], &shown["amountMinor"]),
            (&dispute["id"], &json!("DUPLICATE"), &total)
        );
        let due = shown["respondBy"].as_str().unwrap();
        match dispute["due_at"].as_str() {
            Some(named) => assert_eq!(due[..19], named[..19]),
            None => {
                assert!(dispute["evidence_details"]["due_by"].as_i64().is_some() && due.contains(".000"));
            }
        }
        assert_eq!(read()["status"], "succeeded");
        let held = |reference: &str| {
            let story = world.shop.story(reference);
            let postings = story["postings"].as_array().unwrap().clone();
            let entries = postings.iter().flat_map(|posting| posting["entries"].as_array().unwrap().clone());
            let held = entries.filter(|entry| entry["account"] == "disputes_held");
            held.map(|entry| entry["amountMinor"].as_str().unwrap().parse::<i64>().unwrap()).sum::<i64>()
        };
        assert_eq!(held(reference).to_string(), total.as_str().unwrap());
        let path = format!("{objects}/{}", dispute["id"].as_str().unwrap());
        world.simulator.drive(&format!("{path}/review"), &json!({}));
        let waiting = if wire == Wire::Stripe { "under_review" } else { "PROCESSING" };
        world.shop.wait(reference, "under review", || read()["dispute"]["status"] == waiting);
        world.simulator.drive(&format!("{path}/close"), &json!({ "status": outcome }));
        world.shop.wait(reference, outcome, || read()["dispute"]["status"] == word(outcome));
        world.shop.wait_events(&world.simulator);
        assert_eq!((read()["status"].as_str(), held(reference)), (Some("succeeded"), 0));
        let lines = world.shop.lines(reference, "dispute");
        assert_eq!(lines.len(), 3, "{lines:#?}");
        let expected = [
            "payment.prepared",
            "transaction.succeeded",
            "dispute.opened",
            "dispute.updated",
            "dispute.closed",
        ];
        assert_eq!(events(&world, reference), expected);
    }
    let audit = world.shop.admin().get("/admin/v1/audit?full=true").data(200);
    assert_eq!(audit["findings"], json!([]), "{audit:#}");
}

/// The credentials are being replaced when the provider tells of a refund. Nothing looks at a paid payment by itself,
/// so that the event is all there is.
fn a_refund_told_while_nobody_lets_us_in_is_not_lost(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let good = world.shop.document(world.simulator.address());
    let mut wrong = good.clone();
    wrong["providers"]["card_provider_a"]["credentials"]["secretKey"] = json!("sk_test_revoked");
    wrong["providers"]["card_provider_b"]["credentials"]["accessToken"] = json!("revoked");
    for wire in Wire::BOTH {
        let prepared = world.paid(Flow::Component, wire);
        world.shop.wait_events(&world.simulator);
        let refund = format!("{}/refund", place(&world, &prepared, wire));
        world.shop.configure(&wrong);
        world.simulator.drive(&refund, &json!({}));
        world.shop.wait(&prepared.reference, "told of its refund", || {
            let waiting = world.shop.listed("provider-events?state=waiting");
            waiting
                .iter()
                .any(|event| event["note"].as_str().is_some_and(|note| note.contains("credentials")))
        });
        assert_eq!(world.shop.status(&prepared.reference).as_deref(), Some("succeeded"));
        world.shop.configure(&good);
        world.shop.wait_status(&prepared.reference, "refunded");
        world.shop.wait_events(&world.simulator);
    }
}

fn a_refund_whose_webhook_was_lost_is_found(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let ways: Vec<_> = Flow::BOTH.into_iter().flat_map(|flow| Wire::BOTH.map(|wire| (flow, wire))).collect();
    let paid: Vec<_> = ways.iter().map(|(flow, wire)| (*wire, world.paid(*flow, *wire))).collect();
    world.shop.wait_events(&world.simulator);
    world.simulator.send_no_webhooks();
    let refund = |world: &World, body: &Value| {
        for (wire, prepared) in &paid {
            world.simulator.drive(&format!("{}/refund", place(world, prepared, *wire)), body);
        }
    };
    refund(&world, &json!({"amount": 1_000}));
    followed_up(&mut world, |_| {});
    for (_, prepared) in &paid {
        assert_eq!(wait_refunded(&world, prepared, "1000")["status"], "succeeded");
        let expected = ["payment.prepared", "transaction.succeeded", "refund.succeeded"];
        assert_eq!(events(&world, &prepared.reference), expected);
    }
    // A check that finds nothing new leaves no trace, and one that gets no answer does not wait for anybody.
    let stories: Vec<_> = paid.iter().map(|(_, prepared)| world.shop.story(&prepared.reference)).collect();
    let calls = |world: &World| {
        let of = |wire, operation| world.simulator.calls(wire, operation);
        of(Wire::Stripe, "payment_intents.retrieve")
            + of(Wire::Stripe, "checkout.sessions.retrieve")
            + of(Wire::Square, "payments.get")
    };
    for is_away in [false, true] {
        let before = calls(&world);
        if is_away {
            for wire in Wire::BOTH {
                world.simulator.fault(wire, "*", "error_before", 1_000, 0);
            }
        }
        followed_up(&mut world, |_| {});
        wait_until("every payment is checked", WAIT_TIMEOUT, || calls(&world) >= before + 4);
        assert_eq!(world.shop.listed("payments?waiting=true").len(), 0);
        for ((_, prepared), story) in paid.iter().zip(&stories) {
            assert_eq!(world.shop.story(&prepared.reference)["timeline"], story["timeline"]);
        }
    }
    world.simulator.clear_faults();
    refund(&world, &json!({}));
    followed_up(&mut world, |_| {});
    for (_, prepared) in &paid {
        assert_eq!(wait_refunded(&world, prepared, "10375")["status"], "refunded");
    }
}

fn a_dispute_whose_webhooks_were_lost_is_found(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let prepared = world.paid(Flow::Component, Wire::Stripe);
    let reference = prepared.reference.as_str();
    world.shop.wait_events(&world.simulator);
    world.simulator.send_no_webhooks();
    let path = format!("{}/dispute", place(&world, &prepared, Wire::Stripe));
    let dispute = world.simulator.drive(&path, &json!({}))["id"].as_str().unwrap().to_owned();
    let wait = |world: &World, status: &str| {
        world.shop.wait(reference, status, || {
            world.shop.read_transaction(reference).data(200)["dispute"]["status"] == status
        });
    };
    followed_up(&mut world, |_| {});
    wait(&world, "needs_response");
    followed_up(&mut world, |world| {
        world.simulator.drive(&format!("stripe/disputes/{dispute}/close"), &json!({"status": "won"}));
    });
    wait(&world, "won");
    assert_eq!(events(&world, reference)[2..], ["dispute.opened", "dispute.closed"]);
}
