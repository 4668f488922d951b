//! Providers' webhooks: believed only when they are genuine, kept before they are answered, applied once, and then only
//! as far as the provider itself confirms them.

mod belief;
mod closing;
mod forgery;
mod kinds;
mod orders;
mod poison;

use std::{
    thread,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::support::{
    Flow, Inbox, Letter, Shop, StoreKind, WAIT_TIMEOUT, Wire, World, on_both_stores, square_signature,
    stripe_signature, unix_seconds, wait_until,
};

on_both_stores! {
    a_signature_is_good_for_five_minutes_to_the_second
    what_is_not_ours_is_ignored_and_what_cannot_be_read_is_parked
    what_was_answered_200_survives_a_kill
    an_event_waits_for_a_provider_that_is_away
    events_are_listed_completely_in_slices_of_any_size
}

/// Everything an operator can see of a shop.
fn everything(shop: &Shop) -> Value {
    let payments = shop.listed("payments");
    let stories: Vec<_> =
        payments.iter().map(|payment| shop.story(payment["serviceReference"].as_str().unwrap())).collect();
    json!({
        "stories": stories, "transactions": shop.listed("transactions"), "exceptions": shop.listed("exceptions"),
        "events": shop.listed("provider-events"),
    })
}

/// The letters about this payment. Square's name its order, which alone has our reference.
fn about<'l>(world: &World, letters: &'l [Letter], reference: &str) -> Vec<&'l Letter> {
    let state = world.simulator.state();
    let payments = state["square"]["payments"].as_array().unwrap();
    let order = payments.iter().find(|payment| payment["order_reference_id"] == reference);
    let name = order.map_or(reference, |payment| payment["order_id"].as_str().unwrap());
    letters.iter().filter(|letter| String::from_utf8_lossy(&letter.body).contains(name)).collect()
}

/// The letter of this kind about this payment.
#[track_caller]
fn letter<'l>(world: &World, letters: &'l [Letter], kind: &str, reference: &str) -> &'l Letter {
    let found = about(world, letters, reference).into_iter().find(|letter| letter.kind() == kind);
    found.unwrap_or_else(|| {
        panic!("no {kind} about {reference} among {:?}", letters.iter().map(Letter::kind).collect::<Vec<_>>())
    })
}

/// The same event with something changed, under a name of its own.
fn altered(letter: &Letter, id: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut body = letter.json();
    body[if letter.wire == Wire::Stripe { "id" } else { "event_id" }] = json!(id);
    change(&mut body);
    body.to_string().into_bytes()
}

/// An event's object.
fn object(body: &mut Value, wire: Wire) -> &mut Value {
    match wire {
        Wire::Stripe => &mut body["data"]["object"],
        Wire::Adyen => panic!("not played here"),
        Wire::Square => &mut body["data"]["object"]["payment"],
    }
}

#[track_caller]
fn wait_event(shop: &Shop, id: &str, state: &str) -> Value {
    let find = || shop.listed("provider-events").into_iter().find(|event| event["eventId"] == id);
    wait_until(&format!("{id} is {state}"), WAIT_TIMEOUT, || {
        find().is_some_and(|event| event["state"] == state)
    });
    find().unwrap()
}

fn a_signature_is_good_for_five_minutes_to_the_second(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let inbox = Inbox::of(&world.simulator);
    let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
    world.simulator.pay_intent(prepared.component());
    let letters = inbox.take(&world.simulator);
    let letter = letter(&world, &letters, "payment_intent.succeeded", &prepared.reference);
    let secret = world.shop.webhook_secret(Wire::Stripe);
    let mut tries = 0;
    for (away, status) in
        [(301, 401), (-301, 401), (3_600, 401), (-3_600, 401), (300, 200), (-300, 200), (0, 200)]
    {
        loop {
            // Soon after a second has begun, so that the server's clock shows the same one: it is the database's, as far as
            // that can be measured.
            let into = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_millis();
            thread::sleep(Duration::from_millis(u64::from(1_300 - into)));
            let now = unix_seconds();
            let header = stripe_signature(&secret, now - away, &letter.body);
            let answer =
                world.shop.post_webhook(Wire::Stripe, &[("stripe-signature", &header)], &letter.body);
            tries += 1;
            if unix_seconds() == now {
                assert_eq!(answer.status, status, "{away} s away: {:?}", answer.json());
                break;
            }
            assert!(tries < 30, "the clock never stood still long enough");
        }
        if status == 401 {
            assert_eq!(world.shop.listed("provider-events").len(), 0, "{away} s away");
        }
    }
    world.shop.wait_status(&prepared.reference, "succeeded");
    assert_eq!(world.shop.listed("provider-events").len(), 1, "the same event three times");
}

fn what_is_not_ours_is_ignored_and_what_cannot_be_read_is_parked(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let (shop, other) = (&world.shop, world.another_shop());
    let inbox = Inbox::of(&world.simulator);
    let theirs = Wire::BOTH.map(|wire| (wire, other.prepare(Flow::Hosted, wire)));
    for (_, prepared) in &theirs {
        world.simulator.pay_page(prepared.checkout_url());
    }
    let letters = inbox.take(&world.simulator);
    for (wire, prepared) in &theirs {
        // Genuinely signed for us, as when two shops share one account at the provider.
        let kind = if *wire == Wire::Stripe { "checkout.session.completed" } else { "payment.updated" };
        let letter = letter(&world, &letters, kind, &prepared.reference);
        let asked = world.simulator.state()["calls"].clone();
        shop.forward(letter);
        if *wire == Wire::Square {
            // A seller has many sales that are none of ours: they leave nothing behind, and nobody is asked about them.
            assert!(
                shop.listed("provider-events").iter().all(|event| event["eventId"] != letter.id().as_str())
            );
            assert_eq!(world.simulator.state()["calls"], asked);
        } else {
            let event = wait_event(shop, &letter.id(), "ignored");
            assert!(
                event["note"].as_str().unwrap().contains("no matching payment in this environment"),
                "{event}"
            );
        }
        assert_eq!(other.status(&prepared.reference), None, "it was not told to them");
    }
    assert_eq!(
        shop.listed("payments").len() + shop.listed("transactions").len() + shop.listed("exceptions").len(),
        0
    );
    // A kind of event that tells nothing.
    let created = letters.iter().find(|letter| letter.kind() == "payment_intent.created").unwrap();
    shop.forward(created);
    wait_event(shop, &created.id(), "ignored");
    for body in [
        "null",
        "[]",
        "{}",
        "{\"id\":\"evt_1\"}",
        "not json",
        "\u{feff}{}",
        "{\"id\":1,\"type\":2,\"data\":3}",
    ] {
        for wire in Wire::BOTH {
            shop.deliver(wire, body.as_bytes()).data(200);
            // The same again is the same.
            shop.deliver(wire, body.as_bytes()).data(200);
        }
    }
    for broken in [
        r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"object":{"amount":1}}}"#.to_owned(),
        r#"{"id":"evt_2","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","amount":-5}}}"#
            .to_owned(),
        r#"{"id":"evt_3","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","amount":1.5}}}"#
            .to_owned(),
        r#"{"id":"","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1"}}}"#.to_owned(),
        format!(
            r#"{{"id":"{}","type":"payment_intent.succeeded","data":{{"object":{{"id":"pi_1"}}}}}}"#,
            "e".repeat(256)
        ),
        format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)),
    ] {
        shop.deliver(Wire::Stripe, broken.as_bytes()).data(200);
    }
    let parked = shop.listed("provider-events?state=parked");
    assert_eq!(parked.len(), 7 * 2 + 6, "{parked:#?}");
    assert!(parked.iter().all(|event| event["type"] == "unreadable"), "{parked:#?}");
    // Nobody there: whatever the signature, and told as a wrong signature is, so that nobody learns who is there.
    let mut client = world.server.client("");
    let forged =
        client.send("POST", &shop.webhook_path(Wire::Stripe), &[("stripe-signature", "t=1,v1=00")], b"{}");
    assert_eq!(forged.failure(401), "unauthenticated");
    let letter = created;
    let environment = "env_00000000000000000000000000";
    for path in [
        format!("/webhooks/v1/{environment}/card_provider_a"),
        format!("/webhooks/v1/{}/card_provider_z", shop.environment),
        format!("/webhooks/v1/{}/CARD_PROVIDER_A", shop.environment),
    ] {
        let signature = shop.sign(Wire::Stripe, &letter.body);
        let answer = client.send("POST", &path, &[("stripe-signature", &signature)], &letter.body);
        assert_eq!(answer.failure(401), "unauthenticated", "{path}");
        assert_eq!(answer.json()["message"], forged.json()["message"], "{path}");
    }
}

/// The provider hangs when it is asked about the event, so that the server is killed with the event kept and not
/// applied.
fn what_was_answered_200_survives_a_kill(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let inbox = Inbox::of(&world.simulator);
    let mut told = Vec::new();
    for (flow, wire) in
        [(Flow::Component, Wire::Stripe), (Flow::Hosted, Wire::Stripe), (Flow::Hosted, Wire::Square)]
    {
        let prepared = world.shop.prepare(flow, wire);
        match flow {
            Flow::Hosted => world.simulator.pay_page(prepared.checkout_url()),
            Flow::Component => world.simulator.pay_intent(prepared.component()),
        }
        told.push((wire, prepared.reference));
    }
    let letters = inbox.take(&world.simulator);
    for wire in Wire::BOTH {
        world.simulator.fault(wire, "*", "timeout_before", 1_000, 6_000);
    }
    for (wire, reference) in &told {
        let kind = if *wire == Wire::Stripe { "payment_intent.succeeded" } else { "payment.updated" };
        world.shop.forward(letter(&world, &letters, kind, reference));
    }
    world.restart(|world| {
        world.simulator.clear_faults();
        world.simulator.send_no_webhooks();
        world.store.end_leases();
    });
    for (_, reference) in &told {
        world.shop.wait_status(reference, "succeeded");
    }
    world.shop.wait_events(&world.simulator);
    let applied = world.shop.listed("provider-events?state=applied");
    assert_eq!(applied.len(), told.len(), "{applied:#?}");
}

fn an_event_waits_for_a_provider_that_is_away(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (flow, wire) in
        [(Flow::Component, Wire::Stripe), (Flow::Hosted, Wire::Stripe), (Flow::Hosted, Wire::Square)]
    {
        let prepared = world.shop.prepare(flow, wire);
        world.simulator.fault(wire, "*", "error_before", 1_000, 0);
        match flow {
            Flow::Hosted => world.simulator.pay_page(prepared.checkout_url()),
            Flow::Component => {
                // The browser is at the provider too.
                world.simulator.clear_faults();
                world.simulator.fault(wire, "payment_intents.retrieve", "error_before", 1_000, 0);
                world.simulator.pay_intent(prepared.component());
            }
        }
        wait_until("an event waits for the provider", WAIT_TIMEOUT, || {
            let waiting = world.shop.listed("provider-events?state=waiting");
            waiting
                .iter()
                .any(|event| event["note"].as_str().is_some_and(|note| note.contains("answered 500")))
        });
        assert_eq!(world.shop.status(&prepared.reference), None);
        world.simulator.clear_faults();
        world.shop.wait_status(&prepared.reference, "succeeded");
        world.shop.wait_events(&world.simulator);
    }
}

fn events_are_listed_completely_in_slices_of_any_size(kind: StoreKind) {
    const EVENTS: usize = 24;
    let world = World::start_without_looks(kind);
    let shop = &world.shop;
    // Many at once, so that several arrive within one millisecond.
    thread::scope(|scope| {
        for number in 0..EVENTS {
            scope.spawn(move || {
                let body =
                    json!({"id": format!("evt_{number}"), "type": "told.nothing", "data": {"object": {}}})
                        .to_string();
                shop.deliver(Wire::Stripe, body.as_bytes()).data(200);
            });
        }
    });
    // Beside them may be what the server has itself look for once a day.
    let told = |data: &Value| -> Vec<Value> {
        let items = data["items"].as_array().unwrap().iter();
        items.filter(|item| item["type"] == "told.nothing").cloned().collect()
    };
    let whole = told(&shop.admin().get(&shop.path("/provider-events?limit=200")).data(200));
    assert_eq!(whole.len(), EVENTS);
    for limit in [1, 2, 5, 23] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        while found.len() <= EVENTS {
            let data =
                shop.admin().get(&shop.path(&format!("/provider-events?limit={limit}{cursor}"))).data(200);
            found.extend(told(&data));
            match data["nextCursor"].as_str() {
                Some(next) => cursor = format!("&before={next}"),
                None => break,
            }
        }
        assert_eq!(found, whole, "in slices of {limit}");
    }
    // The address a provider is told is the one whose signatures are checked.
    let providers = shop.admin().get(&shop.path("/providers")).data(200)["items"].clone();
    for wire in Wire::BOTH {
        let provider = providers.as_array().unwrap().iter().find(|it| it["name"] == wire.provider()).unwrap();
        assert_eq!(provider["webhookUrl"], shop.webhook_url(wire));
        assert_eq!((&provider["ready"], &provider["missing"]), (&json!(true), &json!([])));
    }
    let body = br#"{"event_id":"e","type":"told.nothing"}"#;
    let signature =
        square_signature(&shop.webhook_secret(Wire::Square), &shop.webhook_url(Wire::Square), body);
    let headers = [("X-Square-HmacSha256-Signature", signature.as_str())];
    shop.post_webhook(Wire::Square, &headers, body).data(200);
}
