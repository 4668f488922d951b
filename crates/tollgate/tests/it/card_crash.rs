//! `kill -9` at every step of a payment, and again and again in the midst of many: what callers were answered stays true,
//! and everything is brought to its end.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};

use crate::support::{
    Client, DECLINED_CARD, Flow, Shop, Simulator, Start, StopOnDrop, Store, StoreKind, WAIT_TIMEOUT, Wire,
    World, on_both_stores, randomness, seed, wait_agreement, wait_until,
};

on_both_stores! {
    a_kill_at_any_step_leaves_nothing_half_done
    kills_in_the_midst_of_payments_lose_and_double_nothing
}

/// A kill costs its lease, so it is a short one here.
fn start(store: &Store) -> Start {
    store.serve().with("TOLLGATE_PROVIDER_DEADLINE_MS", "2000").with("TOLLGATE_RESOLVER_LEASE_MS", "4100")
}

/// A call that hangs is not given up before the kill, however long the machine takes to come to that.
fn start_hanging(store: &Store) -> Start {
    store.serve().with("TOLLGATE_PROVIDER_TIMEOUT_MS", "15000")
}

/// The calls to a provider that a server can be killed in, on the way from a preparation to its end.
const STEPS: [(Wire, &str); 6] = [
    (Wire::Stripe, "checkout.sessions.create"),
    (Wire::Stripe, "payment_intents.create"),
    (Wire::Square, "payment_links.create"),
    (Wire::Square, "payments.create"),
    (Wire::Stripe, "payment_intents.retrieve"),
    (Wire::Square, "payments.get"),
];

/// Every step hangs at once, each in a payment of its own; then the server is killed. `before`: the provider has done
/// nothing yet; `after`: it has done it all.
fn a_kill_at_any_step_leaves_nothing_half_done(kind: StoreKind) {
    for fault in ["timeout_before", "timeout_after"] {
        let mut world = World::start_with(kind, start_hanging);
        let (shop, simulator) = (world.shop.clone(), &world.simulator);
        let card = shop.prepare(Flow::Component, Wire::Square);
        let element = shop.prepare(Flow::Component, Wire::Stripe);
        let link = shop.prepare(Flow::Hosted, Wire::Square);
        simulator.pay_intent(element.component());
        shop.wait_status(&element.reference, "succeeded");
        let unpaid = shop.prepare(Flow::Component, Wire::Stripe);
        shop.wait_events(simulator);
        for (wire, operation) in STEPS {
            simulator.fault(wire, operation, fault, 1_000, 20_000);
        }
        let token = simulator.card_token("4242424242424242");
        let before: Vec<_> = STEPS.map(|(wire, operation)| simulator.calls(wire, operation)).into();
        let mut server = std::mem::replace(&mut world.server, Start::command(&["help"]).spawn());
        thread::scope(|scope| {
            let ask = |path: &str, body: &Value| {
                let (mut client, path, body) = (shop.client(), path.to_owned(), body.to_string());
                scope.spawn(move || {
                    client.try_send("POST", &path, &[("content-type", "application/json")], body.as_bytes())
                })
            };
            let asked = [
                ask(Flow::Hosted.path(), &Shop::order(Wire::Stripe)),
                ask(Flow::Component.path(), &Shop::order(Wire::Stripe)),
                ask(Flow::Hosted.path(), &Shop::order(Wire::Square)),
                ask(&Shop::confirm_path(&card.reference), &json!({ "sourceId": token })),
                ask(&Shop::confirm_path(&unpaid.reference), &unpaid.confirm_body()),
            ];
            // The customer pays on the page, and the server asks about the webhook it gets.
            simulator.pay_page(link.checkout_url());
            wait_until("every step hangs", WAIT_TIMEOUT, || {
                STEPS
                    .iter()
                    .zip(&before)
                    .all(|((wire, operation), before)| simulator.calls(*wire, operation) > *before)
            });
            server.kill();
            for answer in asked {
                assert!(answer.join().unwrap().is_err(), "nobody was told anything");
            }
        });
        simulator.clear_faults();
        // Nobody else tells: what was told before the kill was kept, and the rest the resolver finds out.
        simulator.send_no_webhooks();
        world.store.end_leases();
        let address = server.address().to_string();
        world.server = start(&world.store).with("TOLLGATE_LISTEN", &address).run();
        let (shop, simulator) = (&world.shop, &world.simulator);
        shop.wait_status(&card.reference, "succeeded");
        shop.wait_status(&link.reference, "succeeded");
        for reference in [&card.reference, &link.reference, &element.reference] {
            assert_eq!(simulator.truth(reference).charged, 1, "{fault}: {reference}");
        }
        let known = [&card, &element, &link, &unpaid].map(|prepared| prepared.reference.clone());
        let lost: Vec<_> = shop
            .listed("payments")
            .iter()
            .map(|payment| payment["serviceReference"].as_str().unwrap().to_owned())
            .filter(|reference| !known.contains(reference))
            .collect();
        assert_eq!(lost.len(), 3, "{fault}: every preparation was recorded before the provider was asked");
        for reference in &lost {
            shop.wait_preparation(reference, "withdrawn");
            let truth = simulator.truth(reference);
            assert_eq!((truth.charged, truth.payable), (0, 0), "{fault}: {reference} {truth:?}");
        }
        // The caller who got no answer asks again, and is told the truth.
        let again = shop.confirm(&card.reference, &json!({ "sourceId": token })).data(200);
        assert_eq!(
            (&again["transaction"]["status"], &again["replayed"]),
            (&json!("succeeded"), &json!(true))
        );
        assert_eq!(
            shop.confirm(&unpaid.reference, &unpaid.confirm_body()).data(200)["transaction"]["status"],
            "pending"
        );
        wait_agreement(shop, simulator, WAIT_TIMEOUT);
    }
}

const KILLS: u64 = 22;
const CUSTOMERS: u64 = 5;

/// What callers were answered.
#[derive(Default)]
struct Told {
    /// The last status by reference; `prepared` where nothing was confirmed.
    statuses: BTreeMap<String, String>,
    unanswered: u64,
}

/// One customer after another, until it is over. Whoever gets no answer goes on with the next.
struct Customer<'w> {
    shop: &'w Shop,
    simulator: &'w Simulator,
    told: &'w Mutex<Told>,
    random: StdRng,
}

impl Customer<'_> {
    fn ask(&mut self, path: &str, body: &Value) -> io::Result<Option<Value>> {
        let mut client = self.shop.client();
        let sent = client.try_send(
            "POST",
            path,
            &[("content-type", "application/json")],
            body.to_string().as_bytes(),
        );
        let answer = sent.inspect_err(|_| self.told.lock().unwrap().unanswered += 1)?;
        match answer.status {
            200 | 201 => Ok(Some(answer.json()["data"].clone())),
            // A server that has just come up again, or a payment somebody else is at.
            503 => Ok(None),
            status => panic!("{path}: {status} {}", String::from_utf8_lossy(&answer.body)),
        }
    }

    fn note(&self, reference: &str, status: &str) {
        self.told.lock().unwrap().statuses.insert(reference.to_owned(), status.to_owned());
    }

    /// A payment from its preparation to its end, as far as the server lets it come.
    fn buy(&mut self) -> io::Result<()> {
        let flow = Flow::BOTH[usize::from(self.random.random_bool(0.5))];
        let wire = Wire::BOTH[usize::from(self.random.random_bool(0.5))];
        let Some(data) = self.ask(flow.path(), &Shop::order(wire))? else { return Ok(()) };
        let reference = data["serviceReference"].as_str().unwrap().to_owned();
        self.note(&reference, "prepared");
        let declined = self.random.random_bool(0.25);
        if flow == Flow::Hosted {
            let url = data["checkoutUrl"].as_str().unwrap();
            if declined {
                self.simulator.submit(url, DECLINED_CARD);
            } else {
                self.simulator.pay_page(url);
            }
            return Ok(());
        }
        let path = Shop::confirm_path(&reference);
        let body = match wire {
            Wire::Stripe => {
                let method = if declined { "pm_card_chargeDeclined" } else { "pm_card_visa" };
                self.simulator.confirm_intent(&data["component"], method);
                json!({"paymentIntentId": data["component"]["paymentIntentId"]})
            }
            Wire::Adyen => panic!("not played here"),
            Wire::Square => {
                let card = if declined { "4000000000000002" } else { "4242424242424242" };
                json!({"sourceId": self.simulator.card_token(card)})
            }
        };
        // A caller who gets no answer repeats the call, as they should.
        for _ in 0..2 {
            match self.ask(&path, &body) {
                Ok(Some(data)) => {
                    self.note(&reference, data["transaction"]["status"].as_str().unwrap());
                    return Ok(());
                }
                Ok(None) => {}
                Err(_) => thread::sleep(Duration::from_millis(30)),
            }
        }
        Ok(())
    }
}

fn kills_in_the_midst_of_payments_lose_and_double_nothing(kind: StoreKind) {
    let (seed, began) = (seed(), Instant::now());
    let mut world = World::start_with(kind, start);
    let address = world.server.address().to_string();
    let told = Mutex::new(Told::default());
    let (over, kills) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut random = randomness(seed, 0);
    let World { server, simulator, shop, store, .. } = &mut world;
    let (simulator, shop, store) = (&*simulator, &*shop, &*store);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&over);
        let customers: Vec<_> = (1..=CUSTOMERS)
            .map(|number| {
                let random = randomness(seed, number);
                let mut customer = Customer { shop, simulator, told: &told, random };
                let over = &over;
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        if customer.buy().is_err() {
                            thread::sleep(Duration::from_millis(20));
                        }
                    }
                })
            })
            .collect();
        while kills.load(Ordering::Relaxed) < KILLS
            && !customers.iter().any(thread::ScopedJoinHandle::is_finished)
        {
            thread::sleep(Duration::from_millis(random.random_range(20..260)));
            server.kill();
            kills.fetch_add(1, Ordering::Relaxed);
            *server = start(store).with("TOLLGATE_LISTEN", &address).run();
        }
    });
    let stormed = began.elapsed();
    let told = told.into_inner().unwrap();
    let audit = wait_agreement(shop, simulator, Duration::from_secs(120));
    println!(
        "{KILLS} kills in {stormed:?}: {} payments told of, {} recorded, {} charged, {} calls unanswered; settled after {:?}",
        told.statuses.len(),
        audit.payments,
        audit.charged,
        told.unanswered,
        began.elapsed().saturating_sub(stormed),
    );
    assert_eq!(kills.into_inner(), KILLS, "a customer met something else than a kill, as told above");
    assert!(told.unanswered > 0, "no kill came in the midst of anything");
    assert!(told.statuses.len() > 20 && audit.charged > 10, "there was too little going on");
    check_told(shop, &told);
    let mut client = Client::new(server.address(), "");
    assert_eq!(client.get("/readyz").status, 200);
}

/// What a caller was told is there, and was not taken back.
fn check_told(shop: &Shop, told: &Told) {
    for (reference, status) in &told.statuses {
        let read = shop.read_payment(reference).data(200);
        let now = read["transaction"]["status"].as_str();
        let kept = match status.as_str() {
            "succeeded" => now == Some("succeeded"),
            "failed" => now == Some("failed"),
            "pending" | "processing" => now.is_some(),
            _ => true,
        };
        assert!(kept, "{reference} was told to be {status} and is {now:?}");
    }
}
