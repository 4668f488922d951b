//! How batches of transfers begin and end, and how the server plans them.
//!
//! All look-ups of a batch are by key. But a plan that the server makes while the tables are small reads them whole, or
//! all of one environment, and is kept by the connection while they grow. So plans are made again for every batch at first,
//! and kept only once the tables are large enough that none but the key will do.

use std::sync::atomic::{AtomicU8, Ordering};

use deadpool_postgres::{ClientWrapper, Pool};

use super::fault::describe;
use crate::fault::Fault;

/// Begins a batch that is planned again.
const BEGIN_ANEW: &str = "BEGIN; SET LOCAL plan_cache_mode = force_custom_plan";

/// Begins a batch whose plan is kept.
pub(super) const BEGIN_KEPT: &str = "BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; \
     SET LOCAL enable_mergejoin = off";

/// From this size on, in bytes, some thousand rows, kept plans are good ones.
const LARGE: &str =
    "SELECT pg_relation_size('transactions') >= 1048576 AND pg_relation_size('transfers') >= 1048576";

/// So that all other statements are planned for tables that have just become large, rather than some minutes later.
const ANALYZE_TABLES: &str = "ANALYZE transactions, transfers, ledger_postings, ledger_accounts, out_events, provider_events, card_payments";

/// What may be known of the tables; 0 is nothing yet.
const SMALL: u8 = 1;
const GROWN: u8 = 2;

/// What this node knows of the tables' size.
#[derive(Debug, Default)]
pub(super) struct Plans(AtomicU8);

impl Plans {
    /// How the next batch on this connection begins.
    pub(super) async fn beginning(&self, pool: &Pool, client: &ClientWrapper) -> Result<&'static str, Fault> {
        let known = self.0.load(Ordering::Relaxed);
        if known == GROWN {
            return Ok(BEGIN_KEPT);
        }
        let statement = client.prepare_cached(LARGE).await.map_err(Fault::Uncommitted)?;
        let row = client.query_one(&statement, &[]).await.map_err(Fault::Uncommitted)?;
        if !row.try_get::<_, bool>(0)? {
            self.0.store(SMALL, Ordering::Relaxed);
            return Ok(BEGIN_ANEW);
        }
        // One of those who saw it small has the tables analyzed.
        if self.0.swap(GROWN, Ordering::Relaxed) == SMALL {
            tokio::spawn(analyze_tables(pool.clone()));
        }
        Ok(BEGIN_KEPT)
    }
}

/// By the store itself: no unit waits for it.
async fn analyze_tables(pool: Pool) {
    let Ok(client) = pool.get().await else { return };
    if let Err(error) = client.batch_execute(ANALYZE_TABLES).await {
        // The server does the same by itself, some minutes later.
        tracing::debug!(error = describe(&error), "tables that have grown were not analyzed");
    }
}

/// Ends a transaction that failed, so that the connection can be used again. Where even that fails, the connection is
/// lost, and whoever gets it next finds out.
pub(super) async fn give_up(client: &ClientWrapper) {
    let _ = client.batch_execute("ROLLBACK").await;
}
