//! What a lost answer left open at the provider is closed there, whatever goes wrong with that in turn.

use serde_json::json;

use super::cell::{Cell, Stage, Times};
use crate::support::{Flow, StoreKind, WAIT_TIMEOUT, Wire, World, on_both_stores, wait_until};

on_both_stores! {
    a_charge_in_doubt_is_not_given_up_because_the_credentials_changed
    a_preparation_in_doubt_is_not_given_up_because_the_credentials_changed
    a_preparation_in_doubt_is_repeated_with_the_options_it_had
}

impl Stage {
    /// The answer to a preparation is lost, and then the fault strikes whatever takes it back.
    pub(super) fn play_take_back(&self, cell: &Cell) {
        let before = self.references();
        let create = match (cell.flow(), cell.wire) {
            (Flow::Hosted, Wire::Stripe) => "checkout.sessions.create",
            (Flow::Hosted, Wire::Square | Wire::Adyen) => "payment_links.create",
            (Flow::Component, _) => "payment_intents.create",
        };
        let Self { shop, simulator, .. } = self;
        simulator.fault(cell.wire, create, "error_after", 1_000, 0);
        let strike =
            |kind: &str| simulator.fault(cell.wire, cell.operation(), kind, cell.count(), cell.delay_ms());
        let super::cell::Fault::Exchange(kind) = cell.fault else { panic!("{cell}") };
        assert_eq!(shop.try_prepare(cell.flow(), cell.wire).failure(503), "provider_unavailable");
        let made: Vec<_> = self.references().into_iter().filter(|it| !before.contains(it)).collect();
        assert_eq!(made.len(), 1, "{cell}");
        let reference = &made[0];
        assert_eq!(simulator.truth(reference).payable, 1, "{cell}: it was made though nobody was told");
        let closed_before = simulator.calls(cell.wire, cell.operation());
        simulator.clear_faults();
        strike(kind);
        let calls = || simulator.calls(cell.wire, cell.operation()) - closed_before;
        let is_taken_back = || {
            matches!(shop.story(reference)["preparation"]["status"].as_str(), Some("withdrawn" | "expired"))
        };
        wait_until("the fault has struck", WAIT_TIMEOUT, || calls() >= 1);
        if cell.times == Times::EveryTry {
            // What can be read, or says that it is gone already, is not asked again.
            let least = if kind == "unknown_status" || cell.wire == Wire::Square { 1 } else { 3 };
            // On a busy machine the call's deadline can pass before its last try, and the webhook of what was done ends it.
            wait_until("every try was struck", WAIT_TIMEOUT, || calls() >= least || is_taken_back());
        }
        simulator.clear_faults();
        // Whoever does not understand the answer looks again, and finds it closed.
        shop.wait(reference, "taken back", is_taken_back);
        let truth = simulator.truth(reference);
        assert_eq!((truth.charged, truth.payable), (0, 0), "{cell}: {truth:?}");
        // A status nobody has heard of is recorded as one that is not known yet, and then as what it turns out to be.
        let expected =
            if kind == "unknown_status" && cell.wire != Wire::Square { Some("canceled") } else { None };
        shop.wait(reference, "over", || shop.status(reference).as_deref() == expected);
        let again = shop.prepare(cell.flow(), cell.wire);
        self.pay(cell, &again);
    }
}

/// The charge was made and its answer lost. That the provider then refuses to hear from us says nothing about the
/// charge: were it taken for a decline, the customer would be asked for another card and pay twice.
fn a_charge_in_doubt_is_not_given_up_because_the_credentials_changed(kind: StoreKind) {
    let world = World::start(kind);
    let World { simulator, shop, .. } = &world;
    simulator.send_no_webhooks();
    let good = shop.document(simulator.address());
    let mut wrong = good.clone();
    wrong["providers"]["card_provider_b"]["credentials"]["accessToken"] = json!("revoked");
    let prepared = shop.prepare(Flow::Component, Wire::Square);
    let reference = prepared.reference.as_str();
    simulator.fault(Wire::Square, "payments.create", "timeout_after", 1_000, 6_000);
    let body = json!({"sourceId": simulator.card_token("4242424242424242")});
    let answer = std::thread::scope(|scope| {
        let confirm = scope.spawn(|| shop.confirm(reference, &body));
        wait_until("the card was charged", WAIT_TIMEOUT, || simulator.truth(reference).charged == 1);
        shop.configure(&wrong);
        confirm.join().unwrap()
    });
    assert_eq!(answer.data(200)["transaction"]["status"], "pending");
    simulator.clear_faults();
    let refused = |line: &serde_json::Value| line["detail"].to_string().contains("401");
    wait_until("the resolver was turned away", WAIT_TIMEOUT, || {
        shop.lines(reference, "provider_call").iter().any(refused)
    });
    assert_eq!(shop.status(reference).as_deref(), Some("pending"), "{:#}", shop.story(reference));
    assert_eq!(simulator.truth(reference).charged, 1);
    shop.configure(&good);
    shop.wait_status(reference, "succeeded");
    assert_eq!(simulator.truth(reference).charged, 1);
}

/// The same of a preparation: the provider has something that can be paid until it is closed.
fn a_preparation_in_doubt_is_not_given_up_because_the_credentials_changed(kind: StoreKind) {
    let world = World::start(kind);
    let World { simulator, shop, .. } = &world;
    let good = shop.document(simulator.address());
    let mut wrong = good.clone();
    wrong["providers"]["card_provider_a"]["credentials"]["secretKey"] = json!("sk_test_revoked");
    wrong["providers"]["card_provider_b"]["credentials"]["accessToken"] = json!("revoked");
    for (wire, operation) in
        [(Wire::Stripe, "checkout.sessions.create"), (Wire::Square, "payment_links.create")]
    {
        simulator.fault(wire, operation, "timeout_after", 1_000, 6_000);
        let answer = std::thread::scope(|scope| {
            let prepare = scope.spawn(|| shop.try_prepare(Flow::Hosted, wire));
            wait_until("it was made", WAIT_TIMEOUT, || simulator.calls(wire, operation) >= 1);
            shop.configure(&wrong);
            prepare.join().unwrap()
        });
        assert_eq!(answer.failure(503), "provider_unavailable");
        simulator.clear_faults();
        let reference = shop.listed("payments")[0]["serviceReference"].as_str().unwrap().to_owned();
        // Other credentials may be another account's: it is not asked for there.
        wait_until("it waits for its account", WAIT_TIMEOUT, || {
            shop.story(&reference)["exceptions"][0]["kind"] == "account_changed"
        });
        assert_eq!(simulator.truth(&reference).payable, 1);
        assert_eq!(
            shop.story(&reference)["preparation"]["status"],
            "preparing",
            "{:#}",
            shop.story(&reference)
        );
        shop.configure(&good);
        shop.wait_preparation(&reference, "withdrawn");
        assert_eq!(simulator.truth(&reference).payable, 0);
    }
}

/// The same key for a request that differs in an option would be refused, as if nothing had been made.
fn a_preparation_in_doubt_is_repeated_with_the_options_it_had(kind: StoreKind) {
    let world = World::start(kind);
    let World { simulator, shop, .. } = &world;
    simulator.send_no_webhooks();
    for (flow, create) in
        [(Flow::Component, "payment_intents.create"), (Flow::Hosted, "checkout.sessions.create")]
    {
        shop.configure(&shop.document(simulator.address()));
        simulator.fault(Wire::Stripe, create, "error_after", 1_000, 0);
        assert_eq!(shop.try_prepare(flow, Wire::Stripe).failure(503), "provider_unavailable");
        let reference = shop.listed("payments")[0]["serviceReference"].as_str().unwrap().to_owned();
        assert_eq!(simulator.truth(&reference).payable, 1);
        let mut document = shop.document(simulator.address());
        document["providers"]["card_provider_a"]["options"] =
            json!({"paymentMethods": ["link", "card"], "statementDescriptorSuffix": "TICKETS"});
        shop.configure(&document);
        simulator.clear_faults();
        shop.wait(&reference, "taken back", || {
            shop.story(&reference)["preparation"]["status"] == "withdrawn"
        });
        assert_eq!(simulator.truth(&reference).payable, 0, "{flow:?}");
    }
}
