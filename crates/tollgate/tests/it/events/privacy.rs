//! Signing secrets are kept nowhere in the open: not in the log at its most talkative, not in the database, not in any
//! answer but the one that shows them.

use std::fs;

use serde_json::json;

use super::{happen, subscribe, wait_state};
use crate::{
    secrets::Canary,
    support::{Receiver, Reply, Start, Store, StoreKind, WAIT_TIMEOUT, World, on_both_stores, wait_until},
};

on_both_stores! {
    signing_secrets_and_answers_are_kept_nowhere
}

fn talkative(store: &Store) -> Start {
    super::serve(store).with("TOLLGATE_LOG", "trace")
}

fn signing_secrets_and_answers_are_kept_nowhere(kind: StoreKind) {
    let mut world = World::start_with(kind, talkative);
    let said = "a receiver's secret words, which nobody else should read";
    let receiver = Receiver::answering(move |_| Reply::status(500).with("x-words", said));
    let subscription = subscribe(&world, &receiver);
    let mut admin = world.shop.admin();
    let rotated = admin.post(&format!("{}/rotate-secret", subscription.path), &json!({})).data(201);
    let reference = happen(&world);
    receiver.wait_count(2);
    receiver.answer(|_| Reply::status(200));
    wait_state(&world, &reference, "delivered");
    wait_until("all is settled", WAIT_TIMEOUT, || world.shop.listed("deliveries?state=waiting").is_empty());
    let secrets = [subscription.secret.as_str(), rotated["secret"].as_str().unwrap(), said];
    let canaries: Vec<_> = secrets.iter().map(|secret| Canary::new(secret)).collect();
    let check = |place: &str, text: &[u8]| {
        for canary in &canaries {
            assert!(!canary.is_in(text), "{} is in {place}", canary.name);
        }
    };
    for path in ["/event-endpoints", "/events", "/deliveries", "/config"] {
        check(path, &admin.get(&world.shop.path(path)).body);
    }
    check("the endpoint", &admin.get(&subscription.path).body);
    check("/metrics", &admin.get("/metrics").body);
    assert!(world.server.terminate().success());
    let log = world.server.log();
    assert!(
        log.contains("\"level\":\"TRACE\"") || log.contains("\"level\":\"DEBUG\""),
        "the log was not talkative"
    );
    for entry in fs::read_dir(&world.server.data_dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            check(&path.display().to_string(), &fs::read(&path).unwrap());
        }
    }
    if let Store::Postgres(database) = &world.store {
        let tables = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'";
        for table in database.texts(tables) {
            for row in database.texts(&format!("SELECT whole::text FROM \"{table}\" AS whole")) {
                check(&table, row.as_bytes());
            }
        }
    }
}
