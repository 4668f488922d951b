//! The end of the audit log is sent to those who ask for it by name, and only admins may.

use serde_json::{Value, json};

use super::telling;
use crate::{
    people::{Browser, page, user},
    support::{BankStore, BankWorld, On, Receiver, Subscription, on_each_store},
};

fn serve(store: &BankStore) -> crate::support::Start {
    telling(store.serve_without_looks())
}

fn the_head_of_the_audit_log_is_sent_to_those_who_name_it(on: On) {
    let mut world = BankWorld::start_with(on, serve);
    let (named, all) = (Receiver::open(), Receiver::open());
    let organization = world.desk.admin().get(&world.desk.path("")).data(200)["organizationId"].clone();
    let limited = json!({"name": "Grace", "email": "grace@example.com", "role": "operator", "organizations": [organization]});
    let limited = user(&mut world.desk.admin(), &limited).2;
    let endpoints = world.desk.path("/event-endpoints");
    let new = |receiver: &Receiver, events: &[&str]| json!({"url": receiver.url("/"), "events": events});
    let mut grace = world.server.client(&limited);
    assert_eq!(grace.post(&endpoints, &new(&named, &["audit_log.head"])).failure(403), "forbidden");
    let own = grace.post(&endpoints, &new(&all, &["*"])).data(201)["id"].as_str().unwrap().to_owned();
    let change = json!({"events": ["transaction.failed", "audit_log.head"]});
    let json = [("content-type", "application/json")];
    let changed = grace.send("PATCH", &format!("{endpoints}/{own}"), &json, change.to_string().as_bytes());
    assert_eq!(changed.failure(403), "forbidden");
    let mut admin = world.desk.admin();
    let beside = admin.post(&endpoints, &new(&named, &["*", "audit_log.head"]));
    assert_eq!(beside.failure(400), "invalid_body");
    let mut browser = Browser::sign_in(&world.server, &limited);
    let console = format!("/console/{}/endpoints", world.desk.environment);
    let shown = page(&browser.get(&console));
    assert!(!shown.contains("value=\"audit_log.head\""), "{shown}");
    let csrf = shown.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let tried = "do=add&url=https%3A%2F%2Fexample.com%2F&events=audit_log.head";
    assert_eq!(browser.post(&console, &csrf, tried).status, 403);

    let path = world.desk.path("");
    let subscription = Subscription::create(&mut admin, &path, &named.url("/"), &["audit_log.head"]);
    // A node reports it when it starts, and then every ten minutes.
    world.server.terminate();
    world.serve_again(serve);
    let [parcel] = named.wait_count(1).try_into().unwrap();
    assert!(parcel.is_signed_with(&subscription.secret));
    assert_eq!(parcel.kind(), "audit_log.head");
    let head = parcel.json()["data"]["auditLog"].clone();
    let mut admin = world.desk.admin();
    let before = head["entries"].as_u64().unwrap() + 1;
    let entry =
        admin.get(&format!("/admin/v1/audit-log?before={before}&limit=1")).data(200)["items"][0].clone();
    assert_eq!((&entry["sequence"], &entry["hash"]), (&head["entries"], &head["head"]));
    let [event] = world.desk.listed("events?type=audit_log.head").try_into().unwrap();
    assert_eq!((&event["id"], &event["serviceReference"]), (&json!(parcel.id()), &Value::Null));
    let shown = admin.get(&world.desk.path(&format!("/events/{}", parcel.id()))).data(200);
    assert_eq!((&shown["body"], shown["deliveries"].as_array().unwrap().len()), (&parcel.json(), 1));
    assert_eq!(all.count(), 0, "not among all");
    assert_eq!(admin.get("/admin/v1/audit").data(200)["auditLog"]["problem"], Value::Null);
}

on_each_store! { the_head_of_the_audit_log_is_sent_to_those_who_name_it }
