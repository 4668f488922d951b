//! Approvals on the command line: what waits is listed, shown and decided, and a configuration is proposed.

use serde_json::json;

use crate::{
    people::user,
    support::{BankStore, BankWorld, On, Terminal},
};

#[track_caller]
fn fits(said: &str) {
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn what_waits_is_listed_shown_and_decided() {
    let world = BankWorld::start_with(On::Sqlite, BankStore::serve);
    let (desk, mut admin) = (&world.desk, world.desk.admin());
    let [ada, grace] = ["Ada", "Grace"].map(|name| {
        let new = json!({"name": name, "email": format!("{name}@example.com"), "role": "admin"});
        Terminal::of(&world.server)
            .with("TOLLGATE_ADMIN_TOKEN", &user(&mut admin, &new).2)
            .with("COLUMNS", "80")
    });
    assert_eq!(ada.shows(&["approvals", "list"]), "Nothing waits for approval.\n");
    let mut document = admin.get(&desk.path("/config")).data(200);
    document["approvals"] = json!({"transfers": [{"id": "large", "count": 2, "conditions": [
        {"id": "amount", "field": "amountMinor", "op": "gte", "value": "10000"}]}], "configuration": true});
    desk.configure(&document);

    let reference = desk.made(&desk.body("a large one", 20_000));
    let listed = ada.json(&["approvals", "list"]);
    let id = listed["items"][0]["id"].as_str().unwrap().to_owned();
    let said = ada.shows(&["approvals", "list"]);
    for words in [id.as_str(), "200.00 USD to Ada Example", "0 of 2 approvals"] {
        assert!(said.contains(words), "{said}");
    }
    fits(&said);
    let said = ada.shows(&["approvals", "show", &id]);
    for words in [reference.as_str(), "200.00 USD to Ada Example", "First Example Bank", "····6789", "large"]
    {
        assert!(said.contains(words), "{said}");
    }
    fits(&said);
    let said = Terminal::of(&world.server).fails(&["approvals", "approve", &id]);
    assert!(said.contains("personal token"), "{said}");
    let said = ada.shows(&["approvals", "approve", &id]);
    assert!(said.contains("waits for 1 more person"), "{said}");
    assert!(ada.fails(&["approvals", "approve", &id]).contains("already"));
    assert!(ada.shows(&["approvals", "list"]).contains("1 of 2"));
    let said = grace.shows(&["approvals", "approve", &id]);
    assert!(said.contains("Approved") && said.contains(&format!("payments show {reference}")), "{said}");
    fits(&said);
    desk.wait_status(&reference, "processing");

    let denied = desk.made(&desk.body("one that is denied", 20_000));
    let id = ada.json(&["approvals", "list"])["items"][0]["id"].as_str().unwrap().to_owned();
    let said = ada.shows(&["approvals", "deny", &id]);
    assert!(said.contains("Denied") && said.contains("available again"), "{said}");
    assert!(ada.fails(&["approvals", "deny", &id]).contains("denied"));
    assert_eq!(desk.status(&denied), "canceled");
    let said = ada.shows(&["approvals", "list", "--all"]);
    assert!(said.contains("approved") && said.contains("denied"), "{said}");
    let said = ada.fails(&["approvals", "show", "apr_00000000000000000000000000"]);
    assert!(said.contains("not found") && said.contains("approvals list --all"), "{said}");
}

#[test]
fn a_configuration_is_proposed_and_put_in_force_by_somebody_else() {
    let world = BankWorld::start_with(On::Sqlite, BankStore::serve);
    let (desk, mut admin) = (&world.desk, world.desk.admin());
    let [ada, grace] = ["Ada", "Grace"].map(|name| {
        let new = json!({"name": name, "email": format!("{name}@example.com"), "role": "admin"});
        Terminal::of(&world.server)
            .with("TOLLGATE_ADMIN_TOKEN", &user(&mut admin, &new).2)
            .with("COLUMNS", "80")
    });
    let mut document = admin.get(&desk.path("/config")).data(200);
    document["approvals"] = json!({"transfers": [], "configuration": true});
    desk.configure(&document);
    let propose = |seconds: u32| {
        let mut changed = document.clone();
        changed["settings"]["customerTokenLifetimeSeconds"] = json!(seconds);
        let file = world.server.data_dir.join(format!("{seconds}.json"));
        std::fs::write(&file, changed.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (first, second) = (propose(1_234), propose(2_345));
    let said = ada.shows(&["apply", &first, "--yes"]);
    assert!(said.contains("nothing has changed yet"), "{said}");
    let approvals = ada.json(&["approvals", "list"]);
    let id = approvals["items"][0]["id"].as_str().unwrap().to_owned();
    assert!(said.contains(&format!("tollgate approvals approve {id}")), "{said}");
    fits(&said);
    let other = ada.json(&["apply", &second, "--yes"]);
    assert_eq!(other["applied"], false);
    let other = other["approvalId"].as_str().unwrap();
    let said = ada.shows(&["approvals", "list"]);
    assert!(
        said.contains("a change of configuration version") && said.contains(&id) && said.contains(other),
        "{said}"
    );
    fits(&said);
    let said = grace.shows(&["approvals", "show", &id]);
    assert!(said.contains("+ settings.customerTokenLifetimeSeconds: 1234"), "{said}");
    assert!(said.contains("Ada <ada@example.com>") && said.contains("no payments yet"), "{said}");
    fits(&said);
    assert!(ada.fails(&["approvals", "approve", &id]).contains("another person"));
    let said = grace.shows(&["approvals", "approve", &id]);
    assert!(said.contains("in force as version"), "{said}");
    // The other was made from a version that is not current anymore.
    let said = grace.fails(&["approvals", "approve", other]);
    assert!(said.contains("canceled") && said.contains("make the change again"), "{said}");
    let said = grace.shows(&["approvals", "show", other]);
    assert!(said.contains("canceled"), "{said}");
    let said = ada.json(&["apply", &second, "--yes"]);
    let id = said["approvalId"].as_str().unwrap();
    assert!(grace.shows(&["approvals", "deny", id]).contains("stays as it is"));
    assert_eq!(admin.get(&desk.path("/config")).data(200)["settings"]["customerTokenLifetimeSeconds"], 1_234);
}
