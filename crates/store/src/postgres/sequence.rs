//! Gives committed events their numbers, which are the order that followers read them in.
//!
//! Transactions commit in any order, so a number that is drawn inside of one says nothing about what others can see.
//! Numbers are given afterwards instead, by one session at a time: events that have none yet are numbered behind all
//! that have one. Whoever sees a number therefore sees all below it, on every node and after every crash: a batch is
//! numbered whole or not at all, and what was not is found in the queue by the next.

use tollgate_domain::id::EnvironmentId;
use uuid::Uuid;

use super::session::PostgresSession;
use crate::prelude::*;

/// Events numbered in one transaction.
const BATCH: u32 = 1_000;
/// Batches at most for one call. What is left has its turn with the next call.
pub(super) const MAX_BATCHES: u32 = 20;

/// Any number that nothing else locks; these are the letters of `sequence`.
const LOCK: i64 = 0x7365_7175_656e_6365;

/// Numbers a batch of the events that are committed and have no number yet: those of one environment, or of any. Whether
/// there were any.
pub(super) async fn number_batch(
    s: &mut PostgresSession,
    environment: Option<EnvironmentId>,
) -> Result<bool, Fault> {
    // Asked first, so that nothing is locked or written while there is nothing to do.
    let unsequenced = match environment {
        None => s.query_opt("SELECT 1 FROM unsequenced_events LIMIT 1", values![], |_| Ok(())).await?,
        Some(environment) => {
            let sql = "SELECT 1 FROM unsequenced_events WHERE environment_id = $1 LIMIT 1";
            s.query_opt(sql, values![environment], |_| Ok(())).await?
        }
    };
    if unsequenced.is_none() {
        return Ok(false);
    }
    let scope = environment.map(|environment| Uuid::from_bytes(environment.to_bytes()));
    s.client()?.batch_execute(&number_sql(scope)).await?;
    Ok(true)
}

/// The last numbers are read before the first new one is written: as a subquery of each event, reading would pass over
/// all that were written before it.
///
/// One message to the server, which runs it as one transaction: a node that stops half way holds no lock. The second
/// statement sees all that was committed before it got the lock.
fn number_sql(scope: Option<Uuid>) -> String {
    let condition = scope.map_or_else(String::new, |scope| format!("WHERE environment_id = '{scope}'"));
    format!(
        "SELECT pg_advisory_xact_lock({LOCK});
         WITH first AS MATERIALIZED (
             SELECT environment_id, entry FROM unsequenced_events {condition}
             ORDER BY environment_id, entry LIMIT {BATCH}),
         taken AS (
             DELETE FROM unsequenced_events u USING first
             WHERE u.environment_id = first.environment_id AND u.entry = first.entry
             RETURNING u.environment_id, u.entry, u.event_id, u.kind),
         last AS MATERIALIZED (
             SELECT e.environment_id, coalesce((
                 SELECT s.sequence FROM event_sequence s WHERE s.environment_id = e.environment_id
                 ORDER BY s.sequence DESC LIMIT 1), 0) AS sequence
             FROM (SELECT DISTINCT environment_id FROM taken) e)
         INSERT INTO event_sequence (environment_id, sequence, event_id, kind)
         SELECT taken.environment_id,
             last.sequence + row_number() OVER (PARTITION BY taken.environment_id ORDER BY taken.entry),
             taken.event_id, taken.kind
         FROM taken JOIN last ON last.environment_id = taken.environment_id"
    )
}
