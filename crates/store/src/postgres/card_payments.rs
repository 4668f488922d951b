//! Storing and changing a card payment, each in one statement: one round trip and one commit, which is what the rate of
//! `postgres, stripe` and `postgres, square` among the benchmarks depends on.

use std::sync::OnceLock;

use tollgate_domain::{
    card::CardOrder,
    id::{EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{Changed, Entry, Inserted, NewEvent, PaymentChange, Progress};

use super::statements::{Change, EVENTS, Part, append_events, event_row};
use crate::{
    prelude::*,
    rows::{payment::PAYMENTS, timeline::pack},
    table::{Columns as _, assignments, parameters},
    units::{
        additions::{CARD_TABLES, Rail, of_card},
        events,
        payment_change::{gate_values, why_not},
        payments::not_inserted,
        timeline::appended,
    },
};

const APPEND_EVENTS: Part = Part::Other(EVENTS, |joined| append_events(Rail::Card, joined, ""));

static INSERT: Change<1, 2> = Change {
    rail: Rail::Card,
    is_batch: false,
    gate: |_| {
        let (names, values) = (PAYMENTS.names(), parameters(1, PAYMENTS.columns));
        let gate = format!(
            "WITH gate AS (
                 INSERT INTO card_payments ({names}) SELECT {values} FROM environments e WHERE e.id = $1
                 ON CONFLICT DO NOTHING
                 RETURNING environment_id, id)"
        );
        (gate, PAYMENTS.columns.len())
    },
    // Where a provider has to be asked first, there are none yet.
    parts: [APPEND_EVENTS],
    end: " SELECT EXISTS (SELECT 1 FROM environments WHERE id = $1), EXISTS (SELECT 1 FROM gate)",
    statements: [const { OnceLock::new() }; 2],
};

pub(super) async fn insert<S: Session>(
    s: &mut S,
    order: &CardOrder,
    progress: &Progress,
    entries: &[Entry],
    new_events: &[NewEvent],
) -> Result<Effect<Inserted>, Fault> {
    let payment = row![..order, ..progress, 0_u32, pack(entries)?];
    let new_events = new_events.iter().map(|event| event_row(event, order.created_at, None));
    let (sql, values) = INSERT.prepare(payment, [new_events.collect::<Result<_, _>>()?])?;
    Ok(match s.query_one(sql, &values, read).await? {
        (_, true) => Effect::Written(Inserted::Done),
        (true, false) => Effect::Nothing(not_inserted(s, order).await?),
        (false, false) => Effect::Nothing(Inserted::EnvironmentMissing),
    })
}

static CHANGE: Change<10, 1024> = Change {
    rail: Rail::Card,
    is_batch: false,
    gate: |_| {
        let (progress, timeline) = (assignments(5, Progress::COLUMNS), 5 + Progress::COLUMNS.len());
        let gate = format!(
            "WITH gate AS (
                 UPDATE card_payments p SET {progress}, revision = p.revision + 1, last_change = $4, {}
                 WHERE p.environment_id = $1 AND p.id = $2 AND p.revision = $3
                 RETURNING p.*)",
            appended("p", &format!("${timeline}"))
        );
        (gate, timeline)
    },
    parts: {
        let [objects, transactions, attempts, refunds, disputes, postings, actions, exceptions, events] =
            CARD_TABLES;
        [
            Part::Insert(objects),
            Part::Insert(transactions),
            Part::Insert(attempts),
            Part::Insert(refunds),
            Part::Insert(disputes),
            Part::Insert(postings),
            Part::Insert(actions),
            Part::Insert(exceptions),
            Part::Insert(events),
            APPEND_EVENTS,
        ]
    },
    end: " SELECT EXISTS (SELECT 1 FROM gate)",
    statements: [const { OnceLock::new() }; 1024],
};

pub(super) async fn change<S: Session>(
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
    let state = change.transaction.as_ref().map(|(_, state)| state);
    let new_events = change.new_events.iter().map(|event| event_row(event, change.at, state));
    let [objects, transactions, attempts, refunds, disputes, postings, actions, exceptions, events] =
        of_card(change)?;
    let rows = [
        objects,
        transactions,
        attempts,
        refunds,
        disputes,
        postings,
        actions,
        exceptions,
        events,
        new_events.collect::<Result<_, _>>()?,
    ];
    let (sql, values) = CHANGE.prepare(gate_values(environment, id, change)?, rows)?;
    if s.query_one(sql, &values, read).await? {
        return Ok(Effect::Written(Changed::Done));
    }
    Ok(Effect::Nothing(why_not(s, environment, id, change.id).await?))
}
