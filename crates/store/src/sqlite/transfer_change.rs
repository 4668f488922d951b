//! The one way a transfer changes: everything in a change, its posting included, or nothing.

use rusqlite::{Connection, OptionalExtension as _, params};
use tollgate_domain::{
    Minor, ServiceReference, Timestamp,
    event::EventKind,
    id::{ChangeId, EnvironmentId, TransferId},
    transaction::TransactionState,
};
use tollgate_engine::ports::{Changed, NewEvent, ReservationCancel, TransferChange, TransferPosting};

use super::{
    events, exceptions,
    fault::Fault,
    out_events::{About, append_events},
    postings::Posting,
    timeline,
    writer::Effect,
};
use crate::convert;

pub(super) fn change(
    connection: &Connection,
    environment: EnvironmentId,
    id: TransferId,
    change: &TransferChange,
) -> Result<Effect<Changed>, Fault> {
    if !pass_gate(connection, environment, id, change)? {
        return Ok(Effect::Nothing(why_not(connection, environment, id, change.id)?));
    }
    if let Some(state) = &change.state {
        put_state(connection, environment, id, state, change.at)?;
    }
    if let Some(posting) = &change.posting {
        post(connection, environment, id, posting, change.at)?;
    }
    let reference = ServiceReference::Ach(id);
    timeline::add(connection, environment, reference, &change.entries)?;
    exceptions::add(connection, environment, reference, &change.exceptions)?;
    if let Some(settled) = &change.event {
        events::settle(connection, environment, settled)?;
    }
    let about = About { environment, reference, at: change.at, state: change.state.as_ref() };
    if let Some(event) = change.pending_event
        && !has_events(connection, environment, id)?
    {
        let pending = TransactionState::pending();
        let event = NewEvent { id: event, kind: EventKind::Transaction(pending.status) };
        append_events(connection, &[event], About { state: Some(&pending), ..about })?;
    }
    append_events(connection, change.new_events.as_slice(), about)?;
    Ok(Effect::Written(Changed::Done))
}

fn has_events(connection: &Connection, environment: EnvironmentId, id: TransferId) -> Result<bool, Fault> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (
                 SELECT 1 FROM out_events WHERE environment_id = ?1 AND method = 'ach' AND reference = ?2)",
        )?
        .query_row(params![environment.to_bytes(), id.to_bytes()], |row| row.get(0))?)
}

/// Takes a reservation back whose transfer was never sent.
pub(super) fn cancel_reservation(
    connection: &Connection,
    environment: EnvironmentId,
    id: TransferId,
    cancel: &ReservationCancel,
) -> Result<Effect<Changed>, Fault> {
    let (scope, transaction) = (environment.to_bytes(), cancel.transaction.to_bytes());
    let revision: Option<i64> = connection
        .prepare_cached("SELECT revision FROM transfers WHERE environment_id = ?1 AND transaction_id = ?2")?
        .query_row(params![scope, transaction], |row| row.get(0))
        .optional()?;
    match revision {
        None => return Ok(Effect::Nothing(Changed::Done)),
        Some(0) => {}
        Some(_) => return Ok(Effect::Nothing(Changed::Stale)),
    }
    post(connection, environment, id, &cancel.posting, cancel.at)?;
    connection
        .prepare_cached(
            "UPDATE ledger_postings SET reference = ?4
             WHERE environment_id = ?1 AND currency = ?2 AND cause IN ('reserve', 'release') AND reference = ?3",
        )?
        .execute(params![
            scope,
            cancel.currency.code(),
            id.to_string(),
            convert::transfer::not_sent(id, cancel.posting.id)
        ])?;
    for table in ["transfers WHERE transaction_id", "transactions WHERE id"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} = ?2 AND environment_id = ?1"))?
            .execute(params![scope, transaction])?;
    }
    timeline::add(connection, environment, ServiceReference::Ach(id), &cancel.entries)?;
    Ok(Effect::Written(Changed::Done))
}

/// Moves the transfer one revision on, if it is still at the one the change was decided on.
fn pass_gate(
    connection: &Connection,
    environment: EnvironmentId,
    id: TransferId,
    change: &TransferChange,
) -> Result<bool, Fault> {
    let progress = &change.progress;
    let passed = connection
        .prepare_cached(
            "UPDATE transfers SET sealed_account = ?4, expected_on = ?5, corrections = ?6, due_at = ?7, tries = ?8,
                 waiting = ?9, revision = revision + 1, last_change = ?10
             WHERE environment_id = ?1 AND revision = ?3 AND transaction_id = (
                 SELECT id FROM transactions WHERE environment_id = ?1 AND method = 'ach' AND reference = ?2)",
        )?
        .execute(params![
            environment.to_bytes(),
            id.to_bytes(),
            convert::version(change.from_revision),
            progress.sealed_account,
            progress.expected_on,
            progress.corrections,
            progress.due.map(Timestamp::unix_millis),
            progress.tries,
            progress.waiting,
            change.id.to_bytes()
        ])?;
    Ok(passed == 1)
}

fn why_not(
    connection: &Connection,
    environment: EnvironmentId,
    id: TransferId,
    change: ChangeId,
) -> Result<Changed, Fault> {
    let last_change: Option<Option<[u8; 16]>> = connection
        .prepare_cached(
            "SELECT f.last_change FROM transactions t
             JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
             WHERE t.environment_id = ?1 AND t.method = 'ach' AND t.reference = ?2",
        )?
        .query_row(params![environment.to_bytes(), id.to_bytes()], |row| row.get(0))
        .optional()?;
    Ok(match last_change {
        None => Changed::Missing,
        Some(last) if last == Some(change.to_bytes()) => Changed::Done,
        Some(_) => Changed::Stale,
    })
}

fn put_state(
    connection: &Connection,
    environment: EnvironmentId,
    id: TransferId,
    state: &TransactionState,
    at: Timestamp,
) -> Result<(), Fault> {
    let (failure, dispute) = (state.failure.as_ref(), state.dispute.as_ref());
    connection
        .prepare_cached(
            "UPDATE transactions SET updated_at = ?3, status = ?4, provider_reference = ?5, failure_code = ?6,
                 failure_message = ?7, refunded_minor = ?8, dispute_id = ?9, dispute_status = ?10,
                 dispute_reason = ?11, dispute_amount_minor = ?12
             WHERE environment_id = ?1 AND method = 'ach' AND reference = ?2",
        )?
        .execute(params![
            environment.to_bytes(),
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
            dispute.and_then(|dispute| dispute.amount).map(Minor::signed)
        ])?;
    Ok(())
}

fn post(
    connection: &Connection,
    environment: EnvironmentId,
    id: TransferId,
    posting: &TransferPosting,
    at: Timestamp,
) -> Result<(), Fault> {
    let currency = connection
        .prepare_cached(
            "SELECT currency FROM transactions WHERE environment_id = ?1 AND method = 'ach' AND reference = ?2",
        )?
        .query_and_then(params![environment.to_bytes(), id.to_bytes()], |row| {
            Ok::<_, Fault>(convert::currency(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?)
        })?
        .next()
        .transpose()?;
    let Some(currency) = currency else { return Err(Fault::Misuse("a transfer has no transaction")) };
    let posting = Posting {
        environment,
        currency,
        id: posting.id,
        cause: posting.cause,
        transfer: id,
        at,
        entries: &posting.entries,
    };
    posting.write(connection)?;
    if !posting.add_up(connection)? {
        return Err(Fault::Misuse("a posting takes more from an account than it holds"));
    }
    Ok(())
}
