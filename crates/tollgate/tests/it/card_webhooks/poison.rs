//! Signed webhooks that no database can hold, and stored ones that cannot be applied.

use serde_json::{Value, json};

use crate::support::{Shop, StoreKind, WAIT_TIMEOUT, Wire, World, on_both_stores, wait_until};

on_both_stores! {
    names_that_cannot_be_stored_are_parked
    what_matches_nothing_is_ignored
    an_event_that_keeps_failing_is_parked_until_it_is_retried
}

fn event(id: &str, kind: &str, object: &str) -> Value {
    json!({
        "id": id, "object": "event", "type": kind,
        "data": {"object": {
            "id": object, "object": "payment_intent", "amount": 100, "currency": "usd",
            "metadata": {"tollgate_reference": format!("pay_{object}")},
        }},
    })
}

fn deliver(shop: &Shop, event: &Value) -> crate::support::Answer {
    shop.deliver(Wire::Stripe, event.to_string().as_bytes())
}

fn state(shop: &Shop, id: &str) -> Option<String> {
    let events = shop.listed("provider-events");
    let event = events.iter().find(|event| event["eventId"] == id)?;
    event["state"].as_str().map(str::to_owned)
}

#[track_caller]
fn wait_state(shop: &Shop, id: &str, wanted: &str) {
    wait_until(&format!("{id} is {wanted}"), WAIT_TIMEOUT, || state(shop, id).as_deref() == Some(wanted));
}

fn names_that_cannot_be_stored_are_parked(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let long = "e".repeat(256);
    for (id, kind) in [
        ("evt_\0", "payment_intent.succeeded"),
        ("\0", "payment_intent.succeeded"),
        ("evt_1", "payment_intent.succeeded\0"),
        ("evt_1", "something.else\0"),
        ("", "something.else"),
        (&long, "something.else"),
    ] {
        deliver(&world.shop, &event(id, kind, "pi_1")).data(200);
    }
    let kept = world.shop.listed("provider-events");
    assert_eq!(kept.len(), 6);
    for event in kept {
        assert_eq!((&event["state"], &event["type"]), (&json!("parked"), &json!("unreadable")), "{event}");
        assert!(event["note"].as_str().unwrap().contains("without NUL"), "{event}");
        // Tried again, it cannot be read either, and says so.
        let (provider, id) = (event["provider"].as_str().unwrap(), event["eventId"].as_str().unwrap());
        let path = world.shop.path(&format!("/provider-events/{provider}/{id}/retry"));
        world.shop.admin().post(&path, &json!({})).data(200);
        wait_state(&world.shop, id, "parked");
        let again = world.shop.listed("provider-events").into_iter().find(|it| it["eventId"] == id).unwrap();
        assert_eq!(again["note"], event["note"]);
    }
}

/// Whatever is in its other words, an event that is about nothing of ours is ignored after a few looks.
fn what_matches_nothing_is_ignored(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (id, object) in [("evt_object", "pi_\0"), ("evt_plain", "pi_unknown")] {
        deliver(&world.shop, &event(id, "payment_intent.succeeded", object)).data(200);
    }
    let mut dispute = event("evt_dispute", "charge.dispute.created", "dp_\0");
    dispute["data"]["object"]["charge"] = json!("ch_\0");
    dispute["data"]["object"]["status"] = json!("lost\0");
    deliver(&world.shop, &dispute).data(200);
    for id in ["evt_object", "evt_plain", "evt_dispute"] {
        wait_state(&world.shop, id, "ignored");
    }
}

fn an_event_that_keeps_failing_is_parked_until_it_is_retried(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    deliver(&world.shop, &event("evt_poison", "payment_intent.succeeded", "pi_unknown")).data(200);
    wait_state(&world.shop, "evt_poison", "ignored");
    world.restart(|world| {
        world.store.execute(
            "UPDATE provider_events SET notice = 'x' || notice, state = 'waiting', due_at = 0, tries = 4",
        );
    });
    wait_state(&world.shop, "evt_poison", "parked");
    let parked = world.shop.listed("provider-events?state=parked");
    assert_eq!(parked.len(), 1);
    assert_eq!((&parked[0]["nextTryAt"], &parked[0]["eventId"]), (&Value::Null, &json!("evt_poison")));
    assert!(parked[0]["note"].as_str().unwrap().starts_with("cannot be applied: "), "{parked:?}");
    let doctor = world.shop.admin().get("/admin/v1/doctor").data(200).to_string();
    assert!(doctor.contains("1 provider event failed too often and is parked"), "{doctor}");

    world.restart(|world| world.store.execute("UPDATE provider_events SET notice = substr(notice, 2)"));
    let provider = parked[0]["provider"].as_str().unwrap();
    let retry = |id: &str| {
        let path = world.shop.path(&format!("/provider-events/{provider}/{id}/retry"));
        world.shop.admin().post(&path, &json!({}))
    };
    for unknown in ["evt_other", "%00", "evt_poison%00"] {
        assert_eq!(retry(unknown).failure(404), "not_found", "{unknown}");
    }
    assert_eq!(retry("evt_poison").data(200), json!({"retried": true}));
    wait_state(&world.shop, "evt_poison", "ignored");
    assert_eq!(retry("evt_poison").failure(404), "not_found", "only what is parked");
}
