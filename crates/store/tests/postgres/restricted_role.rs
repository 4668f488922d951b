//! The server's role of `deploy/restricted-role.sql`: everything works under it, and the books cannot be rewritten.

use std::sync::Arc;

use tokio_postgres::error::SqlState;
use tollgate_domain::{id::SealingKeyId, ledger::TransferStep};
use tollgate_engine::ports::{SealingKey, SecurityStore as _};
use tollgate_store::postgres::PostgresStore;
use tollgate_store_conformance::{
    Nodes, at,
    erasure::{CANARY, somebody},
    reservations::what_was_not_sent_is_taken_back,
};

use crate::server::{Database, settings, with_database};

const ROLE: &str = "tollgate_server";
const PASSWORD: &str = "of-a-test";
const GRANTS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/restricted-role.sql"));

/// The tables are the owner's; the role is one for all tests of this server.
async fn granted(database: &Database) {
    drop(database.open().await);
    let owner = database.visitor().await;
    let made = owner.batch_execute(&format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'")).await;
    let is_known = |error: &tokio_postgres::Error| {
        [SqlState::DUPLICATE_OBJECT, SqlState::UNIQUE_VIOLATION].contains(error.code().unwrap())
    };
    assert!(made.is_ok() || made.as_ref().is_err_and(is_known), "{made:?}");
    owner.batch_execute(GRANTS).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_works_without_the_right_to_rewrite_the_books() {
    with_database(async |database| {
        granted(database).await;
        let url = database.url_as(ROLE, PASSWORD);
        let store = Arc::new(PostgresStore::open(&url, &settings()).await.unwrap());
        let nodes = Nodes::new(store.clone(), store.clone());
        // Payments, transfers, refunds, events, search, erasure, the audit.
        let who = somebody(&nodes).await;
        let new = nodes.new_transfer(who.environment);
        nodes.reserve(&new).await;
        nodes.change_transfer(&new, &nodes.transfer_step(0, TransferStep::Release, &new.order.fee)).await;
        what_was_not_sent_is_taken_back(&nodes).await;
        who.erase(&nodes).await;
        nodes.audit_is_clean().await;
        nodes.key(who.environment).await;
        let key = SealingKey {
            id: SealingKeyId::from_bytes([1; 16]),
            sealed: CANARY.to_owned(),
            created_at: at(0),
        };
        store.put_sealing_keys(&[key]).await.unwrap();
        assert_eq!(store.destroy_sealing_keys(at(5)).await.unwrap(), 1);

        let server = database.visitor_as(ROLE, PASSWORD).await;
        for table in ["ledger_postings", "ledger_entries", "card_postings", "audit_log"] {
            for sql in [
                format!("DELETE FROM {table}"),
                format!("UPDATE {table} SET environment_id = environment_id"),
                format!("TRUNCATE {table}"),
                format!("ALTER TABLE {table} ADD COLUMN x INT"),
                format!("DROP TABLE {table}"),
            ] {
                let refused = server.batch_execute(&sql).await.unwrap_err();
                assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{sql}: {refused}");
            }
        }
        for column in
            ["id", "currency", "cause", "amount_minor", "actor", "at", "provider", "available_minor"]
        {
            let sql = format!("UPDATE ledger_postings SET {column} = {column}");
            let refused = server.batch_execute(&sql).await.unwrap_err();
            assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{sql}: {refused}");
        }
        let refused = server.batch_execute("DELETE FROM schema_migrations").await.unwrap_err();
        assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE));
        drop(server);
        drop(nodes);
        drop(store);
        database.visitor().await.batch_execute(&format!("DROP OWNED BY {ROLE}")).await.unwrap();
    })
    .await;
}
