//! No command prints a secret, but for the one moment of its issue.

use serde_json::{Value, json};

use crate::support::{Start, Terminal};

#[test]
fn nothing_printed_holds_a_secret() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    let notes = sandbox.sandbox_json();
    let endpoint = terminal.json(&["endpoints", "create", "http://127.0.0.1:9/events"]);
    let issued = terminal.json(&["keys", "issue"]);
    let mut secrets: Vec<String> =
        ["adminToken", "secretKey"].iter().map(|name| text(&notes[*name])).collect();
    secrets.extend(
        ["stripe", "square", "adyen", "increase", "modern_treasury"]
            .iter()
            .map(|wire| text(&notes["simulators"][*wire]["apiKey"])),
    );
    secrets.extend([text(&endpoint["secret"]), text(&issued["key"])]);
    secrets.extend(
        [
            "whsec_sandbox_card_provider_a",
            "sandbox-signature-key-b",
            "sandbox-webhook-secret-ach",
            "sandbox-webhook-key-ach-b",
        ]
        .map(str::to_owned),
    );

    let order = json!({"amountMinor": "12500", "currency": "USD"});
    let prepared = sandbox.sandbox_client("secretKey").post("/client/v1/payments", &order).data(201);
    let reference = text(&prepared["serviceReference"]);
    let event = text(&terminal.json(&["events", "list"])["items"][0]["id"]);
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("document.toml");
    std::fs::write(&document, terminal.shows(&["export"]).replace("rule_large", "rule_other")).unwrap();
    let document = document.to_str().unwrap();
    let (key, endpoint) = (text(&issued["id"]), text(&endpoint["id"]));
    for arguments in [
        &["export"][..],
        &["export", "--format", "json"],
        &["apply", document, "--dry-run"],
        &["apply", document, "--yes"],
        &["config", "history"],
        &["config", "rollback", "1", "--yes"],
        &["organizations", "list"],
        &["applications", "list"],
        &["environments", "list"],
        &["keys", "list"],
        &["keys", "revoke", &key, "--yes"],
        &["wallet", "show"],
        &["wallet", "ledger"],
        &["payments", "list", "--preparations"],
        &["payments", "list", "--waiting"],
        &["payments", "show", &reference],
        &["trigger", "pay", &reference],
        &["trigger", "duplicate", &reference],
        &["trigger", "refund", &reference, "--amount", "1"],
        &["exceptions", "list", "--all"],
        &["providers"],
        &["quote", "1", "USD"],
        &["explain", "1", "USD"],
        &["events", "list"],
        &["events", "show", &event],
        &["events", "deliveries"],
        &["events", "resend", &event],
        &["endpoints", "list"],
        &["endpoints", "disable", &endpoint],
        &["audit"],
        &["doctor"],
    ] {
        for json in [&[][..], &["--json"]] {
            let said = terminal.run(&[arguments, json].concat());
            for secret in &secrets {
                assert!(
                    !said.out.contains(secret) && !said.err.contains(secret),
                    "{arguments:?} prints a secret: {said:?}"
                );
            }
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
