//! Providers' events, from their arrival until they are done with.

use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{
    ProviderEvent, ProviderEventCursor, ProviderEventState, Received, SettledProviderEvent,
    StoredProviderEvent,
};

use super::directory;
use crate::{prelude::*, rows::is_unstorable, table::parameters};

record! {
    PROVIDER_EVENTS, provider_event_columns = "provider_events" as e of (environment_id: Id)
        "ON CONFLICT (environment_id, provider, id) DO UPDATE
             SET state = excluded.state, due_at = excluded.due_at, note = excluded.note, notice = excluded.notice
             WHERE provider_events.state = 'waiting'";
    ProviderEvent {
        provider: Text = provider,
        id: Text = id,
        kind: Text = kind,
        notice: Text = notice,
        request: Text = request,
        received_at: Number = received_at,
    }
    + (state: Text, due_at: Number, tries: Number, note: Text)
}

macro_rules! event_columns {
    () => {
        concat!("e.environment_id, ", provider_event_columns!(), ", e.state, e.due_at, e.tries, e.note")
    };
}

stored! { StoredProviderEvent { environment, event, state, due, tries, note } }

/// The states that a list is made of. Each is read by itself, newest first, and so is at once in order.
fn states(wanted: Option<ProviderEventState>) -> Vec<ProviderEventState> {
    wanted.map_or_else(|| ProviderEventState::ALL.to_vec(), |state| vec![state])
}

/// The moment of the first events behind a place, and the name in that moment that they come after; `None` if nothing
/// can be behind it.
fn behind(place: Option<&ProviderEventCursor>) -> Option<(i64, &str, &str)> {
    match place.map(|place| (place.received_at, place.event.as_ref())) {
        None => Some((i64::MAX, "", "")),
        Some((_, Some((provider, id)))) if is_unstorable(provider) || is_unstorable(id) => None,
        Some((at, Some((provider, id)))) => Some((at.unix_millis(), provider, id)),
        Some((at, None)) => Some((at.unix_millis().checked_sub(1)?, "", "")),
    }
}

/// The order in which events are shown, and how many of them.
fn newest_first(events: &mut Vec<StoredProviderEvent>, limit: u32) {
    events.sort_by(|one, other| {
        let (one, other) = (&one.event, &other.event);
        let by_name = || (&one.provider, &one.id).cmp(&(&other.provider, &other.id));
        other.received_at.cmp(&one.received_at).then_with(by_name)
    });
    events.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
}

/// Adds an event to an environment that is there.
fn insert_sql(conflict: &str) -> String {
    let (names, own) = (PROVIDER_EVENTS.names(), parameters(2, PROVIDER_EVENTS.parts().1));
    format!(
        "INSERT INTO provider_events ({names}) SELECT e.id, {own} FROM environments e WHERE e.id = $1 {conflict}"
    )
}

pub(crate) async fn receive<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    event: &ProviderEvent,
    due: Timestamp,
) -> Result<Effect<Received>, Fault> {
    let values = row![environment, ..event, ProviderEventState::Waiting, due, 0_u32, ""];
    if s.execute(&insert_sql("ON CONFLICT DO NOTHING"), &values).await? == 1 {
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
    s.exists(ANY_DUE, values![now]).await
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
    let mut due: Vec<StoredProviderEvent> =
        s.query(&S::DIALECT.claimed(DUE), values![now, limit], read).await?;
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

/// A settled event's own values.
pub(crate) fn settled_row(settled: &SettledProviderEvent) -> Vec<Value<'_>> {
    let SettledProviderEvent { event, state, due, note } = settled;
    // What was applied is not applied again.
    let notice = if *state == ProviderEventState::Applied { "" } else { &event.notice };
    // Nobody looks after one that is done with.
    let due = due.filter(|_| *state == ProviderEventState::Waiting);
    let ProviderEvent { provider, id, kind, request, received_at, .. } = event;
    row![provider, id, kind, notice, request, *received_at, *state, due, 0_u32, note]
}

pub(crate) async fn settle<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    settled: &SettledProviderEvent,
) -> Result<Effect<bool>, Fault> {
    let values: Vec<_> = row![environment].into_iter().chain(settled_row(settled)).collect();
    let is_settled = s.execute(&insert_sql(PROVIDER_EVENTS.conflict), &values).await? == 1;
    Ok(Effect::written_if(is_settled, is_settled))
}

/// Whether it was applied, ignored or parked before. The condition is written so that PostgreSQL finds the event by its key.
pub(crate) async fn was_settled<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    event: &ProviderEvent,
) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM provider_events
         WHERE environment_id = $1 AND provider = $2 AND id = $3 AND (state = 'waiting') IS NOT TRUE";
    s.exists(sql, values![environment, &event.provider, &event.id]).await
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
         WHERE environment_id = $1 AND provider = $2 AND id = $3 AND (state = 'parked') IS TRUE";
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
    let Some((last, provider, id)) = behind(before) else { return Ok(Vec::new()) };
    let mut events = Vec::new();
    for state in states(state) {
        let values = values![environment, state.as_str(), last, provider, id, limit];
        events.extend(s.query(LIST, values, read).await?);
    }
    newest_first(&mut events, limit);
    Ok(events)
}
