//! The audit: asked over HTTP and by the command line, it sees what somebody changed behind the server's back.

use std::time::Duration;

use serde_json::json;

use crate::support::{BankStore, BankWorld, Desk, On, on_each_store};

/// Changes rows while no server has them.
fn change(world: &BankWorld, statement: &str) {
    match &world.store {
        BankStore::Sqlite(folder) => {
            let store = rusqlite::Connection::open(folder.path().join("data/tollgate.db")).unwrap();
            assert!(store.execute(statement, []).unwrap() > 0, "{statement}");
        }
        BankStore::Postgres(database) => {
            assert!(!database.texts(&format!("{statement} RETURNING 'changed'")).is_empty(), "{statement}");
        }
    }
}

/// What the command line says, and whether it is content.
fn command_line(desk: &Desk) -> (bool, String) {
    let mut asked = desk.audit_command().spawn();
    let ended = asked.wait_end(Duration::from_secs(120));
    (ended.success(), format!("{}{}", asked.output(), asked.log()))
}

fn damage_is_found_and_named(on: On) {
    let mut world = BankWorld::start_without_looks(on);
    let (reference, id) = world.taken("settled before the damage");
    world.taken("on its way at the damage");
    world.simulator.simulate(&id, "settle", &json!({}));
    world.desk.wait_status(&reference, "succeeded");
    world.desk.assert_books(Desk::FUNDS);
    let (content, said) = command_line(&world.desk);
    assert!(content && said.contains("2 transfers") && said.contains("the ledger is consistent"), "{said}");
    for (what, damage, repair) in [
        (
            "an entry was changed",
            "UPDATE ledger_postings SET settled_out_minor = settled_out_minor + 1",
            "UPDATE ledger_postings SET settled_out_minor = settled_out_minor - 1",
        ),
        (
            "a status was changed",
            "UPDATE transactions SET status = 'failed' WHERE status = 'succeeded'",
            "UPDATE transactions SET status = 'succeeded' WHERE status = 'failed'",
        ),
        (
            "a total was changed",
            "UPDATE transactions SET total_debit_minor = total_debit_minor + 1",
            "UPDATE transactions SET total_debit_minor = total_debit_minor - 1",
        ),
    ] {
        world.server.kill();
        change(&world, damage);
        world.serve_again(BankStore::serve_without_looks);
        let found = world.desk.audit();
        assert!(!found.is_empty(), "{what}, and the audit is content");
        let (content, said) = command_line(&world.desk);
        assert!(!content && said.contains(&world.desk.environment), "{what}: {said}");
        world.server.kill();
        change(&world, repair);
        // What was added up of the damaged rows.
        change(&world, "DELETE FROM statement_position");
        world.serve_again(BankStore::serve_without_looks);
        world.desk.assert_books(Desk::FUNDS);
    }
}

on_each_store! { damage_is_found_and_named }
