//! What events add to the index by which payments are found, and to the sums of their hour.

use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, PaymentId},
};

use crate::{
    prelude::*,
    rows::digest::{
        ACTIVITY, Digest, IndexableEvent, SEARCH_TERMS, read_card, read_transfer, sums_row, term_row,
    },
};

/// Asked before digesting, so that looking for work writes nothing while there is none.
pub(crate) async fn is_any_undigested<S: Session>(s: &mut S) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM undigested_events LIMIT 1";
    s.exists(sql, values![]).await
}

pub(crate) const UNDIGESTED: &str =
    "SELECT event_id, environment_id FROM undigested_events ORDER BY event_id, environment_id LIMIT $1";

macro_rules! card {
    ($from:literal) => {
        concat!(
            "SELECT e.environment_id, e.kind, e.at, p.id, p.currency, p.provider, p.principal_minor,
         p.platform_fee_minor, p.organization_fee_minor, p.total_debit_minor, p.metadata, p.customer_name,
         p.customer_email, p.object, t.provider_reference, t.hold, t.charged, p.request, p.description, t.card",
            $from
        )
    };
}

macro_rules! transfer {
    ($from:literal) => {
        concat!(
            "SELECT e.environment_id, e.kind, e.at, t.id, t.currency, t.provider, t.principal_minor,
         t.platform_fee_minor, t.organization_fee_minor, t.total_debit_minor, t.metadata, f.customer_name,
         f.customer_email, f.external_customer_id, f.request, t.description, f.last_four",
            $from
        )
    };
}

pub(crate) const CARD: &str = card!(
    " FROM out_events e CROSS JOIN card_payments p
     LEFT JOIN transactions t
         ON t.environment_id = e.environment_id AND t.method = 'web_card' AND t.reference = e.reference
     WHERE p.environment_id = e.environment_id AND p.id = e.reference AND e.method = 'web_card'
         AND e.environment_id = $1 AND e.id = $2"
);
pub(crate) const TRANSFER: &str = transfer!(
    " FROM out_events e CROSS JOIN transactions t CROSS JOIN transfers f
     WHERE t.environment_id = e.environment_id AND t.method = 'ach' AND t.reference = e.reference
         AND f.environment_id = t.environment_id AND f.transaction_id = t.id AND e.method = 'ach'
         AND e.environment_id = $1 AND e.id = $2"
);

/// Those of a whole batch. With joins, a server that has no statistics yet would compare all payments of an environment with each other.
const CARDS: &str = card!(
    " FROM unnest($1::uuid[], $2::uuid[]) AS w (environment_id, event_id)
     CROSS JOIN LATERAL (
         SELECT * FROM out_events e WHERE e.environment_id = w.environment_id AND e.id = w.event_id LIMIT 1) e
     CROSS JOIN LATERAL (
         SELECT * FROM card_payments p
         WHERE p.environment_id = e.environment_id AND p.id = e.reference LIMIT 1) p
     LEFT JOIN LATERAL (
         SELECT t.provider_reference, t.hold, t.charged, t.card FROM transactions t
         WHERE t.environment_id = e.environment_id AND t.method = 'web_card' AND t.reference = e.reference
         LIMIT 1) t ON true
     WHERE e.method = 'web_card'"
);
const TRANSFERS: &str = transfer!(
    " FROM unnest($1::uuid[], $2::uuid[]) AS w (environment_id, event_id)
     CROSS JOIN LATERAL (
         SELECT * FROM out_events e WHERE e.environment_id = w.environment_id AND e.id = w.event_id LIMIT 1) e
     CROSS JOIN LATERAL (
         SELECT * FROM transactions t
         WHERE t.environment_id = e.environment_id AND t.method = 'ach' AND t.reference = e.reference LIMIT 1) t
     CROSS JOIN LATERAL (
         SELECT * FROM transfers f
         WHERE f.environment_id = t.environment_id AND f.transaction_id = t.id LIMIT 1) f
     WHERE e.method = 'ach'"
);

/// A card payment, whatever its events.
const CARD_ALONE: &str =
    "SELECT p.environment_id, 'payment.prepared', p.created_at, p.id, p.currency, p.provider,
         p.principal_minor, p.platform_fee_minor, p.organization_fee_minor, p.total_debit_minor, p.metadata,
         p.customer_name, p.customer_email, p.object, CAST(NULL AS TEXT), CAST(NULL AS TEXT),
         CAST(NULL AS TEXT), p.request,
         p.description, t.card
     FROM card_payments p
     LEFT JOIN transactions t
         ON t.environment_id = p.environment_id AND t.method = 'web_card' AND t.reference = p.id
     WHERE p.environment_id = $1 AND p.id = $2";

/// A transfer, whatever its events.
const TRANSFER_ALONE: &str =
    "SELECT t.environment_id, 'transaction.pending', t.created_at, t.id, t.currency, t.provider,
         t.principal_minor, t.platform_fee_minor, t.organization_fee_minor, t.total_debit_minor, t.metadata,
         f.customer_name, f.customer_email, f.external_customer_id, f.request, t.description,
         f.last_four
     FROM transactions t
     JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
     WHERE t.environment_id = $1 AND t.method = 'ach' AND t.reference = $2";

/// A payment with all that it is found by, without its events.
pub(super) async fn alone<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Option<IndexableEvent>, Fault> {
    let values = values![environment, reference];
    match reference {
        ServiceReference::Card(_) => s.query_opt(CARD_ALONE, values, read_card).await,
        ServiceReference::Ach(_) => s.query_opt(TRANSFER_ALONE, values, read_transfer).await,
    }
}

pub(crate) async fn index_payment<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
) -> Result<Effect<()>, Fault> {
    let Some(card) = s.query_opt(CARD_ALONE, values![environment, id], read_card).await? else {
        return Ok(Effect::Nothing(()));
    };
    let digest = Digest::of(&[card]);
    s.insert(&SEARCH_TERMS, digest.terms.iter().map(term_row).collect()).await?;
    Ok(Effect::Written(()))
}

/// What another node is digesting in this very moment is passed over rather than waited for. Terms and sums are written
/// in an order that is the same for all, so that none waits for another in a circle.
pub(crate) async fn digest<S: Session>(s: &mut S, limit: u32) -> Result<Effect<u32>, Fault> {
    let taken: Vec<Taken> = s
        .query(&S::DIALECT.claimed(UNDIGESTED), values![limit], |cells| Ok((cells.get()?, cells.get()?)))
        .await?;
    if taken.is_empty() {
        return Ok(Effect::Nothing(0));
    }
    let digest = Digest::of(&load(s, &taken).await?);
    s.insert(&SEARCH_TERMS, digest.terms.iter().map(term_row).collect()).await?;
    s.insert(&ACTIVITY, digest.sums.iter().map(|(by, sums)| sums_row(by, sums)).collect()).await?;
    remove(s, &taken).await?;
    Ok(Effect::Written(u32::try_from(taken.len()).unwrap_or(u32::MAX)))
}

/// Reads an event about a payment of one method.
type Read = fn(&mut Cells<'_>) -> Result<IndexableEvent, Fault>;

/// An event and its environment.
type Taken = ([u8; 16], [u8; 16]);

/// The environments and the events, each as an array.
fn arrays(taken: &[Taken]) -> [Value<'static>; 2] {
    let environments = taken.iter().map(|(_, environment)| Value::from(*environment)).collect();
    let events = taken.iter().map(|(event, _)| Value::from(*event)).collect();
    [Value::List(environments), Value::List(events)]
}

async fn load<S: Session>(s: &mut S, taken: &[Taken]) -> Result<Vec<IndexableEvent>, Fault> {
    if S::DIALECT == Dialect::Postgres {
        let values = arrays(taken);
        let mut events = s.query(CARDS, &values, read_card).await?;
        events.extend(s.query(TRANSFERS, &values, read_transfer).await?);
        return Ok(events);
    }
    let mut events = Vec::with_capacity(taken.len());
    // Most events are about the same method as the one before.
    let (mut likely, mut other): ((&str, Read), (&str, Read)) =
        ((CARD, read_card), (TRANSFER, read_transfer));
    for (event, environment) in taken {
        let values = values![*environment, *event];
        if let Some(event) = s.query_opt(likely.0, values, likely.1).await? {
            events.push(event);
        } else if let Some(event) = s.query_opt(other.0, values, other.1).await? {
            events.push(event);
            std::mem::swap(&mut likely, &mut other);
        }
    }
    Ok(events)
}

async fn remove<S: Session>(s: &mut S, taken: &[Taken]) -> Result<(), Fault> {
    if S::DIALECT == Dialect::Postgres {
        let sql = "DELETE FROM undigested_events u USING unnest($1::uuid[], $2::uuid[]) AS w (environment_id, event_id)
             WHERE u.event_id = w.event_id AND u.environment_id = w.environment_id";
        return s.execute(sql, &arrays(taken)).await.map(drop);
    }
    let sql = "DELETE FROM undigested_events WHERE event_id = $1 AND environment_id = $2";
    let rows: Vec<_> = taken.iter().map(|(event, scope)| row![*event, *scope]).collect();
    s.execute_each(sql, &rows).await
}
