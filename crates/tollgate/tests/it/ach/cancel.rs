//! Canceling a transfer, by its caller and by an operator, while the provider still can.

use serde_json::{Value, json};

use crate::support::{Answer, BankWorld, Desk, On, on_each_store};

fn cancel(desk: &Desk, reference: &str) -> Answer {
    desk.client().post(&format!("/client/v1/ach/transfers/{reference}/cancel"), &json!({}))
}

fn a_transfer_that_waits_for_an_approval_is_canceled_once(on: On) {
    let world = BankWorld::start_without_looks(on);
    let desk = &world.desk;
    let (reference, id) = world.taken("called off by its caller");
    // The provider can only cancel what waits for an approval.
    assert_eq!(cancel(desk, &reference).failure(409), "not_cancelable");
    assert_eq!(desk.status(&reference), "processing");
    world.simulator.staff(&id, "require_approval");
    let canceled = cancel(desk, &reference).data(200);
    assert_eq!(
        (&canceled["transaction"]["status"], &canceled["replayed"]),
        (&json!("canceled"), &json!(false))
    );
    assert_eq!(canceled["transaction"]["pendingAction"], Value::Null);
    let calls = world.simulator.calls("ach_transfers.cancel");
    let again = cancel(desk, &reference);
    assert_eq!(again.headers.get("idempotent-replayed").map(String::as_str), Some("true"));
    assert_eq!(again.data(200)["replayed"], true);
    assert_eq!(world.simulator.calls("ach_transfers.cancel"), calls);
    assert_eq!(world.simulator.sole(&reference).status, "canceled");
    assert_eq!(desk.postings(&reference), ["reserve", "release"]);

    // The answer is lost, every time: the transfer says so, and the webhook settles it, perhaps before the answer.
    let (reference, id) = world.taken("called off into the dark");
    world.simulator.staff(&id, "require_approval");
    world.simulator.fault("ach_transfers.cancel", "error_after", 3, 0);
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

on_each_store! {
    a_transfer_that_waits_for_an_approval_is_canceled_once
}
