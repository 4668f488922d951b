//! Changes that are one statement each.
//!
//! Its first part, the gate, writes the payment itself, if it is still as the change was decided on; all other parts begin with
//! what the gate returns, and so do nothing where it was refused. A statement is made of the parts that its changes have: each
//! takes the server time even if it does nothing.

use std::sync::OnceLock;

use tollgate_domain::{Timestamp, transaction::TransactionState};
use tollgate_engine::ports::NewEvent;

use crate::{
    prelude::*,
    rows::out_event::event_state_json,
    table::{Column, Kind, Table, columns, names, unnest},
    units::additions::Rail,
};

/// Rows of any number, each of as many values.
pub(super) type Rows<'a> = Vec<Vec<Value<'a>>>;

/// Some rows as arrays, one for each column.
pub(super) fn arrays<'a>(
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<Value<'a>>>,
) -> Vec<Value<'a>> {
    let mut arrays: Vec<Vec<Value<'a>>> = columns.iter().map(|_| Vec::new()).collect();
    for row in rows {
        for (array, value) in arrays.iter_mut().zip(row) {
            array.push(value);
        }
    }
    arrays.into_iter().map(Value::List).collect()
}

/// Two arrays, as of environments and ids.
pub(super) fn pairs<'a, A: Into<Value<'a>>, B: Into<Value<'a>>>(
    pairs: impl Iterator<Item = (A, B)>,
) -> [Value<'a>; 2] {
    let (first, second) = pairs.map(|(first, second)| (first.into(), second.into())).unzip();
    [Value::List(first), Value::List(second)]
}

/// What a change may have besides the payment itself.
pub(super) enum Part {
    /// Rows of a table, whose owner is in the gate.
    Insert(&'static Table),
    /// Rows `x` of these columns, and what is done with them; they are joined with the gate.
    Other(&'static [Column], fn(joined: &str) -> String),
}

impl Part {
    fn columns(&self) -> &'static [Column] {
        match self {
            Self::Insert(table) => table.parts().1,
            Self::Other(columns, _) => columns,
        }
    }
}

/// What the changes of one kind may have, and the statements that were needed so far.
pub(super) struct Change<const PARTS: usize, const COMBINATIONS: usize> {
    pub(super) rail: Rail,
    /// Whether there are several in one statement. The gate and each row then say by `place` which of them it is.
    pub(super) is_batch: bool,
    /// The gate, where these parts are there, and with how many parameters.
    pub(super) gate: fn(present: [bool; PARTS]) -> (String, usize),
    pub(super) parts: [Part; PARTS],
    /// What the statement returns.
    pub(super) end: &'static str,
    /// For each combination of parts.
    pub(super) statements: [OnceLock<String>; COMBINATIONS],
}

impl<const PARTS: usize, const COMBINATIONS: usize> Change<PARTS, COMBINATIONS> {
    /// The statement for the values of its gate and the rows of its parts, and all values.
    pub(super) fn prepare<'a>(
        &'static self,
        gate: Vec<Value<'a>>,
        rows: [Rows<'a>; PARTS],
    ) -> Result<(&'static str, Vec<Value<'a>>), Fault> {
        let present = rows.each_ref().map(|rows| !rows.is_empty());
        let number = present.iter().rev().fold(0, |number, is_there| number << 1 | usize::from(*is_there));
        let statement = self.statements.get(number).ok_or(Fault::Misuse("a change has too many parts"))?;
        let mut values = gate;
        for (part, rows) in self.parts.iter().zip(rows).filter(|(_, rows)| !rows.is_empty()) {
            values.extend(arrays(&self.given(part), rows));
        }
        Ok((statement.get_or_init(|| self.statement(present)), values))
    }

    /// The columns that are given for a part.
    fn given(&self, part: &Part) -> Vec<Column> {
        let place = self.is_batch.then_some(("place", Kind::Number));
        place.into_iter().chain(part.columns().iter().copied()).collect()
    }

    fn statement(&self, present: [bool; PARTS]) -> String {
        let (mut sql, parameters) = (self.gate)(present);
        let mut first = parameters + 1;
        for ((number, part), _) in
            self.parts.iter().enumerate().zip(present).filter(|(_, is_there)| *is_there)
        {
            let given = self.given(part);
            let rows = format!("{} AS x ({})", unnest(first, &given), names(&given));
            first += given.len();
            let joined = if self.is_batch {
                format!("gate JOIN {rows} ON x.place = gate.place")
            } else {
                format!("gate CROSS JOIN {rows}")
            };
            sql.extend([match part {
                Part::Other(_, sql) => format!(", {}", sql(&joined)),
                Part::Insert(table) => {
                    let own: Vec<_> = part.columns().iter().map(|(name, _)| format!("x.{name}")).collect();
                    format!(", part_{number} AS ({})", self.rail.insert(table, &own.join(", "), &joined))
                }
            }]);
        }
        sql + self.end
    }
}

/// Events to write.
pub(super) const EVENTS: &[Column] = columns!(id: Id, kind: Text, at: Number, state: Text);

/// An event of a unit that leaves the transaction in this state.
pub(super) fn event_row(
    event: &NewEvent,
    at: Timestamp,
    state: Option<&TransactionState>,
) -> Result<Vec<Value<'static>>, Fault> {
    let state = event_state_json(event, state).map_err(Fault::Misuse)?;
    Ok(row![event.id, event.kind, at, state])
}

/// The parts of a statement that write its events, which are `x`, each with a delivery to every endpoint that wants it.
pub(super) fn append_events(rail: Rail, joined: &str, condition: &str) -> String {
    let (method, reference) = (rail.owner("method"), rail.owner("reference"));
    format!(
        "events AS MATERIALIZED (
             SELECT gate.environment_id, x.id, x.kind, {method} AS method, {reference} AS reference, x.at, x.state
             FROM {joined} {condition}),
         appended AS (
             INSERT INTO out_events (environment_id, id, kind, method, reference, at, state)
             SELECT environment_id, id, kind, method, reference, at, state FROM events),
         digestible AS (
             INSERT INTO undigested_events (event_id, environment_id) SELECT id, environment_id FROM events),
         sent AS (
             INSERT INTO event_deliveries (environment_id, endpoint_id, event_id, state, since, due_at, tries)
             SELECT p.environment_id, p.id, events.id, 'waiting', events.at, events.at, 0
             FROM events JOIN event_endpoints p ON p.environment_id = events.environment_id
             WHERE p.disabled IS NULL AND (p.filter = '*' OR strpos(p.filter, ' ' || events.kind || ' ') > 0))"
    )
}
