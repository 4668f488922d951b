//! The store on PostgreSQL: the shared suite over two nodes, and what only a server can go through.
//!
//! `TOLLGATE_TEST_POSTGRES_URL` names a throw-away server on this machine, as a user who may create databases; every
//! test makes one of its own and drops it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod erased_files;
mod lists;
mod outbox;
mod plans;
mod proxy;
mod restricted_role;
mod schema;
mod sealing_keys;
mod server;
mod transfers_in_trouble;
mod trouble;

use tollgate_store_conformance::Nodes;

tollgate_store_conformance::conformance_suite!(super::on_a_fresh_database);

async fn on_a_fresh_database(work: impl AsyncFnOnce(Nodes)) {
    server::with_database(async |database| {
        let nodes = Nodes::new(database.open().await, database.open().await);
        work(nodes).await;
    })
    .await;
}
