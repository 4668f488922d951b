//! Payments as they are found and added up.

use tollgate_domain::{
    PaymentMethod, ServiceReference, Timestamp,
    id::{EnvironmentId, PaymentId, RequestId, TransactionId, TransferId},
    search,
};
use tollgate_engine::ports::{
    Activity, ChargedPayment, PastPayment, PaymentCustomer, ReturnCounts, SearchCursor, SearchHit,
};

use crate::{prelude::*, rows::is_unstorable};

/// The columns of a [`Placed`] transfer, of transactions as `t`; the first is its place.
macro_rules! past_transfer_columns {
    () => {
        "t.id, t.method, t.reference, t.created_at, CAST(NULL AS TEXT), t.currency, t.metadata, t.provider, t.channel, t.principal_minor,
         t.platform_fee_minor, t.organization_fee_minor, t.fee_minor, t.total_debit_minor, t.fee_layers"
    };
}

/// Reads the columns place and reference. A card payment's place is its ID, a transfer's is that of its transaction.
fn read_found(cells: &mut Cells<'_>) -> Result<SearchHit, Fault> {
    let (place, transfer) = (cells.id()?, cells.id_or_none()?);
    let card = || ServiceReference::Card(PaymentId::from_bytes(place));
    Ok(SearchHit { place, reference: transfer.map_or_else(card, ServiceReference::Ach) })
}

stored! {
    Activity {
        hour, currency, method, provider, kind, count, principal_minor, platform_fee_minor, organization_fee_minor,
    }
    PaymentCustomer { reference, name, email, external_id, bank_name, last_four }
    PastPayment { reference, at, flow, currency, metadata, provider, channel, fee }
}

/// A payment of the past at its place.
type Placed = ([u8; 16], PastPayment);

/// The newest of both, newest first.
fn merged(cards: Vec<Placed>, transfers: Vec<Placed>, limit: u32) -> Vec<PastPayment> {
    let mut all = cards;
    all.extend(transfers);
    all.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    all.into_iter().map(|(_, payment)| payment).collect()
}

pub(crate) const FIND: &str = "SELECT s.place,
         (SELECT t.reference FROM transactions t WHERE t.environment_id = s.environment_id AND t.id = s.place)
     FROM search_terms s
     WHERE s.environment_id = $1 AND s.term = $2 AND s.place <= $3 ORDER BY s.place DESC LIMIT $4";

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    term: &str,
    before: Option<SearchCursor>,
    limit: u32,
) -> Result<Vec<SearchHit>, Fault> {
    let Some(last) = rows::up_to_before(before) else { return Ok(Vec::new()) };
    s.query(FIND, values![environment, term, last, limit], read_found).await
}

/// The next term of an environment.
pub(crate) const NEXT_TERM: &str = "SELECT term FROM search_terms
     WHERE environment_id = $1 AND term >= $2 ORDER BY term LIMIT 1";

/// From term to term, so that one that a million payments have costs no more than any other.
pub(crate) async fn terms<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    prefix: &str,
    limit: u32,
) -> Result<Vec<String>, Fault> {
    let mut terms = Vec::new();
    let mut from = prefix.to_owned();
    for _ in 0..limit {
        let next: Option<String> = s.query_opt(NEXT_TERM, values![environment, &from], read).await?;
        let Some(term) = next.filter(|term| term.starts_with(prefix)) else { break };
        // No text stands between this one and the same with the smallest letter that a term may have.
        from = format!("{term}\u{1}");
        terms.push(term);
    }
    Ok(terms)
}

pub(crate) const CARDS_BETWEEN: &str = "SELECT id FROM card_payments
     WHERE environment_id = $1 AND id >= $2 AND id <= $3 ORDER BY id DESC LIMIT $4";
pub(crate) const TRANSFERS_BETWEEN: &str = "SELECT reference FROM transactions
     WHERE environment_id = $1 AND method = 'ach' AND reference >= $2 AND reference <= $3
     ORDER BY reference DESC LIMIT $4";

pub(crate) async fn references<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    first: ServiceReference,
    last: ServiceReference,
    limit: u32,
) -> Result<Vec<ServiceReference>, Fault> {
    let sql = match first.method() {
        PaymentMethod::WebCard => CARDS_BETWEEN,
        PaymentMethod::Ach => TRANSFERS_BETWEEN,
    };
    let read = |cells: &mut Cells<'_>| Ok(ServiceReference::from_bytes(first.method(), cells.id()?));
    s.query(sql, values![environment, first, last, limit], read).await
}

pub(crate) const CARD_MADE: &str = "SELECT id FROM card_payments
     WHERE environment_id = $1 AND id BETWEEN $2 AND $3 AND request = $4 LIMIT 1";
pub(crate) const TRANSFER_MADE: &str = "SELECT t.reference FROM transactions t
     WHERE t.environment_id = $1 AND t.id = (
         SELECT f.transaction_id FROM transfers f
         WHERE f.environment_id = $1 AND f.transaction_id BETWEEN $2 AND $3 AND f.request = $4 LIMIT 1)";

pub(crate) async fn made_by<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    request: RequestId,
) -> Result<Option<ServiceReference>, Fault> {
    let (first, last) = search::made_by(request);
    let request = request.to_string();
    let values = values![environment, first, last, &request];
    if let Some(id) = s.query_opt(CARD_MADE, values, read).await? {
        return Ok(Some(ServiceReference::Card(id)));
    }
    let id = s.query_opt(TRANSFER_MADE, values, read).await?;
    Ok(id.map(ServiceReference::Ach))
}

pub(crate) const OF_OBJECTS: &str = "SELECT reference FROM transactions INDEXED BY transactions_by_object
     WHERE environment_id = $1 AND provider_reference BETWEEN $2 AND $3 AND method = 'ach'
     ORDER BY provider_reference LIMIT $4";
const OF_OBJECTS_ON_SERVER: &str = "SELECT reference FROM transactions
     WHERE environment_id = $1 AND provider_reference COLLATE \"C\" BETWEEN $2 AND $3 AND method = 'ach'
     ORDER BY provider_reference COLLATE \"C\" LIMIT $4";

pub(crate) async fn of_objects<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    prefix: &str,
    limit: u32,
) -> Result<Vec<TransferId>, Fault> {
    if is_unstorable(prefix) {
        return Ok(Vec::new());
    }
    // No name has a letter behind the last there is.
    let last = format!("{prefix}\u{10ffff}");
    let sql = S::DIALECT.pick(OF_OBJECTS, OF_OBJECTS_ON_SERVER);
    s.query(sql, values![environment, prefix, &last, limit], read).await
}

pub(crate) const DISPUTED: &str =
    "SELECT payment_id FROM disputes WHERE environment_id = $1 AND id = $2 ORDER BY payment_id LIMIT 1";

pub(crate) async fn disputed<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    dispute: &str,
) -> Result<Option<PaymentId>, Fault> {
    s.query_opt(DISPUTED, values![environment, dispute], read).await
}

const CARD_CUSTOMERS: &str =
    "SELECT 'web_card', id, customer_name, customer_email, CAST(NULL AS TEXT), CAST(NULL AS TEXT), CAST(NULL AS TEXT)
     FROM card_payments WHERE environment_id = $1 AND id = $2";
const TRANSFER_CUSTOMERS: &str =
    "SELECT t.method, t.reference, f.customer_name, f.customer_email, f.external_customer_id, f.bank_name, f.last_four
     FROM transactions t JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
     WHERE t.environment_id = $1 AND t.method = 'ach' AND t.reference = $2";

pub(crate) async fn customers<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    references: &[ServiceReference],
) -> Result<Vec<PaymentCustomer>, Fault> {
    let mut customers = Vec::with_capacity(references.len());
    for reference in references {
        let sql = match reference.method() {
            PaymentMethod::WebCard => CARD_CUSTOMERS,
            PaymentMethod::Ach => TRANSFER_CUSTOMERS,
        };
        customers.extend(s.query_opt(sql, values![environment, *reference], read).await?);
    }
    Ok(customers)
}

pub(crate) const ACTIVITY: &str = "SELECT hour, currency, method, provider, kind, count, principal_minor, platform_fee_minor, organization_fee_minor FROM activity WHERE environment_id = $1 AND hour >= $2 AND hour < $3
     ORDER BY hour, currency, method, provider, kind";

pub(crate) async fn activity<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Activity>, Fault> {
    s.query(ACTIVITY, values![environment, from, until], read).await
}

/// Whatever was accepted by its provider was once processing.
pub(crate) const SENT: &str = "SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM activity
     WHERE environment_id = $1 AND hour >= $2 AND hour < $3 AND method = 'ach' AND kind = 'transaction.processing'";

/// Ids begin with the time.
pub(crate) const FAILED_BY_CODE: &str = "SELECT failure_code, COUNT(*) FROM transactions
     WHERE environment_id = $1 AND method = 'ach' AND status = 'failed' AND id >= $2 AND failure_code IS NOT NULL
     GROUP BY failure_code";

pub(crate) async fn return_counts<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    from: Timestamp,
    until: Timestamp,
) -> Result<ReturnCounts, Fault> {
    let sent = s
        .query_one(SENT, values![environment, from, until], |cells| cells.count("number of transfers"))
        .await?;
    let first = TransactionId::new(from, [0; 10]);
    let read = |cells: &mut Cells<'_>| Ok((cells.text()?, cells.count("number of transfers")?));
    let by_code = s.query(FAILED_BY_CODE, values![environment, first], read).await?;
    Ok(ReturnCounts { sent, by_code })
}

pub(crate) const PAST_CARDS: &str = "SELECT p.id, 'web_card', p.id, p.created_at, p.flow, p.currency, p.metadata, p.provider, p.channel, p.principal_minor,
         p.platform_fee_minor, p.organization_fee_minor, p.fee_minor, p.total_debit_minor, p.fee_layers FROM card_payments p WHERE p.environment_id = $1 ORDER BY p.id DESC LIMIT $2";

/// The two tables share the transaction's id.
pub(crate) const PAST_TRANSFERS: &str = concat!(
    "SELECT ",
    past_transfer_columns!(),
    " FROM transfers f CROSS JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id
     WHERE f.environment_id = $1 ORDER BY f.transaction_id DESC LIMIT $2"
);

/// As an array: a server that plans for any limit believes that it is a tenth of all, and would rather read all of them
/// than look so many up.
const PAST_TRANSFERS_BY_KEY: &str = concat!(
    "SELECT ",
    past_transfer_columns!(),
    " FROM transactions t WHERE t.environment_id = $1 AND t.id = ANY (ARRAY(
         SELECT transaction_id FROM transfers WHERE environment_id = $1 ORDER BY transaction_id DESC LIMIT $2))"
);

pub(crate) async fn past_payments<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    method: Option<PaymentMethod>,
    limit: u32,
) -> Result<Vec<PastPayment>, Fault> {
    let (mut cards, mut transfers) = (Vec::new(), Vec::new());
    if method != Some(PaymentMethod::Ach) {
        cards = s.query(PAST_CARDS, values![environment, limit], read).await?;
    }
    if method != Some(PaymentMethod::WebCard) {
        let sql = S::DIALECT.pick(PAST_TRANSFERS, PAST_TRANSFERS_BY_KEY);
        transfers = s.query(sql, values![environment, limit], read).await?;
    }
    Ok(merged(cards, transfers, limit))
}

pub(crate) const CHARGED: &str = "SELECT t.id, t.provider, t.currency, t.hold, t.card, t.charged, p.card_fee,
         COALESCE((SELECT CAST(SUM(r.fee_minor) AS BIGINT) FROM refunds r WHERE r.environment_id = p.environment_id
             AND r.payment_id = p.id AND r.status = 'succeeded'), 0)
     FROM transactions t JOIN card_payments p ON p.environment_id = t.environment_id AND p.id = t.reference
     WHERE t.environment_id = $1 AND t.method = 'web_card' AND t.charged IS NOT NULL AND p.card_fee IS NOT NULL
         AND t.status IN ('succeeded', 'refunded') AND t.created_at >= $2 AND t.created_at < $3 AND t.id > $4
     ORDER BY t.id LIMIT $5";

pub(crate) async fn charged_payments<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    from: Timestamp,
    until: Timestamp,
    after: Option<TransactionId>,
    limit: u32,
) -> Result<Vec<ChargedPayment>, Fault> {
    let after = after.unwrap_or(TransactionId::from_bytes([0; 16]));
    s.query(CHARGED, values![environment, from, until, after, limit], read).await
}

stored! { ChargedPayment { id, provider, currency, hold, card, charged, card_fee, refunded_fee } }
