//! Limits: counting a payment in the unit that records it, and no longer counting it.
//!
//! The row of a subject's sum is locked before anything of that subject is read or written, subjects in the order of their
//! digests. So a decision holds until its unit is committed, on however many nodes.

use tollgate_domain::{
    Minor, ServiceReference, Timestamp,
    id::EnvironmentId,
    limit::{LimitTotals, LimitUse},
};
use tollgate_engine::ports::LimitExceeded;

use crate::prelude::*;

/// A payment that is to count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) environment: EnvironmentId,
    pub(crate) reference: ServiceReference,
    pub(crate) at: Timestamp,
    pub(crate) principal: Minor,
}

/// Makes the row if there is none, and locks it in either case.
const OPEN: &str =
    "INSERT INTO limit_totals (environment_id, subject, payments, amount_minor) VALUES ($1, $2, 0, 0)
     ON CONFLICT (environment_id, subject) DO UPDATE SET payments = limit_totals.payments
     RETURNING payments, amount_minor";

/// Counts a payment toward each of these limits. Where one of them does not allow it, what was written must not be kept.
pub(crate) async fn count<S: Session>(
    s: &mut S,
    payment: Counted,
    uses: &[LimitUse],
) -> Result<Option<LimitExceeded>, Fault> {
    let Counted { environment, at, principal, reference } = payment;
    let mut ordered: Vec<_> = uses.iter().enumerate().collect();
    ordered.sort_unstable_by_key(|(_, used)| used.subject);
    for (place, used) in ordered {
        let subject = &used.subject;
        let mut totals: LimitTotals = s.query_one(OPEN, values![environment, subject], read).await?;
        let passed = at.saturating_sub(used.limit.window);
        let sql = "DELETE FROM limit_uses WHERE environment_id = $1 AND subject = $2 AND at <= $3
             RETURNING amount_minor, counted";
        for (amount, is_counted) in s.query(sql, values![environment, subject, passed], read).await? {
            if is_counted {
                totals = without(totals, amount)?;
            }
        }
        let totals = match used.add(totals, principal) {
            Ok(totals) => totals,
            Err(bound) => return Ok(Some(LimitExceeded { place, bound })),
        };
        let sql = "UPDATE limit_totals SET payments = $3, amount_minor = $4
             WHERE environment_id = $1 AND subject = $2";
        let payments =
            i64::try_from(totals.count).map_err(|_| Fault::Misuse("too many payments to count"))?;
        s.execute(sql, values![environment, subject, payments, totals.amount]).await?;
        let sql =
            "INSERT INTO limit_uses (environment_id, subject, at, reference, amount_minor, counted, ends_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let ends_at = at.saturating_add(used.limit.window);
        s.execute(sql, values![environment, subject, at, reference, principal, true, ends_at]).await?;
    }
    Ok(None)
}

/// From now on a payment counts, or does not, wherever it is remembered.
pub(crate) async fn set_counted<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    is_counted: bool,
) -> Result<(), Fault> {
    let sql = "SELECT subject FROM limit_uses WHERE environment_id = $1 AND reference = $2 ORDER BY subject";
    for subject in s.query(sql, values![environment, reference], read::<[u8; 32]>).await? {
        lock(s, environment, &subject).await?;
        let sql = "UPDATE limit_uses SET counted = $4
             WHERE environment_id = $1 AND subject = $2 AND reference = $3 AND counted <> $4
             RETURNING amount_minor";
        let values = values![environment, &subject, reference, is_counted];
        if let Some(amount) = s.query_opt(sql, values, read::<i64>).await? {
            let (payments, amount) = if is_counted { (1, amount) } else { (-1, -amount) };
            add(s, environment, &subject, payments, amount).await?;
        }
    }
    Ok(())
}

/// A payment that was never made: nothing of it is remembered.
pub(crate) async fn forget<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<(), Fault> {
    set_counted(s, environment, reference, false).await?;
    let sql = "DELETE FROM limit_uses WHERE environment_id = $1 AND reference = $2";
    s.execute(sql, values![environment, reference]).await?;
    Ok(())
}

/// Asked first, so that looking writes nothing while there is nothing to forget.
pub(crate) async fn is_any_ended<S: Session>(s: &mut S, now: Timestamp) -> Result<bool, Fault> {
    s.exists("SELECT 1 FROM limit_uses WHERE ends_at <= $1 ORDER BY ends_at LIMIT 1", values![now]).await
}

/// See [`LimitStore::forget_limit_uses`](tollgate_engine::ports::LimitStore::forget_limit_uses).
pub(crate) async fn forget_ended<S: Session>(
    s: &mut S,
    now: Timestamp,
    limit: u32,
) -> Result<Effect<u64>, Fault> {
    let sql = "SELECT environment_id, subject, at, reference FROM limit_uses
         WHERE ends_at <= $1 ORDER BY ends_at LIMIT $2";
    let mut ended: Vec<(EnvironmentId, [u8; 32], i64, [u8; 16])> =
        s.query(sql, values![now, limit], read).await?;
    ended.sort_unstable();
    let count = u64::try_from(ended.len()).unwrap_or(u64::MAX);
    for (environment, subject, at, reference) in ended {
        lock(s, environment, &subject).await?;
        let sql =
            "DELETE FROM limit_uses WHERE environment_id = $1 AND subject = $2 AND at = $3 AND reference = $4
             RETURNING amount_minor, counted";
        let values = values![environment, &subject, at, reference];
        let gone = s.query_opt(sql, values, read::<(i64, bool)>).await?;
        if let Some((amount, true)) = gone {
            add(s, environment, &subject, -1, -amount).await?;
        }
        let sql = "DELETE FROM limit_totals WHERE environment_id = $1 AND subject = $2 AND payments = 0
             AND NOT EXISTS (SELECT 1 FROM limit_uses u WHERE u.environment_id = $1 AND u.subject = $2)";
        s.execute(sql, values![environment, &subject]).await?;
    }
    Ok(Effect::written_if(count > 0, count))
}

async fn lock<S: Session>(s: &mut S, environment: EnvironmentId, subject: &[u8; 32]) -> Result<(), Fault> {
    let sql = "SELECT 1 FROM limit_totals WHERE environment_id = $1 AND subject = $2";
    s.query(&S::DIALECT.locked(sql), values![environment, subject], |_| Ok(())).await?;
    Ok(())
}

async fn add<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    subject: &[u8; 32],
    payments: i64,
    amount: i64,
) -> Result<(), Fault> {
    let sql = "UPDATE limit_totals SET payments = payments + $3, amount_minor = amount_minor + $4
         WHERE environment_id = $1 AND subject = $2";
    s.execute(sql, values![environment, subject, payments, amount]).await?;
    Ok(())
}

stored! { LimitTotals { count, amount } }

fn without(totals: LimitTotals, amount: Minor) -> Result<LimitTotals, Fault> {
    let wrong = || Fault::CorruptRow(CorruptRow("sum of a limit"));
    Ok(LimitTotals {
        count: totals.count.checked_sub(1).ok_or_else(wrong)?,
        amount: totals.amount.checked_sub(amount).ok_or_else(wrong)?,
    })
}
