//! Card payments as they are stored, found, listed and claimed.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::ToSql;
use tollgate_domain::{
    Minor, Timestamp,
    card::CardOrder,
    id::{EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{CardPayment, Entry, Inserted, NewEvent, PaymentFilter, Progress};
use uuid::Uuid;

use super::{
    cells::RowCells,
    fault::Fault,
    out_events::{EventBatch, append_events},
    timeline::Lines,
    uuid,
};
use crate::convert::{
    self,
    payment::{attempt_columns, payment_columns, read_attempt, read_order, read_progress},
    transaction::{self, state_columns},
};

/// What every insertion does.
macro_rules! insert {
    () => {
        "WITH payment AS (
             INSERT INTO card_payments (environment_id, id, flow, provider, adapter, channel, matched,
                 config_version, currency, principal_minor, platform_fee_minor, organization_fee_minor,
                 fee_minor, total_debit_minor, fee_layers, description, customer_name, customer_email, metadata,
                 success_url, cancel_url, request, created_at, expires_at, preparation, object, checkout_url,
                 prepared_at, confirmed, due_at, follow_up_at, tries, waiting, account, revision)
             SELECT e.id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
                 $21, $22, $23, $24, $25, $26, $27, $28, $29, ($30::bigint[])[1], ($30::bigint[])[2], $31,
                 $32, $38, 0
             FROM environments e WHERE e.id = $1
             ON CONFLICT (environment_id, id) DO NOTHING
             RETURNING environment_id, id),
         lines AS (
             INSERT INTO timeline (environment_id, method, reference, id, at, kind, request, detail)
             SELECT payment.environment_id, 'web_card', payment.id, l.id, l.at, l.kind, l.request, l.detail
             FROM payment CROSS JOIN
                 unnest($33::uuid[], $34::bigint[], $35::text[], $36::text[], $37::text[])
                     AS l (id, at, kind, request, detail)
             ON CONFLICT DO NOTHING)"
    };
}

const INSERT: &str = concat!(insert!(), " SELECT EXISTS (SELECT 1 FROM environments WHERE id = $1)");

/// Where a provider has to be asked first, nothing is told yet, and the statement is spared the rest.
const INSERT_AND_TELL: &str = concat!(
    insert!(),
    ", tells AS MATERIALIZED (
         SELECT payment.environment_id, t.id, t.kind, 'web_card' AS method, payment.id AS reference, $23::bigint AS at,
             t.state
         FROM payment CROSS JOIN unnest($39::uuid[], $40::text[], $41::text[]) AS t (id, kind, state)), ",
    append_events!(),
    " SELECT EXISTS (SELECT 1 FROM environments WHERE id = $1)"
);

pub(super) async fn insert(
    client: &ClientWrapper,
    environment: EnvironmentId,
    order: &CardOrder,
    progress: &Progress,
    entries: &[Entry],
    new_events: &[NewEvent],
) -> Result<Inserted, Fault> {
    if order.environment != environment {
        return Err(Fault::Misuse("a payment was to be stored in another environment than its own"));
    }
    let new_events = EventBatch::new(new_events, None)?;
    let lines = Lines::new(entries);
    let values: [&(dyn ToSql + Sync); 38] = [
        &uuid(environment.to_bytes()),
        &uuid(order.id.to_bytes()),
        &order.flow.as_str(),
        &order.provider,
        &order.adapter,
        &order.channel.as_str(),
        &order.matched.as_ref().map(convert::payment::matched),
        &convert::version(order.config_version),
        &order.currency.code(),
        &Minor::from(order.fee.principal).signed(),
        &order.fee.platform.fee.signed(),
        &order.fee.organization.fee.signed(),
        &order.fee.fee.signed(),
        &order.fee.total_debit.signed(),
        &convert::fee::layers(&order.fee),
        &order.description,
        &order.customer_name,
        &order.customer_email,
        &order.metadata,
        &order.success_url,
        &order.cancel_url,
        &order.request,
        &order.created_at.unix_millis(),
        &order.expires_at.unix_millis(),
        &progress.preparation.as_str(),
        &progress.object,
        &progress.checkout_url,
        &progress.prepared_at.map(Timestamp::unix_millis),
        &progress.confirmed,
        &due(progress),
        &i64::from(progress.tries),
        &progress.waiting,
        &lines.ids,
        &lines.moments,
        &lines.kinds,
        &lines.requests,
        &lines.details,
        &order.account.as_ref().map(convert::account::write),
    ];
    let (mut values, mut sql) = (values.to_vec(), INSERT);
    if !new_events.ids.is_empty() {
        values.extend::<[&(dyn ToSql + Sync); 3]>([&new_events.ids, &new_events.kinds, &new_events.states]);
        sql = INSERT_AND_TELL;
    }
    let statement = client.prepare_cached(sql).await?;
    let row = client.query_one(&statement, &values).await?;
    Ok(if row.try_get(0)? { Inserted::Done } else { Inserted::EnvironmentMissing })
}

/// When a payment is due, and when its follow-up is: one value of a statement.
pub(super) fn due(progress: &Progress) -> Vec<Option<i64>> {
    [progress.due, progress.follow_up].map(|moment| moment.map(Timestamp::unix_millis)).to_vec()
}

/// One statement, and so one moment: a row for each attempt, or one row if there is none, each with the payment.
pub(super) async fn find(
    client: &ClientWrapper,
    environment: EnvironmentId,
    id: PaymentId,
) -> Result<Option<CardPayment>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            attempt_columns!(),
            ", p.revision, ",
            payment_columns!(),
            ", ",
            state_columns!(),
            " FROM card_payments p
             LEFT JOIN transactions t
                 ON t.environment_id = p.environment_id AND t.method = 'web_card' AND t.reference = p.id
             LEFT JOIN card_attempts a ON a.environment_id = p.environment_id AND a.payment_id = p.id
             WHERE p.environment_id = $1 AND p.id = $2 ORDER BY a.number"
        ))
        .await?;
    let rows = client.query(&statement, &[&uuid(environment.to_bytes()), &uuid(id.to_bytes())]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let mut cells = RowCells::new(row, 7);
    let mut payment = CardPayment {
        revision: convert::count(row.try_get(6)?)?,
        order: read_order(&mut cells)?,
        progress: read_progress(&mut cells)?,
        transaction: transaction::read_if_any(&mut cells)?,
        attempts: Vec::new(),
    };
    for row in &rows {
        if row.try_get::<_, Option<i64>>(0)?.is_some() {
            payment.attempts.push(read_attempt(&mut RowCells::new(row, 0))?);
        }
    }
    Ok(Some(payment))
}

pub(super) async fn of_object(
    client: &ClientWrapper,
    environment: EnvironmentId,
    provider: &str,
    object: &str,
) -> Result<Option<PaymentId>, Fault> {
    if convert::is_unstorable(provider) || convert::is_unstorable(object) {
        return Ok(None);
    }
    let statement = client
        .prepare_cached(
            "SELECT payment_id FROM provider_objects
             WHERE environment_id = $1 AND provider = $2 AND object = $3",
        )
        .await?;
    let row = client.query_opt(&statement, &[&uuid(environment.to_bytes()), &provider, &object]).await?;
    row.map(|row| Ok(PaymentId::from_bytes(row.try_get::<_, Uuid>(0)?.into_bytes()))).transpose()
}

pub(super) async fn list(
    client: &ClientWrapper,
    environment: EnvironmentId,
    filter: PaymentFilter,
    before: Option<PaymentId>,
    limit: u32,
) -> Result<Vec<PaymentId>, Fault> {
    let Some(last) = convert::up_to_before(before.map(PaymentId::to_bytes)) else { return Ok(Vec::new()) };
    let conditions = convert::payment::list_conditions(filter);
    let statement = client
        .prepare_cached(&format!(
            "SELECT id FROM card_payments WHERE environment_id = $1 AND id <= $2{conditions}
             ORDER BY id DESC LIMIT $3"
        ))
        .await?;
    let rows =
        client.query(&statement, &[&uuid(environment.to_bytes()), &uuid(last), &i64::from(limit)]).await?;
    rows.iter().map(|row| Ok(PaymentId::from_bytes(row.try_get::<_, Uuid>(0)?.into_bytes()))).collect()
}

/// What another node is taking, or changing, in this very moment is passed over rather than waited for.
macro_rules! claim {
    ($due_at:literal, $taken:literal) => {
        concat!(
            "WITH due AS (
                 SELECT environment_id, id, ",
            $due_at,
            " AS was_due_at FROM card_payments WHERE ",
            $due_at,
            " <= $1 ORDER BY ",
            $due_at,
            " LIMIT $3 FOR UPDATE SKIP LOCKED),
             taken AS (
                 UPDATE card_payments p SET ",
            $taken,
            " FROM due WHERE p.environment_id = due.environment_id AND p.id = due.id
                 RETURNING p.environment_id, p.id, due.was_due_at)
             SELECT environment_id, id FROM taken ORDER BY was_due_at, id"
        )
    };
}

pub(super) const DUE: &str = claim!("due_at", "due_at = $2, tries = p.tries + 1");
pub(super) const FOLLOW_UPS: &str = claim!("follow_up_at", "follow_up_at = $2");

pub(super) async fn claim(
    client: &ClientWrapper,
    claim: &str,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<(EnvironmentId, PaymentId)>, Fault> {
    let statement = client.prepare_cached(claim).await?;
    let rows =
        client.query(&statement, &[&now.unix_millis(), &until.unix_millis(), &i64::from(limit)]).await?;
    rows.iter()
        .map(|row| {
            let environment = row.try_get::<_, Uuid>(0)?.into_bytes();
            let id = row.try_get::<_, Uuid>(1)?.into_bytes();
            Ok((EnvironmentId::from_bytes(environment), PaymentId::from_bytes(id)))
        })
        .collect()
}
