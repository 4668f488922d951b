//! Organizations, applications, environments, keys and wallets.

use serde_json::json;

use crate::support::{Start, Terminal};

#[test]
fn from_nothing_to_a_quote() {
    let server = Start::serve().run();
    let terminal = Terminal::of(&server);
    assert!(terminal.shows(&["organizations", "list"]).contains("No organizations yet"));
    let organization =
        terminal.json(&["organizations", "create", "Shops"])["id"].as_str().unwrap().to_owned();
    let application = terminal.json(&["applications", "create", "Web shop", "--organization", &organization]);
    let application = application["id"].as_str().unwrap().to_owned();
    let said = terminal.shows(&["environments", "create", "test", "--application", &application]);
    assert!(said.starts_with("Created environment env_"), "{said}");

    let environments = terminal.json(&["environments", "list"]);
    let environment = &environments["items"][0];
    assert_eq!(
        (&environment["organizationName"], &environment["applicationName"]),
        (&json!("Shops"), &json!("Web shop"))
    );
    for (arguments, words) in [
        (&["organizations", "list"][..], "Shops"),
        (&["applications", "list"], "Web shop"),
        (&["applications", "list", "--organization", &organization], "Web shop"),
        (&["environments", "list"], "Shops"),
        (&["environments", "list", "--application", &application], &application),
    ] {
        let said = terminal.shows(arguments);
        assert!(said.contains(words) && said.contains("UTC"), "{arguments:?}: {said}");
    }
    assert!(
        terminal
            .fails(&["environments", "create", "test", "--application", &application])
            .contains("already")
    );
    assert!(
        terminal.fails(&["environments", "create", "UPPER", "--application", &application]).contains("a-z")
    );
    let said = terminal.fails(&["environments", "create", "live", "--application", "app_nobody"]);
    assert!(
        said.contains("application app_nobody not found") && said.contains("applications list"),
        "{said}"
    );
    assert!(
        terminal
            .fails(&["applications", "list", "--organization", "org_nobody"])
            .contains("organizations list")
    );

    // A key made here opens the environment made here.
    let key = terminal.json(&["keys", "issue"])["key"].as_str().unwrap().to_owned();
    let quote =
        server.client(&key).post("/client/v1/fees/quote", &json!({"amountMinor": "1", "currency": "USD"}));
    assert_eq!(quote.failure(409), "routing_unavailable");
    let said = terminal.fails(&["quote", "10.00", "USD"]);
    assert!(said.contains("tollgate explain"), "{said}");
}

#[test]
fn keys_are_shown_once_and_end_when_told() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    let status = |key: &str| {
        let body = json!({"amountMinor": "1", "currency": "USD"});
        sandbox.client(key).post("/client/v1/fees/quote", &body).status
    };
    let opens = |key: &str| status(key) == 200;
    let issued = terminal.shows(&["keys", "issue", "--kind", "publishable"]);
    let publishable = issued.lines().next().unwrap();
    assert!(publishable.starts_with("pk_test_") && status(publishable) != 401, "{issued}");

    let first = terminal.json(&["keys", "issue"]);
    let (id, key) = (first["id"].as_str().unwrap(), first["key"].as_str().unwrap());
    let list = terminal.shows(&["keys", "list"]);
    assert!(list.contains(id) && !list.contains(key) && !list.contains(publishable), "{list}");
    let rotated = terminal.json(&["keys", "rotate", id, "--grace-seconds", "1000"]);
    let second = rotated["key"].as_str().unwrap();
    assert!(opens(key) && opens(second));
    assert!(terminal.fails(&["keys", "rotate", id]).contains("issue a new one"));

    let refused = terminal.answering("no\n", &["keys", "revoke", id]);
    assert!(refused.code == 1 && opens(key), "{refused:?}");
    let done = terminal.answering("yes\n", &["keys", "revoke", id]);
    assert!(done.code == 0 && done.err.contains("Revoke") && !opens(key) && opens(second), "{done:?}");
    let revoked = terminal.json(&["keys", "revoke", rotated["id"].as_str().unwrap(), "--yes"]);
    assert_eq!(revoked["status"], "revoked");
    assert!(!opens(second));
    let listed = terminal.json(&["keys", "list", "--limit", "1"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let more = terminal.shows(&["keys", "list", "--limit", "1"]);
    let cursor = listed["nextCursor"].as_str().unwrap();
    assert!(more.contains(&format!("--after {cursor}")), "{more}");
    assert!(
        !terminal
            .shows(&["keys", "list", "--after", cursor])
            .contains(listed["items"][0]["id"].as_str().unwrap())
    );
    // A key in the place of its id must not come back on the screen.
    let said = terminal.fails(&["keys", "revoke", "--yes", second]);
    assert!(said.contains("keys list") && !said.contains(second), "{said}");
}

#[test]
fn wallets_are_funded_and_read_in_major_units() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    assert!(terminal.shows(&["wallet", "show"]).contains("1000000.00"));
    let moved = terminal.json(&["wallet", "fund", "12.5", "EUR", "--reference", "first", "--yes"]);
    assert_eq!((&moved["availableMinor"], &moved["replayed"]), (&json!("1250"), &json!(false)));
    let again =
        terminal.shows(&["wallet", "fund", "1250", "eur", "--minor", "--reference", "first", "--yes"]);
    assert!(again.contains("no funds moved") && again.contains("12.50"), "{again}");
    let said = terminal.fails(&["wallet", "fund", "13", "EUR", "--reference", "first", "--yes"]);
    assert!(said.contains("new reference"), "{said}");
    let said = terminal.answering("y\n", &["wallet", "withdraw", "2.50", "EUR"]);
    assert!(
        said.code == 0 && said.err.contains("Take 2.50 EUR out of the wallet (reference cli-"),
        "{said:?}"
    );
    let said = terminal.fails(&["wallet", "withdraw", "10.01", "EUR", "--yes"]);
    assert!(said.contains("less than 10.01 EUR") && said.contains("wallet show EUR"), "{said}");
    assert_eq!(terminal.json(&["wallet", "show", "EUR"])["availableMinor"], "1000");
    terminal.shows(&["wallet", "fund", "700", "JPY", "--yes"]);
    assert!(terminal.shows(&["wallet", "show", "JPY"]).contains(" 700 "));
    for (amount, currency, words) in [
        ("1.234", "EUR", "form 125.00"),
        ("7.5", "JPY", "form 12500"),
        ("-1", "EUR", ""),
        ("1", "EURO", "ISO 4217"),
        ("0", "EUR", "above zero"),
    ] {
        let said = terminal.run(&["wallet", "fund", amount, currency, "--yes"]);
        assert!(said.code != 0 && said.err.contains(words), "{amount} {currency}: {said:?}");
    }
    let ledger = terminal.shows(&["wallet", "ledger", "EUR"]);
    for part in ["fund", "withdraw", "first", "ann", "-12.50 EUR", "2.50 EUR"] {
        assert!(ledger.contains(part), "{part} is not in {ledger}");
    }
    let ledger = terminal.json(&["wallet", "ledger", "EUR", "--limit", "1"]);
    assert_eq!(
        ledger["items"][0]["entries"][0]["amountMinor"].as_str().unwrap().trim_start_matches('-'),
        "250"
    );
    let before = ledger["nextCursor"].as_str().unwrap();
    let rest = terminal.json(&["wallet", "ledger", "EUR", "--before", before]);
    assert_eq!(rest["items"].as_array().unwrap().len(), 1);
    assert!(terminal.shows(&["audit"]).contains("the ledger is consistent"));
    assert_eq!(terminal.json(&["audit"])["clean"], true);
}

#[test]
fn users_change_and_keep_tokens_of_their_own() {
    let server = Start::serve().run();
    let admin = Terminal::of(&server);
    let added = admin.json(&["users", "add", "Ada", "--email", "ada@example.com", "--role", "viewer"]);
    let id = added["id"].as_str().unwrap();
    let issued = admin.json(&["users", "issue-token", id, "--name", "desk"]);
    let ada = Terminal::of(&server).with("TOLLGATE_ADMIN_TOKEN", issued["token"].as_str().unwrap());
    assert!(ada.shows(&["users", "me"]).contains("ada@example.com"));
    assert!(admin.shows(&["users", "me"]).contains("belongs to no user"));

    assert!(admin.fails(&["users", "change", id]).contains("nothing to change"));
    assert!(admin.fails(&["users", "change", "usr_nobody", "--role", "support"]).contains("users list"));
    let said = admin.shows(&["users", "change", id, "--name", "Ada King", "--role", "support"]);
    assert!(said.contains("Ada King, support"), "{said}");
    let me = ada.json(&["users", "me"])["user"].clone();
    assert_eq!((&me["name"], &me["role"]), (&json!("Ada King"), &json!("support")));

    let own = ada.json(&["users", "issue-own-token", "--name", "laptop", "--days", "1"]);
    let laptop = Terminal::of(&server).with("TOLLGATE_ADMIN_TOKEN", own["token"].as_str().unwrap());
    assert_eq!(laptop.json(&["users", "me"])["user"]["id"], json!(id));
    assert!(admin.fails(&["users", "issue-own-token", "--name", "x"]).contains("use a personal token"));
    ada.shows(&["users", "revoke-own-token", own["id"].as_str().unwrap(), "--yes"]);
    laptop.fails(&["users", "me"]);
}
