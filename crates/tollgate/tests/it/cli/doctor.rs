//! `doctor`: what is well says so, what is not says what to do.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use crate::support::{Database, Start, Tenant, Terminal};

fn found<'a>(answer: &'a Value, name: &str) -> Vec<&'a Value> {
    answer["checks"].as_array().unwrap().iter().filter(|check| check["name"] == name).collect()
}

#[test]
fn a_sandbox_is_examined() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    let said = terminal.run(&["doctor"]);
    for part in [
        "SQLite 3.",
        "schema version",
        "fsync takes",
        "clock",
        "all 5 providers are ready",
        "no transfers are due",
        "TOLLGATE_PUBLIC_URL",
        "This machine",
    ] {
        assert!(said.out.contains(part), "{part} is not in {}", said.out);
    }
    let answer: Value = serde_json::from_str(&terminal.run(&["doctor", "--json"]).out).unwrap();
    assert_eq!(answer["version"], env!("CARGO_PKG_VERSION"));
    let checks = answer["checks"].as_array().unwrap();
    assert!(!checks.is_empty(), "{answer:#}");
    for check in checks {
        let verdict = check["verdict"].as_str().unwrap();
        assert!(["ok", "warning", "problem"].contains(&verdict), "{check:#}");
        assert_eq!(check["advice"].is_null(), verdict == "ok", "{check:#}");
    }
    let left: Vec<_> =
        fs::read_dir(&sandbox.data_dir).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("fsync")), "{left:?}");
}

#[test]
fn what_is_missing_fails_the_command_and_says_what_to_do() {
    let server = Start::serve().run();
    let tenant = Tenant::create(&mut server.admin());
    let document = json!({"providers": {
        "cards": {"adapter": "stripe", "credentials": {"secretKey": "a secret key for tests"}},
        "ready": {"adapter": "stripe", "credentials": {"secretKey": "a secret key for tests", "publishableKey": "pk"}},
    }});
    server.admin().put(&tenant.path("/config"), &document).data(200);
    let terminal = Terminal::of(&server);
    let said = terminal.run(&["doctor"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("problem"), "{said:?}");
    for part in [
        "problem  providers    cards is not ready: it lacks credentials.publishableKey",
        "warning  webhooks     ready is missing credentials.webhookSecret",
        "warning  admin token",
        "tollgate generate admin-token",
    ] {
        assert!(said.out.contains(part), "{part} is not in {}", said.out);
    }
    assert!(!said.out.contains("a secret key for tests") && !said.out.contains("an admin token for tests"));
}

#[test]
fn notes_that_others_can_read_are_a_problem() {
    let sandbox = Start::sandbox().run();
    fs::set_permissions(sandbox.data_dir.join("sandbox.json"), fs::Permissions::from_mode(0o644)).unwrap();
    let said = Terminal::beside(&sandbox).run(&["doctor"]);
    assert!(said.code == 1 && said.out.contains("chmod 600"), "{said:?}");
}

#[test]
fn a_database_server_is_examined() {
    let database = Database::create();
    let server = Start::serve().with("TOLLGATE_DATABASE_URL", &database.url).run();
    Tenant::create(&mut server.admin());
    let said = Terminal::of(&server).run(&["doctor", "--json"]);
    let answer: Value = serde_json::from_str(&said.out).unwrap();
    assert!(
        found(&answer, "database")[0]["finding"].as_str().unwrap().starts_with("PostgreSQL "),
        "{answer:#}"
    );
    assert!(!found(&answer, "durability").is_empty(), "{answer:#}");
    assert_eq!(found(&answer, "standby")[0]["verdict"], "warning", "{answer:#}");
    assert!(found(&answer, "clock").iter().all(|check| check["verdict"] == "ok"), "{answer:#}");
    let has_none = found(&answer, "providers").iter().any(|it| it["finding"] == "no provider is configured");
    assert!(has_none, "{answer:#}");
    assert_eq!(found(&answer, "database").len(), 1, "it gave every answer: {answer:#}");
}
