//! Erasing a customer, on the command line and in the console: what has to stay for now is named, with when it goes.

use serde_json::json;

use crate::{
    people::{Browser, page},
    support::{ADMIN_TOKEN, BankWorld, On, Terminal, on_each_store},
};

fn what_is_left_is_named_and_shows_in_the_exit_code(on: On) {
    let world = BankWorld::start_without_looks(on);
    let (desk, simulator) = (&world.desk, &world.simulator);
    let (reference, id) = world.taken("not ended yet");
    let terminal = Terminal::of(&world.server).with("TOLLGATE_ENVIRONMENT", &desk.environment);
    let erase = ["erase", "--customer", "customer-1", "--yes"];
    let said = terminal.run(&erase);
    assert_eq!(said.code, 1, "{said:?}");
    let left = format!("Not ended yet, and erased by itself once it has: {reference}, expected on 20");
    assert!(said.out.contains(&left), "{said:?}");
    assert!(said.err.contains("1 payments keep their data until they have ended"), "{said:?}");
    let said = terminal.run(&[&erase[..], &["--json"]].concat());
    let shown: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &shown["remaining"][0]["serviceReference"]), (1, &json!(reference)), "{shown:#}");

    let mut browser = Browser::sign_in(&world.server, ADMIN_TOKEN);
    let path = format!("/console/{}/erase", desk.environment);
    let form = page(&browser.get(&path));
    let csrf = form.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let mut erase_there = |fields: &str| {
        let done = browser.post(&path, &csrf, fields);
        let to = done.headers.get("location").cloned();
        to.map_or_else(|| page(&done), |to| page(&browser.get(&to)))
    };
    let asked = erase_there("customer=customer-1");
    assert!(asked.contains("cannot be restored") && asked.contains("Erase for good"), "{asked}");
    let shown = erase_there("customer=customer-1&step=confirm");
    let left = format!("Not ended yet, and erased by themselves once they have: {reference} (expected on 20");
    assert!(shown.contains(&left), "{shown}");

    simulator.simulate(&id, "submit", &json!({}));
    simulator.simulate(&id, "settle", &json!({}));
    desk.wait_status(&reference, "succeeded");
    // It may still come back, for which nobody's name is needed.
    let said = terminal.shows(&erase);
    assert!(said.starts_with("Erased the personal data of") && !said.contains(&reference), "{said}");
    assert!(!erase_there("customer=customer-1&step=confirm").contains("Not ended yet"));
    let read = desk.admin().get(&desk.path(&format!("/transactions/{reference}"))).data(200);
    assert!(!read.to_string().contains("Ada Example"), "{read:#}");
    desk.assert_books(crate::support::Desk::FUNDS);
}

on_each_store! { what_is_left_is_named_and_shows_in_the_exit_code }
