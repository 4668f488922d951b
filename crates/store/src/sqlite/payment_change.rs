//! The one way a payment changes: everything in a change, or nothing.

use rusqlite::{Connection, OptionalExtension as _, params};
use tollgate_domain::{
    ServiceReference, Timestamp,
    card::Attempt,
    id::{ChangeId, EnvironmentId, PaymentId, TransactionId},
    transaction::TransactionState,
};
use tollgate_engine::ports::{Changed, PaymentChange};

use super::{
    events, exceptions,
    fault::Fault,
    out_events::{About, append_events},
    timeline,
    writer::Effect,
};
use crate::convert;

pub(super) fn change(
    connection: &Connection,
    environment: EnvironmentId,
    id: PaymentId,
    change: &PaymentChange,
) -> Result<Effect<Changed>, Fault> {
    if !pass_gate(connection, environment, id, change)? {
        return Ok(Effect::Nothing(why_not(connection, environment, id, change.id)?));
    }
    if let Some((transaction, state)) = &change.transaction {
        put_transaction(connection, environment, id, *transaction, state, change.at)?;
    }
    if let Some(attempt) = &change.attempt {
        put_attempt(connection, environment, id, attempt)?;
    }
    for object in &change.objects {
        connection
            .prepare_cached(
                "INSERT INTO provider_objects (environment_id, provider, object, payment_id)
                 SELECT environment_id, provider, ?3, id FROM card_payments WHERE environment_id = ?1 AND id = ?2
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![environment.to_bytes(), id.to_bytes(), object])?;
    }
    let reference = ServiceReference::Card(id);
    timeline::add(connection, environment, reference, &change.entries)?;
    exceptions::add(connection, environment, reference, &change.exceptions)?;
    if let Some(settled) = &change.event {
        events::settle(connection, environment, settled)?;
    }
    let state = change.transaction.as_ref().map(|(_, state)| state);
    append_events(connection, &change.new_events, About { environment, reference, at: change.at, state })?;
    Ok(Effect::Written(Changed::Done))
}

/// Moves the payment one revision on, if it is still at the one the change was decided on.
fn pass_gate(
    connection: &Connection,
    environment: EnvironmentId,
    id: PaymentId,
    change: &PaymentChange,
) -> Result<bool, Fault> {
    let progress = &change.progress;
    let passed = connection
        .prepare_cached(
            "UPDATE card_payments SET preparation = ?4, object = ?5, checkout_url = ?6, prepared_at = ?7,
                 confirmed = ?8, due_at = ?9, tries = ?10, waiting = ?11, revision = revision + 1, last_change = ?12,
                 follow_up_at = ?13
             WHERE environment_id = ?1 AND id = ?2 AND revision = ?3",
        )?
        .execute(params![
            environment.to_bytes(),
            id.to_bytes(),
            convert::version(change.from_revision),
            progress.preparation.as_str(),
            progress.object,
            progress.checkout_url,
            progress.prepared_at.map(Timestamp::unix_millis),
            progress.confirmed,
            progress.due.map(Timestamp::unix_millis),
            progress.tries,
            progress.waiting,
            change.id.to_bytes(),
            progress.follow_up.map(Timestamp::unix_millis)
        ])?;
    Ok(passed == 1)
}

fn why_not(
    connection: &Connection,
    environment: EnvironmentId,
    id: PaymentId,
    change: ChangeId,
) -> Result<Changed, Fault> {
    let last_change: Option<Option<[u8; 16]>> = connection
        .prepare_cached("SELECT last_change FROM card_payments WHERE environment_id = ?1 AND id = ?2")?
        .query_row(params![environment.to_bytes(), id.to_bytes()], |row| row.get(0))
        .optional()?;
    Ok(match last_change {
        None => Changed::Missing,
        Some(last) if last == Some(change.to_bytes()) => Changed::Done,
        Some(_) => Changed::Stale,
    })
}

/// Records the transaction with the payment's own columns, or replaces the state of the one recorded.
fn put_transaction(
    connection: &Connection,
    environment: EnvironmentId,
    payment: PaymentId,
    id: TransactionId,
    state: &TransactionState,
    at: Timestamp,
) -> Result<(), Fault> {
    let (failure, dispute) = (state.failure.as_ref(), state.dispute.as_ref());
    connection
        .prepare_cached(
            "INSERT INTO transactions (environment_id, id, method, reference, provider, channel, currency,
                 principal_minor, platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor,
                 fee_layers, description, metadata, created_at, updated_at, status, provider_reference,
                 failure_code, failure_message, refunded_minor, dispute_id, dispute_status, dispute_reason,
                 dispute_amount_minor)
             SELECT environment_id, ?3, 'web_card', id, provider, channel, currency, principal_minor,
                 platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor, fee_layers, description,
                 metadata, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
             FROM card_payments WHERE environment_id = ?1 AND id = ?2
             ON CONFLICT (environment_id, method, reference) DO UPDATE SET updated_at = excluded.updated_at,
                 status = excluded.status, provider_reference = excluded.provider_reference,
                 failure_code = excluded.failure_code, failure_message = excluded.failure_message,
                 refunded_minor = excluded.refunded_minor, dispute_id = excluded.dispute_id,
                 dispute_status = excluded.dispute_status, dispute_reason = excluded.dispute_reason,
                 dispute_amount_minor = excluded.dispute_amount_minor",
        )?
        .execute(params![
            environment.to_bytes(),
            payment.to_bytes(),
            id.to_bytes(),
            at.unix_millis(),
            state.status.as_str(),
            state.provider_reference,
            failure.map(|failure| &failure.code),
            failure.map(|failure| &failure.message),
            state.refunded.signed(),
            dispute.map(|dispute| &dispute.id),
            dispute.map(|dispute| &dispute.status),
            dispute.and_then(|dispute| dispute.reason.as_ref()),
            dispute.and_then(|dispute| dispute.amount).map(tollgate_domain::Minor::signed)
        ])?;
    Ok(())
}

fn put_attempt(
    connection: &Connection,
    environment: EnvironmentId,
    payment: PaymentId,
    attempt: &Attempt,
) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO card_attempts
                 (environment_id, payment_id, number, source_digest, sealed_source, state, created_at, account)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (environment_id, payment_id, number) DO UPDATE SET
                 source_digest = excluded.source_digest, sealed_source = excluded.sealed_source,
                 state = excluded.state, created_at = excluded.created_at, account = excluded.account",
        )?
        .execute(params![
            environment.to_bytes(),
            payment.to_bytes(),
            attempt.number,
            attempt.source_digest,
            attempt.sealed_source,
            attempt.state.as_str(),
            attempt.created_at.unix_millis(),
            attempt.account.as_ref().map(convert::account::write)
        ])?;
    Ok(())
}
