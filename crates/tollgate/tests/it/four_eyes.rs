//! Four eyes, seen from outside: nobody does alone what the configuration wants somebody else to approve, under whatever user.

use serde_json::{Value, json};

use crate::{
    people::{Browser, page, user},
    support::{
        ADMIN_TOKEN, Answer, BankStore, BankWorld, Client, Desk, Flow, On, StoreKind, Terminal, Wire, World,
        on_both_stores,
    },
};

on_both_stores! {
    a_person_who_is_removed_and_added_again_is_the_same_person
    an_admin_alone_approves_nothing_of_their_own
    refunds_and_funds_wait_for_somebody_else
    what_nobody_has_paid_is_neither_refunded_nor_captured_nor_voided
}

fn bank_world(kind: StoreKind) -> BankWorld {
    let on = match kind {
        StoreKind::Sqlite => On::Sqlite,
        StoreKind::Postgres => On::Postgres,
    };
    BankWorld::start_with(on, BankStore::serve)
}

fn person(name: &str, role: &str) -> Value {
    json!({"name": name, "email": format!("{name}@example.com"), "role": role})
}

/// Every transfer waits, and so does every change of the configuration.
fn hold_everything(desk: &Desk) -> Value {
    let mut document = desk.admin().get(&desk.path("/config")).data(200);
    document["approvals"] = json!({"transfers": [{"id": "all"}], "configuration": true});
    desk.configure(&document);
    document
}

/// A transfer by a key that somebody has issued, and the approval it waits for.
fn transfer_by(world: &BankWorld, issuer: &mut Client, key: &str) -> (String, String) {
    let desk = &world.desk;
    let issued = issuer.post(&desk.path("/keys"), &json!({"kind": "secret"})).data(201);
    let mut client = world.server.client(issued["key"].as_str().unwrap());
    let made = client.post("/client/v1/ach/transfers", &desk.body(key, 20_000)).data(201);
    assert_eq!(made["transaction"]["approval"]["state"], "required", "{made:#}");
    let waiting = desk.listed("approvals?state=required");
    let reference = made["transaction"]["serviceReference"].as_str().unwrap().to_owned();
    let is_it = |it: &&Value| it["transfer"]["serviceReference"] == json!(reference);
    let id = waiting.iter().find(is_it).unwrap()["id"].as_str().unwrap().to_owned();
    (reference, id)
}

fn decide(by: &mut Client, desk: &Desk, approval: &str, what: &str) -> Answer {
    by.post(&desk.path(&format!("/approvals/{approval}/{what}")), &json!({}))
}

fn a_person_who_is_removed_and_added_again_is_the_same_person(kind: StoreKind) {
    let world = bank_world(kind);
    let (desk, mut admin) = (&world.desk, world.desk.admin());
    hold_everything(desk);
    let (olga, _, token) = user(&mut admin, &person("olga", "operator"));
    let (reference, approval) = transfer_by(&world, &mut world.server.client(&token), "olga's transfer");
    admin.delete(&format!("/admin/v1/users/{olga}")).data(200);
    let (again, _, token) = user(&mut admin, &person("Olga", "approver"));
    assert_ne!(olga, again);
    let refused = decide(&mut world.server.client(&token), desk, &approval, "approve");
    assert_eq!(refused.failure(409), "not_approvable");
    assert!(refused.json()["message"].as_str().unwrap().contains("another person"));
    assert_eq!(
        (desk.status(&reference), desk.postings(&reference)),
        ("pending".into(), vec!["reserve".into()])
    );
    let (_, _, token) = user(&mut admin, &person("pia", "approver"));
    decide(&mut world.server.client(&token), desk, &approval, "approve").data(200);
    desk.wait_status(&reference, "processing");
}

fn an_admin_alone_approves_nothing_of_their_own(kind: StoreKind) {
    let world = bank_world(kind);
    let desk = &world.desk;
    let mut document = hold_everything(desk);
    let (ada, _, token) = user(&mut desk.admin(), &person("ada", "admin"));
    let mut admin = world.server.client(&token);
    let (reference, transfer) = transfer_by(&world, &mut admin, "ada's transfer");
    document["approvals"] = json!({"transfers": [], "configuration": false});
    let proposed = admin.put(&desk.path("/config"), &document).data(202);
    let proposal = proposed["approvalId"].as_str().unwrap();
    // With every user that one admin can make, and under every role.
    let mut others = vec![admin];
    for name in ["eve", "ada+second"] {
        let admin = &mut others[0];
        let token = user(admin, &person(name, "admin")).2;
        others.push(world.server.client(&token));
    }
    let token = user(&mut others[1], &person("third", "approver")).2;
    others.push(world.server.client(&token));
    for client in &mut others {
        for approval in [transfer.as_str(), proposal] {
            assert_eq!(decide(client, desk, approval, "approve").failure(409), "not_approvable");
        }
    }
    others[1].delete(&format!("/admin/v1/users/{ada}")).data(200);
    let token = user(&mut others[1], &person("ada", "approver")).2;
    for approval in [transfer.as_str(), proposal] {
        let again = decide(&mut world.server.client(&token), desk, approval, "approve");
        assert_eq!(again.failure(409), "not_approvable");
    }
    assert_eq!(
        (desk.status(&reference), desk.postings(&reference)),
        ("pending".into(), vec!["reserve".into()])
    );
    let in_force = desk.admin().get(&desk.path("/config")).data(200);
    assert_eq!(in_force["approvals"]["configuration"], true, "still");
}

fn refunds_and_funds_wait_for_somebody_else(kind: StoreKind) {
    let mut world = World::start_without_looks(kind);
    let path = |world: &World, rest: &str| world.shop.path(rest);
    let mut admin = world.shop.admin();
    let tokens = ["ada", "grace"].map(|name| user(&mut admin, &person(name, "admin")).2);
    let mut document = admin.get(&path(&world, "/config")).data(200);
    document["approvals"] = json!({
        "refunds": [{"id": "large", "conditions": [
            {"id": "amount", "field": "amountMinor", "op": "gte", "value": "5000"}]}],
        "funds": [{"id": "every"}],
    });
    world.shop.configure(&document);
    let paid = world.paid(Flow::Component, Wire::Stripe).reference;
    let refunds = format!("/client/v1/transactions/{paid}/refunds");
    let small = json!({"idempotencyKey": "small-refund", "amountMinor": "1000"});
    assert_eq!(world.shop.client().post(&refunds, &small).data(201)["refund"]["approval"], Value::Null);
    let large = json!({"idempotencyKey": "large-refund", "amountMinor": "6000"});
    let made = world.shop.client().post(&refunds, &large).data(201)["refund"].clone();
    assert_eq!(
        (&made["status"], &made["approval"]["state"]),
        (&json!("pending"), &json!("required")),
        "{made:#}"
    );
    assert_eq!(made["approval"]["reasons"], json!(["large"]));
    // It is there after a restart, the answer is the same, and nothing was sent.
    world.restart(|_| ());
    let again = world.shop.client().post(&refunds, &large).data(200);
    assert_eq!((&again["refund"], &again["replayed"]), (&made, &json!(true)));
    let most = json!({"idempotencyKey": "rest-refund", "amountMinor": "4000"});
    assert_eq!(world.shop.client().post(&refunds, &most).failure(409), "refund_exceeds_remaining");
    let kinds = world.shop.listed(&format!("events?reference={paid}&type=approval.required"));
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    let told = admin_get(&world, &format!("/events/{}", kinds[0]["id"].as_str().unwrap()));
    assert_eq!(told["body"]["data"]["refund"], made);

    let fund = json!({"amountMinor": "7000", "reference": "bank statement"});
    let [mut ada, mut grace] = tokens.each_ref().map(|token| world.server.client(token));
    let asked = ada.post(&path(&world, "/wallets/USD/fund"), &fund).data(202);
    assert_eq!((&asked["approval"]["state"], &asked["replayed"]), (&json!("required"), &json!(false)));
    let again = ada.post(&path(&world, "/wallets/USD/fund"), &fund).data(202);
    assert_eq!((&again["approvalId"], &again["replayed"]), (&asked["approvalId"], &json!(true)));
    assert_eq!(admin_get(&world, "/wallets/USD")["availableMinor"], "0");

    let waiting = world.shop.listed("approvals?state=required");
    let kinds: Vec<_> = waiting.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["funds", "refund"], "{waiting:#?}");
    let [funds, refund] = [0, 1].map(|at: usize| waiting[at]["id"].as_str().unwrap().to_owned());
    assert_eq!((&waiting[1]["refund"], json!(funds)), (&made, asked["approvalId"].clone()));
    let mut browser = Browser::sign_in(&world.server, &tokens[1]);
    let shown = page(&browser.get(&format!("/console/{}/approvals", world.shop.environment)));
    for words in ["Fund the wallet with 70.00 USD", "bank statement", "62.25 USD", paid.as_str()] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // Whoever cannot approve it is told why, and has no button.
    let path_of = |id: &str| format!("/console/{}/approvals/{id}", world.shop.environment);
    let offered = page(&browser.get(&path_of(&funds)));
    assert!(
        offered.contains("70.00 USD will be added to the wallet") && offered.contains(">Approve</button>"),
        "{offered}"
    );
    for (token, why) in
        [(tokens[0].as_str(), "you created it"), (ADMIN_TOKEN, "an approval is a person&#39;s")]
    {
        let refused = page(&Browser::sign_in(&world.server, token).get(&path_of(&funds)));
        assert!(refused.contains(why) && !refused.contains(">Approve</button>"), "{why}: {refused}");
    }
    let terminal = Terminal::of(&world.server).with("TOLLGATE_ADMIN_TOKEN", &tokens[1]);
    let listed = terminal.with("COLUMNS", "80").shows(&["approvals", "list"]);
    assert!(
        listed.contains("a refund of 62.25 USD") && listed.contains("fund the wallet with 70.00 USD"),
        "{listed}"
    );

    let decide = |by: &mut Client, id: &str, what: &str| {
        by.post(&world.shop.path(&format!("/approvals/{id}/{what}")), &json!({}))
    };
    assert_eq!(decide(&mut ada, &funds, "approve").failure(409), "not_approvable");
    let moved = decide(&mut grace, &funds, "approve").data(200);
    assert!(moved["funds"]["postingId"].is_string(), "{moved:#}");
    assert_eq!(admin_get(&world, "/wallets/USD")["availableMinor"], "7000");
    let again = ada.post(&path(&world, "/wallets/USD/fund"), &fund).data(200);
    assert_eq!((&again["postingId"], &again["replayed"]), (&moved["funds"]["postingId"], &json!(true)));

    let approved = decide(&mut grace, &refund, "approve").data(200);
    assert_eq!(
        (&approved["state"], &approved["refund"]["status"]),
        (&json!("approved"), &json!("succeeded"))
    );
    assert_eq!(world.shop.read_transaction(&paid).data(200)["refundedMinor"], "7263");

    // An operator's refund waits for another operator; denied, it can be made again.
    let rest = json!({"idempotencyKey": "operators-refund"});
    let by_operator = world.shop.path(&format!("/transactions/{paid}/refunds"));
    ada.post(&by_operator, &rest).data(201);
    let id = world.shop.listed("approvals?state=required")[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(decide(&mut ada, &id, "approve").failure(409), "not_approvable");
    assert_eq!(decide(&mut grace, &id, "deny").data(200)["refund"]["status"], "canceled");
    let denied = ada.post(&by_operator, &rest).data(200);
    assert_eq!((&denied["refund"]["status"], &denied["replayed"]), (&json!("canceled"), &json!(true)));
    let other = json!({"idempotencyKey": "operators-refund-2"});
    assert_eq!(ada.post(&by_operator, &other).data(201)["refund"]["approval"]["state"], "required");
}

fn admin_get(world: &World, rest: &str) -> Value {
    world.shop.admin().get(&world.shop.path(rest)).data(200)
}

fn what_nobody_has_paid_is_neither_refunded_nor_captured_nor_voided(kind: StoreKind) {
    let world = World::start_without_looks(kind);
    for (flow, wire) in Flow::BOTH.into_iter().flat_map(|flow| Wire::BOTH.map(|wire| (flow, wire))) {
        let reference = world.shop.prepare(flow, wire).reference;
        for (action, code) in
            [("refunds", "not_refundable"), ("capture", "not_capturable"), ("void", "not_voidable")]
        {
            let body = json!({"idempotencyKey": format!("{action}-{reference}")});
            let path = format!("/client/v1/transactions/{reference}/{action}");
            let refused = world.shop.client().post(&path, &body);
            assert_eq!(refused.failure(409), code);
            let said = refused.json()["message"].as_str().unwrap().to_owned();
            assert!(said.contains("has not been paid"), "{said}");
            let by_operator = world.shop.path(&format!("/transactions/{reference}/{action}"));
            assert_eq!(world.shop.admin().post(&by_operator, &body).failure(409), code);
        }
    }
}
