//! The database is away: quotes go on, changes are refused in time, and everything recovers by itself.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use crate::support::{
    Answer, Database, FIRST_MARKER, Flow, Proxy, QUOTE, Server, Start, StoreKind, Tenant, WAIT_TIMEOUT,
    Weather, Wire, World, marked_document, quote, quoted_marker, wait_until,
};

/// How long a caller may be kept waiting for the news that the database is away.
const BOUND: Duration = Duration::from_secs(35);
/// How long recovery may take once the database is back.
const RECOVERY: Duration = Duration::from_secs(120);

fn timed(what: &str, send: impl FnOnce() -> Answer) -> Answer {
    let started = Instant::now();
    let answer = send();
    println!("{what}: {} after {:?}", answer.status, started.elapsed());
    assert!(started.elapsed() < BOUND, "{what}: only after {:?}", started.elapsed());
    answer
}

#[track_caller]
fn check_unavailable(answer: &Answer) {
    let code = answer.failure(503);
    // Cut off in the midst of a change, nobody knows whether it was made.
    assert!(["store_unavailable", "outcome_unknown"].contains(&code.as_str()), "{code}");
    let seconds: u64 = answer.headers["retry-after"].parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
}

fn wait_unready(server: &Server) {
    let began = Instant::now();
    wait_until("the server is not ready", BOUND, || server.client("").get("/readyz").status == 503);
    println!("not ready {:?} after the outage began", began.elapsed());
}

/// While the database is away: not ready, yet alive and quoting by the last known configuration.
fn check_outage(server: &Server, tenant: &Tenant, key: &str, marker: u64) {
    wait_unready(server);
    thread::scope(|scope| {
        let quoting = scope.spawn(|| {
            let (started, mut count, mut slow) = (Instant::now(), 0, 0);
            let mut client = server.client(key);
            while started.elapsed() < Duration::from_secs(3) || count < 50 {
                let asked = Instant::now();
                assert_eq!(
                    quoted_marker(&mut client),
                    marker,
                    "quotes go on by the last known configuration"
                );
                count += 1;
                slow += usize::from(asked.elapsed() >= Duration::from_secs(2));
            }
            slow
        });
        check_unavailable(&timed("readiness", || server.client("").get("/readyz")));
        server.client("").get("/healthz").data(200);
        let asked = Instant::now();
        let metrics = String::from_utf8(server.client("").get("/metrics").body).unwrap();
        assert!(asked.elapsed() < Duration::from_secs(15), "metrics took {:?}", asked.elapsed());
        assert!(
            metrics.contains("tollgate_store_up{} 0\n") && metrics.contains("_http_connections "),
            "{metrics}"
        );
        let refused = marked_document(marker + 100);
        check_unavailable(&timed("a change", || server.admin().put(&tenant.path("/config"), &refused)));
        check_unavailable(&timed("a new key", || {
            server.admin().post(&tenant.path("/keys"), &serde_json::json!({"kind": "secret"}))
        }));
        check_unavailable(&timed("a list", || server.admin().get(&tenant.path("/keys"))));
        server.client("").get("/healthz").data(200);
        // One that waits for the machine is not one that waits for the database, as all of them would.
        let slow = quoting.join().unwrap();
        assert!(slow <= 2, "{slow} quotes wait for the database");
    });
}

/// The first request that comes after the database is back may still find it away; soon all is well.
fn wait_recovered(server: &Server) {
    let restored = Instant::now();
    wait_until("the server is ready again", RECOVERY, || server.client("").get("/readyz").status == 200);
    println!("ready again after {:?}", restored.elapsed());
}

/// One node behind a network that fails, another one that does not notice.
fn check_postgres_outage(weather: Weather) {
    let database = Database::create();
    let proxy = Proxy::start(database.address());
    let url = database.url_through(proxy.address);
    let server = Start::serve().with("TOLLGATE_DATABASE_URL", &url).run();
    let other = Start::serve().with("TOLLGATE_DATABASE_URL", &database.url).run();
    let tenant = Tenant::create(&mut server.admin());
    tenant.configure(&mut server.admin(), FIRST_MARKER);
    let (key, revoked) = (tenant.issue(&mut server.admin()), tenant.issue(&mut server.admin()));
    assert_eq!(quote(&mut server.client(&revoked.key)).status, 200);

    proxy.set(weather);
    check_outage(&server, &tenant, &key.key, FIRST_MARKER);
    tenant.configure(&mut other.admin(), FIRST_MARKER + 1);
    other.admin().delete(&tenant.path(&format!("/keys/{}", revoked.id))).data(200);
    assert_eq!(quoted_marker(&mut server.client(&key.key)), FIRST_MARKER, "it cannot know yet");

    let restored = Instant::now();
    proxy.set(Weather::Clear);
    // What was caught by the silence may still have been carried out, later than the other node's change.
    let known = [FIRST_MARKER + 1, FIRST_MARKER + 100];
    let mut client = server.client(&key.key);
    wait_until("the other node's change is in force", RECOVERY, || {
        known.contains(&quoted_marker(&mut client))
    });
    println!("the other node's change is in force after {:?}", restored.elapsed());
    let mut client = server.client(&revoked.key);
    wait_until("the revoked key is refused", RECOVERY, || quote(&mut client).status == 401);
    wait_recovered(&server);

    tenant.configure(&mut server.admin(), FIRST_MARKER + 2);
    assert_eq!(quoted_marker(&mut server.client(&key.key)), FIRST_MARKER + 2);
    let mut client = other.client(&key.key);
    wait_until("the other node hears of it", RECOVERY, || quoted_marker(&mut client) == FIRST_MARKER + 2);
    check_log(&server);
}

/// Whatever failed was said to be the store's unavailability.
fn check_log(server: &Server) {
    let log = server.log();
    let mut failed = log.lines().filter(|line| line.contains("request failed"));
    let is_the_stores = |line: &str| line.contains("store_unavailable") || line.contains("outcome_unknown");
    assert!(failed.all(is_the_stores), "{log}");
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn a_server_cut_off_from_postgres_goes_on_quoting_and_recovers() {
    check_postgres_outage(Weather::Cut);
}

#[test]
fn a_server_whose_postgres_falls_silent_goes_on_quoting_and_recovers() {
    check_postgres_outage(Weather::Silent);
}

#[test]
fn a_server_whose_sqlite_file_is_locked_goes_on_quoting_and_recovers() {
    let server = Start::serve().run();
    let tenant = Tenant::create(&mut server.admin());
    tenant.configure(&mut server.admin(), FIRST_MARKER);
    let key = tenant.issue(&mut server.admin()).key;

    let other = rusqlite::Connection::open(server.data_dir.join("tollgate.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    wait_unready(&server);
    check_unavailable(&timed("readiness", || server.client("").get("/readyz")));
    check_unavailable(&timed("a change", || {
        server.admin().put(&tenant.path("/config"), &marked_document(FIRST_MARKER + 100))
    }));
    server.client("").get("/healthz").data(200);
    assert_eq!(quoted_marker(&mut server.client(&key)), FIRST_MARKER);
    // Reading needs no lock.
    server.admin().get(&tenant.path("/keys")).data(200);

    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    wait_recovered(&server);
    tenant.configure(&mut server.admin(), FIRST_MARKER + 1);
    let data =
        server.client(&key).post(QUOTE, &serde_json::json!({"amountMinor": 5, "currency": "USD"})).data(200);
    assert_eq!(data["platformFeeMinor"], (FIRST_MARKER + 1).to_string());
    assert_eq!(tenant.history(&mut server.admin()), [1, 2].into(), "the refused change left no version");
    check_log(&server);
}

/// The file goes on to take writes where its folder is gone, and all of them would be lost at the next start.
#[test]
fn a_server_whose_sqlite_folder_is_deleted_takes_no_payments() {
    let world = World::start(StoreKind::Sqlite);
    world.shop.prepare(Flow::Component, Wire::Stripe);
    let folder = world.server.data_dir.clone();
    assert!(folder.join("tollgate.db").exists());
    fs::remove_dir_all(&folder).unwrap();
    let deleted = Instant::now();
    wait_until("the server is not ready", WAIT_TIMEOUT, || {
        world.server.client("").get("/readyz").status == 503
    });
    let noticed = deleted.elapsed();
    let mut refused = world.shop.try_prepare(Flow::Component, Wire::Stripe);
    wait_until("payments are refused", WAIT_TIMEOUT, || {
        refused = world.shop.try_prepare(Flow::Component, Wire::Stripe);
        refused.status == 503
    });
    println!("not ready after {noticed:?}, and no payments after {:?}", deleted.elapsed());
    check_unavailable(&refused);
    for flow in [Flow::Hosted, Flow::Component] {
        check_unavailable(&world.shop.try_prepare(flow, Wire::Stripe));
    }
    check_unavailable(&world.server.client("").get("/readyz"));
    world.server.client("").get("/healthz").data(200);
}
