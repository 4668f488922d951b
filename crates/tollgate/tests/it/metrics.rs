//! What `/metrics` says of environments, wallets, providers and queues.

use serde_json::{Value, json};

use crate::support::{
    BANK_WAIT_TIMEOUT, BankStore, BankWorld, Desk, On, Receiver, Reply, Server, Subscription, Terminal,
    on_each_store, wait_until,
};

/// The value of a series, by its name and parts of its labels.
#[track_caller]
pub(crate) fn value(server: &Server, name: &str, labels: &[(&str, &str)]) -> Option<i64> {
    let text = String::from_utf8(server.client("").get("/metrics").body).unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let is_wanted = |line: &&str| {
        let labeled = |(label, value): &(&str, &str)| line.contains(&format!("{label}=\"{value}\""));
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])) && labels.iter().all(labeled)
    };
    let found: Vec<_> = text.lines().filter(is_wanted).collect();
    assert!(found.len() < 2, "{found:?}");
    found.first().map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap())
}

/// The same, once it is there: a store that is too busy to answer in time is left out.
#[track_caller]
fn present(server: &Server, name: &str, labels: &[(&str, &str)]) -> i64 {
    let mut found = None;
    wait_until(name, BANK_WAIT_TIMEOUT, || {
        found = value(server, name, labels);
        found.is_some()
    });
    found.unwrap()
}

fn what_needs_attention_is_measured(on: On) {
    let world =
        BankWorld::start_with(on, |store| store.serve().with("TOLLGATE_ALLOW_PRIVATE_ENDPOINTS", "true"));
    let (server, desk) = (&world.server, &world.desk);
    let environment = [("environment", desk.environment.as_str())];
    let of =
        |name: &str, label: &str, value_of: &str| present(server, name, &[environment[0], (label, value_of)]);
    let here = |name: &str| present(server, name, &environment);
    wait_until("the store is up", BANK_WAIT_TIMEOUT, || value(server, "tollgate_store_up", &[]) == Some(1));
    assert!(value(server, "tollgate_store_queued_units", &[]).is_some());
    assert_eq!(of("tollgate_wallet_available_minor", "currency", "USD"), i64::try_from(Desk::FUNDS).unwrap());
    assert_eq!(of("tollgate_wallet_low", "currency", "USD"), 0);
    assert_eq!(of("tollgate_provider_circuit", "state", "closed"), 1);
    assert_eq!(of("tollgate_provider_state", "state", "ready"), 1);
    assert_eq!((here("tollgate_waiting_deliveries"), here("tollgate_delivery_lag_seconds")), (0, 0));

    let receiver = Receiver::answering(|_| Reply::status(500));
    Subscription::create(&mut desk.admin(), &desk.path(""), &receiver.url("/"), &["*"]);
    world.simulator.fault(&world.simulator.rail.operation("create"), "error_before", 1_000, 0);
    let reference = desk.made(&desk.body("measured", 10_000));
    assert_eq!(of("tollgate_pending_payments", "method", "ach"), 1);
    assert_eq!(of("tollgate_pending_payments", "method", "web_card"), 0);
    wait_until("a delivery waits", BANK_WAIT_TIMEOUT, || here("tollgate_waiting_deliveries") > 0);
    wait_until("it is late", BANK_WAIT_TIMEOUT, || here("tollgate_delivery_lag_seconds") > 0);
    wait_until("a payment is late", BANK_WAIT_TIMEOUT, || {
        of("tollgate_pending_payment_age_seconds", "method", "ach") > 0
    });
    desk.leave(1);
    wait_until("the wallet is low", BANK_WAIT_TIMEOUT, || of("tollgate_wallet_low", "currency", "USD") == 1);
    assert_eq!(of("tollgate_wallet_available_minor", "currency", "USD"), 1);
    assert_eq!(of("tollgate_wallet_spent_minor", "currency", "USD"), 10_035);

    // The doctor finds the same.
    let force = desk.path("/providers/ach_provider_a/circuit");
    desk.admin().post(&force, &json!({"state": "open"})).data(200);
    assert_eq!(of("tollgate_provider_circuit", "state", "forced_open"), 1);
    assert_eq!(of("tollgate_provider_circuit", "state", "closed"), 0);
    assert_eq!(of("tollgate_provider_state", "state", "down"), 1);
    let doctor = desk.admin().get("/admin/v1/doctor").data(200);
    for name in ["circuits", "payments", "wallets"] {
        let is_found = |check: &Value| check["name"] == name && check["environmentId"] == desk.environment;
        assert!(doctor["checks"].as_array().unwrap().iter().any(is_found), "{name}: {doctor:#}");
    }

    world.simulator.clear_faults();
    desk.wait_status(&reference, "processing");
    wait_until("nothing is pending", BANK_WAIT_TIMEOUT, || {
        of("tollgate_pending_payments", "method", "ach") == 0
    });
    assert_eq!(of("tollgate_pending_payment_age_seconds", "method", "ach"), 0);
}

/// A node meets a configuration that one of a later release has saved.
fn a_configuration_that_cannot_be_used_is_reported(on: On) {
    let mut world = BankWorld::start(on);
    let environment = world.desk.environment.clone();
    let unusable =
        |server: &Server| value(server, "tollgate_configuration_unusable", &[("environment", &environment)]);
    let ready = |server: &Server| server.client("").get("/readyz").data(200);
    let found = |server: &Server| {
        let checks = server.admin().get("/admin/v1/doctor").data(200)["checks"].clone();
        let checks = checks.as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "configuration")
    };
    assert_eq!((unusable(&world.server), found(&world.server)), (Some(0), None));
    assert_eq!(ready(&world.server), json!({"status": "ready"}));

    let change_id = match on {
        On::Sqlite => "randomblob(16)",
        On::Postgres => "gen_random_uuid()",
    };
    let put = |world: &mut BankWorld, document: &str| {
        let statement = format!(
            "INSERT INTO config_versions (environment_id, version, change_id, actor, request, at, document)
                 SELECT environment_id, version + 1, {change_id}, actor, request, at, {document}
                 FROM config_versions ORDER BY version DESC LIMIT 1;
             UPDATE environments SET config_version = config_version + 1;
             UPDATE directory SET version = version + 1;
             UPDATE environments SET directory_version = (SELECT version FROM directory);"
        );
        match &world.store {
            // A server on SQLite has the file to itself.
            BankStore::Sqlite(folder) => {
                let file = folder.path().join("data/tollgate.db");
                world.server.terminate();
                rusqlite::Connection::open(file).unwrap().execute_batch(&statement).unwrap();
                world.serve_again(BankStore::serve);
            }
            BankStore::Postgres(database) => database.on_database(&statement),
        }
    };
    let etag = world.desk.admin().get(&world.desk.path("/config")).headers["etag"].clone();
    let before: u64 = etag.trim_matches('"').parse().unwrap();
    put(&mut world, r#"'{"ofALaterRelease":1,' || substr(document, 2)"#);
    wait_until("it is measured", BANK_WAIT_TIMEOUT, || unusable(&world.server) == Some(1));
    // On SQLite, the node was started on it.
    let said =
        format!("this node cannot use configuration {}; configuration {before} is in force", before + 1);
    world.desk.made(&world.desk.body("by the configuration before", 5_000));
    assert_eq!(
        ready(&world.server),
        json!({"status": "ready", "details": [format!("{environment}: {said}")]})
    );
    let check = found(&world.server).unwrap();
    assert_eq!(
        (&check["environmentId"], &check["verdict"]),
        (&json!(environment), &json!("problem")),
        "{check:#}"
    );
    let finding = check["finding"].as_str().unwrap();
    assert!(finding.starts_with(&said) && finding.contains("ofALaterRelease"), "{finding}");
    let doctor = Terminal::of(&world.server).run(&["doctor"]);
    assert!(doctor.code != 0 && doctor.out.contains(&said), "{doctor:?}");

    put(&mut world, r#"replace(document, '"ofALaterRelease":1,', '')"#);
    wait_until("it is over", BANK_WAIT_TIMEOUT, || unusable(&world.server) == Some(0));
    assert_eq!((ready(&world.server), found(&world.server)), (json!({"status": "ready"}), None));
}

on_each_store! {
    what_needs_attention_is_measured
    a_configuration_that_cannot_be_used_is_reported
}
