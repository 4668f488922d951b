//! Storing and changing a card payment, each in one statement: one round trip and one commit, which is what the rate of
//! `postgres, stripe` and `postgres, square` among the benchmarks depends on.
//!
//! The first part of a change moves the payment one revision on, if it is still at the one the change was decided on; all
//! other parts begin with what that part returns, and so do nothing where it was refused.

use std::sync::LazyLock;

use tollgate_domain::{
    ServiceReference,
    card::CardOrder,
    id::{EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{Changed, Entry, Inserted, NewEvent, PaymentChange, Progress};

use super::statements::{Columns, EVENTS, append_events, arrays, behind, event_row};
use crate::{
    prelude::*,
    rows::{
        books::{self, CARD_POSTINGS, DISPUTES, dispute_row},
        hold::{HOLD_ACTIONS, hold_action_row},
        payment::{PAYMENTS, REFUNDS, attempt_row, payment_row, progress_values, refund_row},
        timeline::pack,
        transaction::{card_state_values, record_card},
    },
    table::{Table, unnest},
    units::{
        events::{self, settled_row, unless_settled},
        exceptions::{EXCEPTIONS, exception_row},
        payment_change::why_not,
        payments::not_inserted,
        timeline::appended,
    },
};

/// Where a provider has to be asked first, there are no events yet, and the statement is spared them.
static INSERT: LazyLock<String> = LazyLock::new(|| format!("{} {INSERTED}", insert_sql()));
static INSERT_WITH_EVENTS: LazyLock<String> = LazyLock::new(|| {
    let first = PAYMENTS.columns.len();
    let [at, ids, kinds, states] = [1, 2, 3, 4].map(|number| first + number);
    format!(
        "{}, events AS MATERIALIZED (
             SELECT payment.environment_id, t.id, t.kind, 'web_card' AS method, payment.id AS reference,
                 ${at}::bigint AS at, t.state
             FROM payment CROSS JOIN unnest(${ids}::uuid[], ${kinds}::text[], ${states}::text[])
                 AS t (id, kind, state)), {} {INSERTED}",
        insert_sql(),
        append_events!()
    )
});

const INSERTED: &str =
    "SELECT EXISTS (SELECT 1 FROM environments WHERE id = $1), EXISTS (SELECT 1 FROM payment)";

/// The columns of a discrepancy that say whose it is.
const OWNER: usize = 3;

fn insert_sql() -> String {
    let count = PAYMENTS.columns.len();
    let values: Vec<String> = (1..=count).map(|number| format!("${number}")).collect();
    format!(
        "WITH payment AS (
             INSERT INTO card_payments ({}) SELECT {} FROM environments e WHERE e.id = $1
             ON CONFLICT DO NOTHING
             RETURNING environment_id, id)",
        PAYMENTS.names(),
        values.join(", ")
    )
}

pub(crate) async fn insert<S: Session>(
    s: &mut S,
    order: &CardOrder,
    progress: &Progress,
    entries: &[Entry],
    new_events: &[NewEvent],
) -> Result<Effect<Inserted>, Fault> {
    let mut values = payment_row(order, progress, pack(entries)?);
    let mut sql = &INSERT;
    if !new_events.is_empty() {
        let new_events =
            new_events.iter().map(|event| event_row(event, None)).collect::<Result<Vec<_>, _>>()?;
        values.push(order.created_at.into());
        values.extend(arrays(EVENTS, new_events));
        sql = &INSERT_WITH_EVENTS;
    }
    let (has_environment, is_inserted) =
        s.query_one(sql, &values, |cells| Ok((cells.flag()?, cells.flag()?))).await?;
    Ok(match (has_environment, is_inserted) {
        (_, true) => Effect::Written(Inserted::Done),
        (true, false) => Effect::Nothing(not_inserted(s, order).await?),
        (false, false) => Effect::Nothing(Inserted::EnvironmentMissing),
    })
}

/// What every change does.
macro_rules! begin {
    () => {
        concat!(
            "WITH gate AS (
             UPDATE card_payments p SET preparation = $5, object = $6, checkout_url = $7, prepared_at = $8,
                 confirmed = $9, due_at = $10, follow_up_at = $11, tries = $12, waiting = $13,
                 revision = p.revision + 1, last_change = $4, ",
            appended!(Postgres, "p", "$15"),
            " WHERE p.environment_id = $1 AND p.id = $2 AND p.revision = $3
             RETURNING p.*),
         named AS (
             INSERT INTO provider_objects (environment_id, provider, object, payment_id)
             SELECT gate.environment_id, gate.provider, o.object, gate.id
             FROM gate CROSS JOIN unnest($14::text[]) AS o (object)
             ON CONFLICT DO NOTHING)"
        )
    };
}

/// What a change does that is about money, or about trouble. A preparation is neither, and is spared the rest.
macro_rules! more {
    () => {
        concat!(
            ", recorded AS (",
            record_card!(
                "gate g WHERE $16::uuid IS NOT NULL",
                "$16",
                "$51::bigint",
                "$17::bigint",
                "$18, $19, $20, $21, $22::bigint, $23, $24, $25, $26::bigint, $27::bigint, $28"
            ),
            "), tried AS (
             INSERT INTO card_attempts
                 (environment_id, payment_id, number, source_digest, sealed_source, state, created_at, account)
             SELECT gate.environment_id, gate.id, $29::bigint, $30::bytea, $31, $32, $33::bigint, $34
             FROM gate WHERE $29::bigint IS NOT NULL
             ON CONFLICT (environment_id, payment_id, number) DO UPDATE SET
                 source_digest = excluded.source_digest, sealed_source = excluded.sealed_source,
                 state = excluded.state, created_at = excluded.created_at, account = excluded.account),
         found AS (
             INSERT INTO reconciliation_exceptions
                 (environment_id, method, reference, id, kind, expected, found, found_digest, source, at)
             SELECT gate.environment_id, 'web_card', gate.id, x.id, x.kind, x.expected, x.found, x.found_digest,
                 x.source, x.at
             FROM gate CROSS JOIN
                 unnest($35::uuid[], $36::text[], $37::text[], $38::text[], $39::bytea[], $40::text[],
                     $41::bigint[]) AS x (id, kind, expected, found, found_digest, source, at)
             ON CONFLICT DO NOTHING),
         settled AS (
             INSERT INTO provider_events (environment_id, provider, id, kind, notice, request, received_at, state,
                 due_at, note, tries)
             SELECT gate.environment_id, $42, $43, $44, $45, $46, $47::bigint, $48, $49::bigint, $50, 0
             FROM gate WHERE $43::text IS NOT NULL ",
            unless_settled!(),
            ")"
        )
    };
}

/// What a change does that has events, with the parameters they are in.
macro_rules! events {
    ($at:literal, $ids:literal, $kinds:literal, $states:literal) => {
        concat!(
            ", events AS MATERIALIZED (
                 SELECT gate.environment_id, t.id, t.kind, 'web_card' AS method, gate.id AS reference, ",
            $at,
            "::bigint AS at, t.state FROM gate CROSS JOIN unnest(",
            $ids,
            "::uuid[], ",
            $kinds,
            "::text[], ",
            $states,
            "::text[]) AS t (id, kind, state)), ",
            append_events!()
        )
    };
}

macro_rules! end {
    () => {
        " SELECT EXISTS (SELECT 1 FROM gate)"
    };
}

const SHORT: &str = concat!(begin!(), end!());
const SHORT_WITH_EVENTS: &str = concat!(begin!(), events!("$16", "$17", "$18", "$19"), end!());
const LONG: &str = concat!(begin!(), more!(), end!());
const LONG_WITH_EVENTS: &str = concat!(begin!(), more!(), events!("$52", "$53", "$54", "$55"), end!());

/// As [`LONG_WITH_EVENTS`], with postings: what a payment that succeeds needs.
static WITH_POSTINGS: LazyLock<String> = LazyLock::new(|| with_records(false));
/// The same with refunds, disputes, captures and voids, which hardly any change has.
static WITH_ALL: LazyLock<String> = LazyLock::new(|| with_records(true));

/// All columns of records come as arrays in front of the events: refunds, disputes, captures and voids, postings.
fn with_records(has_all: bool) -> String {
    let mut first = 52;
    let mut insert = |name: &str, owner: &str, table: &Table, given: &Columns| {
        let (names, arrays) = (table.names(), unnest(first, given));
        first += given.len();
        let given: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        format!(
            ", {name} AS (
                 INSERT INTO {table} ({names}) SELECT {owner}r.* FROM gate CROSS JOIN {arrays} AS r ({}) {conflict})",
            given.join(", "),
            table = table.name,
            conflict = table.conflict
        )
    };
    let mut records = String::new();
    if has_all {
        records.push_str(&insert("refunded", "", &REFUNDS, REFUNDS.columns));
        records.push_str(&insert("disputed", "", &DISPUTES, DISPUTES.columns));
        records.push_str(&insert("acted", "", &HOLD_ACTIONS, HOLD_ACTIONS.columns));
    }
    let owner = "gate.environment_id, gate.id, gate.provider, gate.currency, ";
    records.push_str(&insert("posted", owner, &CARD_POSTINGS, posting_columns()));
    let [at, ids, kinds, states] = [0, 1, 2, 3].map(|number| first + number);
    format!(
        concat!(
            begin!(),
            more!(),
            "{records}, events AS MATERIALIZED (
                 SELECT gate.environment_id, t.id, t.kind, 'web_card' AS method, gate.id AS reference,
                     ${at}::bigint AS at, t.state
                 FROM gate CROSS JOIN unnest(${ids}::uuid[], ${kinds}::text[], ${states}::text[])
                     AS t (id, kind, state)), ",
            append_events!(),
            end!()
        ),
        records = records,
        at = at,
        ids = ids,
        kinds = kinds,
        states = states,
    )
}

/// What a posting has besides the payment's own columns.
fn posting_columns() -> &'static Columns {
    CARD_POSTINGS.columns.get(books::OWNER..).unwrap_or_default()
}

pub(crate) async fn change<S: Session>(
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
    let mut values = row![environment, id, rows::version(change.from_revision), change.id];
    values.extend(progress_values(&change.progress));
    // In one order, so that two changes that name the same objects never wait for one another in a circle.
    let mut objects: Vec<&String> = change.objects.iter().collect();
    objects.sort_unstable();
    values.push(Value::List(objects.into_iter().map(Value::from).collect()));
    values.push(pack(&change.entries)?.into());
    let is_short = change.transaction.is_none()
        && change.attempt.is_none()
        && change.refunds.is_empty()
        && change.disputes.is_empty()
        && change.postings.is_empty()
        && change.hold_actions.is_empty()
        && change.exceptions.is_empty()
        && change.event.is_none();
    if !is_short {
        values.extend(more_values(environment, id, change));
    }
    let state = change.transaction.as_ref().map(|(_, state)| state);
    let has_records =
        !change.refunds.is_empty() || !change.disputes.is_empty() || !change.hold_actions.is_empty();
    let has_postings = has_records || !change.postings.is_empty();
    if has_records {
        let refunds = change.refunds.iter().map(|refund| refund_row(environment, id, refund));
        values.extend(arrays(REFUNDS.columns, refunds));
        let disputes = change.disputes.iter().map(|dispute| dispute_row(environment, id, change.at, dispute));
        values.extend(arrays(DISPUTES.columns, disputes));
        let actions = change.hold_actions.iter().map(|action| hold_action_row(environment, id, action));
        values.extend(arrays(HOLD_ACTIONS.columns, actions));
    }
    if has_postings {
        let postings = change.postings.iter().map(books::behind_owner).collect::<Result<Vec<_>, _>>()?;
        values.extend(arrays(posting_columns(), postings));
    }
    let has_events = has_postings || !change.new_events.is_empty();
    if has_events {
        let new_events =
            change.new_events.iter().map(|event| event_row(event, state)).collect::<Result<Vec<_>, _>>()?;
        values.push(change.at.into());
        values.extend(arrays(EVENTS, new_events));
    }
    let sql = match (is_short, has_events) {
        (true, false) => SHORT,
        (true, true) => SHORT_WITH_EVENTS,
        (false, false) => LONG,
        (false, true) if has_records => &WITH_ALL,
        (false, true) if has_postings => &WITH_POSTINGS,
        (false, true) => LONG_WITH_EVENTS,
    };
    if s.query_one(sql, &values, |cells| cells.flag()).await? {
        return Ok(Effect::Written(Changed::Done));
    }
    Ok(Effect::Nothing(why_not(s, environment, id, change.id).await?))
}

/// The values of the longer statement, none of them where the change has no such part.
fn more_values(environment: EnvironmentId, id: PaymentId, change: &PaymentChange) -> Vec<Value<'_>> {
    let (transaction, event) = (change.transaction.as_ref(), change.event.as_ref());
    let mut values = row![transaction.map(|(id, _)| *id), change.at];
    values.extend(card_state_values(transaction.map(|(_, state)| state)));
    match &change.attempt {
        Some(attempt) => values.extend(behind(2, attempt_row(environment, id, attempt))),
        None => values.extend([const { Value::Null }; 6]),
    }
    let found = |one| behind(OWNER, exception_row(environment, ServiceReference::Card(id), one));
    let columns = EXCEPTIONS.columns.get(OWNER..).unwrap_or_default();
    values.extend(arrays(columns, change.exceptions.iter().map(found)));
    match event {
        Some(event) => values.extend(settled_row(event)),
        None => values.extend([const { Value::Null }; 9]),
    }
    values.push(change.began_at.into());
    values
}
