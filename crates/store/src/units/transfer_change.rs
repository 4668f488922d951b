//! The one way a transfer changes on SQLite: everything in a change, its posting included, or nothing. On PostgreSQL, changes
//! share transactions, except those that go with an entry in the audit log.

use std::sync::LazyLock;

use tollgate_domain::{
    Currency, ServiceReference, Timestamp,
    id::{ChangeId, EnvironmentId, TransferId},
};
use tollgate_engine::ports::{Changed, ReservationCancel, TransferChange, TransferPosting};

use super::{
    additions,
    events::{self, PROVIDER_EVENTS, settled_row},
    exceptions::{EXCEPTIONS, exception_row},
    limits,
    out_events::{About, append_events},
    postings::Posting,
    timeline::{self, appended, appended_on_sqlite},
    wallet,
};
use crate::{
    prelude::*,
    rows::{
        timeline::pack,
        transaction::STATE,
        transfer::{ACTOR, PROGRESS, moved, not_sent, pending_event},
    },
    table::assignments,
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
        if let Some(currency) = s.query_opt(sql, values![environment, id], read).await? {
            wallet::lock_available(s, environment, currency).await?;
        }
    }
    if let Some(settled) = &change.event
        && events::was_settled(s, environment, &settled.event).await?
    {
        return Ok(Effect::Nothing(Changed::Done));
    }
    let revision = rows::version(change.from_revision);
    let gate = row![
        environment,
        id,
        revision,
        change.id,
        change.reservation,
        ..&change.progress,
        pack(&change.entries)?
    ];
    let [sqlite, postgres] = &*GATE;
    if s.execute(S::DIALECT.pick(sqlite, postgres), &gate).await? == 0 {
        return Ok(Effect::Nothing(why_not(s, environment, id, change.id).await?));
    }
    if let Some(state) = &change.state {
        s.execute(&MOVE, &row![environment, id, change.at, ..state]).await?;
    }
    if let Some(posting) = &change.posting {
        let sql = "SELECT currency, provider FROM transactions
             WHERE environment_id = $1 AND method = 'ach' AND reference = $2";
        let (currency, provider) = s.query_one(sql, values![environment, id], read).await?;
        let wallet = Wallet { environment, currency, provider };
        post(s, &wallet, &id.to_string(), posting, change.at).await?;
    }
    let reference = ServiceReference::Ach(id);
    if let Some(is_counted) = change.counts {
        limits::set_counted(s, environment, reference, is_counted).await?;
    }
    let exceptions = change.exceptions.iter().map(exception_row).collect();
    additions::add(s, environment, reference, &EXCEPTIONS, exceptions).await?;
    let settled = change.event.iter().map(settled_row).collect();
    additions::add(s, environment, reference, &PROVIDER_EVENTS, settled).await?;
    let about = About { environment, reference, at: change.at, state: change.state.as_ref() };
    if let Some(event) = change.pending_event
        && !has_events(s, environment, id).await?
    {
        let (event, pending) = pending_event(event);
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

/// Moves the transfer one revision on, if it is still at the one the change was decided on.
fn gate(dialect: Dialect) -> String {
    let (progress, lines) = (assignments(6, PROGRESS), 6 + PROGRESS.len());
    let lines = match dialect {
        Dialect::Sqlite => appended_on_sqlite(lines),
        Dialect::Postgres => appended("f", &format!("${lines}")),
    };
    format!(
        "UPDATE transfers AS f SET {progress}, revision = revision + 1, last_change = $4, {lines}
         WHERE environment_id = $1 AND revision = $3 AND transaction_id = (
             SELECT id FROM transactions WHERE environment_id = $1 AND method = 'ach' AND reference = $2)
             AND transaction_id = COALESCE($5, transaction_id)"
    )
}

static GATE: LazyLock<[String; 2]> = LazyLock::new(|| [Dialect::Sqlite, Dialect::Postgres].map(gate));

static MOVE: LazyLock<String> = LazyLock::new(|| {
    let state = assignments(4, STATE);
    format!(
        "UPDATE transactions SET updated_at = $3, {state} WHERE environment_id = $1 AND method = 'ach' AND reference = $2"
    )
});

async fn why_not<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: TransferId,
    change: ChangeId,
) -> Result<Changed, Fault> {
    let sql = "SELECT f.last_change FROM transactions t
         JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
         WHERE t.environment_id = $1 AND t.method = 'ach' AND t.reference = $2";
    let last: Option<Option<ChangeId>> = s.query_opt(sql, values![environment, id], read).await?;
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
    match s.query_opt::<i64>(&S::DIALECT.locked(sql), values, read).await? {
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
