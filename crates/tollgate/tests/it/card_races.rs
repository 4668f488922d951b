//! Everything at once: callers, webhooks and resolvers about the same payment make one transaction and one charge.

use std::{
    collections::BTreeMap,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use rand::RngExt;
use serde_json::{Value, json};

use crate::support::{
    Answer, Client, Flow, Inbox, Prepared, Shop, StoreKind, WAIT_TIMEOUT, Wire, World, is_long_run,
    on_both_stores, randomness, seed, wait_agreement,
};

on_both_stores! {
    a_confirm_and_its_webhooks_racing_make_one_transaction
    fifty_confirms_with_one_token_charge_once
    fifty_confirms_with_as_many_tokens_charge_once
    fifty_confirms_of_one_intent_are_all_answered
}

/// Races in a long run; half of them in a short one.
const RACES: u64 = 200;
const CALLERS: usize = 50;

/// Sends confirms all at the same moment, each from a caller of its own.
fn all_at_once(shop: &Shop, reference: &str, bodies: &[Value]) -> Vec<Answer> {
    let barrier = Barrier::new(bodies.len());
    thread::scope(|scope| {
        let callers: Vec<_> = bodies
            .iter()
            .map(|body| {
                scope.spawn(|| {
                    let mut client = shop.client();
                    // The connection is made beforehand, so that nothing but the confirm is left to do.
                    client.get("/healthz");
                    barrier.wait();
                    client.post(&Shop::confirm_path(reference), body)
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    })
}

/// How often each outcome was answered: status and whether it was a replay.
#[track_caller]
fn tally(answers: &[Answer]) -> BTreeMap<(String, bool), usize> {
    let mut tally = BTreeMap::new();
    for answer in answers {
        let data = answer.data(200);
        let replayed = data["replayed"].as_bool().unwrap();
        let header = answer.headers.get("idempotent-replayed").map(String::as_str);
        assert_eq!(header, replayed.then_some("true"));
        let status = data["transaction"]["status"].as_str().unwrap().to_owned();
        *tally.entry((status, replayed)).or_default() += 1;
    }
    tally
}

fn a_confirm_and_its_webhooks_racing_make_one_transaction(kind: StoreKind) {
    let seed = seed();
    let world = World::start_without_looks(kind);
    let inbox = Inbox::of(&world.simulator);
    let first = AtomicU64::new(0);
    let races = if is_long_run() { RACES } else { RACES / 2 };
    for race in 0..races {
        let mut random = randomness(seed, race);
        let wire = Wire::BOTH[usize::from(race % 4 == 3)];
        let prepared = world.shop.prepare(Flow::Component, wire);
        if wire == Wire::Stripe {
            race_stripe(&world, &inbox, &prepared, random.random_range(0..4), &first);
        } else {
            race_square(&world, &prepared, random.random_range(0..3));
            inbox_again(&world, &inbox);
        }
        let reference = prepared.reference.as_str();
        assert_eq!(world.shop.status(reference).as_deref(), Some("succeeded"), "race {race}, seed {seed}");
    }
    println!("{} of {races} confirms were first", first.load(Ordering::Relaxed));
    world.shop.wait_events(&world.simulator);
    let audit = wait_agreement(&world.shop, &world.simulator, WAIT_TIMEOUT);
    let expected = usize::try_from(races).unwrap();
    assert_eq!((audit.payments, audit.charged), (expected, expected), "{audit:?}");
    for payment in world.shop.listed("payments") {
        let reference = payment["serviceReference"].as_str().unwrap();
        let moves = world.shop.moves(reference);
        assert_eq!(moves.iter().filter(|to| *to == "succeeded").count(), 1, "{reference}: {moves:?}");
        let ids: Vec<_> = world
            .shop
            .lines(reference, "webhook")
            .iter()
            .map(|line| line["detail"]["eventId"].clone())
            .collect();
        let mut once = ids.clone();
        once.sort_by_key(ToString::to_string);
        once.dedup();
        assert_eq!(once.len(), ids.len(), "{reference}: an event was applied twice");
    }
}

/// The browser has paid; its backend confirms while the provider's letters arrive, each two times.
fn race_stripe(world: &World, inbox: &Inbox, prepared: &Prepared, pause: u64, first: &AtomicU64) {
    world.simulator.pay_intent(prepared.component());
    let letters = inbox.take(&world.simulator);
    let barrier = Barrier::new(3);
    let confirmed = thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                barrier.wait();
                thread::sleep(Duration::from_millis(pause));
                for letter in &letters {
                    world.shop.forward(letter);
                }
            });
        }
        barrier.wait();
        world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200)
    });
    assert_eq!(confirmed["transaction"]["status"], "succeeded");
    assert_eq!(confirmed["replayed"], false, "nobody had confirmed it before");
    first.fetch_add(u64::from(world.shop.moves(&prepared.reference).len() == 1), Ordering::Relaxed);
}

/// The provider tells of the charge before it answers it, while it answers it, or right after.
fn race_square(world: &World, prepared: &Prepared, when: u64) {
    let wire = Wire::Square;
    world.simulator.send_no_webhooks();
    world.simulator.send_webhooks_to(wire, &world.shop.webhook_url(wire), &world.shop.webhook_secret(wire));
    match when {
        0 => world.simulator.fault(wire, "payments.create", "webhook_first", 1, 0),
        1 => world.simulator.fault(wire, "payments.create", "webhook_twice", 1, 0),
        _ => {}
    }
    let confirmed = world.shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    assert_eq!(
        (&confirmed["transaction"]["status"], &confirmed["replayed"]),
        (&json!("succeeded"), &json!(false))
    );
    crate::support::wait_until("every webhook has arrived", WAIT_TIMEOUT, || {
        world.simulator.webhooks_pending() == 0
    });
}

/// Has the provider's letters collected again.
fn inbox_again(world: &World, inbox: &Inbox) {
    world.simulator.send_no_webhooks();
    inbox.collect_from(&world.simulator);
}

fn fifty_confirms_with_one_token_charge_once(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (card, status) in [("4242424242424242", "succeeded"), ("4000000000000002", "failed")] {
        let prepared = world.shop.prepare(Flow::Component, Wire::Square);
        let calls = world.simulator.calls(Wire::Square, "payments.create");
        let body = json!({"sourceId": world.simulator.card_token(card)});
        let answers = all_at_once(&world.shop, &prepared.reference, &vec![body; CALLERS]);
        let expected = [((status.to_owned(), false), 1), ((status.to_owned(), true), CALLERS - 1)];
        assert_eq!(tally(&answers), expected.into_iter().collect(), "{card}");
        assert_eq!(world.simulator.calls(Wire::Square, "payments.create"), calls + 1);
        assert_eq!(world.simulator.truth(&prepared.reference).charged, usize::from(status == "succeeded"));
        assert_eq!(world.shop.moves(&prepared.reference), [status]);
    }
}

fn fifty_confirms_with_as_many_tokens_charge_once(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for declined in [0, 8] {
        let prepared = world.shop.prepare(Flow::Component, Wire::Square);
        let bodies: Vec<_> = (0..CALLERS)
            .map(|number| {
                let card = if number < declined { "4000000000000002" } else { "4242424242424242" };
                json!({"sourceId": world.simulator.card_token(card)})
            })
            .collect();
        let answers = all_at_once(&world.shop, &prepared.reference, &bodies);
        let tally = tally(&answers);
        assert_eq!(tally.get(&("succeeded".to_owned(), false)), Some(&1), "{tally:?}");
        assert_eq!(tally.values().sum::<usize>(), CALLERS, "{tally:?}");
        assert_eq!(tally.get(&("failed".to_owned(), true)), None, "{tally:?}");
        assert_eq!(world.simulator.truth(&prepared.reference).charged, 1);
        let attempts = world.shop.story(&prepared.reference)["attempts"].as_array().unwrap().len();
        assert!(attempts <= declined + 1, "{attempts} attempts with {declined} declined cards");
    }
}

fn fifty_confirms_of_one_intent_are_all_answered(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (method, status) in [("", "pending"), ("pm_card_visa", "succeeded")] {
        let prepared = world.shop.prepare(Flow::Component, Wire::Stripe);
        if !method.is_empty() {
            world.simulator.confirm_intent(prepared.component(), method);
            world.shop.wait_status(&prepared.reference, status);
        }
        let answers = all_at_once(&world.shop, &prepared.reference, &vec![prepared.confirm_body(); CALLERS]);
        let expected = [((status.to_owned(), false), 1), ((status.to_owned(), true), CALLERS - 1)];
        assert_eq!(tally(&answers), expected.into_iter().collect());
        assert_eq!(world.shop.moves(&prepared.reference), [status]);
    }
    let mut client = Client::new(world.server.address(), "");
    assert_eq!(client.get("/readyz").status, 200);
}
