//! What all batches of transfers have in common.

use deadpool_postgres::ClientWrapper;

/// Begins a transaction of look-ups by key. A plan made while the tables were small would read them whole, and is kept
/// while they grow; without these ways of joining there is none but the key.
pub(super) const BEGIN: &str = "BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; \
     SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off";

/// Ends a transaction that failed, so that the connection can be used again. Where even that fails, the connection is
/// lost, and whoever gets it next finds out.
pub(super) async fn give_up(client: &ClientWrapper) {
    let _ = client.batch_execute("ROLLBACK").await;
}
