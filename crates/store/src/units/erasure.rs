//! Takes the personal data out of payments. Amounts, statuses, references and the books stay.

use std::collections::BTreeSet;

use tollgate_domain::{PaymentMethod, ServiceReference, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Entry, Erased, KeyedToken, ProviderEventState, StoredCustomer};

use super::{digest, timeline};
use crate::{
    prelude::*,
    rows::{
        card,
        digest::{Digest, Term},
        out_event,
    },
};

pub(crate) const CARD_CUSTOMERS: &str =
    "SELECT p.id, p.id, p.created_at, CAST(NULL AS TEXT), p.customer_email, p.erased_at,
         CASE WHEN p.erased_at IS NOT NULL THEN (
             SELECT t.card FROM transactions t
             WHERE t.environment_id = p.environment_id AND t.method = 'web_card' AND t.reference = p.id) END
     FROM card_payments p
     WHERE p.environment_id = $1 AND p.id >= $2 ORDER BY p.id LIMIT $3";

pub(crate) const TRANSFER_CUSTOMERS: &str =
    "SELECT f.transaction_id, t.reference, t.created_at, f.external_customer_id, f.customer_email, f.erased_at,
         CAST(NULL AS TEXT)
     FROM transfers f
     CROSS JOIN transactions t
     WHERE f.environment_id = $1 AND f.transaction_id >= $2
         AND t.environment_id = f.environment_id AND t.id = f.transaction_id
     ORDER BY f.transaction_id LIMIT $3";

pub(crate) async fn customers<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    method: PaymentMethod,
    after: Option<[u8; 16]>,
    limit: u32,
) -> Result<Vec<StoredCustomer>, Fault> {
    let Some(first) = rows::from_after(after) else { return Ok(Vec::new()) };
    let sql = match method {
        PaymentMethod::WebCard => CARD_CUSTOMERS,
        PaymentMethod::Ach => TRANSFER_CUSTOMERS,
    };
    let read = |cells: &mut Cells<'_>| {
        Ok(StoredCustomer {
            place: cells.get()?,
            reference: ServiceReference::from_bytes(method, cells.get()?),
            created_at: cells.get()?,
            external_id: cells.get()?,
            email: cells.get()?,
            erased_at: cells.get()?,
            is_partly_erased: match cells.text_or_none()? {
                Some(card) => card::has_personal_data(&card)?,
                None => false,
            },
        })
    };
    s.query(sql, values![environment, first, limit], read).await
}

/// Whether something may still happen that needs what is to be erased: sending it, or indexing its events. Whether a transfer
/// that has arrived comes back is asked by the provider's name for it.
const IS_CARD_BUSY: &str = "SELECT 1 FROM card_payments p
     LEFT JOIN transactions t ON t.environment_id = p.environment_id AND t.method = 'web_card' AND t.reference = p.id
     WHERE p.environment_id = $1 AND p.id = $2 AND (
         p.due_at IS NOT NULL OR p.preparation = 'preparing'
         OR t.status IN ('pending', 'processing', 'authorized')
         OR EXISTS (SELECT 1 FROM refunds r WHERE r.environment_id = $1 AND r.payment_id = $2
             AND r.status IN ('pending', 'processing'))
         OR EXISTS (SELECT 1 FROM hold_actions h WHERE h.environment_id = $1 AND h.payment_id = $2
             AND h.status IN ('pending', 'processing')))";

const IS_TRANSFER_BUSY: &str = "SELECT 1 FROM transactions t
     JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
     WHERE t.environment_id = $1 AND t.method = 'ach' AND t.reference = $2 AND (
         f.sealed_account IS NOT NULL OR t.status IN ('pending', 'processing')
         OR (f.due_at IS NOT NULL AND t.status <> 'succeeded'))";

/// An event that is being indexed at this moment would bring the old terms back.
const IS_INDEXING: &str = "SELECT 1 FROM out_events e
     JOIN undigested_events u ON u.event_id = e.id AND u.environment_id = e.environment_id
     WHERE e.environment_id = $1 AND e.method = $2 AND e.reference = $3 LIMIT 1";

const ERASE_CARD: &str =
    "UPDATE card_payments SET description = NULL, customer_name = NULL, customer_email = NULL, metadata = '{}',
         success_url = NULL, cancel_url = NULL, timeline = NULL, erased_at = $3, revision = revision + 1
     WHERE environment_id = $1 AND id = $2";

const ERASE_TRANSFER: &str =
    "UPDATE transfers SET external_customer_id = 'erased', customer_name = 'erased', customer_email = 'erased',
         bank_name = 'erased', account_name = 'erased', last_four = '', remittance = NULL, statement_descriptor = NULL,
         fingerprints = '{}', corrections = '[]', approval_account = NULL, timeline = NULL, erased_at = $3, revision = revision + 1
     WHERE environment_id = $1 AND transaction_id = (
         SELECT id FROM transactions WHERE environment_id = $1 AND method = 'ach' AND reference = $2)";

/// What else there is of a card payment; a transfer has none of it. A failure keeps its code, and loses the words of
/// whoever refused it.
const ERASE_PARTS: [&str; 3] = [
    "UPDATE refunds SET description = NULL, metadata = '{}',
         failure_message = CASE WHEN failure_code IS NULL THEN NULL ELSE 'erased' END
     WHERE environment_id = $1 AND payment_id = $2",
    "UPDATE hold_actions SET failure_message = 'erased'
     WHERE environment_id = $1 AND payment_id = $2 AND failure_code IS NOT NULL",
    "UPDATE card_attempts SET sealed_source = NULL WHERE environment_id = $1 AND payment_id = $2",
];

/// What is kept in the same way for every kind of payment.
const ERASE_COMMON: [&str; 3] = [
    "UPDATE transactions SET description = NULL, metadata = '{}',
         failure_message = CASE WHEN failure_code IS NULL THEN NULL ELSE 'erased' END
     WHERE environment_id = $1 AND method = $3 AND reference = $2",
    "UPDATE reconciliation_exceptions SET resolution = 'erased'
     WHERE environment_id = $1 AND method = $3 AND reference = $2 AND resolved_at IS NOT NULL",
    // In its lines stand the providers' own words.
    "DELETE FROM timeline WHERE environment_id = $1 AND method = $3 AND reference = $2",
];

pub(crate) async fn erase<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    entry: &Entry,
) -> Result<Effect<Erased>, Fault> {
    let method = reference.method();
    let (busy, erase) = match method {
        PaymentMethod::WebCard => (IS_CARD_BUSY, ERASE_CARD),
        PaymentMethod::Ach => (IS_TRANSFER_BUSY, ERASE_TRANSFER),
    };
    let Some(erased_at) = lock(s, environment, reference).await? else {
        return Ok(Effect::Nothing(Erased::Missing));
    };
    // An earlier version that erases does not know the card.
    if erased_at.is_some() && !is_card_left(s, environment, reference).await? {
        return Ok(Effect::Nothing(Erased::Before));
    }
    let is_busy = s.exists(busy, values![environment, reference]).await?
        || s.exists(IS_INDEXING, values![environment, method.as_str(), reference]).await?;
    if is_busy {
        let sql = "INSERT INTO erasure_wishes (environment_id, method, reference, asked_at, detail)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        let values = values![environment, method.as_str(), reference, entry.at, &entry.detail];
        let is_new = s.execute(sql, values).await? > 0;
        let busy = Erased::InProgress;
        return Ok(if is_new { Effect::Written(busy) } else { Effect::Nothing(busy) });
    }
    let sql = "DELETE FROM erasure_wishes WHERE environment_id = $1 AND method = $2 AND reference = $3";
    s.execute(sql, values![environment, method.as_str(), reference]).await?;
    let before = terms(s, environment, reference).await?;
    s.execute(erase, values![environment, reference, entry.at]).await?;
    for statement in ERASE_PARTS {
        s.execute(statement, values![environment, reference]).await?;
    }
    erase_card(s, environment, reference).await?;
    for statement in ERASE_COMMON {
        s.execute(statement, values![environment, reference, method.as_str()]).await?;
    }
    let kept = terms(s, environment, reference).await?;
    for term in before.difference(&kept) {
        let sql = "DELETE FROM search_terms WHERE environment_id = $1 AND term = $2 AND place = $3";
        s.execute(sql, values![environment, &term.text, term.place]).await?;
    }
    erase_events(s, environment, reference).await?;
    timeline::add(s, environment, reference, std::slice::from_ref(entry)).await?;
    Ok(Effect::Written(Erased::Done))
}

/// The payments that wait for their erasure, each with who asked for it.
pub(crate) async fn wishes<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    method: PaymentMethod,
    after: Option<[u8; 16]>,
    limit: u32,
) -> Result<Vec<(ServiceReference, String)>, Fault> {
    let Some(first) = rows::from_after(after) else { return Ok(Vec::new()) };
    let sql = "SELECT reference, detail FROM erasure_wishes
         WHERE environment_id = $1 AND method = $2 AND reference >= $3 ORDER BY reference LIMIT $4";
    let read = |cells: &mut Cells<'_>| Ok((ServiceReference::from_bytes(method, cells.get()?), cells.get()?));
    s.query(sql, values![environment, method.as_str(), first, limit], read).await
}

/// When it was erased, if it was; `None` if there is no such payment. Nobody changes it until the unit is done.
async fn lock<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Option<Option<Timestamp>>, Fault> {
    let sql = match reference.method() {
        PaymentMethod::WebCard => "SELECT erased_at FROM card_payments WHERE environment_id = $1 AND id = $2",
        PaymentMethod::Ach => {
            "SELECT erased_at FROM transfers WHERE environment_id = $1 AND transaction_id = (
                 SELECT id FROM transactions WHERE environment_id = $1 AND method = 'ach' AND reference = $2)"
        }
    };
    let values = values![environment, reference];
    s.query_opt(&S::DIALECT.locked(sql), values, read).await
}

/// What the payment is found by as it is now.
async fn terms<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<BTreeSet<Term>, Fault> {
    Ok(Digest::of(digest::alone(s, environment, reference).await?.as_slice()).terms)
}

async fn stored_card<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT card FROM transactions
         WHERE environment_id = $1 AND method = $2 AND reference = $3 AND card IS NOT NULL";
    s.query_opt(sql, values![environment, reference.method().as_str(), reference], read).await
}

async fn is_card_left<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<bool, Fault> {
    match stored_card(s, environment, reference).await? {
        Some(stored) => Ok(card::has_personal_data(&stored)?),
        None => Ok(false),
    }
}

/// Of the card there stays what fees and statistics are about.
async fn erase_card<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<(), Fault> {
    if let Some(stored) = stored_card(s, environment, reference).await? {
        let sql = "UPDATE transactions SET card = $4
             WHERE environment_id = $1 AND method = $2 AND reference = $3";
        let erased = card::erased(&stored)?;
        s.execute(sql, values![environment, reference.method().as_str(), reference, erased]).await?;
    }
    Ok(())
}

/// Events keep what became of the payment, without the words of the provider and the caller.
async fn erase_events<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<(), Fault> {
    let sql = "SELECT id, state FROM out_events
         WHERE environment_id = $1 AND method = $2 AND reference = $3 AND state IS NOT NULL";
    let values = values![environment, reference.method().as_str(), reference];
    for (id, state) in s.query::<([u8; 16], String)>(sql, values, read).await? {
        if let Some(state) = out_event::erased_state(&state)? {
            let sql = "UPDATE out_events SET state = $3 WHERE environment_id = $1 AND id = $2";
            s.execute(sql, values![environment, id, state]).await?;
        }
    }
    Ok(())
}

pub(crate) async fn tokens<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    after: Option<[u8; 32]>,
    limit: u32,
) -> Result<Vec<KeyedToken>, Fault> {
    let sql = "SELECT key_digest, fingerprints, token, expires_at, created_at FROM customer_tokens
         WHERE environment_id = $1 AND key_digest > $2 ORDER BY key_digest LIMIT $3";
    let after = after.unwrap_or_default();
    s.query(sql, values![environment, &after, limit], read).await
}

pub(crate) async fn forget_token<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    key: &[u8; 32],
) -> Result<Effect<()>, Fault> {
    let sql = "DELETE FROM customer_tokens WHERE environment_id = $1 AND key_digest = $2";
    let gone = s.execute(sql, values![environment, key]).await?;
    Ok(Effect::written_if(gone > 0, ()))
}

pub(crate) const OLD_PROVIDER_EVENTS: &str = "SELECT provider, id FROM provider_events
     WHERE environment_id = $1 AND state = $2 AND received_at < $3 ORDER BY received_at LIMIT $4";

/// Only those that are done with have a state that this is asked for.
pub(crate) async fn forget_provider_events<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    state: ProviderEventState,
    before: Timestamp,
    limit: u32,
) -> Result<Effect<u64>, Fault> {
    let sql = format!(
        "DELETE FROM provider_events WHERE environment_id = $1 AND (provider, id) IN ({OLD_PROVIDER_EVENTS})"
    );
    let gone = s.execute(&sql, values![environment, state.as_str(), before, limit]).await?;
    Ok(Effect::written_if(gone > 0, gone))
}
