//! What waits for people: transfers by the rules of the configuration, and changes of the configuration itself.

use serde_json::{Value, json};

use crate::{
    people::{Browser, page, user},
    support::{BankRail, BankStore, BankWorld, Client, Desk, On, on_alternate_rails},
};

/// Approves or denies.
fn decide(by: &mut Client, desk: &Desk, approval: &str, what: &str) -> crate::support::Answer {
    by.post(&desk.path(&format!("/approvals/{approval}/{what}")), &json!({}))
}

fn waiting(by: &mut Client, desk: &Desk) -> Vec<Value> {
    by.get(&desk.path("/approvals?state=required")).data(200)["items"].as_array().unwrap().clone()
}

fn what_waits_for_people_is_done_by_their_decision(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve);
    let (desk, mut admin) = (&world.desk, world.desk.admin());
    let mut people = ["Ada", "Grace"].map(|name| {
        let new = json!({"name": name, "email": format!("{name}@example.com"), "role": "admin"});
        user(&mut admin, &new).2
    });
    let [ada_token, grace_token] = &mut people;
    let (mut ada, mut grace) = (world.server.client(ada_token), world.server.client(grace_token));

    let mut document = admin.get(&desk.path("/config")).data(200);
    document["approvals"] = json!({"transfers": [{"id": "large", "count": 2, "conditions": [
        {"id": "amount", "field": "amountMinor", "op": "gte", "value": "10000"}]}], "configuration": true});
    let warned = admin.put(&desk.path("/config"), &document).data(200);
    assert_eq!(warned["warnings"], json!([]));

    let small = desk.made(&desk.body("a small one", 500));
    assert_eq!(desk.transaction(&small)["approval"], Value::Null);
    let made = desk.transfer(&desk.body("a large one", 20_000)).data(201)["transaction"].clone();
    assert_eq!((&made["status"], &made["approval"]["state"]), (&json!("pending"), &json!("required")));
    let reference = made["serviceReference"].as_str().unwrap();
    assert_eq!(desk.postings(reference), ["reserve"]);
    let found = waiting(&mut ada, desk);
    let [approval] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(
        (&approval["kind"], &approval["transfer"]["serviceReference"]),
        (&json!("transfer"), &json!(reference))
    );
    let id = approval["id"].as_str().unwrap();
    assert_eq!(decide(&mut admin, desk, id, "approve").failure(403), "forbidden");
    assert_eq!(decide(&mut ada, desk, id, "approve").data(200)["state"], "required");
    assert_eq!(decide(&mut ada, desk, id, "approve").failure(409), "not_approvable");
    assert_eq!(desk.postings(reference), ["reserve"], "one is not two");
    // Whoever issues a token for somebody has seen it.
    let carol = json!({"name": "Carol", "email": "carol@example.com", "role": "approver"});
    let mut carol = world.server.client(&user(&mut ada, &carol).2);
    assert_eq!(decide(&mut carol, desk, id, "approve").failure(409), "not_approvable");
    assert_eq!(decide(&mut grace, desk, id, "approve").data(200)["state"], "approved");
    desk.wait_status(reference, "processing");

    let denied = desk.made(&desk.body("one that is denied", 20_000));
    let id = waiting(&mut ada, desk)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(decide(&mut ada, desk, &id, "deny").data(200)["transfer"]["status"], "canceled");
    assert_eq!(
        (desk.status(&denied), desk.postings(&denied)),
        ("canceled".to_owned(), vec!["reserve".to_owned(), "release".to_owned()])
    );

    // Nobody takes the rules away alone.
    document["approvals"]["transfers"] = json!([]);
    let proposed = ada.put(&desk.path("/config"), &document).data(202);
    let id = proposed["approvalId"].as_str().unwrap();
    assert_eq!(decide(&mut ada, desk, id, "approve").failure(409), "not_approvable");
    let shown = grace.get(&desk.path(&format!("/approvals/{id}"))).data(200);
    let proposal = &shown["configuration"]["proposal"];
    assert_eq!(proposal["changes"][0]["path"], "approvals.transfers[large].id", "{shown:#}");
    assert_eq!(proposal["effect"]["rerouted"], 0);
    let mut browser = Browser::sign_in(&world.server, grace_token);
    let review = page(&browser.get(&format!("/console/{}/approvals/{id}", desk.environment)));
    assert!(
        review.contains("approvals.transfers[large]") && review.contains(">Approve</button>"),
        "{review}"
    );
    let list = page(&browser.get(&format!("/console/{}/approvals", desk.environment)));
    assert!(list.contains("Review…"), "{list}");
    let decided = decide(&mut grace, desk, id, "approve").data(200);
    let version = decided["configuration"]["version"].as_u64().unwrap();
    let now = admin.get(&desk.path("/config"));
    assert_eq!(now.headers.get("etag").map(String::as_str), Some(format!("\"{version}\"").as_str()));
    assert_eq!(now.data(200)["approvals"]["transfers"], json!([]));
    let free = desk.made(&desk.body("one that is free", 20_000));
    assert_eq!(desk.transaction(&free)["approval"], Value::Null);
}

on_alternate_rails! { what_waits_for_people_is_done_by_their_decision }
