//! `tollgate rekey` under load, with the server killed again and again: everything stays readable, and the old key can go.
//!
//! `TOLLGATE_REKEY_VALUES` and `TOLLGATE_REKEY_KILLS` set how many values are sealed and how often the server is killed.

use std::{
    env,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use rand::RngExt;
use serde_json::{Value, json};

use crate::support::{
    ADMIN_TOKEN, Client, Database, FIRST_MARKER, MASTER_KEY, Server, Start, Tenant, marked_document,
    quoted_marker, randomness, seed, sole_marker,
};

const NEW_KEY: &str = "another master key for tests, which comes next";

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Puts configurations in force until the server is gone.
fn write(mut admin: Client, tenant: &Tenant, next: &AtomicU64) {
    loop {
        let body = marked_document(next.fetch_add(1, Ordering::Relaxed)).to_string();
        let headers = [("content-type", "application/json")];
        if admin.try_send("PUT", &tenant.path("/config"), &headers, body.as_bytes()).is_err() {
            return;
        }
    }
}

/// Has values sealed anew until the server is gone. What is written meanwhile is sealed under the current key.
fn rekey(mut admin: Client) {
    let headers = [("content-type", "application/json")];
    while let Ok(answer) = admin.try_send("POST", "/admin/v1/rekey", &headers, b"{}") {
        answer.data(200);
    }
}

fn command(server: &Server, arguments: &[&str]) -> (bool, String) {
    let mut running = Start::command(arguments)
        .with("TOLLGATE_URL", &format!("http://{}", server.address()))
        .with("TOLLGATE_ADMIN_TOKEN", ADMIN_TOKEN)
        .spawn();
    let ended = running.wait_end(Duration::from_mins(30));
    (ended.success(), format!("{}{}", running.output(), running.log()))
}

/// A key management service holds the keys; what prints them is named instead.
#[test]
fn keys_can_come_from_commands_also_while_they_are_rotated() {
    let mut first = Start::serve().run();
    let tenant = Tenant::create(&mut first.admin());
    let document = marked_document(FIRST_MARKER);
    first.admin().put(&tenant.path("/config"), &document).data(200);
    assert!(first.terminate().success());
    let folder = tempfile::tempdir().unwrap();
    let command = |name: &str, key: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{key}\n")).unwrap();
        format!("cat {}", path.display())
    };
    let start = || Start::serve().within(&first.data_dir).without("TOLLGATE_MASTER_KEY");
    let mut again = start().with("TOLLGATE_MASTER_KEY_COMMAND", &command("old", MASTER_KEY)).run();
    again.admin().get(&tenant.path("/config")).data(200);
    assert!(again.terminate().success());
    let mut rotating = start()
        .with("TOLLGATE_MASTER_KEY_COMMAND", &command("new", NEW_KEY))
        .with("TOLLGATE_MASTER_KEY_PREVIOUS_COMMAND", &command("old", MASTER_KEY))
        .run();
    rotating.admin().post("/admin/v1/rekey", &json!({})).data(200);
    assert!(rotating.terminate().success());
    for (name, value, said) in [
        ("TOLLGATE_MASTER_KEY_COMMAND", "false", "TOLLGATE_MASTER_KEY_COMMAND: `false` failed"),
        ("TOLLGATE_MASTER_KEY_COMMAND", "echo short", "master key"),
    ] {
        let mut refused = start().with(name, value).spawn();
        assert!(!refused.wait_end(Duration::from_secs(150)).success());
        assert!(refused.log().contains(said) && !refused.log().contains(NEW_KEY), "{}", refused.log());
    }
    let mut both =
        start().with("TOLLGATE_MASTER_KEY", NEW_KEY).with("TOLLGATE_MASTER_KEY_COMMAND", "echo x").spawn();
    assert!(!both.wait_end(Duration::from_secs(150)).success());
    assert!(both.log().contains("are both set"), "{}", both.log());
}

fn master_key_finding(server: &Server) -> String {
    let checks = server.admin().get("/admin/v1/doctor").data(200);
    let found =
        checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "master_key").cloned();
    found.unwrap_or_default()["finding"].as_str().unwrap_or_default().to_owned()
}

/// Every version of the configuration, and that quotes work.
fn check_all_readable(server: &Server, tenant: &Tenant, key: &str) {
    let mut admin = server.admin();
    for version in tenant.history(&mut admin) {
        let document = admin.get(&tenant.path(&format!("/config/versions/{version}"))).data(200);
        sole_marker(&document.to_string()).unwrap();
    }
    quoted_marker(&mut server.client(key));
    let audit = admin.get("/admin/v1/audit").data(200);
    assert_eq!(audit["auditLog"]["problem"], Value::Null, "the chain's key is not the master key's own");
}

fn rotate(start: impl Fn() -> Start) {
    let seed = seed();
    let mut random = randomness(seed, 0);
    let server = start().run();
    let tenant = Tenant::create(&mut server.admin());
    let key = tenant.issue(&mut server.admin()).key;
    let endpoint = json!({ "url": "https://receiver.example/events", "events": ["*"] });
    server.admin().post(&tenant.path("/event-endpoints"), &endpoint).data(201);
    // Each version has several secrets.
    let secrets = count_masked(&marked_document(FIRST_MARKER));
    let versions = number("TOLLGATE_REKEY_VALUES", 60).div_ceil(secrets);
    let next = AtomicU64::new(FIRST_MARKER);
    for _ in 0..versions {
        tenant.configure(&mut server.admin(), next.fetch_add(1, Ordering::Relaxed));
    }
    drop(server);

    let both =
        || start().with("TOLLGATE_MASTER_KEY", NEW_KEY).with("TOLLGATE_MASTER_KEY_PREVIOUS", MASTER_KEY);
    let mut server = both().run();
    assert!(master_key_finding(&server).contains("still needed by: configurations, event endpoints"));
    let kills = number("TOLLGATE_REKEY_KILLS", 1);
    for _ in 0..kills {
        let pause = Duration::from_millis(random.random_range(20..400));
        thread::scope(|scope| {
            scope.spawn(|| write(server.admin(), &tenant, &next));
            scope.spawn(|| rekey(server.admin()));
            thread::sleep(pause);
            server.signal("KILL");
        });
        server.wait_end(Duration::from_secs(120));
        server = both().run();
        quoted_marker(&mut server.client(&key));
    }
    let (is_success, last_run) = command(&server, &["rekey"]);
    assert!(is_success, "{last_run}, seed {seed}");
    assert!(master_key_finding(&server).contains("nothing is sealed under the previous"), "seed {seed}");
    check_all_readable(&server, &tenant, &key);
    drop(server);

    let mut refused = start().spawn();
    assert!(!refused.wait_end(Duration::from_secs(150)).success(), "the old key is of no use anymore");
    let server = start().with("TOLLGATE_MASTER_KEY", NEW_KEY).run();
    check_all_readable(&server, &tenant, &key);
    let (is_success, text) = command(&server, &["rekey"]);
    assert!(!is_success && text.contains("TOLLGATE_MASTER_KEY_PREVIOUS"), "{text}");
    println!(
        "{versions} versions with {secrets} secrets each, {kills} kills; after them: {}",
        last_run.trim()
    );
}

fn count_masked(document: &Value) -> u64 {
    let providers = document["providers"].as_object().unwrap();
    let secrets = providers.values().filter_map(|provider| provider["credentials"].as_object());
    secrets.map(|fields| u64::try_from(fields.len()).unwrap()).sum::<u64>().max(1)
}

#[test]
fn sqlite_is_rekeyed_through_kills() {
    let folder = tempfile::tempdir().unwrap();
    rotate(|| Start::serve().within(&folder.path().join("data")));
}

#[test]
fn postgres_is_rekeyed_through_kills() {
    let database = Database::create();
    rotate(|| Start::serve().with("TOLLGATE_DATABASE_URL", &database.url));
}
