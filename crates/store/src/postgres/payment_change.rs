//! The one way a payment changes: everything in a change, or nothing.
//!
//! A change is one statement. Its first part moves the payment one revision on, if it is still at the one the change
//! was decided on; all other parts begin with what that part returns, and so do nothing where it was refused.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::ToSql;
use tollgate_domain::{
    Minor, Timestamp,
    id::{ChangeId, EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{Changed, PaymentChange};
use uuid::Uuid;

use super::{
    exceptions::Found,
    fault::Fault,
    out_events::{EventBatch, append_events},
    payments::due,
    timeline::Lines,
    uuid,
};
use crate::convert;

/// What every change does.
macro_rules! begin {
    () => {
        "WITH gate AS (
             UPDATE card_payments p SET preparation = $5, object = $6, checkout_url = $7, prepared_at = $8,
                 confirmed = $9, due_at = ($10::bigint[])[1], follow_up_at = ($10::bigint[])[2], tries = $11,
                 waiting = $12, revision = p.revision + 1, last_change = $4
             WHERE p.environment_id = $1 AND p.id = $2 AND p.revision = $3
             RETURNING p.*),
         named AS (
             INSERT INTO provider_objects (environment_id, provider, object, payment_id)
             SELECT gate.environment_id, gate.provider, o.object, gate.id
             FROM gate CROSS JOIN unnest($13::text[]) AS o (object)
             ON CONFLICT DO NOTHING),
         lines AS (
             INSERT INTO timeline (environment_id, method, reference, id, at, kind, request, detail)
             SELECT gate.environment_id, 'web_card', gate.id, l.id, l.at, l.kind, l.request, l.detail
             FROM gate CROSS JOIN
                 unnest($14::uuid[], $15::bigint[], $16::text[], $17::text[], $18::text[])
                     AS l (id, at, kind, request, detail)
             ON CONFLICT DO NOTHING)"
    };
}

/// What a change does that tells of money, or of trouble. A preparation does neither, and is spared the rest.
macro_rules! more {
    () => {
        ", recorded AS (
             INSERT INTO transactions (environment_id, id, method, reference, provider, channel, currency,
                 principal_minor, platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor,
                 fee_layers, description, metadata, created_at, updated_at, status, provider_reference,
                 failure_code, failure_message, refunded_minor, dispute_id, dispute_status, dispute_reason,
                 dispute_amount_minor)
             SELECT gate.environment_id, $19, 'web_card', gate.id, gate.provider, gate.channel, gate.currency,
                 gate.principal_minor, gate.platform_fee_minor, gate.organization_fee_minor, gate.fee_minor,
                 gate.total_debit_minor, gate.fee_layers, gate.description, gate.metadata, $20::bigint, $20::bigint,
                 $21, $22, $23, $24, $25::bigint, $26, $27, $28, $29::bigint
             FROM gate WHERE $19::uuid IS NOT NULL
             ON CONFLICT (environment_id, method, reference) DO UPDATE SET updated_at = excluded.updated_at,
                 status = excluded.status, provider_reference = excluded.provider_reference,
                 failure_code = excluded.failure_code, failure_message = excluded.failure_message,
                 refunded_minor = excluded.refunded_minor, dispute_id = excluded.dispute_id,
                 dispute_status = excluded.dispute_status, dispute_reason = excluded.dispute_reason,
                 dispute_amount_minor = excluded.dispute_amount_minor),
         tried AS (
             INSERT INTO card_attempts
                 (environment_id, payment_id, number, source_digest, sealed_source, state, created_at, account)
             SELECT gate.environment_id, gate.id, $30::bigint, $31::bytea, $32, $33, $34::bigint, $47
             FROM gate WHERE $30::bigint IS NOT NULL
             ON CONFLICT (environment_id, payment_id, number) DO UPDATE SET
                 source_digest = excluded.source_digest, sealed_source = excluded.sealed_source,
                 state = excluded.state, created_at = excluded.created_at, account = excluded.account),
         found AS (
             INSERT INTO reconciliation_exceptions
                 (environment_id, id, method, reference, kind, expected, found, found_digest, source, at)
             SELECT gate.environment_id, x.id, 'web_card', gate.id, x.kind, x.expected, x.found, x.found_digest,
                 x.source, x.at
             FROM gate CROSS JOIN
                 unnest($35::uuid[], $36::text[], $37::text[], $38::text[], $39::bytea[], $40::text[],
                     $41::bigint[]) AS x (id, kind, expected, found, found_digest, source, at)
             ON CONFLICT DO NOTHING),
         settled AS (
             UPDATE provider_events e SET state = $44, due_at = $45, note = $46 FROM gate
             WHERE e.environment_id = gate.environment_id AND e.provider = $42 AND e.id = $43
                 AND e.state = 'waiting')"
    };
}

/// What a change does that is told, with the numbers of the values that tell it.
macro_rules! told {
    ($at:literal, $ids:literal, $kinds:literal, $states:literal) => {
        concat!(
            ", tells AS MATERIALIZED (
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
const SHORT_TOLD: &str = concat!(begin!(), told!("$19", "$20", "$21", "$22"), end!());
const LONG: &str = concat!(begin!(), more!(), end!());
const LONG_TOLD: &str = concat!(begin!(), more!(), told!("$48", "$49", "$50", "$51"), end!());

pub(super) async fn change(
    client: &ClientWrapper,
    environment: EnvironmentId,
    id: PaymentId,
    change: &PaymentChange,
) -> Result<Changed, Fault> {
    if pass_gate(client, environment, id, change).await? {
        return Ok(Changed::Done);
    }
    why_not(client, environment, id, change.id).await
}

async fn pass_gate(
    client: &ClientWrapper,
    environment: EnvironmentId,
    id: PaymentId,
    change: &PaymentChange,
) -> Result<bool, Fault> {
    let progress = &change.progress;
    // In one order, so that two changes that name the same objects never wait for one another in a circle.
    let mut objects: Vec<&str> = change.objects.iter().map(String::as_str).collect();
    objects.sort_unstable();
    let lines = Lines::new(&change.entries);
    let (scope, id) = (uuid(environment.to_bytes()), uuid(id.to_bytes()));
    let (from, this) = (convert::version(change.from_revision), uuid(change.id.to_bytes()));
    let preparation = progress.preparation.as_str();
    let (prepared_at, due) = (progress.prepared_at.map(Timestamp::unix_millis), due(progress));
    let tries = i64::from(progress.tries);
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![
        &scope,
        &id,
        &from,
        &this,
        &preparation,
        &progress.object,
        &progress.checkout_url,
        &prepared_at,
        &progress.confirmed,
        &due,
        &tries,
        &progress.waiting,
        &objects,
        &lines.ids,
        &lines.moments,
        &lines.kinds,
        &lines.requests,
        &lines.details,
    ];
    let is_short = change.transaction.is_none()
        && change.attempt.is_none()
        && change.exceptions.is_empty()
        && change.event.is_none();
    let more;
    if !is_short {
        more = More::new(change);
        more.extend(&mut values);
    }
    let (at, new_events) = (
        change.at.unix_millis(),
        EventBatch::new(&change.new_events, change.transaction.as_ref().map(|(_, state)| state))?,
    );
    let is_told = !new_events.ids.is_empty();
    if is_told {
        values.extend::<[&(dyn ToSql + Sync); 4]>([
            &at,
            &new_events.ids,
            &new_events.kinds,
            &new_events.states,
        ]);
    }
    let sql = match (is_short, is_told) {
        (true, false) => SHORT,
        (true, true) => SHORT_TOLD,
        (false, false) => LONG,
        (false, true) => LONG_TOLD,
    };
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query_one(&statement, &values).await?.try_get(0)?)
}

/// The values of the longer statement, none of them where the change has no such part.
struct More<'a> {
    transaction: Option<Uuid>,
    at: i64,
    status: Option<&'static str>,
    provider_reference: Option<&'a str>,
    failure_code: Option<&'a str>,
    failure_message: Option<&'a str>,
    refunded_minor: Option<i64>,
    dispute_id: Option<&'a str>,
    dispute_status: Option<&'a str>,
    dispute_reason: Option<&'a str>,
    dispute_amount_minor: Option<i64>,
    number: Option<i64>,
    source_digest: Option<&'a [u8]>,
    sealed_source: Option<&'a str>,
    attempt_state: Option<&'static str>,
    attempt_created_at: Option<i64>,
    found: Found<'a>,
    event_provider: Option<&'a str>,
    event_id: Option<&'a str>,
    event_state: Option<&'static str>,
    event_due_at: Option<i64>,
    event_note: Option<&'a str>,
    attempt_account: Option<String>,
}

impl<'a> More<'a> {
    fn new(change: &'a PaymentChange) -> Self {
        let state = change.transaction.as_ref().map(|(_, state)| state);
        let failure = state.and_then(|state| state.failure.as_ref());
        let dispute = state.and_then(|state| state.dispute.as_ref());
        let (attempt, event) = (change.attempt.as_ref(), change.event.as_ref());
        Self {
            transaction: change.transaction.as_ref().map(|(id, _)| uuid(id.to_bytes())),
            at: change.at.unix_millis(),
            status: state.map(|state| state.status.as_str()),
            provider_reference: state.and_then(|state| state.provider_reference.as_deref()),
            failure_code: failure.map(|failure| failure.code.as_str()),
            failure_message: failure.map(|failure| failure.message.as_str()),
            refunded_minor: state.map(|state| state.refunded.signed()),
            dispute_id: dispute.map(|dispute| dispute.id.as_str()),
            dispute_status: dispute.map(|dispute| dispute.status.as_str()),
            dispute_reason: dispute.and_then(|dispute| dispute.reason.as_deref()),
            dispute_amount_minor: dispute.and_then(|dispute| dispute.amount).map(Minor::signed),
            number: attempt.map(|attempt| i64::from(attempt.number)),
            source_digest: attempt.map(|attempt| attempt.source_digest.as_slice()),
            sealed_source: attempt.and_then(|attempt| attempt.sealed_source.as_deref()),
            attempt_state: attempt.map(|attempt| attempt.state.as_str()),
            attempt_created_at: attempt.map(|attempt| attempt.created_at.unix_millis()),
            found: Found::new(&change.exceptions),
            event_provider: event.map(|event| event.provider.as_str()),
            event_id: event.map(|event| event.id.as_str()),
            event_state: event.map(|event| event.state.as_str()),
            event_due_at: event.and_then(convert::event::due),
            event_note: event.map(|event| event.note.as_str()),
            attempt_account: attempt
                .and_then(|attempt| attempt.account.as_ref())
                .map(convert::account::write),
        }
    }

    /// Adds the values in the statement's order.
    fn extend<'b>(&'b self, values: &mut Vec<&'b (dyn ToSql + Sync)>) {
        values.extend::<[&(dyn ToSql + Sync); 29]>([
            &self.transaction,
            &self.at,
            &self.status,
            &self.provider_reference,
            &self.failure_code,
            &self.failure_message,
            &self.refunded_minor,
            &self.dispute_id,
            &self.dispute_status,
            &self.dispute_reason,
            &self.dispute_amount_minor,
            &self.number,
            &self.source_digest,
            &self.sealed_source,
            &self.attempt_state,
            &self.attempt_created_at,
            &self.found.ids,
            &self.found.kinds,
            &self.found.expected,
            &self.found.words,
            &self.found.digests,
            &self.found.sources,
            &self.found.moments,
            &self.event_provider,
            &self.event_id,
            &self.event_state,
            &self.event_due_at,
            &self.event_note,
            &self.attempt_account,
        ]);
    }
}

/// Asked afterwards, because the statement itself has seen the payment as it was before it waited for its turn.
async fn why_not(
    client: &ClientWrapper,
    environment: EnvironmentId,
    id: PaymentId,
    change: ChangeId,
) -> Result<Changed, Fault> {
    let statement = client
        .prepare_cached("SELECT last_change FROM card_payments WHERE environment_id = $1 AND id = $2")
        .await?;
    let row = client.query_opt(&statement, &[&uuid(environment.to_bytes()), &uuid(id.to_bytes())]).await?;
    let Some(row) = row else { return Ok(Changed::Missing) };
    let last: Option<Uuid> = row.try_get(0)?;
    Ok(if last == Some(uuid(change.to_bytes())) { Changed::Done } else { Changed::Stale })
}
