//! Nothing that pays or proves anything is kept where it could be read: not in the log at its most talkative, not in
//! what an operator sees, not in the database.

use std::fs;

use serde_json::{Value, json};

use crate::{
    secrets::Canary,
    support::{
        Answer, Client, DECLINED_CARD, Flow, SQUARE_TOKEN, STRIPE_KEY, Store, StoreKind, WAIT_TIMEOUT, Wire,
        World, on_both_stores, wait_until,
    },
};

on_both_stores! {
    no_card_token_client_secret_or_credential_is_kept_in_the_open
}

const VERIFICATION: &str = "verf:canary-Qm49xTs7LdY2WkBn86PvRc31";

/// What must not be found, and everything that was said.
#[derive(Default)]
struct Search {
    canaries: Vec<Canary>,
    answers: Vec<Vec<u8>>,
}

impl Search {
    fn hide(&mut self, secret: &str) {
        self.canaries.push(Canary::new(secret));
    }

    fn note(&mut self, answer: Answer) -> Answer {
        let mut said = answer.body.clone();
        said.extend(format!("{:?}", answer.headers).into_bytes());
        self.answers.push(said);
        answer
    }

    #[track_caller]
    fn check(&self, place: &str, text: &[u8]) {
        for canary in &self.canaries {
            assert!(!canary.is_in(text), "{} is in {place}", canary.name);
        }
    }

    /// The database and the server's own files, as they are now.
    fn check_store(&self, world: &World) -> usize {
        let mut bytes = 0;
        for entry in fs::read_dir(&world.server.data_dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let content = fs::read(&path).unwrap();
                bytes += content.len();
                self.check(&path.display().to_string(), &content);
            }
        }
        if let Store::Postgres(database) = &world.store {
            let tables =
                "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'";
            for table in database.texts(tables) {
                for row in database.texts(&format!("SELECT whole::text FROM \"{table}\" AS whole")) {
                    bytes += row.len();
                    self.check(&table, row.as_bytes());
                }
            }
        }
        bytes
    }
}

fn start(store: &Store) -> crate::support::Start {
    store.serve().with("TOLLGATE_LOG", "trace")
}

fn no_card_token_client_secret_or_credential_is_kept_in_the_open(kind: StoreKind) {
    let mut world = World::start_with(kind, start);
    let mut search = Search::default();
    for secret in [STRIPE_KEY, SQUARE_TOKEN, VERIFICATION] {
        search.hide(secret);
    }
    for wire in Wire::BOTH {
        search.hide(&world.shop.webhook_secret(wire));
    }
    search.hide(&world.shop.secret);
    pay_in_every_way(&world, &mut search);
    charge_in_doubt(&world, &mut search);
    refuse_in_every_way(&world, &mut search);
    let shop = &world.shop;
    for list in ["payments", "transactions", "provider-events", "exceptions", "providers", "config"] {
        let answer = shop.admin().get(&shop.path(&format!("/{list}?limit=200")));
        search.note(answer).data(200);
    }
    let references: Vec<_> =
        shop.listed("payments").iter().map(|it| it["serviceReference"].clone()).collect();
    for reference in references {
        let path = shop.path(&format!("/payments/{}", reference.as_str().unwrap()));
        search.note(shop.admin().get(&path)).data(200);
        search.note(shop.read_payment(reference.as_str().unwrap()));
    }
    search.note(Client::new(shop.address(), "").get("/metrics"));
    for answer in &search.answers {
        search.check(&String::from_utf8_lossy(answer), answer);
    }
    search.check_store(&world);
    // Once more when all is written: the log to its last line, the write-ahead log folded in.
    assert!(world.server.terminate().success());
    let bytes = search.check_store(&world);
    let log = world.server.log();
    assert!(
        log.contains("\"level\":\"TRACE\"") || log.contains("\"level\":\"DEBUG\""),
        "the log was not talkative"
    );
    println!(
        "looked for {} secrets in {} answers and {bytes} bytes",
        search.canaries.len(),
        search.answers.len()
    );
    assert!(search.canaries.len() > 12 && bytes > 50_000);
}

/// The part of an intent's secret that is not its name.
fn tail(component: &Value) -> String {
    let secret = component["clientSecret"].as_str().unwrap();
    secret.rsplit("_secret_").next().unwrap().to_owned()
}

fn pay_in_every_way(world: &World, search: &mut Search) {
    let (shop, simulator) = (&world.shop, &world.simulator);
    for method in ["pm_card_visa", "pm_card_chargeDeclined"] {
        let element = shop.prepare(Flow::Component, Wire::Stripe);
        search.hide(&tail(element.component()));
        simulator.confirm_intent(element.component(), method);
        search.note(shop.confirm(&element.reference, &element.confirm_body())).data(200);
    }
    for card in ["4242424242424242", "4000000000000002"] {
        let prepared = shop.prepare(Flow::Component, Wire::Square);
        let token = simulator.card_token(card);
        search.hide(&token);
        let body =
            json!({"sourceId": token, "verificationToken": VERIFICATION, "buyerEmail": "jo@shop.example"});
        for _ in 0..2 {
            search.note(shop.confirm(&prepared.reference, &body)).data(200);
        }
    }
    for wire in Wire::BOTH {
        let hosted = shop.prepare(Flow::Hosted, wire);
        simulator.submit(hosted.checkout_url(), DECLINED_CARD);
        simulator.pay_page(hosted.checkout_url());
        shop.wait_status(&hosted.reference, "succeeded");
    }
    shop.wait_events(simulator);
}

/// A token is kept, sealed, while nobody knows what became of its charge; looked at while it is there.
fn charge_in_doubt(world: &World, search: &mut Search) {
    let (shop, simulator) = (&world.shop, &world.simulator);
    let prepared = shop.prepare(Flow::Component, Wire::Square);
    let token = simulator.card_token("4242424242424242");
    search.hide(&token);
    simulator.fault(Wire::Square, "payments.create", "error_before", 1_000, 0);
    let body = json!({"sourceId": token, "verificationToken": VERIFICATION});
    let pending = search.note(shop.confirm(&prepared.reference, &body)).data(200);
    assert_eq!(pending["transaction"]["status"], "pending");
    search.check_store(world);
    simulator.clear_faults();
    shop.wait_status(&prepared.reference, "succeeded");
}

/// Refusals by the provider's words and by ours, some of which could repeat what they refuse.
fn refuse_in_every_way(world: &World, search: &mut Search) {
    let shop = &world.shop;
    let prepared = shop.prepare(Flow::Component, Wire::Square);
    let unknown = "cnon:canary-Ub85jHf2KoZ7NqMw40XeTi69";
    let misplaced = "cnon:canary-Ry13pWv8CtG6SaLb92DhFk57";
    search.hide(unknown);
    search.hide(misplaced);
    search.note(shop.confirm(&prepared.reference, &json!({"sourceId": unknown}))).data(200);
    for body in [
        json!({"sourceId": "cnon:card-nonce-ok", "verificationToken": [misplaced]}),
        json!({"sourceId": "cnon:card-nonce-ok", "buyerEmail": misplaced}),
        json!({"paymentIntentId": misplaced}),
        json!([misplaced]),
    ] {
        search.note(shop.confirm(&prepared.reference, &body)).failure(400);
    }
    search.note(shop.client().get(&format!("/client/v1/transactions?status={misplaced}"))).failure(400);
    let mut long = json!({"sourceId": format!("{misplaced}{}", "x".repeat(5_000))});
    search.note(shop.confirm(&prepared.reference, &long)).failure(400);
    // Taken here, and too long for the provider, which says so.
    long["sourceId"] = json!(format!("{misplaced}{}", "x".repeat(1_000)));
    search.note(shop.confirm(&prepared.reference, &long)).data(200);
    for wire in Wire::BOTH {
        for (name, value) in [
            ("stripe-signature", format!("t=1,v1={}", shop.webhook_secret(wire))),
            ("x-square-hmacsha256-signature", shop.webhook_secret(wire)),
        ] {
            let answer = shop.post_webhook(wire, &[(name, &value)], shop.webhook_secret(wire).as_bytes());
            search.note(answer).failure(401);
        }
    }
    wait_until("the log is written", WAIT_TIMEOUT, || world.server.log().contains("/webhooks/v1/"));
}
