//! A node whose machine's clock is not the database's: it says so and takes no work until they agree again.

use crate::support::{Database, Server, Start, WAIT_TIMEOUT, wait_until};

/// A clock that only sessions with [`SKEWED_SESSIONS`] read: it is as far from the server's as the table says.
const SKEWED_CLOCK: &str = "
    CREATE SCHEMA skewed;
    CREATE TABLE skewed.clock (millis_ahead BIGINT NOT NULL);
    INSERT INTO skewed.clock VALUES (0);
    CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
        'SELECT pg_catalog.clock_timestamp() + millis_ahead * interval ''1 millisecond'' FROM skewed.clock'";
const SKEWED_SESSIONS: &str = "?options=-c%20search_path%3Dskewed%2Cpg_catalog%2Cpublic";

/// Whether a node has logged this about its machine's clock.
fn has_logged(server: &Server, what: &str) -> bool {
    server.log().lines().any(|line| line.contains("this machine's clock is ") && line.contains(what))
}

#[test]
fn a_node_whose_clock_is_off_is_not_ready_until_the_clocks_agree() {
    let database = Database::create();
    let a = Start::serve().with("TOLLGATE_DATABASE_URL", &database.url).run();
    database.on_database(SKEWED_CLOCK);
    let url = format!("{}{SKEWED_SESSIONS}", database.url);
    let b = Start::serve().with("TOLLGATE_DATABASE_URL", &url).run();
    let is_ready = |server: &Server| server.client("").get("/readyz").status == 200;
    // A clock that is behind the database's, and one that is ahead of it.
    for (millis_ahead, word) in
        [(3_700_000, " ms behind the database's"), (-3_700_000, " ms ahead of the database's")]
    {
        database.on_database(&format!("UPDATE skewed.clock SET millis_ahead = {millis_ahead}"));
        wait_until("the difference is noticed", WAIT_TIMEOUT, || !is_ready(&b));
        let answer = b.client("").get("/readyz");
        assert_eq!(answer.failure(503), "store_unavailable");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("clock") && message.contains("time service"), "{message}");
        wait_until(word, WAIT_TIMEOUT, || has_logged(&b, word));
        assert!(is_ready(&a), "the other node's clock agrees");
        b.client("").get("/healthz").data(200);
        database.on_database("UPDATE skewed.clock SET millis_ahead = 0");
        wait_until("the clocks agree again", WAIT_TIMEOUT, || is_ready(&b));
    }
    assert!(!has_logged(&a, ""), "{}", a.log());
}

#[test]
fn a_node_that_starts_with_a_wrong_clock_is_not_ready() {
    let database = Database::create();
    database.on_database(SKEWED_CLOCK);
    database.on_database("UPDATE skewed.clock SET millis_ahead = -90000");
    let url = format!("{}{SKEWED_SESSIONS}", database.url);
    let mut server = Start::serve().with("TOLLGATE_DATABASE_URL", &url).spawn();
    server.wait_listening();
    assert_eq!(server.client("").get("/readyz").failure(503), "store_unavailable");
    database.on_database("UPDATE skewed.clock SET millis_ahead = 0");
    server.wait_ready();
}
