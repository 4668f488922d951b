//! `providers`, `quote`, `explain`, `payments` and `exceptions`.

use serde_json::{Value, json};

use crate::support::{Flow, Shop, Simulator, Start, Terminal, Wire};

#[test]
fn quotes_are_shown_with_their_amounts_and_explained_rule_by_rule() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    let quote = terminal.shows(&["quote", "125.00", "USD"]);
    for part in ["125.00 USD", "3.93 USD", "0.63 USD", "129.56 USD", "card_provider_a", "no rule matched"] {
        assert!(quote.contains(part), "{part} is not in {quote}");
    }
    // The very answer a caller gets.
    let body = json!({"amountMinor": "12500", "currency": "USD"});
    let answered = sandbox.sandbox_client("secretKey").post("/client/v1/fees/quote", &body).data(200);
    assert_eq!(terminal.json(&["quote", "12500", "usd", "--minor"]), answered);

    let explained = terminal.shows(&["explain", "1000", "USD"]);
    for part in [
        "rule_large  matched",
        "cond_amount (amountMinor gte): found `100000`  met",
        "card_provider_b",
        "rule rule_large matched",
        "26.15",
        "1030.15 USD",
    ] {
        assert!(explained.contains(part), "{part} is not in {explained}");
    }
    let explained = terminal.shows(&["explain", "1", "USD"]);
    assert!(explained.contains("rule_large  did not match") && explained.contains("not met"), "{explained}");
    let fast = ["explain", "1", "USD", "--method", "ach", "--metadata", "speed=same_day"];
    let explained = terminal.json(&fast);
    assert_eq!(explained["quote"]["routing"]["channel"], "same_day_ach");
    assert!(terminal.shows(&fast).contains("metadata.speed eq"));
    terminal.json(&["quote", "1", "USD", "--flow", "hosted-checkout"]);
    assert!(terminal.fails(&["quote", "1", "USD", "--metadata", "nothing"]).contains("KEY=VALUE"));
    let said = terminal.fails(&["quote", "1", "EUR", "--method", "ach"]);
    assert!(said.contains("USD"), "{said}");

    let providers = terminal.shows(&["providers"]);
    assert!(providers.contains("ach_provider_a") && providers.contains("/webhooks/v1/"), "{providers}");
    assert_eq!(terminal.json(&["providers"])["items"].as_array().unwrap().len(), 5);

    // A shop's domain, for Apple Pay and Google Pay.
    let domain = terminal.shows(&["providers", "register-domain", "card_provider_a", "shop.example.com"]);
    assert!(domain.contains("shop.example.com is registered") && domain.contains("apple_pay"), "{domain}");
    let said = terminal.fails(&["providers", "register-domain", "card_provider_b", "shop.example.com"]);
    assert!(said.contains("dashboard"), "{said}");
    let said =
        terminal.fails(&["providers", "register-domain", "card_provider_a", "https://shop.example.com"]);
    assert!(said.contains("host name"), "{said}");
    let said = terminal.fails(&["providers", "register-domain", "nobody", "shop.example.com"]);
    assert!(said.contains("tollgate providers"), "{said}");
}

#[test]
fn a_payments_story_is_told_from_request_to_status() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    assert!(terminal.shows(&["payments", "list"]).contains("No transactions."));
    let order = json!({"amountMinor": "12500", "currency": "USD", "description": "Order 1001",
                       "customer": {"name": "Ann Smith"}, "metadata": {"basket": "b-7", "note": "\u{1b}[31mred"}});
    let prepared = sandbox.sandbox_client("secretKey").post("/client/v1/payments", &order).data(201);
    let reference = prepared["serviceReference"].as_str().unwrap();
    let list = terminal.shows(&["payments", "list", "--preparations", "--status", "prepared"]);
    assert!(
        list.contains(reference) && list.contains("129.56 USD") && list.contains("hosted_checkout"),
        "{list}"
    );
    let story = terminal.shows(&["payments", "show", reference]);
    assert!(story.contains("prepared") && story.contains("requested"), "{story}");

    let shown = terminal.json(&["payments", "show", reference]);
    assert_eq!((&shown["status"], &shown["preparation"]["status"]), (&json!("prepared"), &json!("prepared")));
    let said = terminal.fails(&["payments", "refund", reference, "--yes"]);
    assert!(said.contains("is prepared: it has not been paid, so there is nothing to refund"), "{said}");

    terminal.shows(&["trigger", "pay", reference]);
    let shown = terminal.json(&["payments", "show", reference]);
    assert_eq!(
        (&shown["status"], &shown["preparation"]["status"]),
        (&json!("succeeded"), &json!("prepared"))
    );
    let narrow = terminal.clone().with("COLUMNS", "80");
    for arguments in [&["payments", "list"][..], &["payments", "list", "--preparations"]] {
        let shown = narrow.shows(arguments);
        assert!(shown.contains(reference), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    }
    assert!(narrow.shows(&["payments", "list"]).contains("125.00 USD"));
    assert!(terminal.shows(&["payments", "list", "--disputed"]).contains("No transactions."));
    let story = terminal.shows(&["payments", "show", reference]);
    for part in [
        "succeeded",
        "125.00 USD, total debit 129.56 USD",
        "requested",
        "Ann Smith",
        "basket=b-7",
        "routed by configuration 1",
        "rule_large  did not match",
        "platform",
        "checkout.sessions.create at card_provider_a: ok",
        "try 1 after 0 ms: status 200",
        "preparation preparing -> prepared",
        "webhook payment_intent.succeeded evt_",
        "status (nothing) -> succeeded",
        "req_",
    ] {
        assert!(story.contains(part), "{part} is not in {story}");
    }
    assert!(!story.contains('\x1b'), "a caller's words move nobody's cursor");
    assert_eq!(terminal.json(&["payments", "show", reference])["transaction"]["status"], "succeeded");
    let list = terminal.json(&[
        "payments",
        "list",
        "--status",
        "succeeded",
        "--method",
        "web_card",
        "--provider",
        "card_provider_a",
    ]);
    assert_eq!(list["items"][0]["serviceReference"], reference);
    assert!(terminal.shows(&["payments", "list", "--status", "failed"]).contains("No transactions"));
    assert!(terminal.fails(&["payments", "list", "--status", "paid"]).contains("must be one of"));
    assert!(terminal.shows(&["payments", "list", "--waiting"]).contains("No pending payments."));
    let order = json!({"amountMinor": "12500", "currency": "USD", "capture": "manual"});
    let manual = || {
        let prepared = sandbox.sandbox_client("secretKey").post("/client/v1/payments", &order).data(201);
        let reference = prepared["serviceReference"].as_str().unwrap().to_owned();
        terminal.shows(&["trigger", "pay", &reference]);
        reference
    };
    let captured = manual();
    let shown = terminal.shows(&["payments", "show", &captured]);
    assert!(shown.contains("authorized") && shown.contains("capture before"), "{shown}");
    let made = terminal.shows(&["payments", "capture", &captured, "--amount", "50.00", "--yes"]);
    assert!(made.contains("succeeded") && made.contains("including "), "{made}");
    let shown = terminal.shows(&["payments", "show", &captured]);
    assert!(shown.contains("50.00 USD, total debit") && shown.contains("129.56 USD"), "{shown}");
    assert!(terminal.fails(&["payments", "void", &captured, "--yes"]).contains("refund it instead"));
    assert!(terminal.shows(&["payments", "void", &manual(), "--yes"]).contains("canceled"));
    let said = terminal.fails(&["payments", "show", "pay_nobody"]);
    assert!(said.contains("payment pay_nobody not found") && said.contains("payments list"), "{said}");
}

#[test]
fn what_waits_and_what_disagrees_is_listed() {
    let (simulator, server) = (Simulator::start(), Start::serve().run());
    let shop = Shop::open(&server, &simulator);
    let terminal = Terminal::of(&server);
    // The provider cannot be reached: its result is not known, and says so.
    simulator.fault(Wire::Stripe, "*", "timeout_after", 50, 60_000);
    let prepared = shop.prepare(Flow::Component, Wire::Square);
    shop.confirm(&prepared.reference, &json!({"sourceId": simulator.card_token("4111111111111111")}))
        .data(200);
    simulator.clear_faults();
    // A payment of another amount than was prepared.
    let prepared = shop.prepare(Flow::Component, Wire::Stripe);
    simulator.change_intent(prepared.component(), "amount=20000");
    simulator.pay_intent(prepared.component());
    shop.wait(&prepared.reference, "at odds", || !shop.listed("exceptions?open=true").is_empty());

    let open = terminal.json(&["exceptions", "list"]);
    let exception = open["items"][0].clone();
    let id = exception["id"].as_str().unwrap();
    let list = terminal.shows(&["exceptions", "list"]);
    assert!(list.contains("amount_mismatch") && list.contains(&prepared.reference), "{list}");
    let story = terminal.shows(&["payments", "show", &prepared.reference]);
    assert!(story.contains("Exceptions") && story.contains("open"), "{story}");
    let doctor = terminal.shows(&["doctor"]);
    assert!(doctor.contains("discrepancy with a provider is open"), "{doctor}");
    assert!(
        terminal.shows(&["exceptions", "resolve", id, "--note", "asked the provider"]).contains("Resolved")
    );
    assert!(terminal.shows(&["exceptions", "list"]).contains("No open exceptions."));
    let all = terminal.shows(&["exceptions", "list", "--all"]);
    assert!(all.contains("by ann: asked the provider"), "{all}");
    assert!(
        terminal
            .fails(&["exceptions", "resolve", "exc_nobody", "--note", "x"])
            .contains("exceptions list --all")
    );
    let waiting: Value = terminal.json(&["payments", "list", "--waiting"]);
    assert!(waiting["payments"]["items"].is_array() && waiting["transfers"]["items"].is_array());
}
