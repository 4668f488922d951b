//! A configuration that waits for approval is told of once, and without what it says.

use serde_json::{Value, json};

use super::telling;
use crate::{
    people::user,
    support::{
        BANK_WAIT_TIMEOUT, BankStore, BankWorld, On, Receiver, Subscription, on_each_store, wait_until,
    },
};

fn a_proposed_configuration_is_told_of_once(on: On) {
    let world = BankWorld::start_with(on, |store: &BankStore| telling(store.serve_without_looks()));
    let (desk, mut admin, receiver) = (&world.desk, world.desk.admin(), Receiver::open());
    let mut people = ["Ada", "Grace"].map(|name| {
        let new = json!({"name": name, "email": format!("{name}@example.com"), "role": "admin"});
        world.server.client(&user(&mut admin, &new).2)
    });
    let mut document = admin.get(&desk.path("/config")).data(200);
    document["approvals"] = json!({"transfers": [], "configuration": true});
    desk.configure(&document);
    let from_version =
        admin.get(&desk.path("/config")).headers["etag"].trim_matches('"').parse::<u64>().unwrap();
    let wanted = ["approval.required"];
    let subscription = Subscription::create(&mut admin, &desk.path(""), &receiver.url("/"), &wanted);

    document["settings"]["customerTokenLifetimeSeconds"] = json!(1_234);
    let proposed = people[0].put(&desk.path("/config"), &document).data(202);
    let [parcel] = receiver.wait_count(1).try_into().unwrap();
    assert!(parcel.is_signed_with(&subscription.secret));
    let approval = json!({"id": proposed["approvalId"], "kind": "configuration", "fromVersion": from_version,
        "proposedBy": "Ada <ada@example.com>"});
    assert_eq!(parcel.kind(), "approval.required");
    assert_eq!(parcel.json()["data"], json!({"approval": approval}), "no document, and no secret");

    let listed = desk.listed("events?type=approval.required");
    let [event] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!((&event["id"], &event["serviceReference"]), (&json!(parcel.id()), &Value::Null));
    let shown = admin.get(&desk.path(&format!("/events/{}", parcel.id()))).data(200);
    assert_eq!(shown["body"], parcel.json());
    let approve = desk.path(&format!("/approvals/{}/approve", proposed["approvalId"].as_str().unwrap()));
    assert_eq!(people[1].post(&approve, &json!({})).data(200)["state"], "approved");
    wait_until("nothing waits", BANK_WAIT_TIMEOUT, || desk.listed("deliveries?state=waiting").is_empty());
    assert_eq!(receiver.count(), 1);
    let body = json!({});
    admin.post(&desk.path(&format!("/events/{}/resend", parcel.id())), &body).data(200);
    assert_eq!(receiver.wait_count(2)[1].json(), parcel.json(), "the same again when it is asked for");
}

on_each_store! { a_proposed_configuration_is_told_of_once }
