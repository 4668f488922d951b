//! What was written since the last audit, batch by batch: every posting with its entries, and the transfers and card payments they
//! are about, each looked up by its key.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use tollgate_domain::id::{EnvironmentId, TransferId};
use tollgate_engine::ports::AuditFinding;
use uuid::Uuid;

use super::{
    CARDS, Given, RECENT_AMOUNTS, WALLETS,
    checkpoint::{AccountKey, Sum, parts},
    find,
};
use crate::prelude::*;

/// Postings that are verified at a time.
const BATCH: usize = 1_000;

/// What there was since the last audit.
#[derive(Debug, Default)]
pub(super) struct Recent {
    pub(super) postings: u64,
    pub(super) transfers: BTreeSet<(EnvironmentId, TransferId)>,
    pub(super) card_postings: u64,
    /// What was added to each account.
    pub(super) sums: BTreeMap<AccountKey, Sum>,
    pub(super) findings: Vec<AuditFinding>,
}

/// Where a batch ended.
struct Mark {
    /// SQLite: a place in the order of postings. PostgreSQL: a transaction, whose postings are told apart by their keys.
    place: String,
    environment: EnvironmentId,
    currency: String,
    posting: [u8; 16],
}

impl Mark {
    /// The end of what a position has seen. On PostgreSQL that is the oldest transaction it may not have seen; the snapshot tells
    /// which of those after it were seen nevertheless.
    fn start(place: &str) -> Self {
        let place = place.split(':').next().unwrap_or_default().to_owned();
        let environment = EnvironmentId::from_bytes([0; 16]);
        Self { place, environment, currency: String::new(), posting: [0; 16] }
    }
}

const POSTINGS: (&str, &str) = (
    "SELECT CAST(o.sequence AS TEXT), p.environment_id, p.currency, p.id, p.reference
     FROM posting_order o CROSS JOIN ledger_postings p
     WHERE o.sequence > CAST($2 AS INTEGER) AND o.currency IS NOT NULL
         AND p.environment_id = o.environment_id AND p.currency = o.currency AND p.id = o.posting_id
     ORDER BY o.sequence LIMIT $6",
    "SELECT CAST(p.written_by AS TEXT), p.environment_id, p.currency, p.id, p.reference
     FROM ledger_postings p
     WHERE p.written_by >= CAST(CAST($2 AS TEXT) AS XID8)
         AND (p.written_by, p.environment_id, p.currency, p.id)
             > (CAST(CAST($2 AS TEXT) AS XID8), CAST($3 AS UUID), CAST($4 AS TEXT), CAST($5 AS UUID))
         AND NOT pg_visible_in_snapshot(p.written_by, CAST(CAST($1 AS TEXT) AS PG_SNAPSHOT))
     ORDER BY p.written_by, p.environment_id, p.currency, p.id LIMIT $6",
);

const CARD_POSTINGS: (&str, &str) = (
    "SELECT CAST(o.sequence AS TEXT), p.environment_id, p.id, p.payment_id
     FROM posting_order o CROSS JOIN card_postings p
     WHERE o.sequence > CAST($2 AS INTEGER) AND o.currency IS NULL
         AND p.environment_id = o.environment_id AND p.id = o.posting_id
     ORDER BY o.sequence LIMIT $5",
    "SELECT CAST(p.written_by AS TEXT), p.environment_id, p.id, p.payment_id
     FROM card_postings p
     WHERE p.written_by >= CAST(CAST($2 AS TEXT) AS XID8)
         AND (p.written_by, p.environment_id, p.id)
             > (CAST(CAST($2 AS TEXT) AS XID8), CAST($3 AS UUID), CAST($4 AS UUID))
         AND NOT pg_visible_in_snapshot(p.written_by, CAST(CAST($1 AS TEXT) AS PG_SNAPSHOT))
     ORDER BY p.written_by, p.environment_id, p.id LIMIT $5",
);

const SUMS: &str =
    "SELECT e.environment_id, e.currency, e.account, CAST(exact_sum(e.amount_minor) AS TEXT), count(*)
 FROM {postings} p JOIN posting_entries e
     ON e.environment_id = p.environment_id AND e.currency = p.currency AND e.posting_id = p.id
 GROUP BY e.environment_id, e.currency, e.account";

/// Goes through everything that a position has not seen. What is not checked is only added up.
pub(super) async fn verify<S: Session>(s: &mut S, since: &str, is_checked: bool) -> Result<Recent, Fault> {
    let (_, place) = parts(since);
    let mut recent = Recent::default();
    let mut mark = Some(Mark::start(place));
    while let Some(after) = mark {
        mark = wallet_batch(s, place, &after, is_checked, &mut recent).await?;
    }
    let mut mark = Some(Mark::start(place));
    while let Some(after) = mark {
        mark = card_batch(s, place, &after, is_checked, &mut recent).await?;
    }
    Ok(recent)
}

/// `None`: that was the last one.
async fn wallet_batch<S: Session>(
    s: &mut S,
    place: &str,
    after: &Mark,
    is_checked: bool,
    recent: &mut Recent,
) -> Result<Option<Mark>, Fault> {
    let read = |cells: &mut Cells<'_>| {
        let mark = Mark {
            place: cells.text()?,
            environment: cells.id()?,
            currency: cells.text()?,
            posting: cells.id()?,
        };
        Ok((mark, cells.text()?))
    };
    let sql = S::DIALECT.pick(POSTINGS.0, POSTINGS.1);
    let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
    let values = values![place, &after.place, after.environment, &after.currency, after.posting, limit];
    let postings = s.query_planned(sql, values, read).await?;
    let mut given = Vec::new();
    for (mark, reference) in &postings {
        // A fund, a withdrawal and what was not sent are about no transfer.
        let transfer: Option<TransferId> = reference.parse().ok();
        let about = transfer.map(|id| hex(id.to_bytes()));
        given.push(json!([hex(mark.environment.to_bytes()), mark.currency, hex(mark.posting), about]));
        recent.transfers.extend(transfer.map(|id| (mark.environment, id)));
    }
    if given.is_empty() {
        return Ok(None);
    }
    recent.postings = recent.postings.saturating_add(u64::try_from(given.len()).unwrap_or(u64::MAX));
    let given = Given::Rows(json!(given).to_string());
    let read = |cells: &mut Cells<'_>| {
        let key: AccountKey = (cells.id()?, cells.text()?, cells.text()?);
        let amount = cells.text()?.parse().map_err(|_| CorruptRow("sum"))?;
        Ok((key, Sum { amount, entries: cells.count("number of entries")? }))
    };
    for (key, sum) in s.query(&given.sql::<S>(SUMS), &given.values(), read).await? {
        let total = recent.sums.entry(key).or_default();
        *total = total.plus(sum);
    }
    for check in WALLETS.iter().chain([&RECENT_AMOUNTS]).filter(|_| is_checked) {
        find(s, check, &given, &mut recent.findings).await?;
    }
    Ok(postings.into_iter().last().map(|(mark, _)| mark))
}

async fn card_batch<S: Session>(
    s: &mut S,
    place: &str,
    after: &Mark,
    is_checked: bool,
    recent: &mut Recent,
) -> Result<Option<Mark>, Fault> {
    let read = |cells: &mut Cells<'_>| {
        let (place, environment, posting) = (cells.text()?, cells.id()?, cells.id()?);
        let mark = Mark { place, environment, currency: String::new(), posting };
        Ok((mark, cells.id::<[u8; 16]>()?))
    };
    let sql = S::DIALECT.pick(CARD_POSTINGS.0, CARD_POSTINGS.1);
    let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
    let values = values![place, &after.place, after.environment, after.posting, limit];
    let postings = s.query_planned(sql, values, read).await?;
    let given: Vec<_> = postings
        .iter()
        .map(|(mark, payment)| {
            json!([hex(mark.environment.to_bytes()), null, hex(mark.posting), hex(*payment)])
        })
        .collect();
    if given.is_empty() {
        return Ok(None);
    }
    recent.card_postings =
        recent.card_postings.saturating_add(u64::try_from(given.len()).unwrap_or(u64::MAX));
    let given = Given::Rows(json!(given).to_string());
    for check in CARDS.iter().filter(|_| is_checked) {
        find(s, check, &given, &mut recent.findings).await?;
    }
    Ok(postings.into_iter().last().map(|(mark, _)| mark))
}

fn hex(bytes: [u8; 16]) -> String {
    Uuid::from_bytes(bytes).simple().to_string()
}
