//! The one way a transfer changes, for many of them at once: everything in each change, its posting included, or nothing.
//!
//! One statement changes all that are still at the revision their change was decided on. Its first part moves each of them
//! one revision on; all other parts begin with what that part returns, and so do nothing for those that were refused. Where
//! there are postings, the wallets are locked first, as everything does that touches a wallet. All of it is sent together
//! with the commit: one round trip for a batch, which is what the ratios of `postgres, one wallet` and `postgres, 1000
//! wallets` among the benchmarks depend on.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use deadpool_postgres::{ClientWrapper, Object};
use tokio_postgres::Row;
use tollgate_domain::id::{ChangeId, EnvironmentId, TransferId};
use tollgate_engine::ports::{Changed, TransferChange};

use super::{
    batches,
    lanes::Unit,
    session::parameters,
    statements::{Change, EVENTS, Part, Rows, append_events, arrays, event_row, pairs},
};
use crate::{
    prelude::*,
    rows::{
        timeline::pack,
        transaction::STATE,
        transfer::{ACTOR, PROGRESS, moved, pending_event},
    },
    table::{Column, columns, copies, names, unnest},
    units::{
        additions::Rail,
        events::{PROVIDER_EVENTS, settled_row},
        exceptions::{EXCEPTIONS, exception_row},
        postings::{ADD_SUMS, entry_values},
        timeline::appended,
    },
};

/// A change and what it changes.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) environment: EnvironmentId,
    pub(super) id: TransferId,
    pub(super) change: TransferChange,
}

impl Unit for Request {
    type Answer = Changed;
    type Rank = (EnvironmentId, TransferId);

    const BATCH_MAX: usize = 64;
    const IS_PLANNED_ANEW: bool = true;

    /// One order on all nodes, so that two batches never wait for one another in a circle.
    fn rank(&self) -> Self::Rank {
        self.name()
    }

    async fn run(
        connection: &Arc<Object>,
        begin: &'static str,
        units: &[&Self],
    ) -> Result<Vec<Changed>, Fault> {
        change(connection, begin, units).await
    }
}

impl Request {
    fn name(&self) -> (EnvironmentId, TransferId) {
        (self.environment, self.id)
    }
}

/// The wallets of those that post, by their `available` rows, one after the other in the order of their keys.
const LOCK: &str = "SELECT 1 FROM (
         SELECT DISTINCT t.environment_id, t.currency
         FROM unnest($1::uuid[], $2::uuid[]) AS w (environment_id, reference)
         JOIN transactions t
             ON t.environment_id = w.environment_id AND t.method = 'ach' AND t.reference = w.reference
         ORDER BY t.environment_id, t.currency) w
     CROSS JOIN LATERAL (
         SELECT 1 FROM ledger_accounts a
         WHERE a.environment_id = w.environment_id AND a.currency = w.currency AND a.account = 'available'
         FOR UPDATE) a";

/// What the gate is given for each change; one is known by its place, from 1.
const GATE: &[Column] = columns!(
    place: Number, environment_id: Id, reference: Id, from_revision: Number, change_id: Id, reservation: Id,
    timeline: Bytes, event_provider: Text, event_id: Text, at: Number
);

static CHANGE: Change<6, 64> = Change {
    rail: Rail::Ach,
    is_batch: true,
    gate: |[_, _, has_event, ..]| {
        let given = [GATE, PROGRESS].concat();
        let (rows, names) = (unnest(1, &given), names(&given));
        // One subquery for each, by the event's key. As a join, the server might go through all events.
        let is_new = if has_event {
            "AND COALESCE((
                 SELECT e.state FROM provider_events e WHERE e.environment_id = w.environment_id
                     AND e.provider = w.event_provider AND e.id = w.event_id), 'waiting') = 'waiting'"
        } else {
            ""
        };
        let gate = format!(
            "WITH wanted AS MATERIALIZED (SELECT * FROM {rows} AS w ({names})),
             gate AS (
                 UPDATE transfers f SET {}, revision = f.revision + 1, last_change = w.change_id, {}
                 FROM wanted w JOIN transactions t
                     ON t.environment_id = w.environment_id AND t.method = 'ach' AND t.reference = w.reference
                 WHERE f.environment_id = t.environment_id AND f.transaction_id = t.id
                     AND f.revision = w.from_revision AND t.id = COALESCE(w.reservation, t.id) {is_new}
                 RETURNING w.*, f.transaction_id, f.reference AS name, t.currency, t.provider)",
            copies(PROGRESS, "w"),
            appended("f", "w.timeline")
        );
        (gate, given.len())
    },
    parts: [
        Part::Other(STATE, moved_state),
        Part::Insert(&EXCEPTIONS),
        Part::Insert(&PROVIDER_EVENTS),
        Part::Other(POSTED, posted),
        Part::Other(columns!(counted: Flag), counted),
        // That it is pending is the first event, and sent once.
        Part::Other(EVENTS, |joined| {
            let is_first = "WHERE x.kind <> 'transaction.pending' OR NOT EXISTS (
                SELECT 1 FROM out_events e WHERE e.environment_id = gate.environment_id AND e.method = 'ach'
                    AND e.reference = gate.reference)";
            append_events(Rail::Ach, joined, is_first)
        }),
    ],
    end: " SELECT place FROM gate",
    statements: [const { OnceLock::new() }; 64],
};

fn moved_state(joined: &str) -> String {
    format!(
        "moved AS (
             UPDATE transactions t SET updated_at = gate.at, {} FROM {joined}
             WHERE t.environment_id = gate.environment_id AND t.id = gate.transaction_id)",
        copies(STATE, "x")
    )
}

const POSTED: &[Column] = columns!(
    id: Id, cause: Text, amount: Number, funding: Number, available: Number, reserved: Number, settled_out: Number,
    platform_fees: Number, organization_fees: Number
);

fn posted(joined: &str) -> String {
    format!(
        "posted AS (
             INSERT INTO ledger_postings
                 (environment_id, currency, id, cause, reference, amount_minor, actor, at, provider, funding_minor,
                 available_minor, reserved_minor, settled_out_minor, platform_fees_minor, organization_fees_minor)
             SELECT gate.environment_id, gate.currency, x.id, x.cause, gate.name, x.amount, '{ACTOR}', gate.at,
                 gate.provider, x.funding, x.available, x.reserved, x.settled_out, x.platform_fees, x.organization_fees
             FROM {joined}),
         sums AS MATERIALIZED (
             SELECT gate.environment_id, gate.currency, a.account, sum(a.amount)::bigint AS amount
             FROM {joined} CROSS JOIN LATERAL (
                 VALUES ('funding', x.funding), ('available', x.available), ('reserved', x.reserved),
                     ('settled_out', x.settled_out), ('platform_fees', x.platform_fees),
                     ('organization_fees', x.organization_fees)) a (account, amount)
             WHERE a.amount IS NOT NULL
             GROUP BY gate.environment_id, gate.currency, a.account),
         {ADD_SUMS}"
    )
}

/// A transfer's uses of limits are locked before the sums, and counting locks the sums first; but both hold the wallet's lock.
fn counted(joined: &str) -> String {
    format!(
        "uses AS (
             UPDATE limit_uses u SET counted = x.counted FROM {joined}
             WHERE u.environment_id = gate.environment_id AND u.reference = gate.reference
                 AND u.counted <> x.counted
             RETURNING u.environment_id, u.subject, CASE WHEN x.counted THEN 1 ELSE -1 END AS sign, u.amount_minor),
         totals AS (
             UPDATE limit_totals t SET payments = t.payments + s.payments, amount_minor = t.amount_minor + s.amount
             FROM (
                 SELECT environment_id, subject, sum(sign)::bigint AS payments, sum(sign * amount_minor)::bigint AS amount
                 FROM uses GROUP BY environment_id, subject) s
             WHERE t.environment_id = s.environment_id AND t.subject = s.subject)"
    )
}

/// The statement for these changes, and its values.
fn prepared<'a>(requests: &'a [&'a Request]) -> Result<(&'static str, Vec<Value<'a>>), Fault> {
    let mut gates = Vec::with_capacity(requests.len());
    let mut parts: [Rows<'a>; 6] = Default::default();
    for (place, request) in (1_i64..).zip(requests.iter().copied()) {
        let change = &request.change;
        let (event_provider, event_id) = event_name(request);
        gates.push(row![
            place,
            request.environment,
            request.id,
            rows::version(change.from_revision),
            change.id,
            change.reservation,
            pack(&change.entries)?,
            event_provider,
            event_id,
            change.at,
            ..&change.progress
        ]);
        let [states, exceptions, settled, posted, counted, events] = &mut parts;
        let placed = |row: Vec<Value<'a>>| row![place].into_iter().chain(row).collect::<Vec<_>>();
        states.extend(change.state.iter().map(|state| placed(row![..state])));
        exceptions.extend(change.exceptions.iter().map(|one| placed(exception_row(one))));
        settled.extend(change.event.iter().map(|event| placed(settled_row(event))));
        if let Some(posting) = &change.posting {
            let mut row = row![place, posting.id, posting.cause, moved(&posting.entries)?];
            row.extend(entry_values(&posting.entries));
            posted.push(row);
        }
        counted.extend(change.counts.map(|is_counted| row![place, is_counted]));
        if let Some(id) = change.pending_event {
            let (event, pending) = pending_event(id);
            events.push(placed(event_row(&event, change.at, Some(&pending))?));
        }
        for event in &change.new_events {
            events.push(placed(event_row(event, change.at, change.state.as_ref())?));
        }
    }
    CHANGE.prepare(arrays(&[GATE, PROGRESS].concat(), gates), parts)
}

/// The provider and the ID of the event that led to it.
fn event_name(request: &Request) -> (Option<&String>, Option<&String>) {
    request.change.event.as_ref().map(|settled| (&settled.event.provider, &settled.event.id)).unzip()
}

/// What became of each change, in order.
async fn change(
    client: &ClientWrapper,
    begin: &'static str,
    requests: &[&Request],
) -> Result<Vec<Changed>, Fault> {
    let passed = pass_gate(client, begin, requests).await?;
    let mut answers = vec![Changed::Stale; requests.len()];
    for row in &passed {
        let place: usize = Cells::of_postgres(row).count("place of a change")?;
        let answer = place.checked_sub(1).and_then(|place| answers.get_mut(place));
        *answer.ok_or(Fault::Misuse("a change was made that was not asked for"))? = Changed::Done;
    }
    if passed.len() < requests.len() {
        why_not(client, requests, &mut answers).await?;
    }
    Ok(answers)
}

async fn pass_gate(
    client: &ClientWrapper,
    begin: &'static str,
    requests: &[&Request],
) -> Result<Vec<Row>, Fault> {
    let (sql, values) = prepared(requests)?;
    let lock = client.prepare_cached(LOCK).await.map_err(Fault::Uncommitted)?;
    let change = client.prepare_cached(sql).await.map_err(Fault::Uncommitted)?;
    let posting = || requests.iter().copied().filter(|request| request.change.posting.is_some());
    let lock_values = pairs(posting().map(Request::name));
    let (lock_values, values) = (parameters(&lock_values), parameters(&values));
    let locking = async {
        if posting().next().is_none() { Ok(Vec::new()) } else { client.query(&lock, &lock_values).await }
    };
    // Sent together, and answered one after the other: the change is made with all locks held.
    let (begun, locked, passed, committed) = tokio::join!(
        biased;
        client.batch_execute(begin),
        locking,
        client.query(&change, &values),
        client.batch_execute("COMMIT"),
    );
    // A change that was answered is made, as a whole: within the transaction, or by itself where that could not begin.
    let outcome = passed.or_else(|error| begun.and(locked.map(drop)).and(Err(error)));
    if outcome.is_err() {
        batches::give_up(client).await;
    }
    let passed = outcome?;
    committed?;
    Ok(passed)
}

/// A change that was refused. Those of one transfer may differ in their events.
type Name = (EnvironmentId, TransferId, Option<String>);

/// Asked afterwards, because the statement itself has seen the transfers as they were before it waited for its turn.
async fn why_not(
    client: &ClientWrapper,
    requests: &[&Request],
    answers: &mut [Changed],
) -> Result<(), Fault> {
    let sql = "SELECT t.environment_id, t.reference, w.event, f.last_change, COALESCE((
             SELECT e.state FROM provider_events e WHERE e.environment_id = w.environment_id
                 AND e.provider = w.provider AND e.id = w.event), 'waiting') <> 'waiting'
         FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS w (environment_id, reference, provider, event)
         JOIN transactions t
             ON t.environment_id = w.environment_id AND t.method = 'ach' AND t.reference = w.reference
         JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id";
    let statement = client.prepare_cached(sql).await?;
    let refused = || {
        let stale =
            requests.iter().copied().zip(answers.iter()).filter(|(_, answer)| **answer == Changed::Stale);
        stale.map(|(request, _)| request)
    };
    let ([scopes, references], [providers, ids]) =
        (pairs(refused().map(Request::name)), pairs(refused().map(event_name)));
    let values = [scopes, references, providers, ids];
    let mut last_changes: BTreeMap<Name, (Option<ChangeId>, bool)> = BTreeMap::new();
    for row in &client.query(&statement, &parameters(&values)).await? {
        let mut cells = Cells::of_postgres(row);
        let name = (cells.get()?, cells.get()?, cells.get()?);
        last_changes.insert(name, (cells.get()?, cells.get()?));
    }
    for (request, answer) in requests.iter().zip(answers) {
        if *answer == Changed::Stale {
            let name = (request.environment, request.id, event_name(request).1.cloned());
            *answer = match last_changes.get(&name) {
                None => Changed::Missing,
                Some((last, was_settled)) if *was_settled || *last == Some(request.change.id) => {
                    Changed::Done
                }
                Some(_) => Changed::Stale,
            };
        }
    }
    Ok(())
}
