//! Events that callers are sent: written with what they are about, found and listed.

use tollgate_domain::{
    ServiceReference, Timestamp,
    event::EventKind,
    id::{EnvironmentId, EventId},
    transaction::TransactionState,
};
use tollgate_engine::ports::{Event, EventQuery, EventsFrom, NewEvent};

use crate::{
    prelude::*,
    rows::out_event::{Slice, event_state_json, in_filter, out_event_columns, read},
};

/// What a unit of work writes events about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) environment: EnvironmentId,
    pub(crate) reference: ServiceReference,
    pub(crate) at: Timestamp,
    /// The transaction as the unit leaves it.
    pub(crate) state: Option<&'a TransactionState>,
}

/// An event. SQLite gives it the next number of its environment: the one writer makes the order of numbers that of commits.
/// On PostgreSQL it gets one later.
pub(crate) const fn insert(dialect: Dialect) -> &'static str {
    dialect.pick(
        "INSERT INTO out_events (environment_id, id, kind, method, reference, at, state, sequence)
         VALUES ($1, $2, $3, $4, $5, $6, $7,
             (SELECT coalesce(max(sequence), 0) + 1 FROM out_events WHERE environment_id = $1))",
        "INSERT INTO out_events (environment_id, id, kind, method, reference, at, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
}

macro_rules! deliver {
    ($everything:literal, $position:literal) => {
        concat!(
            "INSERT INTO event_deliveries (environment_id, endpoint_id, event_id, state, since, due_at, tries)
             SELECT p.environment_id, p.id, $2, 'waiting', $3, $3, 0 FROM event_endpoints p
             WHERE p.environment_id = $1 AND p.disabled IS NULL AND (",
            $everything,
            $position,
            "(p.filter, $4) > 0)"
        )
    };
}

/// To whom an event goes.
pub(crate) const fn deliver(dialect: Dialect) -> &'static str {
    dialect.pick(deliver!("p.filter = '*' OR ", "instr"), deliver!("p.filter = '*' OR ", "strpos"))
}

/// To whom an event goes that is not among "all".
const fn deliver_by_name(dialect: Dialect) -> &'static str {
    dialect.pick(deliver!("", "instr"), deliver!("", "strpos"))
}

/// An event that is about no payment.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    pub(crate) environment: EnvironmentId,
    pub(crate) id: EventId,
    pub(crate) kind: EventKind,
    /// What stands for the method of a payment, and for its reference.
    pub(crate) about: (&'static str, [u8; 16]),
    pub(crate) at: Timestamp,
    pub(crate) state: String,
}

/// Writes such an event, with a delivery to every endpoint that wants it.
pub(crate) async fn notify<S: Session>(s: &mut S, notice: Notice) -> Result<(), Fault> {
    let Notice { environment, id, kind, about: (method, reference), at, state } = notice;
    s.execute(insert(S::DIALECT), values![environment, id, kind, method, reference, at, state]).await?;
    let deliver = if kind.is_in_all() { deliver(S::DIALECT) } else { deliver_by_name(S::DIALECT) };
    s.execute(deliver, values![environment, id, at, in_filter(kind)]).await?;
    Ok(())
}

/// Writes a unit's events, each with a delivery to every endpoint that wants it. On PostgreSQL, most events are part of the
/// statements that payments and transfers change by.
pub(crate) async fn append_events<S: Session>(
    s: &mut S,
    new_events: &[NewEvent],
    about: About<'_>,
) -> Result<(), Fault> {
    let (scope, at) = (about.environment, about.at);
    for event in new_events {
        let state = event_state_json(event, about.state).map_err(Fault::Misuse)?;
        let values = row![scope, event.id, event.kind, ..&about.reference, at, state];
        s.execute(insert(S::DIALECT), &values).await?;
        let sql = "INSERT INTO undigested_events (event_id, environment_id) VALUES ($1, $2)";
        s.execute(sql, values![event.id, scope]).await?;
        s.execute(deliver(S::DIALECT), values![scope, event.id, at, in_filter(event.kind)]).await?;
    }
    Ok(())
}

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: EventId,
) -> Result<Option<Event>, Fault> {
    let sql = concat!(
        "SELECT ",
        out_event_columns!(),
        " FROM out_events e WHERE e.environment_id = $1 AND e.id = $2"
    );
    s.query_opt(sql, values![environment, id], read).await
}

/// A text for each query, so that what is given is looked up in its index. SQLite, which has the number beside the event,
/// would rather not use another index than the table's own. Of PostgreSQL's, those of one payment are few, and sorted.
pub(crate) fn list_sql(dialect: Dialect, query: EventQuery, slice: Slice) -> String {
    let EventQuery { kind, reference } = query;
    let (source, number) = match dialect {
        Dialect::Sqlite => {
            let index = match (reference, kind) {
                (Some(_), _) => "out_events_by_reference",
                (None, Some(_)) => "out_events_by_kind_sequence",
                (None, None) => "out_events_by_sequence",
            };
            (format!("out_events e INDEXED BY {index}"), "e")
        }
        Dialect::Postgres => {
            let source = if reference.is_some() {
                "out_events e CROSS JOIN LATERAL (
                     SELECT s.sequence FROM event_sequence s
                     WHERE s.environment_id = e.environment_id AND s.event_id = e.id LIMIT 1) s"
            } else {
                "event_sequence s CROSS JOIN LATERAL (
                     SELECT * FROM out_events e
                     WHERE e.environment_id = s.environment_id AND e.id = s.event_id LIMIT 1) e"
            };
            (source.to_owned(), "s")
        }
    };
    let (scope, conditions) = match (reference, kind) {
        (Some(_), Some(_)) => ("e", " AND e.method = $5 AND e.reference = $6 AND e.kind = $7".to_owned()),
        (Some(_), None) => ("e", " AND e.method = $5 AND e.reference = $6".to_owned()),
        (None, Some(_)) => (number, format!(" AND {number}.kind = $5")),
        (None, None) => (number, String::new()),
    };
    format!(
        concat!(
            "SELECT ",
            out_event_columns!(),
            " FROM {} WHERE {}.environment_id = $1 AND {}.sequence BETWEEN $2 AND $3{}
             ORDER BY {}.sequence {} LIMIT $4"
        ),
        source,
        scope,
        number,
        conditions,
        number,
        slice.direction()
    )
}

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    query: EventQuery,
    from: EventsFrom,
    limit: u32,
) -> Result<Option<Vec<Event>>, Fault> {
    let cursor = match from.cursor() {
        Some(id) => {
            let sql = S::DIALECT.pick(
                "SELECT sequence FROM out_events WHERE environment_id = $1 AND id = $2",
                "SELECT sequence FROM event_sequence WHERE environment_id = $1 AND event_id = $2",
            );
            s.query_opt(sql, values![environment, id], |cells| cells.number()).await?
        }
        None => None,
    };
    let Some(slice) = Slice::new(from, cursor) else { return Ok(None) };
    let mut values = row![environment, slice.first, slice.last, limit];
    if let Some(reference) = query.reference {
        values.extend([Value::from(reference.method().as_str()), Value::from(reference)]);
    }
    values.extend(query.kind.map(EventKind::as_str).map(Value::from));
    s.query(&list_sql(S::DIALECT, query, slice), &values, read).await.map(Some)
}
