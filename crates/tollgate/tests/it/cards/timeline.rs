//! What an operator reads about one payment: the request, every rule that was tried, the fee step by step, every call to
//! the provider, every webhook, every status, each with the request that caused it.

use serde_json::{Value, json};

use crate::support::{Flow, Prepared, Shop, StoreKind, Wire, World, on_both_stores};

on_both_stores! {
    a_story_is_told_from_the_request_to_the_refund
    a_story_shows_every_try_at_a_provider
}

fn line_of<'v>(story: &'v Value, kind: &str) -> Vec<&'v Value> {
    story["timeline"].as_array().unwrap().iter().filter(|line| line["kind"] == kind).collect()
}

fn a_story_is_told_from_the_request_to_the_refund(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let shop = &world.shop;
    let body = json!({
        "amountMinor": "10000", "currency": "USD", "description": "Tea", "metadata": {"wire": "square", "order": 7},
        "customer": {"name": "Jo", "email": "jo@shop.example"},
    });
    let answer = shop.client().post(Flow::Component.path(), &body);
    let preparing = answer.headers["request-id"].clone();
    let prepared = Prepared::of(&answer);
    let reference = prepared.reference.as_str();
    // A webhook may be faster than the answer to the very call that it is about, and would be the one to say so.
    world.simulator.send_no_webhooks();
    let declined = shop.confirm(reference, &json!({"sourceId": "cnon:card-nonce-declined"}));
    declined.data(200);
    let paid = shop.confirm(reference, &json!({"sourceId": "cnon:card-nonce-ok"}));
    let transaction = paid.data(200)["transaction"].clone();
    let (url, secret) = (shop.webhook_url(Wire::Square), shop.webhook_secret(Wire::Square));
    world.simulator.send_webhooks_to(Wire::Square, &url, &secret);
    let payment = transaction["providerReference"].as_str().unwrap();
    world.simulator.drive(&format!("square/payments/{payment}/refund"), &json!({}));
    shop.wait_status(reference, "refunded");
    shop.wait_events(&world.simulator);

    let story = shop.story(reference);
    let read = shop.read_payment(reference).data(200);
    for (name, value) in read.as_object().unwrap() {
        assert_eq!(story[name], *value, "{name}: an operator sees what the caller sees");
    }
    let names: Vec<_> =
        story.as_object().unwrap().keys().filter(|name| read.get(name.as_str()).is_none()).collect();
    assert_eq!(
        names,
        [
            "configVersion",
            "providerObject",
            "confirmed",
            "nextCheckAt",
            "nextLookAt",
            "looks",
            "waitingFor",
            "attempts",
            "refunds",
            "disputes",
            "postings",
            "exceptions",
            "timeline",
        ]
    );
    let lines = story["timeline"].as_array().unwrap();
    let fields = ["at", "kind", "requestId", "detail"];
    assert!(lines.iter().all(|line| line.as_object().unwrap().keys().eq(fields)), "{lines:#?}");
    assert!(lines.iter().all(|line| super::is_time(&line["at"])));
    for (number, kind) in ["request", "routing", "fee"].into_iter().enumerate() {
        assert_eq!((&lines[number]["kind"], &lines[number]["requestId"]), (&json!(kind), &json!(preparing)));
    }
    // Without an address of the shop's, customers who were at their bank come back to our page.
    let back = lines[0]["detail"]["successUrl"].as_str().unwrap();
    assert!(back.contains("/checkout/paid?environment=env_"), "{back}");
    let expected = json!({
        "flow": "payment_component", "amountMinor": "10000", "currency": "USD", "description": "Tea",
        "customer": {"name": "Jo", "email": "jo@shop.example"}, "metadata": {"wire": "square", "order": 7},
        "successUrl": back, "cancelUrl": null,
    });
    assert_eq!(lines[0]["detail"], expected);
    let condition =
        json!({"id": "cond_wire", "field": "metadata.wire", "op": "eq", "holds": true, "found": "square"});
    let expected = json!({
        "configVersion": 1, "decision": super::routing(Wire::Square),
        "rules": [
            {"id": "rule_off", "outcome": "disabled", "conditions": []},
            {"id": "rule_square", "outcome": "matched", "conditions": [condition]},
            {"id": "rule_adyen", "outcome": "not_tried", "conditions": []},
        ],
    });
    assert_eq!(lines[1]["detail"], expected);
    let layer = |scope: &str, fixed: &str, percent: &str, fee: &str| {
        json!({
            "scope": scope, "enabled": true, "fixedFeeMinor": fixed, "percentPartMinor": percent,
            "beforeBoundsMinor": fee, "bound": null, "feeMinor": fee,
        })
    };
    let steps = [layer("platform", "30", "290", "320"), layer("organization", "5", "50", "55")];
    assert_eq!(lines[2]["detail"], json!({"feeMinor": "375", "totalDebitMinor": "10375", "steps": steps}));

    let (first, second) = (&declined.headers["request-id"], &paid.headers["request-id"]);
    let confirms: Vec<_> = line_of(&story, "confirm").iter().map(|line| line["requestId"].clone()).collect();
    assert_eq!(confirms, [json!(first), json!(second)]);
    let moves: Vec<_> = line_of(&story, "status")
        .iter()
        .map(|line| (line["detail"]["to"].as_str().unwrap(), line["requestId"].clone()))
        .collect();
    let refunding = moves.last().unwrap().1.clone();
    assert_eq!(
        moves,
        [("failed", json!(first)), ("succeeded", json!(second)), ("refunded", refunding.clone()),]
    );
    // The refund was told by a webhook, which was a request of its own.
    assert!(refunding.as_str().unwrap().starts_with("req_"));
    let webhooks = line_of(&story, "webhook");
    let told = webhooks.iter().find(|line| line["requestId"] == refunding).unwrap();
    let events = shop.listed("provider-events");
    let event = events.iter().find(|event| event["eventId"] == told["detail"]["eventId"]).unwrap();
    assert_eq!((&event["requestId"], &event["state"]), (&refunding, &json!("applied")));
    assert_eq!(event["type"], told["detail"]["type"]);
    assert_eq!(events.len(), webhooks.len(), "every event is in the story");
    assert_eq!(line_of(&story, "refund").len(), 1);
    let attempts: Vec<_> = story["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["number"].clone(), it["state"].clone()))
        .collect();
    assert_eq!(attempts, [(json!(1), json!("declined")), (json!(2), json!("taken"))]);
    assert_eq!((&story["configVersion"], &story["confirmed"]), (&json!(1), &json!(true)));
    // By the transaction's path too.
    let by_transaction = shop.admin().get(&shop.path(&format!("/transactions/{reference}"))).data(200);
    assert_eq!(by_transaction, story);
}

fn a_story_shows_every_try_at_a_provider(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    let shop = &world.shop;
    world.simulator.fault(Wire::Stripe, "checkout.sessions.create", "error_after", 1, 0);
    world.simulator.fault(Wire::Stripe, "checkout.sessions.create", "reset", 1, 0);
    let answer = shop.client().post(Flow::Hosted.path(), &Shop::order(Wire::Stripe));
    let prepared = Prepared::of(&answer);
    let calls = shop.lines(&prepared.reference, "provider_call");
    assert_eq!(calls.len(), 1, "{calls:#?}");
    assert_eq!(calls[0]["requestId"], json!(answer.headers["request-id"]));
    let detail = &calls[0]["detail"];
    let tries = detail["tries"].as_array().unwrap();
    let expected = json!({
        "operation": "checkout.sessions.create", "provider": "card_provider_a",
        "idempotencyKey": format!("{}-prepare", prepared.reference), "tries": tries,
    });
    assert_eq!(*detail, expected);
    let seen: Vec<_> =
        tries.iter().map(|one| (one["status"].clone(), one["outcome"].as_str().unwrap())).collect();
    assert_eq!(seen.len(), 3, "{tries:#?}");
    assert_eq!(seen[0], (json!(500), "error 500"));
    assert_eq!(seen[1].0, Value::Null);
    assert_eq!(seen[2], (json!(200), "ok"));
    assert!(tries[2]["providerRequestId"].as_str().is_some_and(|id| id.starts_with("req_")), "{tries:#?}");
    for one in tries {
        let fields = ["afterMs", "tookMs", "status", "providerRequestId", "outcome"];
        assert!(one.as_object().unwrap().keys().eq(fields), "{one}");
    }
    let after: Vec<_> = tries.iter().map(|one| one["afterMs"].as_u64().unwrap()).collect();
    assert!(
        after[0] == 0 && after[1] >= 200 && after[2] >= after[1] + 400,
        "tries wait for each other: {after:?}"
    );
}
