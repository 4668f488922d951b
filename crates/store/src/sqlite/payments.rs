//! Card payments as they are stored, found, listed and claimed.

use rusqlite::{Connection, OptionalExtension as _, params};
use tollgate_domain::{
    Minor, ServiceReference, Timestamp,
    card::CardOrder,
    id::{EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{CardPayment, Entry, Inserted, NewEvent, PaymentFilter, Progress};

use super::{
    cells::RowCells,
    directory,
    fault::Fault,
    out_events::{About, append_events},
    timeline,
    writer::Effect,
};
use crate::convert::{
    self,
    payment::{attempt_columns, payment_columns, read_attempt, read_order, read_progress},
    transaction::{self, state_columns},
};

pub(super) fn insert(
    connection: &Connection,
    environment: EnvironmentId,
    order: &CardOrder,
    progress: &Progress,
    entries: &[Entry],
    new_events: &[NewEvent],
) -> Result<Effect<Inserted>, Fault> {
    if order.environment != environment {
        return Err(Fault::Misuse("a payment was to be stored in another environment than its own"));
    }
    let inserted = connection
        .prepare_cached(
            "INSERT INTO card_payments (environment_id, id, flow, provider, adapter, channel, matched,
                 config_version, currency, principal_minor, platform_fee_minor, organization_fee_minor, fee_minor,
                 total_debit_minor, fee_layers, description, customer_name, customer_email, metadata, success_url,
                 cancel_url, request, created_at, expires_at, preparation, object, checkout_url, prepared_at,
                 confirmed, due_at, tries, waiting, account, follow_up_at, revision)
             SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                 ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, 0
             FROM environments WHERE id = ?1
             ON CONFLICT (environment_id, id) DO NOTHING",
        )?
        .execute(params![
            environment.to_bytes(),
            order.id.to_bytes(),
            order.flow.as_str(),
            order.provider,
            order.adapter,
            order.channel.as_str(),
            order.matched.as_ref().map(convert::payment::matched),
            convert::version(order.config_version),
            order.currency.code(),
            Minor::from(order.fee.principal).signed(),
            order.fee.platform.fee.signed(),
            order.fee.organization.fee.signed(),
            order.fee.fee.signed(),
            order.fee.total_debit.signed(),
            convert::fee::layers(&order.fee),
            order.description,
            order.customer_name,
            order.customer_email,
            order.metadata,
            order.success_url,
            order.cancel_url,
            order.request,
            order.created_at.unix_millis(),
            order.expires_at.unix_millis(),
            progress.preparation.as_str(),
            progress.object,
            progress.checkout_url,
            progress.prepared_at.map(Timestamp::unix_millis),
            progress.confirmed,
            progress.due.map(Timestamp::unix_millis),
            progress.tries,
            progress.waiting,
            order.account.as_ref().map(convert::account::write),
            progress.follow_up.map(Timestamp::unix_millis),
        ])?;
    if inserted == 0 {
        // There before, or nowhere to put it.
        let known = directory::stamp(connection, environment)?.is_some();
        return Ok(Effect::Nothing(if known { Inserted::Done } else { Inserted::EnvironmentMissing }));
    }
    let reference = ServiceReference::Card(order.id);
    timeline::add(connection, environment, reference, entries)?;
    append_events(
        connection,
        new_events,
        About { environment, reference, at: order.created_at, state: None },
    )?;
    Ok(Effect::Written(Inserted::Done))
}

pub(super) fn find(
    connection: &Connection,
    environment: EnvironmentId,
    id: PaymentId,
) -> Result<Option<CardPayment>, Fault> {
    let mut payment = connection
        .prepare_cached(concat!(
            "SELECT p.revision, ",
            payment_columns!(),
            ", ",
            state_columns!(),
            " FROM card_payments p
             LEFT JOIN transactions t
                 ON t.environment_id = p.environment_id AND t.method = 'web_card' AND t.reference = p.id
             WHERE p.environment_id = ?1 AND p.id = ?2"
        ))?
        .query_and_then(params![environment.to_bytes(), id.to_bytes()], |row| {
            let mut cells = RowCells::new(row, 1);
            Ok::<_, Fault>(CardPayment {
                revision: convert::count(row.get(0)?)?,
                order: read_order(&mut cells)?,
                progress: read_progress(&mut cells)?,
                transaction: transaction::read_if_any(&mut cells)?,
                attempts: Vec::new(),
            })
        })?
        .next()
        .transpose()?;
    if let Some(payment) = &mut payment {
        payment.attempts = connection
            .prepare_cached(concat!(
                "SELECT ",
                attempt_columns!(),
                " FROM card_attempts a WHERE a.environment_id = ?1 AND a.payment_id = ?2 ORDER BY a.number"
            ))?
            .query_and_then(params![environment.to_bytes(), id.to_bytes()], |row| {
                read_attempt(&mut RowCells::new(row, 0))
            })?
            .collect::<Result<_, Fault>>()?;
    }
    Ok(payment)
}

pub(super) fn of_object(
    connection: &Connection,
    environment: EnvironmentId,
    provider: &str,
    object: &str,
) -> Result<Option<PaymentId>, Fault> {
    Ok(connection
        .prepare_cached(
            "SELECT payment_id FROM provider_objects
             WHERE environment_id = ?1 AND provider = ?2 AND object = ?3",
        )?
        .query_row(params![environment.to_bytes(), provider, object], |row| {
            Ok(PaymentId::from_bytes(row.get(0)?))
        })
        .optional()?)
}

pub(super) fn list_sql(filter: PaymentFilter) -> String {
    let conditions = convert::payment::list_conditions(filter);
    format!(
        "SELECT id FROM card_payments WHERE environment_id = ?1 AND id <= ?2{conditions}
         ORDER BY id DESC LIMIT ?3"
    )
}

pub(super) fn list(
    connection: &Connection,
    environment: EnvironmentId,
    filter: PaymentFilter,
    before: Option<PaymentId>,
    limit: u32,
) -> Result<Vec<PaymentId>, Fault> {
    let Some(last) = convert::up_to_before(before.map(PaymentId::to_bytes)) else { return Ok(Vec::new()) };
    connection
        .prepare_cached(&list_sql(filter))?
        .query_and_then(params![environment.to_bytes(), last, limit], |row| {
            Ok(PaymentId::from_bytes(row.get(0)?))
        })?
        .collect()
}

/// What is claimed: payments that are due, or paid ones whose follow-up is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    /// Asked before claiming, so that looking for work writes nothing while there is none.
    pub(super) any: &'static str,
    pub(super) due: &'static str,
    lease: &'static str,
}

pub(super) const DUE: Claim = Claim {
    any: "SELECT EXISTS (SELECT 1 FROM card_payments WHERE due_at <= ?1)",
    due: "SELECT environment_id, id FROM card_payments WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2",
    lease: "UPDATE card_payments SET due_at = ?3, tries = tries + 1 WHERE environment_id = ?1 AND id = ?2",
};

pub(super) const FOLLOW_UPS: Claim = Claim {
    any: "SELECT EXISTS (SELECT 1 FROM card_payments WHERE follow_up_at <= ?1)",
    due: "SELECT environment_id, id FROM card_payments WHERE follow_up_at <= ?1 ORDER BY follow_up_at LIMIT ?2",
    lease: "UPDATE card_payments SET follow_up_at = ?3 WHERE environment_id = ?1 AND id = ?2",
};

pub(super) fn is_any_due(connection: &Connection, claim: Claim, now: Timestamp) -> Result<bool, Fault> {
    Ok(connection.prepare_cached(claim.any)?.query_row(params![now.unix_millis()], |row| row.get(0))?)
}

pub(super) fn claim(
    connection: &Connection,
    claim: Claim,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Effect<Vec<(EnvironmentId, PaymentId)>>, Fault> {
    let due: Vec<(EnvironmentId, PaymentId)> = connection
        .prepare_cached(claim.due)?
        .query_and_then(params![now.unix_millis(), limit], |row| {
            Ok((EnvironmentId::from_bytes(row.get(0)?), PaymentId::from_bytes(row.get(1)?)))
        })?
        .collect::<Result<_, Fault>>()?;
    if due.is_empty() {
        return Ok(Effect::Nothing(due));
    }
    let mut lease = connection.prepare_cached(claim.lease)?;
    for (environment, id) in &due {
        lease.execute(params![environment.to_bytes(), id.to_bytes(), until.unix_millis()])?;
    }
    Ok(Effect::Written(due))
}
