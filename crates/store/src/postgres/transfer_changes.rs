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
use tollgate_domain::{
    ServiceReference,
    event::EventKind,
    id::{ChangeId, EnvironmentId, TransferId},
    transaction::TransactionState,
};
use tollgate_engine::ports::{Changed, NewEvent, TransferChange};

use super::{
    batches,
    lanes::Unit,
    session::parameters,
    statements::{Columns, append_events, arrays, behind, event_row, placed},
};
use crate::{
    prelude::*,
    rows::{
        timeline::pack,
        transaction::state_values,
        transfer::{ACTOR, moved, progress_values},
    },
    table::{columns, unnest},
    units::{
        events::{settled_row, unless_settled},
        exceptions::{EXCEPTIONS, exception_row},
        postings::entry_values,
        timeline::appended,
    },
};

/// A change and what it changes.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) environment: EnvironmentId,
    pub(super) id: TransferId,
    pub(super) change: TransferChange,
}

impl Unit for Wanted {
    type Answer = Changed;
    type Rank = (EnvironmentId, TransferId);

    const MOST: usize = 64;
    const IS_PLANNED_ANEW: bool = true;

    /// One order on all nodes, so that two batches never wait for one another in a circle.
    fn rank(&self) -> Self::Rank {
        (self.environment, self.id)
    }

    async fn run(
        connection: &Arc<Object>,
        begin: &'static str,
        units: &[&Self],
    ) -> Result<Vec<Changed>, Fault> {
        change(connection, begin, units).await
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

const WANTED: &Columns = columns!(
    environment_id: Id, reference: Id, from_revision: Number, change_id: Id, reservation: Id, sealed_account: Text,
    expected_on: Text, corrections: Text, due_at: Number, tries: Number, waiting: Text,
    cancel_requested_at: Number, approval_id: Text, approval_state: Text, approval: Text,
    timeline: Bytes, event_provider: Text, event_id: Text, at: Number, status: Text, provider_reference: Text, failure_code: Text, failure_message: Text, refunded_minor: Number,
    dispute_id: Text, dispute_status: Text, dispute_reason: Text, dispute_amount_minor: Number,
    dispute_respond_by: Number,
);

/// In what follows, a change is known by its place, from 1.
const FOUND: &Columns = columns!(
    place: Number, id: Id, kind: Text, expected: Text, found: Text, found_digest: Bytes, source: Text,
    at: Number,
);

const SETTLED: &Columns = columns!(
    place: Number, provider: Text, id: Text, kind: Text, notice: Text, request: Text, received_at: Number,
    state: Text, due_at: Number, note: Text,
);

const POSTED: &Columns = columns!(
    place: Number, id: Id, cause: Text, amount: Number, funding: Number, available: Number, reserved: Number,
    settled_out: Number, platform_fees: Number, organization_fees: Number
);

const SIDES: &Columns = columns!(place: Number, account: Text, amount: Number);

const COUNTED: &Columns = columns!(place: Number, counted: Flag);

const EVENTS: &Columns = columns!(place: Number, id: Id, kind: Text, state: Text);

/// What a change may have besides the transfer's progress.
#[derive(Clone, Copy)]
enum Part {
    /// Another state.
    Moved,
    /// Discrepancies.
    Found,
    /// A provider's event.
    Settled,
    Posted,
    /// Whether it counts toward limits.
    Counted,
    /// Events for callers.
    Told,
}

/// The parts that some changes have. A statement is made of these alone: each takes the server time even if it does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts(usize);

impl Parts {
    const COMBINATIONS: usize = 1 << 6;

    fn of(change: &TransferChange) -> Self {
        let is_told = change.pending_event.is_some() || !change.new_events.is_empty();
        let parts = [
            (Part::Moved, change.state.is_some()),
            (Part::Found, !change.exceptions.is_empty()),
            (Part::Settled, change.event.is_some()),
            (Part::Posted, change.posting.is_some()),
            (Part::Counted, change.counts.is_some()),
            (Part::Told, is_told),
        ];
        Self(parts.iter().filter(|(_, has_it)| *has_it).map(|(part, _)| Self::bit(*part)).sum())
    }

    fn bit(part: Part) -> usize {
        1 << (part as usize)
    }

    fn has(self, part: Part) -> bool {
        self.0 & Self::bit(part) != 0
    }

    fn statement(self) -> &'static str {
        static STATEMENTS: [OnceLock<String>; Parts::COMBINATIONS] =
            [const { OnceLock::new() }; Parts::COMBINATIONS];
        STATEMENTS.get(self.0).map_or("", |statement| statement.get_or_init(|| statement_of(self)))
    }
}

fn statement_of(parts: Parts) -> String {
    let mut first = 1;
    let mut source = |columns: &Columns, name: &str| {
        let unnested = unnest(first, columns);
        first += columns.len();
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        format!("{unnested} AS {name} ({})", names.join(", "))
    };
    let wanted =
        source(WANTED, "w").replace(" AS w (", " WITH ORDINALITY AS w (").replace("_by)", "_by, place)");
    let mut more = String::new();
    let mut add = |part: Part, text: &mut dyn FnMut() -> String| {
        if parts.has(part) {
            more.push_str(&text());
        }
    };
    add(Part::Moved, &mut || MOVED.to_owned());
    add(Part::Found, &mut || found(&source(FOUND, "x")));
    add(Part::Settled, &mut || settled(&source(SETTLED, "s")));
    add(Part::Posted, &mut || posted(&source(POSTED, "p"), &source(SIDES, "s")));
    add(Part::Counted, &mut || counted(&source(COUNTED, "c")));
    add(Part::Told, &mut || told(&source(EVENTS, "t")));
    // One subquery for each, by the event's key. As a join, the server might go through all events.
    let is_new = if parts.has(Part::Settled) {
        "AND COALESCE((
             SELECT e.state FROM provider_events e WHERE e.environment_id = w.environment_id
                 AND e.provider = w.event_provider AND e.id = w.event_id), 'waiting') = 'waiting'"
    } else {
        ""
    };
    let appended = appended!(Postgres, "f", "w.timeline");
    format!(
        "WITH wanted AS MATERIALIZED (SELECT * FROM {wanted}),
         gate AS (
             UPDATE transfers f SET sealed_account = w.sealed_account, expected_on = w.expected_on,
                 corrections = w.corrections, due_at = w.due_at, tries = w.tries, waiting = w.waiting,
                 cancel_requested_at = w.cancel_requested_at, approval_id = w.approval_id,
                 approval_state = w.approval_state, approval = w.approval,
                 revision = f.revision + 1, last_change = w.change_id, {appended}
             FROM wanted w JOIN transactions t
                 ON t.environment_id = w.environment_id AND t.method = 'ach' AND t.reference = w.reference
             WHERE f.environment_id = t.environment_id AND f.transaction_id = t.id AND f.revision = w.from_revision
                 AND t.id = COALESCE(w.reservation, t.id) {is_new}
             RETURNING w.*, f.transaction_id, f.reference AS name, t.currency, t.provider){more}
         SELECT place FROM gate"
    )
}

const MOVED: &str = ", moved AS (
     UPDATE transactions t SET updated_at = gate.at, status = gate.status,
         provider_reference = gate.provider_reference, failure_code = gate.failure_code,
         failure_message = gate.failure_message, refunded_minor = gate.refunded_minor,
         dispute_id = gate.dispute_id, dispute_status = gate.dispute_status,
         dispute_reason = gate.dispute_reason, dispute_amount_minor = gate.dispute_amount_minor,
         dispute_respond_by = gate.dispute_respond_by
     FROM gate
     WHERE gate.status IS NOT NULL AND t.environment_id = gate.environment_id AND t.id = gate.transaction_id)";

fn found(found: &str) -> String {
    format!(
        ", found AS (
             INSERT INTO reconciliation_exceptions
                 (environment_id, id, method, reference, kind, expected, found, found_digest, source, at)
             SELECT gate.environment_id, x.id, 'ach', gate.reference, x.kind, x.expected, x.found, x.found_digest,
                 x.source, x.at
             FROM gate JOIN {found} ON x.place = gate.place
             ON CONFLICT DO NOTHING)"
    )
}

fn settled(settled: &str) -> String {
    let unless_settled = unless_settled!();
    format!(
        ", settled AS (
             INSERT INTO provider_events (environment_id, provider, id, kind, notice, request, received_at, state,
                 due_at, note, tries)
             SELECT gate.environment_id, s.provider, s.id, s.kind, s.notice, s.request, s.received_at, s.state,
                 s.due_at, s.note, 0
             FROM gate JOIN {settled} ON s.place = gate.place
             {unless_settled})"
    )
}

fn posted(posted: &str, sides: &str) -> String {
    format!(
        ", posted AS (
             INSERT INTO ledger_postings
                 (environment_id, currency, id, cause, reference, amount_minor, actor, at, provider, funding_minor,
                 available_minor, reserved_minor, settled_out_minor, platform_fees_minor, organization_fees_minor)
             SELECT gate.environment_id, gate.currency, p.id, p.cause, gate.name, p.amount, '{ACTOR}', gate.at,
                 gate.provider, p.funding, p.available, p.reserved, p.settled_out, p.platform_fees, p.organization_fees
             FROM gate JOIN {posted} ON p.place = gate.place),
         sums AS MATERIALIZED (
             SELECT gate.environment_id, gate.currency, s.account, sum(s.amount)::bigint AS amount
             FROM gate JOIN {sides} ON s.place = gate.place
             GROUP BY gate.environment_id, gate.currency, s.account),
         added AS (
             UPDATE ledger_accounts a SET balance_minor = a.balance_minor + sums.amount FROM sums
             WHERE a.environment_id = sums.environment_id AND a.currency = sums.currency
                 AND a.account = sums.account),
         -- An account to take from that is not there would begin below zero, which is refused.
         opened AS (
             INSERT INTO ledger_accounts (environment_id, currency, account, balance_minor)
             SELECT environment_id, currency, account, amount FROM sums
             WHERE NOT EXISTS (
                 SELECT 1 FROM ledger_accounts a WHERE a.environment_id = sums.environment_id
                     AND a.currency = sums.currency AND a.account = sums.account))"
    )
}

/// That it is pending is the first event, and told once.
fn told(told: &str) -> String {
    format!(
        ", events AS MATERIALIZED (
             SELECT gate.environment_id, t.id, t.kind, 'ach' AS method, gate.reference, gate.at, t.state
             FROM gate JOIN {told} ON t.place = gate.place
             WHERE t.kind <> 'transaction.pending' OR NOT EXISTS (
                 SELECT 1 FROM out_events e WHERE e.environment_id = gate.environment_id AND e.method = 'ach'
                     AND e.reference = gate.reference)),
         {}",
        append_events!()
    )
}

/// A transfer's uses of limits are locked before the sums, and counting locks the sums first; but both hold the wallet's lock.
fn counted(counted: &str) -> String {
    format!(
        ", uses AS (
             UPDATE limit_uses u SET counted = c.counted
             FROM gate JOIN {counted} ON c.place = gate.place
             WHERE u.environment_id = gate.environment_id AND u.reference = gate.reference
                 AND u.counted <> c.counted
             RETURNING u.environment_id, u.subject, CASE WHEN c.counted THEN 1 ELSE -1 END AS sign, u.amount_minor),
         totals AS (
             UPDATE limit_totals t SET payments = t.payments + s.payments, amount_minor = t.amount_minor + s.amount
             FROM (
                 SELECT environment_id, subject, sum(sign)::bigint AS payments, sum(sign * amount_minor)::bigint AS amount
                 FROM uses GROUP BY environment_id, subject) s
             WHERE t.environment_id = s.environment_id AND t.subject = s.subject)"
    )
}

/// The statement for these changes, and its values.
fn prepared<'a>(wanted: &'a [&'a Wanted]) -> Result<(&'static str, Vec<Value<'a>>), Fault> {
    let parts = Parts(wanted.iter().fold(0, |all, wanted| all | Parts::of(&wanted.change).0));
    let (mut found, mut settled) = (Vec::new(), Vec::new());
    let (mut posted, mut sides, mut events) = (Vec::new(), Vec::new(), Vec::new());
    let mut counted = Vec::new();
    for (place, Wanted { environment, id, change }) in (1_i64..).zip(wanted.iter().copied()) {
        let (scope, reference) = (*environment, ServiceReference::Ach(*id));
        let owner = EXCEPTIONS.columns.len().saturating_sub(FOUND.len() - 1);
        for one in &change.exceptions {
            found.push(placed(place, behind(owner, exception_row(scope, reference, one))));
        }
        if let Some(event) = &change.event {
            settled.push(placed(place, settled_row(event)));
        }
        if let Some(posting) = &change.posting {
            let amount = moved(&posting.entries)?;
            let mut row = row![place, posting.id, posting.cause.as_str(), amount];
            row.extend(entry_values(&posting.entries));
            posted.push(row);
            for entry in &posting.entries {
                sides.push(row![place, entry.account.as_str(), entry.amount_minor]);
            }
        }
        if let Some(is_counted) = change.counts {
            counted.push(row![place, is_counted]);
        }
        if let Some(id) = change.pending_event {
            let pending = TransactionState::pending();
            let event =
                NewEvent { id, kind: EventKind::Transaction(pending.status), revision: 0, refund: None };
            events.push(placed(place, event_row(&event, Some(&pending))?));
        }
        for event in &change.new_events {
            events.push(placed(place, event_row(event, change.state.as_ref())?));
        }
    }
    let rows = wanted.iter().map(|wanted| wanted_row(wanted)).collect::<Result<Vec<_>, _>>()?;
    let mut values = arrays(WANTED, rows);
    for (part, columns, rows) in [
        (Part::Found, FOUND, found),
        (Part::Settled, SETTLED, settled),
        (Part::Posted, POSTED, posted),
        (Part::Posted, SIDES, sides),
        (Part::Counted, COUNTED, counted),
        (Part::Told, EVENTS, events),
    ] {
        if parts.has(part) {
            values.extend(arrays(columns, rows));
        }
    }
    Ok((parts.statement(), values))
}

/// The provider and the ID of the event that led to it.
fn event_name(wanted: &Wanted) -> (Option<&String>, Option<&String>) {
    wanted.change.event.as_ref().map(|settled| (&settled.event.provider, &settled.event.id)).unzip()
}

fn wanted_row(wanted: &Wanted) -> Result<Vec<Value<'_>>, Fault> {
    let Wanted { environment, id, change } = wanted;
    let mut row = row![*environment, *id, rows::version(change.from_revision), change.id, change.reservation];
    row.extend(progress_values(&change.progress));
    let (event_provider, event_id) = event_name(wanted);
    row.extend(row![pack(&change.entries)?, event_provider, event_id, change.at]);
    row.extend(state_values(change.state.as_ref()));
    Ok(row)
}

/// What became of each change, in order.
async fn change(
    client: &ClientWrapper,
    begin: &'static str,
    wanted: &[&Wanted],
) -> Result<Vec<Changed>, Fault> {
    let passed = pass_gate(client, begin, wanted).await?;
    let mut answers = vec![Changed::Stale; wanted.len()];
    for row in &passed {
        let place: usize = Cells::of_postgres(row).count("place of a change")?;
        let answer = place.checked_sub(1).and_then(|place| answers.get_mut(place));
        *answer.ok_or(Fault::Misuse("a change was made that was not asked for"))? = Changed::Done;
    }
    if passed.len() < wanted.len() {
        why_not(client, wanted, &mut answers).await?;
    }
    Ok(answers)
}

/// The environments and ids of some changes, as arrays.
fn names<'a>(wanted: impl Iterator<Item = &'a Wanted>) -> [Value<'static>; 2] {
    let (scopes, ids) =
        wanted.map(|wanted| (Value::from(wanted.environment), Value::from(wanted.id))).unzip();
    [Value::List(scopes), Value::List(ids)]
}

async fn pass_gate(
    client: &ClientWrapper,
    begin: &'static str,
    wanted: &[&Wanted],
) -> Result<Vec<Row>, Fault> {
    let (sql, values) = prepared(wanted)?;
    let lock = client.prepare_cached(LOCK).await.map_err(Fault::Uncommitted)?;
    let change = client.prepare_cached(sql).await.map_err(Fault::Uncommitted)?;
    let posting = || wanted.iter().copied().filter(|wanted| wanted.change.posting.is_some());
    let lock_values = names(posting());
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
async fn why_not(client: &ClientWrapper, wanted: &[&Wanted], answers: &mut [Changed]) -> Result<(), Fault> {
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
            wanted.iter().copied().zip(answers.iter()).filter(|(_, answer)| **answer == Changed::Stale);
        stale.map(|(wanted, _)| wanted)
    };
    let (providers, ids) =
        refused().map(event_name).map(|(provider, id)| (provider.into(), id.into())).unzip();
    let [scopes, references] = names(refused());
    let values = [scopes, references, Value::List(providers), Value::List(ids)];
    let mut last_changes: BTreeMap<Name, (Option<ChangeId>, bool)> = BTreeMap::new();
    for row in &client.query(&statement, &parameters(&values)).await? {
        let mut cells = Cells::of_postgres(row);
        let name = (cells.id()?, cells.id()?, cells.text_or_none()?);
        last_changes.insert(name, (cells.id_or_none()?, cells.flag()?));
    }
    for (wanted, answer) in wanted.iter().zip(answers) {
        if *answer == Changed::Stale {
            let name = (wanted.environment, wanted.id, event_name(wanted).1.cloned());
            *answer = match last_changes.get(&name) {
                None => Changed::Missing,
                Some((last, was_settled)) if *was_settled || *last == Some(wanted.change.id) => Changed::Done,
                Some(_) => Changed::Stale,
            };
        }
    }
    Ok(())
}
