//! Routes that do not fail: fallbacks, circuits, splits and components that are switched, over real HTTP.

mod load;

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    events::telling,
    support::{
        BankWorld, COMPONENT, On, Prepared, Proxy, Receiver, Shop, Start, Store, StoreKind, Subscription,
        WAIT_TIMEOUT, Weather, World, wait_until,
    },
};

/// A provider that cannot be reached is given up soon.
fn impatient(store: &Store) -> Start {
    let start = store.serve().with("TOLLGATE_PROVIDER_TIMEOUT_MS", "400");
    start.with("TOLLGATE_PROVIDER_DEADLINE_MS", "600").with("TOLLGATE_RESOLVER_LEASE_MS", "8200")
}

/// The first card provider is reached through `first`, and the second is its fallback.
fn with_fallback(world: &World, first: std::net::SocketAddr) -> Value {
    let mut document = world.shop.document(world.simulator.address());
    document["providers"]["card_provider_a"]["baseUrl"] = json!(format!("http://{first}/stripe"));
    document["routing"]["web_card"]["default"]["fallbacks"] =
        json!([{"provider": "card_provider_b", "channel": "web_card"}]);
    document
}

/// Whatever needs no rule of its own.
fn order() -> Value {
    json!({"amountMinor": "10000", "currency": "USD"})
}

fn prepare(shop: &Shop) -> Prepared {
    Prepared::of(&shop.client().post(COMPONENT, &order()))
}

/// What became of each target of a payment's route.
fn outcomes(data: &Value) -> Vec<(String, String)> {
    let attempts = data["routing"]["attempts"].as_array().cloned().unwrap_or_default();
    let text = |attempt: &Value, name: &str| attempt[name].as_str().unwrap().to_owned();
    attempts.iter().map(|it| (text(it, "provider"), text(it, "outcome"))).collect()
}

fn circuit(shop: &Shop, provider: &str) -> String {
    let listed = shop.admin().get(&shop.path("/providers")).data(200);
    let found = listed["items"].as_array().unwrap().iter().find(|it| it["name"] == provider);
    found.map(|it| it["circuit"].as_str().unwrap().to_owned()).unwrap_or_default()
}

#[test]
fn a_provider_that_is_out_of_reach_is_left_then_skipped_and_taken_back() {
    let world = World::start_with(StoreKind::Sqlite, |store| telling(store.serve()));
    let proxy = Proxy::start(world.simulator.address());
    let receiver = Receiver::open();
    let kinds = ["provider.circuit_opened", "provider.circuit_closed"];
    let url = receiver.url("/operators");
    let subscription = Subscription::create(&mut world.shop.admin(), &world.shop.path(""), &url, &kinds);
    let mut document = with_fallback(&world, proxy.address);
    document["settings"]["circuit"] = json!({"minimumCalls": 3, "openSeconds": 6});
    world.shop.configure(&document);
    proxy.set(Weather::Cut);
    let left = |outcome: &str| {
        [
            ("card_provider_a".to_owned(), outcome.to_owned()),
            ("card_provider_b".to_owned(), "selected".to_owned()),
        ]
    };
    for _ in 0..3 {
        let prepared = prepare(&world.shop);
        assert_eq!(outcomes(&prepared.data), left("unavailable"));
        assert_eq!(prepared.component()["type"], "card_provider_b_web_payments");
        let paid = world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
        assert_eq!(paid["transaction"]["provider"], "card_provider_b");
        assert_eq!(world.simulator.truth(&prepared.reference).charged, 1);
    }
    assert_eq!(circuit(&world.shop, "card_provider_a"), "open");
    let skipped = prepare(&world.shop);
    assert_eq!(outcomes(&skipped.data), left("skipped"));
    let lines = world.shop.lines(&skipped.reference, "route");
    let reason = lines[0]["detail"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("circuit open since "), "{lines:?}");
    let metrics = String::from_utf8(world.server.client("").get("/metrics").body).unwrap();
    for line in
        ["tollgate_provider_circuits_open 1", "tollgate_provider_circuit_changes_total{to=\"open\"} 1"]
    {
        assert!(metrics.contains(line), "{metrics}");
    }
    proxy.set(Weather::Clear);
    wait_until("it is probed", WAIT_TIMEOUT, || circuit(&world.shop, "card_provider_a") != "open");
    for _ in 0..3 {
        assert_eq!(prepare(&world.shop).data["provider"], "card_provider_a", "probes are let through");
    }
    assert_eq!(circuit(&world.shop, "card_provider_a"), "closed");
    let force = world.shop.path("/providers/card_provider_a/circuit");
    world.shop.admin().post(&force, &json!({"state": "closed"})).data(200);
    check_told_of_circuits(&world, &receiver, &subscription);
}

/// Operators were told that the circuit opened, and that one of them closed it.
fn check_told_of_circuits(world: &World, receiver: &Receiver, subscription: &Subscription) {
    wait_until("both events are delivered", WAIT_TIMEOUT, || receiver.parcels().len() == 2);
    let mut parcels = receiver.parcels();
    parcels.sort_by(|one, other| one.id().cmp(other.id()));
    assert!(parcels.iter().all(|parcel| parcel.is_signed_with(&subscription.secret)));
    let [opened, closed] = [0, 1].map(|place: usize| parcels[place].json());
    assert_eq!(
        (&opened["type"], &closed["type"]),
        (&json!("provider.circuit_opened"), &json!("provider.circuit_closed"))
    );
    let (was, is) = (&opened["data"]["circuit"], &closed["data"]["circuit"]);
    assert_eq!(
        (&was["provider"], &was["state"], &was["forced"]),
        (&json!("card_provider_a"), &json!("open"), &json!(false))
    );
    assert!(was["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{opened:#}");
    assert!(was["since"].as_str() <= opened["timestamp"].as_str(), "{opened:#}");
    assert_eq!((&is["state"], &is["forced"], &is["reason"]), (&json!("closed"), &json!(true), &Value::Null));
    let listed = world.shop.listed("events?type=provider.circuit_opened");
    assert_eq!((listed.len(), &listed[0]["serviceReference"]), (1, &Value::Null));
    let path = world.shop.path(&format!("/events/{}", parcels[0].id()));
    let read = world.shop.admin().get(&path).data(200);
    assert_eq!(read["body"], opened);
    assert_eq!(read["deliveries"][0]["state"], "delivered");
}

#[test]
fn a_declined_component_is_switched_and_paid_once() {
    let world = World::start(StoreKind::Sqlite);
    world.shop.configure(&with_fallback(&world, world.simulator.address()));
    let prepared = prepare(&world.shop);
    let reference = prepared.reference.as_str();
    assert_eq!(world.simulator.confirm_intent(prepared.component(), "pm_card_chargeDeclined").status, 402);
    let failed = world.shop.confirm(reference, &prepared.confirm_body()).data(200);
    assert_eq!(failed["transaction"]["status"], "failed");
    let path = format!("{COMPONENT}/{reference}/switch");
    let mut client = world.shop.client();
    assert_eq!(client.post(&path, &json!({})).faulty_fields(), ["from"]);
    let from = json!({"from": "card_provider_a"});
    let switched = Prepared::of(&client.post(&path, &from));
    assert_eq!(switched.reference, reference);
    assert_eq!(switched.component()["type"], "card_provider_b_web_payments");
    let expected = [
        ("card_provider_a".to_owned(), "declined".to_owned()),
        ("card_provider_b".to_owned(), "selected".to_owned()),
    ];
    assert_eq!(outcomes(&switched.data), expected);
    let again = client.post(&path, &from);
    assert_eq!(again.headers.get("idempotent-replayed").map(String::as_str), Some("true"));
    assert_eq!(again.data(200), switched.data);
    assert_eq!(world.simulator.truth(reference).payable, 0, "the intent was canceled");
    assert_eq!(world.shop.confirm(reference, &prepared.confirm_body()).failure(400), "invalid_body");
    let paid = world.shop.confirm(reference, &switched.confirm_body()).data(200);
    assert_eq!(
        (&paid["transaction"]["status"], &paid["transaction"]["provider"]),
        (&json!("succeeded"), &json!("card_provider_b"))
    );
    // The first provider's webhooks, also that of the cancellation, are applied and say nothing new.
    world.shop.wait_events(&world.simulator);
    assert_eq!(world.simulator.truth(reference).charged, 1);
    assert_eq!(world.shop.moves(reference), ["failed", "succeeded"]);
    assert!(world.shop.listed("exceptions").is_empty());
    assert_eq!(client.post(&path, &json!({"from": "card_provider_b"})).failure(409), "not_switchable");
}

#[test]
fn a_split_sends_each_payment_where_its_reference_says() {
    let world = World::start(StoreKind::Sqlite);
    let mut document = world.shop.document(world.simulator.address());
    let share = |provider: &str| json!({"provider": provider, "channel": "web_card", "weight": 50});
    document["routing"]["web_card"]["default"] = json!({"split": [share("card_provider_a"), share("card_provider_b")], "splitBy": "metadata.customer"});
    world.shop.configure(&document);
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..12 {
        let mut order = order();
        order["metadata"] = json!({"customer": format!("customer-{number}")});
        let of = || Prepared::of(&world.shop.client().post(COMPONENT, &order)).data["provider"].clone();
        let first = of();
        assert_eq!(of(), first, "one customer stays with one provider");
        seen.insert(first.as_str().unwrap().to_owned());
    }
    assert_eq!(seen.len(), 2, "{seen:?}");
}

#[test]
fn a_transfer_goes_to_the_bank_that_can_be_reached() {
    let world = BankWorld::start_without_looks(On::Sqlite);
    let mut document = world.desk.document(world.simulator.address());
    document["providers"]["ach_provider_b"] = document["providers"]["ach_provider_a"].clone();
    document["providers"]["ach_provider_a"]["baseUrl"] = json!("http://127.0.0.1:1/increase");
    document["routing"]["ach"]["default"]["fallbacks"] =
        json!([{"provider": "ach_provider_b", "channel": "standard_ach"}]);
    world.desk.configure(&document);
    let body = world.desk.body("a key of a transfer", 5_000);
    let made = world.desk.transfer(&body).data(201);
    assert_eq!(made["transaction"]["provider"], "ach_provider_b");
    let tried = [
        ("ach_provider_a".to_owned(), "unavailable".to_owned()),
        ("ach_provider_b".to_owned(), "selected".to_owned()),
    ];
    assert_eq!(outcomes(&made), tried);
    let reference = made["transaction"]["serviceReference"].as_str().unwrap();
    let story = world.desk.story(reference);
    let lines = story["timeline"].as_array().unwrap().iter().filter(|line| line["kind"] == "route");
    let told: Vec<_> = lines.map(|line| (&line["detail"]["provider"], &line["detail"]["outcome"])).collect();
    assert_eq!(told, [(&json!("ach_provider_a"), &json!("unavailable"))]);
    wait_until("the bank has it", Duration::from_secs(120), || {
        world.simulator.accepted_as(reference).len() == 1
    });
    let again = world.desk.transfer(&body).data(200);
    assert_eq!(again["transaction"]["provider"], "ach_provider_b");
    assert_eq!(again["routing"], made["routing"]);
    assert_eq!(world.desk.transaction(reference)["transfer"]["routing"], made["routing"]);
    assert_eq!(world.simulator.accepted_as(reference).len(), 1);
    assert_eq!(world.desk.audit(), Vec::<String>::new());
}
