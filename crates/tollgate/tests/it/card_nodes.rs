//! Two nodes on one database, both looking after the same payments.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use crate::support::{
    Answer, Database, Flow, Prepared, QUOTE, Server, Shop, Simulator, Store, WAIT_TIMEOUT, Wire,
    wait_agreement, wait_until,
};

const PAYMENTS: usize = 24;

struct Nodes {
    a: Server,
    b: Server,
    simulator: Simulator,
    /// The same shop by way of either node.
    at_a: Shop,
    at_b: Shop,
    // Dropped last: the servers are gone by then.
    store: Store,
}

impl Nodes {
    fn start() -> Self {
        let store = Store::Postgres(Database::create());
        // A try may be as slow as a machine that is busy with other things.
        let start = || store.serve().with("TOLLGATE_PROVIDER_TIMEOUT_MS", "15000");
        let (a, b) = (start().run(), start().run());
        let simulator = Simulator::start();
        let at_a = Shop::open(&a, &simulator);
        let at_b = at_a.at(&b);
        wait_until("the other node knows the shop", WAIT_TIMEOUT, || {
            at_b.client().post(QUOTE, &Shop::order(Wire::Square)).status == 200
        });
        Self { a, b, simulator, at_a, at_b, store }
    }

    fn shop(&self, number: usize) -> &Shop {
        if number.is_multiple_of(2) { &self.at_a } else { &self.at_b }
    }
}

/// Lines of the resolver's own calls to one operation.
fn looks(shop: &Shop, reference: &str, operation: &str) -> Vec<Value> {
    let lines = shop.lines(reference, "provider_call");
    lines
        .into_iter()
        .filter(|line| line["requestId"].is_null() && line["detail"]["operation"] == operation)
        .collect()
}

#[test]
fn what_is_due_is_done_by_one_node_once() {
    let nodes = Nodes::start();
    let simulator = &nodes.simulator;
    simulator.send_no_webhooks();
    let prepared: Vec<Prepared> =
        (0..PAYMENTS).map(|number| nodes.shop(number).prepare(Flow::Component, Wire::Square)).collect();
    // Every charge is made and every answer lost, and every preparation likewise.
    simulator.fault(Wire::Square, "payments.create", "error_after", 1_000, 0);
    simulator.fault(Wire::Square, "payment_links.create", "error_after", 1_000, 0);
    simulator.fault(Wire::Stripe, "payment_intents.create", "error_after", 1_000, 0);
    thread::scope(|scope| {
        for (number, prepared) in prepared.iter().enumerate() {
            let shop = nodes.shop(number);
            scope.spawn(|| {
                let data = shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
                assert_eq!(data["transaction"]["status"], "pending");
            });
        }
        for number in 0..PAYMENTS {
            let shop = nodes.shop(number);
            scope.spawn(move || {
                let (flow, wire) = if number % 4 < 2 {
                    (Flow::Hosted, Wire::Square)
                } else {
                    (Flow::Component, Wire::Stripe)
                };
                assert_eq!(shop.try_prepare(flow, wire).failure(503), "provider_unavailable");
            });
        }
    });
    let struck = simulator.calls(Wire::Square, "payments.create");
    simulator.clear_faults();
    let audit = wait_agreement(&nodes.at_a, simulator, WAIT_TIMEOUT);
    assert_eq!((audit.payments, audit.charged), (2 * PAYMENTS, PAYMENTS), "{audit:?}");
    for prepared in &prepared {
        assert_eq!(nodes.at_b.moves(&prepared.reference), ["pending", "succeeded"]);
    }
    // Each was asked for by the resolvers until it was known, and by neither of them afterwards.
    let known =
        |line: &Value| line["detail"]["tries"].as_array().unwrap().iter().any(|one| one["outcome"] == "ok");
    for prepared in &prepared {
        let looks = looks(&nodes.at_a, &prepared.reference, "payments.create");
        assert_eq!(looks.iter().filter(|line| known(line)).count(), 1, "{looks:#?}");
    }
    for payment in nodes.at_a.listed("payments?status=withdrawn") {
        let reference = payment["serviceReference"].as_str().unwrap();
        let closed = ["payment_links.delete", "payment_intents.cancel"].map(|operation| {
            looks(&nodes.at_a, reference, operation).iter().filter(|line| known(line)).count()
        });
        assert_eq!(closed.iter().sum::<usize>(), 1, "{reference} was closed {closed:?} times");
        let ends = nodes.at_a.lines(reference, "preparation");
        assert_eq!(ends.len(), 1, "{ends:#?}");
    }
    assert_eq!(nodes.at_a.listed("payments?status=withdrawn").len(), PAYMENTS);
    println!(
        "{struck} charges struck, {} asked for in all",
        simulator.calls(Wire::Square, "payments.create")
    );
}

/// A hundred callers at two nodes each want a tenth of a payment back: ten of them get it.
#[test]
fn refunds_at_both_nodes_never_exceed_the_payment() {
    let nodes = Nodes::start();
    for wire in Wire::BOTH {
        let prepared = nodes.at_a.prepare(Flow::Component, wire);
        let reference = prepared.reference.as_str();
        if wire == Wire::Stripe {
            nodes.simulator.pay_intent(prepared.component());
        }
        nodes.at_a.confirm(reference, &prepared.confirm_body()).data(200);
        nodes.at_a.wait_status(reference, "succeeded");
        let path = format!("/client/v1/transactions/{reference}/refunds");
        let answers: Vec<_> = thread::scope(|scope| {
            let asking: Vec<_> = (0..100)
                .map(|number| {
                    let (shop, path) = (nodes.shop(number), &path);
                    let key = format!("tenth-{reference}-{number}");
                    let body = json!({"idempotencyKey": key, "amountMinor": "1000"});
                    // Whoever does not get a turn in time asks again.
                    scope.spawn(move || {
                        let mut client = shop.client();
                        let mut answer = client.post(path, &body);
                        wait_until("a turn", WAIT_TIMEOUT, || {
                            if answer.status == 503 {
                                thread::sleep(Duration::from_millis(200));
                                answer = client.post(path, &body);
                            }
                            answer.status != 503
                        });
                        answer
                    })
                })
                .collect();
            asking.into_iter().map(|one| one.join().unwrap()).collect()
        });
        // Asked again, a refund that was made after all is answered as known.
        let is_made = |answer: &&Answer| matches!(answer.status, 200 | 201);
        let made = answers.iter().filter(is_made).count();
        let refused = answers
            .iter()
            .filter(|answer| answer.status == 409 && answer.failure(409) == "refund_exceeds_remaining")
            .count();
        let others: Vec<_> =
            answers.iter().filter(|it| !is_made(it)).map(|it| it.json()["error"]["code"].clone()).collect();
        assert_eq!((made, refused), (10, 90), "{wire:?}: {others:?}");
        nodes.at_b.wait_status(reference, "refunded");
        assert_eq!(nodes.simulator.truth(reference).refunded, 10_375, "{wire:?}");
    }
}

/// Each event is delivered to both nodes, and each confirm is sent to both.
#[test]
fn both_nodes_told_at_once_record_once() {
    let nodes = Nodes::start();
    let simulator = &nodes.simulator;
    for wire in Wire::BOTH {
        let url = nodes.at_b.webhook_url(wire);
        simulator.send_webhooks_to(wire, &url, &nodes.at_b.webhook_secret(wire));
    }
    thread::scope(|scope| {
        for number in 0..PAYMENTS {
            let (nodes, wire) = (&nodes, Wire::BOTH[number % 2]);
            let flow = Flow::BOTH[number / 2 % 2];
            scope.spawn(move || {
                let prepared = nodes.shop(number).prepare(flow, wire);
                if flow == Flow::Hosted {
                    simulator.pay_page(prepared.checkout_url());
                    return;
                }
                if wire == Wire::Stripe {
                    simulator.pay_intent(prepared.component());
                }
                let reference = prepared.reference.as_str();
                let body = match wire {
                    Wire::Stripe => prepared.confirm_body(),
                    Wire::Adyen => panic!("not played here"),
                    Wire::Square => json!({"sourceId": simulator.card_token("4242424242424242")}),
                };
                let confirmed: Vec<Value> = thread::scope(|inner| {
                    let calls: Vec<_> = (0..4)
                        .map(|caller| {
                            let body = &body;
                            inner.spawn(move || nodes.shop(caller).confirm(reference, body).data(200))
                        })
                        .collect();
                    calls.into_iter().map(|call| call.join().unwrap()).collect()
                });
                let first = confirmed.iter().filter(|data| data["replayed"] == false).count();
                assert_eq!(first, 1, "{wire:?}: {confirmed:#?}");
                assert!(
                    confirmed.iter().all(|data| data["transaction"]["status"] == "succeeded"),
                    "{confirmed:#?}"
                );
            });
        }
    });
    let audit = wait_agreement(&nodes.at_b, simulator, WAIT_TIMEOUT);
    assert_eq!((audit.payments, audit.charged), (PAYMENTS, PAYMENTS), "{audit:?}");
    wait_until("every webhook has arrived", WAIT_TIMEOUT, || simulator.webhooks_pending() == 0);
    for event in nodes.at_a.listed("provider-events") {
        assert_ne!(event["state"], "waiting", "{event}");
    }
    for payment in nodes.at_a.listed("payments") {
        let reference = payment["serviceReference"].as_str().unwrap();
        let mut ids: Vec<_> = nodes
            .at_a
            .lines(reference, "webhook")
            .iter()
            .map(|line| line["detail"]["eventId"].as_str().unwrap().to_owned())
            .collect();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "{reference}: an event was applied by both nodes");
    }
}

/// A node that dies takes nothing with it: the other one finishes.
#[test]
fn one_node_finishes_what_the_other_began() {
    let mut nodes = Nodes::start();
    let simulator = &nodes.simulator;
    let card = nodes.at_a.prepare(Flow::Component, Wire::Square);
    simulator.send_no_webhooks();
    simulator.fault(Wire::Square, "payments.create", "timeout_after", 1_000, 20_000);
    simulator.fault(Wire::Stripe, "checkout.sessions.create", "timeout_after", 1_000, 20_000);
    thread::scope(|scope| {
        let (at_a, reference, body) = (&nodes.at_a, card.reference.clone(), card.confirm_body().to_string());
        let json = [("content-type", "application/json")];
        let confirm = scope.spawn(move || {
            at_a.client().try_send("POST", &Shop::confirm_path(&reference), &json, body.as_bytes())
        });
        let prepare = scope.spawn(move || {
            let body = Shop::order(Wire::Stripe).to_string();
            at_a.client().try_send("POST", Flow::Hosted.path(), &json, body.as_bytes())
        });
        wait_until("both hang", WAIT_TIMEOUT, || {
            simulator.calls(Wire::Square, "payments.create") > 0
                && simulator.calls(Wire::Stripe, "checkout.sessions.create") > 0
        });
        nodes.a.kill();
        assert!(confirm.join().unwrap().is_err() && prepare.join().unwrap().is_err());
    });
    simulator.clear_faults();
    nodes.store.end_leases();
    nodes.at_b.wait_status(&card.reference, "succeeded");
    assert_eq!(simulator.truth(&card.reference).charged, 1);
    let audit = wait_agreement(&nodes.at_b, simulator, Duration::from_secs(120));
    assert_eq!((audit.payments, audit.charged), (2, 1), "{audit:?}");
    assert_eq!(nodes.at_b.listed("payments?status=withdrawn").len(), 1);
    assert_eq!(nodes.b.client("").get("/readyz").status, 200);
}
