//! `events` and `endpoints`: what callers are notified, whether they heard it, and telling it again.

use std::time::Duration;

use serde_json::json;

use super::{url, wait_for};
use crate::support::{Receiver, Server, Start, Terminal, wait_until};

fn paid(sandbox: &Server, terminal: &Terminal) -> String {
    let order = json!({"amountMinor": "12500", "currency": "USD"});
    let prepared = sandbox.sandbox_client("secretKey").post("/client/v1/payments", &order).data(201);
    let reference = prepared["serviceReference"].as_str().unwrap().to_owned();
    terminal.shows(&["trigger", "pay", &reference]);
    reference
}

#[test]
fn events_are_listed_shown_and_sent_again() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    assert!(terminal.shows(&["events", "list"]).contains("No events."));
    assert!(terminal.shows(&["endpoints", "list"]).contains("endpoints create"));
    let receiver = Receiver::open();
    let made = terminal.json(&[
        "endpoints",
        "create",
        &url(&receiver),
        "--events",
        "transaction.succeeded",
        "--description",
        "the shop",
    ]);
    let (endpoint, secret) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    assert!(secret.starts_with("whsec_"));
    let list = terminal.shows(&["endpoints", "list"]);
    assert!(list.contains(endpoint) && list.contains("enabled") && !list.contains(secret), "{list}");

    let reference = paid(&sandbox, &terminal);
    let letter = wait_for(&receiver, "transaction.succeeded");
    assert!(letter.is_signed_with(secret));
    let events =
        terminal.json(&["events", "list", "--type", "transaction.succeeded", "--reference", &reference]);
    let event = events["items"][0]["id"].as_str().unwrap();
    assert_eq!(letter.id(), event);
    let table = terminal.shows(&["events", "list"]);
    assert!(table.contains("payment.prepared") && table.contains(event), "{table}");
    let oldest_first = terminal.json(&["events", "list", "--after", "evt_00000000000000000000000000"]);
    assert_eq!(oldest_first["items"][0]["type"], "payment.prepared");

    let delivered = || terminal.json(&["events", "show", event])["deliveries"][0]["state"] == "delivered";
    wait_until("it is known to be delivered", Duration::from_secs(120), delivered);
    let shown = terminal.shows(&["events", "show", event]);
    assert!(
        shown.contains("\"totalDebitMinor\": \"12956\"")
            && shown.contains("delivered")
            && shown.contains(endpoint),
        "{shown}"
    );
    let deliveries =
        terminal.shows(&["events", "deliveries", "--state", "delivered", "--endpoint", endpoint]);
    assert!(deliveries.contains(event), "{deliveries}");

    let said = terminal.shows(&["events", "resend", event]);
    assert!(said.contains("1 delivery queued."), "{said}");
    assert_eq!(wait_for(&receiver, "transaction.succeeded").body, letter.body);
    let resent =
        terminal.json(&["events", "resend", "--from", "2020-01-01T00:00:00Z", "--endpoint", endpoint]);
    assert_eq!(resent["deliveries"], 2, "everything, whatever it usually wants");
    wait_for(&receiver, "payment.prepared");
    for arguments in [&["events", "show", "evt_nobody"][..], &["events", "resend", "evt_nobody"]] {
        let said = terminal.fails(arguments);
        assert!(
            said.contains("event evt_nobody") && said.contains("not found") && said.contains("events list"),
            "{said}"
        );
    }
    assert!(terminal.fails(&["events", "list", "--type", "payment.made"]).contains("must be one of"));
    assert!(terminal.fails(&["events", "resend", "--from", "yesterday"]).contains("RFC 3339"));
}

#[test]
fn endpoints_are_rotated_switched_and_removed() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    let receiver = Receiver::open();
    let created = terminal.shows(&["endpoints", "create", &url(&receiver)]);
    let first_secret = created.lines().next().unwrap();
    assert!(first_secret.starts_with("whsec_") && created.contains("(*)"), "{created}");
    let endpoint = terminal.json(&["endpoints", "list"])["items"][0]["id"].as_str().unwrap().to_owned();
    let rotated = terminal.json(&["endpoints", "rotate", &endpoint, "--grace-seconds", "600"]);
    let second_secret = rotated["secret"].as_str().unwrap();
    paid(&sandbox, &terminal);
    let letter = wait_for(&receiver, "transaction.succeeded");
    assert!(letter.is_signed_with(first_secret));
    assert!(letter.is_signed_with(second_secret));

    assert!(terminal.shows(&["endpoints", "disable", &endpoint]).contains("is disabled"));
    let list = terminal.shows(&["endpoints", "list"]);
    assert!(list.contains("disabled"), "{list}");
    assert!(terminal.shows(&["doctor"]).contains("1 endpoint is disabled"));
    assert!(
        terminal
            .fails(&["events", "resend", "--from", "2020-01-01T00:00:00Z", "--endpoint", &endpoint])
            .contains("enable")
    );
    assert_eq!(terminal.json(&["endpoints", "enable", &endpoint])["enabled"], true);
    let kept = terminal.answering("n\n", &["endpoints", "remove", &endpoint]);
    assert!(kept.code == 1 && kept.err.contains("Remove"), "{kept:?}");
    assert_eq!(terminal.json(&["endpoints", "remove", &endpoint, "--yes"])["removed"], true);
    for verb in ["rotate", "enable", "disable"] {
        assert!(terminal.fails(&["endpoints", verb, &endpoint]).contains("endpoints list"), "{verb}");
    }
    assert!(terminal.fails(&["endpoints", "create", "ftp://example.com"]).contains("url"));
    assert!(
        terminal.fails(&["endpoints", "create", &url(&receiver), "--events", "nothing"]).contains("nothing")
    );
}
