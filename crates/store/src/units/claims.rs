//! Payments that are due, taken by one node at a time.

use tollgate_domain::{Timestamp, id::EnvironmentId};

use crate::{prelude::*, value::Id};

/// What is claimed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    /// Asked before claiming, so that looking for work writes nothing while there is none.
    pub(crate) any: &'static str,
    /// When each is due, by what it is leased, its environment, and its id.
    pub(crate) due: &'static str,
    lease: &'static str,
}

pub(crate) const PAYMENTS: Claim = Claim {
    any: "SELECT 1 FROM card_payments WHERE due_at <= $1 ORDER BY due_at LIMIT 1",
    due: "SELECT due_at, id, environment_id, id FROM card_payments WHERE due_at <= $1 ORDER BY due_at LIMIT $2",
    lease: "UPDATE card_payments SET due_at = $3, tries = tries + 1 WHERE environment_id = $1 AND id = $2",
};

/// Paid ones whose follow-up is due.
pub(crate) const FOLLOW_UPS: Claim = Claim {
    any: "SELECT 1 FROM card_payments WHERE follow_up_at <= $1 ORDER BY follow_up_at LIMIT 1",
    due: "SELECT follow_up_at, id, environment_id, id FROM card_payments
          WHERE follow_up_at <= $1 ORDER BY follow_up_at LIMIT $2",
    lease: "UPDATE card_payments SET follow_up_at = $3 WHERE environment_id = $1 AND id = $2",
};

pub(crate) const TRANSFERS: Claim = Claim {
    any: "SELECT 1 FROM transfers WHERE due_at <= $1 ORDER BY due_at LIMIT 1",
    due: "SELECT f.due_at, f.transaction_id, f.environment_id, (
              SELECT t.reference FROM transactions t
              WHERE t.environment_id = f.environment_id AND t.id = f.transaction_id)
          FROM transfers f WHERE f.due_at <= $1 ORDER BY f.due_at LIMIT $2",
    lease: "UPDATE transfers SET due_at = $3, tries = tries + 1 WHERE environment_id = $1 AND transaction_id = $2",
};

pub(crate) async fn is_any_due<S: Session>(s: &mut S, claim: Claim, now: Timestamp) -> Result<bool, Fault> {
    s.exists(claim.any, values![now]).await
}

/// What another node is taking, or changing, in this very moment is passed over rather than waited for.
pub(crate) async fn claim<S: Session, T: Id + Stored + Ord + Send>(
    s: &mut S,
    claim: Claim,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Effect<Vec<(EnvironmentId, T)>>, Fault> {
    let mut due: Vec<(i64, [u8; 16], EnvironmentId, T)> =
        s.query(&S::DIALECT.claimed(claim.due), values![now, limit], read).await?;
    due.sort_unstable();
    let leases: Vec<_> = due.iter().map(|(_, key, environment, _)| row![*environment, *key, until]).collect();
    s.execute_each(claim.lease, &leases).await?;
    let claimed: Vec<_> = due.into_iter().map(|(.., environment, id)| (environment, id)).collect();
    Ok(Effect::written_if(!claimed.is_empty(), claimed))
}
