//! Canceling a transfer, by its caller and by an operator, while the provider still can.

use serde_json::{Value, json};

use crate::support::{Answer, BankRail, BankStore, BankWorld, Desk, On, on_alternate_rails};

fn cancel(desk: &Desk, reference: &str) -> Answer {
    desk.client().post(&format!("/client/v1/ach/transfers/{reference}/cancel"), &json!({}))
}

fn a_transfer_that_waits_for_an_approval_is_canceled_once(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve_without_looks);
    let desk = &world.desk;
    let (late, id) = world.taken("called off too late");
    if rail == BankRail::ModernTreasury {
        // Until it is handed to the bank, this provider can cancel it; the other only while it waits for an approval.
        world.simulator.simulate(&id, "submit", &json!({}));
    }
    assert_eq!(cancel(desk, &late).failure(409), "not_cancelable");
    assert_eq!(desk.status(&late), "processing");
    let (reference, id) = world.taken("called off by its caller");
    world.simulator.staff(&id, "require_approval");
    let canceled = cancel(desk, &reference).data(200);
    assert_eq!(
        (&canceled["transaction"]["status"], &canceled["replayed"]),
        (&json!("canceled"), &json!(false))
    );
    assert_eq!(canceled["transaction"]["pendingAction"], Value::Null);
    let calls = world.simulator.calls(&rail.cancellation());
    let again = cancel(desk, &reference);
    assert_eq!(again.headers.get("idempotent-replayed").map(String::as_str), Some("true"));
    assert_eq!(again.data(200)["replayed"], true);
    assert_eq!(world.simulator.calls(&rail.cancellation()), calls);
    let there = world.simulator.sole(&reference).status;
    assert!(matches!(there.as_str(), "canceled" | "cancelled"), "{there}");
    assert_eq!(desk.postings(&reference), ["reserve", "release"]);

    // The answer is lost, every time: the transfer says so, and the webhook settles it, perhaps before the answer.
    let (reference, id) = world.taken("called off into the dark");
    world.simulator.staff(&id, "require_approval");
    world.simulator.fault(&rail.cancellation(), "error_after", 3, 0);
    let asked = cancel(desk, &reference).data(200)["transaction"].clone();
    assert!(asked["pendingAction"] == "cancel" || asked["status"] == "canceled", "{asked:#}");
    desk.wait_status(&reference, "canceled");
    assert_eq!(desk.transaction(&reference)["pendingAction"], Value::Null);
    assert_eq!(desk.postings(&reference), ["reserve", "release"]);

    let (reference, id) = world.taken("called off by an operator");
    world.simulator.staff(&id, "require_approval");
    let path = desk.path(&format!("/transactions/{reference}/cancel"));
    let canceled = desk.admin().post(&path, &json!({})).data(200);
    assert_eq!(canceled["transaction"]["status"], "canceled");
    desk.wait_events(&world.simulator);
    desk.assert_books(Desk::FUNDS);

    let (reference, id) = world.taken("arrived before it was called off");
    world.simulator.simulate(&id, "settle", &json!({}));
    desk.wait_status(&reference, "succeeded");
    assert_eq!(cancel(desk, &reference).failure(409), "not_cancelable");
    assert_eq!(cancel(desk, "ach_00000000000000000000000000").failure(404), "not_found");
}

on_alternate_rails! {
    a_transfer_that_waits_for_an_approval_is_canceled_once
}
