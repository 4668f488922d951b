//! Whatever goes wrong between here and the provider: it takes each transfer at most once, the caller hears within the
//! deadline, and in the end the books say what the provider did.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{
    BANK_WAIT_TIMEOUT, BankInbox, BankRail, BankSimulator, BankStore, BankWorld, Desk, On, Proxy, Weather,
    on_alternate_rails, on_each_rail, wait_until,
};

/// The deadline of [`BankStore::serve`], and what a busy machine adds to it.
const ANSWERED_WITHIN: Duration = Duration::from_millis(15_000 + 25_000);

/// Every mishap, and whether the provider has the transfer when it has struck every try.
const MISHAPS: [(&str, bool); 10] = [
    ("timeout_before", false),
    ("timeout_after", true),
    ("reset", false),
    ("torn", true),
    ("error_before", false),
    ("error_after", true),
    ("rate_limited", false),
    ("slow", true),
    ("malformed", true),
    ("unknown_status", true),
];
/// Longer than one exchange may take.
const DELAY_MS: u64 = 1_000;

/// Makes a transfer while something is wrong, and gives its reference and the status in the answer.
#[track_caller]
fn made_in_trouble(desk: &Desk, key: &str) -> (String, String) {
    let began = Instant::now();
    let answer = desk.transfer(&desk.body(key, 10_000));
    let took = began.elapsed();
    let data = answer.data(201);
    assert!(took < ANSWERED_WITHIN, "{key} was answered after {took:?}");
    assert_eq!(data["replayed"], false);
    let text = |name: &str| data["transaction"][name].as_str().unwrap().to_owned();
    (text("serviceReference"), text("status"))
}

/// The transfer is taken once, and settles.
#[track_caller]
fn ends_well(desk: &Desk, simulator: &BankSimulator, reference: &str, what: &str) {
    desk.wait_status(reference, "processing");
    let taken = simulator.accepted_as(reference);
    assert_eq!(taken.len(), 1, "{what}: {taken:?}");
    assert_eq!(desk.postings(reference), ["reserve"], "{what}");
    simulator.simulate(&taken[0].id, "settle", &json!({}));
    desk.wait_status(reference, "succeeded");
    assert_eq!(desk.postings(reference), ["reserve", "settle"], "{what}");
    let story = desk.story(reference);
    assert_eq!(story["exceptions"], json!([]), "{what}: {story:#}");
    assert_eq!(story["waitingFor"], json!(null), "{what}: {story:#}");
}

/// One server, and for every mishap a provider and an environment of its own, all at the same time.
fn at_every_mishap(on: On, rail: BankRail, test: impl Fn(&Desk, &BankSimulator, &'static str, bool) + Sync) {
    let store = BankStore::new(on);
    let server = store.serve().run();
    let desks: Vec<_> = MISHAPS
        .iter()
        .map(|mishap| {
            let simulator = BankSimulator::start_as(rail);
            (Desk::open(&server, &simulator), simulator, mishap)
        })
        .collect();
    thread::scope(|scope| {
        for (desk, simulator, (kind, has_it)) in &desks {
            let test = &test;
            scope.spawn(move || test(desk, simulator, kind, *has_it));
        }
    });
    for (desk, simulator, (kind, _)) in &desks {
        desk.wait_events(simulator);
        assert_eq!(desk.listed("transfers/waiting"), Vec::<serde_json::Value>::new(), "{kind}");
        desk.assert_books(Desk::FUNDS);
    }
}

/// The first call meets the mishap, the second one does not.
fn one_mishap_at_creation(on: On, rail: BankRail) {
    at_every_mishap(on, rail, |desk, simulator, kind, _| {
        simulator.fault(&rail.operation("create"), kind, 1, DELAY_MS);
        let (reference, status) = made_in_trouble(desk, &format!("created despite {kind}"));
        assert!(matches!(status.as_str(), "processing" | "pending"), "{kind}: {status}");
        simulator.clear_faults();
        ends_well(desk, simulator, &reference, kind);
    });
}

/// Every call meets the mishap, until the caller has his answer and for a while longer.
fn lasting_trouble_at_creation(on: On, rail: BankRail) {
    at_every_mishap(on, rail, |desk, simulator, kind, has_it| {
        // Else the webhook would tell what the answer did not.
        simulator.send_no_webhooks();
        simulator.fault(&rail.operation("create"), kind, 1_000, DELAY_MS);
        let key = format!("created at last despite {kind}");
        let (reference, status) = made_in_trouble(desk, &key);
        let known = match kind {
            "unknown_status" => matches!(status.as_str(), "processing" | "pending"),
            // The second try may get the answer that the first did not wait for.
            "slow" => true,
            _ => status == "pending",
        };
        assert!(known, "{kind}: {status}");
        assert_eq!(desk.wallet().reserved, 10_035, "{kind}: the funds stay set aside");
        thread::sleep(Duration::from_millis(300));
        let taken = simulator.accepted_as(&reference).len();
        assert!(taken <= usize::from(has_it), "{kind}: taken {taken} times");
        // Whoever asks again meanwhile is told how it stands.
        let again = desk.transfer(&desk.body(&key, 10_000));
        assert_eq!(again.data(200)["transaction"]["serviceReference"], reference.as_str());
        simulator.clear_faults();
        ends_well(desk, simulator, &reference, kind);
    });
}

/// The provider cannot be asked what became of a transfer, in every way, and later can.
fn trouble_with_looking_by_key(on: On, rail: BankRail) {
    at_every_mishap(on, rail, |desk, simulator, kind, _| {
        simulator.send_no_webhooks();
        simulator.fault(&rail.operation("create"), "timeout_after", 3, DELAY_MS);
        simulator.fault(&rail.operation("list"), kind, 2, DELAY_MS);
        let (reference, status) = made_in_trouble(desk, &format!("looked for despite {kind}"));
        assert_eq!(status, "pending", "{kind}");
        wait_until("the mishap has struck", BANK_WAIT_TIMEOUT, || {
            let waiting = simulator.control("GET", "faults", &json!(null));
            let waiting = waiting["faults"].as_array().unwrap();
            let list = rail.operation("list");
            waiting.iter().all(|fault| fault["operation"] != list.as_str() || fault["count"] == 1)
        });
        assert!(simulator.accepted_as(&reference).len() <= 1, "{kind}");
        simulator.clear_faults();
        ends_well(desk, simulator, &reference, kind);
    });
}

/// A webhook says that something happened, and reading what it was goes wrong.
fn trouble_with_reading(on: On, rail: BankRail) {
    at_every_mishap(on, rail, |desk, simulator, kind, _| {
        let reference = desk.made(&desk.body(&format!("read despite {kind}"), 10_000));
        desk.wait_status(&reference, "processing");
        desk.wait_events(simulator);
        simulator.fault(&rail.operation("retrieve"), kind, 4, DELAY_MS);
        simulator.simulate(&simulator.sole(&reference).id, "settle", &json!({}));
        thread::sleep(Duration::from_millis(200));
        let status = desk.status(&reference);
        assert!(matches!(status.as_str(), "processing" | "succeeded"), "{kind}: {status}");
        simulator.clear_faults();
        desk.wait_status(&reference, "succeeded");
        assert_eq!(desk.postings(&reference), ["reserve", "settle"], "{kind}");
        simulator.sole(&reference);
    });
}

/// Nobody listens at the provider's address, or nothing gets through to it.
fn a_provider_that_cannot_be_reached(on: On, rail: BankRail) {
    let store = BankStore::new(on);
    let simulator = BankSimulator::start_as(rail);
    let proxy = Proxy::start(simulator.address());
    let server = store.serve().run();
    let desk = Desk::open_at(&server, &simulator, proxy.address);
    for weather in [Weather::Cut, Weather::Silent] {
        proxy.set(weather);
        let key = format!("made in {weather:?} weather");
        let (reference, status) = made_in_trouble(&desk, &key);
        assert_eq!(status, "pending", "{weather:?}");
        assert_eq!(simulator.accepted_as(&reference).len(), 0);
        let waiting = desk.listed("transfers/waiting");
        assert_eq!(waiting.len(), 1, "{waiting:?}");
        assert_eq!(waiting[0]["transaction"]["serviceReference"], reference.as_str());
        assert!(waiting[0]["waitingFor"].is_string(), "{waiting:?}");
        proxy.set(Weather::Clear);
        ends_well(&desk, &simulator, &reference, &key);
        // In the midst of reading what a webhook was about.
        let (reference, _) = made_in_trouble(&desk, &format!("{key}, then read"));
        desk.wait_status(&reference, "processing");
        proxy.set(weather);
        simulator.simulate(&simulator.sole(&reference).id, "settle", &json!({}));
        thread::sleep(Duration::from_millis(300));
        assert_eq!(desk.status(&reference), "processing");
        proxy.set(Weather::Clear);
        desk.wait_status(&reference, "succeeded");
    }
    desk.assert_books(Desk::FUNDS);
    drop(server);
}

/// A refusal ends a transfer, also one that nobody could say anything about at first.
fn a_refusal_after_lasting_trouble(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve);
    world.simulator.fault(&rail.operation("create"), "timeout_before", 3, DELAY_MS);
    let mut body = world.desk.body("refused in the end", 10_000);
    body["routingNumber"] = json!(crate::support::REFUSED_BANK);
    let data = world.desk.transfer(&body).data(201);
    assert_eq!(data["transaction"]["status"], "pending");
    let reference = data["transaction"]["serviceReference"].as_str().unwrap();
    world.simulator.clear_faults();
    world.desk.wait_status(reference, "failed");
    assert_eq!(world.desk.transfer(&body).failure(422), "provider_rejected");
    assert_eq!(world.desk.postings(reference), ["reserve", "release"]);
    assert_eq!(world.simulator.accepted_as(reference).len(), 0);
    assert_eq!(world.desk.wallet().available, Desk::FUNDS);
    world.desk.assert_books(Desk::FUNDS);
}

/// Webhooks of the creation and of what follows: before the answer, twice, late, in another order, never.
fn webhooks_that_come_as_they_like(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve);
    for kind in ["webhook_first", "webhook_twice", "webhook_late", "webhook_out_of_order", "webhook_never"] {
        world.simulator.fault(&rail.operation("create"), kind, 1, 600);
        let (reference, id) = world.taken(&format!("created with {kind}"));
        // The other provider's bank is played by the control interface, which nothing disturbs.
        let disturb = |step: &str| match rail {
            BankRail::Increase => {
                world.simulator.fault(&format!("simulations.ach_transfers.{step}"), kind, 1, 600);
            }
            BankRail::ModernTreasury => {}
        };
        disturb("settle");
        world.simulator.simulate(&id, "settle", &json!({}));
        world.desk.wait_status(&reference, "succeeded");
        assert_eq!(world.desk.postings(&reference), ["reserve", "settle"], "{kind}");
        assert_eq!(world.desk.moves(&reference), ["processing", "succeeded"], "{kind}");
        world.simulator.sole(&reference);
        if kind != "webhook_never" {
            // Only a webhook tells of a return soon after the arrival.
            disturb("return");
            world.simulator.simulate(&id, "return", &json!({}));
            world.desk.wait_status(&reference, "failed");
            world.desk.wait_events(&world.simulator);
            assert_eq!(world.desk.postings(&reference), ["reserve", "settle", "reverse"], "{kind}");
        }
    }
    world.desk.wait_events(&world.simulator);
    world.desk.assert_books(Desk::FUNDS);
}

/// Every order of a transfer's webhooks, or every so many, each delivered twice; and the first ones again after the last.
fn webhooks_in_every_order(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let inbox = BankInbox::of(&world.simulator, &world.desk);
    let (desk, simulator) = (&world.desk, &world.simulator);
    // Created, sent (begun and finished, where the provider says both), settled, returned (the return and the transfer).
    let (count, every) = match rail {
        BankRail::Increase => (4, 1),
        BankRail::ModernTreasury => (6, 29),
    };
    let places: Vec<_> = (0..count).collect();
    let orders: Vec<_> = permutations(&places).into_iter().step_by(every).collect();
    assert!(orders.len() >= 24, "{}", orders.len());
    let taken: Vec<_> =
        (0..orders.len()).map(|number| world.taken(&format!("in order number {number}"))).collect();
    for (_, id) in &taken {
        for action in ["submit", "settle", "return"] {
            simulator.simulate(id, action, &json!({}));
        }
    }
    let letters = inbox.take(simulator);
    let about = |id: &str| {
        let of_it: Vec<_> = letters.iter().filter(|letter| letter.is_about(id)).collect();
        assert_eq!(of_it.len(), count, "{of_it:?}");
        of_it
    };
    for ((_, id), order) in taken.iter().zip(&orders) {
        let letters = about(id);
        for place in order {
            letters[*place].deliver(desk);
            letters[*place].deliver(desk);
        }
    }
    for (reference, _) in &taken {
        desk.wait_status(reference, "failed");
    }
    desk.wait_events(simulator);
    for letter in &letters {
        letter.deliver(desk);
    }
    desk.wait_events(simulator);
    for ((reference, _), order) in taken.iter().zip(&orders) {
        assert_eq!(desk.moves(reference), ["processing", "failed"], "{order:?}");
        assert_eq!(desk.postings(reference), ["reserve", "release"], "{order:?}");
    }
    // As it happens, and then all of it again in every order.
    let (reference, id) = world.taken("as it happened");
    let mut letters = Vec::new();
    for (action, status) in [("submit", "processing"), ("settle", "succeeded"), ("return", "failed")] {
        simulator.simulate(&id, action, &json!({}));
        let mut come = inbox.take(simulator);
        for letter in &come {
            letter.deliver(desk);
        }
        letters.append(&mut come);
        desk.wait_status(&reference, status);
    }
    for order in permutations(&[0, 1, 2]) {
        for place in order {
            letters[place].deliver(desk);
        }
    }
    desk.wait_events(simulator);
    assert_eq!(desk.moves(&reference), ["processing", "succeeded", "failed"]);
    assert_eq!(desk.postings(&reference), ["reserve", "settle", "reverse"]);
    assert_eq!(desk.wallet().available, Desk::FUNDS);
    desk.assert_books(Desk::FUNDS);
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.len() < 2 {
        return vec![items.to_vec()];
    }
    let mut all = Vec::new();
    for (place, first) in items.iter().enumerate() {
        let rest: Vec<_> =
            items.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, item)| *item).collect();
        all.extend(permutations(&rest).into_iter().map(|order| [&[*first], order.as_slice()].concat()));
    }
    all
}

/// The provider has forgotten the key by the time it can be asked again: it is asked what it has, and sent nothing that it
/// has already.
#[test]
fn doubt_that_outlives_the_key_is_looked_up() {
    let world = BankWorld::start_as(On::Sqlite, BankRail::ModernTreasury, BankStore::serve);
    let (desk, simulator) = (&world.desk, &world.simulator);
    let (create, list) = (simulator.rail.operation("create"), simulator.rail.operation("list"));
    for (days, (kind, has_it)) in (1..).zip([("error_after", true), ("error_before", false)]) {
        simulator.send_no_webhooks();
        simulator.fault(&create, kind, 1_000, 0);
        simulator.fault(&list, "error_before", 1_000, 0);
        let looked = simulator.calls(&list);
        let (reference, status) = made_in_trouble(desk, &format!("in doubt for a day after {kind}"));
        assert_eq!(status, "pending", "{kind}");
        wait_until("it is looked for in vain", BANK_WAIT_TIMEOUT, || simulator.calls(&list) > looked);
        simulator.control("POST", "clock", &json!({ "skew_seconds": days * 25 * 60 * 60 }));
        let asked = simulator.calls(&create);
        simulator.clear_faults();
        desk.wait_status(&reference, "processing");
        simulator.send_webhooks_to(&desk.webhook_url(), &desk.webhook_secret());
        ends_well(desk, simulator, &reference, kind);
        assert_eq!(
            simulator.calls(&create) - asked,
            u64::from(!has_it),
            "{kind}: sent only if it is not there"
        );
    }
    desk.assert_books(Desk::FUNDS);
}

on_each_rail! {
    one_mishap_at_creation
    lasting_trouble_at_creation
    trouble_with_looking_by_key
    trouble_with_reading
    a_provider_that_cannot_be_reached
    a_refusal_after_lasting_trouble
    webhooks_that_come_as_they_like
}

mod every_order {
    use super::{on_alternate_rails, webhooks_in_every_order};

    on_alternate_rails! { webhooks_in_every_order }
}
