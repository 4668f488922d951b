//! The one way a transfer changes, for many of them at once: everything in each change, its posting included, or nothing.
//!
//! One statement changes all that are still at the revision their change was decided on. Where there are postings, the
//! wallets are locked first, as everything does that touches a wallet. All of it is sent together with the commit: one
//! round trip.

use std::collections::BTreeMap;

use deadpool_postgres::ClientWrapper;
use tokio_postgres::{Row, types::ToSql};
use tollgate_domain::id::{EnvironmentId, TransferId};
use tollgate_engine::ports::{Changed, TransferChange};
use uuid::Uuid;

use super::{
    batches,
    fault::Fault,
    lanes::Unit,
    transfer_change_rows::{LONG, More, SHORT, Short, Told},
    uuid,
};

/// A change and what it changes.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) environment: EnvironmentId,
    pub(super) id: TransferId,
    pub(super) change: TransferChange,
}

impl Unit for Wanted {
    type Answer = Changed;
    type Rank = (EnvironmentId, TransferId);

    const MOST: usize = 64;

    /// One order on all nodes, so that two batches never wait for one another in a circle.
    fn rank(&self) -> Self::Rank {
        (self.environment, self.id)
    }

    async fn run(
        client: &ClientWrapper,
        begin: &'static str,
        units: &[&Self],
    ) -> Result<Vec<Changed>, Fault> {
        change(client, begin, units).await
    }
}

/// The wallets of those that post, by their `available` rows, one after the other in the order of their keys.
const LOCK: &str = "SELECT 1 FROM (
         SELECT DISTINCT t.environment_id, t.currency
         FROM unnest($1::uuid[], $2::uuid[]) AS w (environment_id, reference)
         JOIN transactions t
             ON t.environment_id = w.environment_id AND t.method = 'ach' AND t.reference = w.reference
         ORDER BY t.environment_id, t.currency) w
     CROSS JOIN LATERAL (
         SELECT 1 FROM ledger_accounts a
         WHERE a.environment_id = w.environment_id AND a.currency = w.currency AND a.account = 'available'
         FOR UPDATE) a";

/// What became of each change, in order.
async fn change(
    client: &ClientWrapper,
    begin: &'static str,
    wanted: &[&Wanted],
) -> Result<Vec<Changed>, Fault> {
    let passed = pass_gate(client, begin, wanted).await?;
    let mut answers = vec![Changed::Stale; wanted.len()];
    for row in &passed {
        let place: i64 = row.try_get(0)?;
        let answer = usize::try_from(place).ok().and_then(|place| answers.get_mut(place.checked_sub(1)?));
        *answer.ok_or(Fault::Misuse("a change was made that was not asked for"))? = Changed::Done;
    }
    if passed.len() < wanted.len() {
        why_not(client, wanted, &mut answers).await?;
    }
    Ok(answers)
}

async fn pass_gate(
    client: &ClientWrapper,
    begin: &'static str,
    wanted: &[&Wanted],
) -> Result<Vec<Row>, Fault> {
    let short = Short::new(wanted);
    let mut values = short.values();
    let told = Told::new(wanted)?;
    let is_short = wanted.iter().all(|wanted| {
        let change = &wanted.change;
        change.posting.is_none() && change.exceptions.is_empty() && change.event.is_none()
    });
    let more;
    let sql = if is_short {
        SHORT
    } else {
        more = More::new(wanted)?;
        values.extend(more.values());
        LONG
    };
    values.extend(told.values());
    let lock = client.prepare_cached(LOCK).await.map_err(Fault::Uncommitted)?;
    let change = client.prepare_cached(sql).await.map_err(Fault::Uncommitted)?;
    let (scopes, references): (Vec<Uuid>, Vec<Uuid>) = wanted
        .iter()
        .filter(|wanted| wanted.change.posting.is_some())
        .map(|wanted| (uuid(wanted.environment.to_bytes()), uuid(wanted.id.to_bytes())))
        .unzip();
    let lock_values: [&(dyn ToSql + Sync); 2] = [&scopes, &references];
    let locking =
        async { if scopes.is_empty() { Ok(Vec::new()) } else { client.query(&lock, &lock_values).await } };
    // Sent together, and answered one after the other: the change is made with all locks held.
    let (begun, locked, passed, committed) = tokio::join!(
        biased;
        client.batch_execute(begin),
        locking,
        client.query(&change, &values),
        client.batch_execute("COMMIT"),
    );
    let outcome = begun.and(locked.map(drop)).and(passed);
    if outcome.is_err() {
        batches::give_up(client).await;
    }
    let passed = outcome?;
    committed?;
    Ok(passed)
}

/// Asked afterwards, because the statement itself has seen the transfers as they were before it waited for its turn.
async fn why_not(client: &ClientWrapper, wanted: &[&Wanted], answers: &mut [Changed]) -> Result<(), Fault> {
    let statement = client
        .prepare_cached(
            "SELECT t.environment_id, t.reference, f.last_change
             FROM unnest($1::uuid[], $2::uuid[]) AS w (environment_id, reference)
             JOIN transactions t
                 ON t.environment_id = w.environment_id AND t.method = 'ach' AND t.reference = w.reference
             JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id",
        )
        .await?;
    let refused = wanted.iter().zip(answers.iter_mut()).filter(|(_, answer)| **answer == Changed::Stale);
    let mut refused: Vec<(&&Wanted, &mut Changed)> = refused.collect();
    let (scopes, references): (Vec<Uuid>, Vec<Uuid>) = refused
        .iter()
        .map(|(wanted, _)| (uuid(wanted.environment.to_bytes()), uuid(wanted.id.to_bytes())))
        .unzip();
    let rows = client.query(&statement, &[&scopes, &references]).await?;
    let mut last_changes: BTreeMap<(Uuid, Uuid), Option<Uuid>> = BTreeMap::new();
    for row in &rows {
        last_changes.insert((row.try_get(0)?, row.try_get(1)?), row.try_get(2)?);
    }
    for (wanted, answer) in &mut refused {
        let name = (uuid(wanted.environment.to_bytes()), uuid(wanted.id.to_bytes()));
        **answer = match last_changes.get(&name) {
            None => Changed::Missing,
            Some(last) if *last == Some(uuid(wanted.change.id.to_bytes())) => Changed::Done,
            Some(_) => Changed::Stale,
        };
    }
    Ok(())
}
