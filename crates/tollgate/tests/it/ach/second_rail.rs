//! A transfer's life on the second provider of bank transfers: a lost answer, two crashes, webhooks, a late return.

use std::thread;

use serde_json::{Value, json};

use crate::support::{
    BANK_WAIT_TIMEOUT, BankStore, BankWorld, Desk, On, TRANSFERS, on_each_store, wait_until,
};

/// The desk's configuration, with the other adapter behind the provider's name.
fn second_rail(world: &BankWorld) -> Value {
    let mut document = world.desk.document(world.simulator.address());
    document["providers"]["ach_provider_a"] = json!({
        "adapter": "modern_treasury",
        "credentials": {
            "organizationId": "organization_simulator", "apiKey": "modern_treasury_simulator_key",
            "webhookKey": world.desk.webhook_secret(),
        },
        "funding": {"originatingAccountId": "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a01"},
        "baseUrl": format!("http://{}/modern_treasury", world.simulator.address()),
    });
    document
}

fn orders(world: &BankWorld) -> Vec<Value> {
    let state = world.simulator.control("GET", "state", &Value::Null);
    state["modern_treasury"]["payment_orders"].as_array().unwrap().clone()
}

/// The one order that was taken under a reference.
#[track_caller]
fn sole(world: &BankWorld, reference: &str) -> String {
    let mut found = orders(world);
    found.retain(|order| order["external_id"] == reference);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]["id"].as_str().unwrap().to_owned()
}

fn drive(world: &BankWorld, id: &str, action: &str, body: &Value) {
    world.simulator.control("POST", &format!("modern_treasury/payment_orders/{id}/{action}"), body);
}

fn fault(world: &BankWorld, kind: &str, count: u64, delay_ms: u64) {
    let fault = json!({
        "wire": "modern_treasury", "operation": "payment_orders.create", "fault": kind, "count": count,
        "delay_ms": delay_ms,
    });
    world.simulator.control("POST", "faults", &fault);
}

fn a_transfer_lives_and_dies_on_the_second_rail(on: On) {
    let mut world = BankWorld::start(on);
    world.desk.configure(&second_rail(&world));
    world.simulator.send_no_webhooks();
    let target = json!({
        "wire": "modern_treasury", "url": world.desk.webhook_url(), "secret": world.desk.webhook_secret(),
    });
    world.simulator.control("POST", "webhooks", &target);

    // Taken, and every answer lost.
    fault(&world, "error_after", 3, 0);
    let made = world.desk.transfer(&world.desk.body("a lost answer", 10_000)).data(201);
    let reference = made["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    world.desk.wait_status(&reference, "processing");
    let id = sole(&world, &reference);

    // What the provider tells while nobody is there to hear it is learned afterwards.
    world.server.kill();
    drive(&world, &id, "complete", &json!({}));
    world.serve_again(BankStore::serve);
    world.desk.wait_status(&reference, "succeeded");

    // A completed ACH transfer can still come back.
    drive(&world, &id, "return", &json!({"code": "R02"}));
    world.desk.wait_status(&reference, "failed");
    assert_eq!(world.desk.transaction(&reference)["failure"]["code"], "R02");
    assert_eq!(world.desk.postings(&reference), ["reserve", "settle", "reverse"]);

    // The server dies after the provider has taken the order, and before it says so.
    world.simulator.clear_faults();
    fault(&world, "timeout_after", 1, 2_000);
    let desk = world.desk.clone();
    let caller = thread::spawn(move || {
        let body = desk.body("a killed server", 10_000).to_string();
        desk.client().try_send("POST", TRANSFERS, &[("content-type", "application/json")], body.as_bytes())
    });
    wait_until("the order is taken", BANK_WAIT_TIMEOUT, || orders(&world).len() == 2);
    world.server.kill();
    let _ = caller.join();
    world.serve_again(BankStore::serve);
    let again = world.desk.transfer(&world.desk.body("a killed server", 10_000)).json();
    let reference = again["data"]["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    world.desk.wait_status(&reference, "processing");
    sole(&world, &reference);
    world.desk.wait_events(&world.simulator);
    world.desk.assert_books(Desk::FUNDS);
}

on_each_store! {
    a_transfer_lives_and_dies_on_the_second_rail
}
