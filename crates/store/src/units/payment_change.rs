//! The one way a payment changes: everything in a change, or nothing.

use std::sync::LazyLock;

use tollgate_domain::{
    ServiceReference,
    id::{ChangeId, EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{Changed, PaymentChange, Progress};

use super::{
    additions::{self, CARD_TABLES, of_card},
    events, limits,
    out_events::{About, append_events},
    timeline::appended_on_sqlite,
};
use crate::{
    prelude::*,
    rows::timeline::pack,
    table::{Columns as _, assignments},
};

/// A change after which a payment counts toward its limits, or no longer does.
pub(crate) async fn change_and_count<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    change: &PaymentChange,
) -> Result<Effect<Changed>, Fault> {
    let effect = s.change_payment(environment, id, change).await?;
    if let (Effect::Written(_), Some(is_counted)) = (&effect, change.counts) {
        limits::set_counted(s, environment, ServiceReference::Card(id), is_counted).await?;
    }
    Ok(effect)
}

pub(crate) async fn change<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    change: &PaymentChange,
) -> Result<Effect<Changed>, Fault> {
    s.change_payment(environment, id, change).await
}

/// On SQLite.
pub(crate) async fn change_in_steps<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    change: &PaymentChange,
) -> Result<Effect<Changed>, Fault> {
    if let Some(settled) = &change.event
        && events::was_settled(s, environment, &settled.event).await?
    {
        return Ok(Effect::Nothing(Changed::Done));
    }
    if s.execute(&GATE, &gate_values(environment, id, change)?).await? == 0 {
        return Ok(Effect::Nothing(why_not(s, environment, id, change.id).await?));
    }
    let reference = ServiceReference::Card(id);
    for (table, rows) in CARD_TABLES.into_iter().zip(of_card(change)?) {
        additions::add(s, environment, reference, table, rows).await?;
    }
    let state = change.transaction.as_ref().map(|(_, state)| state);
    append_events(s, &change.new_events, About { environment, reference, at: change.at, state }).await?;
    Ok(Effect::Written(Changed::Done))
}

/// Moves the payment one revision on, if it is still at the one the change was decided on.
static GATE: LazyLock<String> = LazyLock::new(|| {
    let (progress, lines) = (assignments(5, Progress::COLUMNS), 5 + Progress::COLUMNS.len());
    format!(
        "UPDATE card_payments SET {progress}, revision = revision + 1, last_change = $4, {}
         WHERE environment_id = $1 AND id = $2 AND revision = $3",
        appended_on_sqlite(lines)
    )
});

/// The environment, the id, the revision, the change, the progress and the lines of the timeline.
pub(crate) fn gate_values(
    environment: EnvironmentId,
    id: PaymentId,
    change: &PaymentChange,
) -> Result<Vec<Value<'_>>, Fault> {
    let (revision, lines) = (rows::version(change.from_revision), pack(&change.entries)?);
    Ok(row![environment, id, revision, change.id, ..&change.progress, lines])
}

/// Asked afterwards: a statement has seen the payment as it was before it waited for its turn.
pub(crate) async fn why_not<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    change: ChangeId,
) -> Result<Changed, Fault> {
    let sql = "SELECT last_change FROM card_payments WHERE environment_id = $1 AND id = $2";
    let last: Option<Option<ChangeId>> = s.query_opt(sql, values![environment, id], read).await?;
    Ok(match last {
        None => Changed::Missing,
        Some(last) if last == Some(change) => Changed::Done,
        Some(_) => Changed::Stale,
    })
}
