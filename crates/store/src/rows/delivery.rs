//! Deliveries of events to endpoints, and which of them are sent again.

use std::time::Duration;

use tollgate_domain::{
    Timestamp,
    event::EventKind,
    id::{EndpointId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{Attempted, DeliveryQuery, DeliveryState, EventDelivery, LastTry, Resent};

use super::{endpoint::Target, from_after, out_event, until_before};
use crate::prelude::*;

/// The columns that [`read`] takes: those of out_events as `e`, and then of event_deliveries as `d`.
macro_rules! delivery_columns {
    () => {
        concat!(
            crate::rows::out_event::out_event_columns!(),
            ", d.endpoint_id, d.state, d.since, d.due_at, d.tries, d.last_at, d.last_status, d.last_took, d.last_note"
        )
    };
}

pub(crate) use delivery_columns;

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<EventDelivery, Fault> {
    Ok(EventDelivery {
        event: out_event::read(cells)?,
        endpoint: cells.get()?,
        state: cells.get()?,
        since: cells.get()?,
        due: cells.get()?,
        tries: cells.field("number of tries")?,
        last: cells.get()?,
    })
}

stored! { LastTry ?_ { at, status, took_millis, note } }

/// When an attempted delivery is due again: never, once it is done with.
pub(crate) fn due(attempted: &Attempted) -> Option<i64> {
    attempted.due.filter(|_| attempted.state == DeliveryState::Waiting).map(Timestamp::unix_millis)
}

/// Where in a list of deliveries the wanted ones can lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The first event and the last, both included.
    pub(crate) events: ([u8; 16], [u8; 16]),
    /// The delivery that the list begins behind: its event and its endpoint.
    pub(crate) behind: ([u8; 16], [u8; 16]),
}

impl Bounds {
    pub(crate) fn new(event: Option<EventId>, before: Option<(EventId, EndpointId)>) -> Self {
        let behind =
            before.map_or(([0xff; 16], [0; 16]), |(event, endpoint)| (event.to_bytes(), endpoint.to_bytes()));
        let events = event.map_or(([0; 16], [0xff; 16]), |event| (event.to_bytes(), event.to_bytes()));
        Self { events: (events.0, events.1.min(behind.0)), behind }
    }
}

/// The condition of a list beside its bounds. It is written so that both databases see that the partial index holds all
/// that is wanted.
pub(crate) fn state_condition(query: DeliveryQuery) -> String {
    match query.state {
        None => String::new(),
        Some(DeliveryState::Delivered) => " AND d.state = 'delivered'".to_owned(),
        Some(state) => format!(" AND d.state = '{}' AND d.state <> 'delivered'", state.as_str()),
    }
}

/// The order in which deliveries are shown, and how many of them.
pub(crate) fn newest_first(deliveries: &mut Vec<EventDelivery>, limit: u32) {
    deliveries.sort_by(|one, other| {
        other.event.id.cmp(&one.event.id).then_with(|| one.endpoint.cmp(&other.endpoint))
    });
    deliveries.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
}

/// How far the moment in an event's id may be from the event's own: both are taken by one clock for one change, but
/// ids do not go back when that clock does.
const IDS_DIFFER: Duration = Duration::from_hours(1);

/// The last moment that the 48 bits of an id can tell.
const LAST_IN_IDS: i64 = 0xffff_ffff_ffff;

/// The events of a span of time; all bounds are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) at: (i64, i64),
    /// The ids begin with the moment of their making, so only this part of the events is read.
    pub(crate) ids: ([u8; 16], [u8; 16]),
}

impl Span {
    /// `None` if nothing can lie within.
    pub(crate) fn new(from: Timestamp, until: Timestamp, after: Option<EventId>) -> Option<Self> {
        let (first, last) = (from.unix_millis(), until_before(Some(until))?);
        let slack = i64::try_from(IDS_DIFFER.as_millis()).unwrap_or(i64::MAX);
        let moment = |millis: i64| Timestamp::from_unix_millis(millis.clamp(0, LAST_IN_IDS));
        let lowest = EventId::new(moment(first.saturating_sub(slack)), [0; 10]);
        let highest = EventId::new(moment(last.saturating_add(slack)), [0xff; 10]);
        let lowest = lowest.to_bytes().max(from_after(after.map(EventId::to_bytes))?);
        (first <= last).then_some(Self { at: (first, last), ids: (lowest, highest.to_bytes()) })
    }
}

/// An event, and an endpoint that it is to be sent to again.
pub(crate) type Again = ([u8; 16], [u8; 16]);

table! {
    RESENT = "event_deliveries" (
        "ON CONFLICT (environment_id, endpoint_id, event_id) DO UPDATE SET state = excluded.state,
             since = excluded.since, due_at = excluded.due_at, tries = excluded.tries"
    );
    fn resent_row(environment: EnvironmentId, again: &Again, now: Timestamp) {
        environment_id: Id = environment,
        endpoint_id: Id = again.1,
        event_id: Id = again.0,
        state: Text = DeliveryState::Waiting.as_str(),
        since: Number = now,
        due_at: Number = now,
        tries: Number = 0_u32,
    }
}

/// What is to be sent to whom, of events of these kinds.
pub(crate) fn to_all_that_want(events: &[([u8; 16], EventKind)], targets: &[Target]) -> Vec<Again> {
    let wanting = |kind: EventKind| targets.iter().filter(move |target| target.wants(kind));
    events.iter().flat_map(|(event, kind)| wanting(*kind).map(move |target| (*event, target.id))).collect()
}

/// In the order of their events, no more than allowed but all of an event; and the answer where these wait again. If these are
/// all of what was read, but more may follow, the answer says up to where.
pub(crate) fn in_order(again: &mut Vec<Again>, limit: u32, read_up_to: Option<EventId>) -> Resent {
    again.sort_unstable();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_full = limit > 0 && again.len() >= limit;
    again.truncate(whole_events(again, limit));
    let last = again.last().map(|(event, _)| EventId::from_bytes(*event));
    Resent::Done {
        deliveries: u32::try_from(again.len()).unwrap_or(u32::MAX),
        next_after: last.filter(|_| is_full).or(read_up_to),
    }
}

/// How many of them are about as many as allowed, with no event in half: the one that is in the middle is left for later,
/// unless it is the first.
fn whole_events(again: &[Again], limit: usize) -> usize {
    let Some((cut, _)) = again.get(limit) else { return again.len() };
    let Some(within) = limit.checked_sub(1) else { return 0 };
    if again.get(within).is_none_or(|(event, _)| event != cut) {
        return limit;
    }
    match again.partition_point(|(event, _)| event < cut) {
        0 => again.partition_point(|(event, _)| event <= cut),
        start => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_before_its_end() {
        let at = Timestamp::from_unix_millis;
        let hour = 3_600_000;
        let span = Span::new(at(10 * hour), at(11 * hour), None).unwrap();
        assert_eq!(span.at, (10 * hour, 11 * hour - 1));
        assert_eq!(span.ids.0, EventId::new(at(9 * hour), [0; 10]).to_bytes());
        assert_eq!(span.ids.1, EventId::new(at(12 * hour - 1), [0xff; 10]).to_bytes());
        assert_eq!(Span::new(at(5), at(5), None), None);
        assert_eq!(Span::new(at(6), at(5), None), None);
        assert_eq!(Span::new(at(0), at(i64::MIN), None), None);
        let ever = Span::new(at(i64::MIN), at(i64::MAX), None).unwrap();
        assert_eq!(ever.ids, ([0; 16], [0xff; 16]));
        let stopped = EventId::new(at(10 * hour), [7; 10]);
        let rest = Span::new(at(10 * hour), at(11 * hour), Some(stopped)).unwrap();
        assert_eq!(rest.ids, (from_after(Some(stopped.to_bytes())).unwrap(), span.ids.1));
        assert_eq!(Span::new(at(0), at(5), Some(EventId::from_bytes([0xff; 16]))), None);
    }

    #[test]
    fn an_event_is_sent_again_to_all_or_later() {
        let of = |events: &[u8]| -> Vec<Again> {
            events.iter().zip(0..).map(|(event, endpoint)| ([*event; 16], [endpoint; 16])).collect()
        };
        for (events, limit, deliveries, next) in [
            (&[1, 1, 2, 2][..], 9, 4, None),
            (&[1, 1, 2, 2], 4, 4, Some(2)),
            (&[1, 1, 2, 2], 3, 2, Some(1)),
            (&[1, 1, 2, 2], 2, 2, Some(1)),
            (&[1, 1, 1, 2], 1, 3, Some(1)),
            (&[1, 1], 0, 0, None),
            (&[], 3, 0, None),
        ] {
            let mut again = of(events);
            let next_after = next.map(|event| EventId::from_bytes([event; 16]));
            assert_eq!(
                in_order(&mut again, limit, None),
                Resent::Done { deliveries, next_after },
                "{events:?} {limit}"
            );
            assert_eq!(again, of(events)[..usize::try_from(deliveries).unwrap()]);
        }
        let read_up_to = Some(EventId::from_bytes([5; 16]));
        for (events, limit, deliveries, next) in
            [(&[][..], 3, 0, 5), (&[1, 1, 2], 9, 3, 5), (&[1, 1, 2, 2], 3, 2, 1), (&[1, 2], 2, 2, 2)]
        {
            let next_after = Some(EventId::from_bytes([next; 16]));
            let resent = in_order(&mut of(events), limit, read_up_to);
            assert_eq!(resent, Resent::Done { deliveries, next_after }, "{events:?} {limit}");
        }
    }
}
