//! The one way a payment changes: everything in a change, or nothing.

use tollgate_domain::{
    ServiceReference,
    id::{ChangeId, EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{Changed, PaymentChange};

use super::{
    books, events, exceptions, limits,
    out_events::{About, append_events},
    timeline::appended,
};
use crate::{
    postgres::card_payments,
    prelude::*,
    rows::{
        books::{DISPUTES, dispute_row},
        hold::{HOLD_ACTIONS, hold_action_row},
        payment::{ATTEMPTS, REFUNDS, attempt_row, progress_values, refund_row},
        timeline::pack,
        transaction::{card_state_values, record_card},
    },
};

/// A change after which a payment counts toward its limits, or no longer does.
pub(crate) async fn change_and_count<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    wanted: &PaymentChange,
) -> Result<Effect<Changed>, Fault> {
    let effect = change(s, environment, id, wanted).await?;
    if let (Effect::Written(_), Some(is_counted)) = (&effect, wanted.counts) {
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
    if S::DIALECT == Dialect::Postgres {
        return card_payments::change(s, environment, id, change).await;
    }
    if let Some(settled) = &change.event
        && events::was_settled(s, environment, &settled.event).await?
    {
        return Ok(Effect::Nothing(Changed::Done));
    }
    if !pass_gate(s, environment, id, change).await? {
        return Ok(Effect::Nothing(why_not(s, environment, id, change.id).await?));
    }
    if let Some((transaction, state)) = &change.transaction {
        let sql = record_card!(
            "card_payments g WHERE g.environment_id = $1 AND g.id = $2",
            "$3",
            "$4",
            "$5",
            "$6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16"
        );
        let mut values = row![environment, id, *transaction, change.began_at, change.at];
        values.extend(card_state_values(Some(state)));
        s.execute(sql, &values).await?;
    }
    if let Some(attempt) = &change.attempt {
        s.insert(&ATTEMPTS, vec![attempt_row(environment, id, attempt)]).await?;
    }
    let refunds = change.refunds.iter().map(|refund| refund_row(environment, id, refund)).collect();
    s.insert(&REFUNDS, refunds).await?;
    let disputes = change.disputes.iter().map(|it| dispute_row(environment, id, change.at, it)).collect();
    s.insert(&DISPUTES, disputes).await?;
    books::post(s, environment, id, &change.postings).await?;
    let actions = change.hold_actions.iter().map(|action| hold_action_row(environment, id, action)).collect();
    s.insert(&HOLD_ACTIONS, actions).await?;
    let objects: Vec<Vec<Value<'_>>> =
        change.objects.iter().map(|object| row![environment, id, object]).collect();
    let sql = "INSERT INTO provider_objects (environment_id, provider, object, payment_id)
         SELECT environment_id, provider, $3, id FROM card_payments WHERE environment_id = $1 AND id = $2
         ON CONFLICT DO NOTHING";
    s.execute_each(sql, &objects).await?;
    let reference = ServiceReference::Card(id);
    exceptions::add(s, environment, reference, &change.exceptions).await?;
    if let Some(settled) = &change.event {
        events::settle(s, environment, settled).await?;
    }
    let state = change.transaction.as_ref().map(|(_, state)| state);
    append_events(s, &change.new_events, About { environment, reference, at: change.at, state }).await?;
    Ok(Effect::Written(Changed::Done))
}

/// Moves the payment one revision on, if it is still at the one the change was decided on.
async fn pass_gate<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    change: &PaymentChange,
) -> Result<bool, Fault> {
    let sql = concat!(
        "UPDATE card_payments SET preparation = $5, object = $6, checkout_url = $7, prepared_at = $8,
             confirmed = $9, due_at = $10, follow_up_at = $11, tries = $12, waiting = $13, revision = revision + 1,
             last_change = $4, ",
        appended!(Sqlite, "$14"),
        " WHERE environment_id = $1 AND id = $2 AND revision = $3"
    );
    let mut values = row![environment, id, rows::version(change.from_revision), change.id];
    values.extend(progress_values(&change.progress));
    values.push(pack(&change.entries)?.into());
    Ok(s.execute(sql, &values).await? == 1)
}

/// Asked afterwards: a statement has seen the payment as it was before it waited for its turn.
pub(crate) async fn why_not<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
    change: ChangeId,
) -> Result<Changed, Fault> {
    let sql = "SELECT last_change FROM card_payments WHERE environment_id = $1 AND id = $2";
    let last = s.query_opt(sql, values![environment, id], |cells| cells.id_or_none()).await?;
    Ok(match last {
        None => Changed::Missing,
        Some(last) if last == Some(change) => Changed::Done,
        Some(_) => Changed::Stale,
    })
}
