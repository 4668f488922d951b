//! The one way a transfer changes on SQLite: everything in a change, its posting included, or nothing. On PostgreSQL, changes
//! share transactions, except those that go with an entry in the audit log.

use tollgate_domain::{
    Currency, ServiceReference, Timestamp,
    event::EventKind,
    id::{ChangeId, EnvironmentId, TransferId},
    transaction::TransactionState,
};
use tollgate_engine::ports::{Changed, NewEvent, ReservationCancel, TransferChange, TransferPosting};

use super::{
    events, exceptions, limits,
    out_events::{About, append_events},
    postings::Posting,
    timeline::{self, appended},
    wallet,
};
use crate::{
    prelude::*,
    rows::{
        timeline::pack,
        transaction::state_values,
        transfer::{ACTOR, moved, not_sent, progress_values},
    },
};

pub(crate) async fn change<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: TransferId,
    change: &TransferChange,
) -> Result<Effect<Changed>, Fault> {
    if change.posting.is_some() && S::DIALECT == Dialect::Postgres {
        // As everything that touches a wallet.
        let sql = "SELECT currency FROM transactions
             WHERE environment_id = $1 AND method = 'ach' AND reference = $2";
        let read = |cells: &mut Cells<'_>| cells.word("currency", Currency::parse);
        if let Some(currency) = s.query_opt(sql, values![environment, id], read).await? {
            wallet::lock_available(s, environment, currency).await?;
        }
    }
    if let Some(settled) = &change.event
        && events::was_settled(s, environment, &settled.event).await?
    {
        return Ok(Effect::Nothing(Changed::Done));
    }
    if !pass_gate(s, environment, id, change).await? {
        return Ok(Effect::Nothing(why_not(s, environment, id, change.id).await?));
    }
    if let Some(state) = &change.state {
        let sql = "UPDATE transactions SET updated_at = $3, status = $4, provider_reference = $5, failure_code = $6,
                 failure_message = $7, refunded_minor = $8, dispute_id = $9, dispute_status = $10,
                 dispute_reason = $11, dispute_amount_minor = $12, dispute_respond_by = $13
             WHERE environment_id = $1 AND method = 'ach' AND reference = $2";
        let mut values = row![environment, id, change.at];
        values.extend(state_values(Some(state)));
        s.execute(sql, &values).await?;
    }
    if let Some(posting) = &change.posting {
        let sql = "SELECT currency, provider FROM transactions
             WHERE environment_id = $1 AND method = 'ach' AND reference = $2";
        let read =
            |cells: &mut Cells<'_>| Ok((cells.word("currency", Currency::parse)?, Some(cells.text()?)));
        let (currency, provider) = s.query_one(sql, values![environment, id], read).await?;
        let wallet = Wallet { environment, currency, provider };
        post(s, &wallet, &id.to_string(), posting, change.at).await?;
    }
    let reference = ServiceReference::Ach(id);
    if let Some(is_counted) = change.counts {
        limits::set_counted(s, environment, reference, is_counted).await?;
    }
    exceptions::add(s, environment, reference, &change.exceptions).await?;
    if let Some(settled) = &change.event {
        events::settle(s, environment, settled).await?;
    }
    let about = About { environment, reference, at: change.at, state: change.state.as_ref() };
    if let Some(event) = change.pending_event
        && !has_events(s, environment, id).await?
    {
        let pending = TransactionState::pending();
        let event =
            NewEvent { id: event, kind: EventKind::Transaction(pending.status), revision: 0, refund: None };
        append_events(s, &[event], About { state: Some(&pending), ..about }).await?;
    }
    append_events(s, &change.new_events, about).await?;
    Ok(Effect::Written(Changed::Done))
}

async fn has_events<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: TransferId,
) -> Result<bool, Fault> {
    let sql =
        "SELECT 1 FROM out_events WHERE environment_id = $1 AND method = 'ach' AND reference = $2 LIMIT 1";
    s.exists(sql, values![environment, id]).await
}

macro_rules! gate {
    ($timeline:expr) => {
        concat!(
            "UPDATE transfers AS f SET sealed_account = $5, expected_on = $6, corrections = $7, due_at = $8, tries = $9,
             waiting = $10, cancel_requested_at = $11, approval_id = $12, approval_state = $13, approval = $14,
             revision = revision + 1, last_change = $4, ",
            $timeline,
            " WHERE environment_id = $1 AND revision = $3 AND transaction_id = (
                 SELECT id FROM transactions WHERE environment_id = $1 AND method = 'ach' AND reference = $2)
                 AND transaction_id = COALESCE($15, transaction_id)"
        )
    };
}

const GATE: (&str, &str) = (gate!(appended!(Sqlite, "$16")), gate!(appended!(Postgres, "f", "$16")));

/// Moves the transfer one revision on, if it is still at the one the change was decided on.
async fn pass_gate<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: TransferId,
    change: &TransferChange,
) -> Result<bool, Fault> {
    let mut values = row![environment, id, rows::version(change.from_revision), change.id];
    values.extend(progress_values(&change.progress));
    values.extend(row![change.reservation, pack(&change.entries)?]);
    Ok(s.execute(S::DIALECT.pick(GATE.0, GATE.1), &values).await? == 1)
}

async fn why_not<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: TransferId,
    change: ChangeId,
) -> Result<Changed, Fault> {
    let sql = "SELECT f.last_change FROM transactions t
         JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
         WHERE t.environment_id = $1 AND t.method = 'ach' AND t.reference = $2";
    let last = s.query_opt(sql, values![environment, id], |cells| cells.id_or_none()).await?;
    Ok(match last {
        None => Changed::Missing,
        Some(last) if last == Some(change) => Changed::Done,
        Some(_) => Changed::Stale,
    })
}

/// Whose posting it is.
struct Wallet {
    environment: EnvironmentId,
    currency: Currency,
    provider: Option<String>,
}

async fn post<S: Session>(
    s: &mut S,
    wallet: &Wallet,
    reference: &str,
    posting: &TransferPosting,
    at: Timestamp,
) -> Result<(), Fault> {
    let posting = Posting {
        environment: wallet.environment,
        currency: wallet.currency,
        id: posting.id,
        cause: posting.cause,
        reference,
        amount_minor: moved(&posting.entries)?,
        actor: ACTOR,
        at,
        provider: wallet.provider.as_deref(),
        entries: &posting.entries,
    };
    posting.write(s).await?;
    if !posting.add_up(s).await? {
        return Err(Fault::Misuse("a posting takes more from an account than it holds"));
    }
    Ok(())
}

/// Takes a reservation back whose transfer was never sent: the transfer goes, its funds are available again. The wallet is
/// locked first, as by everything that touches one.
pub(crate) async fn cancel_reservation<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: TransferId,
    cancel: &ReservationCancel,
) -> Result<Effect<Changed>, Fault> {
    wallet::lock_available(s, environment, cancel.currency).await?;
    let transaction = cancel.transaction;
    let sql = "SELECT revision FROM transfers WHERE environment_id = $1 AND transaction_id = $2";
    let values = values![environment, transaction];
    match s.query_opt(&S::DIALECT.locked(sql), values, |cells| cells.number()).await? {
        None => return Ok(Effect::Nothing(Changed::Done)),
        Some(0) => {}
        Some(_) => return Ok(Effect::Nothing(Changed::Stale)),
    }
    let renamed = not_sent(id, cancel.posting.id);
    let sql = "UPDATE ledger_postings SET reference = $4
         WHERE environment_id = $1 AND currency = $2 AND cause = 'reserve' AND reference = $3";
    s.execute(sql, values![environment, cancel.currency.code(), id.to_string(), &renamed]).await?;
    let wallet = Wallet { environment, currency: cancel.currency, provider: None };
    post(s, &wallet, &renamed, &cancel.posting, cancel.at).await?;
    s.execute("DELETE FROM transfers WHERE environment_id = $1 AND transaction_id = $2", values).await?;
    s.execute("DELETE FROM transactions WHERE environment_id = $1 AND id = $2", values).await?;
    limits::forget(s, environment, ServiceReference::Ach(id)).await?;
    timeline::add_alone(s, environment, ServiceReference::Ach(id), &cancel.entries).await?;
    Ok(Effect::Written(Changed::Done))
}
