//! What is written when many transfers change: one statement, a column each.
//!
//! Its first part moves each transfer one revision on that is still at the one its change was decided on; all other parts
//! begin with what that part returns, and so do nothing for those that were refused.

use tokio_postgres::types::ToSql;
use tollgate_domain::{Minor, Timestamp, event::EventKind, transaction::TransactionState};
use tollgate_engine::ports::{NewEvent, NewException, TransferChange};
use uuid::Uuid;

use super::{
    exceptions::Found,
    fault::Fault,
    out_events::{EventBatch, append_events},
    transfer_change::Wanted,
    uuid,
};
use crate::convert::{
    self,
    transfer::{ACTOR, amount_moved},
};

/// What every change does.
macro_rules! begin {
    () => {
        "WITH wanted AS MATERIALIZED (
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::text[],
                 $8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::text[], $13::text[], $14::text[],
                 $15::text[], $16::bigint[], $17::text[], $18::text[], $19::text[], $20::bigint[]) WITH ORDINALITY
             AS w (environment_id, reference, from_revision, change_id, sealed_account, expected_on, corrections,
                 due_at, tries, waiting, at, status, provider_reference, failure_code, failure_message, refunded_minor,
                 dispute_id, dispute_status, dispute_reason, dispute_amount_minor, place)),
         gate AS (
             UPDATE transfers f SET sealed_account = w.sealed_account, expected_on = w.expected_on,
                 corrections = w.corrections, due_at = w.due_at, tries = w.tries, waiting = w.waiting,
                 revision = f.revision + 1, last_change = w.change_id
             FROM wanted w JOIN transactions t
                 ON t.environment_id = w.environment_id AND t.method = 'ach' AND t.reference = w.reference
             WHERE f.environment_id = t.environment_id AND f.transaction_id = t.id AND f.revision = w.from_revision
             RETURNING w.*, f.transaction_id, f.reference AS name, t.currency),
         moved AS (
             UPDATE transactions t SET updated_at = gate.at, status = gate.status,
                 provider_reference = gate.provider_reference, failure_code = gate.failure_code,
                 failure_message = gate.failure_message, refunded_minor = gate.refunded_minor,
                 dispute_id = gate.dispute_id, dispute_status = gate.dispute_status,
                 dispute_reason = gate.dispute_reason, dispute_amount_minor = gate.dispute_amount_minor
             FROM gate
             WHERE gate.status IS NOT NULL AND t.environment_id = gate.environment_id AND t.id = gate.transaction_id),
         lines AS (
             INSERT INTO timeline (environment_id, method, reference, id, at, kind, request, detail)
             SELECT gate.environment_id, 'ach', gate.reference, l.id, l.at, l.kind, l.request, l.detail
             FROM gate JOIN unnest($21::bigint[], $22::uuid[], $23::bigint[], $24::text[], $25::text[], $26::text[])
                 AS l (place, id, at, kind, request, detail) ON l.place = gate.place
             ON CONFLICT DO NOTHING)"
    };
}

/// What a change does that moves money, settles an event or tells of trouble; most do none of it.
macro_rules! more {
    () => {
        ", found AS (
             INSERT INTO reconciliation_exceptions
                 (environment_id, id, method, reference, kind, expected, found, found_digest, source, at)
             SELECT gate.environment_id, x.id, 'ach', gate.reference, x.kind, x.expected, x.found, x.found_digest,
                 x.source, x.at
             FROM gate JOIN unnest($27::bigint[], $28::uuid[], $29::text[], $30::text[], $31::text[], $32::bytea[],
                     $33::text[], $34::bigint[])
                 AS x (place, id, kind, expected, found, found_digest, source, at) ON x.place = gate.place
             ON CONFLICT DO NOTHING),
         settled AS (
             UPDATE provider_events e SET state = s.state, due_at = s.due_at, note = s.note
             FROM gate JOIN unnest($35::bigint[], $36::text[], $37::text[], $38::text[], $39::bigint[], $40::text[])
                 AS s (place, provider, id, state, due_at, note) ON s.place = gate.place
             WHERE e.environment_id = gate.environment_id AND e.provider = s.provider AND e.id = s.id
                 AND e.state = 'waiting'),
         posted AS (
             INSERT INTO ledger_postings (environment_id, currency, id, cause, reference, amount_minor, actor, at)
             SELECT gate.environment_id, gate.currency, p.id, p.cause, gate.name, p.amount, $49, gate.at
             FROM gate JOIN unnest($41::bigint[], $42::uuid[], $43::text[], $44::bigint[])
                 AS p (place, id, cause, amount) ON p.place = gate.place),
         sides AS MATERIALIZED (
             SELECT gate.environment_id, gate.currency, s.posting_id, s.account, s.amount
             FROM gate JOIN unnest($45::bigint[], $46::uuid[], $47::text[], $48::bigint[])
                 AS s (place, posting_id, account, amount) ON s.place = gate.place),
         kept AS (
             INSERT INTO ledger_entries (environment_id, currency, posting_id, account, amount_minor)
             SELECT environment_id, currency, posting_id, account, amount FROM sides),
         sums AS MATERIALIZED (
             SELECT environment_id, currency, account, sum(amount)::bigint AS amount
             FROM sides GROUP BY environment_id, currency, account),
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
    };
}

/// What a change does that is told, with the numbers of the values that tell it.
macro_rules! told {
    ($places:literal, $ids:literal, $kinds:literal, $states:literal) => {
        concat!(
            ", tells AS MATERIALIZED (
                 SELECT gate.environment_id, t.id, t.kind, 'ach' AS method, gate.reference, gate.at, t.state
                 FROM gate JOIN unnest(",
            $places,
            "::bigint[], ",
            $ids,
            "::uuid[], ",
            $kinds,
            "::text[], ",
            $states,
            "::text[]) AS t (place, id, kind, state) ON t.place = gate.place
                 WHERE t.kind <> 'transaction.pending' OR NOT EXISTS (
                     SELECT 1 FROM out_events e WHERE e.environment_id = gate.environment_id AND e.method = 'ach'
                         AND e.reference = gate.reference)), ",
            append_events!()
        )
    };
}

/// Takes [`Short::values`], and then [`Told::values`].
pub(super) const SHORT: &str =
    concat!(begin!(), told!("$27", "$28", "$29", "$30"), " SELECT place FROM gate");
/// Takes [`Short::values`], then [`More::values`], and then [`Told::values`].
pub(super) const LONG: &str =
    concat!(begin!(), more!(), told!("$50", "$51", "$52", "$53"), " SELECT place FROM gate");

/// The number a statement knows a change by: its place, from 1.
fn places<'a>(wanted: &'a [&'a Wanted]) -> impl Iterator<Item = (i64, &'a TransferChange)> {
    (1_i64..).zip(wanted.iter().map(|wanted| &wanted.change))
}

/// Changes without what most do not have, a column each.
#[derive(Default)]
pub(super) struct Short<'a> {
    environments: Vec<Uuid>,
    references: Vec<Uuid>,
    from_revisions: Vec<i64>,
    changes: Vec<Uuid>,
    sealed_accounts: Vec<Option<&'a str>>,
    expected: Vec<Option<&'a str>>,
    corrections: Vec<&'a str>,
    due: Vec<Option<i64>>,
    tries: Vec<i64>,
    waiting: Vec<Option<&'a str>>,
    moments: Vec<i64>,
    statuses: Vec<Option<&'static str>>,
    provider_references: Vec<Option<&'a str>>,
    failure_codes: Vec<Option<&'a str>>,
    failure_messages: Vec<Option<&'a str>>,
    refunded: Vec<Option<i64>>,
    disputes: Vec<Option<&'a str>>,
    dispute_statuses: Vec<Option<&'a str>>,
    dispute_reasons: Vec<Option<&'a str>>,
    dispute_amounts: Vec<Option<i64>>,
    lines: Lines<'a>,
}

#[derive(Default)]
struct Lines<'a> {
    places: Vec<i64>,
    ids: Vec<Uuid>,
    moments: Vec<i64>,
    kinds: Vec<&'a str>,
    requests: Vec<Option<&'a str>>,
    details: Vec<&'a str>,
}

impl<'a> Short<'a> {
    pub(super) fn new(wanted: &'a [&'a Wanted]) -> Self {
        let mut short = Self::default();
        for (wanted, (place, change)) in wanted.iter().zip(places(wanted)) {
            short.environments.push(uuid(wanted.environment.to_bytes()));
            short.references.push(uuid(wanted.id.to_bytes()));
            short.from_revisions.push(convert::version(change.from_revision));
            short.changes.push(uuid(change.id.to_bytes()));
            short.add_progress(change);
            short.add_state(change.state.as_ref());
            short.add_lines(place, change);
        }
        short
    }

    fn add_progress(&mut self, change: &'a TransferChange) {
        let progress = &change.progress;
        self.sealed_accounts.push(progress.sealed_account.as_deref());
        self.expected.push(progress.expected_on.as_deref());
        self.corrections.push(&progress.corrections);
        self.due.push(progress.due.map(Timestamp::unix_millis));
        self.tries.push(i64::from(progress.tries));
        self.waiting.push(progress.waiting.as_deref());
        self.moments.push(change.at.unix_millis());
    }

    fn add_state(&mut self, state: Option<&'a TransactionState>) {
        let failure = state.and_then(|state| state.failure.as_ref());
        let dispute = state.and_then(|state| state.dispute.as_ref());
        self.statuses.push(state.map(|state| state.status.as_str()));
        self.provider_references.push(state.and_then(|state| state.provider_reference.as_deref()));
        self.failure_codes.push(failure.map(|failure| failure.code.as_str()));
        self.failure_messages.push(failure.map(|failure| failure.message.as_str()));
        self.refunded.push(state.map(|state| state.refunded.signed()));
        self.disputes.push(dispute.map(|dispute| dispute.id.as_str()));
        self.dispute_statuses.push(dispute.map(|dispute| dispute.status.as_str()));
        self.dispute_reasons.push(dispute.and_then(|dispute| dispute.reason.as_deref()));
        self.dispute_amounts.push(dispute.and_then(|dispute| dispute.amount).map(Minor::signed));
    }

    fn add_lines(&mut self, place: i64, change: &'a TransferChange) {
        for entry in &change.entries {
            self.lines.places.push(place);
            self.lines.ids.push(uuid(entry.id.to_bytes()));
            self.lines.moments.push(entry.at.unix_millis());
            self.lines.kinds.push(&entry.kind);
            self.lines.requests.push(entry.request.as_deref());
            self.lines.details.push(&entry.detail);
        }
    }

    /// The values in the statement's order.
    pub(super) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        vec![
            &self.environments,
            &self.references,
            &self.from_revisions,
            &self.changes,
            &self.sealed_accounts,
            &self.expected,
            &self.corrections,
            &self.due,
            &self.tries,
            &self.waiting,
            &self.moments,
            &self.statuses,
            &self.provider_references,
            &self.failure_codes,
            &self.failure_messages,
            &self.refunded,
            &self.disputes,
            &self.dispute_statuses,
            &self.dispute_reasons,
            &self.dispute_amounts,
            &self.lines.places,
            &self.lines.ids,
            &self.lines.moments,
            &self.lines.kinds,
            &self.lines.requests,
            &self.lines.details,
        ]
    }
}

/// What is told of the changes, a column each.
#[derive(Default)]
pub(super) struct Told {
    places: Vec<i64>,
    new_events: EventBatch,
}

impl Told {
    pub(super) fn new(wanted: &[&Wanted]) -> Result<Self, Fault> {
        let mut told = Self::default();
        for (place, change) in places(wanted) {
            if let Some(id) = change.pending_event {
                let pending = TransactionState::pending();
                told.places.push(place);
                let event = NewEvent { id, kind: EventKind::Transaction(pending.status) };
                told.new_events.add(&event, Some(&pending))?;
            }
            if let Some(event) = &change.new_events {
                told.places.push(place);
                told.new_events.add(event, change.state.as_ref())?;
            }
        }
        Ok(told)
    }

    /// The values in the statement's order.
    pub(super) fn values(&self) -> [&(dyn ToSql + Sync); 4] {
        [&self.places, &self.new_events.ids, &self.new_events.kinds, &self.new_events.states]
    }
}

/// The rest of the changes, a column each.
pub(super) struct More<'a> {
    found_places: Vec<i64>,
    found: Found<'a>,
    events: Events<'a>,
    postings: Postings,
    sides: Sides,
    actor: &'static str,
}

#[derive(Default)]
struct Events<'a> {
    places: Vec<i64>,
    providers: Vec<&'a str>,
    ids: Vec<&'a str>,
    states: Vec<&'static str>,
    due: Vec<Option<i64>>,
    notes: Vec<&'a str>,
}

#[derive(Default)]
struct Postings {
    places: Vec<i64>,
    ids: Vec<Uuid>,
    causes: Vec<&'static str>,
    amounts: Vec<i64>,
}

#[derive(Default)]
struct Sides {
    places: Vec<i64>,
    postings: Vec<Uuid>,
    accounts: Vec<&'static str>,
    amounts: Vec<i64>,
}

impl<'a> More<'a> {
    pub(super) fn new(wanted: &'a [&'a Wanted]) -> Result<Self, Fault> {
        let exceptions = || {
            places(wanted).flat_map(|(place, change)| change.exceptions.iter().map(move |one| (place, one)))
        };
        let found: Vec<&NewException> = exceptions().map(|(_, exception)| exception).collect();
        let mut more = Self {
            found_places: exceptions().map(|(place, _)| place).collect(),
            found: Found::new(found),
            events: Events::default(),
            postings: Postings::default(),
            sides: Sides::default(),
            actor: ACTOR,
        };
        for (place, change) in places(wanted) {
            more.add_event(place, change);
            more.add_posting(place, change)?;
        }
        Ok(more)
    }

    fn add_event(&mut self, place: i64, change: &'a TransferChange) {
        let Some(event) = &change.event else { return };
        self.events.places.push(place);
        self.events.providers.push(&event.provider);
        self.events.ids.push(&event.id);
        self.events.states.push(event.state.as_str());
        self.events.due.push(convert::event::due(event));
        self.events.notes.push(&event.note);
    }

    fn add_posting(&mut self, place: i64, change: &'a TransferChange) -> Result<(), Fault> {
        let Some(posting) = &change.posting else { return Ok(()) };
        let Some(amount) = amount_moved(&posting.entries) else {
            return Err(Fault::Misuse("the entries of a transfer's posting do not balance"));
        };
        let id = uuid(posting.id.to_bytes());
        self.postings.places.push(place);
        self.postings.ids.push(id);
        self.postings.causes.push(posting.cause.as_str());
        self.postings.amounts.push(amount);
        for entry in &posting.entries {
            self.sides.places.push(place);
            self.sides.postings.push(id);
            self.sides.accounts.push(entry.account.as_str());
            self.sides.amounts.push(entry.amount_minor);
        }
        Ok(())
    }

    /// The values in the statement's order.
    pub(super) fn values(&self) -> [&(dyn ToSql + Sync); 23] {
        [
            &self.found_places,
            &self.found.ids,
            &self.found.kinds,
            &self.found.expected,
            &self.found.words,
            &self.found.digests,
            &self.found.sources,
            &self.found.moments,
            &self.events.places,
            &self.events.providers,
            &self.events.ids,
            &self.events.states,
            &self.events.due,
            &self.events.notes,
            &self.postings.places,
            &self.postings.ids,
            &self.postings.causes,
            &self.postings.amounts,
            &self.sides.places,
            &self.sides.postings,
            &self.sides.accounts,
            &self.sides.amounts,
            &self.actor,
        ]
    }
}
