//! Providers' events.

use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{
    ProviderEvent, ProviderEventCursor, ProviderEventState, SettledProviderEvent, StoredProviderEvent,
};

use super::is_unstorable;
use crate::prelude::*;

/// The columns that [`read`] takes, of provider_events as `e`.
macro_rules! event_columns {
    () => {
        "e.environment_id, e.provider, e.id, e.kind, e.notice, e.request, e.received_at, e.state, e.due_at, e.tries,
         e.note"
    };
}

pub(crate) use event_columns;

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<StoredProviderEvent, Fault> {
    Ok(StoredProviderEvent {
        environment: EnvironmentId::from_bytes(cells.id()?),
        event: ProviderEvent {
            provider: cells.text()?,
            id: cells.text()?,
            kind: cells.text()?,
            notice: cells.text()?,
            request: cells.text()?,
            received_at: cells.moment()?,
        },
        state: cells.word("state of an event", ProviderEventState::parse)?,
        due: cells.moment_or_none()?,
        tries: cells.count("number of tries")?,
        note: cells.text()?,
    })
}

/// When a settled event is due again: never, once it is done with.
pub(crate) fn due(settled: &SettledProviderEvent) -> Option<i64> {
    settled.due.filter(|_| settled.state == ProviderEventState::Waiting).map(Timestamp::unix_millis)
}

/// The states that a list is made of. Each is read by itself, newest first, and so is at once in order.
pub(crate) fn states(wanted: Option<ProviderEventState>) -> Vec<ProviderEventState> {
    wanted.map_or_else(|| ProviderEventState::ALL.to_vec(), |state| vec![state])
}

/// The moment of the first events behind a place, and the name in that moment that they come after; `None` if nothing
/// can be behind it.
pub(crate) fn behind(place: Option<&ProviderEventCursor>) -> Option<(i64, &str, &str)> {
    match place.map(|place| (place.received_at, place.event.as_ref())) {
        None => Some((i64::MAX, "", "")),
        Some((_, Some((provider, id)))) if is_unstorable(provider) || is_unstorable(id) => None,
        Some((at, Some((provider, id)))) => Some((at.unix_millis(), provider, id)),
        Some((at, None)) => Some((at.unix_millis().checked_sub(1)?, "", "")),
    }
}

/// The order in which events are shown, and how many of them.
pub(crate) fn newest_first(events: &mut Vec<StoredProviderEvent>, limit: u32) {
    events.sort_by(|one, other| {
        let (one, other) = (&one.event, &other.event);
        let by_name = || (&one.provider, &one.id).cmp(&(&other.provider, &other.id));
        other.received_at.cmp(&one.received_at).then_with(by_name)
    });
    events.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
}
