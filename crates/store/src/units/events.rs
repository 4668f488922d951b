//! Providers' events, from their arrival until they are done with.

use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{
    ProviderEvent, ProviderEventCursor, ProviderEventState, Received, SettledProviderEvent,
    StoredProviderEvent,
};

use super::directory;
use crate::{
    prelude::*,
    rows::{
        event::{event_columns, read},
        is_unstorable,
    },
};

pub(crate) async fn receive<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    event: &ProviderEvent,
    due: Timestamp,
) -> Result<Effect<Received>, Fault> {
    let sql = "INSERT INTO provider_events (environment_id, provider, id, kind, notice, request, received_at, state,
             due_at, tries, note)
         SELECT e.id, $2, $3, $4, $5, $6, $7, 'waiting', $8, 0, '' FROM environments e WHERE e.id = $1
         ON CONFLICT DO NOTHING";
    let values = values![
        environment,
        &event.provider,
        &event.id,
        &event.kind,
        &event.notice,
        &event.request,
        event.received_at,
        due
    ];
    if s.execute(sql, values).await? == 1 {
        return Ok(Effect::Written(Received::New));
    }
    if directory::stamp(s, environment).await?.is_none() {
        return Err(Fault::Misuse("an event was to be stored in an environment that does not exist"));
    }
    Ok(Effect::Nothing(Received::Known))
}

pub(crate) const ANY_DUE: &str = "SELECT 1 FROM provider_events WHERE due_at <= $1 ORDER BY due_at LIMIT 1";

/// Asked before claiming, so that looking for work writes nothing while there is none.
pub(crate) async fn is_any_due<S: Session>(s: &mut S, now: Timestamp) -> Result<bool, Fault> {
    Ok(s.query_opt(ANY_DUE, values![now], |_| Ok(())).await?.is_some())
}

pub(crate) const DUE: &str = concat!(
    "SELECT ",
    event_columns!(),
    " FROM provider_events e WHERE e.due_at <= $1 ORDER BY e.due_at LIMIT $2"
);

/// What another node is taking, or settling, in this very moment is passed over rather than waited for.
pub(crate) async fn claim<S: Session>(
    s: &mut S,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Effect<Vec<StoredProviderEvent>>, Fault> {
    let mut due = s.query(&S::DIALECT.claimed(DUE), values![now, limit], read).await?;
    due.sort_by(|one, other| (one.due, &one.event.id).cmp(&(other.due, &other.event.id)));
    for stored in &mut due {
        stored.due = Some(until);
        stored.tries = stored.tries.saturating_add(1);
    }
    let leases: Vec<Vec<Value<'_>>> = due
        .iter()
        .map(|stored| {
            let event = &stored.event;
            row![stored.environment, &event.provider, &event.id, until, stored.tries]
        })
        .collect();
    let sql = "UPDATE provider_events SET due_at = $4, tries = $5 WHERE environment_id = $1 AND provider = $2 AND id = $3";
    s.execute_each(sql, &leases).await?;
    Ok(Effect::written_if(!due.is_empty(), due))
}

pub(crate) async fn settle<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    settled: &SettledProviderEvent,
) -> Result<Effect<bool>, Fault> {
    let sql = "UPDATE provider_events SET state = $4, due_at = $5, note = $6
         WHERE environment_id = $1 AND provider = $2 AND id = $3 AND state = 'waiting'";
    let (state, due) = (settled.state.as_str(), rows::event::due(settled));
    let values = values![environment, &settled.provider, &settled.id, state, due, &settled.note];
    let was_waiting = s.execute(sql, values).await? == 1;
    Ok(Effect::written_if(was_waiting, was_waiting))
}

pub(crate) async fn retry<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    provider: &str,
    id: &str,
    now: Timestamp,
) -> Result<Effect<bool>, Fault> {
    if is_unstorable(provider) || is_unstorable(id) {
        return Ok(Effect::Nothing(false));
    }
    let sql = "UPDATE provider_events SET state = 'waiting', due_at = $4, tries = 0
         WHERE environment_id = $1 AND provider = $2 AND id = $3 AND state = 'parked'";
    let was_parked = s.execute(sql, values![environment, provider, id, now]).await? == 1;
    Ok(Effect::written_if(was_parked, was_parked))
}

pub(crate) const LIST: &str = concat!(
    "SELECT ",
    event_columns!(),
    " FROM provider_events e WHERE e.environment_id = $1 AND e.state = $2 AND e.received_at <= $3
         AND (e.received_at < $3 OR (e.provider, e.id) > ($4, $5))
     ORDER BY e.received_at DESC, e.provider, e.id LIMIT $6"
);

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    state: Option<ProviderEventState>,
    before: Option<&ProviderEventCursor>,
    limit: u32,
) -> Result<Vec<StoredProviderEvent>, Fault> {
    let Some((last, provider, id)) = rows::event::behind(before) else { return Ok(Vec::new()) };
    let mut events = Vec::new();
    for state in rows::event::states(state) {
        let values = values![environment, state.as_str(), last, provider, id, limit];
        events.extend(s.query(LIST, values, read).await?);
    }
    rows::event::newest_first(&mut events, limit);
    Ok(events)
}
