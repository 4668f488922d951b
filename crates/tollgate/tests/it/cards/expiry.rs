//! Preparations nobody pays: closed at the provider first, then here; and what was paid after all counts.
//!
//! A lifetime is a minute at least, so that the tests set the clock forward by setting the rows back while the server
//! is stopped.

use serde_json::{Value, json};

use crate::support::{DECLINED_CARD, Flow, Prepared, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    what_nobody_pays_is_closed_at_the_provider_and_then_here
    what_was_paid_after_all_is_recorded
    what_was_declined_expires_and_stays_failed
    a_customer_who_never_proved_who_they_are_is_canceled
    a_provider_that_is_away_is_waited_for
    what_the_provider_closes_expires_here
    money_on_its_way_does_not_expire
    a_voucher_in_the_customers_hand_does_not_expire
    the_lifetime_is_what_the_environment_says
    the_clock_decides_before_anything_is_closed
    a_card_that_waited_for_another_is_not_charged_too_late
    a_payment_its_provider_has_forgotten_does_not_stay_pending
    a_hosted_page_is_not_promised_for_longer_than_it_lives
}

/// Every combination of flow and wire.
fn ways() -> Vec<(Flow, Wire)> {
    Flow::BOTH.into_iter().flat_map(|flow| Wire::BOTH.map(|wire| (flow, wire))).collect()
}

/// Starts the server again in a time when everything unpaid is overdue; `meanwhile` happens while it is down.
fn long_after(world: &mut World, meanwhile: impl FnOnce(&World)) {
    world.restart(|world| {
        meanwhile(world);
        world.store.execute(
            "UPDATE card_payments SET expires_at = created_at + 1, due_at = 1 WHERE due_at IS NOT NULL",
        );
    });
}

#[track_caller]
fn check_expired(world: &World, prepared: &Prepared, flow: Flow) {
    let reference = prepared.reference.as_str();
    let read = world.shop.read_payment(reference).data(200);
    assert_eq!(
        (&read["preparation"]["status"], &read["serviceReference"]),
        (&json!("expired"), &json!(reference))
    );
    assert_eq!(read["status"], *read.pointer("/transaction/status").unwrap_or(&json!("expired")));
    let body = if flow == Flow::Hosted { json!({}) } else { prepared.confirm_body() };
    assert_eq!(world.shop.confirm(reference, &body).failure(409), "payment_not_confirmable");
    let truth = world.simulator.truth(reference);
    assert_eq!((truth.charged, truth.payable), (0, 0), "{truth:?}");
    assert_eq!(world.shop.story(reference)["nextCheckAt"], Value::Null, "there is nothing left to do");
}

fn what_nobody_pays_is_closed_at_the_provider_and_then_here(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let prepared: Vec<_> =
        ways().into_iter().map(|(flow, wire)| (flow, wire, world.shop.prepare(flow, wire))).collect();
    long_after(&mut world, |_| {});
    for (flow, wire, prepared) in &prepared {
        let reference = prepared.reference.as_str();
        world.shop.wait_preparation(reference, "expired");
        world.shop.wait_events(&world.simulator);
        check_expired(&world, prepared, *flow);
        assert_eq!(world.shop.read_transaction(reference).failure(404), "not_paid_yet");
        assert_eq!(world.shop.read_payment(reference).data(200)["transaction"], Value::Null);
        // The provider was asked first, also where its webhook was faster than its answer.
        if (*flow, *wire) != (Flow::Component, Wire::Square) {
            world.shop.wait(reference, "told of whole", || {
                world.shop.lines(reference, "provider_call").iter().any(|line| line["requestId"].is_null())
            });
        }
        let story = world.shop.story(reference);
        let lines = story["timeline"].as_array().unwrap();
        let at = |wanted: &dyn Fn(&Value) -> bool| {
            lines.iter().find(|line| wanted(line)).map(|line| line["at"].as_str().unwrap())
        };
        let ended = at(&|line| line["kind"] == "preparation" && line["detail"]["to"] == "expired").unwrap();
        let closed = at(&|line| {
            let operation = line["detail"]["operation"].as_str().unwrap_or_default();
            ["checkout.sessions.expire", "payment_intents.cancel", "payment_links.delete"]
                .contains(&operation)
        });
        match (flow, wire) {
            (Flow::Component, Wire::Square) => assert_eq!(closed, None, "the provider never heard of it"),
            _ => assert!(closed.is_some_and(|closed| closed <= ended), "{story:#}"),
        }
        if *flow == Flow::Hosted {
            let page = world.simulator.submit(prepared.checkout_url(), crate::support::GOOD_CARD).status;
            assert!(page == 410 || page == 404, "the page still answers {page}");
        }
    }
    assert_eq!(world.shop.listed("transactions").len(), 0);
}

fn what_was_paid_after_all_is_recorded(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    world.simulator.send_no_webhooks();
    let ways = [(Flow::Hosted, Wire::Stripe), (Flow::Hosted, Wire::Square), (Flow::Component, Wire::Stripe)];
    let prepared = ways.map(|(flow, wire)| world.shop.prepare(flow, wire));
    long_after(&mut world, |world| {
        world.simulator.pay_page(prepared[0].checkout_url());
        world.simulator.pay_page(prepared[1].checkout_url());
        world.simulator.pay_intent(prepared[2].component());
    });
    for prepared in &prepared {
        world.shop.wait_status(&prepared.reference, "succeeded");
        let read = world.shop.read_payment(&prepared.reference).data(200);
        assert_eq!(
            (&read["status"], &read["preparation"]["status"], &read["transaction"]["status"]),
            (&json!("succeeded"), &json!("prepared"), &json!("succeeded"))
        );
        assert_eq!(world.simulator.truth(&prepared.reference).charged, 1);
    }
    let confirmed = world.shop.confirm(&prepared[2].reference, &prepared[2].confirm_body()).data(200);
    assert_eq!(confirmed["transaction"]["status"], "succeeded");
}

fn what_was_declined_expires_and_stays_failed(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let mut failed = Vec::new();
    for (flow, wire) in ways() {
        let prepared = world.shop.prepare(flow, wire);
        match (flow, wire) {
            (Flow::Hosted, _) => drop(world.simulator.submit(prepared.checkout_url(), DECLINED_CARD)),
            (_, Wire::Stripe) => {
                drop(world.simulator.confirm_intent(prepared.component(), "pm_card_chargeDeclined"));
            }
            (_, Wire::Square) => {
                drop(
                    world.shop.confirm(&prepared.reference, &json!({"sourceId": "cnon:card-nonce-declined"})),
                );
            }
            (_, Wire::Adyen) => {
                drop(world.simulator.try_pay_session(prepared.component(), "4000000000000002"));
            }
        }
        world.shop.wait_status(&prepared.reference, "failed");
        failed.push((flow, prepared));
    }
    world.shop.wait_events(&world.simulator);
    long_after(&mut world, |_| {});
    for (flow, prepared) in &failed {
        world.shop.wait_preparation(&prepared.reference, "expired");
        check_expired(&world, prepared, *flow);
        world.shop.wait_events(&world.simulator);
        let transaction = world.shop.read_transaction(&prepared.reference).data(200);
        assert_eq!(
            (&transaction["status"], &transaction["failure"]["code"]),
            (&json!("failed"), &json!("card_declined"))
        );
    }
}

fn a_customer_who_never_proved_who_they_are_is_canceled(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
    world.simulator.confirm_intent(prepared.component(), "pm_card_authenticationRequired");
    let confirmed = world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    assert_eq!(confirmed["transaction"]["status"], "pending");
    long_after(&mut world, |_| {});
    world.shop.wait_status(&prepared.reference, "canceled");
    world.shop.wait_preparation(&prepared.reference, "expired");
    check_expired(&world, &prepared, Flow::Component);
}

fn a_provider_that_is_away_is_waited_for(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let prepared: Vec<_> =
        [(Flow::Hosted, Wire::Stripe), (Flow::Hosted, Wire::Square), (Flow::Component, Wire::Stripe)]
            .into_iter()
            .map(|(flow, wire)| (flow, world.shop.prepare(flow, wire)))
            .collect();
    for wire in Wire::BOTH {
        world.simulator.fault(wire, "*", "error_before", 1_000, 0);
    }
    long_after(&mut world, |_| {});
    for (_, prepared) in &prepared {
        let reference = prepared.reference.as_str();
        world.shop.wait(reference, "tried", || !world.shop.lines(reference, "provider_call")[1..].is_empty());
        let story = world.shop.story(reference);
        assert_eq!(story["preparation"]["status"], "prepared", "not expired here while it can be paid there");
        assert!(story["waitingFor"].as_str().is_some_and(|reason| reason.contains("500")), "{story:#}");
    }
    let waiting = world.shop.listed("payments?waiting=true");
    assert_eq!(waiting.len(), prepared.len(), "an operator sees what waits");
    world.simulator.clear_faults();
    for (flow, prepared) in &prepared {
        world.shop.wait_preparation(&prepared.reference, "expired");
        check_expired(&world, prepared, *flow);
    }
}

fn what_the_provider_closes_expires_here(kind: StoreKind) {
    let world = World::start(kind);
    let session = world.shop.prepare(Flow::Hosted, Wire::Stripe);
    let intent = world.shop.prepare(Flow::Component, Wire::Stripe);
    let link = world.shop.prepare(Flow::Hosted, Wire::Square);
    let object = |prepared: &Prepared| {
        world.shop.story(&prepared.reference)["providerObject"].as_str().unwrap().to_owned()
    };
    let mut stripe = world.simulator.client(crate::support::STRIPE_KEY);
    let mut square = world.simulator.client(crate::support::SQUARE_TOKEN);
    for (path, prepared) in [
        (format!("/stripe/v1/checkout/sessions/{}/expire", object(&session)), &session),
        (format!("/stripe/v1/payment_intents/{}/cancel", object(&intent)), &intent),
    ] {
        assert_eq!(stripe.send("POST", &path, &[], b"").status, 200);
        world.shop.wait_preparation(&prepared.reference, "expired");
    }
    let path = format!("/square/v2/online-checkout/payment-links/{}", object(&link));
    assert_eq!(square.delete(&path).status, 200);
    world.shop.wait_preparation(&link.reference, "expired");
    for (prepared, flow) in [(&session, Flow::Hosted), (&intent, Flow::Component), (&link, Flow::Hosted)] {
        check_expired(&world, prepared, flow);
        assert_eq!(world.shop.status(&prepared.reference), None);
    }
}

fn money_on_its_way_does_not_expire(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    take_slow_methods(&world);
    let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
    world.simulator.confirm_intent(prepared.component(), "pm_usBankAccount_success");
    world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    let calls = world.simulator.calls(Wire::Stripe, "payment_intents.retrieve");
    long_after(&mut world, |_| {});
    crate::support::wait_until("the resolver looked", crate::support::WAIT_TIMEOUT, || {
        world.simulator.calls(Wire::Stripe, "payment_intents.retrieve") > calls
    });
    assert_eq!(world.simulator.calls(Wire::Stripe, "payment_intents.cancel"), 0);
    assert_eq!(world.shop.status(&prepared.reference).as_deref(), Some("processing"));
    let intent = prepared.component()["paymentIntentId"].as_str().unwrap();
    world.simulator.drive(&format!("stripe/payment_intents/{intent}/settle"), &json!({}));
    world.shop.wait_status(&prepared.reference, "succeeded");
}

fn take_slow_methods(world: &World) {
    let mut document = world.shop.document(world.simulator.address());
    document["providers"]["card_provider_a"]["options"] =
        json!({"paymentMethods": ["card", "us_bank_account", "oxxo"]});
    world.shop.configure(&document);
}

/// The customer has a voucher in hand and may be paying it at this moment; nobody has told us.
fn a_voucher_in_the_customers_hand_does_not_expire(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    world.simulator.send_no_webhooks();
    take_slow_methods(&world);
    let body = json!({"amountMinor": "20000", "currency": "MXN"});
    let prepared = crate::support::Prepared::of(&world.shop.client().post(Flow::Component.path(), &body));
    let taken = world.simulator.confirm_intent_by(prepared.component(), "payment_method_data[type]=oxxo");
    assert_eq!(taken.json()["status"], "requires_action");
    // By now vouchers are not taken anymore; this one was.
    world.shop.configure(&world.shop.document(world.simulator.address()));
    long_after(&mut world, |_| {});
    world.shop.wait_status(&prepared.reference, "processing");
    assert_eq!(world.simulator.calls(Wire::Stripe, "payment_intents.cancel"), 0);
    let intent = prepared.component()["paymentIntentId"].as_str().unwrap();
    world.simulator.drive(&format!("stripe/payment_intents/{intent}/settle"), &json!({}));
    world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    world.shop.wait_status(&prepared.reference, "succeeded");
}

fn the_lifetime_is_what_the_environment_says(kind: StoreKind) {
    let world = World::start(kind);
    let seconds = |time: &Value| {
        let text = time.as_str().unwrap();
        let part = |range: std::ops::Range<usize>| text[range].parse::<i64>().unwrap();
        // Within a month is enough here.
        ((part(8..10) * 24 + part(11..13)) * 60 + part(14..16)) * 60 + part(17..19)
    };
    let mut document = world.shop.document(world.simulator.address());
    for (setting, lifetime) in [(Value::Null, 86_400), (json!(60), 60), (json!(7_200), 7_200)] {
        document["settings"] = json!({"preparationLifetimeSeconds": setting});
        world.shop.configure(&document);
        let data = world.shop.prepare(Flow::Component, Wire::Square).data;
        let lived = seconds(&data["expiresAt"]) - seconds(&data["preparedAt"]);
        // At the end of a month the days begin again.
        assert!(lived == lifetime || lived < 0, "{lived} s for {setting}");
    }
    for wrong in [json!(59), json!(2_592_001), json!("60"), json!(-1)] {
        document["settings"] = json!({"preparationLifetimeSeconds": wrong});
        let answer = world.shop.admin().put(&world.shop.path("/config"), &document);
        assert_eq!(answer.status, 400, "{wrong}");
    }
}

/// Everything has expired, and nothing is about to close it.
fn unswept(world: &mut World) {
    world.restart(|world| {
        world.store.execute("UPDATE card_payments SET expires_at = created_at + 1, due_at = 99999999999999");
    });
}

fn the_clock_decides_before_anything_is_closed(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    world.simulator.send_no_webhooks();
    let token = world.simulator.card_token("4242424242424242");
    let shop = world.shop.clone();
    let [unpaid, declined, charged] = [(); 3].map(|()| shop.prepare(Flow::Component, Wire::Square));
    let [element, element_paid] = [(); 2].map(|()| shop.prepare(Flow::Component, Wire::Stripe));
    shop.confirm(&declined.reference, &json!({"sourceId": "cnon:card-nonce-declined"})).data(200);
    let first = shop.confirm(&charged.reference, &charged.confirm_body()).data(200);
    world.simulator.pay_intent(element_paid.component());
    unswept(&mut world);
    let calls = world.simulator.calls(Wire::Square, "payments.create");
    for prepared in [&unpaid, &declined] {
        let answer = shop.confirm(&prepared.reference, &json!({ "sourceId": token }));
        assert_eq!(answer.failure(409), "payment_not_confirmable");
        assert_eq!(shop.story(&prepared.reference)["preparation"]["status"], "prepared", "not swept yet");
    }
    assert_eq!(
        shop.confirm(&element.reference, &element.confirm_body()).failure(409),
        "payment_not_confirmable"
    );
    assert_eq!(shop.status(&element.reference), None);
    assert_eq!(world.simulator.calls(Wire::Square, "payments.create"), calls);
    // What was paid in time is answered as before, also where this is the first that is heard of it.
    let again = shop.confirm(&charged.reference, &charged.confirm_body()).data(200);
    assert_eq!((&again["transaction"], &again["replayed"]), (&first["transaction"], &json!(true)));
    let late = shop.confirm(&element_paid.reference, &element_paid.confirm_body()).data(200);
    assert_eq!(late["transaction"]["status"], "succeeded");
}

/// Two customers at once, with seconds to go: the second waits for the first, and the time is over when it gets its turn.
fn a_card_that_waited_for_another_is_not_charged_too_late(kind: StoreKind) {
    let mut world = World::start_with(kind, |store| {
        store
            .serve_without_looks()
            .with("TOLLGATE_PROVIDER_TIMEOUT_MS", "25000")
            .with("TOLLGATE_PROVIDER_DEADLINE_MS", "30000")
            .with("TOLLGATE_RESOLVER_LEASE_MS", "70000")
    });
    let prepared = world.shop.prepare(Flow::Component, Wire::Square);
    let reference = prepared.reference.as_str();
    let now = || jiff::Timestamp::now().as_millisecond();
    let ends = now() + 14_000;
    world.restart(|world| {
        world.store.execute(&format!("UPDATE card_payments SET expires_at = {ends}, due_at = {ends}"));
    });
    let simulator = &world.simulator;
    // However long the restart took, the first is answered after the end, and the second does not wait in vain.
    let left = |until: i64| u64::try_from(until - now()).unwrap_or(0);
    std::thread::sleep(std::time::Duration::from_millis(left(ends - 9_000)));
    let delay_ms = left(ends + 2_000);
    simulator.fault(Wire::Square, "payments.create", "slow", 1, delay_ms);
    let good = simulator.card_token("4242424242424242");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            world.shop.confirm(reference, &json!({"sourceId": "cnon:card-nonce-declined"})).data(200)
        });
        crate::support::wait_until("the first is at the provider", crate::support::WAIT_TIMEOUT, || {
            simulator.calls(Wire::Square, "payments.create") > 0
        });
        let second = world.shop.confirm(reference, &json!({ "sourceId": good }));
        assert_eq!(second.failure(409), "payment_not_confirmable");
        assert_eq!(first.join().unwrap()["transaction"]["status"], "failed");
    });
    assert_eq!(simulator.truth(reference).charged, 0);
    world.shop.wait_preparation(reference, "expired");
}

fn a_payment_its_provider_has_forgotten_does_not_stay_pending(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
    let confirmed = world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    assert_eq!(confirmed["transaction"]["status"], "pending");
    world.simulator.control("POST", "reset", &json!({}));
    long_after(&mut world, |_| {});
    world.shop.wait_preparation(&prepared.reference, "expired");
    world.shop.wait_status(&prepared.reference, "canceled");
    assert_eq!(world.shop.story(&prepared.reference)["nextCheckAt"], Value::Null);
}

fn a_hosted_page_is_not_promised_for_longer_than_it_lives(kind: StoreKind) {
    let world = World::start(kind);
    let mut document = world.shop.document(world.simulator.address());
    for setting in [Value::Null, json!(7_200), json!(2_592_000)] {
        document["settings"] = json!({"preparationLifetimeSeconds": setting});
        world.shop.configure(&document);
        let prepared = world.shop.prepare(Flow::Hosted, Wire::Stripe);
        let session = world.shop.story(&prepared.reference)["providerObject"].as_str().unwrap().to_owned();
        let path = format!("/stripe/v1/checkout/sessions/{session}");
        let session = world.simulator.client(crate::support::STRIPE_KEY).get(&path).json();
        let promised: jiff::Timestamp = prepared.data["expiresAt"].as_str().unwrap().parse().unwrap();
        let lives = session["expires_at"].as_i64().unwrap() * 1_000;
        assert!(promised.as_millisecond() <= lives, "{setting}: {promised} and {lives}");
        assert!(lives < promised.as_millisecond() + 2_000, "{setting}: {promised} and {lives}");
    }
}
