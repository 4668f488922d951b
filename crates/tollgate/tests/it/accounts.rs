//! A payment in doubt stays with the account it was sent to: a configuration that leads elsewhere never sends it again.

use serde_json::{Value, json};

use crate::support::{
    BANK_WAIT_TIMEOUT, BankSimulator, BankWorld, Flow, On, Simulator, StoreKind, WAIT_TIMEOUT, Wire, World,
    on_each_store, wait_until,
};

/// More than a test's calls.
const ALWAYS: u64 = 1_000;
/// Longer than an exchange may take.
const DELAY_MS: u64 = 6_000;

on_each_store! {
    a_transfer_in_doubt_is_not_sent_through_another_address
    a_transfer_in_doubt_is_not_sent_from_another_account
    an_operator_can_let_a_transfer_go_on_at_the_new_address
    a_charge_in_doubt_is_not_made_at_another_address
    a_preparation_in_doubt_is_not_made_at_another_address
    a_settled_transfer_waits_while_its_address_is_not_configured
}

/// Waits until the operator is shown that the account has changed.
#[track_caller]
fn wait_exception(world: &BankWorld, reference: &str) -> Value {
    let desk = &world.desk;
    desk.wait(reference, "waiting for an operator", || !desk.story(reference)["exceptions"][0].is_null());
    let story = desk.story(reference);
    assert_eq!(story["exceptions"].as_array().unwrap().len(), 1, "{story:#}");
    assert_eq!(story["exceptions"][0]["kind"], "account_changed", "{story:#}");
    assert!(story["waitingFor"].as_str().unwrap().contains("configuration"), "{story:#}");
    story
}

fn a_transfer_in_doubt_is_not_sent_through_another_address(on: On) {
    let world = BankWorld::start(on);
    let other = BankSimulator::start();
    let desk = &world.desk;
    world.simulator.send_no_webhooks();
    let elsewhere = desk.document(other.address());
    // The configuration changes before anything could be asked again.
    world.simulator.fault("ach_transfers.list", "timeout_before", ALWAYS, DELAY_MS);
    world.simulator.fault("ach_transfers.create", "timeout_after", ALWAYS, DELAY_MS);
    let data = desk.transfer(&desk.body("at one account only", 10_000)).data(201);
    let reference = data["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    desk.configure(&elsewhere);
    wait_exception(&world, &reference);
    assert_eq!(other.calls("ach_transfers.create"), 0);
    assert_eq!(desk.status(&reference), "pending");
    world.simulator.clear_faults();
    desk.configure(&desk.document(world.simulator.address()));
    desk.wait_status(&reference, "processing");
    world.simulator.sole(&reference);
    assert!(other.accepted_as(&reference).is_empty());
    desk.assert_books(crate::support::Desk::FUNDS);
}

fn a_transfer_in_doubt_is_not_sent_from_another_account(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    world.simulator.send_no_webhooks();
    world.simulator.fault("ach_transfers.create", "timeout_before", ALWAYS, DELAY_MS);
    let data = desk.transfer(&desk.body("not taken yet", 10_000)).data(201);
    let reference = data["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    let mut document = desk.document(world.simulator.address());
    document["providers"]["ach_provider_a"]["funding"]["accountId"] = json!("account_of_others");
    desk.configure(&document);
    // A look that began before goes on with the account as it was, and must not find the provider well again.
    wait_exception(&world, &reference);
    assert!(world.simulator.accepted_as(&reference).is_empty());
    world.simulator.clear_faults();
    desk.configure(&desk.document(world.simulator.address()));
    desk.wait_status(&reference, "processing");
    world.simulator.sole(&reference);
}

fn an_operator_can_let_a_transfer_go_on_at_the_new_address(on: On) {
    let world = BankWorld::start(on);
    let other = BankSimulator::start();
    let desk = &world.desk;
    world.simulator.send_no_webhooks();
    world.simulator.fault("ach_transfers.create", "timeout_before", ALWAYS, DELAY_MS);
    world.simulator.fault("ach_transfers.list", "timeout_before", ALWAYS, DELAY_MS);
    let data = desk.transfer(&desk.body("never taken", 10_000)).data(201);
    let reference = data["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    desk.configure(&desk.document(other.address()));
    wait_exception(&world, &reference);
    let path = desk.path(&format!("/payments/{reference}/use-configured-account"));
    desk.admin().post(&path, &json!({})).data(200);
    desk.wait_status(&reference, "processing");
    other.sole(&reference);
    assert!(world.simulator.accepted_as(&reference).is_empty());
    let story = desk.story(&reference);
    let lines = story["timeline"].as_array().unwrap();
    assert!(lines.iter().any(|line| line["kind"] == "account"), "{story:#}");
    let unknown = desk.path("/payments/ach_00000000000000000000000000/use-configured-account");
    assert_eq!(desk.admin().post(&unknown, &json!({})).status, 404);
}

fn a_settled_transfer_waits_while_its_address_is_not_configured(on: On) {
    let world = BankWorld::start(on);
    let other = BankSimulator::start();
    let desk = &world.desk;
    let (reference, id) = world.taken("taken before");
    // A look that began before the change must not find out.
    world.simulator.fault("ach_transfers.retrieve", "timeout_before", ALWAYS, DELAY_MS);
    desk.configure(&desk.document(other.address()));
    // The webhook comes while nothing can be read at the account it is about.
    world.simulator.simulate(&id, "settle", &json!({}));
    wait_exception(&world, &reference);
    assert_eq!(desk.status(&reference), "processing");
    world.simulator.clear_faults();
    desk.configure(&desk.document(world.simulator.address()));
    desk.wait_status(&reference, "succeeded");
}

fn of_cards(on: On) -> World {
    World::start(match on {
        On::Sqlite => StoreKind::Sqlite,
        On::Postgres => StoreKind::Postgres,
    })
}

/// Waits until the operator is shown that the account has changed.
#[track_caller]
fn wait_card_exception(world: &World, reference: &str) {
    let shop = &world.shop;
    shop.wait(reference, "waiting for an operator", || !shop.story(reference)["exceptions"][0].is_null());
    let story = shop.story(reference);
    assert_eq!(story["exceptions"][0]["kind"], "account_changed", "{story:#}");
    assert_eq!(story["exceptions"].as_array().unwrap().len(), 1, "{story:#}");
}

fn a_charge_in_doubt_is_not_made_at_another_address(on: On) {
    let world = of_cards(on);
    let other = Simulator::start();
    let (shop, simulator) = (&world.shop, &world.simulator);
    simulator.send_no_webhooks();
    simulator.fault(Wire::Square, "payments.create", "timeout_after", ALWAYS, DELAY_MS);
    let prepared = shop.prepare(Flow::Component, Wire::Square);
    let data = shop.confirm(&prepared.reference, &prepared.confirm_body()).data(200);
    assert_eq!(data["transaction"]["status"], "pending", "{data:#}");
    shop.configure(&shop.document(other.address()));
    wait_card_exception(&world, &prepared.reference);
    assert_eq!(other.calls(Wire::Square, "payments.create"), 0);
    simulator.clear_faults();
    shop.configure(&shop.document(simulator.address()));
    shop.wait_status(&prepared.reference, "succeeded");
    assert_eq!(simulator.truth(&prepared.reference).charged, 1);
    assert_eq!(other.truth(&prepared.reference).charged, 0);
}

fn a_preparation_in_doubt_is_not_made_at_another_address(on: On) {
    let world = of_cards(on);
    let other = Simulator::start();
    let (shop, simulator) = (&world.shop, &world.simulator);
    simulator.send_no_webhooks();
    simulator.fault(Wire::Stripe, "checkout.sessions.create", "timeout_after", ALWAYS, DELAY_MS);
    assert_eq!(shop.try_prepare(Flow::Hosted, Wire::Stripe).status, 503);
    let listed = shop.listed("payments");
    let reference = listed[0]["serviceReference"].as_str().unwrap();
    shop.configure(&shop.document(other.address()));
    wait_card_exception(&world, reference);
    assert_eq!(other.truth(reference).objects, 0);
    simulator.clear_faults();
    shop.configure(&shop.document(simulator.address()));
    shop.wait_preparation(reference, "withdrawn");
    wait_until("nothing can be paid", WAIT_TIMEOUT.min(BANK_WAIT_TIMEOUT), || {
        simulator.truth(reference).payable == 0
    });
    assert_eq!(other.truth(reference).objects, 0);
}
