//! What the last audit without findings has verified: up to where, and what every account held.

use std::collections::BTreeMap;

use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::AuditCheckpoint;

use crate::prelude::*;

/// An account of a wallet, by environment, currency and name.
pub(super) type AccountKey = (EnvironmentId, String, String);

/// A sum, and of how many entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) amount: i128,
    pub(super) entries: u64,
}

impl Sum {
    /// Billions of the largest amounts would fit.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            amount: self.amount.saturating_add(other.amount),
            entries: self.entries.saturating_add(other.entries),
        }
    }
}

/// The checkpoint that the next audit begins at.
#[derive(Debug, Clone)]
pub(super) struct Last {
    pub(super) position: String,
    pub(super) checkpoint: AuditCheckpoint,
}

stored! {
    Last { position, checkpoint }
    AuditCheckpoint { at, full_at, postings, card_postings }
}

/// A checkpoint to be kept.
#[derive(Debug, Clone)]
pub(crate) struct NextCheckpoint {
    /// The checkpoint it goes on from; none where everything was verified.
    pub(super) base: Option<String>,
    pub(super) position: String,
    pub(super) postings: u64,
    pub(super) card_postings: u64,
    /// Every account, or those with entries since the base.
    pub(super) balances: Vec<(AccountKey, i64, u64)>,
}

/// What this transaction sees. The numbers of PostgreSQL's transactions mean nothing to another server, to which a dump may have
/// been restored, and so its identifier goes along.
pub(crate) async fn position<S: Session>(s: &mut S) -> Result<String, Fault> {
    let sql = S::DIALECT.pick(
        "SELECT CAST(COALESCE(max(sequence), 0) AS TEXT) FROM posting_order",
        "SELECT CAST(system_identifier AS TEXT) || '/' || CAST(pg_current_snapshot() AS TEXT)
         FROM pg_control_system()",
    );
    s.query_one(sql, values![], read).await
}

/// The server, which is empty for SQLite, and the place in its order of commits.
pub(crate) fn parts(position: &str) -> (&str, &str) {
    position.split_once('/').unwrap_or(("", position))
}

/// The last checkpoint, if it was made by the same server.
pub(super) async fn last<S: Session>(s: &mut S, position: &str) -> Result<Option<Last>, Fault> {
    let sql = "SELECT position, at, full_at, postings, card_postings FROM audit_checkpoint WHERE id = 1";
    let last: Option<Last> = s.query_opt(sql, values![], read).await?;
    Ok(last.filter(|last| parts(&last.position).0 == parts(position).0))
}

pub(super) async fn balances<S: Session>(s: &mut S) -> Result<BTreeMap<AccountKey, Sum>, Fault> {
    let sql = "SELECT environment_id, currency, account, balance_minor, entries FROM audit_balances";
    let read = |cells: &mut Cells<'_>| {
        let key = (cells.id()?, cells.text()?, cells.text()?);
        Ok((key, Sum { amount: cells.number()?.into(), entries: cells.count("number of entries")? }))
    };
    Ok(s.query(sql, values![], read).await?.into_iter().collect())
}

table! {
    BALANCES = "audit_balances" ("ON CONFLICT (environment_id, currency, account)
        DO UPDATE SET balance_minor = excluded.balance_minor, entries = excluded.entries");
    fn balance_row(key: &'a AccountKey, balance: i64, entries: i64) {
        environment_id: Id = key.0,
        currency: Text = &key.1,
        account: Text = &key.2,
        balance_minor: Number = balance,
        entries: Number = entries,
    }
}

/// Keeps a checkpoint, unless another audit has kept one since this one began: balances of two moments must not mix.
pub(crate) async fn keep<S: Session>(
    s: &mut S,
    next: &NextCheckpoint,
    at: Timestamp,
) -> Result<Effect<()>, Fault> {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let (postings, card_postings) = (count(next.postings), count(next.card_postings));
    if let Some(base) = &next.base {
        let sql = "UPDATE audit_checkpoint SET position = $2, at = $3, postings = $4, card_postings = $5
             WHERE id = 1 AND position = $1";
        let values = values![base, &next.position, at, postings, card_postings];
        if s.execute(sql, values).await? == 0 {
            return Ok(Effect::Nothing(()));
        }
    } else {
        let sql = "INSERT INTO audit_checkpoint (id, position, at, full_at, postings, card_postings)
             VALUES (1, $1, $2, $2, $3, $4)
             ON CONFLICT (id) DO UPDATE SET position = excluded.position, at = excluded.at,
                 full_at = excluded.full_at, postings = excluded.postings, card_postings = excluded.card_postings";
        s.execute(sql, values![&next.position, at, postings, card_postings]).await?;
        s.execute("DELETE FROM audit_balances", values![]).await?;
    }
    let rows =
        next.balances.iter().map(|(key, balance, entries)| balance_row(key, *balance, count(*entries)));
    s.insert(&BALANCES, rows.collect()).await?;
    Ok(Effect::Written(()))
}
