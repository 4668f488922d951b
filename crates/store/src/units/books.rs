//! The books of card payments.

use tollgate_domain::{
    Currency, Timestamp,
    id::{EnvironmentId, PaymentId, TransactionId},
    transaction::Dispute,
};
use tollgate_engine::ports::NewCardPosting;

use crate::{
    prelude::*,
    rows::books::{CARD_POSTINGS, card_posting_columns, checked, dispute_columns, wants_evidence},
};

/// How far the moment in an id may be from the moment it stands for: drawn for the same change, but a little later, or by
/// another clock.
pub(super) const APART: i64 = 24 * 3_600 * 1_000;

/// Writes postings of a payment.
pub(crate) async fn post<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    payment: PaymentId,
    postings: &[NewCardPosting],
) -> Result<(), Fault> {
    if postings.is_empty() {
        return Ok(());
    }
    let sql = "SELECT provider, currency FROM card_payments WHERE environment_id = $1 AND id = $2";
    let (provider, currency): (String, Currency) =
        s.query_one(sql, values![environment, payment], read).await?;
    let row = |posting| row![environment, payment, &provider, ..&currency, ..posting];
    s.insert(&CARD_POSTINGS, checked(postings)?.iter().map(row).collect()).await
}

pub(crate) async fn of_payment<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    payment: PaymentId,
) -> Result<Vec<NewCardPosting>, Fault> {
    let sql = concat!(
        "SELECT ",
        card_posting_columns!(),
        " FROM card_postings p WHERE environment_id = $1 AND payment_id = $2 ORDER BY id"
    );
    s.query(sql, values![environment, payment], read).await
}

pub(crate) async fn open_disputes<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    limit: u32,
) -> Result<Vec<(PaymentId, Dispute)>, Fault> {
    let sql = concat!(
        "SELECT d.payment_id, ",
        dispute_columns!(),
        " FROM disputes d WHERE d.environment_id = $1 AND d.closed_at IS NULL
         ORDER BY CASE WHEN ",
        wants_evidence!(),
        " THEN 0 ELSE 1 END, d.respond_by, d.payment_id LIMIT $2"
    );
    s.query(sql, values![environment, limit], read).await
}

pub(crate) async fn unposted<S: Session>(
    s: &mut S,
    limit: u32,
) -> Result<Vec<(EnvironmentId, PaymentId)>, Fault> {
    let sql = "SELECT environment_id, payment_id FROM unposted_payments ORDER BY environment_id, payment_id LIMIT $1";
    s.query(sql, values![limit], read).await
}

/// Nodes are upgraded one by one: those of the earlier version go on recording payments after the first new one has migrated
/// the database, and know nothing of the books.
pub(crate) async fn list_unposted<S: Session>(s: &mut S, now: Timestamp) -> Result<Effect<()>, Fault> {
    let sql = "SELECT applied_at FROM schema_migrations WHERE version = 21";
    let opened_at = s.query_opt(sql, values![], read).await?.unwrap_or(0);
    if now.unix_millis().saturating_sub(opened_at) > APART {
        return Ok(Effect::Nothing(()));
    }
    let first = opened_at.saturating_sub(APART).max(0);
    let first = TransactionId::new(Timestamp::from_unix_millis(first), [0; 10]);
    let recorded = "INSERT INTO unposted_payments (environment_id, payment_id)
         SELECT t.environment_id, t.reference
         FROM environments e JOIN transactions t ON t.environment_id = e.id AND t.id >= $1
         WHERE t.method = 'web_card' AND t.status IN ('succeeded', 'refunded') AND t.updated_at >= $2
         ON CONFLICT DO NOTHING";
    s.execute(recorded, values![first, opened_at]).await?;
    let refunded = "INSERT INTO unposted_payments (environment_id, payment_id)
         SELECT environment_id, payment_id FROM refunds WHERE updated_at >= $1
         ON CONFLICT DO NOTHING";
    s.execute(refunded, values![opened_at]).await?;
    Ok(Effect::Written(()))
}

pub(crate) async fn post_payment<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    payment: PaymentId,
    revision: u64,
    postings: &[NewCardPosting],
) -> Result<Effect<bool>, Fault> {
    let lock = "SELECT revision FROM card_payments WHERE environment_id = $1 AND id = $2";
    let values = values![environment, payment];
    let current = s.query_opt(&S::DIALECT.locked(lock), values, read).await?;
    let taken = "DELETE FROM unposted_payments WHERE environment_id = $1 AND payment_id = $2";
    if current != Some(rows::version(revision)) || s.execute(taken, values).await? == 0 {
        return Ok(Effect::Nothing(false));
    }
    post(s, environment, payment, postings).await?;
    Ok(Effect::Written(true))
}
